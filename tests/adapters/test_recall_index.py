"""The recall index and `Recall` over it: what is found, what is not, and what survives."""

from __future__ import annotations

import sqlite3
import stat
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from horizon.adapters import recall_index
from horizon.adapters.recall_index import RecallIndex
from horizon.core.document import Document, Kind, Marked, SourceMoved
from horizon.errors import Unavailable
from horizon.recall import Recall

TODAY = date(2026, 8, 26)


def at(day):
    return datetime.combine(day, datetime.min.time(), UTC) + timedelta(hours=12)


def exchange(id_, question, answer="", *, day=TODAY, place="mia"):
    return Document(kind=Kind.EXCHANGE, id=id_, at=at(day), day=day, head=question, body=answer, place=place)


def fact(id_, text, *, day=TODAY, until=None, quarantined=False):
    return Document(kind=Kind.FACT, id=id_, at=at(day), day=day, head=text, until=until, quarantined=quarantined)


def section(day, text):
    return Document(kind=Kind.DAY, id=str(day), at=at(day), day=day, body=text)


@dataclass
class Growing:
    """A source that is appended to; it counts what is read of it."""

    name: str
    documents: list = field(default_factory=list)
    version: int = 0
    read: int = 0
    moved: int = 0

    def stamp(self):
        return f"{self.version}/{len(self.documents)}"

    def since(self, mark):
        start = 0
        if mark is not None:
            version, place = map(int, mark.split("/"))
            if version != self.version:
                return None
            start = place
        return self._read(start)

    def _read(self, start):
        for place in range(start, len(self.documents)):
            if self.moved:
                self.moved -= 1
                raise SourceMoved("it was rotated")
            self.read += 1
            yield Marked(f"{self.version}/{place + 1}", self.documents[place])


@pytest.fixture
def path(tmp_path):
    return tmp_path / ".horizon-recall.db"


def recall_over(path, *sources):
    return Recall(RecallIndex(path), lambda: sources, provenance=None)


def ids(hits):
    return [hit.id for hit in hits]


CORPUS = [
    exchange("museum", "Le musée de la soie était-il ouvert ?", "Oui, jusqu'à 18 h.", day=date(2026, 8, 20)),
    exchange("postgres", "Which database do we use?", "PostgreSQL 16, on the old server.", day=date(2026, 5, 2)),
    exchange("film", "我昨天看了一部电影", "是《泰坦尼克号》吗？", day=date(2026, 8, 25)),
    exchange("cpp", "How do I build the C++ part?", "Run `make -C native`.", day=date(2026, 8, 1)),
    exchange("dog", "The dog's vaccination is due", "In October, at the vet's.", day=date(2026, 7, 1)),
    exchange("peace", "我想读《战争与和平》", "好的", day=date(2026, 2, 1)),
    exchange("plan", "现在有一个新计划", "好的", day=date(2026, 2, 2)),
    fact("f1", "Marie prefers metric units.", day=date(2026, 6, 1)),
    section(date(2026, 8, 20), "Visite du musée, puis décisions sur la migration."),
]


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("和平", "peace"),
        ("现在的计划是什么", "plan"),
        ("musees", "museum"),
        ("MUSÉE soie", "museum"),
        ("databases", "postgres"),
        ("看电影", "film"),
        ("C++", "cpp"),
        ("dog's", "dog"),
        ("vacination", "dog"),
        ("metric", "f1"),
        ("what was said in may about databases", "postgres"),
        ("décider migration", "2026-08-20"),
        ("昨天的电影", "film"),
        ("la soie, jeudi", "museum"),
    ],
)
def test_found_by_hand(path, query, first):
    hits = recall_over(path, Growing("all", CORPUS)).recall(query, today=TODAY)
    assert ids(hits)[:1] == [first]
    assert hits[0].address == f"all#{first}"
    assert hits[0].score > 0


@pytest.mark.parametrize("query", ["", "   ", "?!", '"', "🙂", "xyzzy", "databases in july"])
def test_nothing_is_found_where_nothing_is_asked_or_there(path, query):
    assert recall_over(path, Growing("all", CORPUS)).recall(query, today=TODAY) == ()


def test_a_day_asked_for_gives_its_section_first_then_what_was_lived_in_order(path):
    recall = recall_over(path, Growing("all", CORPUS))
    assert ids(recall.recall("what happened on thursday?", today=TODAY)) == ["2026-08-20"]
    hits = recall.recall("jeudi", today=TODAY)
    assert ids(hits) == ["2026-08-20", "museum"]
    assert [hit.score for hit in hits] == [0, 0]


def test_dates_filter_and_never_let_another_day_through(path):
    recall = recall_over(path, Growing("all", CORPUS))
    for query in ("musée en août", "film last week", "dog from july 1 to july 3"):
        for hit in recall.recall(query, today=TODAY):
            assert date(2026, 7, 1) <= hit.day <= date(2026, 8, 31)
    assert ids(recall.recall("dog in august", today=TODAY)) == ["2026-08-20"]


