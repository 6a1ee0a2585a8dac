"""One bee's three journals as JSON lines, and the state folded from them (spec 1-horizon §1, §8, §9).

- Appending takes a short lock for the write and syncs after it; reading takes none. Maintainers exclude
  each other by a lock of their own, which neither appending nor reading ever waits for.
- A state that was handed out never changes: news are folded into a copy of it. Threads may share a store.
- A load reads only what is new since the last one; a fresh process starts from the snapshot. Whatever does
  not continue what was read (a file replaced, cut or put in another order) means folding from the beginning.
"""

from __future__ import annotations

import os
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, cast

from horizon.adapters.bee_files import bees_of, files_of
from horizon.adapters.cursor import Cursor, Moved, new_events, stamp_of, torn_end
from horizon.adapters.files import (
    append_lines,
    locked,
    locked_or_busy,
    make_folder,
    open_to_append,
    sync_folder,
    sync_written,
    write_lines,
)
from horizon.adapters.fold import fold
from horizon.adapters.journal_index import JournalIndex
from horizon.adapters.journal_lines import LINE_LONGEST, cleaned, given_id, leniencies, line_of
from horizon.adapters.journal_reader import JournalReader, Progress
from horizon.adapters.outcome_lines import fields_line, flag_fields, flag_of, outcome_fields, outcome_of
from horizon.adapters.segments import archived, next_stem
from horizon.adapters.snapshot import read_snapshot, write_snapshot
from horizon.adapters.view_file import Basis, read_view, write_view
from horizon.core.event import Narrated
from horizon.core.exchange import Entry, Position
from horizon.core.state import State, copy_of, with_appended
from horizon.core.stored import Fold, Oddity, Written
from horizon.errors import Unavailable

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator
    from datetime import datetime
    from pathlib import Path

    from horizon.core.event import Flagged, Outcome
    from horizon.core.exchange import Exchange
    from horizon.core.receipt import View
    from horizon.core.view import Look
    from horizon.ports import Clock

__all__ = ["JournalStore", "bees_of"]

SEGMENT_ENTRIES: Final = 500
"""Entries at which the active segment is moved to the archive (spec 1-horizon §1)."""
_RETRIES: Final = 50
"""Foldings in a row that may find the journals replaced: each means that somebody moved files just then."""
_COPIED_MOST: Final = 1_000
"""Sharp exchanges up to which an append goes on from what is held: many times what a maintained bee has. To copy more costs
more than to read a line, and a bee that appends much between two reads should not."""
_ODDITIES_KEPT: Final = 1_000
"""Oddities that a fold carries; `oddities()` gives them all."""


@dataclass(slots=True)
class _Notes:
    """Oddities met, in order; the first `most` of them."""

    found: list[Oddity] = field(default_factory=list[Oddity])
    most: int = _ODDITIES_KEPT

    def note(self, path: Path, line: int, offset: int, reason: str) -> None:
        if len(self.found) < self.most:
            self.found.append(Oddity(path=str(path), line=line, offset=offset, reason=reason))


@dataclass(slots=True)
class _Held:
    """What the last load gave, and how far it had read. Never changed once it stands."""

    fold: Fold
    progress: Progress


