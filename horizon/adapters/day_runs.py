r"""Which lines of a journal file hold which day, told at the speed of a disk cache (spec 2-consolidation §2).

- A line that begins as ours do is *told*: its written date stands in its first bytes, and it holds one exchange of that
  date, or none where it turns out to be broken: at no other place in it can a record begin. It is not parsed.
- Every other line is *judged*: parsed as one who reads the whole journal would, an undated exchange taking the date before.
- A *run* is lines that follow each other, all told or all judged, of one day. What is known of a file are its runs, and
  does not depend on any other file: exchanges before the first date of a file are its *head*, dated when they are read.
- A told line that says its date twice, as no writer of JSON does, counts at the first.

The day of a run is that which is written in a told line, else that of UTC; which is less than `OFFSET_MOST` away.
"""

from __future__ import annotations

import io
import re
import sys
from array import array
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from itertools import groupby, repeat
from typing import TYPE_CHECKING, Final, NamedTuple

from horizon.adapters.journal_lines import EPOCH, LINE_LONGEST, exchange_of, instant_at, instant_of, read_line
from horizon.adapters.segments import lines_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import BinaryIO

    from horizon.adapters.journal_lines import Record
    from horizon.core.exchange import Exchange

OFFSET_MOST: Final = timedelta(days=1)
"""More than a date can be written away from UTC."""
_CHUNK: Final = 1 << 18
"""Bytes of lines that are told at once: they stay in the processor's cache."""
_BUFFER: Final = 1 << 17
"""Bytes read at once."""
_TOLD: Final = re.compile(rb'\{"id": "[^"]++", "quand": "([0-9]{4}-[^"]++)"')
_RECORD_BEGINS: Final = re.compile(rb'\{[\s\x1c-\x1f\x80-\xff]*"')
"""Any place where a record could begin: inside a JSON string each quote has a backslash before it."""
_FIRST_DAY: Final = date(1000, 1, 1).toordinal()
_LAST_DAY: Final = date(9998, 12, 31).toordinal()
"""Days of which each instant has a date in every zone."""
_IS_TOLD: Final = -(1 << 63)
_IS_DATED: Final = _IS_TOLD + 1
_FIELDS: Final = 4


class Run(NamedTuple):
    """Lines of one day, from byte `start` of a file to byte `stop`."""

    day: int
    """Its number as `date.toordinal` gives it."""
    start: int
    stop: int
    carried: int
    """Microseconds of the date that undated first exchanges take; else whether the lines are told or judged."""


