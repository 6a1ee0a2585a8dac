"""`nightly-consolidation`, `backfill-consolidation` and `repair-degraded` over real homes, called as they are."""

from __future__ import annotations

from datetime import timedelta

import pytest

from flows import nightly_consolidation as night_flow
from flows.backfill_consolidation import backfill_consolidation
from flows.nightly_consolidation import expected_day, nightly_consolidation
from flows.parameters import Days
from flows.repair_degraded import repair_degraded
from horizon.wiring import open_home
from tests.deterministic_model import reply_to
from tests.flows import homes
from tests.flows.real_prefect import free_port
from tests.flows.runs import artifact, called, task_runs
from tests.ollama_behaviour import status

pytestmark = [pytest.mark.engine, pytest.mark.usefixtures("engine")]


@pytest.fixture
def answering(monkeypatch, ollama_server):
    monkeypatch.setenv("OLLAMA_HOST", f"http://127.0.0.1:{ollama_server.port}")
    return ollama_server


@pytest.fixture
def away(monkeypatch):
    monkeypatch.setenv("OLLAMA_HOST", f"http://127.0.0.1:{free_port()}")


def back(count):
    return [homes.yesterday() - timedelta(days=days) for days in range(count)]


def sections(home):
    return [line[3:] for line in (home / "journal.md").read_text("utf-8").split("\n") if line.startswith("## ")]


def states(home, first, last):
    return [str(night.state) for night in open_home(home).nights(first, last)]


def files(home):
    return {
        path.name: sorted(path.read_text("utf-8").split("\n")) if path.suffix == ".jsonl" else path.read_text("utf-8")
        for path in (home / "memory_facts.jsonl", home / "journal.md")
    }


@pytest.mark.usefixtures("answering")
def test_a_night_takes_yesterday_first_and_then_what_is_owed_oldest_first(tmp_path):
    yesterday, *older = back(4)
    home = homes.home(tmp_path / "maison", yesterday, *older)

    state = nightly_consolidation(homes=[home], return_state=True)

    assert (state.name, state.message) == ("Completed", "days: 4 done")
    assert called(state) == f"night {yesterday} · maison"
    assert list(task_runs(state, 4)) == [f"consolidate {day} · maison" for day in (yesterday, *sorted(older))]
    assert sections(home) == [str(day) for day in sorted((yesterday, *older))]
    report = artifact(state, "night-maison")
    assert f"| {yesterday} | ●\u00a0done | 3 | 1 |" in report
    assert "Zanzibarville" not in report
    assert artifact(state, "calendar-maison").count("●") == 4 + 1

    again = nightly_consolidation(homes=[home], return_state=True)

    assert (again.name, again.message) == ("NothingToDo", "days: 1 nothing to do")


@pytest.mark.usefixtures("answering")
def test_the_report_shows_the_summary_only_where_the_home_says_so(tmp_path):
    home = homes.home(tmp_path / "maison", homes.yesterday(), more="rapport_resume = true\n")

    state = nightly_consolidation(homes=[home], return_state=True)

    assert "\n> " in artifact(state, "night-maison")


@pytest.mark.usefixtures("answering")
def test_a_first_night_over_years_of_traces_is_bounded_and_says_what_is_left(tmp_path):
    home = homes.home(tmp_path / "maison", *back(5), more="jours_par_nuit = 3\nretour_jours = 4\n")
    oldest = homes.yesterday() - timedelta(days=3 * 365)
    for day in range(0, 3 * 365 - 5, 100):
        homes.live(home, oldest + timedelta(days=day))
    newest = oldest + timedelta(days=1000)

    state = nightly_consolidation(homes=[home], return_state=True)

    told = f"11 older days wait; to take: horizon backfill {home} --from {oldest} --to {newest}"
    assert state.message == f"days: 3 done; 2 more owed, left for the nights to come; {told}"
    assert f"horizon backfill {home} --from {oldest}" in artifact(state, "night-maison").replace("\\", "")
    assert len(sections(home)) == 3

    backfill_consolidation(home=home, days=Days(first=oldest, last=newest), return_state=True)

    assert nightly_consolidation(homes=[home], return_state=True).message == "days: 2 done, 1 nothing to do"


