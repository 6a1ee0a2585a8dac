"""`memory_facts.jsonl`, shared with the agent host: its four fields, its lock, its cap (spec 4-formats).

Every line of others stays byte for byte as it is, malformed ones and unknown fields included. A new fact goes before
the first of our own facts that is younger, else at the end, so that a day made up late ends where it would have stood.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import time
import unicodedata
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, cast

from horizon.adapters.files import make_folder, replace_file, sweep
from horizon.core.fact import SOURCE, fact_id, near_key
from horizon.errors import StoreBusy

if TYPE_CHECKING:
    from collections.abc import Collection, Generator, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from horizon.core.fact import Fact

FILE_NAME: Final = "memory_facts.jsonl"
OWNER_MOST: Final = 1_000
"""Facts that the owner keeps; when it adds beyond, it drops the oldest."""
PUSH_MOST: Final = 20
"""Facts that one night may add beyond that: 2 % of what the owner keeps can be pushed out, no more."""
LOCK_WAIT: Final = 10.0
"""Seconds to wait for the owner, who holds the lock for one rewrite of the file (milliseconds)."""
_LOCK_POLL: Final = 0.02
_decode = json.JSONDecoder().decode
_MARKS = re.compile(r"[\u0300-\u036f]+")


@dataclass(frozen=True, slots=True)
class _Line:
    data: bytes
    text: str | None
    """The fact's text; None for what is no fact (blank, malformed, foreign)."""
    ours_at: float | None
    """`created_at` of a fact of ours, else None."""

    def is_after(self, at: float, id_: str) -> bool:
        """Tell whether this is a fact of ours that belongs after one of that instant and id."""
        if self.ours_at is None or self.text is None or self.ours_at < at:
            return False
        return self.ours_at > at or fact_id(self.text) > id_


@dataclass(slots=True)
class FactsFile:
    """The facts journal as it stands, for one writer who holds its lock."""

    path: Path
    _lines: list[_Line]
    _plain: str | None = None
    """The texts without accents and case, a line each."""

    def near(self, facts: Iterable[Fact]) -> Mapping[tuple[str, ...], str]:
        """Return, by near key, the ids of those facts in the file that are equal or nearly so to one of `facts`."""
        if self._plain is None:
            # one pass over the whole file: what is done line by line below is done for few of its lines
            whole = "\n".join(" ".join(line.text.split("\n")) if line.text else "" for line in self._lines)
            self._plain = _plain(whole)
        found: dict[tuple[str, ...], str] = {}
        for fact in facts if self._lines else ():
            key = near_key(fact.text)
            words = sorted({_plain(word) for word in key if word.isalnum()}, key=len, reverse=True)
            text = next((text for text in _holding(self._plain, self._lines, words) if near_key(text) == key), None)
            if text is not None:
                found.setdefault(key, fact_id(text))
        return found

    @property
    def room(self) -> int:
        """How many facts one night may add: what the owner's cap leaves, and a set share beyond; at least 0."""
        return max(OWNER_MOST - sum(1 for line in self._lines if line.text is not None), 0) + PUSH_MOST

    def add(self, facts: Sequence[Fact]) -> int:
        """Write those of `facts` that the file does not hold, durably, in one replacement; return how many.

        Raises:
            OSError: the disk refused; the file stands as it was.
        """
        near = self.near(facts)
        new = {fact.id: fact for fact in facts if near_key(fact.text) not in near}
        if not new:
            return 0
        lines = list(self._lines)
        place = 0
        for id_, fact in sorted(new.items(), key=lambda item: (item[1].at, item[0])):
            at = fact.at.timestamp()
            while place < len(lines) and not lines[place].is_after(
                at, id_
            ):  # what is not after an earlier one is not after it
                place += 1
            lines.insert(place, _Line(data=_written(fact), text=fact.text, ours_at=at))
        data = b"\n".join(line.data for line in lines) + b"\n"
        replace_file(self.path, data)
        self._lines, self._plain = lines, None
        return len(new)

    def drop(self, ids: Collection[str]) -> int:
        """Take our own facts called `ids` out of the file, durably, in one replacement; return how many.

        Raises:
            OSError: the disk refused; the file stands as it was.
        """
        lines = [
            line for line in self._lines if line.ours_at is None or line.text is None or fact_id(line.text) not in ids
        ]
        dropped = len(self._lines) - len(lines)
        if dropped:
            replace_file(self.path, b"".join(line.data + b"\n" for line in lines))
            self._lines, self._plain = lines, None
        return dropped


def _holding(plain: str, lines: Sequence[_Line], words: Sequence[str]) -> Iterator[str]:
    """Yield, in order, the texts of the lines in whose plain form every one of `words` (the longest first) stands."""
    longest = words[0] if words else ""
    start = number = 0
    while (hit := plain.find(longest, start)) >= 0:
        number += plain.count("\n", start, hit)
        start = max(plain.rfind("\n", start, hit) + 1, start)
        end = plain.find("\n", hit)
        if end < 0:
            end = len(plain)
        text = lines[number].text
        if text and all(word in plain[start:end] for word in words):
            yield text
        start, number = end + 1, number + 1


def _plain(text: str) -> str:
    """Return `text` without accents and case: what holds every word of the near key of each of its lines."""
    if not text.isascii():
        text = _MARKS.sub("", unicodedata.normalize("NFKD", text))
    return text.casefold()


def _written(fact: Fact) -> bytes:
    fields = {"text": fact.text, "source": SOURCE, "created_at": fact.at.timestamp(), "trust": str(fact.trust)}
    return json.dumps(fields, ensure_ascii=False).encode("utf-8", "replace")


@dataclass(frozen=True, slots=True)
class FactsJournal:
    """The facts journal of one home; the file is made when a first fact is written."""

    path: Path
    wait: float = LOCK_WAIT

    @contextmanager
    def session(self) -> Generator[FactsFile]:
        """Hold the owner's lock and give the file as it stands now.

        Raises:
            StoreBusy: another writer held the lock for longer than `wait` seconds.
            OSError: the file is there and could not be read.
        """
        with _locked(self.path.with_name(self.path.name + ".lock"), self.wait):
            sweep(self.path)
            yield self._read()

    def _read(self) -> FactsFile:
        try:
            data = self.path.read_bytes()
        except FileNotFoundError:
            data = b""
        pieces = data.split(b"\n")
        if not pieces[-1]:
            pieces.pop()
        return FactsFile(self.path, [_line(piece) for piece in pieces])


def _line(data: bytes) -> _Line:
    try:
        # as json.loads does, without guessing at encodings: ten thousand lines are read each night
        value = _decode(data.decode("utf-8", "surrogatepass").removeprefix("\ufeff"))
    except (ValueError, RecursionError):
        return _Line(data, None, None)
    if not isinstance(value, dict):
        return _Line(data, None, None)
    found = cast("dict[str, Any]", value)
    text, at = found.get("text"), found.get("created_at")
    ours = found.get("source") == SOURCE and isinstance(at, int | float) and not isinstance(at, bool)
    return _Line(data, text if isinstance(text, str) else None, float(cast("float", at)) if ours else None)


@contextmanager
def _locked(path: Path, wait: float) -> Generator[None]:
    """Hold the owner's exclusive flock; its file is made when missing and never written to."""
    make_folder(path.parent)
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        end = time.monotonic() + wait
        while True:
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() >= end:
                    raise StoreBusy(f"another program holds {path} for more than {wait:g} s") from None
                time.sleep(_LOCK_POLL)
        yield
    finally:
        os.close(fd)
