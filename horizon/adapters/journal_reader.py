"""Reading a bee's three journals from any place on, and knowing that the place is still what it was.

A `Progress` is how far the journals have been read. Going on from it yields what is new, or raises `Moved`
where what is on disk does not continue what was read: then one starts again from an empty `Progress`.
The last line of the active file may be without its newline while a writer is at it: whole records are taken
from it and what follows them is held back; the places of the records stay the same once the newline comes.
"""

from __future__ import annotations

import os
import zlib
from collections import deque
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, Protocol

from horizon.adapters.cursor import Cursor, Moved, stamp_of
from horizon.adapters.journal_lines import (
    EPOCH,
    LINE_LONGEST,
    Line,
    Record,
    exchange_of,
    id_and_date,
    instant_at,
    instant_of,
    read_line,
)
from horizon.adapters.segments import Damaged, archived, lines_of, open_plain, open_segment, whole_journal
from horizon.core.exchange import Entry, Position
from horizon.errors import Unavailable

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import BinaryIO

    from horizon.adapters.bee_files import BeeFiles
    from horizon.adapters.cursor import Notes
    from horizon.adapters.segments import Segment


class Known(Protocol):
    """Takes a whole exchange of ours by its id alone, where nothing of its content is wanted."""

    def __call__(self, id_: str) -> bool:
        """Tell whether the exchange was taken; else it is given with its content."""
        ...


class _Unnoted:
    """Lets go what is noted: it is told elsewhere."""

    def note(self, path: Path, line: int, offset: int, reason: str) -> None:
        """Take one oddity."""


def _nothing_known(id_: str) -> bool:  # noqa: ARG001 - it has the shape of `Known`
    return False


@dataclass(slots=True)
class Progress:
    """How far the three journals have been read."""

    segment: int = 0
    """Ordinal of the segment that `journal` is in."""
    before: str = ""
    """Name of the segment before it; "" for the first."""
    inode: int = 0
    """Of the active file when it was read last; 0 when there was none."""
    archive: tuple[int, ...] | None = None
    """Stamp of the archive folder from before it was listed."""
    journal: Cursor = field(default_factory=Cursor)
    flags: Cursor = field(default_factory=Cursor)
    outcomes: Cursor = field(default_factory=Cursor)
    carried: datetime | None = None
    """Date of the last record: undated ones take it."""
    undated_head: bool = False
    """Records were read before any date was known: the first date to come changes theirs."""
    forgets: int | None = None
    """Size of the file of what was forgotten when reading began; None before that."""

    def copied(self) -> Progress:
        """Return a progress that can go on without changing this one."""
        return replace(self, journal=replace(self.journal), flags=replace(self.flags), outcomes=replace(self.outcomes))

    def document(self) -> dict[str, object]:
        """Return it as JSON values; of the bytes before each place only a hash."""
        return {
            "segment": self.segment,
            "before": self.before,
            "inode": self.inode,
            "archive": self.archive,
            "files": [
                [cursor.offset, cursor.line, len(cursor.tail), _digest(cursor.tail), cursor.modified]
                for cursor in (self.journal, self.flags, self.outcomes)
            ],
            "carried": None if self.carried is None else self.carried.isoformat(),
            "undated_head": self.undated_head,
            "forgets": self.forgets,
        }


@dataclass(slots=True)
class Found:
    """A record with its place and its date: its own where it is `dated`, else that of its neighbours."""

    position: Position
    at: datetime
    dated: bool
    record: Record

    def entry(self) -> Entry:
        """Return the exchange at its place."""
        return Entry(position=self.position, exchange=exchange_of(self.record, self.at, dated=self.dated))


