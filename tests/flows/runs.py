"""What Prefect's API says of a run that a test called."""

from __future__ import annotations

import time

from prefect.client.orchestration import get_client

from tests.flows.real_prefect import ENDED


def asked(state, what):
    """Return the task runs or artifacts of a flow's run."""
    with get_client(sync_client=True) as client:
        body = {"flow_runs": {"id": {"any_": [str(state.state_details.flow_run_id)]}}, "sort": SORT[what]}
        return client._client.post(f"/{what}/filter", json=body).json()


SETTLED = 1.5
"""Seconds after which task runs that there should not be would have been recorded."""
SORT = {"task_runs": "EXPECTED_START_TIME_ASC", "artifacts": "CREATED_DESC"}


def task_runs(state, count):
    """Return the task runs by name, in the order begun, once `count` are recorded: Prefect does so after they end."""
    deadline = time.monotonic() + 30
    time.sleep(0 if count else SETTLED)
    while True:
        found = {task["name"]: task for task in asked(state, "task_runs")}
        if len(found) >= count and all(" " in name and task["state_type"] in ENDED for name, task in found.items()):
            return found
        assert time.monotonic() < deadline, found
        time.sleep(0.2)


def artifact(state, key):
    """Return what the run's newest artifact under `key` holds."""
    return next(found["data"] for found in asked(state, "artifacts") if found["key"] == key)


def called(state):
    with get_client(sync_client=True) as client:
        return client.read_flow_run(state.state_details.flow_run_id).name
