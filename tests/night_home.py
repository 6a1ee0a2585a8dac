"""A home for tests: a real traces.db of a host's shape, real memory files, and a model that a test scripts."""

from __future__ import annotations

import json
import sqlite3
import zoneinfo
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Any

from horizon.adapters.day_journal import DayJournal
from horizon.adapters.facts_index import FactsIndex
from horizon.adapters.facts_jsonl import FactsJournal
from horizon.adapters.ledger import LedgerFile
from horizon.adapters.scans import survey
from horizon.adapters.traces_sqlite import Traces
from horizon.cascade import Cascade
from horizon.consolidation import Consolidation
from horizon.settings import ConsolidationSettings
from horizon.testing import FixedClock, ScriptedModel

if TYPE_CHECKING:
    from pathlib import Path

PARIS = zoneinfo.ZoneInfo("Europe/Paris")
DAY = date(2026, 7, 9)
MODEL = "ollama/qwen3"
COLUMNS = (
    "id INTEGER PRIMARY KEY AUTOINCREMENT, trace_id TEXT NOT NULL UNIQUE, query TEXT NOT NULL DEFAULT '',"
    " agent TEXT NOT NULL DEFAULT '', model TEXT NOT NULL DEFAULT '', engine TEXT NOT NULL DEFAULT '',"
    " result TEXT NOT NULL DEFAULT '', outcome TEXT, feedback REAL, started_at REAL NOT NULL DEFAULT 0.0,"
    " ended_at REAL NOT NULL DEFAULT 0.0, total_tokens INTEGER NOT NULL DEFAULT 0,"
    " total_latency_seconds REAL NOT NULL DEFAULT 0.0, metadata TEXT NOT NULL DEFAULT '{}', messages TEXT NOT NULL DEFAULT '[]'"
)
MEMORY = ("memory_facts.jsonl", "journal.md", "consolidation.jsonl", "memory.db")


def make_traces(path: Path, columns: str = COLUMNS) -> None:
    with sqlite3.connect(path) as database:
        database.execute("PRAGMA journal_mode=WAL")
        database.execute(f"CREATE TABLE traces ({columns})")
    database.close()


def add_trace(path: Path, question: str, answer: str = "C'est noté.", *, at: Any, **more: Any) -> None:
    values = {"query": question, "result": answer, "started_at": at, "model": "llama3:latest", "agent": "simple"} | more
    with sqlite3.connect(path) as database:
        database.execute(
            f"INSERT INTO traces ({', '.join(values)}) VALUES ({', '.join('?' * len(values))})", tuple(values.values())
        )
    database.close()


def local(
    hour: int, minute: int = 0, *, day: date = DAY, second: float = 0.0, zone: Any = PARIS, fold: int = 0
) -> float:
    whole, part = divmod(second, 1)
    at = datetime(day.year, day.month, day.day, hour, minute, int(whole), tzinfo=zone, fold=fold)
    return at.timestamp() + part


def reply(*facts: tuple[str, list[int], str] | tuple[str, list[int]], resume: str = "La journée fut calme.") -> str:
    items = [{"fait": fact[0], "echanges": fact[1], "citation": fact[2] if len(fact) > 2 else ""} for fact in facts]
    return json.dumps({"faits": items, "resume": resume}, ensure_ascii=False)


@dataclass
class Home:
    path: Path
    model: ScriptedModel = field(default_factory=ScriptedModel)
    clock: FixedClock = field(default_factory=lambda: FixedClock(datetime(2026, 7, 20, 1, 30, tzinfo=UTC)))
    settings: dict[str, Any] = field(default_factory=lambda: {"resumeur": MODEL})
    zone: Any = PARIS
    sources: list[Any] | None = None
    _count: int = 0

    @property
    def traces(self) -> Path:
        return self.path / "traces.db"

    def make(self) -> Home:
        self.path.mkdir(parents=True, exist_ok=True)
        make_traces(self.traces)
        return self

    def live(self, question: str, answer: str = "C'est noté.", *, at: Any, **more: Any) -> str:
        self._count += 1
        id_ = more.pop("trace_id", f"t{self._count}")
        add_trace(self.traces, question, answer, at=at, trace_id=id_, **more)
        return id_

    def night(self, **settings: Any) -> Consolidation:
        sources = self.sources
        if sources is None:
            sources = [Traces(self.traces, side=self.path / ".horizon" / "seen.db", wait=0.3)]
        return Consolidation(
            name=self.path.name,
            sources=sources,
            facts=FactsJournal(self.path / "memory_facts.jsonl", wait=0.3),
            index=FactsIndex(self.path / "memory.db"),
            journal=DayJournal(self.path / "journal.md"),
            ledger=LedgerFile(self.path / "consolidation.jsonl"),
            cascade=lambda: Cascade(self.model, self.clock),
            survey=survey,
            clock=self.clock,
            settings=ConsolidationSettings(**(self.settings | settings)),
            zone=self.zone,
        )

    def says(self, *replies: Any) -> None:
        self.model.replies.extend(replies)

    def bytes(self) -> dict[str, bytes]:
        """Every memory file's bytes; the index by its contents."""
        found = {name: (self.path / name).read_bytes() for name in MEMORY[:3] if (self.path / name).exists()}
        found["memory.db"] = repr(self.indexed()).encode()
        return found

    def facts(self) -> list[dict[str, Any]]:
        path = self.path / "memory_facts.jsonl"
        return [json.loads(line) for line in path.read_bytes().split(b"\n") if line.strip()] if path.exists() else []

    def texts(self) -> list[str]:
        return [fact["text"] for fact in self.facts()]

    def journal(self) -> str:
        path = self.path / "journal.md"
        return path.read_text(encoding="utf-8") if path.exists() else ""

    def indexed(self) -> list[tuple[Any, ...]]:
        path = self.path / "memory.db"
        if not path.exists() or not path.is_file():
            return []
        database = sqlite3.connect(path)
        try:
            rows = database.execute(
                "SELECT rowid, id, content, source, metadata, created_at FROM documents ORDER BY id"
            )
            found = [row[1:] for row in rows]
            matched = database.execute("SELECT count(*) FROM documents_fts").fetchone()[0]
        except sqlite3.Error:
            return []
        finally:
            database.close()
        assert matched == len(found)
        return found

    def ledger(self) -> list[dict[str, Any]]:
        path = self.path / "consolidation.jsonl"
        return [json.loads(line) for line in path.read_bytes().split(b"\n") if line.strip()] if path.exists() else []

    def state(self, day: date = DAY) -> str:
        (night,) = self.night().nights(day, day)
        return str(night.state)
