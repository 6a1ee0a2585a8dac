"""`journal.md`: one section for each day, in a file that a person reads and edits (spec 2-consolidation §4, 4-formats).

Only bytes of the section in question change; everything else stays as it is, line endings included. A section that is
not one of the texts we meant for it was written or edited by a person, and is left alone.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Final, Literal

from horizon.adapters.files import replace_file

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

FILE_NAME: Final = "journal.md"
Section = Literal["written", "unchanged", "kept (edited by a person)"]
WRITTEN: Final = "written"
UNCHANGED: Final = "unchanged"
KEPT: Final = "kept (edited by a person)"

_HEADING = re.compile(rb"^##[ \t]+(\d{4}-\d{2}-\d{2})\b[^\r\n]*\r?$", re.MULTILINE)
_ANY_HEADING = re.compile(rb"^#{1,2}[ \t]+[^\r\n]*\r?$", re.MULTILINE)
_FENCE = re.compile(rb"^[ \t]*(```|~~~)[^\n]*\n.*?^[ \t]*\1[`~]*[ \t]*\r?$", re.MULTILINE | re.DOTALL)
"""A closed code fence: one that a person left open hides nothing, else our section after it would not be found again."""


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

        `ours` are the texts that we ever meant for this day: what stands there and is none of them stays.

        Raises:
            OSError: the disk refused; the file stands as it was.
        """
        data = self._data()
        newline = b"\r\n" if b"\r\n" in data and data.count(b"\r\n") * 2 > data.count(b"\n") else b"\n"
        body = text.strip().encode("utf-8", "replace").replace(b"\n", newline)
        places = _places(data)
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
        at = min(later, default=len(data))
        before, rest = data[:at], data[at:]
        if before.strip() or not rest:
            before += b"" if not before or before.endswith(b"\n") else newline
            if not before.endswith(newline + newline):
                before += newline
        replace_file(self.path, before + section + (newline + rest if rest else b""))
        return WRITTEN

    def _data(self) -> bytes:
        try:
            return self.path.read_bytes()
        except FileNotFoundError:
            return b""


def _text(body: bytes) -> str:
    return body.decode("utf-8", "replace").replace("\r\n", "\n").strip()


def _places(data: bytes) -> dict[date, tuple[int, int, int]]:
    """Return for each day, of its first section: where the heading begins and ends, and where the section ends.

    A section ends at the next heading of its level or higher. What looks like a heading inside a code fence is none.
    """
    fences = [found.span() for found in _FENCE.finditer(data)]

    def fenced(at: int) -> bool:
        return any(start <= at < end for start, end in fences)

    headings = [found.start() for found in _ANY_HEADING.finditer(data) if not fenced(found.start())]
    places: dict[date, tuple[int, int, int]] = {}
    for found in _HEADING.finditer(data):
        if fenced(found.start()):
            continue
        try:
            day = date.fromisoformat(found[1].decode())
        except ValueError:
            continue
        end = next((at for at in headings if at > found.start()), len(data))
        heading_end = found.end() - (1 if found[0].endswith(b"\r") else 0)
        places.setdefault(day, (found.start(), heading_end, end))
    return places
