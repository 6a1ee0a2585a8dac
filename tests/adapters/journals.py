"""Journals of one bee on real files, for tests."""

from datetime import UTC, datetime, timedelta

from horizon.adapters.clock import SystemClock
from horizon.adapters.journal_jsonl import JournalStore
from horizon.core.event import Cause, Condensed, Evicted, Flagged, Narrated, Section, Step, Word
from horizon.core.exchange import Exchange

START = datetime(2026, 7, 10, 8, 0, tzinfo=UTC)


def store_in(hive, bee="mia"):
    return JournalStore(hive, bee, SystemClock())


def exchange(number, **changes):
    fields = {"id": f"e{number}", "at": START + timedelta(minutes=number), "question": f"q{number}", "answer": "r"}
    return Exchange(**(fields | changes))


def lines(*numbers):
    return b"".join(b'{"id": "e%d", "quand": "2026-07-10T08:%02d:00Z", "question": "q"}\n' % (n, n) for n in numbers)


def put(hive, name, data):
    path = hive / "window" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def ids(store):
    return [entry.exchange.id for entry in store.entries()]


def sharp(store):
    return {found.id for found in store.load().state.sharp.values()}


def journal_bytes(hive):
    archive = hive / "window" / "archive"
    paths = sorted(archive.iterdir()) if archive.exists() else []
    return b"".join(path.read_bytes() for path in [*paths, hive / "window" / "mia-messages.jsonl"] if path.exists())


def condensed(number, at=START):
    return Condensed(
        id=f"e{number}", text="short", by="troncature", degraded=True, at=at, steps=(Step(by="m", outcome="x"),)
    )


def narrated(version, *numbers, at=START, **changes):
    fields = {
        "version": version,
        "base": version - 1,
        "cause": Cause.MELTING,
        "sections": {Section.MISSION: "m", Section.NEXT_STEP: "n"},
        "by": "ollama/x",
        "degraded": False,
        "at": at,
        "ids": tuple(f"e{number}" for number in numbers),
        "words": tuple(Word(id=f"e{number}", at=at, text=f"q{number}") for number in numbers),
    }
    return Narrated(**(fields | changes))


def fill(store):
    for number in range(8):
        store.append(exchange(number))
    store.flag(Flagged(id="e0", on=True, at=START, word=Word(id="e0", at=START, text="q0")))
    store.flag(Flagged(id="e1", on=False, at=START))
    with store.exclusive():
        for number in range(5):
            store.record(condensed(number))
        store.record(Evicted(ids=("e0", "e1", "e2", "e3"), at=START))
        store.record(narrated(1, 0, 1))
        store.record(narrated(2, 2, degraded=True))
        store.save_snapshot()
