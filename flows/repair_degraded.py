"""`repair-degraded`: make good what an outage left, once the summarizer is back, oldest first.

Degraded condensates and narratives of bees, and the days within each home's look-back that are degraded or owed; days
that no run has tried yet are for the nights to begin, a few at a time. Returns at once where nothing is owed; while a
summarizer is still away, what needs it waits.
"""

from __future__ import annotations

from typing import Any

from prefect import flow, get_run_logger
from prefect.client.schemas.objects import State  # noqa: TC002 - Prefect reads the parameters' types when the flow is called
from prefect.runtime import flow_run

from flows.bees import Bees, worked_on
from flows.night import Night
from flows.parameters import HomeFolders  # noqa: TC001 - as above
from flows.places import homes_of, names_of
from horizon import wiring
from horizon.errors import HorizonError
from tasks.artifacts import publish_bees
from tasks.outcome import Outcome, state_of
from tasks.policy import discreetly
from tasks.repair import repair_bee
from tasks.runner import task_runner, width


def run_name() -> str:
    """Return the run's name: "repair ruche"."""
    return f"repair {names_of(flow_run.parameters.get('homes') or ())}"


@flow(name="repair-degraded", flow_run_name=run_name, task_runner=task_runner(), persist_result=False)
def repair_degraded(homes: HomeFolders = ()) -> State[Any]:
    """Make again what was made without the summarizer, and take the days still owed.

    Args:
        homes: A home is a hive, or a host's folder with its traces.db; a folder that holds hives stands for all of
            them. Empty: the root folder of the machine that runs this (HORIZON_ROOT, else ~/ruche).
    """
    with discreetly():
        log = get_run_logger()
        folders = homes_of(homes)
        bees = Bees([hive for folder in folders for hive in wiring.hives(folder)])
        outcomes: list[Outcome] = []
        for outcome in worked_on(repair_bee, bees.degraded(), most=width()):
            log.info(outcome.line())
            outcomes.append(outcome)
        if outcomes:
            publish_bees(bees.gauges())
        outcomes += bees.passed_over
        for home in folders:
            night = Night(home=home)
            try:
                _repair_days(night)
            except (HorizonError, OSError) as error:
                night.fail(error)
            outcomes += night.outcomes
        return state_of((outcome.result for outcome in outcomes), "bees and days")


def _repair_days(night: Night) -> None:
    """Take what an outage left of the home's days, oldest first, and leave the report; nothing where none is left."""
    home = wiring.open_home(night.home)
    days = home.repairable()
    if not days:
        return
    night.look_at_summarizer()
    for day in days:
        night.take_or_wait(day)
    night.publish(home.yesterday())
