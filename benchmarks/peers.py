"""read() against what others do for a chat's memory, 10 000 exchanges behind it: `python -m benchmarks.peers --python PEERS`.

PEERS is the Python of an environment that has the peers and nothing of ours:

    python -m venv /tmp/peers && /tmp/peers/bin/pip install langchain-core langgraph langgraph-checkpoint-sqlite

langchain-core's `trim_messages` with its approximate counter keeps the newest messages of a history in memory;
LangGraph's SQLite checkpointer loads a thread's state, and the last turn is read from it. CPU, medians, one run.
"""

from __future__ import annotations

import argparse
import json
import subprocess
from pathlib import Path

from benchmarks.measure import by_turns, met, microseconds, milliseconds, place, table
from benchmarks.reads import past
from horizon import open_hive
from horizon.adapters.clock import SystemClock
from horizon.adapters.journal_jsonl import JournalStore


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", required=True, help="the Python of the peers' environment")
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--keep")
    asked = parser.parse_args()
    with place(asked.keep) as folder:
        hive = past(folder, asked.count)
        messages = folder / "messages.json"
        told = [
            {"role": role, "content": text}
            for entry in JournalStore(hive, "mia", SystemClock()).entries()
            for role, text in (("user", entry.exchange.question), ("assistant", entry.exchange.answer))
        ]
        messages.write_text(json.dumps(told), encoding="utf-8")
        checkpoints = folder / "checkpoints"
        checkpoints.mkdir(exist_ok=True)
        (checkpoints / "checkpoints.db").unlink(missing_ok=True)
        script = Path(__file__).with_name("peer_reads.py")
        answer = subprocess.run(
            [asked.python, str(script), str(messages), str(checkpoints)],
            check=True, capture_output=True, text=True,
        ).stdout  # fmt: skip
        theirs = json.loads(answer)
        bee = open_hive(hive).bee("mia")
        bee.read()
        (ours,) = by_turns(bee.read, times=15, calls=400)
        rows = [
            [name, milliseconds(theirs[key]), microseconds(ours), f"{theirs[key] / ours:,.0f} times".replace(",", " "), f"≥ {least}", met(theirs[key] / ours, least, least=True)]
            for name, key, least in (("langchain-core `trim_messages`", "trim", 1_000), ("LangGraph, SQLite checkpointer", "load", 10_000))
        ]  # fmt: skip
        table(
            [f"read, {asked.count} exchanges behind it", "CPU", "read() warm", "read() is faster", "target", "met"],
            rows,
        )


if __name__ == "__main__":
    main()
