"""A bee's journals on real files: what is appended is read back, wherever it stands and whoever wrote it."""

import gzip
import hashlib
import json
import os
import shutil
import sqlite3
import threading
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from horizon.adapters import segments
from horizon.adapters.clock import SystemClock
from horizon.adapters.journal_jsonl import JournalStore
from horizon.core.event import Cause, Condensed, Evicted, Flagged, Narrated, Section, Step, Word
from horizon.core.exchange import Exchange
from horizon.errors import InvalidInput, StoreBusy, Unavailable

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


def test_what_is_appended_is_in_the_state_and_on_disk_for_the_user_only(tmp_path):
    store = store_in(tmp_path / "hive")
    written = store.append(exchange(1, question="lone \ud800 surrogate"))
    assert written.exchange.question == "lone \ufffd surrogate"
    assert list(store.load().state.sharp.values()) == [written.exchange]
    assert store.exchange("e1") == written.exchange
    with store.exclusive():
        store.flag(Flagged(id="e1", on=True, at=START))
        store.save_snapshot()
    for path in (tmp_path / "hive").rglob("*"):
        assert path.stat().st_mode & 0o077 == 0, path


def test_an_empty_bee_is_empty_and_reading_makes_nothing(tmp_path):
    store = store_in(tmp_path)
    assert store.load().state.appended == 0
    assert list(store.entries()) == []
    assert store.exchange("e1") is None
    assert store.oddities() == ()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["../mia", "", "a/b"])
def test_a_name_is_checked_before_it_becomes_a_path(tmp_path, name):
    with pytest.raises(InvalidInput):
        store_in(tmp_path, name)


def test_five_hundred_entries_are_moved_byte_for_byte(tmp_path):
    store = store_in(tmp_path)
    rotated = []
    seen = hashlib.sha256()
    for number in range(1_001):
        before = journal_bytes(tmp_path) if number % 250 == 0 else None
        rotated.append(store.append(exchange(number)).rotated)
        if before is not None:
            assert journal_bytes(tmp_path).startswith(before)
            seen.update(before)
    assert [number for number, moved in enumerate(rotated) if moved] == [499, 999]
    archive = tmp_path / "window" / "archive"
    assert sorted(path.name for path in archive.iterdir()) == ["mia-messages.000001.jsonl", "mia-messages.000002.jsonl"]
    assert all(path.read_bytes().count(b"\n") == 500 for path in archive.iterdir())
    assert ids(store) == [f"e{number}" for number in range(1_001)]
    assert len(store.load().state.sharp) == 1_001
    assert store.load().state == store_in(tmp_path).load().state
    assert store.exchange("e3") == exchange(3)
    assert store.exchange("e1000") == exchange(1000)


def test_entries_of_other_writers_count_for_the_rotation(tmp_path):
    store = store_in(tmp_path)
    store.append(exchange(0))
    with (tmp_path / "window" / "mia-messages.jsonl").open("ab") as file:
        file.write(b'{"question": "q"}\n' * 498)
    assert store.append(exchange(1)).rotated
    assert not store.append(exchange(2)).rotated
    put(tmp_path, "mia-messages.jsonl", b'{"question": "q"}\n' * 700)
    assert store.append(exchange(3)).rotated, "what is over-full already is moved before the next append"
    assert (tmp_path / "window" / "mia-messages.jsonl").read_bytes().count(b"\n") == 1


@pytest.mark.parametrize(
    "existing",
    [
        ["mia-messages-2026-07-10.jsonl"],
        ["mia-messages_9.jsonl", "mia-messages_10.jsonl"],
        ["mia-messages.202607.jsonl"],
        ["mia-messages.099999.jsonl"],
        ["mia-messages.jsonl"],
        ["mia-messages.000007.jsonl.gz"],
        ["mia-messages.z.jsonl", "mia-messages.000001.jsonl"],
    ],
)
def test_our_segments_sort_after_every_existing_one(tmp_path, existing):
    for number, name in enumerate(existing):
        data = lines(number)
        put(tmp_path, f"archive/{name}", gzip.compress(data) if name.endswith("gz") else data)
    store = store_in(tmp_path)
    before = ids(store)
    for batch in range(2):
        put(tmp_path, "mia-messages.jsonl", lines(*range(10, 60)) * 10)
        store.append(exchange(100 + batch))
        store.append(exchange(200 + batch))
    assert ids(store)[: len(before)] == before
    assert ids(store)[-2:] == ["e101", "e201"]
    assert len(list((tmp_path / "window" / "archive").iterdir())) == len(existing) + 2


