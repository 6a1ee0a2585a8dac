"""Run the benchmarks, one after the other, and put their tables in the README: `python -m benchmarks`.

    python -m benchmarks                         all that are done in some minutes
    python -m benchmarks reads appends           only these
    python -m benchmarks --long --peers PYTHON   with pasts and databases of a million, and the peers

Each table stands between two marks in the README; what is not run stays as it was. Run it on a quiet machine.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

README = Path(__file__).with_name("README.md")
QUICK = {
    "recall": [],
    "survival": [],
    "beginnings": [],
    "imports": [],
    "reads": [],
    "appends": [],
    "folds": [],
    "days": ["--all-days"],
    "journal_days": [],
    "nights": [],
    "orchestration": [],
}
LONG = {"reads": ["--million"], "days": ["--all-days", "--million"], "orchestration": ["--long"]}


def put(name: str, tables: str) -> None:
    """Put the tables of a benchmark between its marks in the README."""
    text = README.read_text(encoding="utf-8")
    marks = re.compile(rf"(<!-- {name} -->\n).*?(<!-- end of {name} -->)", re.DOTALL)
    if not marks.search(text):
        raise SystemExit(f"{README} has no place for {name}")
    measured = f"Measured {datetime.now(UTC):%Y-%m-%d}, load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores.\n\n"
    README.write_text(
        marks.sub(lambda found: f"{found[1]}{measured}{tables.strip()}\n{found[2]}", text), encoding="utf-8"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="name", help=", ".join([*QUICK, "peers"]))
    parser.add_argument("--long", action="store_true")
    parser.add_argument("--peers", help="the Python of the peers' environment; see benchmarks/peers.py")
    asked = parser.parse_args()
    runs = {name: [*(LONG.get(name, more) if asked.long else more)] for name, more in QUICK.items()}
    if asked.peers:
        runs["peers"] = ["--python", asked.peers]
    failed: list[str] = []
    for name, more in runs.items():
        if asked.names and name not in asked.names:
            continue
        print(f"== {name}", file=sys.stderr, flush=True)
        done = subprocess.run(
            [sys.executable, "-m", f"benchmarks.{name}", *more], stdout=subprocess.PIPE, text=True, cwd=README.parent.parent, check=False
        )  # fmt: skip
        print(done.stdout, flush=True)
        if done.returncode:
            failed.append(name)
        else:
            put(name, done.stdout)
    if failed:
        raise SystemExit(f"these failed, and their tables stay as they were: {', '.join(failed)}")


if __name__ == "__main__":
    main()
