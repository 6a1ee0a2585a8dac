"""memory.db gets each fact once, in the owner's own tables, all or none (spec 4-formats)."""

from __future__ import annotations

import json
import sqlite3
from datetime import UTC, date, datetime

import pytest

from horizon.adapters.facts_index import FactsIndex
from horizon.core.fact import Trust, fact_id
from horizon.core.night import Evidence, Known, Span
from horizon.errors import StoreBusy, Unavailable

DAY = date(2026, 7, 9)


def known(text):
    return Known(
        id=fact_id(text), text=text, trust=Trust.AUTO, at=datetime(2026, 7, 9, 12, tzinfo=UTC), spans=(Span(since=DAY),),
        evidence=(Evidence(day=DAY, cites=("traces.db#a",), quotes=(), by="ollama/m", prompt_version="nuit-1"),),
    )  # fmt: skip


def rows(path, statement):
    database = sqlite3.connect(path)
    try:
        return database.execute(statement).fetchall()
    finally:
        database.close()


FACTS = [known("Marie habite à Lyon."), known("Paul aime le café noir.")]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "memory.db"


def test_a_fact_is_a_row_that_the_owners_search_finds(path):
    assert FactsIndex(path).add(FACTS) == 2
    ((content, source, metadata, created),) = rows(
        path, "SELECT content, source, metadata, created_at FROM documents WHERE content LIKE 'Marie%'"
    )
    assert (content, source, created) == ("Marie habite à Lyon.", "consolidation", 2461231.0)
    assert json.loads(metadata) == {"kind": "fact", "day": "2026-07-09", "trust": "auto"}
    found = rows(
        path,
        "SELECT d.content FROM documents_fts JOIN documents d ON d.rowid = documents_fts.rowid"
        " WHERE documents_fts MATCH 'café OR lyon' ORDER BY bm25(documents_fts, 1.0, 0.5), d.rowid",
    )
    assert sorted(text for (text,) in found) == ["Marie habite à Lyon.", "Paul aime le café noir."]


def test_twice_is_once(path):
    index = FactsIndex(path)
    index.add(FACTS)
    assert index.add(FACTS) == 0
    assert rows(path, "SELECT count(*) FROM documents") == rows(path, "SELECT count(*) FROM documents_fts") == [(2,)]


def test_rows_of_the_owner_stay(path):
    FactsIndex(path).add(FACTS[:1])
    with sqlite3.connect(path) as database:
        database.execute("INSERT INTO documents (id, content) VALUES ('x', 'à lui')")
    database.close()
    FactsIndex(path).add(FACTS)
    assert rows(path, "SELECT content FROM documents WHERE id = 'x'") == [("à lui",)]


def test_nothing_to_write_makes_no_file(path):
    assert FactsIndex(path).add([]) == 0
    assert not path.exists()


def test_all_or_none(path):
    FactsIndex(path).add(FACTS[:1])
    with sqlite3.connect(path) as database:
        database.execute(
            "CREATE TRIGGER no BEFORE INSERT ON documents WHEN new.content LIKE 'Zoé%' BEGIN SELECT RAISE(ABORT, 'no'); END"
        )
    database.close()
    with pytest.raises(Unavailable, match="could not be written"):
        FactsIndex(path).add([FACTS[1], known("Zoé vit à Nice.")])
    assert rows(path, "SELECT count(*) FROM documents") == rows(path, "SELECT count(*) FROM documents_fts") == [(1,)]


@pytest.mark.parametrize("what", ["text", "folder", "other tables"])
def test_what_is_no_index_is_unavailable(path, what):
    if what == "text":
        path.write_text("hello " * 1000)
    elif what == "folder":
        path.mkdir()
    else:
        with sqlite3.connect(path) as database:
            database.execute("CREATE TABLE documents (other)")
        database.close()
    with pytest.raises(Unavailable):
        FactsIndex(path).add(FACTS)


def test_a_locked_index_is_busy(path):
    index = FactsIndex(path, wait=0.05)
    index.add(FACTS[:1])
    owner = sqlite3.connect(path, isolation_level=None)
    owner.execute("BEGIN EXCLUSIVE")
    try:
        with pytest.raises(StoreBusy):
            index.add(FACTS)
    finally:
        owner.close()
