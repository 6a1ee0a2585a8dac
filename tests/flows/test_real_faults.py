"""What kills and cancels leave on a real server: nothing half done, nothing doubled; the next run goes on."""

from __future__ import annotations

import os
import signal
from datetime import timedelta
from pathlib import Path

import pytest

from horizon.wiring import open_home
from tests.deterministic_model import reply_to
from tests.flows import homes
from tests.flows.real_prefect import RealPrefect
from tests.ollama_behaviour import Behaviour
from tests.ollama_server import OllamaServer

pytestmark = pytest.mark.engine

DAYS = 6
SLOW = 1.0
"""Seconds that the summarizer takes for each answer, so that a run can be met in the middle."""


@pytest.fixture(scope="module")
def slow_server():
    with OllamaServer() as server:
        server.answer(Behaviour(text=reply_to, delay=SLOW))
        yield server
        assert not server.violations, server.violations


@pytest.fixture(scope="module")
def prefect(tmp_path_factory, slow_server):
    place = tmp_path_factory.mktemp("prefect")
    with RealPrefect(place, OLLAMA_HOST=f"http://127.0.0.1:{slow_server.port}") as prefect:
        prefect.deploy()
        prefect.start_worker("w1")
        prefect.start_worker("w2")
        yield prefect


@pytest.fixture
def home(tmp_path):
    return homes.home(tmp_path / "maison", *(homes.yesterday() - timedelta(days=back) for back in range(DAYS)))


def span():
    return {"first": str(homes.yesterday() - timedelta(days=DAYS - 1)), "last": str(homes.yesterday())}


def done(home):
    last = homes.yesterday()
    return [
        night.day for night in open_home(home).nights(last - timedelta(days=DAYS - 1), last) if night.state == "done"
    ]


def assert_each_day_once(home):
    assert len(done(home)) == DAYS
    lines = (home / "journal.md").read_text("utf-8").split("\n")
    headings = [line for line in lines if line.startswith("## ")]
    assert headings == sorted(set(headings))
    assert len(headings) == DAYS
    facts = (home / "memory_facts.jsonl").read_text("utf-8").splitlines()
    texts = [line.split('"source"')[0] for line in facts]
    assert len(texts) == len(set(texts))


def test_a_run_killed_in_the_middle_is_simply_started_again_and_gives_back_the_slot(prefect, home):
    id_ = prefect.trigger("backfill-consolidation", home=str(home), days=span())
    prefect.until(lambda: len(done(home)) >= 1, 120, "the first day")
    for process in prefect.processes():
        if id_.encode() in environment(process):
            os.kill(process, signal.SIGKILL)

    killed = prefect.ended(id_)
    assert killed["state_type"] == "CRASHED"
    assert 1 <= len(done(home)) < DAYS

    again = prefect.run("backfill-consolidation", home=str(home), days=span())

    assert again["state_name"] == "Completed", again["state"]["message"]
    assert_each_day_once(home)


def test_a_cancelled_backfill_stops_within_a_day_and_goes_on_later(prefect, home):
    id_ = prefect.trigger("backfill-consolidation", home=str(home), days=span())
    prefect.until(lambda: len(done(home)) >= 1, 120, "the first day")
    prefect.api.post(f"/flow_runs/{id_}/set_state", json={"state": {"type": "CANCELLING"}}).raise_for_status()

    assert prefect.ended(id_)["state_type"] == "CANCELLED"
    assert len(done(home)) < DAYS

    again = prefect.run("backfill-consolidation", home=str(home), days=span())

    assert again["state_name"] == "Completed", again["state"]["message"]
    assert_each_day_once(home)


def test_two_backfills_at_once_share_the_days_and_the_one_slot(prefect, slow_server, home):
    slow_server.max_concurrent = 0

    ids = [prefect.trigger("backfill-consolidation", home=str(home), days=span()) for _ in range(2)]
    ended = [prefect.ended(id_) for id_ in ids]

    assert {run["state_type"] for run in ended} == {"COMPLETED"}, [run["state"]["message"] for run in ended]
    assert_each_day_once(home)
    assert slow_server.max_concurrent == 1


def environment(process):
    try:
        return Path(f"/proc/{process}/environ").read_bytes()
    except OSError:
        return b""
