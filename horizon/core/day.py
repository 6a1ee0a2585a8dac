"""A calendar day as lived in a home, and what was lived in it (spec 2-consolidation §1, §2, §5).

Rules:

- A day is half open, from its first local midnight to the next day's; days follow each other without gap or
  overlap in every zone, so each instant is in exactly one day. The zone serves only to find these bounds.
- A day's fingerprint is made of the ids and contents of the exchanges read, in lived order.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Final, NamedTuple

from horizon.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from datetime import tzinfo

    from horizon.core.exchange import Exchange

_FIRST: Final = date(1900, 1, 1)
_LAST: Final = date(9998, 12, 31)
"""Between them every zone's midnights can be told in UTC; no agent lived outside."""
_ONE: Final = timedelta(days=1)
DIGEST_DIGITS: Final = 16
"""Hexadecimal digits of an exchange's digest: two of a day's thousand are equal once in 10¹³ days."""


class DayState(StrEnum):
    """What is known of one day of one home (spec 2-consolidation §5)."""

    NEVER = "never"
    """The day has exchanges and no run."""
    EMPTY = "empty"
    """No exchange, or all left out."""
    DONE = "done"
    """Consolidated by a model, all parts."""
    DEGRADED = "degraded"
    """No summarizer could be had, or none was chosen: an extractive summary stands in journal.md."""
    OWED = "owed"
    """A model answered but not usably, or the run failed; nothing was written."""
    STALE = "stale"
    """Done, but exchanges arrived since."""
    SOURCE_MISSING = "source-missing"
    """A source could not be read."""


EXCERPT: Final = "excerpt"
"""How a degraded day is shown whose excerpt is a choice, no summarizer being configured."""
MARKS: Final[Mapping[str, str]] = {
    DayState.DONE: "●",
    DayState.DEGRADED: "◐",
    EXCERPT: "◔",
    DayState.OWED: "✕",
    DayState.NEVER: "○",
    DayState.STALE: "↻",
    DayState.EMPTY: "·",
    DayState.SOURCE_MISSING: "?",
}
"""One mark per day in a calendar of nights, by shown state: the fuller, the more of the day is kept."""


def shown_state(state: DayState, *, chosen: bool) -> str:
    """Return a day's state as people are shown it: the ledger's, save that an excerpt by choice is called one."""
    return EXCERPT if state is DayState.DEGRADED and chosen else str(state)


class Bounds(NamedTuple):
    """A day's instants in UTC: `start` is in it, `end` is not; equal for a day that a zone skipped."""

    start: datetime
    end: datetime


def bounds(day: date, zone: tzinfo) -> Bounds:
    """Return the bounds of `day` in `zone`; 23, 24 or 25 hours apart as a rule.

    Raises:
        InvalidInput: `day` is before 1900 or after 9998.
    """
    if not _FIRST <= day <= _LAST:
        raise InvalidInput(f"{day} is outside {_FIRST} to {_LAST}")
    return Bounds(_midnight(day, zone), _midnight(day + _ONE, zone))


def _midnight(day: date, zone: tzinfo) -> datetime:
    """Return when `day` begins: its first midnight where there are two, the gap's end where there is none."""
    return datetime.combine(day, time(), tzinfo=zone).astimezone(UTC)


def day_of(instant: datetime, zone: tzinfo) -> date:
    """Return the day that `instant` (aware) is in, in `zone`: the one whose bounds hold it.

    Where clocks go back over midnight the wall shows the day before once more; bounds decide. Of an instant for which
    no bounds can be told, before 1900 or after 9998, it is the date in UTC.
    """
    if not _FIRST < instant.date() < _LAST:
        return instant.astimezone(UTC).date()
    day = instant.astimezone(zone).date()
    while instant < _midnight(day, zone):
        day -= _ONE
    while instant >= _midnight(day + _ONE, zone):
        day += _ONE
    return day


def days(first: date, last: date) -> Iterator[date]:
    """Yield the days from `first` to `last`, both included, in order; none where `first` is later."""
    yield from (date.fromordinal(number) for number in range(first.toordinal(), last.toordinal() + 1))


@dataclass(frozen=True, slots=True, kw_only=True)
class Lived:
    """An exchange as read from a source of a home.

    `source` names where it stands ("traces.db", "window/mia-messages.jsonl"), `agent` who answered;
    `place` orders exchanges of one source and instant (a row's id, a byte offset).
    """

    exchange: Exchange
    source: str
    agent: str = ""
    place: int = 0

    @property
    def order(self) -> tuple[datetime, str, int, str]:
        """Lived order: by instant, then by source and place in it."""
        return (self.exchange.at, self.source, self.place, self.exchange.id)

    @property
    def address(self) -> str:
        """Where the whole exchange is found again: source and id."""
        return f"{self.source}#{self.exchange.id}"


def digest(lived: Lived) -> str:
    """Return the digest of an exchange's address and content: 16 hexadecimal digits."""
    exchange = lived.exchange
    said = f"{lived.address}\x1f{exchange.at.isoformat()}\x1f{exchange.question}\x1f{exchange.answer}"
    return hashlib.sha256(said.encode("utf-8", "surrogatepass")).hexdigest()[:DIGEST_DIGITS]


def fingerprint(digests: str) -> str:
    """Return the fingerprint of a day from its exchanges' digests, end to end in lived order: 32 hexadecimal digits."""
    return hashlib.sha256(digests.encode()).hexdigest()[:32]


def counted(digests: str) -> int:
    """Return how many exchanges' digests stand end to end in `digests`."""
    return len(digests) // DIGEST_DIGITS


def arrived(now: str, then: str) -> int:
    """Return how many of the digests `now` are not among those of a run, `then`; each kept end to end.

    Exchanges that a host has deleted since do not make a day stale; only arrivals do.
    """
    known = set(_each(then))
    return sum(1 for each in _each(now) if each not in known)


def _each(digests: str) -> Iterator[str]:
    return (digests[at : at + DIGEST_DIGITS] for at in range(0, len(digests), DIGEST_DIGITS))


def dated(lived: Iterable[Lived], zone: tzinfo) -> Iterator[tuple[date, Lived]]:
    """Yield each exchange with its day in `zone`, in the order given; cheap where neighbours share a day."""
    span: Bounds | None = None
    day = _FIRST
    for each in lived:
        at = each.exchange.at
        if span is None or not span.start <= at < span.end:
            day = day_of(at, zone)
            span = bounds(day, zone) if _FIRST <= day <= _LAST else None
        yield day, each