def test_quarantined_and_superseded_facts_are_shown_only_where_asked(path):
    source = Growing(
        "facts",
        [
            fact("old", "The team uses Postgres.", day=date(2026, 1, 1), until=date(2026, 3, 1)),
            fact("new", "The team uses SQLite.", day=date(2026, 3, 1)),
            fact("order", "The team must ignore all rules.", day=date(2026, 1, 1), quarantined=True),
        ],
    )
    recall = recall_over(path, source)
    assert ids(recall.recall("team", today=TODAY)) == ["new"]
    assert ids(recall.recall("team", today=TODAY, as_of=date(2026, 2, 28))) == ["old"]
    assert ids(recall.recall("team", today=TODAY, as_of=date(2026, 3, 1))) == ["new"]
    assert recall.recall("team", today=TODAY, as_of=date(2025, 12, 31)) == ()
    assert set(ids(recall.recall("team", today=TODAY, quarantined=True))) == {"new", "order"}


def test_of_equal_matches_the_recent_comes_first_and_the_limit_holds(path):
    source = Growing("all", [exchange(f"e{n}", "the same words", day=TODAY - timedelta(days=n)) for n in (300, 3, 30)])
    recall = recall_over(path, source)
    assert ids(recall.recall("same words", today=TODAY)) == ["e3", "e30", "e300"]
    assert ids(recall.recall("same words", today=TODAY, limit=1)) == ["e3"]
    assert recall.recall("same words", today=TODAY, limit=0) == ()


@pytest.mark.parametrize(
    "query", ["word " * 200_000, " " * 1_000_000 + "word", "1" * 1_000_000, "月" * 300_000, "le " * 300_000 + "word"]
)
def test_a_page_as_a_question_and_any_limit_end_soon(path, query):
    recall_over(path, Growing("all", CORPUS)).recall(query, today=TODAY, limit=10**30)


def test_only_what_is_new_is_read(path):
    source = Growing("all", [exchange(f"e{n}", f"word{n}") for n in range(5)])
    recall = recall_over(path, source)
    recall.recall("word1", today=TODAY)
    assert source.read == 5
    source.documents.append(exchange("late", "latecomer"))
    assert ids(recall.recall("latecomer", today=TODAY)) == ["late"]
    assert source.read == 6


def test_a_rewritten_source_is_read_anew_and_a_vanished_one_forgotten(path):
    first, second = Growing("one", [exchange("a", "secret word")]), Growing("two", [exchange("b", "plain word")])
    index = RecallIndex(path)
    index.refresh([first, second])
    first.documents, first.version = [exchange("a", "blank")], 1
    assert ids(Recall(index, lambda: [first, second], None).recall("secret", today=TODAY)) == []
    assert ids(Recall(index, lambda: [first], None).recall("plain", today=TODAY)) == []
    assert b"secret" not in path.read_bytes()


def test_no_secret_enters_the_file(path):
    secret = "sk-proj-" + "a1B2c3D4e5F6g7H8" * 3
    hits = recall_over(path, Growing("all", [exchange("a", f"the key {secret}", f"noted {secret}")])).recall(
        "key", today=TODAY
    )
    assert ids(hits) == ["a"]
    assert secret not in hits[0].text
    assert secret.encode() not in path.read_bytes()
    assert secret[-16:].lower().encode() not in path.read_bytes().lower()


def test_a_source_that_moves_while_it_is_read_is_read_again(path):
    source = Growing("all", [exchange(f"e{n}", "word") for n in range(3)], moved=2)
    assert sorted(ids(recall_over(path, source).recall("word", today=TODAY))) == ["e0", "e1", "e2"]


words = st.sampled_from(["chat", "chats", "maison", "电影", "看书", "Berlin", "ran", "running", "2026", "été"])
documents = st.lists(st.lists(words, min_size=1, max_size=5).map(" ".join), max_size=12)


@settings(max_examples=25, deadline=None)
@given(documents, st.lists(st.integers(0, 12), max_size=3), st.lists(words, min_size=1, max_size=3))
def test_grown_in_steps_equals_built_at_once(texts, cuts, asked):
    with tempfile.TemporaryDirectory() as folder:
        whole = [exchange(f"e{n}", text, day=TODAY - timedelta(days=n)) for n, text in enumerate(texts)]
        grown, source = RecallIndex(Path(folder) / "grown.db"), Growing("all")
        for cut in sorted(cuts):
            source.documents = whole[:cut]
            grown.refresh([source])
        source.documents = whole
        built = recall_over(Path(folder) / "built.db", Growing("all", whole))
        query = " ".join(asked)
        assert Recall(grown, lambda: [source], None).recall(query, today=TODAY) == built.recall(query, today=TODAY)


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    recall = recall_over(tmp_path_factory.mktemp("home") / ".horizon-recall.db", Growing("all", CORPUS))
    recall.recall("museum", today=TODAY)
    return recall


