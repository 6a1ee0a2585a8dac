"""What the deployments need on a Prefect server, made where it is missing: `horizon prefect setup`.

The work pool, the summarizer's global limit, and the automation that ends runs whose machine died, so that what they
held is given back; and a look at whether the server runs with the settings under which SQLite holds. Safe to run again at
will; what a person has changed is left as it is, save the automation, which must know the names that runs end in.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final, cast

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
    from collections.abc import Mapping

    from prefect.client.orchestration import SyncPrefectClient

POOL: Final = "horizon"
"""Name of the work pool; prefect.yaml names it too."""
AUTOMATION: Final = "horizon: end runs whose machine died"
HEARTBEAT: Final = "prefect.flow-run.heartbeat"
SILENCE: Final = timedelta(minutes=10)
"""How long a run may give no sign before it counts as dead: three heartbeats at Prefect's default of three minutes."""
SERVER: Final = {
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    "PREFECT_SERVER_CONCURRENCY_LEASE_STORAGE": "prefect.server.concurrency.lease_storage.filesystem",
    "PREFECT_SERVER_SERVICES_SCHEDULER_MIN_RUNS": "14",
    "PREFECT_SERVER_SERVICES_TASK_RUN_RECORDER_BATCH_SIZE": "200",
    "PREFECT_SERVER_SERVICES_TASK_RUN_RECORDER_READ_BATCH_SIZE": "200",
    "PREFECT_SERVER_SERVICES_TASK_RUN_RECORDER_FLUSH_INTERVAL": "1",
    "PREFECT_SERVER_SERVICES_EVENT_PERSISTER_BATCH_SIZE": "500",
    "PREFECT_SERVER_SERVICES_DB_VACUUM_ENABLED": "events,flow_runs",
    "PREFECT_SERVER_SERVICES_DB_VACUUM_RETENTION_PERIOD": "P90D",
}
"""The server's tuning, as `[tool.prefect]` in pyproject.toml has it for servers started in a checkout."""
PREFECT_ENDINGS: Final = ("Completed", "Failed", "Cancelled", "Crashed", "TimedOut")
"""The names of the states in which Prefect itself ends a run."""


def setup() -> tuple[str, ...]:
    """Make what is missing on the server; return a line for people on each thing, in order."""
    with get_client(sync_client=True) as client:
        lines = [_work_pool(client)]
    made = ensure_limit()
    lines.append(f"global concurrency limit {SLOT}: {'made' if made else 'there already'}")
    lines.append(f"automation “{AUTOMATION}”: {_automation()}")
    with get_client(sync_client=True) as client:
        settings = client.request("GET", "/admin/settings").json()
    lines.append(f"server settings: {advice(settings)}")
    return tuple(lines)


def untuned(settings: Mapping[str, Any]) -> dict[str, str]:
    """Return the settings of `SERVER` that a server, whose own are `settings`, has otherwise: name and wanted value."""
    found: dict[str, str] = {}
    for name, wanted in SERVER.items():
        value: Any = settings
        for step in _path(name, settings):
            value = value[step]
        if not _same(value, wanted):
            found[name] = wanted
    return found


def _same(value: object, wanted: str) -> bool:
    """Tell whether a setting's value, as JSON has it, is what the text `wanted` sets it to."""
    match value:
        case bool():
            return str(value).lower() == wanted
        case int() | float():
            return value == float(wanted)
        case list():
            return set(cast("list[str]", value)) == set(wanted.split(","))
        case _:
            return value == wanted


def _path(name: str, settings: Mapping[str, Any]) -> list[str]:
    """Return where the setting of the environment variable `name` stands in nested `settings`."""
    path: list[str] = []
    rest, level = name.removeprefix("PREFECT_").lower(), settings
    while rest:
        step = max((key for key in level if rest == key or rest.startswith(f"{key}_")), key=len)
        path.append(step)
        rest, level = rest[len(step) + 1 :], level[step]
    return path


def advice(settings: Mapping[str, Any]) -> str:
    """Return, for people, whether a server with `settings` holds, and else what to type."""
    missing = untuned(settings)
    if not missing:
        return "those under which SQLite holds"
    wanted = " ".join(f"{name}={value}" for name, value in missing.items())
    return f"{len(missing)} are not those under which SQLite holds; stop the server, then: prefect config set {wanted}"


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
    found = there[0]
    if (found.trigger, found.actions) == (wanted.trigger, wanted.actions):
        return "there already"  # an update would forget which runs it is watching
    wanted.id, wanted.enabled = found.id, found.enabled
    wanted.update()
    return "there already, brought up to date"
