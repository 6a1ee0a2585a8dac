"""`maintain-horizon`: keep the horizon of each active bee within its budgets.

What is over budget or too old is condensed and evicted, then a full condensed zone melts into the narrative. A bee
with nothing to do costs no task, and bees that ask no model do not wait for those that do.
"""

from __future__ import annotations

from typing import Any

from prefect import flow, get_run_logger
from prefect.client.schemas.objects import State  # noqa: TC002 - Prefect reads the parameters' types when the flow is called
from prefect.runtime import flow_run

from flows.bees import Bees, worked_on
from flows.parameters import DryRun, HiveFolders  # noqa: TC001 - as above
from flows.places import hives_of, names_of
from tasks.artifacts import publish_bees
from tasks.maintain import maintain_bee
from tasks.outcome import Outcome, state_of
from tasks.policy import discreetly
from tasks.runner import task_runner, width


def run_name() -> str:
    """Return the run's name: "maintain ruche"."""
    return f"maintain {names_of(flow_run.parameters.get('hives') or ())}"


@flow(name="maintain-horizon", flow_run_name=run_name, task_runner=task_runner(), persist_result=False)
def maintain_horizon(hives: HiveFolders = (), *, dry_run: DryRun = False) -> State[Any]:
    """Evict and melt for each active bee of the given hives.

    Args:
        hives: A folder that holds hives stands for all of them. Empty: the root folder of the machine that runs this
            (HORIZON_ROOT, else ~/ruche).
        dry_run: Only say what would be done: nothing is written, no model is asked.
    """
    with discreetly():
        log = get_run_logger()
        folders = hives_of(hives)
        bees = Bees(folders)
        outcomes: list[Outcome] = []
        calls = ({**call, "dry_run": dry_run} for call in bees.due())
        for outcome in worked_on(maintain_bee, calls, most=width()):
            log.info(outcome.line())
            outcomes.append(outcome)
        for outcome in bees.passed_over:
            log.error(outcome.line())
        if outcomes:
            publish_bees(Bees(folders).gauges())
        return state_of(
            [outcome.result for outcome in (*outcomes, *bees.passed_over)],
            "bees",
            dry_run=dry_run,
            note=f"{bees.idle} idle in {len(folders)} hives",
        )
