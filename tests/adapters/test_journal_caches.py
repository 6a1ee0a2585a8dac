"""The snapshot and the index of a journal: lost, damaged or stale at any time, they change nothing."""

import gzip
import sqlite3
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from horizon.core.event import Evicted, Flagged
from tests.adapters.journals import (
    START,
    condensed,
    exchange,
    fill,
    lines,
    narrated,
    put,
    store_in,
)


def test_a_snapshot_deleted_damaged_or_stale_changes_nothing(tmp_path):
    store = store_in(tmp_path)
    fill(store)
    live = store.load().state
    snapshot = tmp_path / "window" / "mia-horizon.snapshot"
    good = snapshot.read_bytes()
    assert store_in(tmp_path).load().state == live
    damaged = [b"", b"{}", b"[]", good[:-9], b"\xff" * 90, b"null", good.replace(b'"version":2', b'"version":99', 1)]
    damaged += [good.replace(b'"at":', b'"ta":'), good.replace(b"08:00", b"99:00"), b"[" * 100_000]
    for data in damaged:
        snapshot.write_bytes(data)
        found = store_in(tmp_path).load()
        assert found.state == live, data[:80]
        if data != good:
            assert any("snapshot" in oddity.path for oddity in found.oddities), data[:80]
    snapshot.write_bytes(good)
    store.append(exchange(20))
    store.flag(Flagged(id="e20", on=True, at=START))
    with store.exclusive():
        store.record(condensed(5))
    stale = store_in(tmp_path).load().state
    snapshot.unlink()
    assert stale == store.load().state == store_in(tmp_path).load().state


@pytest.mark.parametrize("name", ["mia-messages.jsonl", "mia-phares.jsonl", "mia-horizon.jsonl"])
def test_a_journal_replaced_cut_or_gone_is_folded_again_and_said(tmp_path, name):
    store = store_in(tmp_path)
    fill(store)
    path = tmp_path / "window" / name
    data = path.read_bytes()
    store.load()
    for changed in (data[: data.index(b"\n") + 1], data.replace(b"e1", b"x1"), None):
        if changed is None:
            path.unlink()
        else:
            path.write_bytes(changed)
        live, fresh = store.load(), store_in(tmp_path).load()
        (tmp_path / "window" / "mia-horizon.snapshot").rename(tmp_path / "aside")
        assert live.state == fresh.state == store_in(tmp_path).load().state
        (tmp_path / "aside").rename(tmp_path / "window" / "mia-horizon.snapshot")
        assert live.oddities
        assert fresh.oddities


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 40), st.lists(st.integers(0, 40), max_size=3), st.booleans())
def test_an_exchange_is_found_by_its_id_in_any_segment(tmp_path_factory, count, cuts, packed):
    hive = tmp_path_factory.mktemp("hive")
    store = store_in(hive)
    everything = [exchange(number) for number in range(count)]
    bounds = sorted({0, *(cut for cut in cuts if cut < count), count})
    for number, (low, high) in enumerate(pairwise(bounds)):
        for one in everything[low:high]:
            store.append(one)
        store.exchange("nobody")
        if high < count:
            target = hive / "window" / "archive" / f"mia-messages.{number + 1:06d}.jsonl"
            target.parent.mkdir(exist_ok=True)
            (hive / "window" / "mia-messages.jsonl").rename(target)
            if packed:
                target.with_suffix(".jsonl.gz").write_bytes(gzip.compress(target.read_bytes()))
                target.unlink()
    for reader in (store, store_in(hive)):
        assert [reader.exchange(one.id) for one in everything] == everything
    assert [entry.exchange for entry in store.entries()] == everything


@pytest.mark.parametrize("damage", ["deleted", "garbage", "empty", "another version", "unwritable"])
def test_the_index_may_be_lost_at_any_time(tmp_path, damage):
    store = store_in(tmp_path)
    for number in range(10):
        store.append(exchange(number))
    assert store.exchange("e3") == exchange(3)
    index = tmp_path / "window" / "mia-horizon.index"
    if damage == "deleted":
        index.unlink()
    elif damage == "garbage":
        index.write_bytes(b"garbage" * 1_000)
    elif damage == "empty":
        index.write_bytes(b"")
    elif damage == "another version":
        with sqlite3.connect(index) as connection:
            connection.execute("PRAGMA user_version = 99")
        connection.close()
    else:
        index.unlink()
        index.mkdir()
    store.append(exchange(10))
    assert store.exchange("e3") == exchange(3)
    assert store.exchange("e10") == exchange(10)
    assert store.exchange("nobody") is None


def test_the_index_notices_a_journal_that_was_replaced(tmp_path):
    put(tmp_path, "mia-messages.jsonl", lines(1, 2))
    put(tmp_path, "archive/mia-messages.000001.jsonl", lines(3))
    store = store_in(tmp_path)
    assert store.exchange("e3") is not None
    put(tmp_path, "archive/mia-messages.000001.jsonl", lines(5))
    assert store.exchange("e3") is None
    put(tmp_path, "mia-messages.jsonl", lines(7))
    assert store.exchange("e1") is None
    assert store.exchange("e7") is not None


def test_two_exchanges_of_one_id_are_two_and_doctor_hears_of_it(tmp_path):
    store = store_in(tmp_path)
    store.append(exchange(1))
    store.append(exchange(1))
    assert store.load().state.appended == 2
    with store.exclusive():
        store.record(condensed(1))
        store.record(Evicted(ids=("e1",), at=START))
        store.record(narrated(1, 1))
    assert store.load().state == store_in(tmp_path).load().state
    assert len(store.load().state.sharp) == store.load().state.melted == 1
    assert ["again" in oddity.reason for oddity in store.oddities()] == [True]
