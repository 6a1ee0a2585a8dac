"""The integral journals of a hive's bees as a source of days; reads only what the days need (spec 2-consolidation §2).

Each file is gone through once, at the speed of reading it, for which lines hold which day (`day_runs`); from then on only
the lines of the days asked for are read (`days_index`), and of an active file what is new.
"""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, timedelta
from typing import TYPE_CHECKING, Final

from horizon.adapters.bee_files import bees_of, files_of
from horizon.adapters.day_runs import OFFSET_MOST, DayRuns, exchanges, first_date, undated_head
from horizon.adapters.days_index import Known, checksum, load, save, stamp
from horizon.adapters.journal_lines import EPOCH, exchange_of, instant_of, read_line
from horizon.adapters.segments import Archive, Damaged, present, uncompressed, whole_journal
from horizon.core.day import Lived
from horizon.core.finding import Undated
from horizon.errors import Unavailable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime
    from pathlib import Path
    from typing import BinaryIO

    from horizon.adapters.bee_files import BeeFiles
    from horizon.adapters.journal_lines import Record
    from horizon.adapters.segments import Segment
    from horizon.core.exchange import Exchange

_MOMENT: Final = timedelta(microseconds=1)
_LOOKS: Final = 50
"""Looks at a sealed segment that is replaced while it is read: each is a rewriting that just happened."""


@dataclass(frozen=True, slots=True)
class HiveDays:
    """The exchanges of all bees of the hive in the folder `hive`; `name` is what addresses begin with."""

    hive: Path
    name: str = "window"
    remarks: tuple[str, ...] = ()
    """A journal is read in its place, or not at all."""

    def address(self, bee: str) -> str:
        """Return what the addresses of a bee's exchanges begin with."""
        return f"{self.name}/{bee}"

    def between(self, start: datetime, end: datetime) -> Iterator[Lived]:
        """Yield the exchanges of [start, end), bee by bee, each in journal order.

        Exact also where dates are out of order. Keeps a derived file beside the journals, which may be deleted.

        Raises:
            Unavailable: there is no folder of journals, or one of them could not be read.
        """
        window = self._window()
        if start >= end:
            return
        reading = _Reading(window, start, end)
        try:
            for bee in bees_of(self.hive):
                for place, exchange in enumerate(reading.of(files_of(self.hive, bee))):
                    yield Lived(exchange=exchange, source=self.address(bee), agent=bee, place=place)
            reading.complete = True
        except OSError as error:
            raise Unavailable(f"a journal in {window} could not be read: {error}") from error
        finally:
            reading.keep()

    def check(self) -> Undated:
        """Return that no exchange is without a day: an undated one takes its neighbour's date. The bees' journals are not read.

        Raises:
            Unavailable: there is no folder of journals.
        """
        self._window()
        return Undated(reasons={}, first=())

    def _window(self) -> Path:
        window = self.hive / "window"
        if not window.is_dir():
            what = "is no folder" if window.exists() or window.is_symlink() else "does not exist"
            raise Unavailable(f"{window} {what}; the bees' journals were to be read there")
        return window


