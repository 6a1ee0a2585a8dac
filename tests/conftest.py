"""What every test may use."""

from __future__ import annotations

import pytest

from tests.ollama_server import OllamaServer


@pytest.fixture
def ollama_server():
    """A test Ollama server that answers faithfully until told otherwise; a wrong request fails the test."""
    with OllamaServer() as server:
        yield server
    assert not server.violations, server.violations
