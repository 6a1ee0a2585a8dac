"""What kills and cancels leave on a real server: nothing half done, nothing doubled; the next run goes on."""

from __future__ import annotations

import os
import signal
import sqlite3
import time
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest

from horizon.wiring import open_home
from tests.deterministic_model import reply_to
from tests.flows import homes
from tests.flows.conftest import WORKERS
from tests.flows.hives import hive
from tests.ollama_behaviour import Behaviour

pytestmark = pytest.mark.engine

DAYS = 6
BEES = 40
LOCKED = 5
"""Seconds for which somebody holds Prefect's own database."""


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


@pytest.mark.usefixtures("summarizer")
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


@pytest.mark.usefixtures("summarizer")
def test_a_cancelled_backfill_stops_within_a_day_and_goes_on_later(prefect, home):
    id_ = prefect.trigger("backfill-consolidation", home=str(home), days=span())
    prefect.until(lambda: len(done(home)) >= 1, 120, "the first day")
    prefect.call("POST", f"/flow_runs/{id_}/set_state", {"state": {"type": "CANCELLING"}})

    assert prefect.ended(id_)["state_type"] == "CANCELLED"
    assert len(done(home)) < DAYS

    again = prefect.run("backfill-consolidation", home=str(home), days=span())

    assert again["state_name"] == "Completed", again["state"]["message"]
    assert_each_day_once(home)


def test_three_workers_two_backfills_and_forty_bees_share_the_days_and_the_one_slot(
    prefect, summarizer, home, tmp_path
):
    summarizer.answer(Behaviour(text=reply_to, delay=0.1))
    bees = hive(tmp_path / "ruche", *(f"bee{n}" for n in range(BEES)), summarizer="ollama/qwen3", exchanges=5)
    asked = len(summarizer.requests)

    ids = [prefect.trigger("backfill-consolidation", home=str(home), days=span()) for _ in range(2)]
    ids.append(prefect.trigger("maintain-horizon", hives=[str(bees)]))
    ended = [prefect.ended(id_) for id_ in ids]

    assert {run["state_type"] for run in ended} == {"COMPLETED"}, [run["state"]["message"] for run in ended]
    assert ended[-1]["state"]["message"].startswith(f"bees: {BEES} done")
    assert_each_day_once(home)
    assert len(summarizer.requests) - asked >= BEES + DAYS
    assert summarizer.max_concurrent == 1


@pytest.mark.usefixtures("summarizer")
def test_killed_workers_and_a_locked_database_take_no_run_with_them(prefect, home):
    id_ = prefect.trigger("backfill-consolidation", home=str(home), days=span())
    prefect.until(lambda: len(done(home)) >= 1, 120, "the first day")
    for worker in prefect.started[-len(WORKERS) :]:
        worker.kill()
        worker.wait()
    with closing(sqlite3.connect(prefect.place / "prefect" / "prefect.db", timeout=60)) as database:
        database.execute("BEGIN IMMEDIATE")
        time.sleep(LOCKED)

    run = prefect.ended(id_)

    assert run["state_name"] == "Completed", run["state"]["message"]
    assert_each_day_once(home)
    for name in WORKERS:
        prefect.start_worker(name)


@pytest.mark.usefixtures("summarizer")
def test_a_killed_server_and_an_empty_database_lose_nothing(prefect, home):
    prefect.trigger("backfill-consolidation", home=str(home), days=span())
    prefect.until(lambda: len(done(home)) >= 1, 120, "the first day")
    prefect.kill_server()
    begun = len(done(home))
    prefect.env["PREFECT_SERVER_DATABASE_CONNECTION_URL"] = f"sqlite+aiosqlite:///{prefect.place}/empty.db"
    prefect.start_server()
    assert not prefect.ask("/deployments/filter")
    prefect.deploy()

    again = prefect.run("backfill-consolidation", home=str(home), days=span())

    assert 1 <= begun <= len(done(home))
    assert again["state_name"] in {"Completed", "NothingToDo"}, again["state"]["message"]
    assert_each_day_once(home)


def environment(process):
    try:
        return Path(f"/proc/{process}/environ").read_bytes()
    except OSError:
        return b""
