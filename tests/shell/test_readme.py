"""Every command and example of the README and of docs/ runs as printed, in order, in one empty home each.

The README's first two blocks (install with the demo; the tests) are what `.ci/run` itself executes; blocks that need a
Prefect server, or run for ever, are those of `test_serve.py`.
"""

from __future__ import annotations

import os
import re
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from horizon.cli import main

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"^```(sh|python)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
RUN_BY_CI = 2
# 1 is no failure: without a model, what is made is degraded and says so.
STRICT = "trap 'status=$?; [ $status -le 1 ] || exit $status' ERR\nset -u -o pipefail\n"


def blocks(page: Path) -> list[tuple[str, str]]:
    found = BLOCK.findall(page.read_text("utf-8"))
    if page.name == "README.md" and page.parent == ROOT:
        return found[RUN_BY_CI:]
    return found


def prepare(home):
    """Make what a page may take for granted: a hive with a bee, and an agent host's folder."""
    assert main(["init", str(home / "ruche"), "--bee", "mia"]) == 0
    (home / ".openjarvis").mkdir()
    with closing(sqlite3.connect(home / ".openjarvis" / "traces.db")) as database, database:
        database.execute(
            "CREATE TABLE traces (id INTEGER PRIMARY KEY, trace_id TEXT, query TEXT, agent TEXT, model TEXT,"
            " result TEXT, started_at REAL)"
        )
        row = ("t1", "Where is the key?", "simple", "llama3:latest", "Under the mat.", 1_783_670_400.0)
        database.execute(
            "INSERT INTO traces (trace_id, query, agent, model, result, started_at) VALUES (?,?,?,?,?,?)", row
        )


PAGES = [page for page in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))) if blocks(page)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_what_a_page_says_to_type_works(page, tmp_path):
    environment = {
        "HOME": str(tmp_path),
        "PATH": os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"])),
        "TMPDIR": str(tmp_path),
        "LANG": "C.UTF-8",
        "OLLAMA_HOST": "127.0.0.1:9",
        "PREFECT_HOME": str(tmp_path / "prefect"),
        "PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS": "180",
        "DO_NOT_TRACK": "1",
    }
    prepare(tmp_path)
    for language, code in blocks(page):
        command = ["bash", "-c", STRICT + code] if language == "sh" else [sys.executable, "-c", code]
        done = subprocess.run(
            command,
            cwd=tmp_path,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            encoding="utf-8",
            check=False,
        )
        assert done.returncode <= (1 if language == "sh" else 0), f"{code}\n{done.stdout}\n{done.stderr}"


def test_the_first_two_blocks_are_the_set_up_and_the_tests():
    first, second = BLOCK.findall((ROOT / "README.md").read_text("utf-8"))[:RUN_BY_CI]

    assert first[0] == second[0] == "sh"
    assert "requirements.lock" in first[1]
    assert "horizon demo" in first[1]
    assert "pytest" in second[1]
