"""Finding again without a model: `recall` against plain FTS5 over the same exchanges, in one run.

    python benchmarks/recall.py

The questions are in `recall_questions.json`, written by hand, each with the exchanges that answer it (any of
them counts). hit@k: the share of questions with an answering exchange among the first k. "own" searches one
person's history, "all" everybody's together. Deterministic; no seed is needed.
"""

from __future__ import annotations

import json
import sqlite3
import tempfile
import time
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

from horizon.adapters.recall_index import RecallIndex
from horizon.core.document import Document, Kind, Marked
from horizon.recall import Recall

HERE = Path(__file__).parent
DATA = HERE.parent / "horizon" / "data" / "memorybank"
TODAY = date(2023, 5, 7)
"""The day after the last conversation: when the questions are asked."""
CUTS = (1, 5, 10)


class People:
    """Exchanges as documents; the id is `person/day/number`."""

    def __init__(self, histories):
        self.name = "people"
        self._histories = histories

    def stamp(self):
        return "1"

    def since(self, mark):
        if mark is not None:
            return None
        return (Marked(document.id, document) for document in self.documents())

    def documents(self):
        for person, history in self._histories.items():
            for day, exchanges in history.items():
                start = datetime.fromisoformat(f"{day}T08:00:00").replace(tzinfo=UTC)
                for number, exchange in enumerate(exchanges):
                    yield Document(
                        kind=Kind.EXCHANGE,
                        id=f"{person}/{day}/{number}",
                        at=start + timedelta(minutes=10 * number),
                        day=date.fromisoformat(day),
                        head=exchange["query"],
                        body=exchange["response"],
                        place=person,
                    )


class Plain:
    """FTS5 `porter unicode61` over question and answer, the words of a question joined by OR."""

    tokenizer = "porter unicode61"

    def __init__(self, source):
        self._database = sqlite3.connect(":memory:")
        self._database.execute(
            f"CREATE VIRTUAL TABLE plain USING fts5(id UNINDEXED, text, tokenize='{self.tokenizer}')"
        )
        self._database.executemany(
            "INSERT INTO plain VALUES (?, ?)", ((each.id, f"{each.head} {each.body}") for each in source.documents())
        )

    def words(self, question):
        return "".join(char if char.isalnum() else " " for char in question).split()

    def find(self, question, limit):
        wanted = " OR ".join(f'"{word}"' for word in self.words(question))
        rows = self._database.execute(
            "SELECT id FROM plain WHERE plain MATCH ? ORDER BY bm25(plain) LIMIT ?", (wanted, limit)
        )
        return [row[0] for row in rows]


class Trigram(Plain):
    """FTS5's own `trigram` tokenizer, the question cut into all of its trigrams: the stock way for Chinese."""

    tokenizer = "trigram"

    def words(self, question):
        runs = super().words(question)
        return [run[at : at + 3] for run in runs for at in range(max(1, len(run) - 2))]


class Ours:
    """`recall` as users call it."""

    def __init__(self, source, folder):
        self._recall = Recall(RecallIndex(Path(folder) / ".horizon-recall.db"), lambda: [source], provenance=None)

    def find(self, question, limit):
        return [hit.id for hit in self._recall.recall(question, today=TODAY, limit=limit)]


def measure(histories, questions, *, together, show=False):
    ranks = {"plain": [], "trigram": [], "recall": []}
    seconds = dict.fromkeys(ranks, 0.0)
    groups = [histories] if together else [{person: history} for person, history in histories.items()]
    for group in groups:
        source = People(group)
        with tempfile.TemporaryDirectory() as folder:
            finders = {"plain": Plain(source), "trigram": Trigram(source), "recall": Ours(source, folder)}
            for name, finder in finders.items():
                finder.find("warm up", 1)
                for question in questions:
                    if question["person"] not in group:
                        continue
                    wanted = {f"{question['person']}/{day}/{number}" for day, number in question["answers"]}
                    begun = time.process_time()
                    found = finder.find(question["question"], max(CUTS))
                    seconds[name] += time.process_time() - begun
                    rank = next((at for at, id_ in enumerate(found, start=1) if id_ in wanted), None)
                    ranks[name].append(rank)
                    if show and name == "recall" and rank != 1:
                        print(f"{rank}: {question['person']}: {question['question']} -> {found[:2]}")
    return ranks, seconds


def main(show=False):
    table = json.loads((HERE / "recall_questions.json").read_text("utf-8"))
    print("| language | searched | questions | | hit@1 | hit@5 | hit@10 | ms a question |")
    print("|---|---|---|---|---|---|---|---|")
    for language, questions in table.items():
        people = json.loads((DATA / f"{language}.json").read_text("utf-8"))
        histories = {name.strip(): person["history"] for name, person in people.items()}
        for together in (False, True):
            ranks, seconds = measure(histories, questions, together=together, show=show and not together)
            for name, found in ranks.items():
                shares = " | ".join(
                    f"{sum(rank is not None and rank <= cut for rank in found) / len(found):.0%}" for cut in CUTS
                )
                searched = "all" if together else "own"
                each = 1000 * seconds[name] / len(found)
                print(f"| {language} | {searched} | {len(found)} | {name} | {shares} | {each:.1f} |")


if __name__ == "__main__":
    import sys

    main(show="--show" in sys.argv)
