"""How much evidence survives condensing and three meltings, by kind: `python -m benchmarks.survival`.

Over the exchanges of tests/corpus/evidence.json, condensed by truncation and by the test model (a deterministic,
extractive stand-in: it says nothing about the wording of a real one).
"""

from __future__ import annotations

import json
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path

from horizon.core import condensation, narrative
from horizon.core.claims import Kind, commands, folded, literals
from horizon.core.exchange import Exchange
from horizon.core.quantity import quantities
from horizon.core.verdict import Rejected
from tests.deterministic_model import reply_to

CORPUS = Path(__file__).parent.parent / "tests" / "corpus" / "evidence.json"
START = datetime(2026, 3, 1, 9, tzinfo=UTC)
MOST = 1_800
"""Characters of the narrative's sections: what the default budget leaves beside the keeper's words."""


def corpus() -> list[Exchange]:
    entries = json.loads(CORPUS.read_text(encoding="utf-8"))
    return [
        Exchange(id=f"e{number}", at=START + timedelta(days=number), question=entry["question"], answer=entry["answer"])
        for number, entry in enumerate(entries)
    ]


def kinds(text: str) -> list[tuple[str, str]]:
    """Return the evidence in a text, as kind and what is looked for afterwards."""
    found = [("command", folded(thing.text)) for thing in commands(text)]
    things, rest = literals(text)
    names = {Kind.PATH: "path", Kind.FILE: "path", Kind.URL: "url", Kind.IDENTIFIER: "id", Kind.VERSION: "version"}
    found += [(names[thing.kind], folded(thing.text)) for thing in things if thing.kind in names]
    found += [("number", folded(written)) for written, _ in quantities(rest).amounts]
    return found


def by_truncation(exchange: Exchange) -> str:
    return condensation.own_text(exchange) or condensation.truncate(exchange)


def by_test_model(exchange: Exchange) -> str:
    asked = condensation.prompt(exchange, language="fr", window=8192)
    assert not isinstance(asked, Rejected)
    text = condensation.judge(reply_to({"messages": [{"content": asked.text}]}), exchange, language="fr")
    return condensation.truncate(exchange) if isinstance(text, Rejected) else text


def condensing(condense) -> dict[str, float]:
    """Return the share of each kind that stands in the condensed texts."""
    kept: Counter[str] = Counter()
    there: Counter[str] = Counter()
    for exchange in corpus():
        text = folded(condense(exchange))
        for kind, thing in kinds(exchange.answer):
            there[kind] += 1
            kept[kind] += thing in text
    return {kind: kept[kind] / there[kind] for kind in there}


def melting(condense, batches: int = 3, size: int = 4) -> dict[str, float]:
    """Return the share of each kind, of what was condensed, that stands in the narrative after so many meltings."""
    sections: dict = {}
    exchanges = corpus()[: batches * size]
    pieces = [
        narrative.Melting(when=f"{exchange.at:%Y-%m-%d}", question=exchange.question, text=condense(exchange))
        for exchange in exchanges
    ]
    for at in range(0, len(pieces), size):
        sections = narrative.truncate(sections, pieces[at : at + size], most=MOST, language="fr")
    whole = folded("\n".join(sections.values()))
    kept: Counter[str] = Counter()
    there: Counter[str] = Counter()
    for exchange, piece in zip(exchanges, pieces, strict=True):
        for kind, thing in kinds(exchange.answer):
            if thing in folded(piece.text):
                there[kind] += 1
                kept[kind] += thing in whole
    return {kind: kept[kind] / there[kind] for kind in there}


def main() -> None:
    rows = {
        "condensed by truncation": condensing(by_truncation),
        "condensed by the test model": condensing(by_test_model),
        "then three meltings of four, by truncation": melting(by_truncation),
        "the same, condensed by the test model": melting(by_test_model),
    }
    columns = ["command", "path", "url", "id", "version", "number"]
    print("| what survives | " + " | ".join(columns) + " |")
    print("|---|" + "---|" * len(columns))
    for name, shares in rows.items():
        print(f"| {name} | " + " | ".join(f"{shares.get(kind, 0):.0%}" for kind in columns) + " |")


if __name__ == "__main__":
    main()
