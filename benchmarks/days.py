"""Collecting one day from a traces.db, against one plain SELECT of the needed columns: `python -m benchmarks.days`.

With 100 000 traces; `--million` adds 1 000 000 (7 GB and some minutes to make), `--keep FOLDER` keeps the data. One row
in 2 000 was recorded days after it happened. `--all-days` compares the rows of every day, also while a writer works.
"""

from __future__ import annotations

import argparse
import multiprocessing
import random
import sqlite3
import statistics
import subprocess
import sys
import time
from contextlib import closing
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from benchmarks import make_traces
from benchmarks.measure import by_turns, cpu, met, milliseconds, place, progress, table
from horizon.adapters.traces_sqlite import Traces

if TYPE_CHECKING:
    from multiprocessing.synchronize import Event
    from pathlib import Path

DAYS = 365
NEEDED = "id, trace_id, query, result, agent, model, started_at"
COLLECT = """
import duckdb, polars, sys
from datetime import UTC, datetime
from pathlib import Path
from horizon.adapters.traces_sqlite import Traces

def peak():
    return next(int(line.split()[1]) / 1024 for line in open("/proc/self/status") if line.startswith("VmHWM"))

before = peak()
start, end = (datetime.fromtimestamp(float(at), UTC) for at in sys.argv[2:4])
count = len(list(Traces(Path(sys.argv[1]), side=Path(sys.argv[4])).between(start, end)))
print(count, peak() - before)
"""


def made(folder: Path, count: int) -> Path:
    path = folder / f"traces-{count}.db"
    if not path.exists():
        progress(f"making {count} traces")
        make_traces.traces(path, days=DAYS, per_day=count // DAYS)
    return path


def day(number: int) -> tuple[datetime, datetime]:
    start = datetime.combine(make_traces.FIRST, datetime.min.time(), UTC) + timedelta(days=number)
    return start, start + timedelta(days=1)


def plain(path: Path, number: int) -> list[tuple[object, ...]]:
    """Select the day as one would at first: the needed columns, the range, the order."""
    start, end = (at.timestamp() for at in day(number))
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as database:
        query = f"SELECT {NEEDED} FROM traces WHERE started_at >= ? AND started_at < ? ORDER BY started_at, id"
        return database.execute(query, (start, end)).fetchall()


def collected(path: Path, side: Path, number: int) -> list[tuple[object, ...]]:
    """Collect the day as a night does, as rows to compare; an instant to the microsecond that an exchange holds."""
    return [
        (each.place, each.exchange.id, each.exchange.question, each.exchange.answer, each.agent, each.exchange.model or "", each.exchange.at)
        for each in Traces(path, side=side).between(*day(number))
    ]  # fmt: skip


def expected(path: Path, number: int) -> list[tuple[object, ...]]:
    epoch = datetime(1970, 1, 1, tzinfo=UTC)
    return [(*row[:6], epoch + timedelta(microseconds=round(float(str(row[6])) * 1e6))) for row in plain(path, number)]


def side_of(path: Path) -> Path:
    return path.with_name(f".side-{path.name}")


def first_of_all(path: Path, number: int) -> float:
    side_of(path).unlink(missing_ok=True)
    return cpu(lambda: collected(path, side_of(path), number))


def speed(path: Path, count: int, times: int) -> list[list[object]]:
    numbers = random.Random(1).sample(range(5, DAYS), 5)
    first = statistics.median([first_of_all(path, 180) for _ in range(times)])
    fed, scan = by_turns(
        lambda: [collected(path, side_of(path), number) for number in numbers],
        lambda: plain(path, 180),
        times=times,
    )
    fed /= len(numbers)
    target = 0.05 if count > 500_000 else 0.10
    start, end = (str(at.timestamp()) for at in day(180))
    side_of(path).unlink(missing_ok=True)
    command = [sys.executable, "-c", COLLECT, str(path), start, end, str(side_of(path))]
    peak = float(subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()[1])
    scanned = milliseconds(scan)
    return [
        [f"{count} traces, side file fed", milliseconds(fed), scanned, f"{fed / scan:.3f} ×", f"≤ {target} ×", met(fed / scan, target)],
        [f"{count} traces, the first collection of all", milliseconds(first), scanned, f"{first / scan:.2f} ×", "≤ 1.5 ×", met(first / scan, 1.5)],
        [f"{count} traces, its peak memory beyond interpreter, polars and duckdb", f"{peak:.0f} MB", "–", "–", "≤ 60 MB", met(peak, 60)],
    ]  # fmt: skip


def write(path: Path, stop: Event) -> None:
    """Go on recording traces as the owner does, one in twenty of them late, until told to stop."""
    texts = make_traces.Texts(11)
    now = day(DAYS)[0].timestamp()
    with closing(sqlite3.connect(path, timeout=30, isolation_level=None)) as database:
        while not stop.is_set():
            began = now - texts.dice.random() * (DAYS * 86_400 if texts.dice.random() < 0.05 else 60)
            row = (f"{texts.dice.getrandbits(64):016x}", texts.question(), "server", "qwen3.5:9b", texts.answer(), began, began + 5, 100, 5.0, "[]")  # fmt: skip
            database.execute(make_traces.INSERT, row)
            time.sleep(0.01)


def same_days(path: Path) -> int:
    """Return on how many of the days both give the same rows."""
    return sum(collected(path, side_of(path), number) == expected(path, number) for number in range(DAYS))


def same_days_beside_a_writer(path: Path) -> int:
    """Return on how many days we give the same rows, while a writer works: as those of just before or just after."""
    spawn = multiprocessing.get_context("spawn")
    stop = spawn.Event()
    writer = spawn.Process(target=write, args=(path, stop))
    writer.start()
    same = 0
    try:
        for number in range(DAYS):
            before = expected(path, number)
            ours = collected(path, side_of(path), number)
            after = before if ours == before else expected(path, number)
            same += all(row in ours for row in before) and all(row in after for row in ours)
    finally:
        stop.set()
        writer.join()
    return same


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--million", action="store_true")
    parser.add_argument("--all-days", action="store_true")
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--times", type=int, default=5)
    parser.add_argument("--keep")
    asked = parser.parse_args()
    with place(asked.keep) as folder:
        rows: list[list[object]] = []
        for count in (asked.count, *[1_000_000] * asked.million):
            path = made(folder, count)
            rows += speed(path, count, asked.times)
        table(["collecting one day", "CPU", "one plain SELECT", "ratio", "target", "met"], rows)
        if asked.all_days:
            path = made(folder, asked.count)
            alone, beside = same_days(path), same_days_beside_a_writer(path)
            table(
                ["identical rows, with late rows", "days", "target", "met"],
                [
                    ["at rest", f"{alone} of {DAYS}", DAYS, met(alone, DAYS, least=True)],
                    ["while a writer records a hundred traces a second", f"{beside} of {DAYS}", DAYS, met(beside, DAYS, least=True)],
                ],
            )  # fmt: skip


if __name__ == "__main__":
    main()