def test_numbers_in_names_sort_by_value(tmp_path):
    for number in (10, 9, 1):
        put(tmp_path, f"archive/mia-messages-{number}.jsonl", lines(number))
    assert ids(store_in(tmp_path)) == ["e1", "e9", "e10"]


def test_a_bee_whose_name_begins_like_anothers_keeps_its_own_segments(tmp_path):
    put(tmp_path, "archive/mia-messages.000001.jsonl", lines(1))
    put(tmp_path, "archive/mia-messages-messages.000001.jsonl", lines(2))
    assert ids(store_in(tmp_path)) == ["e1"]
    assert ids(store_in(tmp_path, "mia-messages")) == ["e2"]


def test_compressed_segments_are_read_and_a_damaged_one_is_named(tmp_path):
    put(tmp_path, "archive/mia-messages.000001.jsonl.gz", gzip.compress(lines(1, 2)))
    put(
        tmp_path,
        "archive/mia-messages.000002.jsonl.gz",
        gzip.compress(os.urandom(20).hex().encode() + b"\n" + lines(3))[:-12],
    )
    put(tmp_path, "archive/mia-messages.000003.jsonl.zst", b"\x28\xb5\x2f\xfd garbage")
    put(tmp_path, "mia-messages.jsonl", lines(4))
    store = store_in(tmp_path)
    found = ids(store)
    assert found[:2] == ["e1", "e2"]
    assert found[-1] == "e4"
    said = {(Path(oddity.path).name, oddity.reason) for oddity in store.oddities()}
    assert any("000002" in path and "uncompressed" in reason for path, reason in said)
    assert any("000003" in path and ("zstandard" in reason or "uncompressed" in reason) for path, reason in said)
    assert store.exchange("e2").id == "e2"


def test_a_segment_there_twice_is_read_once(tmp_path):
    put(tmp_path, "archive/mia-messages.000001.jsonl", lines(1, 2))
    put(tmp_path, "archive/mia-messages.000001.jsonl.gz", gzip.compress(lines(1, 2))[:20])
    assert ids(store_in(tmp_path)) == ["e1", "e2"]


def test_nothing_is_lost_or_doubled_while_another_engine_copies_and_truncates(tmp_path):
    active = put(tmp_path, "mia-messages.jsonl", lines(1, 2, 3))
    store, late = store_in(tmp_path), store_in(tmp_path)
    assert len(sharp(store)) == 3
    copy = put(tmp_path, "archive/mia-messages-1.jsonl", lines(1, 2))
    assert ids(store) == ids(late) == ["e1", "e2", "e3"], "half copied"
    shutil.copy(active, copy)
    assert ids(store) == ["e1", "e2", "e3"], "copied, not yet truncated"
    assert store.load().state.appended == 3
    os.truncate(active, 0)
    assert ids(store) == ["e1", "e2", "e3"], "truncated"
    assert store.load().state.appended == 3
    with active.open("ab") as file:
        file.write(lines(4))
    assert store.load().state == store_in(tmp_path).load().state
    assert store.load().state.appended == late.load().state.appended == 4


@pytest.mark.parametrize("when", ["before", "after"])
def test_nothing_is_lost_or_doubled_when_a_rotation_falls_between_listing_and_opening(tmp_path, monkeypatch, when):
    active = put(tmp_path, "mia-messages.jsonl", lines(1, 2))
    (tmp_path / "window" / "archive").mkdir()
    rotations = iter([1, 2])
    really_open = segments.open_plain

    def open_while_another_engine_rotates(path):
        number = next(rotations, None) if path == active else None
        opened = really_open(path) if when == "after" else None
        if number is not None:
            active.rename(tmp_path / "window" / "archive" / f"mia-messages-{number}.jsonl")
            active.write_bytes(lines(2 + number))
        return opened if when == "after" else really_open(path)

    follower = store_in(tmp_path)
    monkeypatch.setattr(segments, "open_plain", open_while_another_engine_rotates)
    found = ids(store_in(tmp_path))
    assert found in (["e1", "e2", "e3"], ["e1", "e2", "e3", "e4"])
    assert ids(store_in(tmp_path)) == ["e1", "e2", "e3", "e4"]
    assert sharp(follower) == {"e1", "e2", "e3", "e4"}
    assert follower.load().state.appended == 4


