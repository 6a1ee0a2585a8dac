"""Data for the benchmarks, the same for the same arguments: `python -m benchmarks.make_traces --help`.

    traces  OUT.db   an agent host's traces.db: so many days, so many traces a day, some of them recorded late
    hive    FOLDER   bees with integral journals in segments of 500, nothing ever maintained
    bee     FOLDER   one bee with a long past, maintained as it went
    facts   OUT      a memory_facts.jsonl

Texts are cut out of one long stretch of made-up French, English and code: questions of 20 to 500 characters, answers
of 100 to 8 000, both spread evenly by their logarithm, as chats are.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import sqlite3
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from horizon.adapters.bee_files import files_of
from horizon.adapters.journal_lines import line_of
from horizon.adapters.outcome_lines import fields_line, outcome_fields
from horizon.core.event import Cause, Condensed, Evicted, Narrated, Section, Word
from horizon.core.exchange import Exchange

if TYPE_CHECKING:
    from collections.abc import Iterator

SEED = 7_919
FIRST = date(2025, 9, 1)
SEGMENT = 500
MODELS = ("qwen3.5:9b", "qwen3.5:9b", "llama3:latest", "gemma3:12b", "claude-opus")
AGENTS = ("server", "server", "orchestrator", "simple", "voice")
BENCH_SHARE = 0.05
VOCABULARY = """
la le les un une des du et en que qui dans pour avec sur plus pas mais ou donc car si nous vous je elle
ruche colonie reine essaim cadre miel pollen nectar verger prairie tilleul lavande récolte hausse extracteur
réunion projet facture client mémoire échéance serveur sauvegarde requête colonne index correctif déploiement
demain hier lundi vendredi matin soir semaine mois toujours jamais souvent bientôt merci bonjour peux-tu retiens
the a of to and in for with on is was that this from when never always please report draft check invoice meeting
return value error trace async thread lock commit branch merge build test cache query index table row column
`make test` src/main.py tests/test_view.py v2.14.3 https://example.org/guide 3,5 kg 42 % 18:30 n° 1024 #4711
""".split()  # noqa: SIM905 - a hundred quoted words are harder to read and to change


@dataclass(slots=True)
class Texts:
    """Texts of a seed."""

    seed: int = SEED
    dice: random.Random = field(init=False)
    _stretch: str = field(init=False)

    def __post_init__(self) -> None:
        self.dice = random.Random(self.seed)
        rare = ["".join(self.dice.choices("aeioulnrstmcdpévbq", k=self.dice.randint(4, 11))) for _ in range(8_000)]
        sentences: list[str] = []
        for _ in range(16_000):
            words = [
                self.dice.choice(rare) if self.dice.random() < 0.2 else self.dice.choice(VOCABULARY)
                for _ in range(self.dice.randint(5, 20))
            ]
            sentences.append(" ".join(words).capitalize() + self.dice.choice((". ", ". ", " ? ", " ! ", ".\n")))
        self._stretch = "".join(sentences)

    def text(self, least: int, most: int) -> str:
        """Return a text of a length between the two, small ones as likely as large ones by their logarithm."""
        length = int(math.exp(self.dice.uniform(math.log(least), math.log(most))))
        start = self.dice.randrange(len(self._stretch) - length)
        return self._stretch[start : start + length]

    def question(self) -> str:
        return self.text(20, 500)

    def answer(self) -> str:
        return self.text(100, 8_000)

    def second(self) -> float:
        """Return a time of day in seconds: mornings and evenings are the busiest."""
        hour = self.dice.gauss(10.5, 2.0) if self.dice.random() < 0.5 else self.dice.gauss(19.5, 2.2)
        return min(max(hour, 0.0), 23.99) * 3600


_TABLES = """
CREATE TABLE traces (id INTEGER PRIMARY KEY AUTOINCREMENT, trace_id TEXT NOT NULL UNIQUE, query TEXT NOT NULL DEFAULT '',
  agent TEXT NOT NULL DEFAULT '', model TEXT NOT NULL DEFAULT '', engine TEXT NOT NULL DEFAULT '',
  result TEXT NOT NULL DEFAULT '', outcome TEXT, feedback REAL, started_at REAL NOT NULL DEFAULT 0.0,
  ended_at REAL NOT NULL DEFAULT 0.0, total_tokens INTEGER NOT NULL DEFAULT 0,
  total_latency_seconds REAL NOT NULL DEFAULT 0.0, metadata TEXT NOT NULL DEFAULT '{}',
  messages TEXT NOT NULL DEFAULT '[]');
