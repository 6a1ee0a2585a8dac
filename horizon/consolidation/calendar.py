"""The calendar of a home's nights: what its ledger and its sources together say of each day (spec 2-consolidation §5).

Reads only. Everything over several days is one pass over the sources.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import TYPE_CHECKING, Final

from horizon.consolidation.report import Night, night_of
from horizon.core.day import DayState, arrived, bounds, counted, day_of, days
from horizon.core.night import ATTEMPTS_MOST, Row
from horizon.errors import TransientError, Unavailable
from horizon.settings import summarizers

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from datetime import tzinfo

    from horizon.consolidation.world import LedgerStore, Source, Survey, Surveyed
    from horizon.core.night import Ledger
    from horizon.ports import Clock
    from horizon.settings import ConsolidationSettings

_ERA: Final = date(1970, 1, 2)
"""The first day that exchanges are looked for in: instants are seconds since the day before it, in any zone."""


@dataclass(slots=True, kw_only=True)
class Calendar:
    """The days of one home. `name` is for people; `settings` and `zone` are the home's of now."""

    name: str
    sources: Sequence[Source]
    ledger: LedgerStore
    survey: Survey
    clock: Clock
    settings: ConsolidationSettings
    zone: tzinfo

    def yesterday(self) -> date:
        """Return the day before the present one, in the home's zone."""
        return day_of(self.clock.now(), self.zone) - timedelta(days=1)

    def owed(self, until: date, look_back: int) -> tuple[date, ...]:
        """Return the days still to be made, of `until` and the `look_back` days before it, oldest first.

        They are never consolidated, owed, stale, degraded, or missing a source. A day whose excerpt was a
        choice is owed once a summarizer is configured; one whose attempts are used up waits for a person.
        """
        return tuple(night.day for night in self._owed(until, look_back))

    def repairable(self) -> tuple[date, ...]:
        """Return the owed days of the look-back of which something was made or tried, oldest first.

        The others are for the nights to begin.
        """
        tried = {DayState.OWED, DayState.STALE, DayState.DEGRADED}
        nights = self._owed(self.yesterday(), self.settings.retour_jours)
        return tuple(night.day for night in nights if night.state in tried)

    def _owed(self, until: date, look_back: int) -> Iterator[Night]:
        models = summarizers(self.settings)
        owed = {DayState.NEVER, DayState.OWED, DayState.STALE, DayState.DEGRADED, DayState.SOURCE_MISSING}
        return (
            night
            for night in self.nights(until - timedelta(days=look_back), until)
            if night.state in owed
            and not (night.state is DayState.DEGRADED and night.chosen and not models)
            and (night.attempts < ATTEMPTS_MOST or night.state not in {DayState.OWED, DayState.STALE})
        )

    def nights(self, first: date, last: date) -> tuple[Night, ...]:
        """Return each day from `first` to `last`, both included, in order, as ledger and sources tell it.

        One pass over the sources. Where one cannot be read, days that are not settled are `source-missing`.
        """
        if last < first:
            return ()
        ledger = self.ledger.load()
        missing = self.missing(ledger)
        surveyed: Mapping[date, Surveyed] = {}
        if not missing:
            try:
                surveyed = self._surveyed(first, last)
            except (Unavailable, TransientError, OSError) as error:
                missing = str(error)
        return tuple(self._look(ledger.row(day), day, surveyed.get(day), missing) for day in days(first, last))

    def beyond(self, before: date) -> tuple[date, ...]:
        """Return the days before `before` that are never consolidated or still owed, oldest first.

        No night takes them unasked; a backfill does. Only days that the ledger does not know are looked for in the
        sources. Empty where a source is missing altogether.

        Raises:
            Unavailable, StoreBusy, OSError: a source could not be read.
        """
        ledger = self.ledger.load()
        if self.missing(ledger):
            return ()
        owed = {DayState.OWED, DayState.STALE, DayState.DEGRADED, DayState.SOURCE_MISSING}
        models = summarizers(self.settings)
        found: list[date] = []
        first = _ERA
        for day in (*sorted(each for each in ledger.rows if _ERA <= each < before), before):
            if first < day:
                surveyed = self._surveyed(first, day - timedelta(days=1))
                found += (each for each, what in surveyed.items() if what.digests)
            first = day + timedelta(days=1)
            row = ledger.row(day)
            chosen = row.settled is not None and row.settled.chosen
            if day < before and row.state in owed and not (row.state is DayState.DEGRADED and chosen and not models):
                found.append(day)
        return tuple(found)

    def _surveyed(self, first: date, last: date) -> Mapping[date, Surveyed]:
        start, end = bounds(first, self.zone).start, bounds(last, self.zone).end
        return self.survey(
            (lived for source in self.sources for lived in source.between(start, end)),
            zone=self.zone,
            bench=self.settings.bancs,
            agents=self.settings.agents,
        )

    def _look(self, row: Row, day: date, found: Surveyed | None, missing: str) -> Night:
        if missing:
            state = row.state
            if state in {DayState.NEVER, DayState.EMPTY}:
                state = DayState.SOURCE_MISSING
            night = night_of(day, state, row, 0, {})
            return replace(night, error=night.error or missing)
        digests = found.digests if found else ""
        left_out: Mapping[str, int] = found.left_out if found else {}
        return night_of(day, self.state_of(row, digests), row, counted(digests), left_out)

    def state_of(self, row: Row, digests: str) -> DayState:
        """Return a day's state from its row and the exchanges that the sources hold now."""
        state = row.state
        settled = row.settled
        if state is DayState.SOURCE_MISSING:  # it can be read now
            state = DayState.NEVER if settled is None else settled.state
        if state in {DayState.NEVER, DayState.EMPTY}:
            if digests:
                return DayState.STALE if settled is not None and settled.state is DayState.DONE else DayState.NEVER
            return DayState.EMPTY
        if settled is not None and state is DayState.DONE and arrived(digests, settled.digests):
            return DayState.STALE
        return state

    def missing(self, ledger: Ledger) -> str:
        """Return which source is missing altogether, for people; empty where none is."""
        names = [source.name for source in self.sources]
        if not names:
            return f"{self.name} holds no source: neither a traces.db nor a window/ with journals"
        if not self.settings.sources:
            gone = [name for name in ledger.sources if name not in names]
            if gone:
                return f"{', '.join(gone)} was read by earlier nights and is gone; if that is meant, name the sources in the settings"
        return ""
