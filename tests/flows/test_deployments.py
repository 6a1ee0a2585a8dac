"""prefect.yaml, what `setup` makes, and what `serve` serves: one description, and it fits the flows."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
import yaml
from prefect.client.schemas.objects import StateType
from prefect.deployments.runner import EntrypointType
from prefect.settings import get_current_settings

from flows import serve
from flows.setup import AUTOMATION, POOL, SERVER, automation, untuned
from tasks.outcome import ENDINGS, PREVIEW

ROOT = Path(__file__).parents[2]
DOCUMENT = yaml.safe_load((ROOT / "prefect.yaml").read_text("utf-8"))
VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
NAMES = [entry["name"] for entry in DOCUMENT["deployments"]]


def test_all_five_flows_are_deployed_under_their_names():
    assert NAMES == [
        "maintain-horizon",
        "nightly-consolidation",
        "backfill-consolidation",
        "repair-degraded",
        "rebuild-horizon",
    ]


@pytest.mark.parametrize("entry", DOCUMENT["deployments"], ids=NAMES)
def test_a_deployment_says_what_it_is_and_runs_alone_where_it_must(entry):
    assert entry["entrypoint"] == f"flows.{entry['name'].replace('-', '_')}.{entry['name'].replace('-', '_')}"
    assert entry["description"].startswith("**")
    assert entry["version"] == VERSION
    assert "horizon" in entry["tags"], "the automation that ends dead runs knows ours by this tag"
    assert entry["work_pool"]["name"] == POOL
    assert entry["concurrency_limit"]["limit"] >= 1
    for schedule in entry.get("schedules", []):
        assert schedule["slug"]
        ZoneInfo(schedule["timezone"])


@pytest.mark.parametrize("deployment", serve.deployments(), ids=NAMES)
def test_what_is_served_is_what_the_file_describes(deployment):
    served = serve.served(deployment, timezone="Asia/Kathmandu")

    assert served.name == served.flow_name == deployment.name
    assert served.entrypoint == deployment.entrypoint
    assert served.entrypoint_type is EntrypointType.MODULE_PATH
    assert served.description == deployment.description
    assert served.version == VERSION
    assert served.concurrency_limit == deployment.concurrency_limit.limit
    assert [s.schedule.cron for s in served.schedules or []] == [s.cron for s in deployment.schedules]
    assert {s.schedule.timezone for s in served.schedules or []} <= {"Asia/Kathmandu"}
    fields = served._parameter_openapi_schema.properties
    assert set(deployment.parameters) <= set(fields)
    for name, field in fields.items():
        assert field["description"], "the form explains each field"
        assert field["title"][0].isupper(), f"people read a title, not {name}"
        assert field["title"] not in {name, field["description"]}


def test_the_form_asks_for_days_with_a_calendar_and_for_kinds_with_a_list():
    forms = {d.name: serve.served(d)._parameter_openapi_schema for d in serve.deployments()}

    days = forms["backfill-consolidation"].definitions["Days"]["properties"]
    assert {name: (field["title"], field["format"]) for name, field in days.items()} == {
        "first": ("First day", "date"),
        "last": ("Last day", "date"),
    }
    assert forms["backfill-consolidation"].required == ["home", "days"]
    assert forms["rebuild-horizon"].definitions["How"]["enum"] == ["fold", "fresh"]
    assert [name for name, form in forms.items() if form.required] == ["backfill-consolidation", "rebuild-horizon"]


def test_what_setup_says_to_type_gives_a_server_started_elsewhere_its_settings(tmp_path):
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PREFECT_")}
    environment |= {
        "PATH": os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"])),
        "PREFECT_HOME": str(tmp_path / "prefect"),
        "PYTHONPATH": str(ROOT),
    }

    def there(*command):
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
        return done.stdout.strip()

    code = "from prefect.settings import get_current_settings as s; from flows.setup import advice; "
    look = (sys.executable, "-c", code + "print(advice(s().model_dump(mode='json')))")
    before = there(*look)
    _, told = before.split("then: ")
    there("bash", "-c", told)

    assert told.startswith("prefect config set PREFECT_SERVER_")
    assert there(*look) == "those under which SQLite holds"


def test_the_nights_run_at_half_past_three_and_upkeep_every_quarter_of_an_hour():
    crons = {d.name: [s.cron for s in d.schedules] for d in serve.deployments()}

    assert crons["nightly-consolidation"] == ["30 3 * * *"]
    assert crons["maintain-horizon"] == ["*/15 * * * *"]
    assert crons["backfill-consolidation"] == crons["rebuild-horizon"] == []


def test_dead_runs_are_ended_and_ended_runs_are_not():
    made = automation()

    assert made.name == AUTOMATION
    assert made.actions[0].state is StateType.CRASHED
    for name in (*(ending.name for ending in ENDINGS.values()), PREVIEW.name, "Cancelled", "Crashed"):
        assert f"prefect.flow-run.{name}" in made.trigger.expect


def test_a_served_server_is_tuned_as_one_started_in_a_checkout():
    tuning = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["prefect"]["server"]

    assert _flat("PREFECT_SERVER", tuning) == SERVER


def test_a_server_started_elsewhere_is_told_what_it_lacks():
    here = get_current_settings().model_dump(mode="json")
    other = json.loads(json.dumps(here))
    other["server"]["services"]["task_run_recorder"]["batch_size"] = 1
    other["server"]["services"]["db_vacuum"]["enabled"] = ["events"]

    assert not untuned(here), "these tests run in the checkout"
    assert untuned(other) == {
        "PREFECT_SERVER_SERVICES_TASK_RUN_RECORDER_BATCH_SIZE": "200",
        "PREFECT_SERVER_SERVICES_DB_VACUUM_ENABLED": "events,flow_runs",
    }


def _flat(prefix, value):
    if not isinstance(value, dict):
        return {prefix: str(value).lower() if isinstance(value, bool) else str(value)}
    found = {}
    for key, each in value.items():
        found |= _flat(f"{prefix}_{key.upper()}", each)
    return found
