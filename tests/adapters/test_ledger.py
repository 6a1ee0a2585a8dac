"""The ledger gives back what was recorded, passes over what it cannot read, and folds as events come (spec 2-consolidation §5)."""

from __future__ import annotations

import json
import tempfile
from datetime import UTC, date, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from horizon.adapters.ledger import LedgerFile
from horizon.core.day import DayState
from horizon.core.extraction import Reading, Refusal
from horizon.core.fact import Fact, Quote, Trust, fact_id
from horizon.core.night import Applied, Attempted, Decided, Decision, Indexed, Ledger, PartRead, Settled, apply

DAY = date(2026, 7, 9)
NOW = datetime(2026, 7, 10, 1, 30, tzinfo=UTC)


def fact(text="Marie habite à Lyon.", day=DAY, trust=Trust.AUTO):
    return Fact(
        text=text, day=day, at=datetime(day.year, day.month, day.day, 9, tzinfo=UTC), trust=trust, cites=("traces.db#a",),
        quotes=(Quote(address="traces.db#a", words="à Lyon"),), said_by_keeper=True,
    )  # fmt: skip


def done(*facts, day=DAY, **more):
    decided = tuple(Decided(fact=each, decision=Decision.NEW) for each in facts)
    values = {
        "fingerprint": "f",
        "digests": "0" * 16,
        "read": 1,
        "section": "Résumé.",
        "by": "ollama/m",
        "facts": decided,
    } | more
    return Settled(day=day, at=NOW, state=DayState.DONE, **values)


EVENTS = (
    Attempted(day=DAY, at=NOW, fingerprint="f", models=("ollama/m",), force=True),
    PartRead(day=DAY, at=NOW, key="k", by="ollama/m", reading=Reading(facts=(fact(),), summary="S.", proposed=2, refused={Refusal.QUOTE: 1})),
    PartRead(day=DAY, at=NOW, key="s", by="ollama/m", text='Résumé \u2028 "x"'),
    PartRead(day=DAY, at=NOW, key="r", by="", reason="empty"),
    done(
        fact(), left_out={"blank": 2}, proposed=3, merged=1, refused={"malformed": 1}, isolated=("traces.db#z",), prompt_version="nuit-1",
        calls=2, prompt_tokens=10, reply_tokens=5, seconds=1.25, sources=("traces.db",), summary="Résumé.",
    ),
    Settled(
        day=DAY, at=NOW, state=DayState.DONE, section="R.", pushed=3, ended=("abc", "def"),
        facts=(
            Decided(fact=fact("Marie habite à Paris."), decision=Decision.NEW, replaces=(fact_id("Marie habite à Lyon."),)),
            Decided(fact=fact("Paul habite à Nice."), decision=Decision.HELD_BACK, replaced_by="abc", until=date(2026, 7, 12)),
            Decided(fact=fact("marie habite à lyon"), decision=Decision.MERGED, into=fact_id("Marie habite à Lyon.")),
        ),
    ),
    Settled(day=DAY, at=NOW, state=DayState.OWED, error="non", unreachable=True),
    Settled(day=DAY, at=NOW, state=DayState.DEGRADED, chosen=True, section="x", by="troncature"),
    Applied(day=DAY, at=NOW, section="written"),
    Indexed(at=NOW, ids=("a", "b")),
)  # fmt: skip


@pytest.fixture
def ledger(tmp_path):
    return LedgerFile(tmp_path / "consolidation.jsonl")


def test_what_was_recorded_is_what_is_folded_here_and_in_a_new_process(ledger):
    folded = Ledger()
    for event in EVENTS:
        ledger.record(event)
        apply(folded, event)
        assert ledger.load() == folded
        assert LedgerFile(ledger.path).load() == folded
    assert ledger.oddities() == ()


def test_no_file_is_an_empty_ledger_and_reading_makes_none(ledger):
    assert ledger.load() == Ledger()
    assert not ledger.path.exists()


JUNK = [
    b"", b"{", b"[]", b"null", b'{"evenement": "autre", "jour": "2026-07-09", "quand": "2026-07-09T00:00:00Z"}', b"\xff\xfe",
    b'{"evenement": "essai", "jour": "hier", "quand": "2026-07-09T00:00:00Z"}', b"[" * 5000,
    b'{"evenement": "ecrit", "jour": "2026-07-09", "quand": 5}', b'{"evenement": "essai", "jour": "2026-07-09", "quand": "2026-07-09"}',
    b'{"evenement": "resultat", "jour": "2026-07-09", "quand": "2026-07-09T00:00:00Z", "etat": "autre"}',
    b'{"evenement": "resultat", "jour": "2026-07-09", "quand": "2026-07-09T00:00:00Z", "etat": "done", "faits": [1]}',
]  # fmt: skip


@given(st.lists(st.sampled_from(JUNK), max_size=6))
def test_junk_between_events_is_passed_over_named_and_untouched(junk):
    with tempfile.TemporaryDirectory() as folder:
        ledger = LedgerFile(Path(folder) / "consolidation.jsonl")
        ledger.record(EVENTS[0])
        first = ledger.path.read_bytes()
        with ledger.path.open("ab") as file:
            file.write(b"".join(line + b"\n" for line in junk))
        ledger.record(EVENTS[4])
        clean = Ledger()
        apply(clean, EVENTS[0])
        apply(clean, EVENTS[4])
        assert LedgerFile(ledger.path).load() == clean == ledger.load()
        assert len(ledger.oddities()) == sum(1 for line in junk if line)
        assert ledger.path.read_bytes().startswith(first + b"".join(line + b"\n" for line in junk))


def test_a_torn_last_line_is_mended_by_the_next_event(ledger):
    ledger.record(EVENTS[0])
    with ledger.path.open("ab") as file:
        file.write(b'{"evenement": "resul')
    ledger.record(EVENTS[4])
    assert ledger.load().row(DAY).settled is not None
    assert [oddity.line for oddity in ledger.oddities()] == [2]


def test_a_ledger_that_was_replaced_is_read_anew(ledger):
    ledger.record(EVENTS[4])
    assert ledger.load().facts
    ledger.path.unlink()
    assert ledger.load() == Ledger()
    other = LedgerFile(ledger.path)
    other.record(EVENTS[0])
    assert ledger.load().row(DAY).attempts == 1


def test_each_line_is_a_plain_json_object(ledger):
    for event in EVENTS:
        ledger.record(event)
    for line in ledger.path.read_bytes().split(b"\n")[:-1]:
        assert set(json.loads(line)) >= {"evenement", "quand"}
