"""A night that is killed at any write and run again ends as one undisturbed night (spec 2-consolidation §5)."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_killed_at_each_write_and_run_again_a_night_ends_as_an_undisturbed_one(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "tests.faults.kill_night", str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    calm = found["calm"]
    assert calm["state"] == "done"
    assert "Marie relit tout" in calm["memory_facts.jsonl"]
    assert len(found["killed"]) > 40
    for trial in found["killed"]:
        where = {key: trial.pop(key) for key in ("point", "torn")}
        assert trial == calm, where
