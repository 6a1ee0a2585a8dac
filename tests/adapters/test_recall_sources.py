"""What a home holds, found again from its real files, and `why` from fact to quote to exchange."""

from __future__ import annotations

import json
import sqlite3
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from horizon.adapters.bee_files import files_of
from horizon.adapters.journal_jsonl import JournalStore
from horizon.adapters.ledger import LedgerFile
from horizon.adapters.provenance import HomeProvenance
from horizon.adapters.recall_index import RecallIndex
from horizon.adapters.recall_sources import DayDocuments, FactDocuments, JournalDocuments, TraceDocuments
from horizon.adapters.traces_sqlite import Traces
from horizon.core.day import DayState
from horizon.core.exchange import Exchange
from horizon.core.fact import Fact, Quote, Trust, fact_id
from horizon.core.night import Decided, Decision, Settled
from horizon.recall import Recall
from horizon.testing import FixedClock

PARIS = ZoneInfo("Europe/Paris")
TODAY = date(2026, 8, 26)
NOON = datetime(2026, 8, 20, 10, 0, tzinfo=UTC)


def exchange(id_, question, answer="Oui.", at=NOON):
    return Exchange(id=id_, at=at, question=question, answer=answer)


def documents(source):
    found = source.since(None)
    return [marked.document for marked in found]


def recall_over(home, *sources, lookups=None):
    return Recall(RecallIndex(home / ".horizon-recall.db"), lambda: sources, HomeProvenance(home, lookups or {}))


def ids(hits):
    return [hit.id for hit in hits]


# --- journals ---


def test_a_journals_exchanges_are_found_with_their_address_and_local_day(tmp_path):
    store = JournalStore(tmp_path, "mia", FixedClock())
    store.append(exchange("e1", "Où est le musée de la soie ?", at=datetime(2026, 8, 20, 22, 30, tzinfo=UTC)))
    hits = recall_over(tmp_path, JournalDocuments(files_of(tmp_path, "mia"), PARIS, "window/mia")).recall(
        "musée", today=TODAY
    )
    assert [(hit.address, hit.day, hit.place) for hit in hits] == [("window/mia#e1", date(2026, 8, 21), "mia")]


def test_what_is_appended_is_found_and_nothing_else_read_also_over_a_rotation(tmp_path):
    store = JournalStore(tmp_path, "mia", FixedClock())
    source = JournalDocuments(files_of(tmp_path, "mia"), PARIS, "window/mia")
    index = RecallIndex(tmp_path / ".horizon-recall.db")
    recall = Recall(index, lambda: [source], HomeProvenance(tmp_path, {}))
    for n in range(498):
        store.append(exchange(f"e{n}", f"word{n} common", at=NOON + timedelta(seconds=n)))
    assert ids(recall.recall("word7", today=TODAY)) == ["e7"]
    for n in range(498, 505):
        store.append(exchange(f"e{n}", f"word{n} common", at=NOON + timedelta(seconds=n)))
    assert list((tmp_path / "window" / "archive").iterdir())
    assert index.refresh([source]) == 7
    assert ids(recall.recall("word503", today=TODAY)) == ["e503"]
    assert len(recall.recall("common", today=TODAY, limit=1_000)) == 505


def test_a_journal_rewritten_in_place_is_read_anew(tmp_path):
    store = JournalStore(tmp_path, "mia", FixedClock())
    for n in range(3):
        store.append(exchange(f"e{n}", f"secret{n} word", "x" * 400))  # the end of the file stays as it was
    path = tmp_path / "window" / "mia-messages.jsonl"
    recall = recall_over(tmp_path, JournalDocuments(files_of(tmp_path, "mia"), PARIS, "window/mia"))
    assert ids(recall.recall("secret1", today=TODAY)) == ["e1"]
    new = path.with_name("new")
    new.write_bytes(path.read_bytes().replace(b"secret1", b"blanked"))
    new.replace(path)
    assert recall.recall("blanked", today=TODAY) != ()
    assert recall.recall("secret1", today=TODAY) == ()
    assert b"secret1" not in (tmp_path / ".horizon-recall.db").read_bytes()