@dataclass(slots=True)
class JournalReader:
    """Reads one bee's integral journal. Takes no lock and writes nothing."""

    files: BeeFiles

    def new(
        self, progress: Progress, notes: Notes, known: Known = _nothing_known, *, brief: bool = False
    ) -> Iterator[Found]:
        """Yield the records from `progress` on that are not `known`, dated, in journal order, and move it.

        With `brief`, those of whole lines of ours have their id and date only: most lines are not parsed then.

        Raises:
            Moved: the journal does not continue what was read.
            Unavailable: the active file or the archive is there and cannot be read.
        """
        active = self._only_grown(progress)
        if active is not None:
            with active:
                yield from _dated(_records(self.files, progress, [], active, notes, known, brief=brief), progress)
            return
        stamp = stamp_of(str(self.files.archive))  # from before the listing: at worst it is listed once more
        with whole_journal(self.files) as (segments, active):
            if progress.segment > len(segments) or (
                progress.segment and segments[progress.segment - 1].stem != progress.before
            ):
                raise Moved("the archive is not the one that was read")
            yield from _dated(_records(self.files, progress, segments, active, notes, known, brief=brief), progress)
        progress.archive = stamp

    def records(self, progress: Progress, notes: Notes) -> Iterator[tuple[Path, int, Record]]:
        """Yield every record with its file and line (1-based), undated, in journal order, and move `progress`."""
        with whole_journal(self.files) as (segments, active):
            yield from _records(self.files, progress, segments, active, notes, _nothing_known)

    def last(self, count: int, until: datetime | None = None) -> list[Found]:
        """Return the last `count` records, those dated after `until` aside, in journal order.

        Reads from the newest segment back, and no further than it must.

        Raises:
            Moved: the journal was changed meanwhile.
            Unavailable: the active file or the archive is there and cannot be read.
        """
        with whole_journal(self.files) as (segments, active):
            for first in range(len(segments), -1, -1):
                progress = Progress(segment=first)
                records = _records(self.files, progress, segments, active, _Unnoted(), _nothing_known)
                found = deque(
                    (each for each in _dated(records, progress) if until is None or each.at <= until), maxlen=count
                )
                # An undated first record has its date from the segment before.
                if first == 0 or (len(found) == count and found[0].dated):
                    return list(found)
        return []

    def unchanged(self, progress: Progress) -> bool:
        """Tell whether the journal ends where it was read to, as far as its size and place say."""
        active = stamp_of(str(self.files.journal))
        return (
            active is not None
            and active[:2] == (progress.inode, progress.journal.offset)
            and stamp_of(str(self.files.archive)) == progress.archive
        )

    def _only_grown(self, progress: Progress) -> BinaryIO | None:
        """Return the active file, open, where nothing but it can have changed since it was read last."""
        if not progress.inode or stamp_of(str(self.files.archive)) != progress.archive:
            return None
        active = open_plain(self.files.journal)
        if active is None:
            return None
        if os.fstat(active.fileno()).st_ino == progress.inode and progress.journal.continues(active):
            return active
        active.close()
        return None

    def progress_from(self, document: Any) -> Progress:  # noqa: ANN401 - JSON of a cache, judged by whether it fits
        """Return a saved progress, if the journals still hold what had been read by then.

        Raises:
            Moved: they do not.
            KeyError, TypeError, ValueError: it is not what `Progress.document` gave.
        """
        journal, flags, outcomes = document["files"]
        carried, archive = document["carried"], document["archive"]
        progress = Progress(
            segment=document["segment"],
            before=document["before"],
            inode=document["inode"],
            archive=None if archive is None else tuple(archive),
            flags=_saved_cursor(open_plain(self.files.flags), flags),
            outcomes=_saved_cursor(open_plain(self.files.outcomes), outcomes),
            carried=None if carried is None else datetime.fromisoformat(carried),
            undated_head=document["undated_head"],
            forgets=document["forgets"],
        )
        progress.journal = self._saved_place(progress, journal)
        return progress

    def _saved_place(self, progress: Progress, saved: list[Any]) -> Cursor:
        """Return the cursor in the journal, wherever the segment that it is in stands now."""
        if stamp_of(str(self.files.archive)) != progress.archive:
            segments = archived(self.files.archive, self.files.bee)
            if progress.segment < len(segments):
                try:
                    with open_segment(segments[progress.segment]) as file:
                        return _saved_cursor(file, saved)
                except (FileNotFoundError, Damaged) as error:
                    raise Moved(str(error)) from error
        return _saved_cursor(open_plain(self.files.journal), saved)


def _saved_cursor(file: BinaryIO | None, saved: list[Any]) -> Cursor:
    """Return the cursor that was saved, its tail read from the file, which is closed then."""
    offset, line, length, digest, modified = saved
    if file is None:
        if offset:
            raise Moved("a journal is gone")
        return Cursor()
    with file:
        file.seek(offset - length)
        tail = file.read(length)
    if len(tail) != length or _digest(tail) != digest:
        raise Moved("a journal does not continue what was read")
    return Cursor(offset, line, tail, modified)


