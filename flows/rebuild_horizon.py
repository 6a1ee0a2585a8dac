"""`rebuild-horizon`: fold a bee's journals again; the integral journal is only read."""

from __future__ import annotations

from typing import Any

from prefect import flow, get_run_logger
from prefect.client.schemas.objects import State  # noqa: TC002 - Prefect reads the parameters' types when the flow is called
from prefect.runtime import flow_run

from flows.bees import Bees, worked_on
from flows.parameters import BeeNames, HiveFolder, How, Rebuilding
from flows.places import names_of
from horizon import wiring
from tasks.artifacts import publish_bees
from tasks.outcome import Outcome, state_of
from tasks.policy import discreetly
from tasks.rebuild import rebuild_bee
from tasks.runner import task_runner, width


def run_name() -> str:
    """Return the run's name: "rebuild mia · ruche", or "rebuild ruche" for all of its bees."""
    parameters = flow_run.parameters
    bees = parameters.get("bees") or ()
    hive = names_of([parameters["hive"]])
    return f"rebuild {', '.join(bees)} · {hive}" if bees else f"rebuild {hive}"


@flow(name="rebuild-horizon", flow_run_name=run_name, task_runner=task_runner(), persist_result=False)
def rebuild_horizon(hive: HiveFolder, bees: BeeNames = (), how: Rebuilding = How.FOLD) -> State[Any]:
    """Fold the journals of a hive's bees again.

    Args:
        hive: Where its horizon.toml, window and bees stand; such as ~/ruche.
        bees: The bees to rebuild. Empty: all bees of the hive.
        how: "fold" folds again what is recorded, without a model; "fresh" also asks the models again.
    """
    with discreetly():
        log = get_run_logger()
        folder = hive.expanduser().absolute()
        calls = ({"hive": folder, "bee": bee, "fresh": how is How.FRESH} for bee in bees or wiring.bees(folder))
        outcomes: list[Outcome] = []
        for outcome in worked_on(rebuild_bee, calls, most=width()):
            log.info(outcome.line())
            outcomes.append(outcome)
        publish_bees(Bees([folder]).gauges())
        return state_of((outcome.result for outcome in outcomes), "bees")