"""
INSERT = (
    "INSERT INTO traces (trace_id, query, agent, model, engine, result, started_at, ended_at, total_tokens,"
    " total_latency_seconds, messages) VALUES (?, ?, ?, ?, 'ollama', ?, ?, ?, ?, ?, ?)"
)


def traces(path: Path, *, days: int, per_day: int, late: float = 0.0005, seed: int = SEED) -> None:
    """Make a traces.db: `late` is the share of rows that were recorded days after they happened."""
    texts = Texts(seed)
    path.unlink(missing_ok=True)
    database = sqlite3.connect(path, isolation_level=None)
    database.executescript("PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF;" + _TABLES)
    database.execute("BEGIN")
    for number in range(days):
        day = datetime.combine(FIRST, datetime.min.time(), UTC).timestamp() + number * 86_400
        database.executemany(INSERT, sorted(_traces_of(texts, day, per_day, late, number), key=lambda row: row[6]))
    database.execute("COMMIT")
    database.execute("PRAGMA journal_mode=WAL")  # as its owner leaves it
    database.close()


def _traces_of(texts: Texts, day: float, count: int, late: float, number: int) -> Iterator[tuple[object, ...]]:
    for _ in range(count):
        began = day + texts.second()
        took = min(texts.dice.expovariate(0.1) + 0.3, 900)
        if texts.dice.random() < late:
            began -= texts.dice.random() * number * 86_400
        if texts.dice.random() < BENCH_SHARE:
            yield _row(texts, "who are you?", "test-model", "Hello world", began, took, "[]")
            continue
        question, answer = texts.question(), texts.answer()
        messages = "[]"
        if texts.dice.random() < 0.75:  # the others were streamed and carry none
            said = [("system", texts.text(900, 1_500)), ("user", question), ("assistant", answer)]
            messages = json.dumps([{"role": role, "content": content} for role, content in said])
        yield _row(texts, question, texts.dice.choice(MODELS), answer, began, took, messages)


def _row(
    texts: Texts, question: str, model: str, answer: str, began: float, took: float, messages: str
) -> tuple[object, ...]:
    id_ = f"{texts.dice.getrandbits(64):016x}"
    tokens = (len(question) + len(answer)) // 4
    return (id_, question, texts.dice.choice(AGENTS), model, answer, began, began + took, tokens, took, messages)


def exchanges(texts: Texts, count: int, *, first: datetime, every: timedelta) -> Iterator[Exchange]:
    """Yield exchanges in the order of their dates; one in ten is the keeper's, the others are work."""
    for number in range(count):
        yield Exchange(
            id=f"{texts.dice.getrandbits(64):016x}",
            at=first + number * every,
            kind="conversation" if number % 10 == 0 else "ouvrage",
            question=texts.question(),
            answer=texts.answer(),
            model=texts.dice.choice(MODELS),
        )


def journal(hive: Path, bee: str, of: Iterator[Exchange]) -> Iterator[Exchange]:
    """Write exchanges to a bee's integral journal, in segments, and pass them on."""
    files = files_of(hive, bee)
    files.archive.mkdir(parents=True, exist_ok=True)
    lines: list[bytes] = []
    sealed = 0
    for exchange in of:
        lines.append(line_of(exchange))
        if len(lines) == SEGMENT:
            sealed += 1
            (files.archive / f"{bee}-messages.{sealed:06d}.jsonl").write_bytes(b"".join(lines))
            lines.clear()
        yield exchange
    files.journal.write_bytes(b"".join(lines))


