"""What loading the package, and running a light command, brings along."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

HEAVY = {"prefect", "polars", "duckdb", "ollama", "pydantic", "httpx", "rich", "asyncio", "sqlite3"}
SHOW = "import json, sys; print(json.dumps(sorted({name.partition('.')[0] for name in sys.modules})))"


def loaded_by(code: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\n{SHOW}"], check=True, capture_output=True, text=True, encoding="utf-8"
    )
    return set(json.loads(done.stdout.splitlines()[-1]))


def test_importing_horizon_loads_nothing_heavy():
    loaded = loaded_by("import horizon; horizon.open_hive; horizon.View")

    assert "horizon" in loaded
    assert not loaded & HEAVY
    assert not loaded & {"flows", "tasks"}


@pytest.mark.parametrize("command", [["read", "HIVE", "mia"], ["settings", "HIVE", "mia", "--json"]])
def test_a_light_command_loads_nothing_heavy(tmp_path, command):
    hive = tmp_path / "ruche"
    words = [str(hive) if word == "HIVE" else word for word in command]
    loaded = loaded_by(
        "from horizon.cli import main\n"
        f"assert main(['init', {str(hive)!r}, '--bee', 'mia']) == 0\n"
        f"assert main({words!r}) == 0"
    )

    assert not loaded & HEAVY
    assert not loaded & {"flows", "tasks"}