def _digest(tail: bytes) -> int:
    """Return what tells the bytes at a place from others that happen to stand there, and cannot be read back."""
    return zlib.crc32(tail)


def _dated(records: Iterator[tuple[Path, int, Record]], progress: Progress) -> Iterator[Found]:
    """Give each record its own date, else the one before it, else the first to come, else the epoch."""
    undated: list[tuple[Position, Record]] = []
    for _, _, record in records:
        own = instant_of(record.fields)
        position = Position(progress.segment, record.offset)
        if own is None and progress.carried is None:
            undated.append((position, record))
            continue
        if own is not None:
            if progress.undated_head:
                raise Moved("the first date came after undated exchanges")
            for place, earlier in undated:
                yield Found(place, own, dated=False, record=earlier)
            undated.clear()
            progress.carried = own
        at = progress.carried
        assert at is not None, "an undated record here has a dated one before it"
        yield Found(position, at, dated=own is not None, record=record)
    for place, earlier in undated:
        progress.undated_head = True
        yield Found(place, EPOCH, dated=False, record=earlier)


def _records(
    files: BeeFiles,
    progress: Progress,
    segments: list[Segment],
    active: BinaryIO | None,
    notes: Notes,
    known: Known,
    *,
    brief: bool = False,
) -> Iterator[tuple[Path, int, Record]]:
    """Yield the records from `progress` on: of the sealed segments, then of the active file."""
    for segment in segments[progress.segment :]:
        cursor = progress.journal
        cursor.modified = 0  # a copy or a compressed one has a date of its own
        try:
            with open_segment(segment) as file:
                if not cursor.continues(file):
                    raise Moved(f"{segment.path.name} does not continue what was read")
                yield from _segment_records(segment.path, file, progress, notes, known, sealed=True, brief=brief)
        except FileNotFoundError as error:
            raise Moved(str(error)) from error
        except Unavailable as error:
            notes.note(segment.path, 0, 0, str(error))
        except Damaged as error:
            notes.note(segment.path, cursor.line, cursor.offset, str(error))
        progress.segment += 1
        progress.before = segment.stem
        progress.journal = Cursor()
    if active is None:
        if progress.journal.offset:
            raise Moved(f"{files.journal.name} is gone")
        progress.inode = 0
        return
    if not progress.journal.continues(active):
        raise Moved(f"{files.journal.name} does not continue what was read")
    yield from _segment_records(files.journal, active, progress, notes, known, sealed=False, brief=brief)
    progress.inode = os.fstat(active.fileno()).st_ino
    progress.journal.keep(active)


def _segment_records(
    path: Path, file: BinaryIO, progress: Progress, notes: Notes, known: Known, *, sealed: bool, brief: bool
) -> Iterator[tuple[Path, int, Record]]:
    cursor = progress.journal
    passed = b""  # the date of the last exchange that was known, parsed once somebody needs it
    for start, line, stop, newlines in lines_of(file, cursor.offset):
        if line is not None and newlines and progress.carried is not None:
            own = id_and_date(line)
            if own is not None and (brief or known(own[0])):
                if brief:
                    yield path, cursor.line, Record(start, stop - 1, {"id": own[0], "quand": own[1].decode()})
                else:
                    passed = own[1]
                cursor.offset = stop
                cursor.line += 1
                continue
        if passed:
            progress.carried = instant_at(passed, progress.carried)
            passed = b""
        ended = sealed or newlines > 0
        found = _too_long(start) if line is None else read_line(line, start, ended=ended)
        for record in found.records:
            yield path, cursor.line, record
        if not ended:  # what its writer adds decides what the rest of it is
            cursor.offset = found.records[-1].end if found.records else start
            return
        for offset, reason in found.notes:
            notes.note(path, cursor.line, offset, reason)
        cursor.offset = stop
        cursor.line += newlines
    if passed:
        progress.carried = instant_at(passed, progress.carried)


def _too_long(offset: int) -> Line:
    return Line([], [(offset, f"a line longer than {LINE_LONGEST} bytes")])