def hive(folder: Path, *, bees: int, count: int, days: int, seed: int = SEED) -> None:
    """Make a hive of bees with `count` exchanges each, spread over `days`; nothing was ever maintained."""
    texts = Texts(seed)
    first = datetime.combine(FIRST, datetime.min.time(), UTC)
    for number in range(bees):
        of = exchanges(texts, count, first=first, every=timedelta(days=days) / count)
        for _ in journal(folder, f"bee-{number:03d}", of):
            pass


def past(folder: Path, bee: str, *, count: int, seed: int = SEED) -> None:
    """Make one bee with `count` exchanges, all but the last forty evicted and but the last eighty melted."""
    texts = Texts(seed)
    first = datetime.now(UTC).replace(microsecond=0) - timedelta(minutes=20) * count
    files = files_of(folder, bee)
    files.window.mkdir(parents=True, exist_ok=True)
    with files.outcomes.open("wb") as outcomes:
        evicted: list[Exchange] = []
        condensed: list[Exchange] = []
        version = 0
        of = exchanges(texts, count, first=first, every=timedelta(minutes=20))
        for number, exchange in enumerate(journal(folder, bee, of)):
            if number < count - 40:
                outcomes.write(_line(Condensed(id=exchange.id, text=exchange.answer[:240] + "…", by="ollama/qwen3.5:9b", degraded=False, at=exchange.at)))  # fmt: skip
                evicted.append(exchange)
            if len(evicted) == 8:
                outcomes.write(_line(Evicted(ids=tuple(each.id for each in evicted), at=exchange.at)))
                condensed += evicted
                evicted.clear()
            if len(condensed) >= 40 and number < count - 80:
                version += 1
                outcomes.write(_line(_melted(texts, version, condensed[:24], exchange.at)))
                del condensed[:24]


def _line(event: Condensed | Evicted | Narrated) -> bytes:
    return fields_line(outcome_fields(event))


def _melted(texts: Texts, version: int, batch: list[Exchange], at: datetime) -> Narrated:
    return Narrated(
        version=version,
        base=version - 1,
        cause=Cause.MELTING,
        sections={section: texts.text(150, 300) for section in Section},
        by="ollama/qwen3.5:9b",
        degraded=False,
        at=at,
        ids=tuple(each.id for each in batch),
        words=tuple(Word(id=each.id, at=each.at, text=each.question) for each in batch if each.kind == "conversation"),
    )


def facts(path: Path, *, count: int, seed: int = SEED) -> None:
    """Make a facts journal of an agent host."""
    texts = Texts(seed)
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for number in range(count):
            text = " ".join(texts.text(40, 180).split()) + f" ({number})"
            fact = {"text": text, "source": "chat", "created_at": 1_756_000_000.0 + number, "trust": "trusted"}
            file.write(json.dumps(fact, ensure_ascii=False) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=SEED)
    kinds = parser.add_subparsers(dest="kind", required=True)
    made = kinds.add_parser("traces")
    made.add_argument("--days", type=int, default=365)
    made.add_argument("--per-day", type=int, default=274)
    made.add_argument("--late", type=float, default=0.0005)
    made = kinds.add_parser("hive")
    made.add_argument("--bees", type=int, default=100)
    made.add_argument("--count", type=int, default=5_000)
    made.add_argument("--days", type=int, default=300)
    made = kinds.add_parser("bee")
    made.add_argument("--count", type=int, default=10_000)
    made = kinds.add_parser("facts")
    made.add_argument("--count", type=int, default=10_000)
    for each in kinds.choices.values():
        each.add_argument("out", type=Path)
    asked = parser.parse_args()
    match asked.kind:
        case "traces":
            traces(asked.out, days=asked.days, per_day=asked.per_day, late=asked.late, seed=asked.seed)
        case "hive":
            hive(asked.out, bees=asked.bees, count=asked.count, days=asked.days, seed=asked.seed)
        case "bee":
            past(asked.out, "mia", count=asked.count, seed=asked.seed)
        case _:
            facts(asked.out, count=asked.count, seed=asked.seed)


if __name__ == "__main__":
    main()
