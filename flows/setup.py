"""What the deployments need on a Prefect server, made where it is missing: `horizon prefect setup`.

The work pool, the summarizer's global limit, and the automation that ends runs whose machine died, so that what they
held is given back. Safe to run again at will; what a person has changed is left as it is, save the automation, which
must know the names that runs end in.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Final

from prefect.automations import Automation
from prefect.client.orchestration import get_client
from prefect.client.schemas.actions import WorkPoolCreate
from prefect.client.schemas.objects import StateType
from prefect.events.actions import ChangeFlowRunState
from prefect.events.schemas.automations import EventTrigger, Posture
from prefect.events.schemas.events import ResourceSpecification
from prefect.exceptions import ObjectAlreadyExists
from prefect.workers.process import ProcessWorker

from tasks.outcome import ENDINGS, PREVIEW
from tasks.summarizer import SLOT, ensure_limit

if TYPE_CHECKING:
    from prefect.client.orchestration import SyncPrefectClient

POOL: Final = "horizon"
"""Name of the work pool; prefect.yaml names it too."""
AUTOMATION: Final = "horizon: end runs whose machine died"
HEARTBEAT: Final = "prefect.flow-run.heartbeat"
SILENCE: Final = timedelta(minutes=10)
"""How long a run may give no sign before it counts as dead: three heartbeats at Prefect's default of three minutes."""
PREFECT_ENDINGS: Final = ("Completed", "Failed", "Cancelled", "Crashed", "TimedOut")
"""The names of the states in which Prefect itself ends a run."""


def setup() -> tuple[str, ...]:
    """Make what is missing on the server; return a line for people on each thing, in order."""
    with get_client(sync_client=True) as client:
        lines = [_work_pool(client)]
    made = ensure_limit()
    lines.append(f"global concurrency limit {SLOT}: {'made' if made else 'there already'}")
    lines.append(f"automation “{AUTOMATION}”: {_automation()}")
    return tuple(lines)


def _work_pool(client: SyncPrefectClient) -> str:
    template = ProcessWorker.get_default_base_job_template()
    try:
        client.create_work_pool(
            WorkPoolCreate(
                name=POOL,
                type=ProcessWorker.type,
                description="Runs of Horizon, each a process of its own.",
                base_job_template=template,
            )
        )
    except ObjectAlreadyExists:
        return f"work pool {POOL}: there already"
    return f"work pool {POOL}: made"


def automation() -> Automation:
    """Return the automation: a run of ours that stops giving signs without having ended is marked Crashed.

    An end is an event named for the state, so every name that our runs end in is expected here.
    """
    crash = ChangeFlowRunState(
        name=None, state=StateType.CRASHED, message="No sign of life for ten minutes: the machine died.", force=False
    )
    endings = {*PREFECT_ENDINGS, PREVIEW.name, *(ending.name for ending in ENDINGS.values())}
    return Automation(
        name=AUTOMATION,
        description="Marks a run Crashed when its machine gave no sign for ten minutes; its slots are given back.",
        trigger=EventTrigger(
            match=ResourceSpecification({"prefect.resource.id": ["prefect.flow-run.*"]}),
            match_related=ResourceSpecification(
                {"prefect.resource.id": ["prefect.tag.horizon"], "prefect.resource.role": ["tag"]}
            ),
            for_each={"prefect.resource.id"},
            after={HEARTBEAT},
            expect={HEARTBEAT, *(f"prefect.flow-run.{name}" for name in endings)},
            posture=Posture.Proactive,
            threshold=1,
            within=SILENCE,
        ),
        actions=[crash],
    )


def _automation() -> str:
    wanted = automation()
    with get_client(sync_client=True) as client:
        there = client.read_automations_by_name(name=AUTOMATION)
    if not there:
        wanted.create()
        return "made"
    wanted.id = there[0].id
    wanted.update()
    return "there already, brought up to date"
