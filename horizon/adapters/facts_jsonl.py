"""`memory_facts.jsonl`, shared with the agent host: its four fields, its lock, its cap (spec 4-formats).

Every line of others stays byte for byte as it is, malformed ones and unknown fields included. A new fact goes before
the first of our own facts that is younger, else at the end, so that a day made up late ends where it would have stood.
"""

from __future__ import annotations

import fcntl
import json
import os
import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, cast

from horizon.adapters.files import make_folder, replace_file
from horizon.core.fact import SOURCE, fact_id, folded, near_key
from horizon.errors import StoreBusy

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Mapping, Sequence
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
    _ended: bool

    def near(self, facts: Iterable[Fact]) -> Mapping[tuple[str, ...], str]:
        """Return, by near key, the ids of facts in the file that might equal one of `facts`."""
        wanted = [(gist, len(gist)) for fact in facts if (gist := folded(fact.text))]
        found: dict[tuple[str, ...], str] = {}
        for line in self._lines:
            if line.text is None or not any(_could_be(line.text, gist, size) for gist, size in wanted):
                continue
            found.setdefault(near_key(line.text), fact_id(line.text))
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
        for fact in sorted(new.values(), key=lambda each: (each.at, each.id)):
            at = fact.at.timestamp()
            place = next((index for index, line in enumerate(lines) if line.is_after(at, fact.id)), len(lines))
            lines.insert(place, _Line(data=_written(fact), text=fact.text, ours_at=at))
        data = b"\n".join(line.data for line in lines) + b"\n"
        replace_file(self.path, data)
        self._lines = lines
        return len(new)


def _could_be(text: str, gist: str, size: int) -> bool:
    """Tell cheaply whether two facts might be equal but for case, space, accents, articles and plurals.

    An article or a plural changes a few characters; digits change nothing at all.
    """
    return abs(len(text) - size) <= 8 + size // 3 and [c for c in text if c.isdigit()] == [
        c for c in gist if c.isdigit()
    ]


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
            yield self._read()

    def _read(self) -> FactsFile:
        try:
            data = self.path.read_bytes()
        except FileNotFoundError:
            data = b""
        pieces = data.split(b"\n")
        ended = not pieces[-1]
        if ended:
            pieces.pop()
        return FactsFile(self.path, [_line(piece) for piece in pieces], ended)


def _line(data: bytes) -> _Line:
    try:
        value = json.loads(data)
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
