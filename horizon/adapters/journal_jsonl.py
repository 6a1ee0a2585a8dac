"""One bee's three journals as JSON lines, and the state folded from them (spec 1-horizon §1, §8, §9).

- Appending takes a short lock for the write and syncs after it; reading takes none. Maintainers exclude
  each other by a lock of their own, which neither appending nor reading ever waits for.
- A state that was handed out never changes: news are folded into a copy of it. Threads may share a store.
- A load reads only what is new since the last one; a fresh process starts from the snapshot. Whatever does
  not continue what was read (a file replaced, cut or put in another order) means folding from the beginning.
"""

from __future__ import annotations

import hashlib
import json
import os
import threading
import zlib
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from horizon.adapters.files import (
    append_lines,
    check_name,
    locked,
    locked_or_busy,
    make_folder,
    open_to_append,
    replace_file,
    sync_folder,
    sync_written,
    write_lines,
)
from horizon.adapters.journal_lines import (
    EPOCH,
    LINE_LONGEST,
    cleaned,
    exchange_of,
    instant_of,
    leniencies,
    line_of,
    read_line,
)
from horizon.adapters.outcome_lines import (
    Unreadable,
    fields_of,
    flag_fields,
    flag_of,
    outcome_fields,
    outcome_of,
)
from horizon.adapters.outcome_lines import line_of as fields_line
from horizon.adapters.segments import archived, is_copy, lines_of, next_stem, open_segment, owner_of, split_suffix
from horizon.adapters.snapshot import VERSION, document_of, state_of
from horizon.core.event import Appended
from horizon.core.exchange import Entry, Position
from horizon.core.state import State, apply, copy_of
from horizon.errors import Unavailable
from horizon.ports import Fold, Oddity, Written

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path
    from typing import BinaryIO

    from horizon.adapters.journal_lines import Record
    from horizon.adapters.outcome_lines import Fields
    from horizon.adapters.segments import Segment
    from horizon.core.event import Event, Flagged, Outcome
    from horizon.core.exchange import Exchange
    from horizon.ports import Clock

SEGMENT_ENTRIES: Final = 500
"""Entries at which the active segment is moved to the archive (spec 1-horizon §1)."""
_TAIL: Final = 256
"""Bytes before the place reached that must still be there: several ids and dates, so another file differs."""
_RETRIES: Final = 50
"""Looks at an archive that changes while it is being listed: each means that a rotation just happened."""
_ODDITIES_KEPT: Final = 1_000
"""Oddities that a fold carries; `oddities()` gives them all."""


class _Moved(Exception):  # noqa: N818 - a signal between two functions of this module, never seen outside
    """What is on disk does not continue what was read; its text says how."""


@dataclass(slots=True)
class _Cursor:
    """How far a file has been read: the next byte, its line (1-based), the bytes just before it."""

    offset: int = 0
    line: int = 1
    tail: bytes = b""


@dataclass(slots=True)
class _Progress:
    """How far the three journals have been folded."""

    segment: int = 0
    """Ordinal of the segment that `journal` is in."""
    before: str = ""
    """Name of the segment before it; "" for the first."""
    inode: int = 0
    """Of the active file when it was read last; 0 when there was none."""
    archive: tuple[int, ...] | None = None
    """Stamp of the archive folder from before it was listed."""
    journal: _Cursor = field(default_factory=_Cursor)
    flags: _Cursor = field(default_factory=_Cursor)
    outcomes: _Cursor = field(default_factory=_Cursor)
    carried: datetime | None = None
    """Date of the last dated record: undated ones take it."""
    undated_head: bool = False
    """Records were read before any date was known: the first date to come changes theirs."""

    def copied(self) -> _Progress:
        return replace(self, journal=replace(self.journal), flags=replace(self.flags), outcomes=replace(self.outcomes))


@dataclass(slots=True)
class _Held:
    """What the last load gave, and how far it had read."""

    fold: Fold
    progress: _Progress


