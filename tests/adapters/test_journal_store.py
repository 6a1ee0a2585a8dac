"""A bee's journals on real files: what is appended is read back, and what is odd in them is named."""

import json
import os
import threading
from datetime import timedelta
from pathlib import Path

import pytest

from horizon.core.event import Evicted, Flagged, Word
from horizon.errors import InvalidInput, StoreBusy, Unavailable
from tests.adapters.journals import START, condensed, exchange, fill, ids, lines, narrated, put, sharp, store_in


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
