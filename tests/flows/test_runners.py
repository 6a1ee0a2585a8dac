"""`maintain-horizon` on a local Dask or Ray cluster, by the one setting; run where the extra is installed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from prefect.settings import PREFECT_API_URL

from horizon import open_hive
from tests.deterministic_model import reply_to
from tests.flows.hives import hive
from tests.ollama_behaviour import Behaviour

pytestmark = [pytest.mark.engine, pytest.mark.usefixtures("engine")]

ROOT = Path(__file__).parents[2]
BEES = ("ada", "mia", "zoe")
RUN = """
import sys
from flows.maintain_horizon import maintain_horizon
if __name__ == "__main__":
    state = maintain_horizon(hives=sys.argv[1:], return_state=True)
    print(type(maintain_horizon.task_runner).__name__, state.name, state.message, sep="|")
"""


@pytest.mark.parametrize("name", ["dask", "ray"])
def test_upkeep_runs_on_a_local_cluster_with_one_request_at_a_time(tmp_path, name, ollama_server):
    pytest.importorskip(f"prefect_{name}", reason=f"the extra {name} is not installed here")
    ollama_server.answer(Behaviour(text=reply_to, delay=0.05))
    folder = hive(tmp_path / "ruche", *BEES, summarizer="ollama/qwen3", exchanges=5)
    script = tmp_path / "upkeep.py"
    script.write_text(RUN, "utf-8")
    place = tempfile.mkdtemp(prefix="horizon-ray-", dir="/tmp")  # short: Ray's sockets stand in it
    environment = {
        **os.environ,
        "RAY_TMPDIR": place,
        "HORIZON_RUNNER": name,
        "HORIZON_WIDTH": "2",
        "OLLAMA_HOST": f"http://127.0.0.1:{ollama_server.port}",
        "PREFECT_API_URL": PREFECT_API_URL.value(),
        "PYTHONPATH": str(ROOT),
    }

    try:
        done = subprocess.run(
            [sys.executable, str(script), str(folder)],
            env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, cwd=tmp_path, check=False,
        )  # fmt: skip
    finally:
        shutil.rmtree(place)

    assert done.returncode == 0, done.stdout + done.stderr
    said = done.stdout.splitlines()[-1].split("|")
    assert said == [f"{name.title()}TaskRunner", "Completed", "bees: 3 done; 0 idle in 1 hives"], (
        done.stdout + done.stderr
    )
    assert not any(open_hive(folder).bee(bee).read().gauge.late for bee in BEES)
    assert len(ollama_server.requests) >= len(BEES)
    assert ollama_server.max_concurrent == 1
