"""What every test may use."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile

import pytest
from hypothesis import HealthCheck, settings

# No time is asserted anywhere: a busy machine is no failure.
settings.register_profile("horizon", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("horizon")

# Prefect reads these once, at its first import: no test may touch a user's Prefect home, server or profile.
_PREFECT_HOME = tempfile.mkdtemp(prefix="horizon-prefect-")
atexit.register(shutil.rmtree, _PREFECT_HOME, ignore_errors=True)
for _name in [name for name in os.environ if name.startswith(("PREFECT_", "HORIZON_"))]:
    del os.environ[_name]
os.environ |= {
    "PREFECT_HOME": _PREFECT_HOME,
    "PREFECT_LOGGING_LEVEL": "WARNING",
    "PREFECT_LOGGING_TO_API_ENABLED": "false",
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    "DO_NOT_TRACK": "1",
}

from tests.ollama_server import OllamaServer  # noqa: E402 - after the environment is set


@pytest.fixture
def ollama_server():
    """A test Ollama server that answers faithfully until told otherwise; a wrong request fails the test."""
    with OllamaServer() as server:
        yield server
    assert not server.violations, server.violations