@dataclass(slots=True)
class _Folding:
    """A fold under way."""

    state: State
    progress: _Progress
    oddities: list[Oddity]
    until: datetime | None = None
    """Only what had been recorded by then."""
    changed: bool = False

    def note(self, path: Path, line: int, offset: int, reason: str) -> None:
        if len(self.oddities) < _ODDITIES_KEPT:
            self.oddities.append(Oddity(path=str(path), line=line, offset=offset, reason=reason))

    def take(self, event: Event) -> None:
        self.changed = True
        apply(self.state, event)


class JournalStore:
    """One bee's journals in `<hive>/window/`; fulfils `ports.BeeStore`. Threads may share it."""

    def __init__(self, hive: Path, bee: str, clock: Clock) -> None:
        self.bee = check_name(bee)
        self.hive = hive
        window = hive / "window"
        self.window = window
        self.archive = window / "archive"
        self.journal_path = window / f"{self.bee}-messages.jsonl"
        self.flags_path = window / f"{self.bee}-phares.jsonl"
        self.outcomes_path = window / f"{self.bee}-horizon.jsonl"
        self.snapshot_path = window / f"{self.bee}-horizon.snapshot"
        self._append_lock = window / f"{self.bee}-messages.lock"
        self._exclusive_lock = window / f"{self.bee}-horizon.lock"
        self._clock = clock
        self._watched = tuple(map(str, (self.journal_path, self.flags_path, self.outcomes_path, self.archive)))
        self._mutex = threading.Lock()
        self._held: _Held | None = None
        self._counted = (0, 0, 0)
        self._saved: object = None
        self._maintaining = False

    # -- reading -------------------------------------------------------------------------------------------

    def stamp(self) -> object:
        """Return a cheap value that changes whenever any of the bee's journals does."""
        return tuple(_stat(path) for path in self._watched)

    def load(self) -> Fold:
        """Return the state folded from all bytes now on disk; writes nothing and takes no file lock.

        `oddities` are those met since this process began to follow the journals; `oddities()` gives all.

        Raises:
            Unavailable: a journal is there and cannot be read.
        """
        stamp = self.stamp()
        held = self._held
        if held is not None and held.fold.stamp == stamp:
            return held.fold
        with self._mutex:
            stamp = self.stamp()
            held = self._held or self._from_snapshot()
            notes: list[Oddity] = list(held.fold.oddities) if held is not None else []
            for _ in range(_RETRIES):
                try:
                    self._held = self._advance(held, stamp, notes)
                except FileNotFoundError:
                    stamp = self.stamp()  # a segment was moved or compressed under our hands: look again
                except _Moved as moved:
                    held = None
                    notes.append(Oddity(path=str(self.journal_path), line=0, offset=0, reason=f"{moved}: folded again"))
                else:
                    return self._held.fold
            raise Unavailable(f"{self.archive} changes too fast to be read")

    def load_at(self, instant: datetime) -> Fold:
        """Return the state as of `instant`: the exchanges, flags and outcomes dated by then."""
        for _ in range(_RETRIES):
            stamp = self.stamp()
            work = _Folding(State(), _Progress(), [], until=instant)
            try:
                self._fold(work)
            except FileNotFoundError:
                continue
            return Fold(state=work.state, stamp=(stamp, instant), oddities=tuple(work.oddities))
        raise Unavailable(f"{self.archive} changes too fast to be read")

    def entries(self) -> Iterator[Entry]:
        """Yield every readable exchange of the integral journal, in journal order."""
        work = _Folding(State(), _Progress(), [])
        with self._journal() as (segments, active):
            yield from self._entries(work, segments, active)

    def exchange(self, id_: str) -> Exchange | None:
        """Return the exchange called `id_`, the oldest where several are; None if unknown."""
        return next((entry.exchange for entry in self.entries() if entry.exchange.id == id_), None)

    def oddities(self) -> tuple[Oddity, ...]:
        """Return what in the three journals could not be read or was taken leniently, by file, line and offset."""
        found: list[Oddity] = []
        work = _Folding(State(), _Progress(), found)
        with self._journal() as (segments, active):
            places: dict[str, Position] = {}
            for path, line, record in self._records(work, segments, active):
                found.extend(
                    Oddity(path=str(path), line=line, offset=record.offset, reason=reason)
                    for reason in leniencies(record)
                )
                id_ = str(record.fields.get("id") or "")
                here = Position(work.progress.segment, record.offset)
                if id_ and places.setdefault(id_, here) != here:
                    found.append(
                        Oddity(path=str(path), line=line, offset=record.offset, reason=f"the id {id_!r} once more")
                    )
        self._read_events(work, self.flags_path, work.progress.flags, flag_of)
        self._read_events(work, self.outcomes_path, work.progress.outcomes, outcome_of)
        return tuple(found)

    # -- folding -------------------------------------------------------------------------------------------

    def _advance(self, held: _Held | None, stamp: object, notes: list[Oddity]) -> _Held:
        """Return what the journals give now, starting from what is held; the held state is not touched."""
        if held is None:
            work = _Folding(State(), _Progress(), list(notes))
        else:
            work = _Folding(copy_of(held.fold.state), held.progress.copied(), list(notes))
        self._fold(work)
        state = work.state if held is None or work.changed else held.fold.state
        return _Held(Fold(state=state, stamp=stamp, oddities=tuple(work.oddities)), work.progress)

    def _fold(self, work: _Folding) -> None:
        # Outcomes before exchanges: what an outcome names is then in the journal already, or is coming; and
        # a fold from the beginning need not keep the text of what has long melted.
        self._read_events(work, self.flags_path, work.progress.flags, flag_of)
        self._read_events(work, self.outcomes_path, work.progress.outcomes, outcome_of)
        if self._follow(work):
            return
        with self._journal() as (segments, active):
            for entry in self._entries(work, segments, active):
                if work.until is None or entry.exchange.at <= work.until:
                    work.take(Appended(entry=entry))

    def _follow(self, work: _Folding) -> bool:
        """Fold what was added to the active file, where that is all that happened; else do nothing, say False."""
        progress = work.progress
        if not progress.inode or _stat(self._watched[3]) != progress.archive:
            return False
        active = _open(self.journal_path)
        if active is None:
            return False
        with active:
            if os.fstat(active.fileno()).st_ino != progress.inode or not _continues(active, progress.journal):
                return False
            for entry in self._entries(work, [], active):
                work.take(Appended(entry=entry))
        return True

    def _read_events(
        self, work: _Folding, path: Path, cursor: _Cursor, decode: Callable[[Fields], Flagged | Outcome]
    ) -> None:
        file = _open(path)
        if file is None:
            if cursor.offset:
                raise _Moved(f"{path.name} is gone")
            return
        with file:
            if not _continues(file, cursor):
                raise _Moved(f"{path.name} does not continue what was read")
            for start, line, ended in lines_of(file, cursor.offset):
                if line is not None and line.strip():
                    try:
                        event = decode(fields_of(line))
                    except Unreadable as error:
                        if not ended:
                            break
                        work.note(path, cursor.line, start, str(error))
                    else:
                        if work.until is None or event.at <= work.until:
                            work.take(event)
                elif line is None:
                    work.note(path, cursor.line, start, f"a line longer than {LINE_LONGEST} bytes")
                cursor.offset = start + (len(line) if line is not None else 0) + ended
                cursor.line += ended
            _keep_tail(file, cursor)

    def _entries(self, work: _Folding, segments: list[Segment], active: BinaryIO | None) -> Iterator[Entry]:
        """Yield the exchanges from the place reached on, each with its own date or that of its neighbours."""
        progress = work.progress
        undated: list[tuple[int, Record]] = []
        for _, _, record in self._records(work, segments, active):
            own = instant_of(record.fields)
            if own is None and progress.carried is None:
                undated.append((progress.segment, record))
                continue
            if own is not None and progress.carried is None:
                if progress.undated_head:
                    raise _Moved("the first date appeared after undated exchanges")
                yield from _dated(undated, own)
                undated.clear()
            at = own or progress.carried
            assert at is not None, "an undated record here has a neighbour"
            progress.carried = at
            yield Entry(
                position=Position(progress.segment, record.offset),
                exchange=exchange_of(record, at, dated=own is not None),
            )
        if undated:
            progress.undated_head = True
            yield from _dated(undated, EPOCH)

    def _records(
        self, work: _Folding, segments: list[Segment], active: BinaryIO | None
    ) -> Iterator[tuple[Path, int, Record]]:
        """Yield the records from the place reached on, and move that place: the sealed segments, then the active."""
        progress = work.progress
        for segment in segments[progress.segment :]:
            try:
                with open_segment(segment.path) as file:
                    if not _continues(file, progress.journal):
                        raise _Moved(f"{segment.path.name} does not continue what was read")
                    yield from self._segment_records(work, segment.path, file, sealed=True)
            except Unavailable as error:
                work.note(segment.path, 0, 0, str(error))
            except (EOFError, zlib.error) as error:
                work.note(
                    segment.path, progress.journal.line, progress.journal.offset, f"cannot be uncompressed: {error}"
                )
            progress.segment += 1
            progress.before = segment.stem
            progress.journal = _Cursor()
        if active is None:
            if progress.journal.offset:
                raise _Moved(f"{self.journal_path.name} is gone")
            progress.inode = 0
            return
        if not _continues(active, progress.journal):
            raise _Moved(f"{self.journal_path.name} does not continue what was read")
        yield from self._segment_records(work, self.journal_path, active, sealed=False)
        progress.inode = os.fstat(active.fileno()).st_ino
        _keep_tail(active, progress.journal)

    def _segment_records(
        self, work: _Folding, path: Path, file: BinaryIO, *, sealed: bool
    ) -> Iterator[tuple[Path, int, Record]]:
        cursor = work.progress.journal
        for start, line, newline in lines_of(file, cursor.offset):
            if line is None:
                work.note(path, cursor.line, start, f"a line longer than {LINE_LONGEST} bytes")
                continue
            ended = newline or sealed
            if line.strip():
                found = read_line(line, start, ended=ended)
                for offset, reason in found.notes:
                    work.note(path, cursor.line, offset, reason)
                for record in found.records:
                    yield path, cursor.line, record
                if not ended:
                    cursor.offset = found.records[-1].end if found.records else start
                    return
            cursor.offset = start + len(line) + newline
            cursor.line += newline

    @contextmanager
    def _journal(self) -> Iterator[tuple[list[Segment], BinaryIO | None]]:
        """Open the active file and list the archive as they were at one instant."""
        for _ in range(_RETRIES):
            before = archived(self.archive, self.bee)
            active = _open(self.journal_path)
            try:
                if archived(self.archive, self.bee) != before:
                    continue
                if before and active is not None and is_copy(before[-1], active):
                    before.pop()
                yield before, active
            finally:
                if active is not None:
                    active.close()
            return
        raise Unavailable(f"{self.archive} changes too fast to be read")

    def refold(self, *, drop_outcomes: bool = False) -> None:
        """Forget what is folded and cached: the next load reads every journal from its first byte.

        With `drop_outcomes` the outcomes file is set aside under another name beside it, never deleted, so that
        the horizon is made again from the journal and the flags alone. Only under `exclusive()`.
        """
        assert self._maintaining, "folding again is maintenance: under exclusive()"
        with self._mutex:
            if drop_outcomes and self.outcomes_path.exists():
                number = 1
                while (aside := self.window / f"{self.bee}-horizon.aside-{number:03d}.jsonl").exists():
                    number += 1
                self.outcomes_path.rename(aside)
            self.snapshot_path.unlink(missing_ok=True)
            if self.window.is_dir():
                sync_folder(self.window)
            self._held = None
            self._saved = None

    # -- the snapshot --------------------------------------------------------------------------------------

    def save_snapshot(self) -> None:
        """Write the cache of the folded state, atomically. Only under `exclusive()`."""
        assert self._maintaining, "the snapshot is written under exclusive()"
        self.load()
        held = self._held
        assert held is not None, "load() holds what it gave"
        progress = held.progress
        if progress == self._saved and self.snapshot_path.exists():
            return
        document = {
            "version": VERSION,
            "segment": progress.segment,
            "before": progress.before,
            "inode": progress.inode,
            "archive": progress.archive,
            "files": [
                [cursor.offset, cursor.line, len(cursor.tail), _digest(cursor.tail)]
                for cursor in (progress.journal, progress.flags, progress.outcomes)
            ],
            "carried": None if progress.carried is None else progress.carried.isoformat(),
            "undated_head": progress.undated_head,
            "state": document_of(held.fold.state),
        }
        replace_file(self.snapshot_path, json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode())
        self._saved = progress

    def _from_snapshot(self) -> _Held | None:
        """Return what the snapshot holds, None where there is none or it does not fit the journals."""
        try:
            document: Any = json.loads(self.snapshot_path.read_bytes())
            if document["version"] != VERSION:
                return None
            journal, flags, outcomes = document["files"]
            carried = document["carried"]
            archive = document["archive"]
            progress = _Progress(
                segment=document["segment"],
                before=document["before"],
                inode=document["inode"],
                archive=None if archive is None else tuple(archive),
                flags=_cursor_from(self.flags_path, flags),
                outcomes=_cursor_from(self.outcomes_path, outcomes),
                carried=None if carried is None else datetime.fromisoformat(carried),
                undated_head=document["undated_head"],
            )
            where = self._segment_path(progress)
            progress.journal = _cursor_from(where, journal)
            state = state_of(document["state"])
        except FileNotFoundError:
            return None
        except (
            OSError,
            ValueError,
            KeyError,
            TypeError,
            AttributeError,
            RecursionError,
            Unreadable,
            Unavailable,
            _Moved,
        ) as error:
            note = Oddity(
                path=str(self.snapshot_path), line=0, offset=0, reason=f"a snapshot that does not fit: {error}"
            )
            return _Held(Fold(state=State(), stamp=None, oddities=(note,)), _Progress())
        return _Held(Fold(state=state, stamp=None), progress)

    def _segment_path(self, progress: _Progress) -> Path:
        """Return the file that the segment reached is in now."""
        if progress.inode and _stat(self._watched[3]) == progress.archive:
            return self.journal_path
        segments = archived(self.archive, self.bee)
        if progress.segment > len(segments) or (
            progress.segment and segments[progress.segment - 1].stem != progress.before
        ):
            raise _Moved("the archive is not the one that was read")
        return segments[progress.segment].path if progress.segment < len(segments) else self.journal_path

    # -- writing -------------------------------------------------------------------------------------------

    def append(self, exchange: Exchange) -> Written:
        """Append one exchange durably; return it as it will be read back.

        Raises:
            OSError: the disk refused; then nothing of it is in the journal.
        """
        exchange = cleaned(exchange)
        line = line_of(exchange)
        with locked(self._append_lock):
            fd = open_to_append(self.journal_path)
            try:
                rotated = self._count(fd) >= SEGMENT_ENTRIES
                if rotated:
                    os.close(fd)
                    fd = self._rotate()
                start, end = write_lines(fd, line)
                inode, _, count = self._counted
                self._counted = (inode, end, count + 1)
                if count + 1 >= SEGMENT_ENTRIES:
                    os.close(self._rotate())
                    rotated = True
            except BaseException:
                os.close(fd)
                raise
        sync_written(fd, start, end, self._append_lock)
        return Written(exchange=exchange, rotated=rotated)

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
        make_folder(self.archive)
        segments = archived(self.archive, self.bee)
        target = self.archive / f"{next_stem(self.bee, segments[-1].stem if segments else None)}.jsonl"
        assert not target.exists(), f"{target} sorts after every existing segment"
        self.journal_path.rename(target)
        sync_folder(self.archive)
        fd = open_to_append(self.journal_path)
        self._counted = (os.fstat(fd).st_ino, 0, 0)
        return fd

    def flag(self, event: Flagged) -> None:
        """Append a flag durably.

        Raises:
            OSError: the disk refused; then nothing of it is in the file.
        """
        append_lines(self.flags_path, fields_line(flag_fields(event)), lock=self._append_lock)

    def record(self, outcome: Outcome) -> None:
        """Append one outcome durably, in one write. Only under `exclusive()`.

        Raises:
            OSError: the disk refused; then nothing of it is in the file.
        """
        assert self._maintaining, "outcomes are recorded under exclusive()"
        append_lines(self.outcomes_path, fields_line(outcome_fields(outcome)), lock=self._append_lock)

    @contextmanager
    def exclusive(self) -> Iterator[None]:
        """Exclude every other maintainer of this bee, in all processes; readers and appenders do not wait.

        Raises:
            StoreBusy: another one is at work; the message says which process.
        """
        with locked_or_busy(self._exclusive_lock, f"the horizon of {self.bee}"):
            self._maintaining = True
            try:
                yield
            finally:
                self._maintaining = False