@dataclass(slots=True)
class DayRuns:
    """What is known of the lines of a journal file before byte `offset`."""

    offset: int = 0
    carried: datetime | None = None
    """Date of the last dated exchange before byte `since`."""
    since: int = 0
    """From here to `offset` stand told lines."""
    head: int = 0
    """Where the last undated exchange before the first date ends; 0 where there is none."""
    packed: array[int] = field(default_factory=lambda: array("q"))
    """The runs in the order of their places, end to end."""
    _alone: bool = field(default=True, repr=False)
    """The last run must not be made longer: its line is of several days, or was judged at another time."""

    def follow(self, file: BinaryIO, *, size: int, sealed: bool) -> bytes:
        """Take in the lines from `offset` on; return the last one where it has no newline and may still be written.

        `size`: the bytes of the file, 0 where only reading tells.

        Raises:
            Damaged: the rest cannot be uncompressed; what is before is taken in.
        """
        for chunk in _chunks(file, self.offset, size):
            if isinstance(chunk, int):
                self.offset += chunk
                self._alone = True
                continue
            rest = b"" if sealed or chunk[-1].endswith(b"\n") else chunk.pop()
            if chunk:
                self._take(chunk, file)
            if rest:
                return rest
        return b""

    def last_date(self, file: BinaryIO) -> datetime | None:
        """Return the date of the last dated exchange before `offset`; None where there is none."""
        size = _CHUNK
        begin = self.offset
        while begin > self.since:
            begin = max(self.since, self.offset - size)
            lines = [line for _, line, _, _ in lines_of(file, begin, self.offset) if line is not None]
            found = _last_date(lines[begin > self.since :])
            if found is not None:
                return found
            size *= 4
        return self.carried

    def days(self) -> tuple[int, int] | None:
        """Return the first and the last day of the runs; None where there is none."""
        days = self.packed[::_FIELDS]
        return (min(days), max(days)) if days else None

    def runs(self, first: int, last: int) -> Iterator[Run]:
        """Yield the runs of the days `first` to `last`, by place; told ones that touch as one."""
        held: Run | None = None
        packed = self.packed
        for at in range(0, len(packed), _FIELDS):
            if not first <= packed[at] <= last:
                continue
            run = Run(*packed[at : at + _FIELDS])
            if held is not None:
                if held.start == run.start:  # one line of several days
                    continue
                if held.stop == run.start and held.carried == run.carried == _IS_TOLD:
                    held = held._replace(stop=run.stop)
                    continue
                yield held
            held = run
        if held is not None:
            yield held

    def _take(self, lines: Sequence[bytes], file: BinaryIO) -> None:
        at = 0
        exact = 0  # up to which line `carried` is known
        for day, group in groupby(_told(lines)):
            start = self.offset
            stop = at + len(list(group))
            if day:
                self.offset += sum(map(len, lines[at:stop]))
                self._add(day, start, _IS_TOLD)
            else:
                if self.since < start:
                    here = file.tell()
                    self.carried = _last_date(lines[exact:at]) or self.last_date(file)
                    file.seek(here)
                for line in lines[at:stop]:
                    self._judge(line)
                self.since = self.offset
                exact = stop
            at = stop

    def _add(self, day: int, start: int, carried: int, *, alone: bool = False) -> None:
        packed = self.packed
        if (
            self._alone
            or alone
            or packed[-4] != day
            or packed[-2] != start
            or (packed[-1] == _IS_TOLD) != (carried == _IS_TOLD)
        ):
            packed.extend((day, start, self.offset, carried))
            self._alone = alone
        else:
            packed[-2] = self.offset

    def _judge(self, line: bytes) -> None:
        start = self.offset
        self.offset += len(line)
        before = self.carried
        days: dict[int, None] = {}
        undated = False
        for number, record in enumerate(_records(line, start)):
            own = instant_of(record.fields)
            if own is not None:
                self.carried = own
            elif self.carried is None:
                self.head = self.offset
                continue
            undated = undated or (own is None and number == 0)
            days[self.carried.toordinal()] = None
        for day in days:
            carried = _micros(before) if undated and before is not None else _IS_DATED
            self._add(day, start, carried, alone=len(days) > 1)


def _told(lines: Sequence[bytes]) -> list[int]:
    """Return the written day of each line that can be told, 0 for every other."""
    written = [b"" if match is None else match[1] for match in map(_TOLD.match, lines)]
    try:
        texts = b"\n".join(written).decode().split("\n")
        days = list(map(datetime.toordinal, map(datetime.fromisoformat, texts)))
    except ValueError:
        days = list(map(_day, written))
    if min(days) < _FIRST_DAY or max(days) > _LAST_DAY:
        days = [day if _FIRST_DAY <= day <= _LAST_DAY else 0 for day in days]
    if max(map(bytes.find, lines, repeat(b"{"), repeat(1))) >= 0:
        for number, line in enumerate(lines):
            at = line.find(b"{", 1)
            if at > 0 and _RECORD_BEGINS.search(line, at):
                days[number] = 0
    return days


def _day(written: bytes) -> int:
    try:
        return datetime.fromisoformat(written.decode()).toordinal()
    except ValueError:
        return 0


def _records(line: bytes, start: int) -> list[Record]:
    return read_line(line.removesuffix(b"\n"), start, ended=True).records


