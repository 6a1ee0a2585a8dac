"""Evidence survives condensing: commands and paths first, over a corpus rich in them."""

from __future__ import annotations

import pytest

from benchmarks.survival import by_test_model, by_truncation, condensing, corpus, melting
from horizon.core.condensation import CONDENSED_MOST
from horizon.core.fidelity import check


def test_the_corpus_is_large_enough():
    assert len(corpus()) >= 60


@pytest.mark.parametrize("condense", [by_truncation, by_test_model])
def test_commands_and_paths_survive_condensing(condense):
    shares = condensing(condense)
    assert shares["command"] >= 0.9
    assert shares["path"] >= 0.9


@pytest.mark.parametrize("condense", [by_truncation, by_test_model])
def test_commands_and_paths_survive_three_meltings_by_code(condense):
    shares = melting(condense)
    assert shares["command"] >= 0.85
    assert shares["path"] >= 0.5


@pytest.mark.parametrize("condense", [by_truncation, by_test_model])
def test_condensed_texts_are_bounded_and_faithful(condense):
    for exchange in corpus():
        text = condense(exchange)
        assert len(text) <= CONDENSED_MOST
        assert check(text, [exchange.question, exchange.answer]) is None
