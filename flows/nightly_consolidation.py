"""`nightly-consolidation`: the day that ended settles into durable memory, and then the days still owed.

Each home: yesterday, then the days of the look-back that are never consolidated, owed, stale or degraded, oldest
first. A missed night is thus taken by the next one. With the summarizer away only yesterday is taken (marked degraded,
or owed); the others wait. Older days are counted and left to a backfill, which the message names.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from prefect import flow, get_run_logger
from prefect.client.schemas.objects import State  # noqa: TC002 - Prefect reads the parameters' types when the flow is called
from prefect.runtime import flow_run

from flows.night import Night
from flows.parameters import HomeFolders  # noqa: TC001 - as above
from flows.places import homes_of, names_of
from horizon import wiring
from horizon.core.day import day_of
from horizon.errors import HorizonError
from tasks.outcome import Outcome, Result, state_of
from tasks.policy import discreetly

if TYPE_CHECKING:
    from datetime import date, datetime
    from pathlib import Path


def run_name() -> str:
    """Return the run's name: "night 2026-08-23 · ruche", for the day that its schedule meant in the first home."""
    homes = flow_run.parameters.get("homes") or ()
    try:
        day = expected_day(homes_of(homes)[0], flow_run.scheduled_start_time).isoformat()
    except (HorizonError, OSError, IndexError):
        day = "without a home"
    return f"night {day} · {names_of(homes)}"


def expected_day(home: Path, scheduled: datetime) -> date:
    """Return the day before the one that `scheduled` is in, in the home's zone, however late the run starts."""
    return day_of(scheduled, wiring.open_home(home).zone) - timedelta(days=1)


@flow(name="nightly-consolidation", flow_run_name=run_name, persist_result=False)
def nightly_consolidation(homes: HomeFolders = ()) -> State[Any]:
    """Consolidate yesterday and then the days still owed, for each home.

    Args:
        homes: A home is a hive, or a host's folder with its traces.db; a folder that holds hives stands for all of
            them. Empty: the root folder of the machine that runs this (HORIZON_ROOT, else ~/ruche).
    """
    with discreetly():
        log = get_run_logger()
        scheduled = flow_run.scheduled_start_time
        outcomes: list[Outcome] = []
        left = 0
        older: list[str] = []
        for home in homes_of(homes):
            night = Night(home=home)
            try:
                left += _settle(night, expected_day(home, scheduled))
            except (HorizonError, OSError) as error:
                night.fail(error)
            outcomes += night.outcomes
            if advice := night.advice():
                log.info("%s: %s", home.name, advice)
                older.append(advice)
        notes = [f"{left} more owed, left for the nights to come"] if left else []
        if len(older) > 1:  # a message is one line; the reports tell each home's command
            notes.append(f"{len(older)} homes have older days that wait for a backfill, see their reports")
        else:
            notes += older
        return state_of((outcome.result for outcome in outcomes), "days", note="; ".join(notes))


def _settle(night: Night, expected: date) -> int:
    """Take a home's days, and leave the report; return how many owed days are beyond what one night takes."""
    home = wiring.open_home(night.home)
    expected = min(expected, home.yesterday())  # the clock was set back: no day is taken before it has ended
    night.look_at_summarizer()
    night.take(expected)
    last = max(expected, home.yesterday())
    readable = night.outcomes[-1].result is not Result.MISSING
    owed = [day for day in home.owed(last, home.settings.retour_jours) if day != expected] if readable else []
    most = home.settings.jours_par_nuit - 1
    for day in owed[:most]:
        night.take_or_wait(day)
    if readable:
        night.look_beyond(last - timedelta(days=home.settings.retour_jours))
    night.publish(last)
    return len(owed[most:])
