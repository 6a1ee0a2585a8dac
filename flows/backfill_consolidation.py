"""`backfill-consolidation`: days of the past of one home, in order, as far back as a person asks.

Resumable: what is done with the same exchanges is passed over, so that a killed run is simply started again, and two
at once share the days.
"""

from __future__ import annotations

from typing import Any
from uuid import UUID

from prefect import flow
from prefect.artifacts import create_progress_artifact, update_progress_artifact
from prefect.client.schemas.objects import State  # noqa: TC002 - Prefect reads the parameters' types when the flow is called
from prefect.runtime import flow_run

from flows.night import Night
from flows.parameters import Days, DaysToTake, DryRun, Force, HomeFolder
from flows.places import names_of
from horizon.core.day import days as days_from
from horizon.errors import HorizonError
from tasks.artifacts import key
from tasks.outcome import state_of
from tasks.policy import discreetly


def run_name() -> str:
    """Return the run's name: "backfill 2026-07-01 to 2026-08-23 · ruche"."""
    parameters = flow_run.parameters
    days = Days.model_validate(parameters["days"])
    return f"backfill {days.first} to {days.last} · {names_of([parameters['home']])}"


@flow(name="backfill-consolidation", flow_run_name=run_name, persist_result=False)
def backfill_consolidation(
    home: HomeFolder, days: DaysToTake, *, force: Force = False, dry_run: DryRun = False
) -> State[Any]:
    """Consolidate a home's days from the first to the last, oldest first.

    Args:
        home: A hive, or a host's folder with its traces.db; such as ~/ruche.
        days: Both ends included, oldest first.
        force: Read also the days that are done with the same exchanges.
        dry_run: Only say what would be done and how many calls it would take: nothing is written, no model is asked.
    """
    with discreetly():
        folder = home.expanduser().absolute()
        night = Night(home=folder, force=force, dry_run=dry_run)
        try:
            _take(night, days)
        except (HorizonError, OSError) as error:
            night.fail(error)
        return state_of(
            (outcome.result for outcome in night.outcomes),
            "days",
            dry_run=dry_run,
            note=f"{night.calls} model calls {'planned' if dry_run else 'made'}",
        )


def _take(night: Night, days: Days) -> None:
    """Take the home's days, show how far it is, and leave the report."""
    if not night.dry_run:
        night.look_at_summarizer()
    wanted = tuple(days_from(days.first, days.last))
    settled = night.settled(days.first, days.last)
    name = key("backfill", night.home.name)
    bar = create_progress_artifact(0.0, key=name, description=f"{days.first} to {days.last}")
    assert isinstance(bar, UUID)
    for count, day in enumerate(wanted, start=1):
        if day in settled:
            night.pass_over(day)
        else:
            night.take_or_wait(day)
        if day not in settled or count == len(wanted):
            told = f"{day}: {count} of {len(wanted)} days"
            update_progress_artifact(bar, float(100 * count // len(wanted)), description=told)
    night.publish(days.last)