class JournalStore:
    """One bee's journals in `<hive>/window/`; fulfils `ports.BeeStore`. Threads may share it."""

    def __init__(self, hive: Path, bee: str, clock: Clock) -> None:
        self.files = files_of(hive, bee)
        self.bee = self.files.bee
        self._reader = JournalReader(self.files)
        self._index = JournalIndex(self._reader)
        self._clock = clock
        watched = (self.files.journal, self.files.flags, self.files.outcomes, self.files.archive)
        self._watched = tuple(map(str, watched))
        self._view = str(self.files.view)
        self._mutex = threading.Lock()
        self._held: _Held | None = None
        self._saved: Progress | None = None
        self._counted = (0, 0, 0)
        """Inode, bytes and lines of the active file when its lines were counted last."""
        self._maintaining = False

    # -- reading -------------------------------------------------------------------------------------------

    def stamp(self) -> object:
        """Return a cheap value that changes whenever any of the bee's journals does."""
        return tuple(map(stamp_of, self._watched))

    def load(self) -> Fold:
        """Return the state folded from all bytes now on disk; writes nothing and takes no file lock.

        `oddities` are those met since this process began to follow the journals; `oddities()` gives all.

        Raises:
            Unavailable: a journal is there and cannot be read.
        """
        held, stamp = self._held, self.stamp()
        if held is not None and held.fold.stamp == stamp:
            return held.fold
        with self._mutex:
            notes = _Notes()
            held = self._held
            if held is None:
                held = self._from_snapshot(notes)
            else:
                notes.found.extend(held.fold.oddities)
            for _ in range(_RETRIES):
                try:
                    self._held = self._advanced(held, stamp, notes)
                except Moved as moved:
                    held = None
                    notes.note(self.files.journal, 0, 0, f"{moved}: folded again from the beginning")
                    stamp = self.stamp()
                else:
                    return self._held.fold
        raise Unavailable(f"{self.files.window} changes too fast to be read")

    def _advanced(self, held: _Held | None, stamp: object, notes: _Notes) -> _Held:
        """Return what the journals give now, going on from what is held, which stays as it is."""
        state = State() if held is None else copy_of(held.fold.state)
        progress = Progress() if held is None else held.progress.copied()
        changed = fold(state, progress, self._reader, notes)
        if held is not None and not changed:
            state = held.fold.state
        return _Held(Fold(state=state, stamp=stamp, oddities=tuple(notes.found)), progress)

    def load_at(self, instant: datetime) -> Fold:
        """Return the state as of `instant`: the exchanges, flags and outcomes dated by then.

        Raises:
            Unavailable: a journal is there and cannot be read.
        """
        for _ in range(_RETRIES):
            stamp, state, notes = self.stamp(), State(), _Notes()
            try:
                fold(state, Progress(), self._reader, notes, instant)
            except Moved:
                continue
            return Fold(state=state, stamp=(stamp, instant), oddities=tuple(notes.found))
        raise Unavailable(f"{self.files.window} changes too fast to be read")

    def entries(self) -> Iterator[Entry]:
        """Yield every readable exchange of the integral journal, in journal order.

        Raises:
            Unavailable: a journal is there and cannot be read, or went away while it was read.
        """
        try:
            for found in self._reader.new(Progress(), _Notes(most=0)):
                yield found.entry()
        except Moved as moved:
            raise Unavailable(f"the journal of {self.bee} was changed while it was read: {moved}") from moved

    def latest(self, count: int, until: datetime | None = None) -> tuple[Entry, ...]:
        """Return the last `count` exchanges of the journal dated by `until`, in journal order; writes nothing.

        Raises:
            Unavailable: as for `entries`.
        """
        for _ in range(_RETRIES):
            try:
                return tuple(found.entry() for found in self._reader.last(count, until))
            except Moved:
                continue
        raise Unavailable(f"{self.files.window} changes too fast to be read")

    def exchange(self, id_: str) -> Exchange | None:
        """Return the exchange called `id_`, the oldest in the journal where several are; None if unknown.

        Raises:
            Unavailable: as for `entries`.
        """
        found = self._index.called(id_)
        if found is None:
            found = (entry for entry in self.entries() if entry.exchange.id == id_)
        return next((entry.exchange for entry in found), None)

    def narratives(self) -> tuple[Narrated, ...]:
        """Return every narrative version that was recorded, oldest first.

        Raises:
            Unavailable: the outcomes are there and cannot be read.
        """
        events = new_events(self.files.outcomes, Cursor(), outcome_of, _Notes(most=0))
        return tuple(event for event in events if isinstance(event, Narrated))

    def oddities(self) -> tuple[Oddity, ...]:
        """Return what in the three journals could not be read or was taken leniently, by file, line and offset.

        Raises:
            Unavailable: as for `entries`.
        """
        notes = _Notes(most=1_000_000)  # a journal of garbage must not fill the memory
        progress = Progress()
        seen: set[str] = set()
        try:
            for path, line, record in self._reader.records(progress, notes):
                for reason in leniencies(record):
                    notes.note(path, line, record.offset, reason)
                id_ = given_id(record.fields)
                if id_ in seen:
                    notes.note(path, line, record.offset, f"the id {id_!r} again: it counts as another exchange")
                elif id_:
                    seen.add(id_)
            for path, cursor, decode in (
                (self.files.flags, progress.flags, flag_of),
                (self.files.outcomes, progress.outcomes, outcome_of),
            ):
                for _ in new_events(path, cursor, decode, notes):
                    pass
            for path, cursor in (
                (self.files.journal, progress.journal),
                (self.files.flags, progress.flags),
                (self.files.outcomes, progress.outcomes),
            ):
                reason = torn_end(path, cursor)
                if reason:
                    notes.note(path, cursor.line, cursor.offset, reason)
        except Moved as moved:
            raise Unavailable(f"the journal of {self.bee} was changed while it was read: {moved}") from moved
        files = {path: order for order, path in enumerate(dict.fromkeys(oddity.path for oddity in notes.found))}
        return tuple(sorted(notes.found, key=lambda oddity: (files[oddity.path], oddity.offset)))

    # -- caches --------------------------------------------------------------------------------------------

    def save_snapshot(self) -> None:
        """Write the caches: the folded state and the index of the journal. Only under `exclusive()`.

        Raises:
            OSError: the disk refused; the old snapshot stands.
        """
        assert self._maintaining, "the snapshot is written under exclusive()"
        self.load()
        held = self._held
        assert held is not None, "load() holds what it gave"
        if held.progress != self._saved or not self.files.snapshot.exists():
            self._index.refresh()
            write_snapshot(self.files.snapshot, held.progress, held.fold.state)
            self._saved = held.progress

    def _from_snapshot(self, notes: _Notes) -> _Held | None:
        """Return what the snapshot holds, None where there is none or it does not fit the journals."""
        try:
            saved = read_snapshot(self.files.snapshot, self._reader)
        except Moved as moved:
            notes.note(self.files.snapshot, 0, 0, f"it does not fit the journals ({moved}): folded from the beginning")
            return None
        if saved is None:
            return None
        progress, state = saved
        self._saved = progress
        return _Held(Fold(state=state, stamp=None), progress)

    def keep_view(self, looked: Look, *, settings: object, zone: str) -> None:
        """Leave a view of what was loaded last for other processes. Only under `exclusive()`; see `ports.BeeStore`.

        Raises:
            OSError: the disk refused; what was left before stands.
        """
        assert self._maintaining, "the view is left under exclusive(): forgetting must find no other one to come"
        held = self._held
        if held is None or held.fold.state is not looked.seen or not isinstance(held.fold.stamp, tuple):
            return  # another thread has read on meanwhile
        stamp = cast("tuple[object, ...]", held.fold.stamp)
        basis = Basis(stamp=stamp, settings=settings, zone=zone, progress=held.progress)
        write_view(self.files.view, looked, basis)

    def kept_view(self, stamp: object, settings: object) -> View | None:
        """Return the view as it was left, with what was appended since; None where that is not all; see `ports.BeeStore`."""
        return read_view(self._view, self._reader, _Notes(most=0), cast("tuple[object, ...]", stamp), settings)

    def refold(self, *, drop_outcomes: bool = False) -> None:
        """Forget what is folded and cached: the next load reads every journal from its first byte.

        With `drop_outcomes` the outcomes file is set aside under another name beside it, never deleted, so that
        the horizon is made again from the journal and the flags alone. Only under `exclusive()`.
        """
        assert self._maintaining, "folding again is maintenance: under exclusive()"
        with self._mutex:
            if drop_outcomes and self.files.outcomes.exists():
                number = 1
                while (aside := self.files.window / f"{self.bee}-horizon.aside-{number:03d}.jsonl").exists():
                    number += 1
                self.files.outcomes.rename(aside)
            self.files.snapshot.unlink(missing_ok=True)
            self.files.view.unlink(missing_ok=True)
            if self.files.window.is_dir():
                sync_folder(self.files.window)
            self._held = None
            self._saved = None

    # -- writing -------------------------------------------------------------------------------------------

    def append(self, exchange: Exchange) -> Written:
        """Append one exchange durably; return it as it will be read back.

        Raises:
            OSError: the disk refused; then nothing of it is in the journal.
        """
        exchange = cleaned(exchange)
        line = line_of(exchange)
        with locked(self.files.append_lock):
            fd = open_to_append(self.files.journal)
            try:
                before = stamp_of(fd)
                rotated = self._count(fd) >= SEGMENT_ENTRIES
                if rotated:
                    os.close(fd)
                    fd = self._rotate()
                start, end = write_lines(fd, line)
                after = stamp_of(fd)
                inode, _, count = self._counted
                self._counted = (inode, end, count + 1)
                if count + 1 >= SEGMENT_ENTRIES:
                    os.close(self._rotate())
                    rotated = True
            except BaseException:
                os.close(fd)
                raise
        sync_written(fd, start, end, self.files.append_lock)
        fold = None if rotated else self._gone_on(exchange, line, before, after)
        return Written(exchange=exchange, rotated=rotated, fold=fold)

    def _gone_on(
        self, exchange: Exchange, line: bytes, before: tuple[int, ...] | None, after: tuple[int, ...] | None
    ) -> Fold | None:
        """Hold what the last load gave with our own line added; None where more has changed, or it is much to copy.

        What we wrote need not be read: it was written where reading had stopped, to a file that was just as it was then
        (`before`) and that has grown by our line alone (`after`).
        """
        with self._mutex:
            held = self._held
            if held is None or not isinstance(held.fold.stamp, tuple) or len(held.fold.state.sharp) > _COPIED_MOST:
                return None
            if before is None or after is None:
                return None
            stamp = cast("tuple[object, ...]", held.fold.stamp)
            progress, start = held.progress, before[1]
            if (
                stamp[0] != before
                or stamp[-1] != progress.archive
                or (progress.inode, progress.journal.offset) != before[:2]
                or after[:2] != (before[0], start + len(line))
                or len(line) > LINE_LONGEST
                or progress.undated_head
            ):
                return None
            entry = Entry(position=Position(progress.segment, start), exchange=exchange)
            journal = progress.journal.advanced(line, modified=after[2])
            fold = Fold(
                state=with_appended(held.fold.state, entry), stamp=(after, *stamp[1:]), oddities=held.fold.oddities
            )
            self._held = _Held(fold, replace(progress, journal=journal, carried=exchange.at))
            return fold

    def _count(self, fd: int) -> int:
        """Return how many lines the active file holds, reading only what others have added since the last count."""
        status = os.fstat(fd)
        inode, offset, count = self._counted
        if inode != status.st_ino or offset > status.st_size:
            offset = count = 0
        last = b"\n"
        while offset < status.st_size:
            block = os.pread(fd, 1 << 20, offset)
            count += block.count(b"\n")
            offset += len(block)
            last = block[-1:]
        count += last != b"\n"
        self._counted = (status.st_ino, status.st_size, count)
        return count

    def _rotate(self) -> int:
        """Move the active file to the archive, byte for byte; return the new active file, open. Under the lock."""
        make_folder(self.files.archive)
        segments = archived(self.files.archive, self.bee)
        target = self.files.archive / f"{next_stem(self.bee, segments[-1].stem if segments else None)}.jsonl"
        assert not target.exists(), f"{target} sorts after every existing segment"
        self.files.journal.rename(target)
        sync_folder(self.files.archive)
        fd = open_to_append(self.files.journal)
        self._counted = (os.fstat(fd).st_ino, 0, 0)
        return fd

    def flag(self, event: Flagged) -> None:
        """Append a flag durably.

        Raises:
            OSError: the disk refused; then nothing of it is in the file.
        """
        append_lines(self.files.flags, fields_line(flag_fields(event)), lock=self.files.append_lock)

    def record(self, outcome: Outcome) -> None:
        """Append one outcome durably, in one write. Only under `exclusive()`.

        Raises:
            OSError: the disk refused; then nothing of it is in the file.
        """
        assert self._maintaining, "outcomes are recorded under exclusive()"
        append_lines(self.files.outcomes, fields_line(outcome_fields(outcome)), lock=self.files.append_lock)

    @contextmanager
    def exclusive(self) -> Generator[None]:
        """Exclude every other maintainer of this bee, in all processes; readers and appenders do not wait.

        Raises:
            StoreBusy: another one is at work; the message says which process.
        """
        with locked_or_busy(self.files.exclusive_lock, f"the horizon of {self.bee}"):
            self._maintaining = True
            try:
                yield
            finally:
                self._maintaining = False