def bees_of(hive: Path) -> tuple[str, ...]:
    """Return the bees of a hive, sorted: those with a journal (active or archived) or settings of their own."""
    window = hive / "window"
    found = {path.stem for path in (hive / "bees").glob("*.toml")}
    for folder in (window, window / "archive"):
        for path in folder.glob("*-messages*.jsonl*"):
            parts = split_suffix(path.name)
            owner = owner_of(parts[0]) if parts is not None else None
            if owner is not None:
                found.add(owner)
    return tuple(sorted(name for name in found if _is_name(name)))


def _is_name(name: str) -> bool:
    from horizon.errors import InvalidInput

    try:
        return check_name(name) == name
    except InvalidInput:
        return False


def _stat(path: str) -> tuple[int, ...] | None:
    try:
        status = os.stat(path)  # noqa: PTH116 - on the read path; a Path doubles its cost
    except OSError:
        return None
    return (status.st_ino, status.st_size, status.st_mtime_ns)


def _open(path: Path) -> BinaryIO | None:
    """Open a journal; None where there is none.

    Raises:
        Unavailable: it is there and cannot be read.
    """
    try:
        return path.open("rb", buffering=0)  # type: ignore[return-value]  # read in blocks of our own
    except FileNotFoundError:
        return None
    except OSError as error:
        raise Unavailable(f"{path} cannot be read: {error.strerror}") from error