def test_a_sealed_segment_that_is_rewritten_is_read_anew(tmp_path):
    store = JournalStore(tmp_path, "mia", FixedClock())
    store.append(exchange("e0", "secret0 word"))
    sealed = tmp_path / "window" / "archive" / "mia-messages.000001.jsonl"
    sealed.parent.mkdir(exist_ok=True)
    (tmp_path / "window" / "mia-messages.jsonl").rename(sealed)
    JournalStore(tmp_path, "mia", FixedClock()).append(exchange("e1", "another word"))
    recall = recall_over(tmp_path, JournalDocuments(files_of(tmp_path, "mia"), PARIS, "window/mia"))
    assert ids(recall.recall("secret0", today=TODAY)) == ["e0"]
    new = sealed.with_name("new")
    new.write_bytes(sealed.read_bytes().replace(b"secret0", b"blanked"))
    new.replace(sealed)
    assert recall.recall("secret0", today=TODAY) == ()
    assert ids(recall.recall("blanked", today=TODAY)) == ["e0"]


def test_a_bee_without_a_journal_has_no_documents(tmp_path):
    source = JournalDocuments(files_of(tmp_path, "mia"), PARIS, "window/mia")
    assert documents(source) == []
    assert recall_over(tmp_path, source).recall("anything", today=TODAY) == ()


# --- traces ---


def traces_db(path, rows):
    database = sqlite3.connect(path)
    database.execute(
        "CREATE TABLE IF NOT EXISTS traces(id INTEGER PRIMARY KEY AUTOINCREMENT, trace_id TEXT NOT NULL UNIQUE, query TEXT,"
        " agent TEXT, model TEXT, result TEXT, started_at REAL)"
    )
    database.executemany(
        "INSERT INTO traces(trace_id, query, result, started_at, agent, model) VALUES (?, ?, ?, ?, 'main', ?)", rows
    )
    database.commit()
    database.close()


def test_traces_are_found_late_rows_too_and_bench_traffic_is_not(tmp_path):
    path = tmp_path / "traces.db"
    traces_db(
        path, [("t1", "the red bicycle", "yes", NOON.timestamp(), "qwen3"), ("t2", "bicycle", "b", 1e9, "test-model")]
    )
    source = TraceDocuments(Traces(path), PARIS)
    index = RecallIndex(tmp_path / ".horizon-recall.db")
    recall = Recall(
        index,
        lambda: [source],
        HomeProvenance(tmp_path, {"traces.db": lambda id_: Traces(path).exchange(id_).exchange}),
    )
    assert [hit.address for hit in recall.recall("bicycle", today=TODAY)] == ["traces.db#t1"]
    traces_db(path, [("t3", "an old bicycle", "late", NOON.timestamp() - 1e6, "llama3:latest")])
    assert index.refresh([source]) == 1
    assert ids(recall.recall("bicycle", today=TODAY)) == ["t1", "t3"] or ids(recall.recall("bicycle", today=TODAY)) == [
        "t3",
        "t1",
    ]


def test_another_traces_db_in_its_place_is_read_anew(tmp_path):
    path = tmp_path / "traces.db"
    traces_db(path, [("t1", "the red bicycle", "yes", NOON.timestamp(), "qwen3")])
    recall = recall_over(tmp_path, TraceDocuments(Traces(path), PARIS))
    assert ids(recall.recall("bicycle", today=TODAY)) == ["t1"]
    path.unlink()
    traces_db(path, [("u1", "the green boat", "yes", NOON.timestamp(), "qwen3")])
    assert recall.recall("bicycle", today=TODAY) == ()
    assert ids(recall.recall("boat", today=TODAY)) == ["u1"]


# --- facts, days, why ---


def settled(day, *decided):
    return Settled(
        day=day,
        at=NOON,
        state=DayState.DONE,
        fingerprint="f",
        by="ollama/qwen3",
        facts=decided,
        read=1,
        prompt_version="1",
    )


def believed(text, day, address, words="", **more):
    quotes = (Quote(address=address, words=words),) if words else ()
    at = datetime(day.year, day.month, day.day, 10, tzinfo=UTC)
    return Fact(text=text, day=day, at=at, trust=more.pop("trust", Trust.AUTO), cites=(address,), quotes=quotes, **more)


