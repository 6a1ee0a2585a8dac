"""append(), durable: one writer against a bare write and sync, eight against syncing inside the lock.

    python -m benchmarks.appends

Wall time, since the disk is what is waited for. Every writer appends the same lines; afterwards each line is read
back and counted.
"""

from __future__ import annotations

import argparse
import fcntl
import json
import os
import subprocess
import sys
import time
from pathlib import Path

from benchmarks import make_traces
from benchmarks.measure import by_turns, met, microseconds, place, table, wall
from horizon import open_hive
from horizon.adapters.journal_lines import line_of
from horizon.core.exchange import Exchange

WRITERS = 8


def texts(count: int) -> list[tuple[str, str]]:
    made = make_traces.Texts(5)
    return [(made.question(), made.answer()) for _ in range(count)]


def ours(hive: Path, bee: str, said: list[tuple[str, str]]) -> None:
    mia = open_hive(hive).bee(bee)
    for question, answer in said:
        mia.append(question, answer)


def lines(said: list[tuple[str, str]]) -> list[bytes]:
    at = make_traces.datetime.now(make_traces.UTC)
    return [line_of(Exchange(id=f"{n:016x}", at=at, question=q, answer=a)) for n, (q, a) in enumerate(said)]


def bare(path: Path, written: list[bytes]) -> None:
    """Write and sync each line, with nothing that several writers would need."""
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    for line in written:
        os.write(fd, line)
        os.fdatasync(fd)
    os.close(fd)


def inside(path: Path, written: list[bytes]) -> None:
    """Write and sync each line under the lock, as a careful writer does at first."""
    lock = os.open(path.with_suffix(".lock"), os.O_WRONLY | os.O_CREAT)
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    for line in written:
        fcntl.flock(lock, fcntl.LOCK_EX)
        os.write(fd, line)
        os.fsync(fd)
        fcntl.flock(lock, fcntl.LOCK_UN)
    os.close(fd)
    os.close(lock)


def together(how: str, target: Path, count: int) -> float:
    """Return the seconds that eight writers at once take for `count` lines each."""
    command = [sys.executable, "-m", "benchmarks.appends", "--as", how, "--count", str(count), str(target)]
    writers = [subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) for _ in range(WRITERS)]
    for writer in writers:
        assert writer.stdout is not None
        writer.stdout.readline()  # imported and ready
    for writer in writers:
        assert writer.stdin is not None
        writer.stdin.write(b"\n")
        writer.stdin.flush()
    told = [writer.communicate()[0].split() for writer in writers]
    if any(writer.returncode for writer in writers):
        raise RuntimeError(f"a writer of {how} failed")
    return max(float(end) for _, end in told) - min(float(start) for start, _ in told)


def write_as(how: str, target: Path, count: int) -> None:
    said = texts(count)
    written = lines(said)
    if how == "ours":
        ours(target, "warm", said[:1])
    print("ready", flush=True)
    sys.stdin.readline()
    start = time.monotonic()
    if how == "ours":
        ours(target, "mia", said)
    else:
        inside(target, written)
    print(start, time.monotonic())


def damage(hive: Path, wanted: int) -> tuple[int, int]:
    """Return how many lines are torn, and how many are lost."""
    torn = whole = 0
    for path in [*hive.rglob("mia-messages*.jsonl")]:
        for line in path.read_bytes().split(b"\n")[:-1]:
            try:
                json.loads(line)
                whole += 1
            except ValueError:
                torn += 1
    return torn, wanted - whole


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=250)
    parser.add_argument("--times", type=int, default=7)
    parser.add_argument("--as", dest="how", choices=["ours", "inside"])
    parser.add_argument("target", nargs="?", type=Path)
    asked = parser.parse_args()
    if asked.how:
        write_as(asked.how, asked.target, asked.count)
        return
    with place(None) as folder:
        said = texts(asked.count)
        written = lines(said)
        ours(folder / "one", "warm", said[:1])
        one, floor = by_turns(
            lambda: ours(folder / "one", "mia", said),
            lambda: bare(folder / "bare", written),
            times=asked.times,
            clock=wall,
        )
        turns = range(asked.times)
        found = [
            (together("ours", folder / f"eight-{turn}", asked.count), together("inside", folder / f"inside-{turn}", asked.count))
            for turn in turns
        ]  # fmt: skip
        eight, within = (sorted(times)[len(times) // 2] for times in zip(*found, strict=True))
        damages = [damage(folder / f"eight-{turn}", WRITERS * asked.count) for turn in turns]
        torn, lost = (sum(each) for each in zip(*damages, strict=True))
        table(
            ["append()", "measured", "against", "ratio", "target", "met"],
            [
                ["one writer", microseconds(one / asked.count), f"write + fdatasync: {microseconds(floor / asked.count)}",
                 f"{one / floor:.2f} × its time", "≤ 1.3", met(one / floor, 1.3)],
                ["eight writers", f"{WRITERS * asked.count / eight:.0f} a second", f"flock + fsync inside the lock: {WRITERS * asked.count / within:.0f} a second",
                 f"{within / eight:.2f} × its throughput", "≥ 2", met(within / eight, 2, least=True)],
                ["eight writers", f"{torn} torn, {lost} lost", "–", "–", "0, 0", met(torn + lost, 0)],
            ],
        )  # fmt: skip


if __name__ == "__main__":
    main()
