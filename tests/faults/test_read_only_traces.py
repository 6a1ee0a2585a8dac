"""A traces.db in a folder that we may not write to is read all the same, and nothing in it changes (spec 4-formats)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.night_home import add_trace, make_traces

ROOT = Path(__file__).resolve().parents[2]
NOON = 1_783_598_400.0  # 2026-07-09T12:00Z

READ = """
import ctypes, json, os, sys, tempfile
from datetime import UTC, datetime
from pathlib import Path
from horizon.adapters.traces_sqlite import SIDE_FILE, Traces
from horizon.errors import HorizonError
path = Path(sys.argv[1])
if os.getuid() == 0:  # without its capabilities even root is held by the rights of files
    header, none = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
    assert ctypes.CDLL(None).capset(header, none) == 0
try:
    path.with_name("probe").touch()
    may_write = True
except OSError:
    may_write = False
try:
    traces = Traces(path, side=path.with_name(SIDE_FILE))
    lived = traces.between(datetime(2026, 7, 9, tzinfo=UTC), datetime(2026, 7, 10, tzinfo=UTC))
    found = [each.exchange.id for each in lived]
    said = traces.remarks
except HorizonError as error:
    found, said = str(error), None
left = [name for name in os.listdir(tempfile.gettempdir()) if name.startswith("horizon-traces-")]
print(json.dumps({"may_write": may_write, "found": found, "left": left, "said": said}))
"""

WRITE_AND_DIE = """
import os, sqlite3, sys
database = sqlite3.connect(sys.argv[1], isolation_level=None)
database.execute("PRAGMA wal_autocheckpoint = 0")
database.execute(
    "INSERT INTO traces (trace_id, query, result, started_at) VALUES ('in the log', 'q', 'a', ?)", (float(sys.argv[2]),)
)
os._exit(0)
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "temporary").mkdir()
    (tmp_path / "home").mkdir()
    yield tmp_path
    (tmp_path / "home").chmod(0o755)


def read(folder):
    home = folder / "home"
    for path in home.iterdir():
        path.chmod(0o444)
    home.chmod(0o555)
    before = {path.name: path.read_bytes() for path in sorted(home.iterdir())}
    done = subprocess.run(
        [sys.executable, "-c", READ, str(home / "traces.db")],
        cwd=ROOT,
        env=os.environ | {"TMPDIR": str(folder / "temporary")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert not found["may_write"], "the test needs a folder that it may not write to"
    assert found["left"] == [], "the copy is gone afterwards"
    assert {path.name: path.read_bytes() for path in sorted(home.iterdir())} == before
    return found["found"], found["said"] and "was read from a copy" in found["said"][0]


def test_one_that_its_owner_closed_is_read_from_a_copy(folder):
    path = folder / "home" / "traces.db"
    make_traces(path)
    add_trace(path, "q", "a", at=NOON, trace_id="closed")
    assert not path.with_name("traces.db-shm").exists()
    assert read(folder) == (["closed"], True)


@pytest.mark.parametrize("index", [True, False])
def test_one_whose_owner_died_is_read_with_its_log(folder, index):
    path = folder / "home" / "traces.db"
    make_traces(path)
    add_trace(path, "q", "a", at=NOON - 60, trace_id="in the file")
    subprocess.run([sys.executable, "-c", WRITE_AND_DIE, str(path), str(NOON)], check=True)
    assert path.with_name("traces.db-wal").stat().st_size > 0
    if not index:
        path.with_name("traces.db-shm").unlink()
    assert read(folder) == (["in the file", "in the log"], [] if index else True)


def test_one_without_a_log_mode_is_read_in_its_place(folder):
    path = folder / "home" / "traces.db"
    make_traces(path)
    subprocess.run(
        [sys.executable, "-c", "import sqlite3, sys; sqlite3.connect(sys.argv[1]).execute('PRAGMA journal_mode=DELETE')", str(path)],
        check=True,
    )  # fmt: skip
    add_trace(path, "q", "a", at=NOON, trace_id="plain")
    assert read(folder) == (["plain"], [])