def test_a_last_line_without_newline_is_taken_once_and_a_half_one_waits(tmp_path):
    whole = lines(1, 2)
    active = put(tmp_path, "mia-messages.jsonl", whole[:-1])
    store = store_in(tmp_path)
    positions = [entry.position for entry in store.entries()]
    assert sharp(store) == {"e1", "e2"}
    active.write_bytes(whole + lines(3)[:-20])
    assert sharp(store) == {"e1", "e2"}
    assert [entry.position for entry in store.entries()] == positions
    (being_written,) = store.oddities()
    assert (being_written.line, being_written.offset) == (3, len(whole))
    active.write_bytes(whole + lines(3))
    assert sharp(store) == {"e1", "e2", "e3"}
    assert store.load().state == store_in(tmp_path).load().state
    active.write_bytes(whole + lines(3) + lines(4)[:-20])
    store.append(exchange(5))
    assert sharp(store) == {"e1", "e2", "e3", "e5"}
    assert [(oddity.line, oddity.offset) for oddity in store.oddities()] == [(4, len(whole + lines(3)))]


def test_oddities_are_named_by_file_line_and_offset_and_the_file_is_left_alone(tmp_path):
    data = (
        b"\xef\xbb\xbf"
        + lines(1)
        + b"\n"
        + b'{"torn": \n'
        + b"[1]\r\n"
        + lines(2)[:-1]
        + lines(3)
        + b"\xff\n"
        + lines(2)
    )
    active = put(tmp_path, "mia-messages.jsonl", data)
    put(tmp_path, "mia-phares.jsonl", b'{"id": "e1", "phare": true}\n{"id": 3}\nnot json\n\n')
    put(
        tmp_path,
        "mia-horizon.jsonl",
        b'{"fait": "inconnu", "quand": "2026-07-10T08:00:00Z"}\n{"fait": "eviction"}\n[]\n',
    )
    store = store_in(tmp_path)
    assert ids(store) == ["e1", "e2", "e3", "e2"]
    said = [(Path(o.path).name, o.line, o.offset) for o in store.oddities()]
    second = len(b"\xef\xbb\xbf" + lines(1)) + 1
    assert said[:4] == [
        ("mia-messages.jsonl", 1, 0),
        ("mia-messages.jsonl", 3, second),
        ("mia-messages.jsonl", 4, second + 10),
        ("mia-messages.jsonl", 5, second + 15 + len(lines(2)) - 1),
    ]
    assert [place for place in said if "messages" not in place[0]] == [
        ("mia-phares.jsonl", 2, 28),
        ("mia-phares.jsonl", 3, 38),
        ("mia-horizon.jsonl", 1, 0),
        ("mia-horizon.jsonl", 2, 53),
        ("mia-horizon.jsonl", 3, 74),
    ]
    assert active.read_bytes() == data
    assert store.load().state.flags["e1"].on


def test_a_huge_line_is_read(tmp_path):
    put(
        tmp_path,
        "mia-messages.jsonl",
        lines(1) + json.dumps({"id": "big", "question": "x" * 20_000_000}).encode() + b"\n" + lines(2),
    )
    store = store_in(tmp_path)
    assert ids(store) == ["e1", "big", "e2"]
    assert len(store.exchange("big").question) == 20_000_000


def test_undated_exchanges_take_the_date_of_their_neighbours(tmp_path):
    active = put(tmp_path, "mia-messages.jsonl", b'{"question": "a"}\n{"question": "b"}\n')
    store = store_in(tmp_path)
    assert {e.at.year for e in store.load().state.sharp.values()} == {1970}
    with active.open("ab") as file:
        file.write(lines(1) + b'{"question": "c"}\n' + lines(2))
    assert [e.exchange.at.minute for e in store.entries()] == [1, 1, 1, 1, 2]
    assert store.load().state == store_in(tmp_path).load().state
    assert [o.reason for o in store.oddities()] == ["no date that can be read: it takes that of its neighbour"] * 3


