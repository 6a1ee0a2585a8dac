"""`journal.md`: one section for each day, in a file that a person reads and edits (spec 2-consolidation §4, 4-formats).

Only bytes of the section in question change; everything else stays as it is, line endings included. A section that is
not one of the texts we meant for it was written or edited by a person, and is left alone. A new section goes
where Markdown shows it: not inside a code fence or a comment, though a person left it open.
"""

from __future__ import annotations

import errno
import re
from bisect import bisect_left
from dataclasses import dataclass
from datetime import date
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from horizon.adapters.files import replace_file, sweep

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from pathlib import Path

FILE_NAME: Final = "journal.md"
Section = Literal["written", "unchanged", "kept (edited by a person)"]
WRITTEN: Final = "written"
UNCHANGED: Final = "unchanged"
KEPT: Final = "kept (edited by a person)"

_HEADING = re.compile(rb" {0,3}(#{1,2})[ \t]+(?:(\d{4}-\d{2}-\d{2})\b)?")
"""A heading of the first or second level, as Markdown has it: indented by three spaces at most."""
_FENCE = re.compile(rb" {0,3}(`{3,}(?=[^`\r\n]*\r?$)|~{3,})([^\r\n]*)")
"""A line that opens or closes a code fence."""
_COMMENT = re.compile(rb" {0,3}<!--")
"""A line that opens a comment, which ends with the line that holds `-->`, be it this one."""
_MAY_COUNT: Final = frozenset({b" ", b"#", b"`", b"~", b"<"})
"""How every line begins that is a heading, opens or closes a fence, or opens a comment."""
_BOM: Final = b"\xef\xbb\xbf"
_UTF_16: Final = (b"\xff\xfe", b"\xfe\xff")


@dataclass(frozen=True, slots=True)
class DayJournal:
    """The day journal of one home; the file is made when a first section is written."""

    path: Path

    def section(self, day: date) -> str | None:
        """Return the text under the day's heading without blank ends; None where there is none.

        Raises:
            OSError: the file is there and could not be read.
        """
        data = self._data()
        found = _places(data).get(day)
        return None if found is None else _text(data[found[1] : found[2]])

    def sections(self) -> list[tuple[date, str]]:
        """Return every day's text without blank ends, by day; of a day that stands twice the first.

        Raises:
            OSError: the file is there and could not be read.
        """
        data = self._data()
        return [(day, _text(data[start:end])) for day, (_, start, end) in sorted(_places(data).items())]

    def write(self, day: date, text: str, ours: Collection[str]) -> Section:
        """Put `text` under the day's heading, in date order, and tell what became of it.

        `ours` are the texts that we ever meant for this day: what stands there and is none of them stays. Only under
        the night's lock.

        Raises:
            OSError: the disk refused, or the file is no UTF-8; it stands as it was.
        """
        data = self._data()
        if data.startswith(_UTF_16):
            raise OSError(errno.EILSEQ, "it is UTF-16; save it as UTF-8", str(self.path))
        sweep(self.path)
        newline = b"\r\n" if b"\r\n" in data and data.count(b"\r\n") * 2 > data.count(b"\n") else b"\n"
        body = text.strip().encode("utf-8", "replace").replace(b"\n", newline)
        places, shown = _outline(data)
        found = places.get(day)
        if found is not None:
            _, start, end = found
            there = _text(data[start:end])
            if there == text.strip():
                return UNCHANGED
            if there not in {each.strip() for each in ours} and there:
                return KEPT
            rest = data[end:]
            after = newline + (newline if rest else b"")
            replace_file(self.path, data[:start] + newline + newline + body + after + rest)
            return WRITTEN
        section = b"## " + str(day).encode() + newline + newline + body + newline
        later = [place[0] for other, place in places.items() if other > day]
        at = min(*later, shown, len(data))
        before, rest = data[:at], data[at:]
        if before.strip() or not rest:
            before += b"" if not before or before.endswith(b"\n") else newline
            if not before.endswith(newline + newline):
                before += newline
        replace_file(self.path, before + section + (newline + rest if rest else b""))
        return WRITTEN

    def remake(self, sections: Mapping[date, str]) -> bool:
        """Make the file anew with `sections`, in date order and in one replacement, where it is gone; tell whether it was.

        Only under the night's lock.

        Raises:
            OSError: the disk refused; there is no file still.
        """
        if self.path.exists() or self.path.is_symlink():
            return False
        sweep(self.path)
        every = (f"\n## {day}\n\n{text.strip()}\n" for day, text in sorted(sections.items()))
        replace_file(self.path, "".join(every).encode("utf-8", "replace"))
        return True

    def _data(self) -> bytes:
        try:
            return self.path.read_bytes()
        except FileNotFoundError:
            return b""


