"""read(): warm, right after an append, in a fresh process; by the size of the past: `python -m benchmarks.reads`.

The floor is what any memory of that size costs: opening, reading and decoding a ready file of 21 000 characters.
`--million` adds a past of 1 000 000 exchanges (1.5 GB and some minutes to make), `--keep FOLDER` keeps the data.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

from benchmarks import make_traces
from benchmarks.measure import by_turns, cpu, met, microseconds, milliseconds, place, progress, table, wall
from horizon import open_hive, wiring

SETTINGS = '[horizon]\nactif = true\nresumeur = "troncature"\nlangue = "fr"\nfuseau = "Europe/Paris"\n'
FLOOR_CHARS = 21_000
FRESH = """
import sys, time
from horizon import open_hive
start = time.process_time()
view = open_hive(sys.argv[1]).bee("mia").read()
print(time.process_time() - start, view.chars)
"""


def past(folder: Path, count: int) -> Path:
    """Return a hive whose bee has a past of so many exchanges, kept up by our own maintenance in the end."""
    hive = folder / f"past-{count}"
    if not (hive / "horizon.toml").exists():
        progress(f"making a past of {count} exchanges")
        make_traces.past(hive, "mia", count=count)
        (hive / "horizon.toml").write_text(SETTINGS, encoding="utf-8")
    wiring.maintain(hive, "mia")
    return hive


def untouched(folder: Path, count: int) -> Path:
    """Return a hive whose bee has a past of so many exchanges, never maintained."""
    hive = folder / f"untouched-{count}"
    if not (hive / "horizon.toml").exists():
        progress(f"making an untouched past of {count} exchanges")
        make_traces.hive(hive, bees=1, count=count, days=max(count // 40, 1))
        for path in [*hive.rglob("bee-000*")]:
            path.rename(path.with_name(path.name.replace("bee-000", "mia")))
        (hive / "horizon.toml").write_text(SETTINGS, encoding="utf-8")
    return hive


def floor_file(folder: Path) -> str:
    path = folder / "ready.txt"
    evidence = json.loads(
        (Path(__file__).parent.parent / "tests" / "corpus" / "evidence.json").read_text(encoding="utf-8")
    )
    text = "".join(entry["question"] + entry["answer"] for entry in evidence)  # real prose, accents and all
    path.write_text((text * 9)[:FLOOR_CHARS], encoding="utf-8")
    return str(path)


def floor(path: str) -> str:
    fd = os.open(path, os.O_RDONLY)
    try:
        return os.read(fd, os.fstat(fd).st_size).decode()
    finally:
        os.close(fd)


def warm(hive: Path, ready: str) -> tuple[float, float]:
    """Return the seconds of a read() where nothing is new, and of the floor."""
    bee = open_hive(hive).bee("mia")
    bee.read()
    ours, bare = by_turns(bee.read, lambda: floor(ready), times=15, calls=400)
    return ours, bare


def after_append(hive: Path, *, every: int, times: int = 120) -> tuple[float, float]:
    """Return the seconds of a read() right after an append(), maintaining after so many, and the share of the append.

    That is the append's wall time over that of writing and syncing as many bytes, by turns: what the next view needs is
    prepared by the append.
    """
    bee = open_hive(hive).bee("mia")
    bee.read()
    texts = make_traces.Texts(3)
    reads: list[float] = []
    appends: list[float] = []
    bare: list[float] = []
    beside = os.open(hive / "bare", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    for number in range(times):
        if number % every == 0:
            wiring.maintain(hive, "mia")
            bee.read()
        question, answer = texts.question(), texts.text(100, 800)
        appends.append(wall(lambda question=question, answer=answer: bee.append(question, answer, kind="ouvrage")))
        reads.append(cpu(bee.read))
        said = f"{question}{answer}".encode()
        bare.append(wall(lambda said=said: (os.write(beside, said), os.fdatasync(beside))))
    os.close(beside)
    wiring.maintain(hive, "mia")
    return statistics.median(reads), statistics.median(appends) / statistics.median(bare)


def since(hive: Path, count: int = 3) -> float:
    """Return the seconds of the first read() of a process where so many exchanges came after upkeep."""
    texts = make_traces.Texts(4)
    for _ in range(count):
        open_hive(hive).bee("mia").append(texts.question(), texts.text(100, 800), kind="ouvrage")
    [found] = fresh(hive)
    wiring.maintain(hive, "mia")
    return found


def fresh(*hives: Path, times: int = 11) -> list[float]:
    """Return by hive the seconds of the first read() of a process, after its imports; all measured by turns."""

    def first(hive: Path) -> float:
        command = [sys.executable, "-c", FRESH, str(hive)]
        return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()[0])

    found = [[first(hive) for hive in hives] for _ in range(times)]
    return [statistics.median(seconds) for seconds in zip(*found, strict=True)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--million", action="store_true")
    parser.add_argument("--sizes", default="100,1000,10000,100000")
    parser.add_argument("--untouched", default="100,1000,10000,100000")
    parser.add_argument("--keep")
    asked = parser.parse_args()
    sizes = [int(size) for size in asked.sizes.split(",")] + [1_000_000] * asked.million
    with place(asked.keep) as folder:
        ready = floor_file(folder)
        rows = []
        found: dict[int, tuple[float, float, float, float]] = {}
        shares: list[float] = []
        for size in sizes:
            hive = past(folder, size)
            warmed, bare = warm(hive, ready)
            (appended, share), (cut, _), first = (
                after_append(hive, every=3),
                after_append(hive, every=30),
                fresh(hive)[0],
            )
            shares.append(share)
            found[size] = (warmed, appended, first, bare)
            rows.append(
                [f"{size:,}".replace(",", " "), microseconds(warmed), f"{warmed / bare:.2f}", microseconds(appended),
                 f"{appended / bare:.1f}", microseconds(cut), microseconds(first), f"{first / bare:.0f}", microseconds(since(hive))]
            )  # fmt: skip
        table(
            ["exchanges behind it, maintained", "warm", "× floor", "after an append", "× floor", "over budget", "fresh process", "× floor", "3 appended since"],
            rows,
        )  # fmt: skip
        least, most = found[sizes[0]], found[sizes[-1]]
        middle = found.get(10_000, most)
        first, last = fresh(folder / f"past-{sizes[0]}", folder / f"past-{sizes[-1]}", times=25)
        rows = [
            ["warm, nothing new", f"{middle[0] / middle[3]:.2f} × the floor ({microseconds(middle[3])})", "≤ 1.5", met(middle[0] / middle[3], 1.5)],
            ["right after an append", f"{middle[1] / middle[3]:.1f} × the floor", "≤ 5", met(middle[1] / middle[3], 5)],
            ["that append()", f"{statistics.median(shares):.2f} × write + fdatasync", "≤ 1.3", met(statistics.median(shares), 1.3)],
            ["fresh process", f"{middle[2] / middle[3]:.0f} × the floor", "≤ 60", met(middle[2] / middle[3], 60)],
            [f"warm, {sizes[-1]} against {sizes[0]}", f"{most[0] / most[3] / (least[0] / least[3]):.2f} ×", "≤ 1.2", met(most[0] / most[3] / (least[0] / least[3]), 1.2)],
            [f"fresh, {sizes[-1]} against {sizes[0]}", f"{last / first:.2f} ×", "≤ 1.2", met(last / first, 1.2)],
        ]  # fmt: skip
        table(["read()", "measured", "target", "met"], rows)
        rows = []
        for size in [int(each) for each in asked.untouched.split(",") if each]:
            hive = untouched(folder, size)
            warmed, _ = warm(hive, ready)
            rows.append([f"{size:,}".replace(",", " "), microseconds(warmed), milliseconds(fresh(hive, times=5)[0])])
        table(["exchanges behind it, never maintained", "warm", "fresh process"], rows)


if __name__ == "__main__":
    main()
