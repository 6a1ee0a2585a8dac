"""What was seen of the shared facts journal spares reading it, and never changes what is written (spec 4-formats)."""

from __future__ import annotations

import json
import os
import shutil
from datetime import UTC, date, datetime, timedelta
from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from horizon.adapters import facts_jsonl, facts_seen
from horizon.adapters.facts_jsonl import OWNER_MOST, FactsJournal
from horizon.core.fact import NEAR_VERSION, Fact, Trust, fact_id, near_key

NOON = datetime(2026, 7, 9, 12, tzinfo=UTC)
TEXTS = (
    "Marie habite à Lyon.", "Marie habite à Nice.", "marie habite à lyon", "Le thé vert est prêt.", "Un thé vert est prêt !",
    "Atlas sort le 12 mai.", "Atlas sort le 13 mai.", "王小明住在北京。", "Rien d'autre n'est dit.", "Il ne boit pas de café.",
)  # fmt: skip


def fact(text, minutes=0):
    at = NOON + timedelta(minutes=minutes)
    return Fact(text=text, day=date(2026, 7, 9), at=at, trust=Trust.AUTO, cites=("traces.db#a",))


def add(path, *facts):
    with FactsJournal(path).session() as shared:
        return shared.add(facts)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "memory_facts.jsonl"


@pytest.fixture
def read(monkeypatch):
    """Every line that is read because nothing is known of it."""
    lines = []
    real = facts_jsonl._numbers

    def counted(data):
        lines.append(bytes(data))
        return real(data)

    monkeypatch.setattr(facts_jsonl, "_numbers", counted)
    return lines


class Plain:
    """The same journal, with nothing remembered: every line is read each time."""

    def __init__(self, data):
        self.lines = data.split(b"\n")
        if not self.lines[-1]:
            self.lines.pop()

    @staticmethod
    def said(line):
        try:
            value = json.loads(line.decode("utf-8", "surrogatepass").removeprefix("\ufeff"))
        except (ValueError, RecursionError):
            return None, None
        if not isinstance(value, dict) or not isinstance(value.get("text"), str):
            return None, None
        at = value.get("created_at")
        dated = isinstance(at, (int, float)) and not isinstance(at, bool) and value.get("source") == "consolidation"
        return value["text"], at if dated else None

    def free(self):
        return max(OWNER_MOST - sum(self.said(line)[0] is not None for line in self.lines), 0)

    def near(self, facts):
        found = {}
        for each in facts:
            same = [
                text
                for line in self.lines
                if (text := self.said(line)[0]) is not None and near_key(text) == near_key(each.text)
            ]
            if same:
                found[near_key(each.text)] = fact_id(same[0])
        return found

    def added(self, facts):
        near = self.near(facts)
        new = {each.id: each for each in facts if near_key(each.text) not in near}
        if not new:
            return None
        for id_, each in sorted(new.items(), key=lambda item: (item[1].at, item[0])):
            at = each.at.timestamp()
            place = next(
                (n for n, line in enumerate(self.lines)
                 if (said := self.said(line))[1] is not None and (said[1], fact_id(said[0])) > (at, id_)),
                len(self.lines),
            )  # fmt: skip
            fields = {"text": each.text, "source": "consolidation", "created_at": at, "trust": "auto"}
            self.lines.insert(place, json.dumps(fields, ensure_ascii=False).encode())
        return b"\n".join(self.lines) + b"\n"


OTHERS = st.sampled_from(
    [
        b"", b"{broken", b"[1]", b"\xff\xfe", b'{"text": 5}', b'{"text": "x", "created_at": NaN, "source": "tool"}', b"\r",
        '{"text": "Le thé vert est prêt", "source": "chat", "created_at": 1.0, "trust": ""}'.encode(),
        b'{"text": "Marie habite a Lyon", "source": "consolidation", "created_at": 1783598460.0, "trust": "auto"}',
        b'{"text": "Un fait bien plus tard", "source": "consolidation", "created_at": 9999999999, "trust": "auto"}',
    ]
)  # fmt: skip
NIGHTS = st.lists(st.tuples(st.sampled_from(TEXTS), st.integers(0, 5)), min_size=1, max_size=4)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("night"), NIGHTS),
        st.tuples(st.just("rested"), st.integers(1, 10**9)),
        st.tuples(st.just("line"), st.tuples(OTHERS, st.integers(0, 9))),
        st.tuples(st.sampled_from(["oldest", "reversed", "same length", "unended", "forgotten", "cut", "other rules"]), st.none()),
    ),
    max_size=12,
)  # fmt: skip


def another_writer(path, what, how):
    lines = path.read_bytes().split(b"\n") if path.exists() else [b""]
    match what:
        case "line":
            lines.insert(how[1] % len(lines), how[0])
        case "oldest":
            lines = lines[1:] or lines
        case "reversed":
            lines = [*reversed(lines[:-1]), lines[-1]]
        case "unended":
            lines = lines[:-1] or lines
        case _:
            path.write_bytes(b"\n".join(lines).replace(b"Lyon", b"Metz"))  # in place, of the same length
            return
    other = path.with_name("other")
    other.write_bytes(b"\n".join(lines))
    other.rename(path)


def damaged(seen, what):
    if what == "forgotten":
        seen.unlink()
    elif what == "cut":
        seen.write_bytes(seen.read_bytes()[:-3])
    else:
        seen.write_bytes(seen.read_bytes().replace(b"hzfacts", b"hzother"))