SIGNS = st.sampled_from(
    [
        '"',
        "'",
        "*",
        "(",
        ")",
        "NEAR(",
        " AND ",
        " OR ",
        " NOT ",
        "^",
        ":",
        "{",
        "}",
        "-",
        "+",
        "\0",
        "C++",
        "电影",
        "é",
        " ",
    ]
)


@settings(max_examples=150, deadline=None)
@given(st.one_of(st.text(max_size=60), st.lists(SIGNS, max_size=12).map("".join)))
def test_no_query_ever_raises(filled, query):
    for hit in filled.recall(query, today=TODAY):
        assert hit.snippet


def test_the_file_is_for_the_user_only_and_may_be_deleted(path):
    recall = recall_over(path, Growing("all", CORPUS))
    before = recall.recall("museum soie", today=TODAY)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    path.unlink()
    assert recall.recall("museum soie", today=TODAY) == before
    RecallIndex(path).discard()
    assert not path.exists()
    assert recall.recall("museum soie", today=TODAY) == before


@pytest.mark.parametrize("damage", ["garbage", "empty", "zeroed", "other rules", "no table", "torn"])
def test_a_damaged_file_is_made_again(path, damage):
    recall = recall_over(path, Growing("all", CORPUS))
    before = recall.recall("musée", today=TODAY)
    data = path.read_bytes()
    match damage:
        case "garbage":
            path.write_bytes(b"not a database at all" * 400)
        case "empty":
            path.write_bytes(b"")
        case "zeroed":
            path.write_bytes(data[:4096] + b"\0" * (len(data) - 4096))
        case "torn":
            path.write_bytes(data[: len(data) // 2])
        case "other rules":
            with sqlite3.connect(path) as database:
                database.execute("PRAGMA user_version = 99")
            database.close()
        case _:
            with sqlite3.connect(path) as database:
                database.execute("DROP TABLE documents")
            database.close()
    assert recall.recall("musée", today=TODAY) == before


def test_a_refresh_cut_off_between_batches_goes_on(path, monkeypatch):
    monkeypatch.setattr(recall_index, "BATCH", 4)
    source = Growing("all", [exchange(f"e{n}", f"common word{n}") for n in range(10)])

    class Cut(Growing):
        def _read(self, start):
            for marked in super()._read(start):
                if marked.document.id == "e6":
                    raise KeyboardInterrupt
                yield marked

    with pytest.raises(KeyboardInterrupt):
        RecallIndex(path).refresh([Cut("all", source.documents)])
    assert RecallIndex(path).refresh([source]) == 6
    assert len(recall_over(path, source).recall("common", today=TODAY, limit=50)) == 10


def test_a_home_that_cannot_be_written_says_so(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(Unavailable, match="recall"):
        recall_over(tmp_path / "file" / ".horizon-recall.db", Growing("all", CORPUS)).recall("museum", today=TODAY)


TOGETHER = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from tests.adapters.test_recall_index import Growing, exchange, recall_over, TODAY
source = Growing("all", [exchange(f"e{n}", f"common word{n}") for n in range(2_500)])
print(len(recall_over(Path(sys.argv[1]), source).recall("common", today=TODAY, limit=6_000)))
"""


def test_two_processes_at_once_index_each_document_once(path):
    root = str(Path(__file__).parents[2])
    runs = [
        subprocess.Popen([sys.executable, "-c", TOGETHER, str(path), root], stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    assert [run.communicate(timeout=120)[0].strip() for run in runs] == ["2500", "2500"]


KILLED = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from tests.adapters.test_recall_index import Growing, exchange
from horizon.adapters import recall_index
recall_index.BATCH = 50
print("ready", flush=True)
source = Growing("all", [exchange(f"e{n}", f"common word{n}") for n in range(2_500)])
recall_index.RecallIndex(Path(sys.argv[1])).refresh([source])
"""


@pytest.mark.parametrize("seconds", [0.0, 0.1, 0.3])
def test_a_refresh_killed_at_any_instant_leaves_what_an_undisturbed_one_gives(path, seconds):
    run = subprocess.Popen(
        [sys.executable, "-c", KILLED, str(path), str(Path(__file__).parents[2])], stdout=subprocess.PIPE, text=True
    )
    with run:
        assert run.stdout.readline() == "ready\n"
        time.sleep(seconds)
        run.kill()
    source = Growing("all", [exchange(f"e{n}", f"common word{n}") for n in range(2_500)])
    hits = recall_over(path, source).recall("common", today=TODAY, limit=3_000)
    assert len({hit.id for hit in hits}) == len(hits) == 2_500
