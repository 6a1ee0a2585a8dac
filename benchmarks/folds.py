"""Folding a long past without a snapshot, against reading and parsing its JSON with orjson: `python -m benchmarks.folds`.

Both read the same bytes: the exchanges and the outcomes of one bee. Memory is the peak of a process of its own.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from typing import TYPE_CHECKING

import orjson

from benchmarks.measure import by_turns, child_cpu, met, milliseconds, place, table
from benchmarks.reads import past, untouched
from horizon import wiring
from horizon.adapters.clock import SystemClock
from horizon.adapters.journal_jsonl import JournalStore

if TYPE_CHECKING:
    from pathlib import Path

FOLD = """
import sys
from pathlib import Path
from horizon.adapters.clock import SystemClock
from horizon.adapters.journal_jsonl import JournalStore

def peak():
    return next(int(line.split()[1]) / 1024 for line in open("/proc/self/status") if line.startswith("VmHWM"))

before = peak()
for snapshot in (Path(sys.argv[1]) / "window").glob("*.snapshot"):
    snapshot.unlink()
JournalStore(Path(sys.argv[1]), "mia", SystemClock()).load()
print(peak() - before)
"""
MAINTAIN = """
import sys
from horizon import wiring
report = wiring.maintain(sys.argv[1], "mia")
print(report.evicted, report.melted)
"""


def fold(hive: Path) -> int:
    """Fold without a snapshot; return how many exchanges there were."""
    for snapshot in (hive / "window").glob("*.snapshot"):
        snapshot.unlink()
    return JournalStore(hive, "mia", SystemClock()).load().state.appended


def parse(hive: Path) -> int:
    """Read and parse every line of the journal and of the outcomes; return how many there are."""
    window = hive / "window"
    lines = 0
    for path in [
        *sorted((window / "archive").glob("*.jsonl")),
        window / "mia-messages.jsonl",
        window / "mia-horizon.jsonl",
    ]:
        with path.open("rb") as file:
            for line in file:
                orjson.loads(line)
                lines += 1
    return lines


def memory_of(hive: Path) -> float:
    """Return the MB that folding without a snapshot takes in a process of its own, beyond what its imports do."""
    command = [sys.executable, "-c", FOLD, str(hive)]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--untouched", type=int, default=4_000)
    parser.add_argument("--keep")
    asked = parser.parse_args()
    with place(asked.keep) as folder:
        hive, small = past(folder, asked.count), past(folder, max(asked.count // 10, 100))
        ours, theirs = by_turns(lambda: fold(hive), lambda: parse(hive), times=5)
        memory, less = (memory_of(each) for each in (hive, small))
        more = (memory - less) * 1e6 / (asked.count - max(asked.count // 10, 100))
        table(
            ["folding", "measured", "against", "target", "met"],
            [
                [f"{asked.count} exchanges and their outcomes", milliseconds(ours), f"orjson: {milliseconds(theirs)}, {ours / theirs:.2f} ×", "≤ 3 ×", met(ours / theirs, 3)],
                ["peak memory beyond the import", f"{memory:.1f} MB", f"{less:.1f} MB at a tenth: {more:.0f} bytes an exchange", "an index of ids at most", met(more, 250)],
            ],
        )  # fmt: skip
        for each in (hive, small):
            wiring.maintain(each, "mia")
        rows = []
        for count in (asked.untouched // 4, asked.untouched // 2, asked.untouched):
            fresh = untouched(folder / "passes", count)
            for name in ("mia-horizon.jsonl", "mia-horizon.snapshot"):
                (fresh / "window" / name).unlink(missing_ok=True)
            seconds = child_cpu(sys.executable, "-c", MAINTAIN, str(fresh))
            rows.append([count, milliseconds(seconds), f"{seconds / count * 1e6:.0f} µs"])
        table(["first pass of maintenance, nothing ever maintained before", "CPU", "an exchange"], rows)


if __name__ == "__main__":
    main()
