"""One day from the journals of 100 bees, 10 segments each, against `cat` of the same files: `python -m benchmarks.journal_days`.

`known`: with the bounds of the segments known, as any second look finds them. `one pass`: without. And what is kept
beside lines that are broken in every way.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

from benchmarks import make_traces
from benchmarks.measure import by_turns, child_cpu, cpu, met, milliseconds, place, progress, table
from horizon.adapters.days_index import FILE_NAME
from horizon.adapters.hive_days import HiveDays

DAYS = 300
BIG = 90_000_000
READ = """
import sys
from pathlib import Path
from horizon.adapters.clock import SystemClock
from horizon.adapters.journal_jsonl import JournalStore

def peak():
    return next(int(line.split()[1]) / 1024 for line in open("/proc/self/status") if line.startswith("VmHWM"))

before = peak()
store = JournalStore(Path(sys.argv[1]), "mia", SystemClock())
print(sum(1 for _ in store.entries()), peak() - before)
for each in store.oddities():
    print(each.line, each.reason)
"""


def made(folder: Path, bees: int) -> Path:
    hive = folder / f"hive-{bees}"
    if not hive.exists():
        progress(f"making the journals of {bees} bees")
        make_traces.hive(hive, bees=bees, count=5_000, days=DAYS)
    return hive


def collect(hive: Path) -> int:
    start = datetime.combine(make_traces.FIRST, datetime.min.time(), UTC) + timedelta(days=200)
    return sum(1 for _ in HiveDays(hive).between(start, start + timedelta(days=1)))


def forget(hive: Path) -> None:
    (hive / "window" / FILE_NAME).unlink(missing_ok=True)


def unknown(hive: Path) -> float:
    forget(hive)
    return cpu(lambda: collect(hive))


def bad_lines() -> dict[str, bytes]:
    good = json.dumps(
        {"id": "whole", "quand": "2026-03-01T09:00:00+01:00", "question": "Et le miel ?", "reponse": "Il est prêt."}
    )
    line = good.encode()
    return {
        "torn in the middle": line[: len(line) // 2],
        "invalid UTF-8": line.replace(b"miel", b"\xff\xfe"),
        "NUL bytes": b"\0" * 300,
        "an array": b"[1, 2, 3]",
        "100 000 nested brackets": b"[" * 100_000,
        "no question, no answer": b'{"id": "x", "quand": "2026-03-01T09:00:00"}',
        "not JSON": b"Traceback (most recent call last):",
        "a cut of two exchanges": line[:40] + line,
    }  # fmt: skip


def beside_bad_lines(folder: Path) -> list[list[object]]:
    """Return what is kept beside each kind of bad line, each between two good ones; the last kind is one of 90 MB."""
    hive = folder / "bad"
    window = hive / "window"
    window.mkdir(parents=True, exist_ok=True)
    texts = make_traces.Texts(4)
    begun = datetime(2026, 3, 1, tzinfo=UTC)
    goods = [
        make_traces.line_of(each) for each in make_traces.exchanges(texts, 1_000, first=begun, every=timedelta(hours=1))
    ]
    bad = bad_lines()
    big = b'{"id": "big", "quand": "2026-03-01T09:00:00+01:00", "question": "?", "reponse": "' + b"x" * BIG + b'"}'
    with (window / "mia-messages.jsonl").open("wb") as file:
        for number, good in enumerate(goods):
            file.write(good)
            if number < len(bad):
                file.write([*bad.values()][number] + b"\n")
            elif number == len(bad):
                file.write(big + b"\n")
    told = subprocess.run([sys.executable, "-c", READ, str(hive)], check=True, capture_output=True, text=True).stdout
    (kept, memory), *reasons = (line.split(" ", 1) for line in told.splitlines())
    salvaged = 1  # the whole exchange of the cut of two
    wanted = len(goods) + 1 + salvaged
    progress("\n".join(" ".join(reason) for reason in reasons))
    return [
        ["exchanges kept", kept, f"{wanted}: {len(goods)} good ones, one of 90 MB, one after a torn one", met(int(kept), wanted, least=True)],
        ["bad lines told by line and reason", len({line for line, _ in reasons}), len(bad), met(len({line for line, _ in reasons}), len(bad), least=True)],
        ["peak memory beyond the import", f"{float(memory):.0f} MB", "≤ 300 MB", met(float(memory), 300)],
    ]  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bees", type=int, default=100)
    parser.add_argument("--keep")
    parser.add_argument("--times", type=int, default=5)
    asked = parser.parse_args()
    with place(asked.keep) as folder:
        hive = made(folder, asked.bees)
        files = [str(path) for path in sorted((hive / "window").rglob("*-messages*.jsonl"))]
        unknown(hive)
        known, cat, without = by_turns(
            lambda: cpu(lambda: collect(hive)),
            lambda: child_cpu("cat", *files),
            lambda: unknown(hive),
            times=asked.times,
            clock=lambda run: run(),
        )
        size = sum(Path(path).stat().st_size for path in files) / 1e6
        table(
            [f"a day from {asked.bees} bees, 10 segments each ({size:.0f} MB)", "CPU", "`cat`", "ratio", "target", "met"],
            [
                ["segment bounds known", milliseconds(known), milliseconds(cat), f"{known / cat:.2f} ×", "≤ 1 ×", met(known / cat, 1)],
                ["in one pass without", milliseconds(without), milliseconds(cat), f"{without / cat:.1f} ×", "≤ 4 ×", met(without / cat, 4)],
            ],
        )  # fmt: skip
        table(["beside bad lines", "measured", "target", "met"], beside_bad_lines(folder))


if __name__ == "__main__":
    main()
