"""Where tasks run inside a flow's process, and how many at once (spec 3-orchestration, "Scale").

`HORIZON_RUNNER` chooses: "threads" (the default), "dask" or "ray" (the extras of the same names).
`HORIZON_WIDTH` says how many tasks at once, 4 unless set.
"""

from __future__ import annotations

import os
import threading
from importlib import import_module
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, Final, TypeVar

from prefect.task_runners import TaskRunner, ThreadPoolTaskRunner

from horizon.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from prefect import Task
    from prefect.futures import PrefectFuture

R = TypeVar("R")

RUNNER_VARIABLE: Final = "HORIZON_RUNNER"
WIDTH_VARIABLE: Final = "HORIZON_WIDTH"
WIDTH: Final = 4
"""Bees worked on at once: mostly file work, and more would only wait for the summarizer's one slot."""


RAY_STATISTICS: Final = "RAY_USAGE_STATS_ENABLED"
"""Ray tells its makers how it is used unless this is "0"; nothing of a user's machine leaves it unasked."""

RAY_STORE: Final = 100_000_000
"""Bytes of memory that Ray sets aside for values: near the least that it takes, for ours are counts and ids."""


def width() -> int:
    """Return how many tasks may run at once, at least 1.

    Raises:
        InvalidInput: the variable holds no whole number from 1.
    """
    found = os.environ.get(WIDTH_VARIABLE, "")
    if not found:
        return WIDTH
    if not found.isascii() or not found.isdigit() or int(found) < 1:
        raise InvalidInput(f"{WIDTH_VARIABLE}={found}: a whole number from 1 is allowed")
    return int(found)


def task_runner() -> TaskRunner[Any]:
    """Return the task runner that the environment asks for; its cluster, if any, is on this machine and listens to it only.

    Raises:
        InvalidInput: no such runner, or its extra is not installed.
    """
    name = os.environ.get(RUNNER_VARIABLE, "") or "threads"
    if name == "threads":
        return ThreadPoolTaskRunner[Any](max_workers=width())
    if name not in {"dask", "ray"}:
        raise InvalidInput(f'{RUNNER_VARIABLE}={name}: "threads", "dask" or "ray" is allowed')
    try:
        module = import_module(f"prefect_{name}")
    except ImportError:
        raise InvalidInput(f"{RUNNER_VARIABLE}={name} needs an extra: pip install 'horizon-memory[{name}]'") from None
    if name == "dask":
        return module.DaskTaskRunner(
            cluster_kwargs={"n_workers": width(), "threads_per_worker": 1, "dashboard_address": None}
        )
    os.environ.setdefault(RAY_STATISTICS, "0")
    return module.RayTaskRunner(
        init_kwargs={
            "num_cpus": width(),
            "object_store_memory": RAY_STORE,
            "include_dashboard": False,
            "_node_ip_address": "127.0.0.1",
        }
    )


def fan_out(
    work: Task[..., R], calls: Iterable[Mapping[str, Any]], *, most: int
) -> Iterator[tuple[Mapping[str, Any], R | BaseException]]:
    """Run `work` once for each of `calls` (its keyword arguments), at most `most` at a time; yield as each ends.

    What is yielded is the call and its value, or the error it ended with: one failure stops no other. `calls` is
    drawn lazily, so a run over very many holds only those under way.
    """
    ended: SimpleQueue[tuple[Mapping[str, Any], PrefectFuture[R]]] = SimpleQueue()
    room = threading.Semaphore(most)
    under_way = 0

    def submit(call: Mapping[str, Any]) -> None:
        def on_end(future: PrefectFuture[R]) -> None:
            ended.put((call, future))
            room.release()

        future = work.submit(**call)  # pyright: ignore[reportUnknownMemberType] # an overload of Prefect's lacks types
        future.add_done_callback(on_end)

    for call in calls:
        room.acquire()
        submit(call)
        under_way += 1
        while not ended.empty():
            yield _value(*ended.get())
            under_way -= 1
    while under_way:
        yield _value(*ended.get())
        under_way -= 1


def _value(call: Mapping[str, Any], future: PrefectFuture[R]) -> tuple[Mapping[str, Any], R | BaseException]:
    try:
        return call, future.result(raise_on_failure=False)
    except Exception as error:  # noqa: BLE001 - a cluster's own: the process that ran the task died; one failure stops no other
        return call, error