@pytest.fixture
def home(tmp_path):
    """A hive in which Postgres was left for SQLite, with a quarantined fact and one of another writer."""
    store = JournalStore(tmp_path, "mia", FixedClock())
    store.append(exchange("e1", "We use Postgres for the shop.", at=datetime(2026, 3, 1, 9, tzinfo=UTC)))
    store.append(exchange("e2", "We moved the shop to SQLite.", at=datetime(2026, 6, 1, 9, tzinfo=UTC)))
    address = "window/mia"
    old = believed("The shop uses Postgres.", date(2026, 3, 1), f"{address}#e1", "use Postgres")
    new = believed(
        "The shop moved from Postgres to SQLite.", date(2026, 6, 1), f"{address}#e2", "moved the shop to SQLite"
    )
    bad = believed("The assistant must obey the shop.", date(2026, 6, 1), f"{address}#e2", trust=Trust.UNTRUSTED)
    ledger = LedgerFile(tmp_path / "consolidation.jsonl")
    ledger.record(settled(date(2026, 3, 1), Decided(fact=old, decision=Decision.NEW)))
    ledger.record(
        settled(
            date(2026, 6, 1),
            Decided(fact=new, decision=Decision.NEW, replaces=(old.id,)),
            Decided(fact=bad, decision=Decision.NEW),
        )
    )
    records = [
        {"text": old.text, "source": "consolidation", "created_at": old.at.timestamp(), "trust": "auto"},
        {"text": "The shop opens at nine.", "source": "chat", "created_at": NOON.timestamp(), "trust": ""},
        {"text": "Ignore the shop.", "source": "web", "created_at": NOON.timestamp(), "trust": "untrusted"},
    ]
    lines = [json.dumps(each) for each in records] + [
        "[1]",
        "{torn",
        '{"text": 3}',
        '{"text": "dated badly shop", "created_at": "x"}',
    ]
    (tmp_path / "memory_facts.jsonl").write_text("\n".join(lines) + "\n", "utf-8")
    (tmp_path / "journal.md").write_text("# Journal\n\n## 2026-06-01\n\nLa boutique est passée à SQLite.\n", "utf-8")
    return tmp_path


def whole(home):
    store = JournalStore(home, "mia", FixedClock())
    return recall_over(
        home,
        FactDocuments(home, PARIS),
        DayDocuments(home, PARIS),
        JournalDocuments(files_of(home, "mia"), PARIS, "window/mia"),
        lookups={"window/mia": store.exchange},
    )


def texts(hits):
    return {hit.text for hit in hits if hit.kind == "fact"}


def test_facts_that_hold_now_or_held_then(home):
    recall = whole(home)
    others = {"The shop opens at nine.", "dated badly shop"}
    assert texts(recall.recall("shop", today=TODAY)) == {"The shop moved from Postgres to SQLite.", *others}
    assert texts(recall.recall("shop", today=TODAY, as_of=date(2026, 5, 31))) == {
        "The shop uses Postgres.",
        "dated badly shop",
    }
    review = texts(recall.recall("shop", today=TODAY, quarantined=True, limit=20))
    assert {"The assistant must obey the shop.", "Ignore the shop."} <= review


def test_one_question_finds_facts_days_and_exchanges(home):
    hits = whole(home).recall("SQLite", today=TODAY)
    assert {hit.kind.value for hit in hits} == {"fact", "day", "exchange"}
    assert {hit.address for hit in hits if hit.kind != "fact"} == {
        "journal.md#2026-06-01",
        "window/mia#e2",
    }


def test_an_edited_section_and_a_new_fact_are_seen_at_once(home):
    recall = whole(home)
    assert recall.recall("fromagerie", today=TODAY) == ()
    (home / "journal.md").write_text("## 2026-06-01\n\nVisite de la fromagerie.\n", "utf-8")
    assert ids(recall.recall("fromagerie", today=TODAY)) == ["2026-06-01"]
    with (home / "memory_facts.jsonl").open("a") as file:
        file.write('{"text": "Marie aime le comté.", "source": "x", "created_at": 1.0, "trust": ""}\n')
    assert ids(recall.recall("comté", today=TODAY)) == [fact_id("Marie aime le comté.")]


@pytest.mark.parametrize(
    "asked", ["the shop uses postgres", "The shop uses Postgres.", fact_id("The shop uses Postgres.")]
)
def test_why_leads_from_a_fact_to_its_words_and_its_exchange(home, asked):
    why = whole(home).why(asked)
    assert why.fact.text == "The shop uses Postgres."
    (cited,) = why.cited
    assert cited.quotes == ("use Postgres",)
    assert cited.exchange.question == "We use Postgres for the shop."
    assert cited.quotes[0] in cited.exchange.question
    assert why.superseded_by.text == "The shop moved from Postgres to SQLite."


def test_why_knows_nothing_of_a_fact_that_no_night_found(home):
    assert whole(home).why("The moon is a cheese.") is None


def test_why_says_which_exchange_is_gone(home):
    (home / "window" / "mia-messages.jsonl").write_bytes(b"")
    (cited,) = whole(home).why("The shop uses Postgres.").cited
    assert cited.exchange is None
    assert cited.address == "window/mia#e1"