@pytest.mark.usefixtures("answering")
def test_older_days_of_several_homes_are_told_in_their_reports(tmp_path):
    for name in ("a", "b"):
        homes.home(tmp_path / name, homes.yesterday(), homes.yesterday() - timedelta(days=90))

    state = nightly_consolidation(homes=[tmp_path / "a", tmp_path / "b"], return_state=True)

    assert state.message == "days: 2 done; 2 homes have older days that wait for a backfill, see their reports"
    assert "1 older day waits" in artifact(state, "night-b")


@pytest.mark.usefixtures("answering")
def test_ten_days_off_are_taken_oldest_first_within_the_bound_and_by_no_stampede(tmp_path, monkeypatch):
    days = sorted(back(10))
    home = homes.home(tmp_path / "maison", *days)
    states, taken = [], []
    # Whatever Prefect had scheduled meanwhile starts late, all at once, in no order.
    for late in (4, 9, 0, 7):
        at = homes.now() - timedelta(days=late)
        run = type("Run", (), {"scheduled_start_time": at, "parameters": {"homes": [home]}})
        monkeypatch.setattr(night_flow, "flow_run", run)
        states.append(nightly_consolidation(homes=[home], return_state=True))
        taken.append([name.split(" ")[1] for name in task_runs(states[-1], 1)])

    expected = days[-1] - timedelta(days=4)
    rest = [str(day) for day in days if day != expected]
    assert [state.message for state in states] == [
        "days: 7 done; 3 more owed, left for the nights to come",
        "days: 3 done, 1 nothing to do",
        "days: 1 nothing to do",
        "days: 1 nothing to do",
    ]
    assert taken[0] == [str(expected), *rest[:6]]
    assert taken[1][1:] == rest[6:]
    assert sections(home) == [str(day) for day in days]


@pytest.mark.usefixtures("answering")
def test_missed_nights_are_taken_by_whichever_late_run_starts_first(tmp_path, monkeypatch):
    home = homes.home(tmp_path / "maison", *back(3))
    scheduled = homes.now() - timedelta(days=2)
    monkeypatch.setattr(night_flow, "flow_run", type("Run", (), {"scheduled_start_time": scheduled, "parameters": {}}))

    first = nightly_consolidation(homes=[home], return_state=True)
    second = nightly_consolidation(homes=[home], return_state=True)

    assert expected_day(home, scheduled) == homes.yesterday() - timedelta(days=2)
    assert first.message == "days: 3 done"
    assert second.name == "NothingToDo"


@pytest.mark.usefixtures("away")
def test_with_the_summarizer_away_only_yesterday_is_taken_and_the_rest_waits(tmp_path):
    home = homes.home(tmp_path / "maison", *back(3))

    state = nightly_consolidation(homes=[home], return_state=True)

    assert state.name == "Unavailable"
    assert state.message == "days: 2 waiting, 1 degraded"
    assert sections(home) == [str(homes.yesterday())]
    assert "out of reach" in artifact(state, "night-maison")


def test_when_it_is_back_repair_makes_all_good_and_the_files_equal_those_of_a_month_without_outage(
    tmp_path, answering, monkeypatch
):
    days = sorted(back(4))
    calm = homes.home(tmp_path / "calm" / "maison", *days)
    rough = homes.home(tmp_path / "rough" / "maison", *days)
    backfill_consolidation(home=calm, days=Days(first=days[0], last=days[-1]), return_state=True)
    monkeypatch.setenv("OLLAMA_HOST", f"http://127.0.0.1:{free_port()}")
    nightly_consolidation(homes=[rough], return_state=True)
    assert repair_degraded(homes=[rough], return_state=True).name == "Unavailable"

    monkeypatch.setenv("OLLAMA_HOST", f"http://127.0.0.1:{answering.port}")
    repaired = repair_degraded(homes=[rough], return_state=True)

    assert repaired.name == "Completed", repaired.message
    assert list(task_runs(repaired, 1)) == [f"consolidate {days[-1]} · maison"], "what nobody tried is for the nights"
    assert nightly_consolidation(homes=[rough], return_state=True).message == "days: 3 done, 1 nothing to do"
    assert states(rough, days[0], days[-1]) == ["done"] * 4
    assert [texts(line) for line in files(rough)["memory_facts.jsonl"]] == [
        texts(line) for line in files(calm)["memory_facts.jsonl"]
    ]
    assert files(rough)["journal.md"] == files(calm)["journal.md"]
    assert repair_degraded(homes=[rough], return_state=True).name == "NothingToDo"


