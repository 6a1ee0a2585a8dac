"""End to end on a real Prefect server with a process worker: deployed from prefect.yaml, triggered, looked at through the API."""

from __future__ import annotations

import json

import pytest

from tests.deterministic_model import reply_to
from tests.flows import homes

pytestmark = pytest.mark.engine


def test_a_night_runs_from_its_deployment_and_leaves_its_files_state_and_report(tmp_path, prefect, summarizer):
    day = homes.yesterday()
    home = homes.home(tmp_path / "ruche" / "maison", day)
    summarizer.answer(reply_to)

    run = prefect.run("nightly-consolidation", homes=[str(home)])

    assert (run["state_name"], run["name"]) == ("Completed", f"night {day} · maison"), run["state"]["message"]
    assert "1 done" in run["state"]["message"]
    report = prefect.ask("/artifacts/filter", artifacts={"key": {"any_": ["night-maison"]}})[-1]
    assert f"| {day} | ●\u00a0done | 3 |" in report["data"]
    calendar = prefect.ask("/artifacts/filter", artifacts={"key": {"any_": ["calendar-maison"]}})[-1]
    assert "●" in calendar["data"].split("\n\n")[1]
    tasks = prefect.ask("/task_runs/filter", flow_runs={"id": {"any_": [run["id"]]}})
    assert f"consolidate {day} · maison" in {task["name"] for task in tasks}

    facts = [json.loads(line) for line in (home / "memory_facts.jsonl").read_text("utf-8").splitlines()]
    assert facts
    assert {fact["source"] for fact in facts} == {"consolidation"}
    assert (home / "journal.md").read_text("utf-8").count(f"## {day}\n") == 1
    ledger = [json.loads(line) for line in (home / "consolidation.jsonl").read_text("utf-8").splitlines()]
    assert any(str(day) in json.dumps(row) for row in ledger)

    again = prefect.run("nightly-consolidation", homes=[str(home)])
    assert again["state_name"] == "NothingToDo"

    absent = homes.home(tmp_path / "ruche" / "absent", day, summarizer="ollama/absent")
    away = prefect.run("backfill-consolidation", home=str(absent), days={"first": str(day), "last": str(day)})
    assert (away["state_type"], away["state_name"]) == ("FAILED", "Unavailable")
    assert away["state"]["message"].startswith("days: 1 waiting")
    said = prefect.ask("/logs/filter", logs={"flow_run_id": {"any_": [away["id"]]}})
    assert "Traceback" not in "".join(line["message"] for line in said)

    stored = b"".join(path.read_bytes() for path in (prefect.place / "prefect").rglob("*.db*"))
    assert b"nightly-consolidation" in stored
    assert b"Zanzibarville" not in stored, "memory text reached Prefect's database"
