"""What the ledger's fold says of days, and of facts over time (spec 2-consolidation §4, §5)."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from horizon.core.day import DayState
from horizon.core.fact import Fact, Trust, fact_id, near_key
from horizon.core.night import (
    PUSHED_MOST,
    PUSHED_WITHIN,
    Applied,
    Attempted,
    Decided,
    Decision,
    Ledger,
    PartRead,
    Row,
    Settled,
    Span,
    apply,
    decide,
    room,
)  # fmt: skip

DAY = date(2026, 7, 9)
NOW = datetime(2026, 7, 20, tzinfo=UTC)


def fact(text, day=DAY, *, keeper=True, trust=Trust.AUTO):
    at = datetime(day.year, day.month, day.day, 9, tzinfo=UTC)
    return Fact(text=text, day=day, at=at, trust=trust, cites=("traces.db#a",), said_by_keeper=keeper)


def learn(ledger, *facts, room=20, shared=None):
    decided = decide(ledger, facts, shared or {}, room)
    apply(ledger, Settled(day=facts[0].day, at=NOW, state=DayState.DONE, section="s", facts=decided, by="ollama/m"))
    apply(ledger, Applied(day=facts[0].day, at=NOW, section="written"))
    return decided


def known(ledger, text):
    return ledger.facts[fact_id(text)]


POSTGRES = "Le projet Atlas utilise Postgres."
SQLITE = "Le projet Atlas utilise désormais SQLite."
LATER = DAY + timedelta(days=10)


def test_a_changed_mind_closes_the_old_fact_with_a_date_and_keeps_it():
    ledger = Ledger()
    learn(ledger, fact(POSTGRES))
    (decided,) = learn(ledger, fact(SQLITE, LATER))
    assert decided.replaces == (fact_id(POSTGRES),)
    old, new = known(ledger, POSTGRES), known(ledger, SQLITE)
    assert (old.holds(DAY), old.holds(LATER - timedelta(days=1)), old.holds(LATER)) == (True, True, False)
    assert (new.holds(DAY), new.holds(LATER)) == (False, True)
    assert old.superseded_by == fact_id(SQLITE)


def test_going_back_makes_the_old_fact_hold_again():
    ledger = Ledger()
    learn(ledger, fact("Marie habite à Lyon."))
    learn(ledger, fact("Marie habite à Paris.", LATER))
    back = LATER + timedelta(days=5)
    (decided,) = learn(ledger, fact("Marie habite à Lyon.", back))
    assert decided.decision is Decision.MERGED
    lyon, paris = known(ledger, "Marie habite à Lyon."), known(ledger, "Marie habite à Paris.")
    assert [lyon.holds(day) for day in (DAY, LATER, back)] == [True, False, True]
    assert [paris.holds(day) for day in (DAY, LATER, back)] == [False, True, False]


def test_a_day_made_up_late_does_not_close_what_came_after_it():
    ledger = Ledger()
    learn(ledger, fact(SQLITE, LATER))
    (decided,) = learn(ledger, fact(POSTGRES))
    assert decided.replaces == ()
    assert known(ledger, SQLITE).holds(LATER + timedelta(days=99))
    assert (known(ledger, POSTGRES).holds(DAY), known(ledger, POSTGRES).holds(LATER)) == (True, False)


def test_a_day_made_up_late_ends_what_held_then_and_not_what_came_after():
    ledger = Ledger()
    learn(ledger, fact("Marie habite à Lyon."))
    learn(ledger, fact("Marie habite à Nice.", LATER))
    between = DAY + timedelta(days=4)
    (decided,) = learn(ledger, fact("Marie habite à Brest.", between))
    assert (decided.replaces, decided.replaced_by) == (
        (fact_id("Marie habite à Lyon."),),
        fact_id("Marie habite à Nice."),
    )
    spans = {each.text: [(span.since, span.until) for span in each.spans] for each in ledger.facts.values()}
    assert spans == {
        "Marie habite à Lyon.": [(DAY, between)],
        "Marie habite à Brest.": [(between, LATER)],
        "Marie habite à Nice.": [(LATER, None)],
    }


def test_a_changed_mind_is_found_among_many_facts_whatever_it_begins_with():
    ledger = Ledger()
    many = [fact(f"Le code du portail{n} est D-{n}.") for n in range(150)]
    assert len(learn(ledger, *many, room=10_000)) == 150
    assert len(learn(ledger, *(fact(each.text, LATER) for each in many))) == 150
    learn(ledger, fact("Marie habite à Lyon."))
    (decided,) = learn(ledger, fact("Désormais, Marie habite à Nice.", LATER))
    assert decided.replaces == (fact_id("Marie habite à Lyon."),)


CITIES = ("Lyon", "Nice", "Brest", "Dijon", "Porto", "Gand")


@given(st.permutations(list(enumerate(CITIES))))
def test_in_whatever_order_days_are_made_one_home_holds_on_each(order):
    ledger = Ledger()
    for ahead, city in order:
        learn(ledger, fact(f"Marie habite à {city}.", DAY + timedelta(days=3 * ahead)))
    for ahead in range(3 * len(CITIES) + 2):
        day = DAY + timedelta(days=ahead)
        holding = [each.text for each in ledger.facts.values() if each.holds(day)]
        assert holding == [f"Marie habite à {CITIES[min(ahead // 3, len(CITIES) - 1)]}."]


def test_memory_that_an_agent_repeats_changes_nothing():
    ledger = Ledger()
    learn(ledger, fact("Marie habite à Lyon."))
    learn(ledger, fact("Marie habite à Paris.", LATER))
    learn(ledger, fact("Marie habite à Lyon.", LATER + timedelta(days=1), keeper=False))
    assert not known(ledger, "Marie habite à Lyon.").holds(LATER + timedelta(days=2))
    (decided,) = learn(ledger, fact("Marie habite à Nice.", LATER + timedelta(days=3), keeper=False))
    assert decided.replaces == ()


SAID = st.builds(
    lambda who, place, hour, keeper: Fact(
        text=f"{who} {place}.", day=DAY, at=datetime(2026, 7, 9, hour, tzinfo=UTC), trust=Trust.AUTO,
        cites=(f"traces.db#{hour}",), said_by_keeper=keeper,
    ),
    st.sampled_from(["Marie", "Paul"]),
    st.sampled_from(
        ["habite à Lyon", "habite à Nice", "habite à Brest", "utilise Postgres", "utilise désormais SQLite", "HABITE à Nice"]
    ),
    st.integers(0, 21),
    st.booleans(),
)  # fmt: skip


def moved(said, ahead):
    return replace(said, day=said.day + timedelta(days=ahead), at=said.at + timedelta(days=ahead))


def holding(ledger):
    return {each.text: (each.spans, each.superseded_by) for each in ledger.facts.values()}


@given(
    st.permutations(range(4)),
    st.lists(st.lists(SAID, min_size=1, max_size=5), min_size=4, max_size=4),
    st.lists(st.integers(0, 3), min_size=1, max_size=6),
)
def test_days_that_are_read_again_end_in_the_state_of_one_run(order, days, again):
    ledger = Ledger()
    for ahead in order:
        learn(ledger, *(moved(said, ahead) for said in days[ahead]))
    once, evidence = holding(ledger), {each.id: each.evidence for each in ledger.facts.values()}
    for ahead in again:
        decided = learn(ledger, *(moved(said, ahead) for said in days[ahead]))
        assert all(each.decision is Decision.MERGED and not each.replaces for each in decided)
        assert holding(ledger) == once
    assert {each.id: each.evidence for each in ledger.facts.values()} == evidence


def test_what_one_day_says_twice_over_holds_side_by_side_however_often_it_is_read():
    first, second = fact("Marie habite à Lyon."), replace(fact("Marie habite à Nice."), at=NOW)
    ledger = Ledger()
    for _ in range(3):
        learn(ledger, first, second)
        assert all(each.spans == (Span(since=DAY),) for each in ledger.facts.values())


def test_what_arrives_late_of_a_day_ends_as_if_it_had_been_read_at_once():
    first, second = fact("Marie habite à Lyon."), replace(fact("Marie habite à Nice."), at=NOW)
    at_once, late = Ledger(), Ledger()
    learn(at_once, first, second)
    learn(late, first)
    learn(late, first, second)
    assert holding(late) == holding(at_once)


def test_a_ledger_whose_reruns_let_a_days_facts_end_each_other_reads_as_one_run():
    first, second = fact("Marie habite à Lyon."), replace(fact("Marie habite à Nice."), at=NOW)
    ledger = Ledger()
    learn(ledger, first, second)
    once = holding(ledger)
    again = (
        Decided(fact=first, decision=Decision.MERGED, into=first.id),
        Decided(fact=second, decision=Decision.MERGED, into=second.id, replaces=(first.id,)),
    )
    apply(ledger, Settled(day=DAY, at=NOW, state=DayState.DONE, facts=again))
    assert holding(ledger) == once


def test_a_quarantined_fact_takes_nobodys_place_and_is_not_for_the_index():
    ledger = Ledger()
    learn(ledger, fact("Marie habite à Lyon."))
    learn(ledger, fact("Marie habite à Paris.", LATER, trust=Trust.UNTRUSTED))
    assert known(ledger, "Marie habite à Lyon.").holds(LATER)
    assert list(ledger.unindexed) == [fact_id("Marie habite à Lyon.")]


def test_what_the_owner_dropped_is_not_new_again_and_its_provenance_grows():
    ledger = Ledger()
    learn(ledger, fact(POSTGRES))
    (decided,) = learn(ledger, fact("le projet Atlas utilise Postgres", LATER), shared={})
    assert (decided.decision, decided.into) == (Decision.MERGED, fact_id(POSTGRES))
    assert [each.day for each in known(ledger, POSTGRES).evidence] == [DAY, LATER]


def test_what_another_writer_has_in_the_shared_file_is_known():
    ledger = Ledger()
    (decided,) = learn(ledger, fact(POSTGRES), shared={near_key(POSTGRES): fact_id(POSTGRES)})
    assert decided.decision is Decision.MERGED
    assert known(ledger, POSTGRES).evidence[0].cites == ("traces.db#a",)


@given(st.lists(st.tuples(st.integers(0, 72), st.integers(1, 40)), max_size=20), st.integers(0, 30))
def test_within_a_day_no_more_is_pushed_out_than_the_share(runs, free):
    ledger = Ledger()
    pushed = []
    for hour, wanted in sorted(runs):
        at = NOW + timedelta(hours=hour)
        taken = min(wanted, room(ledger, 0, at))
        apply(ledger, Settled(day=DAY, at=at, state=DayState.DONE, pushed=taken))
        pushed.append((at, taken))
    for at, _ in pushed:
        assert sum(count for when, count in pushed if at - PUSHED_WITHIN < when <= at) <= PUSHED_MOST
    assert room(ledger, free, NOW + timedelta(days=5)) == free + PUSHED_MOST


def test_what_ended_stays_ended_where_what_took_its_place_was_forgotten():
    ledger = Ledger()
    learn(ledger, fact(POSTGRES))
    apply(ledger, Settled(day=LATER, at=NOW, state=DayState.DONE, ended=(fact_id(POSTGRES), "unknown")))
    old = known(ledger, POSTGRES)
    assert (old.holds(LATER - timedelta(days=1)), old.holds(LATER), old.superseded_by) == (True, False, "")


def test_beyond_its_share_a_night_keeps_facts_to_itself():
    ledger = Ledger()
    decided = learn(ledger, fact("Marie habite à Lyon."), fact("Paul aime le café noir."), room=1)
    assert [each.decision for each in decided] == [Decision.NEW, Decision.HELD_BACK]
    assert not known(ledger, "Paul aime le café noir.").shared


def settled(state, **more):
    return Settled(day=DAY, at=NOW, state=state, **more)


ATTEMPT = Attempted(day=DAY, at=NOW, fingerprint="f", models=("ollama/m",))


@pytest.mark.parametrize(
    ("events", "state"),
    [
        ([], DayState.NEVER),
        ([ATTEMPT], DayState.OWED),  # cut off
        ([ATTEMPT, settled(DayState.OWED)], DayState.OWED),
        ([settled(DayState.EMPTY)], DayState.EMPTY),
        ([settled(DayState.SOURCE_MISSING)], DayState.SOURCE_MISSING),
        ([ATTEMPT, settled(DayState.DONE)], DayState.OWED),  # not yet written
        ([ATTEMPT, settled(DayState.DONE), Applied(day=DAY, at=NOW, section="written")], DayState.DONE),
        ([ATTEMPT, settled(DayState.DEGRADED), Applied(day=DAY, at=NOW, section="written")], DayState.DEGRADED),
        (
            [settled(DayState.DONE), Applied(day=DAY, at=NOW, section="w"), ATTEMPT, settled(DayState.OWED)],
            DayState.DONE,
        ),
        (
            [settled(DayState.DONE), Applied(day=DAY, at=NOW, section="w"), settled(DayState.SOURCE_MISSING)],
            DayState.DONE,
        ),
        ([settled(DayState.SOURCE_MISSING), settled(DayState.EMPTY)], DayState.EMPTY),
    ],
)
def test_a_days_state(events, state):
    ledger = Ledger()
    for event in events:
        apply(ledger, event)
    assert ledger.row(DAY).state is state


def test_attempts_count_unusable_replies_for_the_same_exchanges_only():
    ledger = Ledger()
    for unreachable in (False, True, False):
        apply(ledger, ATTEMPT)
        apply(ledger, settled(DayState.OWED, unreachable=unreachable))
    assert ledger.row(DAY).attempts == 2
    apply(ledger, Attempted(day=DAY, at=NOW, fingerprint="other", models=()))
    assert ledger.row(DAY).attempts == 1


def test_replies_wait_for_the_next_run_until_a_result_used_them():
    ledger = Ledger()
    apply(ledger, PartRead(day=DAY, at=NOW, key="k", by="m", text="t"))
    apply(ledger, PartRead(day=DAY, at=NOW, key="bad", by="m", reason="empty"))
    apply(ledger, settled(DayState.DEGRADED))
    assert list(ledger.row(DAY).parts) == ["k"]
    apply(ledger, settled(DayState.DONE))
    assert ledger.row(DAY).parts == {}
    assert ledger.row(date(2026, 1, 1)) == Row()