def texts(line):
    """A fact without the instant at which it was written."""
    return line.split('"created_at"')[0]


def test_the_circuit_opens_after_three_days_out_of_reach(tmp_path, answering):
    days = sorted(back(6))
    home = homes.home(tmp_path / "maison", *days)
    answering.answer(status(503))

    state = backfill_consolidation(home=home, days=Days(first=days[0], last=days[-1]), return_state=True)

    assert state.message.startswith("days: 3 waiting, 3 degraded")
    asked = len(answering.requests)
    answering.answer(reply_to)
    assert asked <= 2 * 3 * 2, "a server that is busy is not hammered"


def test_a_backfill_is_resumable_says_how_far_it_is_and_can_be_forced(tmp_path, answering):
    days = sorted(back(3))
    home = homes.home(tmp_path / "maison", *days)
    span = Days(first=days[0] - timedelta(days=1), last=days[-1])
    backfill_consolidation(home=home, days=Days(first=days[0], last=days[0]), return_state=True)
    before = files(home)

    dry = backfill_consolidation(home=home, days=span, dry_run=True, return_state=True)

    assert dry.name == "DryRun"
    assert "2 done, 2 nothing to do" in dry.message
    assert "model calls planned" in dry.message
    assert files(home) == before

    state = backfill_consolidation(home=home, days=span, return_state=True)

    assert state.name == "Completed"
    assert state.message.startswith("days: 2 done, 2 nothing to do; ")
    assert called(state) == f"backfill {span.first} to {span.last} · maison"
    assert list(task_runs(state, 2)) == [f"consolidate {day} · maison" for day in days[1:]], "no task for what is done"
    assert "Nothing to do on 2 days" in artifact(state, "night-maison")
    assert float(artifact(state, "backfill-maison")) == 100.0
    asked = len(answering.requests)

    forced = backfill_consolidation(home=home, days=span, force=True, return_state=True)

    assert forced.message.startswith("days: 3 done, 1 nothing to do")
    assert len(answering.requests) > asked
    assert len(sections(home)) == 3


def test_days_in_the_wrong_order_are_refused(tmp_path):
    state = backfill_consolidation(home=tmp_path, days={"first": "2026-08-02", "last": "2026-08-01"}, return_state=True)

    assert state.is_failed()
    assert "is before the first" in state.message


@pytest.mark.usefixtures("answering")
def test_one_homes_failure_stops_no_other(tmp_path):
    empty = tmp_path / "vide"
    empty.mkdir()
    home = homes.home(tmp_path / "maison", homes.yesterday())

    state = nightly_consolidation(homes=[empty, home], return_state=True)

    assert state.name == "SourceMissing"
    assert state.message == "days: 1 source missing, 1 done"


def test_a_night_by_excerpt_because_nobody_named_a_summarizer_says_so_everywhere(tmp_path, answering):
    days = back(3)
    home = homes.home(tmp_path / "maison", *days, summarizer="troncature")

    state = nightly_consolidation(homes=[home], return_state=True)

    assert (state.type, state.name) == ("COMPLETED", "Excerpt")
    assert state.message == "days: 3 by excerpt (no summarizer configured)"
    report = artifact(state, "night-maison")
    assert f"| {days[0]} | ◔\u00a0excerpt | 3 |" in report
    assert "**No summarizer is configured**: 3 of these days stand by excerpt" in report
    assert artifact(state, "calendar-maison").count("◔") == 3 + 1
    assert repair_degraded(homes=[home], return_state=True).name == "NothingToDo"
    assert nightly_consolidation(homes=[home], return_state=True).name == "NothingToDo"
    assert not answering.requests

    homes.home(home)

    assert nightly_consolidation(homes=[home], return_state=True).message == "days: 3 done"
