"""Prefect servers for the flow tests, each started once for all that ask: a plain one, and a real one with workers."""

from __future__ import annotations

import pytest
from prefect.settings import PREFECT_FLOWS_HEARTBEAT_FREQUENCY, temporary_settings
from prefect.testing.utilities import prefect_test_harness

from tests.deterministic_model import reply_to
from tests.flows.real_prefect import RealPrefect
from tests.flows.spoken import quoted
from tests.ollama_behaviour import Behaviour
from tests.ollama_server import OllamaServer

SLOW = 1.0
"""Seconds that the summarizer takes for each answer, so that a run can be met in the middle."""
WORKERS = ("w1", "w2", "w3")


@pytest.fixture(scope="package")
def engine():
    """Prefect's engine on a server and an empty database of its own; a flow is then simply called."""
    no_heartbeat = temporary_settings(
        {PREFECT_FLOWS_HEARTBEAT_FREQUENCY: None}
    )  # joining its thread costs a second a call
    with prefect_test_harness(server_startup_timeout=180), no_heartbeat:
        yield


@pytest.fixture(scope="package")
def _summarizer():
    with OllamaServer() as server:
        for flow in ("nightly-consolidation", "backfill-consolidation", "maintain-horizon"):
            server.model(flow)
        yield server
        assert not server.violations, server.violations


@pytest.fixture
def summarizer(_summarizer):
    """The summarizer of the real server's workers; slow, unless a test says otherwise."""
    _summarizer.answer(Behaviour(text=reply_to, delay=SLOW))
    _summarizer.max_concurrent = 0
    return _summarizer


@pytest.fixture(scope="package")
def prefect(tmp_path_factory, _summarizer):
    """A real Prefect server with three workers, all deployed from prefect.yaml; whatever ran on it told it no text."""
    with RealPrefect(tmp_path_factory.mktemp("prefect"), OLLAMA_HOST=_summarizer.host) as prefect:
        prefect.deploy()
        for name in WORKERS:
            prefect.start_worker(name)
        yield prefect
        assert not quoted(prefect.place)
