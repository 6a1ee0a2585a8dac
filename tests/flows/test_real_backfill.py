"""Sixty days of real conversations, backfilled on a real server: tried, killed, shared, cancelled, and taken once each."""

from __future__ import annotations

from datetime import timedelta

import pytest

from horizon import wiring
from tests.deterministic_model import reply_to
from tests.flows import homes
from tests.flows.real_prefect import RUN
from tests.flows.works import assert_each_day_once
from tests.ollama_behaviour import Behaviour

pytestmark = pytest.mark.engine

DAYS = 60
LAST = homes.yesterday()
FIRST = LAST - timedelta(days=DAYS - 1)
FLOW = "backfill-consolidation"


def states(home):
    return [str(night.state) for night in wiring.open_home(home).nights(FIRST, LAST)]


def sections(home):
    return (home / "journal.md").read_text("utf-8").count("\n## 2")


def test_sixty_days_are_tried_killed_shared_cancelled_and_taken_once_each(prefect, summarizer, tmp_path):
    home = tmp_path / "maison"
    assert homes.conversations(home, FIRST, LAST) == 566
    asked = len(summarizer.requests)
    span = {"home": str(home), "days": {"first": str(FIRST), "last": str(LAST)}}

    # A dry run says what would be done, and how many calls it takes.
    before = {path: path.read_bytes() for path in home.iterdir() if not path.name.startswith((".", "traces.db-"))}
    dry = prefect.run(FLOW, **span, dry_run=True)
    planned = sum(plan.calls for plan in wiring.open_home(home).plans([FIRST + timedelta(days=n) for n in range(DAYS)]))
    assert (dry["state_name"], dry["state"]["message"]) == (
        "DryRun",
        f"days: {DAYS} done; {planned} model calls planned",
    )
    assert {path: path.read_bytes() for path in before} == before
    assert len(summarizer.requests) == asked

    # Killed somewhere: what is done are the oldest days, and the page shows how far it is.
    summarizer.answer(Behaviour(text=reply_to, delay=0.1))
    killed = prefect.trigger(FLOW, **span)
    prefect.until(lambda: states(home).count("done") >= DAYS // 6, RUN, "a sixth of the days")
    prefect.kill_runs(killed)
    assert prefect.ended(killed)["state_type"] == "CRASHED"
    done = states(home).count("done")
    found = states(home)
    assert found[:done] == ["done"] * done
    assert found[done] in {"never", "owed"}, "owed from the attempt on, which is written before the call"
    assert set(found[done + 1 :]) == {"never"}
    assert sections(home) == done
    (bar,) = prefect.ask("/artifacts/filter", artifacts={"flow_run_id": {"any_": [killed]}})
    assert bar["type"] == "progress"
    assert float(bar["data"]) in {100 * shown // DAYS for shown in (done - 1, done)}
    assert bar["description"].endswith(f"of {DAYS} days")

    # Resumed by two at once; one of them is cancelled, and stops within a day's calls.
    both = [prefect.trigger(FLOW, **span) for _ in range(2)]
    prefect.until(lambda: states(home).count("done") >= DAYS // 2, RUN, "half of the days")
    prefect.call("POST", f"/flow_runs/{both[1]}/set_state", {"state": {"type": "CANCELLING"}})
    assert prefect.ended(both[1])["state_type"] == "CANCELLED"
    assert states(home).count("done") < DAYS
    assert set(states(home)) <= {"done", "never", "owed"}

    ended = prefect.ended(both[0])
    if ended["state_name"] == "Busy":  # a day that the cancelled one held when it was passed
        ended = prefect.run(FLOW, **span)
    assert ended["state_name"] == "Completed", ended["state"]["message"]
    assert states(home) == ["done"] * DAYS
    assert_each_day_once(home, DAYS)
    most = max(plan.calls_most for plan in wiring.open_home(home).plans([FIRST, LAST]))
    assert planned <= len(summarizer.requests) - asked <= planned + 2 * most, "no day was read twice"
    assert prefect.run(FLOW, **span)["state"]["message"] == f"days: {DAYS} nothing to do; 0 model calls made"
