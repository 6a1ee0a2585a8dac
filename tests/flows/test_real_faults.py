"""What kills leave on a real server, in the middle of a night, a backfill and an upkeep at once: nothing half done, nothing
lost, nothing doubled; the next scheduled run goes on."""

from __future__ import annotations

import sqlite3
import threading
import time
from contextlib import closing

import pytest

from tests.deterministic_model import reply_to
from tests.flows import works
from tests.flows.conftest import WORKERS
from tests.flows.hives import hive
from tests.flows.real_prefect import RUN
from tests.ollama_behaviour import Behaviour

pytestmark = pytest.mark.engine

BEES = 40
LOCKED = 5
"""Seconds for which somebody holds Prefect's own database."""
SLOTS = 8
"""A slot for each day and bee that may be at work at once here."""
SILENCE = 70.0
"""Seconds after which a run without a sign of life counts as dead here: two heartbeats of the least that Prefect takes."""


@pytest.fixture
def impatient(prefect):
    """A server that soon takes a silent run for dead."""
    prefect.patience(SILENCE)
    yield
    prefect.set_up()


@pytest.fixture
def under_way(prefect, summarizer, tmp_path):
    """A night, a backfill and an upkeep, each in the middle of a call after its first day or bee; with their runs' ids, and what lets the calls go on."""
    summarizer.answer(reply_to)
    all_ = {
        work.flow: work
        for work in (works.night(tmp_path), works.backfill(tmp_path), works.upkeep(tmp_path, summarizer))
    }
    kept, release = set(), threading.Event()

    def once_and_then_not(body):
        if all_[body["model"]].done():
            kept.add(body["model"])
            release.wait(RUN)
        return reply_to(body)

    summarizer.answer(once_and_then_not)
    prefect.slots(SLOTS)  # so that each is kept waiting by itself
    try:
        ids = [prefect.trigger(flow, **work.parameters) for flow, work in all_.items()]
        prefect.until(lambda: kept == set(all_), RUN, "the second day and bee of each")
        prefect.slots(1)
        assert not any(work.whole() for work in all_.values())
        yield list(all_.values()), ids, release
    finally:
        release.set()
        prefect.slots(1)


def goes_on(prefect, summarizer, all_):
    """Have the schedules of night and upkeep run, and start the backfill again, until all is made; each thing once."""
    summarizer.answer(reply_to)
    night, backfill, upkeep = all_
    with prefect.scheduled((night.flow, night.parameters), (upkeep.flow, upkeep.parameters)):
        again = prefect.run(backfill.flow, **backfill.parameters)
        prefect.until(lambda: night.whole() and upkeep.whole(), RUN, "the next scheduled runs")
        for work in (night, upkeep):
            prefect.until(lambda work=work: prefect.by_schedule(work.flow), RUN, f"the end of a scheduled {work.flow}")
    assert again["state_name"] in {"Completed", "NothingToDo"}, again["state"]["message"]
    for work in all_:
        work.check()


def test_runs_that_were_killed_end_as_crashed_and_the_next_ones_go_on(prefect, summarizer, under_way):
    all_, ids, _ = under_way
    prefect.kill_runs(*ids)

    assert [prefect.ended(id_)["state_type"] for id_ in ids] == ["CRASHED"] * len(ids)
    assert not any(work.whole() for work in all_)
    goes_on(prefect, summarizer, all_)


@pytest.mark.usefixtures("impatient")
def test_after_a_power_cut_the_dead_runs_are_ended_and_the_next_ones_go_on(prefect, summarizer, under_way):
    all_, ids, _ = under_way
    prefect.cut_power()
    left = [work.done() for work in all_]
    prefect.start_server()
    for name in WORKERS:
        prefect.start_worker(name)

    assert [prefect.flow_run(id_)["state_type"] for id_ in ids] == ["RUNNING"] * len(ids)
    goes_on(prefect, summarizer, all_)

    assert [prefect.ended(id_)["state_type"] for id_ in ids] == ["CRASHED"] * len(ids)
    assert all(1 <= count < works.DAYS for count in left)


def test_three_workers_two_backfills_and_forty_bees_share_the_days_and_the_one_slot(prefect, summarizer, tmp_path):
    summarizer.answer(Behaviour(text=reply_to, delay=0.1))
    work = works.backfill(tmp_path)
    bees = hive(tmp_path / "ruche", *(f"bee{n}" for n in range(BEES)), summarizer="ollama/qwen3", exchanges=5)
    asked = len(summarizer.requests)

    ids = [prefect.trigger(work.flow, **work.parameters) for _ in range(2)]
    ids.append(prefect.trigger("maintain-horizon", hives=[str(bees)]))
    ended = [prefect.ended(id_) for id_ in ids]

    assert {run["state_type"] for run in ended} == {"COMPLETED"}, [run["state"]["message"] for run in ended]
    assert ended[-1]["state"]["message"].startswith(f"bees: {BEES} done")
    work.check()
    assert len(summarizer.requests) - asked >= BEES + works.DAYS
    assert summarizer.max_concurrent == 1


@pytest.mark.usefixtures("summarizer")
def test_killed_workers_and_a_locked_database_take_no_run_with_them(prefect, tmp_path):
    work = works.backfill(tmp_path)
    id_ = prefect.trigger(work.flow, **work.parameters)
    prefect.until(work.done, RUN, "the first day")
    for worker in prefect.started[-len(WORKERS) :]:
        worker.kill()
        worker.wait()
    with closing(sqlite3.connect(prefect.place / "prefect" / "prefect.db", timeout=60)) as database:
        database.execute("BEGIN IMMEDIATE")
        time.sleep(LOCKED)

    run = prefect.ended(id_)

    assert run["state_name"] == "Completed", run["state"]["message"]
    work.check()
    for name in WORKERS:
        prefect.start_worker(name)


def test_a_killed_server_and_an_empty_database_lose_nothing(prefect, summarizer, under_way):
    all_, _, release = under_way
    prefect.kill_server()
    begun = [work.done() for work in all_]
    prefect.env["PREFECT_SERVER_DATABASE_CONNECTION_URL"] = f"sqlite+aiosqlite:///{prefect.place}/empty.db"
    prefect.start_server()
    assert not prefect.ask("/deployments/filter")
    prefect.deploy()
    release.set()  # the old runs' processes live on, without a server

    goes_on(prefect, summarizer, all_)

    assert all(before <= work.done() for before, work in zip(begun, all_, strict=True))