def test_an_unreadable_journal_is_never_taken_for_an_empty_one(tmp_path):
    (tmp_path / "window" / "mia-messages.jsonl").mkdir(parents=True)
    with pytest.raises(Unavailable, match=r"mia-messages\.jsonl"):
        store_in(tmp_path).load()
    with pytest.raises(Unavailable):
        list(store_in(tmp_path).entries())
    put(tmp_path, "archive", b"a file where the archive should be")
    with pytest.raises(Unavailable, match="archive"):
        store_in(tmp_path, "zoé").load()


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


def test_a_state_once_given_never_changes(tmp_path):
    store = store_in(tmp_path)
    fill(store)
    before = store.load()
    copy = store_in(tmp_path).load().state
    store.append(exchange(30))
    with store.exclusive():
        store.record(Evicted(ids=("e4",), at=START))
    after = store.load()
    assert before.state == copy != after.state
    assert before.stamp != after.stamp
    assert store.load() is after, "nothing new: the same fold"


def test_threads_share_a_store(tmp_path):
    store = store_in(tmp_path)
    failures = []

    def work(thread):
        try:
            for number in range(20):
                store.append(exchange(number, id=f"t{thread}-{number}"))
                seen = {found.id for found in store.load().state.sharp.values()}
                assert {f"t{thread}-{n}" for n in range(number + 1)} <= seen
        except (AssertionError, OSError) as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(thread,)) for thread in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert len(sharp(store)) == 120


def test_maintainers_exclude_each_other_and_hold_up_nobody_else(tmp_path):
    store, other = store_in(tmp_path), store_in(tmp_path)
    with store.exclusive():
        with pytest.raises(StoreBusy, match=rf"mia.*process {os.getpid()} "), other.exclusive():
            pass
        other.append(exchange(1))
        assert sharp(other) == {"e1"}
    with other.exclusive():
        pass


def test_outcomes_come_back_as_they_were_recorded(tmp_path):
    store = store_in(tmp_path)
    fill(store)
    state = store_in(tmp_path).load().state
    assert state.condensates["e3"] == condensed(3)
    assert state.narrative == narrated(2, 2, degraded=True)
    assert state.last_good == narrated(1, 0, 1)
    assert state.since_good == ["e2"]
    assert [word.text for word in state.words] == ["q0", "q1", "q2"]
    assert state.flags["e0"].word == Word(id="e0", at=START, text="q0")
    assert {e.id for e in state.condensed.values()} == {"e3"}
    assert (state.appended, state.melted) == (8, 3)


def test_without_its_outcomes_the_horizon_begins_again_and_they_are_kept_aside(tmp_path):
    store = store_in(tmp_path)
    fill(store)
    outcomes = (tmp_path / "window" / "mia-horizon.jsonl").read_bytes()
    with store.exclusive():
        store.refold()
        assert store.load().state.melted == 3
        store.refold(drop_outcomes=True)
        assert store.load().state.melted == 0
        assert len(store.load().state.sharp) == 8
    assert [path.read_bytes() for path in (tmp_path / "window").glob("*aside*")] == [outcomes]


def test_the_state_of_a_past_instant_is_what_was_recorded_by_then(tmp_path):
    store = store_in(tmp_path)
    stages = []
    for stage in range(6):
        at = START + timedelta(hours=stage)
        store.append(exchange(stage, at=at))
        store.flag(Flagged(id=f"e{stage}", on=True, at=at))
        if stage >= 2:
            with store.exclusive():
                store.record(condensed(stage - 2, at=at))
                store.record(Evicted(ids=(f"e{stage - 2}",), at=at))
        if stage >= 4:
            with store.exclusive():
                store.record(narrated(stage - 3, stage - 4, at=at))
        stages.append((at, store.load().state))
    for at, state in stages:
        assert store.load_at(at).state == store.load_at(at + timedelta(minutes=59)).state == state
    assert store.load_at(START - timedelta(seconds=1)).state.appended == 0


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