@dataclass(slots=True)
class _Reading:
    """Reads one span of time from the journals in the folder `window`."""

    window: Path
    start: datetime
    end: datetime
    complete: bool = False
    """Every bee was read, so that what was not met is gone."""
    _first: int = field(init=False)
    _last: int = field(init=False)
    """The days of runs that may hold something of the span."""
    _archive: Archive = field(default_factory=Archive)
    _known: dict[str, Known] = field(init=False)
    _learned: dict[str, Known] = field(default_factory=dict[str, Known])
    _met: set[str] = field(default_factory=set[str])

    def __post_init__(self) -> None:
        self._first = (self.start.astimezone(UTC) - OFFSET_MOST).toordinal()
        self._last = (self.end.astimezone(UTC) - _MOMENT + OFFSET_MOST).toordinal()
        self._known = load(self.window, self._first, self._last)

    def keep(self) -> None:
        """Keep what was learned."""
        gone = self._known.keys() - self._met if self.complete else ()
        if self._learned or gone:
            save(self.window, self._learned, gone)

    def of(self, files: BeeFiles) -> Iterator[Exchange]:
        """Yield the exchanges of one bee, in journal order."""
        with whole_journal(files, self._archive.of) as (segments, active):
            last, rest = (DayRuns(), b"") if active is None else self._followed(files.journal.name, active)
            records = read_line(rest, last.offset, ended=False).records if rest else ()
            journal = _Journal(segments, active, last, records)
            for number, segment in enumerate(segments):
                yield from self._sealed(segment, number, journal)
            if active is not None:
                yield from self._read(active, last, len(segments), journal, forwards=False)
                yield from self._rest(journal)

    def _sealed(self, segment: Segment, number: int, journal: _Journal) -> Iterator[Exchange]:
        for _ in range(_LOOKS):
            path, known = self._known_of(segment)
            if not known.runs.head and next(known.runs.runs(self._first, self._last), None) is None:
                return
            with suppress(Damaged), uncompressed(path) as file:  # what is before damage was read; doctor tells
                if stamp(os.fstat(file.fileno())) != known.stamp:
                    continue
                forwards = path.suffix != ".jsonl"
                yield from self._read(file, known.runs, number, journal, forwards=forwards)
            return
        raise Unavailable(f"{segment.path} changes too fast to be read")

    def _known_of(self, segment: Segment) -> tuple[Path, Known]:
        """Return a sealed segment's file and what it holds."""
        path = segment.path
        try:
            now = os.stat(path)  # noqa: PTH116 - of thousands; a Path doubles the cost
        except FileNotFoundError:  # it was compressed since it was listed
            path = present(segment)
            now = path.stat()
        name = f"archive/{path.name}"
        self._met.add(name)
        known = self._known.get(name)
        if known is None or known.stamp != stamp(now):
            known = self._known[name] = self._learned[name] = _learned(path)
        return path, known

    def _followed(self, name: str, file: BinaryIO) -> tuple[DayRuns, bytes]:
        """Return what the active file holds by now, and its last line where that has no newline yet."""
        self._met.add(name)
        status = os.fstat(file.fileno())
        known = self._known.get(name)
        same = known is not None and known.stamp == stamp(status)
        runs = known.runs if known is not None and (same or known.grown(file, status)) else DayRuns()
        if same and runs.offset == status.st_size:
            return runs, b""
        rest = runs.follow(file, size=status.st_size, sealed=False)
        if not same:
            self._learned[name] = Known(stamp(status), checksum(file, runs.offset), runs)
        return runs, rest

    def _read(
        self, file: BinaryIO, runs: DayRuns, number: int, journal: _Journal, *, forwards: bool
    ) -> Iterator[Exchange]:
        if runs.head:
            at = self._date_before(number, journal) or journal.first_date(number)
            if self.start <= at < self.end:
                yield from undated_head(file, runs.head, at)
        yield from exchanges(file, runs.runs(self._first, self._last), self.start, self.end, forwards=forwards)

    def _rest(self, journal: _Journal) -> Iterator[Exchange]:
        carried: datetime | None = None
        for record in journal.rest:
            own = instant_of(record.fields)
            carried = own or carried or self._date_before_rest(journal)
            if self.start <= carried < self.end:
                yield exchange_of(record, carried, dated=own is not None)

    def _date_before_rest(self, journal: _Journal) -> datetime:
        number = len(journal.segments)
        last = None if journal.active is None else journal.last.last_date(journal.active)
        return last or self._date_before(number, journal) or journal.first_date(number)

    def _date_before(self, number: int, journal: _Journal) -> datetime | None:
        """Return the date of the last dated exchange before segment `number`; None where there is none."""
        for segment in reversed(journal.segments[:number]):
            path, known = self._known_of(segment)
            with suppress(Damaged), uncompressed(path) as file:
                found = known.runs.last_date(file)
                if found is not None:
                    return found
        return None


@dataclass(frozen=True, slots=True)
class _Journal:
    """One bee's journal as it is read: `last` is known of the active file, `rest` what its last line holds so far."""

    segments: Sequence[Segment]
    active: BinaryIO | None
    last: DayRuns
    rest: Sequence[Record]

    def first_date(self, number: int) -> datetime:
        """Return the first date from segment `number` on, which undated exchanges take that no date comes before."""
        for segment in self.segments[number:]:
            with suppress(Damaged), uncompressed(present(segment)) as file:
                found = first_date(file)
                if found is not None:
                    return found
        found = None if self.active is None else first_date(self.active, self.last.offset)
        return found or next((own for each in self.rest if (own := instant_of(each.fields))), EPOCH)


def _learned(path: Path) -> Known:
    """Return what a sealed segment holds."""
    known = Known((0, 0, 0), 0, DayRuns())
    with suppress(Damaged), uncompressed(path) as file:
        status = os.fstat(file.fileno())
        known.stamp = stamp(status)
        known.runs.follow(file, size=status.st_size if path.suffix == ".jsonl" else 0, sealed=True)
    return known
