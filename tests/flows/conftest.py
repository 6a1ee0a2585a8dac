"""A Prefect server for the flow tests, started once for all that ask, and folders to run them on."""

from __future__ import annotations

import pytest
from prefect.settings import PREFECT_FLOWS_HEARTBEAT_FREQUENCY, temporary_settings
from prefect.testing.utilities import prefect_test_harness


@pytest.fixture(scope="session")
def engine():
    """Prefect's engine on a server and an empty database of its own; a flow is then simply called."""
    no_heartbeat = temporary_settings(
        {PREFECT_FLOWS_HEARTBEAT_FREQUENCY: None}
    )  # joining its thread costs a second a call
    with prefect_test_harness(server_startup_timeout=180), no_heartbeat:
        yield
