"""traces.db is read exactly, whatever stands in it, and never written (spec 4-formats)."""

from __future__ import annotations

import hashlib
import random
import sqlite3
import threading
from datetime import UTC, datetime, timedelta

import pytest

from horizon.adapters.traces_sqlite import Traces
from horizon.errors import StoreBusy, Unavailable
from tests.night_home import add_trace, make_traces

DAY = datetime(2026, 7, 9, tzinfo=UTC)
NEXT = DAY + timedelta(days=1)
NOON = DAY.timestamp() + 43_200


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "traces.db"
    make_traces(path)
    return path


def put(path, id_, at, **more):
    add_trace(path, f"question {id_}", f"answer {id_}", at=at, trace_id=id_, **more)


def ids(traces, start=DAY, end=NEXT):
    return [lived.exchange.id for lived in traces.between(start, end)]


def both(path, tmp_path):
    """The same file with and without a side file."""
    return Traces(path), Traces(path, side=tmp_path / "private" / "seen.db")


def test_a_day_is_half_open_and_in_order_of_time(path, tmp_path):
    put(path, "evening", DAY.timestamp() + 86_399.9)
    put(path, "midnight", DAY.timestamp())
    put(path, "next", NEXT.timestamp())
    put(path, "before", DAY.timestamp() - 0.001)
    for traces in both(path, tmp_path):
        assert ids(traces) == ["midnight", "evening"]


def test_an_exchange_has_what_the_row_has(path):
    put(path, "a", NOON + 0.25, model="qwen3", agent="voice")
    (lived,) = Traces(path, name="autre.db").between(DAY, NEXT)
    assert (lived.exchange.question, lived.exchange.answer) == ("question a", "answer a")
    assert (lived.exchange.model, lived.agent, lived.address) == ("qwen3", "voice", "autre.db#a")
    assert lived.exchange.at == DAY + timedelta(hours=12, microseconds=250_000)


def test_late_rows_are_found_and_the_side_file_is_exact_on_every_day(path, tmp_path):
    chance = random.Random(7)
    side = Traces(path, side=tmp_path / "seen.db")
    plain = Traces(path)
    for batch in range(5):
        with sqlite3.connect(path) as database:
            database.executemany(
                "INSERT INTO traces (trace_id, query, result, started_at) VALUES (?, 'q', 'a', ?)",
                [
                    (f"{batch}-{n}", DAY.timestamp() + (batch + chance.random() * 2 - chance.randrange(9)) * 86_400)
                    for n in range(40)
                ],
            )
        database.close()
        for back in range(-9, 7):
            start = DAY + timedelta(days=back)
            assert ids(side, start, start + timedelta(days=1)) == ids(plain, start, start + timedelta(days=1))
    assert len(ids(side, DAY - timedelta(days=20), DAY + timedelta(days=20))) == 200


def test_a_replaced_database_is_noticed(path, tmp_path):
    traces = Traces(path, side=tmp_path / "seen.db")
    put(path, "old", NOON)
    assert ids(traces) == ["old"]
    for name in ("", "-wal", "-shm"):
        path.with_name(path.name + name).unlink(missing_ok=True)
    make_traces(path)
    put(path, "new", NOON)
    put(path, "newer", NOON + 1)
    assert ids(traces) == ["new", "newer"]


def test_a_damaged_or_foreign_side_file_is_built_anew(path, tmp_path):
    put(path, "a", NOON)
    side = tmp_path / "seen.db"
    traces = Traces(path, side=side)
    side.write_bytes(b"no database" * 1000)
    assert ids(traces) == ["a"]
    side.unlink()
    with sqlite3.connect(side) as database:
        database.execute("CREATE TABLE mark (foreign_to_us)")
        database.execute("CREATE TABLE seen (foreign_to_us)")
    database.close()
    assert ids(traces) == ["a"]
    side.unlink()
    assert ids(traces) == ["a"]


