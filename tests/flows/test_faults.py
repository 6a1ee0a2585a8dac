"""Faults in the middle of a night or a backfill: nothing lost, nothing doubled, and the next run goes on."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import time
from datetime import timedelta

import pytest

from flows import nightly_consolidation as night_flow
from flows.backfill_consolidation import backfill_consolidation
from flows.nightly_consolidation import nightly_consolidation
from flows.parameters import Days
from horizon.wiring import open_home
from tests.deterministic_model import reply_to
from tests.flows import homes

pytestmark = [pytest.mark.engine, pytest.mark.usefixtures("engine")]

DAYS = 4
FIRST = homes.yesterday() - timedelta(days=DAYS - 1)
LAST = homes.yesterday()
SPAN = Days(first=FIRST, last=LAST)


@pytest.fixture
def home(tmp_path, monkeypatch, ollama_server):
    monkeypatch.setenv("OLLAMA_HOST", ollama_server.host)
    return homes.home(tmp_path / "maison", *(FIRST + timedelta(days=n) for n in range(DAYS)))


def assert_each_day_once(home):
    assert {str(night.state) for night in open_home(home).nights(FIRST, LAST)} == {"done"}
    headings = [line for line in (home / "journal.md").read_text("utf-8").split("\n") if line.startswith("## ")]
    assert headings == [f"## {FIRST + timedelta(days=n)}" for n in range(DAYS)]
    facts = [line.split('"source"')[0] for line in (home / "memory_facts.jsonl").read_text("utf-8").splitlines()]
    assert len(facts) == len(set(facts)) > 0


def test_a_full_disk_fails_by_name_and_the_next_run_goes_on(home):
    backfill_consolidation(home=home, days=Days(first=FIRST, last=FIRST), return_state=True)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, ((home / "consolidation.jsonl").stat().st_size + 700, hard))
    try:
        full = backfill_consolidation(home=home, days=SPAN, return_state=True)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))

    assert full.name == "Failed"
    assert "1 failed" in full.message

    again = backfill_consolidation(home=home, days=SPAN, return_state=True)

    assert again.name == "Completed", again.message
    assert_each_day_once(home)


def test_a_home_that_disappears_in_the_middle_is_told_and_taken_up_where_it_was(home, ollama_server):
    elsewhere = home.with_name("moved")

    def unplugged(body):
        if len(ollama_server.requests) == 3 and home.is_dir():
            home.rename(elsewhere)
        return reply_to(body)

    ollama_server.answer(unplugged)
    state = backfill_consolidation(home=home, days=SPAN, return_state=True)

    assert state.name == "SourceMissing", state.message
    assert "2 done" in state.message
    assert not home.exists(), "nothing is written where the home was"
    elsewhere.rename(home)
    again = backfill_consolidation(home=home, days=SPAN, return_state=True)
    assert again.name == "Completed", again.message
    assert_each_day_once(home)


def test_a_home_that_is_gone_stops_no_other(home):
    state = nightly_consolidation(homes=[home.with_name("gone"), home], return_state=True)

    assert (state.name, state.message) == ("SourceMissing", f"days: 1 source missing, {DAYS} done")


def test_a_clock_that_was_set_back_takes_no_day_before_its_end(home, monkeypatch):
    later = homes.now() + timedelta(days=3)
    run = type("Run", (), {"scheduled_start_time": later, "parameters": {"homes": [home]}})
    monkeypatch.setattr(night_flow, "flow_run", run)

    state = nightly_consolidation(homes=[home], return_state=True)

    assert (state.name, state.message) == ("Completed", f"days: {DAYS} done")
    assert_each_day_once(home)


def test_another_users_process_on_the_same_folder_shares_the_days(home, tmp_path, ollama_server):
    other = {name: value for name, value in os.environ.items() if not name.startswith("PREFECT_")}
    words = ["backfill", str(home), "--from", str(FIRST), "--to", str(LAST)]
    started = []

    def joined_in_the_middle(body):
        if not started:
            started.append(
                subprocess.Popen(
                    [sys.executable, "-c", "import sys; from horizon.cli import main; sys.exit(main())", *words],
                    env=other | {"HOME": str(tmp_path)},
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                )
            )
        time.sleep(0.5)
        return reply_to(body)

    ollama_server.answer(joined_in_the_middle)
    state = backfill_consolidation(home=home, days=SPAN, return_state=True)
    started[0].wait(60)

    # A day that the other one held throughout is told as busy, and taken by whoever comes next.
    assert state.name in {"Completed", "NothingToDo", "Busy"}, state.message
    assert backfill_consolidation(home=home, days=SPAN, return_state=True).is_completed()
    assert_each_day_once(home)