def _last_date(lines: Sequence[bytes]) -> datetime | None:
    for line in reversed(lines):
        for record in reversed(_records(line, 0)):
            own = instant_of(record.fields)
            if own is not None:
                return own
    return None


def _chunks(file: BinaryIO, offset: int, size: int) -> Iterator[list[bytes] | int]:
    """Yield the lines from byte `offset` on, some at a time with their newlines, and the bytes of lines too long to be held."""
    if 0 < size <= LINE_LONGEST:  # so no line is too long
        file.seek(offset)
        buffered = io.BufferedReader(file, _BUFFER)  # pyright: ignore[reportArgumentType] - a FileIO, as only plain files have a size
        try:
            while chunk := buffered.readlines(_CHUNK):
                yield chunk
        finally:
            buffered.detach()
        return
    lines: list[bytes] = []
    held = 0
    try:
        for start, line, stop, newlines in lines_of(file, offset):
            if line is not None:
                lines.append(line + b"\n" * newlines)
                held += len(line)
            if lines and (held > _CHUNK or line is None):
                yield lines
                lines = []
                held = 0
            if line is None and newlines:
                yield stop - start
    except Exception:  # the rest is damaged
        if lines:
            yield lines
        raise
    if lines:
        yield lines


def exchanges(
    file: BinaryIO, runs: Iterable[Run], start: datetime, end: datetime, *, forwards: bool
) -> Iterator[Exchange]:
    """Yield the exchanges of [start, end) in `runs`, by place; `forwards`: the file is read from its beginning, not sought in.

    Raises:
        Damaged: the rest of the file cannot be uncompressed.
    """
    here: Run | None = None
    carried: datetime | None = None
    for run, offset, line in _lines_in(file, runs, forwards=forwards):
        if run.carried == _IS_TOLD:
            at = _told_date(line)
            if at is not None and start <= at < end:
                for record in read_line(line, offset, ended=True).records:
                    yield exchange_of(record, at, dated=True)
            continue
        if run is not here:
            here = run
            carried = None if run.carried == _IS_DATED else EPOCH + timedelta(microseconds=run.carried)
        for record in read_line(line, offset, ended=True).records:
            own = instant_of(record.fields)
            carried = own or carried
            if carried is not None and start <= carried < end:
                yield exchange_of(record, carried, dated=own is not None)


def _told_date(line: bytes) -> datetime | None:
    match = _TOLD.match(line)
    if match is None:
        return None
    begin = match.start(1)
    return instant_at(line[begin : line.index(b'"', begin)], None)


def _lines_in(file: BinaryIO, runs: Iterable[Run], *, forwards: bool) -> Iterator[tuple[Run, int, bytes]]:
    everything = lines_of(file, 0) if forwards else None
    for run in runs:
        for start, line, stop, _ in everything or lines_of(file, run.start, run.stop):
            if start >= run.start and line is not None:
                yield run, start, line
            if stop >= run.stop:
                break


def undated_head(file: BinaryIO, head: int, at: datetime) -> Iterator[Exchange]:
    """Yield the undated exchanges before byte `head` that no date comes before, dated `at`."""
    for start, line, stop, _ in lines_of(file, 0):
        for record in read_line(line, start, ended=True).records if line is not None else ():
            if instant_of(record.fields) is not None:
                return
            yield exchange_of(record, at, dated=False)
        if stop >= head:
            return


def first_date(file: BinaryIO, before: int = sys.maxsize) -> datetime | None:
    """Return the date of the first dated exchange in the lines before a byte of a file; None where there is none."""
    for start, line, _, _ in lines_of(file, 0):
        if start >= before:
            break
        for record in read_line(line, start, ended=True).records if line is not None else ():
            own = instant_of(record.fields)
            if own is not None:
                return own
    return None


def _micros(at: datetime) -> int:
    return (at - EPOCH) // timedelta(microseconds=1)
