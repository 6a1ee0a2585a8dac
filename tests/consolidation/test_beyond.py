"""Days before the look-back: found where the ledger does not know them, counted, and taken by a backfill only."""

from __future__ import annotations

import tempfile
from datetime import date, timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from horizon.errors import ModelUnavailable
from tests.night_home import DAY, Home, local, reply

DAYS = [DAY - timedelta(days=back) for back in range(9, -1, -1)]


@given(st.sets(st.sampled_from(DAYS)), st.sets(st.sampled_from(DAYS)), st.sampled_from(DAYS))
@settings(max_examples=25)
def test_they_are_those_that_were_lived_and_never_taken(lived, taken, before):
    with tempfile.TemporaryDirectory() as folder:
        home = Home(Path(folder) / "maison").make()
        for day in sorted(lived):
            home.live("Le portail est repeint.", at=local(9, day=day))
            home.live("ping", "pong", at=local(10, day=day), model="test-model")
        for day in sorted(taken):
            home.says(reply(resume="Le portail est repeint."))
            home.night().consolidate(day)

        assert home.night().beyond(before) == tuple(sorted(day for day in lived - taken if day < before))


def test_by_hand_years_ago_and_a_day_of_bench_traffic_alone(tmp_path):
    home = Home(tmp_path / "maison").make()
    home.live("Le portail est repeint.", at=local(9, day=date(2023, 2, 1)))
    home.live("Le treuil est réparé.", at=local(9, day=date(2024, 2, 29)))
    home.live("ping", "pong", at=local(9, day=date(2024, 3, 1)), model="test-model")
    home.live("Le devis est signé.", at=local(9))

    assert home.night().beyond(DAY) == (date(2023, 2, 1), date(2024, 2, 29))


@pytest.mark.parametrize(("models", "waits"), [("ollama/qwen3", True), ("troncature", False)])
def test_what_an_outage_left_long_ago_waits_and_what_was_chosen_does_not(tmp_path, models, waits):
    home = Home(tmp_path / "maison").make()
    home.live("Le portail est repeint.", at=local(9))
    home.says(*[ModelUnavailable("refused")] * 6)
    home.night(resumeur=models).consolidate(DAY)

    assert home.night(resumeur=models).beyond(DAY + timedelta(days=30)) == ((DAY,) if waits else ())


def test_a_source_that_is_gone_tells_nothing(tmp_path):
    home = Home(tmp_path / "maison").make()
    home.sources = []

    assert home.night().beyond(DAY) == ()
