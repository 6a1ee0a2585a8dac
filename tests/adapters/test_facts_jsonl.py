"""The shared facts journal keeps others' lines byte for byte, its owner's rules, and no fact twice (spec 4-formats)."""

from __future__ import annotations

import fcntl
import json
import multiprocessing
import stat
from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from horizon.adapters.facts_jsonl import OWNER_MOST, FactsJournal
from horizon.core.fact import Fact, Trust, near_key
from horizon.errors import StoreBusy

NOON = datetime(2026, 7, 9, 12, tzinfo=UTC)


def fact(text, minutes=0, trust=Trust.AUTO):
    return Fact(
        text=text, day=date(2026, 7, 9), at=NOON + timedelta(minutes=minutes), trust=trust, cites=("traces.db#a",)
    )


def add(path, *facts):
    with FactsJournal(path).session() as shared:
        return shared.add(facts)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "memory_facts.jsonl"


def test_a_fact_is_a_line_of_the_owners_four_fields(path):
    assert add(path, fact("Marie habite à Lyon.", trust=Trust.UNTRUSTED)) == 1
    assert path.read_text(encoding="utf-8") == (
        '{"text": "Marie habite à Lyon.", "source": "consolidation", "created_at": 1783598400.0, "trust": "untrusted"}\n'
    )
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


FOREIGN = st.lists(
    st.one_of(
        st.sampled_from(
            [
                b"", b"{broken", b"[1, 2]", b'"text"', b"null", b'\xff\xfe{"a": 1}', b"{" * 2000,
                b'{"text": "Un fait.", "source": "auto", "created_at": 1.0, "trust": "", "inconnu": [1]}',
                b'{"text":"serr\\u00e9","created_at":"2026-01-01"}  ', b'{"text": 5}', b"\r",
                '{"text": "a\u2028b"}'.encode(),
            ]
        ),
        st.binary(max_size=30).map(lambda data: data.replace(b"\n", b"")),
    ),
    max_size=8,
)  # fmt: skip


@given(lines=FOREIGN, ended=st.booleans())
def test_lines_of_others_stay_byte_for_byte_and_in_order(lines, ended, tmp_path_factory):
    path = tmp_path_factory.mktemp("facts") / "memory_facts.jsonl"
    data = b"\n".join(lines) + (b"\n" if ended and lines else b"")
    path.write_bytes(data)
    assert add(path, fact("Marie habite à Lyon depuis toujours.")) == 1
    after = path.read_bytes()
    assert after.startswith(data)
    assert after.endswith(b'"trust": "auto"}\n')
    assert add(path, fact("Marie habite à Lyon depuis toujours.")) == 0
    assert path.read_bytes() == after


def test_rights_of_the_file_are_kept(path):
    path.write_bytes(b"")
    path.chmod(0o640)
    add(path, fact("Marie habite à Lyon."))
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_a_late_day_stands_where_it_would_have_stood(path):
    add(path, fact("Le premier fait.", 0), fact("Le troisième fait.", 20))
    with path.open("ab") as file:
        file.write(b'{"text": "Un autre.", "source": "tool", "created_at": 1.0, "trust": ""}\n')
    add(path, fact("Le second fait.", 10), fact("Le dernier fait.", 30))
    texts = [json.loads(line)["text"] for line in path.read_bytes().splitlines()]
    assert texts == ["Le premier fait.", "Le second fait.", "Le troisième fait.", "Un autre.", "Le dernier fait."]


def test_nearly_the_same_is_known_and_near_tells_its_id(path):
    add(path, fact("Marie préfère le thé vert."))
    with FactsJournal(path).session() as shared:
        near = shared.near([fact("marie préfère un thé vert !"), fact("Marie préfère le thé noir.")])
        assert list(near) == [near_key("Marie préfère le thé vert.")]
        assert shared.add([fact("marie préfère un thé vert !")]) == 0


def test_what_the_owners_cap_leaves_is_free(path):
    line = '{{"text": "Fait numéro {}.", "source": "auto", "created_at": 1.0, "trust": ""}}\n'
    path.write_text("".join(line.format(n) for n in range(OWNER_MOST)), encoding="utf-8")
    with FactsJournal(path).session() as shared:
        assert shared.free == 0
    path.write_text("".join(line.format(n) for n in range(OWNER_MOST - 5)), encoding="utf-8")
    with FactsJournal(path).session() as shared:
        assert shared.free == 5
    path.write_text("".join(line.format(n) for n in range(OWNER_MOST + 500)), encoding="utf-8")
    with FactsJournal(path).session() as shared:
        assert shared.free == 0


def test_the_owners_lock_is_waited_for_and_then_it_is_busy(path):
    with path.with_name(path.name + ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(StoreBusy, match="holds"), FactsJournal(path, wait=0.05).session():
            pass
    assert not path.exists()


def writer(path, name):
    for number in range(15):
        add(path, fact(f"Le dossier {name}{number} est ouvert.", number))


def test_two_writers_lose_no_fact(path):
    spawn = multiprocessing.get_context("spawn")
    writers = [spawn.Process(target=writer, args=(path, name)) for name in "ab"]
    for each in writers:
        each.start()
    for each in writers:
        each.join()
        assert each.exitcode == 0
    assert len(path.read_bytes().splitlines()) == 30


def test_what_a_killed_writer_left_beside_it_is_swept_and_a_living_ones_is_not(path):
    ours = path.with_name(".memory_facts.jsonl.123-0a1b2c3d.tmp")
    lock = path.with_name(path.name + ".lock")
    ours.write_text("half a f")
    with lock.open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)  # a writer that lives holds the lock
        with pytest.raises(StoreBusy), FactsJournal(path, wait=0.05).session():
            pass
        assert ours.exists()
    add(path, fact("Marie habite à Lyon."))
    assert not ours.exists()
