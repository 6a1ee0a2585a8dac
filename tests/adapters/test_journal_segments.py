"""A journal in segments: moved by us and by other engines, compressed, there twice; nothing is lost or doubled."""

import gzip
import hashlib
import os
import shutil
from pathlib import Path

import pytest

from horizon.adapters import segments
from tests.adapters.journals import (
    exchange,
    ids,
    journal_bytes,
    lines,
    put,
    sharp,
    store_in,
)


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
