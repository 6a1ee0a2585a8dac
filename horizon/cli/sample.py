"""The sample hive of the demonstration: two bees and a host's traces.db, filled with dated conversations.

The English ones are real (MemoryBank-SiliconFriend, MIT; `horizon/data/memorybank`): ten days of 2023, whose times of
day were never recorded and are spread over each day in order. The French day is dated yesterday.
"""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from importlib import resources
from typing import TYPE_CHECKING, Any, Final

from horizon.wiring import init_hive, open_hive, open_home

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from horizon.memory import Bee

FIRST_DAY: Final = date(2023, 4, 27)
LAST_DAY: Final = date(2023, 5, 6)
"""The days that the real conversations span, both included."""
KEEPERS: Final = ("Emily", "Frank", "Lucy", "Sunny")
"""The people whose conversations the bee iris has; the others' stand in traces.db."""
STANDING_ORDER: Final = "Always tell me the author of a book that you recommend."

_MORNING: Final = time(8)
_AWAKE: Final = timedelta(hours=13, minutes=30)
_HIVE: Final = """\
# Sample hive of the demonstration.

[horizon]
actif = true

[consolidation]
modele = "{model}"
"""
_BEE: Final = """\
# Sample bee of the demonstration.
modele = "{model}"

[horizon]
actif = true
langue = "{language}"
# The day's conversations stay sharp until they are over budget, whatever the hour of the demonstration.
age_net_heures = 72
"""
_TRACES: Final = """\
CREATE TABLE traces (
    id INTEGER PRIMARY KEY AUTOINCREMENT, trace_id TEXT NOT NULL UNIQUE, query TEXT NOT NULL DEFAULT '',
    agent TEXT NOT NULL DEFAULT '', model TEXT NOT NULL DEFAULT '', engine TEXT NOT NULL DEFAULT '',
    result TEXT NOT NULL DEFAULT '', outcome TEXT, feedback REAL, started_at REAL NOT NULL DEFAULT 0.0,
    ended_at REAL NOT NULL DEFAULT 0.0, total_tokens INTEGER NOT NULL DEFAULT 0,
    total_latency_seconds REAL NOT NULL DEFAULT 0.0, metadata TEXT NOT NULL DEFAULT '{}',
    messages TEXT NOT NULL DEFAULT '[]'
)"""
_INSERT: Final = (
    "INSERT INTO traces (trace_id, query, result, agent, model, started_at, ended_at) VALUES (?,?,?,?,?,?,?)"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """What was made: the hive, and how many exchanges went where (by bee; "traces.db")."""

    hive: Path
    counts: dict[str, int]


def make(folder: Path, *, model: str = "") -> Sample:
    """Make the sample hive in `folder`; `model` ("ollama/…") is the bees' and the night's, none where empty."""
    hive = folder / "ruche"
    init_hive(hive, ("mia", "iris"))
    for name, language in (("mia", "fr"), ("iris", "en")):
        (hive / "bees" / f"{name}.toml").write_text(_BEE.format(model=model, language=language), "utf-8")
    (hive / "horizon.toml").write_text(_HIVE.format(model=model), "utf-8")
    opened = open_hive(hive)
    mia, iris = opened.bee("mia"), opened.bee("iris")
    return Sample(
        hive=hive,
        counts={
            "mia": _live_french_day(mia, open_home(hive).yesterday()),
            "iris": _live_with_keepers(iris),
            "traces.db": _trace_the_others(hive, iris),
        },
    )


def _live_french_day(bee: Bee, day: date) -> int:
    lived: list[dict[str, Any]] = json.loads(_data("french_day.json"))
    for turn in lived:
        bee.append(
            turn["question"],
            turn["reponse"],
            kind=turn["type"],
            tool=turn["outil"],
            at=datetime.combine(day, time.fromisoformat(turn["heure"])),
        )
    return len(lived)


def _live_with_keepers(bee: Bee) -> int:
    turns = sorted(turn for name, turn in _conversations() if name in KEEPERS)
    first = bee.append(STANDING_ORDER, "I will.", at=turns[0][0] - timedelta(minutes=5))
    bee.flag(first.id)
    for at, question, answer in turns:
        bee.append(question, answer, at=at)
    return len(turns) + 1


def _trace_the_others(hive: Path, clock: Bee) -> int:
    """Write a host's traces.db; every twentieth row is bench traffic, which a night must leave out."""
    turns = sorted((turn, name) for name, turn in _conversations() if name not in KEEPERS)
    with closing(sqlite3.connect(hive / "traces.db")) as database, database:
        database.execute(_TRACES)
        for number, ((at, question, answer), name) in enumerate(turns):
            moment = clock.instant(at).timestamp()
            model = "test-model" if number % 20 == 0 else "qwen3:8b"
            row = (f"{name.lower()}-{number}", question, answer, "orchestrator", model, moment, moment + 4.2)
            database.execute(_INSERT, row)
    return len(turns)


def _conversations() -> Iterator[tuple[str, tuple[datetime, str, str]]]:
    """Yield each person's exchanges as (local instant, question, answer)."""
    people: dict[str, dict[str, Any]] = json.loads(_data("memorybank/en.json"))
    for name, person in people.items():
        for day, turns in person["history"].items():
            for number, turn in enumerate(turns):
                at = datetime.combine(date.fromisoformat(day), _MORNING) + _AWAKE * number / len(turns)
                yield name.strip(), (at, turn["query"], turn["response"])


def _data(name: str) -> str:
    return resources.files("horizon").joinpath("data", name).read_text("utf-8")