def test_a_side_file_that_cannot_be_had_is_done_without(path, tmp_path):
    put(path, "a", NOON)
    (tmp_path / "file").touch()
    assert ids(Traces(path, side=tmp_path / "file" / "seen.db")) == ["a"]
    side = tmp_path / "seen.db"
    assert ids(Traces(path, side=side)) == ["a"]
    put(path, "b", NOON + 1)
    holder = sqlite3.connect(side, isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")
    try:
        assert ids(Traces(path, side=side)) == ["a", "b"]
    finally:
        holder.close()


@pytest.mark.parametrize(
    ("cell", "there"),
    [
        (NOON, True),
        (NOON * 1e3, True),  # milliseconds
        (int(NOON * 1e6), True),
        (int(NOON * 1e9), True),
        ("2026-07-09T12:00:00Z", True),
        ("2026-07-09 12:00:00", True),
        (str(NOON), True),
        (0.0, False),
        (-5.0, False),
        (float("inf"), False),
        (float("-inf"), False),
        ("yesterday", False),
        (b"\xff\xfe", False),
        ("", False),
    ],
)
def test_an_instant_is_read_in_whatever_form_or_in_no_day(tmp_path, cell, there):
    path = tmp_path / "traces.db"
    make_traces(path, "id INTEGER PRIMARY KEY AUTOINCREMENT, trace_id, query, agent, model, result, started_at")
    put(path, "odd", cell)
    put(path, "fine", NOON + 60)
    for traces in both(path, tmp_path):
        assert ids(traces) == (["odd", "fine"] if there else ["fine"])
        assert traces.undated() == (0 if there else 1)


def test_no_instant_at_all_is_counted(tmp_path):
    path = tmp_path / "traces.db"
    make_traces(path, "id INTEGER PRIMARY KEY AUTOINCREMENT, trace_id, query, agent, model, result, started_at REAL")
    put(path, "nan", float("nan"))  # SQLite stores NaN as NULL
    assert Traces(path).undated() == 1
    assert ids(Traces(path)) == []


def test_missing_columns_of_older_versions_are_tolerated(tmp_path):
    path = tmp_path / "traces.db"
    make_traces(path, "query TEXT, result TEXT, started_at REAL")
    with sqlite3.connect(path) as database:
        database.execute("INSERT INTO traces VALUES ('q', 'a', ?)", (NOON,))
    database.close()
    for traces in both(path, tmp_path):
        (lived,) = traces.between(DAY, NEXT)
        assert (lived.exchange.id, lived.exchange.question, lived.agent) == ("1", "q", "")


def test_a_table_without_what_is_needed_is_unavailable_and_says_what(tmp_path):
    path = tmp_path / "traces.db"
    make_traces(path, "id INTEGER PRIMARY KEY, query TEXT")
    with pytest.raises(Unavailable, match="no column result, started_at"):
        ids(Traces(path))


def test_broken_values_in_a_row_spoil_nothing(path):
    put(path, "json", NOON, metadata="{broken", messages="[1,")
    with sqlite3.connect(path) as database:
        database.execute(
            "INSERT INTO traces (trace_id, query, result, started_at) VALUES ('bytes', CAST(X'ff41' AS TEXT), X'c328', ?)",
            (NOON + 1,),
        )
        database.execute(
            "INSERT INTO traces (trace_id, query, result, started_at) VALUES ('number', 12, 3.5, ?)", (NOON + 2,)
        )
    database.close()
    found = [(lived.exchange.id, lived.exchange.question) for lived in Traces(path).between(DAY, NEXT)]
    assert found == [("json", "question json"), ("bytes", "\ufffdA"), ("number", "12")]


def test_reading_changes_no_byte_and_works_while_the_owner_writes(path, tmp_path):
    put(path, "a", NOON)
    owner = sqlite3.connect(path, isolation_level=None)
    try:
        owner.execute("BEGIN IMMEDIATE")
        owner.execute("INSERT INTO traces (trace_id, query, result, started_at) VALUES ('open', 'q', 'a', ?)", (NOON,))
        for traces in both(path, tmp_path):
            assert ids(traces) == ["a"]
        owner.execute("COMMIT")
        before = hashlib.sha256(path.read_bytes()).hexdigest()
        for traces in both(path, tmp_path):
            assert ids(traces) == ["a", "open"]
        assert hashlib.sha256(path.read_bytes()).hexdigest() == before
    finally:
        owner.close()


def test_no_transaction_is_open_while_rows_are_worked_on(path):
    for number in range(3):
        put(path, str(number), NOON + number)
    reading = Traces(path).between(DAY, NEXT)
    next(reading)
    owner = sqlite3.connect(path)
    try:
        busy, _, _ = owner.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    finally:
        owner.close()
    assert busy == 0
    assert len(list(reading)) == 2


def test_a_lock_that_makes_readers_wait_is_busy_and_not_empty(tmp_path):
    path = tmp_path / "traces.db"
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE traces (id INTEGER PRIMARY KEY, trace_id, query, result, started_at)")
    database.close()
    owner = sqlite3.connect(path, isolation_level=None)
    owner.execute("BEGIN EXCLUSIVE")
    try:
        with pytest.raises(StoreBusy, match="locked"):
            ids(Traces(path, wait=0.05))
    finally:
        owner.close()


@pytest.mark.parametrize("what", ["absent", "folder", "empty", "text", "cut"])
def test_what_is_no_database_is_unavailable_and_nothing_is_made(tmp_path, what):
    path = tmp_path / "traces.db"
    if what == "folder":
        path.mkdir()
    elif what == "empty":
        path.touch()
    elif what == "text":
        path.write_text("hello " * 500)
    elif what == "cut":
        make_traces(path)
        for number in range(300):
            put(path, str(number), NOON + number)
        path.write_bytes(path.read_bytes()[: 4096 + 100])
    before = sorted(tmp_path.iterdir())
    with pytest.raises(Unavailable, match="traces"):
        ids(Traces(path, side=tmp_path / "private" / "seen.db"))
    if what in {"absent", "folder", "empty", "text"}:
        assert sorted(tmp_path.iterdir()) == before


def test_a_path_with_odd_characters_is_read(tmp_path):
    folder = tmp_path / "100% été ?#&"
    folder.mkdir()
    path = folder / "traces.db"
    make_traces(path)
    put(path, "a", NOON)
    assert ids(Traces(path, side=folder / "seen?.db")) == ["a"]


def test_two_readers_may_feed_one_side_file_at_once(path, tmp_path):
    with sqlite3.connect(path) as database:
        database.executemany(
            "INSERT INTO traces (trace_id, query, result, started_at) VALUES (?, 'q', 'a', ?)",
            [(str(n), NOON + n / 100) for n in range(3000)],
        )
    database.close()
    found = []
    side = tmp_path / "seen.db"
    readers = [threading.Thread(target=lambda: found.append(len(ids(Traces(path, side=side))))) for _ in range(4)]
    for reader in readers:
        reader.start()
    for reader in readers:
        reader.join()
    assert found == [3000] * 4