def _continues(file: BinaryIO, cursor: _Cursor) -> bool:
    """Tell whether the bytes before the place reached are those that were read."""
    start = cursor.offset - len(cursor.tail)
    if not cursor.offset:
        return True
    file.seek(start)
    return file.read(len(cursor.tail)) == cursor.tail


def _keep_tail(file: BinaryIO, cursor: _Cursor) -> None:
    start = max(0, cursor.offset - _TAIL)
    file.seek(start)
    cursor.tail = file.read(cursor.offset - start)


def _cursor_from(path: Path, saved: list[Any]) -> _Cursor:
    """Return the cursor that a snapshot saved, its tail read from the file.

    Raises:
        _Moved: the file does not hold what was read before the snapshot.
    """
    offset, line, length, digest = saved
    if not offset:
        return _Cursor()
    try:
        with open_segment(path) as file:
            file.seek(offset - length)
            tail = file.read(length)
    except FileNotFoundError:
        raise _Moved(f"{path.name} is gone") from None
    if len(tail) != length or _digest(tail) != digest:
        raise _Moved(f"{path.name} does not continue what was read")
    return _Cursor(offset, line, tail)


def _digest(tail: bytes) -> str:
    return hashlib.sha256(tail).hexdigest()


def _dated(undated: list[tuple[int, Record]], at: datetime) -> Iterator[Entry]:
    for segment, record in undated:
        yield Entry(position=Position(segment, record.offset), exchange=exchange_of(record, at, dated=False))
