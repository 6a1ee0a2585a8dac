"""A home's days, one task each: taken in the given order; a summarizer out of reach makes the rest wait."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from prefect import get_run_logger

from horizon import wiring
from horizon.core.day import DayState, shown_state
from horizon.settings import summarizers
from tasks.artifacts import WEEKS, night_report, publish_calendar, publish_night
from tasks.consolidate import DayOutcome, consolidate_day
from tasks.outcome import Outcome, Result, of_error
from tasks.policy import attempt

if TYPE_CHECKING:
    from datetime import date
    from pathlib import Path

    from horizon.errors import HorizonError

UNREACHABLE_MOST: Final = 3
"""Days in a row whose summarizer could not be reached before the rest waits (spec 3-orchestration, outages)."""


@dataclass(slots=True, kw_only=True)
class Night:
    """What becomes of a home's days in one run; `health` says why the summarizer is away, empty while it is not."""

    home: Path
    health: str = ""
    force: bool = False
    dry_run: bool = False
    outcomes: list[Outcome] = field(default_factory=list[Outcome])
    """One for each day, in the order taken."""
    older: tuple[date, ...] = ()
    """Days before the look-back that no night takes unasked, oldest first."""
    _unreachable: int = 0

    @property
    def calls(self) -> int:
        """Calls of the model that the days took; in a dry run, that they would take."""
        return sum(outcome.calls for outcome in self.outcomes if isinstance(outcome, DayOutcome))

    def look_at_summarizer(self) -> None:
        """Ask whether the home's summarizer answers, before anything is asked of it."""
        home = wiring.open_home(self.home)
        models = summarizers(home.settings)
        self.health = (home.cascade().available(models) or "") if models else ""
        if self.health:
            get_run_logger().warning("%s: the summarizer is out of reach: %s", self.home.name, self.health)

    def take(self, day: date) -> None:
        """Consolidate `day` whatever the summarizer's health: without it the day is degraded, or stays owed."""
        log = get_run_logger()
        ended = attempt(consolidate_day, home=self.home, day=day, force=self.force, dry_run=self.dry_run)
        if isinstance(ended, DayOutcome):
            log.info(ended.line())
            self.outcomes.append(ended)
            self._unreachable = self._unreachable + 1 if ended.unreachable else 0
            if self._unreachable == UNREACHABLE_MOST:
                self.health = f"out of reach on {UNREACHABLE_MOST} days in a row"
                log.warning("%s: the summarizer is %s; the other days wait", self.home.name, self.health)
            return
        self._note(of_error(day.isoformat(), ended))

    def fail(self, error: HorizonError | OSError) -> None:
        """Note that the home itself could not be worked on; the error's own trace may quote its memory and is not logged."""
        self._note(of_error(self.home.name, error))

    def _note(self, outcome: Outcome) -> None:
        get_run_logger().error(outcome.line())
        self.outcomes.append(outcome)

    def settled(self, first: date, last: date) -> frozenset[date]:
        """Return the days from `first` to `last` that hold nothing to take: done with what is there, or empty.

        One pass over the sources, so that months gone over again do not cost a task a day. None with `force`.
        """
        if self.force:
            return frozenset()
        nights = wiring.open_home(self.home).nights(first, last)
        return frozenset(night.day for night in nights if night.state in {DayState.DONE, DayState.EMPTY})

    def pass_over(self, day: date) -> None:
        """Note that there was nothing to do for `day`, without a task."""
        self.outcomes.append(Outcome(what=day.isoformat(), result=Result.NOTHING))

    def take_or_wait(self, day: date) -> None:
        """Consolidate `day` if the summarizer is well; else it waits for a later run, and is counted."""
        if self.health:
            self.outcomes.append(Outcome(what=day.isoformat(), result=Result.WAITING))
        else:
            self.take(day)

    def look_beyond(self, before: date) -> None:
        """Look for days before `before` that only a backfill takes."""
        self.older = wiring.open_home(self.home).beyond(before)

    def advice(self) -> str:
        """Return how many older days wait, and the command that takes them; empty where none does."""
        if not self.older:
            return ""
        command = f"horizon backfill {shlex.quote(str(self.home))} --from {self.older[0]} --to {self.older[-1]}"
        return f"{len(self.older)} older {'days wait' if len(self.older) > 1 else 'day waits'}; to take: {command}"

    def publish(self, last: date) -> None:
        """Leave the report of what was taken, and the calendar of the weeks up to `last`."""
        publish_night(self.home, night_report(self.home.name, self.outcomes, health=self.health, older=self.advice()))
        nights = wiring.open_home(self.home).nights(last - timedelta(weeks=WEEKS), last)
        states = {night.day: shown_state(night.state, chosen=night.chosen) for night in nights}
        publish_calendar(self.home, states, last)
