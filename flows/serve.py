"""All deployments in one process, for one laptop: `horizon serve`.

They are read from prefect.yaml, the one place that describes them. Where no Prefect server is set (`PREFECT_API_URL` or
a profile), one is started on this machine and stopped at the end; its runs are kept in `PREFECT_HOME`.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Coroutine
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import httpx
import yaml
from prefect import Flow, serve
from prefect.client.schemas.objects import ConcurrencyLimitConfig  # noqa: TC002 - a field's type, read by pydantic
from prefect.schedules import Cron
from prefect.settings import PREFECT_API_URL, temporary_settings
from prefect.types.entrypoint import EntrypointType
from pydantic import BaseModel, Field

from flows.setup import SERVER, setup
from horizon.adapters.clock import zone_called
from horizon.errors import Unavailable

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from prefect.deployments.runner import RunnerDeployment

HOST: Final = "127.0.0.1"
"""The server has no login, so it listens to this machine only."""
PORT: Final = 4200
START_SECONDS: Final = 180
"""How long a server may take to start: its first start migrates an empty database, a minute on a busy laptop."""
STOP_SECONDS: Final = 20
RUNS_AT_ONCE: Final = 2
"""Runs at once on a laptop: a long night does not hold up the bees' upkeep."""


class Schedule(BaseModel):
    """A cron line with its zone."""

    cron: str
    timezone: str
    slug: str


class Deployment(BaseModel):
    """What prefect.yaml says of a deployment, as far as serving needs it."""

    name: str
    entrypoint: str
    version: str
    description: str
    tags: list[str]
    parameters: Annotated[dict[str, object], Field(default_factory=dict)]
    concurrency_limit: ConcurrencyLimitConfig
    schedules: Annotated[list[Schedule], Field(default_factory=list)]


def deployments_file() -> Path:
    """Return the path of prefect.yaml: in the checkout, or beside this file where the package is installed."""
    here = Path(__file__).parent
    return next(path for path in (here.parent / "prefect.yaml", here / "prefect.yaml") if path.is_file())


def deployments() -> list[Deployment]:
    """Return the deployments that prefect.yaml describes, in its order."""
    document = yaml.safe_load(deployments_file().read_text("utf-8"))
    return [Deployment.model_validate(entry) for entry in document["deployments"]]


def served(deployment: Deployment, *, timezone: str | None = None) -> RunnerDeployment:
    """Return `deployment` for serving; its schedules are in `timezone`, where one is given."""
    module, _, name = deployment.entrypoint.rpartition(".")
    flow = getattr(import_module(module), name)
    assert isinstance(flow, Flow)
    made = flow.to_deployment(
        deployment.name,
        version=deployment.version,
        description=deployment.description,
        tags=deployment.tags,
        parameters=deployment.parameters,
        concurrency_limit=deployment.concurrency_limit,
        schedules=[
            Cron(each.cron, timezone=timezone or each.timezone, slug=each.slug) for each in deployment.schedules
        ],
        entrypoint_type=EntrypointType.MODULE_PATH,
    )
    assert not isinstance(made, Coroutine), "it is one in an event loop only"
    return made


def serve_all(say: Callable[[str], None], *, port: int = PORT) -> None:
    """Serve all deployments until interrupted; schedules are in this machine's time zone where it has a name.

    `say` gets lines for people on what was set up, `port` is where a server of our own listens.
    What was scheduled stays scheduled when this ends: nights missed meanwhile are taken at the next start.

    Raises:
        Unavailable: the server could not be started.
    """
    timezone = getattr(zone_called(""), "key", None)
    with _server(port):
        for line in setup():
            say(line)
        serve(
            *(served(deployment, timezone=timezone) for deployment in deployments()),
            pause_on_shutdown=False,
            limit=RUNS_AT_ONCE,
        )


@contextmanager
def _server(port: int) -> Generator[None]:
    """Have a Prefect server: the one that is set, one that already listens here, or a new one until the block ends."""
    if PREFECT_API_URL.value():
        yield
        return
    url = f"http://{HOST}:{port}/api"
    process = None if _answers(url) else _start(url, port)
    os.environ["PREFECT_API_URL"] = url  # runs are processes of their own
    try:
        with temporary_settings({PREFECT_API_URL: url}):
            yield
    finally:
        del os.environ["PREFECT_API_URL"]
        if process is not None:
            process.terminate()
            try:
                process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _start(url: str, port: int) -> subprocess.Popen[bytes]:
    process = subprocess.Popen(  # noqa: S603 - our own interpreter, no shell
        [sys.executable, "-m", "prefect", "server", "start", "--host", HOST, "--port", str(port)],
        env={**SERVER, **os.environ, "PREFECT_API_URL": url},
        stdout=subprocess.DEVNULL,
        start_new_session=True,  # Ctrl-C reaches us alone: the server is stopped last
    )
    deadline = time.monotonic() + START_SECONDS
    while process.poll() is None and time.monotonic() < deadline:
        if _answers(url):
            return process
        time.sleep(0.5)
    process.kill()
    process.wait()
    raise Unavailable(f"no Prefect server could be started at {url}; is port {port} taken? Try another: --port")


def _answers(url: str) -> bool:
    try:
        return httpx.get(f"{url}/health", timeout=2, trust_env=False).status_code == 200
    except httpx.HTTPError:
        return False
