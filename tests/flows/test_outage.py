"""A month of nights with the summarizer away for five of them: said while it lasts, made good after it, by itself or by hand."""

from __future__ import annotations

import json
import os
from datetime import UTC, date, datetime, time, timedelta
from typing import ClassVar

import pytest

from flows import nightly_consolidation as night_flow
from flows.maintain_horizon import maintain_horizon
from flows.nightly_consolidation import nightly_consolidation
from flows.repair_degraded import repair_degraded
from horizon import open_hive, wiring
from horizon.testing import FixedClock
from tests.flows import homes
from tests.flows.real_prefect import free_port

pytestmark = [pytest.mark.engine, pytest.mark.usefixtures("engine")]

FIRST = date(2026, 8, 1)
NIGHTS = 30
MODES = {10: "refused", 11: "503", 12: "hang", 13: "html", 14: "reset"}
"""How the summarizer fails in the night after which day of the month."""
OVER = max(MODES) + 1
HORIZON = """
[horizon]
actif = true
resumeur = "ollama/qwen3"
budget_net = 330
budget_condense = 420
budget_recit = 3000
delai_secondes = 1
"""
WHO = ("Nadia", "Oumar", "Inès", "Paul", "Marguerite", "Tomás", "Lucie")
DID = (
    "mesure",
    "repeint",
    "commande",
    "vérifie",
    "démonte",
    "photographie",
    "range",
    "livre",
    "soude",
    "chiffre",
    "trie",
)
WHAT = (
    "la culée nord", "un coffrage neuf", "les appuis fixes", "le garde-corps", "trois palettes", "le treuil", "la grue",
    "les cordons", "un devis", "la baraque", "le portail", "vingt boulons", "la passerelle",
)  # fmt: skip


def worked(number):
    """Two sentences about a day's work that no other day of the month repeats."""
    first = f"{WHO[number % 7]} {DID[number % 11]} {WHAT[number % 13]}."
    return f"{first} Puis {WHO[(number + 3) % 7]} {DID[(number * 5 + 2) % 11]} {WHAT[(number * 3 + 6) % 13]} avant la pluie."


@pytest.fixture
def clock(monkeypatch):
    """The clock of all use cases; the scheduled time of nights follows it."""
    clock = FixedClock(datetime.combine(FIRST, time(1), tzinfo=UTC))
    monkeypatch.setattr(wiring, "_CLOCK", clock)

    class Run:
        parameters: ClassVar = {}

        @property
        def scheduled_start_time(self):
            return clock.now()

    monkeypatch.setattr(night_flow, "flow_run", Run())
    return clock


def month(path, server, clock, modes, *runs, nights=NIGHTS):
    """Live a month in the home at `path`, with `runs` each night, and give the states that they ended in, by night."""
    clock.instant = datetime.combine(FIRST, time(1), tzinfo=UTC)
    homes.home(path, more=HORIZON)
    ended = {}
    for number in range(1, nights + 1):
        day = FIRST + timedelta(days=number - 1)
        homes.live(path, day)
        at = datetime.combine(day, time(15), tzinfo=UTC)
        open_hive(path).bee("mia").append(f"Et le chantier du {day} ?", worked(number), at=at)
        clock.instant = datetime.combine(day + timedelta(days=1), time(1, 30), tzinfo=UTC)
        mode = modes.get(number, "deterministic")
        os.environ["OLLAMA_HOST"] = f"http://127.0.0.1:{free_port()}" if mode == "refused" else server.host
        server.switch("503" if mode == "refused" else mode)
        ended[number] = [run([path], return_state=True).name for run in runs]
    return ended


def kept(path):
    facts = [json.loads(line) for line in (path / "memory_facts.jsonl").read_text("utf-8").splitlines()]
    return sorted(fact["text"] for fact in facts), (path / "journal.md").read_text("utf-8")


def test_a_month_with_an_outage_ends_with_the_files_of_one_without(tmp_path, clock, monkeypatch, ollama_server):
    monkeypatch.setenv("OLLAMA_HOST", f"http://127.0.0.1:{ollama_server.port}")
    calm, rough = tmp_path / "calm" / "maison", tmp_path / "rough" / "maison"

    assert set(map(tuple, month(calm, ollama_server, clock, {}, nightly_consolidation).values())) == {("Completed",)}
    ended = month(rough, ollama_server, clock, MODES, maintain_horizon, nightly_consolidation, repair_degraded)

    for number in MODES:
        upkeep, night, repair = ended[number]
        assert upkeep == "Degraded"
        assert night in {"Degraded", "Unavailable"}
        assert repair == "Unavailable"
    assert all(set(ended[number]) <= {"Completed", "NothingToDo"} for number in ended if number > OVER), ended
    assert kept(rough) == kept(calm)
    assert not wiring.degraded(rough, "mia")
    nights = wiring.open_home(rough).nights(FIRST, FIRST + timedelta(days=NIGHTS - 1))
    assert {str(night.state) for night in nights} == {"done"}


def test_one_run_of_repair_by_hand_does_the_same(tmp_path, clock, monkeypatch, ollama_server):
    monkeypatch.setenv("OLLAMA_HOST", f"http://127.0.0.1:{ollama_server.port}")
    home = tmp_path / "maison"
    early = {night - 7: mode for night, mode in MODES.items()}
    month(home, ollama_server, clock, early, maintain_horizon, nightly_consolidation, nights=max(early))
    ollama_server.switch("deterministic")

    state = repair_degraded(homes=[home], return_state=True)

    assert state.name == "Completed", state.message
    nights = wiring.open_home(home).nights(FIRST, FIRST + timedelta(days=max(early) - 1))
    assert {str(night.state) for night in nights} == {"done"}
    assert not wiring.degraded(home, "mia")
