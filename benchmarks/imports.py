"""What `import horizon` costs, against `python -c pass`, and what it loads: `python -m benchmarks.imports`."""

from __future__ import annotations

import compileall
import re
import subprocess
import sys
from pathlib import Path

from benchmarks.measure import by_turns, child_cpu, met, milliseconds, table

ROOT = Path(__file__).parent.parent
CODES = (
    "pass",
    "import horizon",
    "from horizon import open_hive",
    "import horizon.cli",
    "import sqlite3, json, dataclasses, pathlib, zoneinfo",
)


def cost(*codes: str, times: int = 31) -> list[float]:
    """Return the CPU seconds of a fresh interpreter that runs each of `codes`."""
    return by_turns(
        *[lambda code=code: child_cpu(sys.executable, "-c", code) for code in codes],
        times=times,
        clock=lambda run: run(),
    )


def loaded() -> list[tuple[str, int, float]]:
    """Return what the import loads: packages, how many modules of each, and their own milliseconds, the median."""
    runs: list[dict[str, float]] = []
    for _ in range(9):
        told = subprocess.run(
            [sys.executable, "-X", "importtime", "-c", "from horizon import open_hive"],
            capture_output=True,
            text=True,
            check=True,
        ).stderr
        bare = subprocess.run(
            [sys.executable, "-X", "importtime", "-c", "pass"], capture_output=True, text=True, check=True
        ).stderr
        before = {name for _, name in _times(bare)}
        runs.append({name: own for own, name in _times(told) if name not in before})
    packages: dict[str, list[float]] = {}
    for name in runs[0]:
        own = sorted(run.get(name, 0.0) for run in runs)[len(runs) // 2]
        top = name.partition(".")[0]
        packages.setdefault(".".join(name.split(".")[:2]) if top == "horizon" else top, []).append(own)
    rows = [(name, len(times), sum(times) / 1000) for name, times in packages.items()]
    return sorted(rows, key=lambda row: -row[2])


def _times(told: str) -> list[tuple[int, str]]:
    found = re.finditer(r"^import time:\s+(\d+) \|\s+\d+ \|\s*(\S+)$", told, re.MULTILINE)
    return [(int(each[1]), each[2]) for each in found]


def main() -> None:
    compileall.compile_dir(str(ROOT / "horizon"), quiet=1)  # where bytecode is not written, every import compiles
    bare, ours, acting, command, stdlib = cost(*CODES)
    table(
        ["CPU of a fresh interpreter", "beyond `python -c pass`", "target", "met"],
        [
            ["`pass`", f"– ({milliseconds(bare)} in all)", "", ""],
            ["`import horizon`", milliseconds(ours - bare), "≤ 60 ms", met((ours - bare) * 1e3, 60)],
            [
                "`from horizon import open_hive`: all that appending and reading need",
                milliseconds(acting - bare),
                "≤ 60 ms",
                met((acting - bare) * 1e3, 60),
            ],
            ["`import horizon.cli`", milliseconds(command - bare), "", ""],
            ["`import sqlite3, json, dataclasses, pathlib, zoneinfo`", milliseconds(stdlib - bare), "", ""],
        ],
    )
    rows = loaded()
    small = [row for row in rows if row[2] < 0.8]
    shown = [(f"`{name}`", count, f"{own:.1f}") for name, count, own in rows if own >= 0.8]
    rest = (f"{len(small)} others", sum(row[1] for row in small), f"{sum(row[2] for row in small):.1f}")
    table(["loaded", "modules", "own ms, as `-X importtime` counts"], [*shown, rest])


if __name__ == "__main__":
    main()
