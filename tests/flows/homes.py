"""Homes for the flow tests: folders with real traces and settings, in the formats of their owners."""

from __future__ import annotations

import json
import sqlite3
from datetime import date, datetime, time, timedelta
from importlib import resources
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

ZONE = ZoneInfo("Europe/Paris")
SCHEMA = """
CREATE TABLE IF NOT EXISTS traces (
  id INTEGER PRIMARY KEY AUTOINCREMENT, trace_id TEXT NOT NULL UNIQUE, query TEXT, agent TEXT, model TEXT, engine TEXT,
  result TEXT, outcome TEXT, feedback REAL, started_at REAL, ended_at REAL, total_tokens INTEGER,
  total_latency_seconds REAL, metadata TEXT, messages TEXT)
"""
SAID = (
    ("Quand dois-je rendre le rapport du pont de Sèvres ?", "Le rapport du pont de Sèvres est à rendre le 14 septembre à Nadia."),
    ("Retiens que je préfère les unités métriques.", "C'est noté, j'utiliserai les unités métriques."),
    ("Qui s'occupe du chantier de Zanzibarville ?", "Le chantier de Zanzibarville est confié à Oumar Kéita."),
)  # fmt: skip
"""Three exchanges of a day; "Zanzibarville" is said nowhere else."""
SETTINGS = """
[consolidation]
fuseau = "Europe/Paris"
langue = "fr"
resumeur = "{summarizer}"
delai_secondes = {seconds}
"""


def home(path: Path, *days: date, summarizer: str = "ollama/qwen3", seconds: int = 20, more: str = "") -> Path:
    """Make a home whose traces.db has `SAID` and one bench exchange on each of `days`, in local time."""
    path.mkdir(parents=True, exist_ok=True)
    (path / "horizon.toml").write_text(SETTINGS.format(summarizer=summarizer, seconds=seconds) + more, "utf-8")
    for day in days:
        live(path, day)
    return path


def conversations(path: Path, first: date, last: date) -> int:
    """Make a home whose traces are real people's talk (the demo's MemoryBank), spread over the days; return how many exchanges."""
    home(path)
    people = json.loads(resources.files("horizon").joinpath("data", "memorybank", "en.json").read_text("utf-8"))
    talks = [talk for person in people.values() for talk in person["history"].values()]
    wanted = (last - first).days + 1
    count = 0
    for number in range(wanted):
        turns = [turn for talk in talks[number::wanted] for turn in talk]
        live(path, first + timedelta(days=number), [(turn["query"], turn["response"]) for turn in turns])
        count += len(turns)
    return count


def live(path: Path, day: date, said: Sequence[tuple[str, str]] = SAID) -> None:
    """Add a day to a home's traces: what was said, spread over it, and one bench exchange."""
    apart = min(7200, 36_000 / (len(said) + 1))
    rows = [(*each, "qwen3") for each in said] + [("2 + 2 ?", "4", "test-model")]
    with sqlite3.connect(path / "traces.db") as db:
        db.execute("PRAGMA journal_mode=WAL")
        db.execute(SCHEMA)
        for number, (question, answer, model) in enumerate(rows):
            at = datetime.combine(day, time(9), tzinfo=ZONE).timestamp() + number * apart
            db.execute(
                "INSERT INTO traces (trace_id, query, agent, model, engine, result, started_at, ended_at, metadata, messages)"
                " VALUES (?, ?, 'mia', ?, 'ollama', ?, ?, ?, '{}', '[]')",
                (f"{day}-{number}", question, model, answer, at, at + 5),
            )
    db.close()


def now() -> datetime:
    return datetime.now(ZONE)


def yesterday() -> date:
    return now().date() - timedelta(days=1)
