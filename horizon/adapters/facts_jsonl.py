"""`memory_facts.jsonl`, shared with the agent host: its four fields, its lock, its cap (spec 4-formats).

Every line of others stays byte for byte as it is, malformed ones and unknown fields included. A new fact goes before
the first of our own facts that is younger, else at the end, so that a day made up late ends where it would have stood.
What each line is about is known from `facts_seen`, so only lines that others have written since are read.
"""

from __future__ import annotations

import fcntl
import json
import math
import os
import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

from horizon.adapters import facts_seen
from horizon.adapters.facts_seen import NOT_OURS, Numbers, Stamp, lines_of, near_number, stamp
from horizon.adapters.files import make_folder, replace_file, sweep
from horizon.core.fact import SOURCE, fact_id, near_key
from horizon.errors import StoreBusy

if TYPE_CHECKING:
    from collections.abc import Collection, Generator, Iterable, Mapping, Sequence
    from pathlib import Path

    from horizon.adapters.facts_seen import Seen
    from horizon.core.fact import Fact

FILE_NAME: Final = "memory_facts.jsonl"
OWNER_MOST: Final = 1_000
"""Facts that the owner keeps; when it adds beyond, it drops the oldest."""
LOCK_WAIT: Final = 10.0
"""Seconds to wait for the owner, who holds the lock for one rewrite of the file (milliseconds)."""
_LOCK_POLL: Final = 0.02
_decode = json.JSONDecoder().decode
_NEWLINE: Final = 10


class _Line(NamedTuple):
    """What a line says: nothing where it is blank, malformed or foreign."""

    text: str | None = None
    ours: bool = False
    at: float | None = None
    """`created_at`, where that is a number."""


@dataclass(slots=True)
class FactsFile:
    """The facts journal as it stands, for one writer who holds its lock."""

    path: Path
    _data: bytearray
    seen: Seen
    changed: bool = False
    """Whether `seen` is to be kept again."""

    @property
    def free(self) -> int:
        """How many facts the owner's cap leaves; at least 0."""
        return max(OWNER_MOST - self.seen.facts, 0)

    def near(self, facts: Iterable[Fact]) -> Mapping[tuple[str, ...], str]:
        """Return, by near key, the ids of those facts in the file that are equal or nearly so to one of `facts`."""
        found: dict[tuple[str, ...], str] = {}
        for key in dict.fromkeys(near_key(fact.text) for fact in facts):
            for line in self.seen.lines_of(near_number(key)):
                text = self._line(line).text
                if text is not None and near_key(text) == key:
                    found[key] = fact_id(text)
                    break
        return found

    def add(self, facts: Sequence[Fact]) -> int:
        """Write those of `facts` that the file does not hold, durably, in one replacement; return how many.

        Raises:
            OSError: the disk refused; the file stands as it was.
        """
        near = self.near(facts)
        new = {fact.id: fact for fact in facts if near_key(fact.text) not in near}
        if not new:
            return 0
        places: dict[int, list[Fact]] = {}
        place = 0
        for id_, fact in sorted(new.items(), key=lambda item: (item[1].at, item[0])):
            place = self._place(place, fact.at.timestamp(), id_)  # what is not after an earlier one is not after it
            places.setdefault(place, []).append(fact)
        appended = list(places) == [len(self.seen.sizes)]
        if self._data and self._data[-1] != _NEWLINE:
            self._data += b"\n"
            appended = False
        for line, group in reversed(places.items()):  # from the end, so that what stands before keeps its place
            start = len(self._data) if line == len(self.seen.sizes) else self.seen.start(line)
            assert not start or self._data[start - 1] == _NEWLINE, "a fact goes between two lines"
            pieces = [_written(fact) for fact in group]
            self._data[start:start] = b"".join(piece + b"\n" for piece in pieces)
            self.seen.insert(line, pieces, [_numbers(piece) for piece in pieces])
        replace_file(self.path, self._data)
        self.seen.seal(self._data, appended=appended)
        self.changed = True
        return len(new)

    def drop(self, ids: Collection[str]) -> int:
        """Take our own facts called `ids` out of the file, durably, in one replacement; return how many.

        Raises:
            OSError: the disk refused; the file stands as it was.
        """
        pieces = lines_of(self._data)
        kept = [piece for piece in pieces if not _is_ours(_line(piece), ids)]
        dropped = len(pieces) - len(kept)
        if dropped:
            self._data = bytearray(b"".join(piece + b"\n" for piece in kept))
            replace_file(self.path, self._data)
            self.seen = facts_seen.look(self._data, Stamp(), self.seen, _numbers)
            self.changed = True
        return dropped

    def _place(self, line: int, at: float, id_: str) -> int:
        """Return the first line from `line` on that is a fact of ours and belongs after one of that instant and id."""
        times = self.seen.times
        last = len(times)
        if at > self.seen.latest:
            return last
        while line < last:
            if times[line] > at or (times[line] == at and fact_id(self._line(line).text or "") > id_):
                return line
            line += 1
        return last

    def _line(self, line: int) -> _Line:
        start = self.seen.start(line)
        return _line(bytes(self._data[start : start + self.seen.sizes[line]]))


def _is_ours(line: _Line, ids: Collection[str]) -> bool:
    return line.ours and line.text is not None and fact_id(line.text) in ids


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
            kept = self.path.with_name(facts_seen.FILE_NAME)
            before = facts_seen.load(kept)
            data, now = _content(self.path)
            if before is not None and before.is_of(data, now):
                file = FactsFile(self.path, data, before, changed=before.stamp != now)
                before.stamp = now
            else:
                file = FactsFile(self.path, data, facts_seen.look(data, now, before, _numbers), changed=True)
            yield file
            if file.changed:
                file.seen.save(kept)


def _content(path: Path) -> tuple[bytearray, Stamp]:
    """Return the bytes of a file, none where there is none, in a form that takes new lines without being copied."""
    try:
        with path.open("rb", buffering=0) as file:
            status = os.fstat(file.fileno())
            data = bytearray(status.st_size)
            del data[file.readinto(data) or 0 :]
            data += file.read()  # it had grown, or one read gives no more
    except FileNotFoundError:
        return bytearray(), Stamp()
    return data, stamp(status)


def _line(data: bytes) -> _Line:
    try:
        value = _decode(data.decode("utf-8", "surrogatepass").removeprefix("\ufeff"))
        if not isinstance(value, dict):
            return _Line()
        found = cast("dict[str, Any]", value)
        text, at = found.get("text"), found.get("created_at")
        dated = isinstance(at, int | float) and not isinstance(at, bool)
        return _Line(
            text=text if isinstance(text, str) else None,
            ours=found.get("source") == SOURCE,
            at=float(cast("float", at)) if dated else None,
        )
    except (ValueError, RecursionError, OverflowError):
        return _Line()


def _numbers(data: bytes) -> Numbers:
    line = _line(data)
    if line.text is None:
        return Numbers()
    dated = line.ours and line.at is not None and not math.isnan(line.at)
    return Numbers(near_number(near_key(line.text)), line.at if dated and line.at is not None else NOT_OURS)


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