@given(steps=STEPS)
def test_whoever_else_writes_the_file_becomes_what_reading_every_line_makes_of_it(steps, tmp_path_factory):
    folder = tmp_path_factory.mktemp("facts")
    path, seen = folder / "memory_facts.jsonl", folder / facts_seen.FILE_NAME
    for what, how in [*steps, ("night", [(TEXTS[0], 2), (TEXTS[6], 1)])]:
        if what in {"forgotten", "cut", "other rules"}:
            if seen.exists():
                damaged(seen, what)
            continue
        if what == "rested":
            if path.exists():
                os.utime(path, (how, how))
            continue
        if what != "night":
            another_writer(path, what, how)
            continue
        before = path.read_bytes() if path.exists() else b""
        facts = [fact(*each) for each in how]
        plain = Plain(before)
        with FactsJournal(path).session() as shared:
            assert shared.free == plain.free()
            assert shared.near(facts) == plain.near(facts)
            shared.add(facts)
        expected = plain.added(facts)
        assert (path.read_bytes() if path.exists() else b"") == (before if expected is None else expected)


def test_a_line_is_read_once_and_then_only_what_others_wrote_is(path, read):
    line = '{{"text": "Un fait numéro {}.", "source": "chat", "created_at": 1.0, "trust": ""}}\n'
    path.write_text("".join(line.format(n) for n in range(50)), encoding="utf-8")
    add(path, fact(TEXTS[0]))
    assert len(read) == 51
    read.clear()
    add(path, fact(TEXTS[1]))
    assert len(read) == 1  # its own
    lines = path.read_bytes().split(b"\n")
    path.write_bytes(b"\n".join([*lines[5:20], line.format(99).strip().encode(), *lines[20:]]))
    read.clear()
    add(path, fact(TEXTS[0]))
    assert read == [line.format(99).strip().encode()]


def test_the_same_bytes_in_another_file_are_known(path, read):
    add(path, fact(TEXTS[0]))
    shutil.copyfile(path, path.with_name("copy"))
    path.with_name("copy").rename(path)
    os.utime(path, (1, 1))
    read.clear()
    add(path, fact(TEXTS[0]))
    assert read == []


def test_a_file_that_has_rested_is_known_without_its_bytes_and_a_later_change_of_it_is_noticed(path):
    add(path, fact(TEXTS[0]))
    os.utime(path, (1, 1))
    with FactsJournal(path).session():
        pass  # seen at rest
    kept = facts_seen.load(path.with_name(facts_seen.FILE_NAME))
    assert kept is not None
    now = facts_seen.stamp(path.stat())
    assert kept.is_of(bytearray(kept.size), now)
    path.write_bytes(path.read_bytes().replace(b"Lyon", b"Metz"))
    assert facts_seen.stamp(path.stat()) == facts_seen.Stamp()
    assert not kept.is_of(bytearray(path.read_bytes()), facts_seen.stamp(path.stat()))
    assert add(path, fact(TEXTS[0])) == 1


def test_after_a_kill_between_the_two_writes_only_the_new_lines_are_read(path, read):
    add(path, fact(TEXTS[0]))
    seen = path.with_name(facts_seen.FILE_NAME)
    before = seen.read_bytes()
    add(path, fact(TEXTS[1], 1), fact(TEXTS[3], 2))
    seen.write_bytes(before)
    read.clear()
    assert add(path, fact(TEXTS[1], 1)) == 0
    assert len(read) == 2
    assert seen.read_bytes() != before


def test_a_disk_that_refuses_the_cache_loses_no_fact(path):
    path.with_name(facts_seen.FILE_NAME).mkdir()
    assert add(path, fact(TEXTS[0])) == 1
    assert add(path, fact(TEXTS[0])) == 0


def test_not_a_word_of_a_fact_stands_in_what_was_seen_and_nothing_of_a_dropped_one(path):
    add(path, fact(TEXTS[0]), fact(TEXTS[7]))
    seen = path.with_name(facts_seen.FILE_NAME)
    kept = facts_seen.load(seen)
    assert kept is not None
    gone = near = facts_seen.near_number(near_key(TEXTS[7]))
    assert near in kept.nears
    for word in (*TEXTS[0].split(), "王小明", "consolidation"):
        assert word.encode() not in seen.read_bytes()
    with FactsJournal(path).session() as shared:
        assert shared.drop([fact_id(TEXTS[7])]) == 1
    after = facts_seen.load(seen)
    assert after is not None
    assert (len(after.nears), gone in after.nears, gone in after.sorted_nears) == (1, False, False)


def test_of_a_fact_of_ours_whose_date_is_no_number_only_the_place_is_not_known(path):
    path.write_bytes(b'{"text": "Sans date.", "source": "consolidation", "created_at": "hier", "trust": "auto"}\n')
    add(path, fact(TEXTS[0]))
    assert len(path.read_bytes().splitlines()) == 2
    with FactsJournal(path).session() as shared:
        assert shared.drop([fact_id("Sans date.")]) == 1
    assert b"hier" not in path.read_bytes()


def test_near_keys_are_those_of_their_version():
    """Where this fails on purpose, raise `NEAR_VERSION`: what files keep by the old keys is then made again."""
    keys = repr(
        [
            near_key(text)
            for text in (*TEXTS, "Depuis 2019, Marie vit à l'Île-d'Yeu.", "10⁵ n'est pas 105", "v1.2 a.b/c x@y.fr")
        ]
    )
    assert (NEAR_VERSION, sha256(keys.encode()).hexdigest()[:16]) == (1, "7c6e8f11ba0c3fbe")
