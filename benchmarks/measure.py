"""How the benchmarks measure: CPU time, medians of several runs, ratios in one run, tables in Markdown.

CPU time of this process counts what the system does for it too. A machine that is busy with other things makes
single runs slower, seldom the median, and hardly the ratio of two medians that were measured by turns.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

MICRO = 1e6
MILLI = 1e3


def cpu(run: Callable[[], object], *, calls: int = 1) -> float:
    """Return the CPU seconds of one call, the mean of so many in a row."""
    start = time.process_time()
    for _ in range(calls):
        run()
    return (time.process_time() - start) / calls


def wall(run: Callable[[], object]) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def by_turns(
    *runs: Callable[[], object], times: int = 9, calls: int = 1, clock: Callable[..., float] = cpu
) -> list[float]:
    """Return the median of each run, all measured by turns, so that a busy moment strikes each of them."""
    found: list[list[float]] = [[] for _ in runs]
    for _ in range(times):
        for run, seconds in zip(runs, found, strict=True):
            seconds.append(clock(run, calls=calls) if clock is cpu else clock(run))
    return [statistics.median(seconds) for seconds in found]


def child_cpu(*command: str, keep: bool = False) -> float:
    """Run a command of its own process to its end and return its CPU seconds; what it prints is dropped."""
    actions = [] if keep else [(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
    pid = os.posix_spawnp(command[0], command, os.environ, file_actions=actions)
    _, status, usage = os.wait4(pid, 0)
    if status:
        raise RuntimeError(f"{command[0]} ended with {os.waitstatus_to_exitcode(status)}")
    return usage.ru_utime + usage.ru_stime


def table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Print a table, and the load of the machine to judge it by."""
    print("| " + " | ".join(head) + " |")
    print("|" + "---|" * len(head))
    for row in rows:
        print("| " + " | ".join(map(str, row)) + " |")
    print(flush=True)


def met(value: float, bound: float, *, least: bool = False) -> str:
    """Tell whether a target is met: at most `bound`, or at least where `least`."""
    return "yes" if (value >= bound if least else value <= bound) else "**no**"


def progress(text: str) -> None:
    """Say on the error stream what is being done: tables alone go to the output."""
    print(text, file=sys.stderr, flush=True)


def milliseconds(seconds: float) -> str:
    return f"{seconds * MILLI:.3g} ms" if seconds * MILLI < 1000 else f"{seconds:.3g} s"


def microseconds(seconds: float) -> str:
    return f"{seconds * MICRO:.0f} µs" if seconds < 1e-3 else milliseconds(seconds)


@contextmanager
def place(keep: str | None) -> Iterator[Path]:
    """Give a folder for the data: `keep`, where it stays for the next run, else a temporary one."""
    if keep:
        Path(keep).mkdir(parents=True, exist_ok=True)
        yield Path(keep)
        return
    with tempfile.TemporaryDirectory(prefix="horizon-benchmark-") as folder:
        yield Path(folder)