def _text(body: bytes) -> str:
    return body.decode("utf-8", "replace").replace("\r\n", "\n").strip(" \t\n\r")


class _Heading(NamedTuple):
    """A heading of the first two levels: where it begins and ends, and the day that it names, if it does."""

    start: int
    end: int
    day: date | None


def _places(data: bytes) -> dict[date, tuple[int, int, int]]:
    """Return for each day, of its first section: where the heading begins and ends, and where the section ends."""
    return _outline(data)[0]


def _outline(data: bytes) -> tuple[dict[date, tuple[int, int, int]], int]:
    """Return the place of each day's first section, and up to where in `data` Markdown shows a new heading as one.

    A section ends at the next heading of its level or higher. What looks like a heading inside a code fence or a comment
    is none. One that a person left open hides nothing, else our section after it would not be found again; but a new
    section goes before the section with it, where Markdown shows it. Where it is left open before every heading there is
    no such place, for the person's text would become a part of our section: then it goes where its date belongs.
    """
    found, shown = _headings(data)
    places: dict[date, tuple[int, int, int]] = {}
    for heading, following in pairwise([*found, _Heading(len(data), len(data), None)]):
        if heading.day is not None:
            places.setdefault(heading.day, (heading.start, heading.end, following.start))
    return places, shown


def _headings(data: bytes) -> tuple[list[_Heading], int]:
    """Return the headings of the first two levels, and where the section begins that leaves a fence or comment open.

    The latter is the end of `data` where none does, or where that is before the first heading.
    """
    bom = len(_BOM) if data.startswith(_BOM) else 0
    lines, begins = _counting(data, bom)
    headings: list[_Heading] = []
    shown: int | None = None
    never: dict[bytes, int] = {}
    at = 0
    while at < len(lines):
        line, begin = lines[at], begins[at]
        opening = _FENCE.match(line)
        if opening is not None:
            mark, size = opening[1][:1], len(opening[1])
            last = _closing(lines, at, opening[1]) if size < never.get(mark, size + 1) else None
        elif _COMMENT.match(line):
            mark, size = b"<", 0
            end = data.find(b"-->", begin) if mark not in never else -1
            last = bisect_left(begins, end, lo=at + 1) - 1 if end >= 0 else None
        else:
            mark, size, last = b"", 0, at
        if last is None:
            last = at
            never[mark] = min(
                size, never.get(mark, size)
            )  # nor is a longer fence or a later comment closed further down
            if shown is None:
                shown = headings[-1].start if headings else len(data)
        found = _HEADING.match(line)
        if found is not None:
            end = begin + len(line.removesuffix(b"\r"))
            headings.append(_Heading(begin, end, _day(found[2]) if found[1] == b"##" else None))
        at = last + 1
    return headings, len(data) if shown is None else shown


def _counting(data: bytes, begin: int) -> tuple[list[bytes], list[int]]:
    """Return the lines from `begin` on that may count, and where each begins."""
    every = data[begin:].split(b"\n")
    starts = accumulate((len(line) + 1 for line in every), initial=begin)
    lines: list[bytes] = []
    begins: list[int] = []
    for line, start in zip(every, starts, strict=False):
        if line[:1] in _MAY_COUNT:
            lines.append(line)
            begins.append(start)
    return lines, begins


def _closing(lines: Sequence[bytes], opening: int, marks: bytes) -> int | None:
    for at in range(opening + 1, len(lines)):
        found = _FENCE.match(lines[at])
        if found is not None and found[1].startswith(marks) and not found[2].strip():
            return at
    return None


def _day(text: bytes | None) -> date | None:
    try:
        return None if text is None else date.fromisoformat(text.decode())
    except ValueError:
        return None
