"""The demonstration, where a model answers: everything is made by it, and what it says to try next works.

(`.ci/run` runs it as the README says, where no model answers.)
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

HORIZON = str(Path(sys.executable).parent / "horizon")


@pytest.mark.engine
def test_the_demonstration_with_a_model(tmp_path, ollama_server):
    environment = {**os.environ, "TMPDIR": str(tmp_path), "OLLAMA_HOST": ollama_server.host}
    done = subprocess.run(
        [HORIZON, "demo", "--json"], env=environment, stdin=subprocess.DEVNULL, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr.decode()
    told = json.loads(done.stdout)

    assert told["summarizer"].startswith("ollama/qwen3")
    for flow in ("backfill-consolidation", "nightly-consolidation"):
        assert told["flows"][flow].startswith("Completed"), told["flows"]
    # A melting of the scripted model may be refused, and is then degraded: both are a truthful end.
    assert told["flows"]["maintain-horizon"].partition(":")[0] in {"Completed", "Degraded"}
    assert len(told["nights"]) == 11
    assert {night["state"] for night in told["nights"]} == {"done"}
    assert told["exchanges"]["mia"] > 10
    assert told["bees"]["iris"]["melted"] > 100
    assert Path(told["hive"]).is_relative_to(tmp_path)
    assert len(told["next"]) == 3
    for command in told["next"]:
        tried = subprocess.run(["bash", "-c", command], env=environment, capture_output=True, check=False)
        assert tried.returncode == 0, (command, tried.stderr.decode())
        assert tried.stdout
