"""A real Prefect server and process workers on 127.0.0.1, with a home and database of their own; nothing is left behind."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

import httpx

from tasks.summarizer import SLOT

ROOT = Path(__file__).parents[2]
START = 180
"""Seconds that a server may take on a busy machine: its first start migrates an empty database."""
RUN = 300
"""Seconds that one run may take from being asked for to its end, waits of the worker included."""
EVERY = 20
"""Seconds between the runs of a test's schedule."""
ENDED = {"COMPLETED", "FAILED", "CRASHED", "CANCELLED"}


class RealPrefect:
    """A server with an API to ask; a context manager that ends all it started, also when a test fails."""

    def __init__(self, place: Path, **env: str) -> None:
        self.place = place
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}/api"
        self.env = os.environ | {
            "PREFECT_HOME": str(place / "prefect"),
            "PREFECT_API_URL": self.url,
            "PREFECT_LOGGING_LEVEL": "INFO",
            "PREFECT_WORKER_QUERY_SECONDS": "3",  # 10 unless set: a run would mostly wait to be found
            "PREFECT_FLOWS_HEARTBEAT_FREQUENCY": "30",
            "PREFECT_LOGGING_TO_API_ENABLED": "true",
            "PYTHONWARNINGS": "default",
            **env,
        }
        self.api = httpx.Client(base_url=self.url, timeout=60, trust_env=False)
        self.server: subprocess.Popen[bytes] | None = None
        self.started: list[subprocess.Popen[bytes]] = []

    def __enter__(self):
        (self.place / "prefect").mkdir(parents=True, exist_ok=True)
        try:
            self.start_server()
        except BaseException:
            self.end_all()
            raise
        return self

    def __exit__(self, *_):
        self.end_all()

    def start_server(self) -> None:
        self.server = self.start(
            "server", "prefect", "server", "start", "--host", "127.0.0.1", "--port", str(self.port)
        )
        self.until(self._healthy, START, "the server's start")

    def _healthy(self) -> bool:
        assert self.server is not None
        assert self.server.poll() is None, self.log("server")
        with contextlib.suppress(httpx.HTTPError):
            return self.api.get("/health").status_code == 200
        return False

    def kill_server(self) -> None:
        assert self.server is not None
        os.killpg(self.server.pid, signal.SIGKILL)
        self.server.wait()

    def kill_runs(self, *ids: str) -> None:
        """Kill the processes of these runs."""
        wanted = [id_.encode() for id_ in ids]
        for process in self.processes():
            with contextlib.suppress(OSError):
                if any(id_ in Path(f"/proc/{process}/environ").read_bytes() for id_ in wanted):
                    os.kill(process, signal.SIGKILL)

    def cut_power(self) -> None:
        """Kill all at once: server, workers, runs."""
        for process in self.processes():
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        for process in self.started:
            process.wait()

    def start_worker(self, name: str) -> subprocess.Popen[bytes]:
        return self.start(name, "prefect", "worker", "start", "--pool", "horizon", "--name", name, "--limit", "4")

    def start(self, name: str, *module: str) -> subprocess.Popen[bytes]:
        """Start `python -m module…` in a process group of its own, SIGINT as in a terminal, its talk in a file."""
        reset = "import runpy, signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler); "
        run = "sys.argv = sys.argv[1:]; runpy.run_module(sys.argv[0], run_name='__main__', alter_sys=True)"
        with (self.place / f"{name}.log").open("ab") as log:
            process = subprocess.Popen(
                [sys.executable, "-c", reset + run, *module],
                cwd=ROOT,
                env=self.env,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self.started.append(process)
        return process

    def command(self, *arguments: str) -> str:
        """Run `python arguments…` in the checkout to its end and return what it said; it must succeed."""
        done = subprocess.run(
            [sys.executable, *arguments],
            cwd=ROOT, env=self.env, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=START, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def set_up(self) -> None:
        """Make the pool, the limit and the automation, or bring them up to date."""
        self.command("-c", "from flows.setup import setup; print(*setup(), sep='\\n')")

    def patience(self, seconds: float) -> None:
        """Take a run for dead after so many seconds without a sign of life, until the next `set_up`."""
        (automation,) = self.ask("/automations/filter")
        automation["trigger"]["within"] = seconds
        kept = ("name", "description", "enabled", "tags", "trigger", "actions")
        self.call("PUT", f"/automations/{automation['id']}", {name: automation[name] for name in kept})

    def slots(self, count: int) -> None:
        """Let so many requests at once reach the summarizer."""
        self.call("PATCH", f"/v2/concurrency_limits/{SLOT}", {"limit": count})

    def deploy(self) -> str:
        """Set up, and deploy all from prefect.yaml, paused: no schedule interferes."""
        self.set_up()
        said = self.command("-m", "prefect", "--no-prompt", "deploy", "--all")
        for deployment in self.ask("/deployments/filter"):
            self.call("PATCH", f"/deployments/{deployment['id']}", {"paused": True})
        return said

    def call(self, method: str, path: str, body: object = None) -> httpx.Response:
        """Ask the API; while it says 503 (its database is locked), ask again, as Prefect's own client does."""
        deadline = time.monotonic() + START
        while (answer := self.api.request(method, path, json=body)).status_code == 503 and time.monotonic() < deadline:
            time.sleep(0.5)
        return answer.raise_for_status()

    def ask(self, path: str, **body: object) -> list[dict]:
        return self.call("POST", path, body).json()

    def run(self, flow: str, **parameters: object) -> dict:
        """Have a worker run a deployment, and return the run when it has ended."""
        return self.ended(self.trigger(flow, **parameters))

    def trigger(self, flow: str, **parameters: object) -> str:
        made = self.call("POST", f"{self._deployment(flow)}/create_flow_run", {"parameters": parameters})
        return made.json()["id"]

    @contextlib.contextmanager
    def scheduled(self, *works: tuple[str, dict[str, object]]):
        """Have deployments run by a schedule of `EVERY` seconds while the block lasts."""
        for flow, parameters in works:
            every = {"interval": EVERY, "anchor_date": datetime.now(UTC).isoformat()}
            self.call("POST", f"{self._deployment(flow)}/schedules", [{"schedule": every, "parameters": parameters}])
            self.call("PATCH", self._deployment(flow), {"paused": False})
        try:
            yield
        finally:
            for flow, _ in works:  # what it scheduled goes with it
                for schedule in self.call("GET", f"{self._deployment(flow)}/schedules").json():
                    if "interval" in schedule["schedule"]:
                        self.call("DELETE", f"{self._deployment(flow)}/schedules/{schedule['id']}")
                self.call("PATCH", self._deployment(flow), {"paused": True})
            self.until(self._quiet, RUN, "the end of what a schedule began")

    def _quiet(self) -> bool:
        """Cancel what waits for its turn; tell whether nothing that a schedule made is under way."""
        under_way = [
            run for run in self.ask("/flow_runs/filter") if run["auto_scheduled"] and run["state_type"] not in ENDED
        ]
        for run in under_way:
            if run["state_type"] == "SCHEDULED":
                self.call("POST", f"/flow_runs/{run['id']}/set_state", {"state": {"type": "CANCELLED"}})
        return not under_way

    def by_schedule(self, flow: str) -> list[dict]:
        """Return the deployment's runs that a schedule began and that have ended, oldest first."""
        runs = self.ask("/flow_runs/filter", flows={"name": {"any_": [flow]}}, sort="START_TIME_ASC")
        return [run for run in runs if run["auto_scheduled"] and run["start_time"] and run["state_type"] in ENDED]

    def _deployment(self, flow: str) -> str:
        return f"/deployments/{self.call('GET', f'/deployments/name/{flow}/{flow}').json()['id']}"

    def flow_run(self, id_: str) -> dict:
        return self.call("GET", f"/flow_runs/{id_}").json()

    def ended(self, id_: str) -> dict:
        return self.until(lambda: (run := self.flow_run(id_))["state_type"] in ENDED and run, RUN, f"the run {id_}")

    def until(self, look, seconds: float, what: str):
        """Return what `look` finds once it is true."""
        deadline = time.monotonic() + seconds
        while not (found := look()):
            assert time.monotonic() < deadline, f"{what} took more than {seconds} s\n{self.log('server')}"
            time.sleep(0.5)
        return found

    def log(self, name: str) -> str:
        path = self.place / f"{name}.log"
        return path.read_text("utf-8", "replace")[-5000:] if path.exists() else ""

    def processes(self) -> list[int]:
        """Return the ids of all processes that have our Prefect home in their environment: what we started, and theirs."""
        mark = f"PREFECT_HOME={self.env['PREFECT_HOME']}".encode()
        found = []
        for entry in Path("/proc").iterdir():
            with contextlib.suppress(OSError):
                if entry.name.isdigit() and mark in (entry / "environ").read_bytes().split(b"\0"):
                    found.append(int(entry.name))
        return found

    def end_all(self) -> None:
        self.api.close()
        for process in self.processes():
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGTERM)
        deadline = time.monotonic() + 10
        while (left := self.processes()) and time.monotonic() < deadline:
            time.sleep(0.2)
        for process in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        for process in self.started:
            process.wait()


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]
