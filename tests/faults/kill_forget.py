"""Run as a program: kills forgetting at each of its writes in turn, runs it again, and prints what stands afterwards.

Prints one JSON document: what an undisturbed run leaves, and for each kill point what the rerun leaves, with all that
still holds some of the text.
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Any

from horizon import open_hive, wiring
from tests import remembered_hive
from tests.faults.kill_night import Killer, forked

KEPT = (
    "memory_facts.jsonl",
    "journal.md",
    "consolidation.jsonl",
    "window/mia-horizon.jsonl",
    "window/mia-phares.jsonl",
)


def left(hive: Path, id_: str) -> dict[str, Any]:
    bee = open_hive(hive).bee("mia")
    files = remembered_hive.contents(hive)
    exchange = bee.exchange(id_)
    return {
        "holding": remembered_hive.holding(hive),
        "journal": {name: data.decode() for name, data in files.items() if "-messages" in name and "lock" not in name},
        "kept": {name: files[name].decode() for name in KEPT},
        "view": bee.read().text,
        "exchange": [exchange.at.isoformat(), exchange.question, exchange.answer],
    }


def forget(hive: Path, id_: str, *, matching: bool) -> None:
    named = {"text": "hautes-feuilles"} if matching else {"id_": id_}
    wiring.forgetting(hive, "mia").forget(**named)


def main(folder: Path) -> None:
    origin = folder / "origin"
    id_ = remembered_hive.make(origin)
    calm = folder / "calm"
    shutil.copytree(origin, calm)
    assert forked(lambda: forget(calm, id_, matching=False))
    found: dict[str, Any] = {"calm": left(calm, id_), "killed": []}
    for torn in (False, True):
        point, ended = 0, False
        while not ended:
            point += 1
            hive = folder / "trial"
            shutil.copytree(origin, hive)
            matching = point % 2 == 0

            def work(point: int = point, torn: bool = torn, hive: Path = hive, matching: bool = matching) -> None:
                Killer(point, torn=torn).install()
                forget(hive, id_, matching=matching)

            ended = forked(work)
            readable = open_hive(hive).bee("mia").read().chars  # whatever stands half done, a reader gets a view
            assert forked(lambda hive=hive, matching=matching: forget(hive, id_, matching=matching))
            found["killed"].append({"point": point, "torn": torn, "readable": readable > 0, **left(hive, id_)})
            shutil.rmtree(hive)
    sys.stdout.write(json.dumps(found))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
