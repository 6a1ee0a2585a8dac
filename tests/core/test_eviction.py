"""What maintenance sheds, by hand and over arbitrary states."""

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from horizon.core.beacon import Floor
from horizon.core.budget import Budgets
from horizon.core.event import Appended, Cause, Condensed, Evicted, Flagged, Narrated, Section, Word
from horizon.core.eviction import BATCH_CHARS, Held, Reason, plan_eviction, plan_melting
from horizon.core.exchange import Entry, Exchange, Position
from horizon.core.receipt import Rule
from horizon.core.state import State, Zone, apply, in_lived_order
from horizon.core.view import view_of
from horizon.core.zone import NOTICE_CHARS, chars_of, compose_narrative, entries, rooms
from tests.core.test_render import PARIS
from tests.strategies import START, options, states

NOW = START + timedelta(hours=12)


def with_budgets(sharp, condensed, narrative, floor=Floor.CONDENSED):
    return replace(PARIS, budgets=Budgets(sharp=sharp, condensed=condensed, narrative=narrative), floor=floor)


def sharp_state(*told, question="q" * 40, answer="r" * 60):
    """Exchanges e0, e1… one a minute; `told` gives each one's kind by a letter: b for a beacon, p for a plain one."""
    state = State()
    for number, letter in enumerate("".join(told)):
        exchange = Exchange(
            id=f"e{number}",
            at=START + timedelta(minutes=number),
            kind="conversation" if letter == "b" else "outil",
            question=question,
            answer=answer,
        )
        apply(state, Appended(entry=Entry(position=Position(0, number), exchange=exchange)))
    return state


def condense(state, ids, text="c" * 60):
    for id_ in ids:
        apply(state, Condensed(id=id_, text=text, by="ollama/essai", degraded=False, at=START))
    if ids:
        apply(state, Evicted(ids=tuple(ids), at=START))


def melt(state, ids, beacons):
    held = {exchange.id: exchange for exchange in state.condensed.values()}
    words = tuple(Word(id=id_, at=held[id_].at, text=held[id_].question) for id_ in ids if id_ in beacons)
    apply(
        state,
        Narrated(
            version=1,
            base=0,
            cause=Cause.MELTING,
            sections={Section.MISSION: "Phrase. " * 2000},
            by="ollama/essai",
            degraded=False,
            at=START,
            ids=tuple(ids),
            words=words,
        ),
    )


def maintain(state, chosen, now=NOW, age_hours=24.0, most=500):
    """A whole pass as maintenance does it; gives how many events it took. Fails where it does not end."""
    steps = 0
    while (eviction := plan_eviction(state, chosen, now=now, age_hours=age_hours)).ids:
        condense(state, eviction.ids)
        steps += 1
        assert steps < most
    while (melting := plan_melting(state, chosen)).ids:
        melt(state, melting.ids, {item.id for item in melting.leaving if item.beacon})
        steps += 1
        assert steps < most
    return steps


SIZE = {item.beacon: item.chars for item in entries(sharp_state("bp"), Zone.SHARP, PARIS)}
"""Characters of an entry of `sharp_state` with a one-digit number, by whether it is a beacon."""


def test_nothing_is_due_within_the_budget():
    state = sharp_state("pppp")
    plan = plan_eviction(state, with_budgets(4 * SIZE[False], 1000, 1000), now=NOW, age_hours=24)
    assert (plan.leaving, plan.after, plan.why) == ((), 4 * SIZE[False], None)
    assert plan_melting(state, PARIS).leaving == ()


def test_over_budget_the_oldest_leave_down_to_the_low_water_mark():
    state = sharp_state("p" * 10)
    plan = plan_eviction(state, with_budgets(10 * SIZE[False] - 1, 1000, 1000), now=NOW, age_hours=24)
    # 80 % of a room of nearly ten entries holds seven of them.
    assert plan.ids == ("e0", "e1", "e2")
    assert (plan.after, plan.why) == (7 * SIZE[False], None)
    assert {item.reason for item in plan.leaving} == {Reason.BUDGET}


def test_what_is_past_its_age_leaves_but_never_the_latest():
    state = sharp_state("pbp")
    plan = plan_eviction(state, with_budgets(9000, 1000, 1000), now=START + timedelta(hours=1, seconds=30), age_hours=1)
    assert [(item.id, item.reason) for item in plan.leaving] == [("e0", Reason.AGE)]
    plan = plan_eviction(state, with_budgets(9000, 1000, 1000), now=START + timedelta(days=9), age_hours=1)
    assert plan.ids == ("e0", "e1")


def test_with_the_floor_net_plain_exchanges_leave_first():
    state = sharp_state("bbppbp")
    most = 6 * SIZE[True]
    plan = plan_eviction(state, with_budgets(most - 100, 1000, 1000, Floor.SHARP), now=NOW, age_hours=24)
    assert plan.ids == ("e2", "e3")
    assert plan_eviction(state, with_budgets(most - 100, 1000, 1000), now=NOW, age_hours=24).ids == ("e0", "e1")


def test_with_the_floor_net_beacons_leave_only_where_they_alone_overflow_and_never_by_age():
    state = sharp_state("bbbbp")
    chosen = with_budgets(3 * SIZE[True], 1000, 1000, Floor.SHARP)
    plan = plan_eviction(state, chosen, now=NOW, age_hours=24)
    assert plan.ids == ("e0", "e1", "e2")
    late = START + timedelta(days=9)
    plan = plan_eviction(state, with_budgets(9000, 1000, 1000, Floor.SHARP), now=late, age_hours=24)
    assert (plan.ids, plan.why) == ((), Held.FLOOR)


def test_the_latest_stays_even_where_it_alone_is_over_the_budget_and_the_plan_says_so():
    plan = plan_eviction(sharp_state("p"), with_budgets(10, 10, 10), now=START + timedelta(days=9), age_hours=1)
    assert (plan.ids, plan.why) == ((), Held.LATEST)
    assert plan.after > plan.room


def condensed_state(told):
    state = sharp_state(told + "p")
    condense(state, [f"e{number}" for number in range(len(told))])
    return state


CONDENSED_SIZE = {item.beacon: item.chars for item in entries(condensed_state("bp"), Zone.CONDENSED, PARIS)}


def test_melting_goes_down_to_half_of_the_room_oldest_first():
    state = condensed_state("p" * 8)
    plan = plan_melting(state, with_budgets(1000, 8 * CONDENSED_SIZE[False] - 1, 1000))
    assert plan.ids == ("e0", "e1", "e2", "e3", "e4")
    assert plan.after == 3 * CONDENSED_SIZE[False]
    assert plan_melting(state, with_budgets(1000, 8 * CONDENSED_SIZE[False], 1000)).ids == ()


def test_beacons_melt_only_where_they_alone_overflow():
    state = condensed_state("bbppbb")
    room = 5 * CONDENSED_SIZE[True]
    assert plan_melting(state, with_budgets(1000, room, 1000)).ids == ("e2", "e3")
    assert plan_melting(state, with_budgets(1000, room, 1000, Floor.SHARP)).ids == ("e2", "e3")
    assert plan_melting(state, with_budgets(1000, room, 1000, Floor.NARRATIVE)).ids == ("e0", "e1", "e2", "e3")
    few = 3 * CONDENSED_SIZE[True]
    assert plan_melting(state, with_budgets(1000, few, 1000)).ids == ("e0", "e1", "e2", "e3", "e4")


def test_a_batch_is_bounded_and_one_long_entry_is_a_batch_of_its_own():
    state = sharp_state("p" * 31, question="q" * 450)
    condense(state, [f"e{number}" for number in range(30)])
    plan = plan_melting(state, with_budgets(1000, 15_000, 1000))
    sizes = {item.exchange.id: item.chars for item in entries(state, Zone.CONDENSED, PARIS)}
    assert sum(sizes[id_] for id_ in plan.ids) <= BATCH_CHARS
    assert len(plan.leaving) == 10
    state = sharp_state("bbp", question="q" * 14_000)
    condense(state, ["e0", "e1"])
    assert plan_melting(state, PARIS).ids == ("e0",)


def test_where_the_other_zones_cannot_pay_the_notice_the_sharp_one_does():
    assert rooms(Budgets(sharp=500, condensed=50, narrative=20)) == Budgets(
        sharp=500 - (NOTICE_CHARS - 70), condensed=0, narrative=0
    )
    assert rooms(Budgets(sharp=1, condensed=0, narrative=0)) == Budgets(sharp=0, condensed=0, narrative=0)


@settings(max_examples=200)
@given(states(), options(), st.sampled_from((0.5, 24.0)))
def test_after_a_whole_pass_no_hard_cut_is_needed(state, chosen, age_hours):
    maintain(state, chosen, age_hours=age_hours)
    sharp = entries(state, Zone.SHARP, chosen)
    assert plan_eviction(state, chosen, now=NOW, age_hours=age_hours).ids == plan_melting(state, chosen).ids == ()
    if not sharp or sharp[-1].chars <= rooms(chosen.budgets).sharp:
        assert {cut.rule for cut in view_of(state, chosen).cuts} <= {Rule.ROOM}


@given(states(), options(), st.sampled_from((0.5, 24.0)))
def test_the_latest_never_leaves_and_plans_keep_the_order(state, chosen, age_hours):
    plan = plan_eviction(state, chosen, now=NOW, age_hours=age_hours)
    lived = [exchange.id for _, exchange in in_lived_order(state.sharp)]
    assert list(plan.ids) == [id_ for id_ in lived if id_ in set(plan.ids)]
    assert not lived or lived[-1] not in plan.ids
    stay = [item.chars for item in entries(state, Zone.SHARP, chosen) if item.exchange.id not in plan.ids]
    assert sum(stay) == plan.after or plan.room < plan.after <= sum(stay)
    beacons_leave = any(item.beacon for item in plan.leaving)
    plain_stay = any(
        not item.beacon and item.exchange.id not in plan.ids for item in entries(state, Zone.SHARP, chosen)[:-1]
    )
    assert not (chosen.floor is Floor.SHARP and beacons_leave and plain_stay)


DEFAULT = with_budgets(12_000, 6_000, 3_000)


@pytest.mark.parametrize(
    ("count", "question", "answer"),
    [(3, "q", "r" * 350_000), (3, "q" * 14_000, "r"), (10, "q" * 3_000, "r" * 100), (400, "q" * 120, "r" * 600)],
)
@pytest.mark.parametrize("floor", list(Floor))
def test_real_extremes_end_in_a_view_that_fits(count, question, answer, floor):
    state = sharp_state("b" * count, question=question, answer=answer)
    chosen = replace(DEFAULT, floor=floor)
    maintain(state, chosen)
    view = view_of(state, chosen)
    assert view.chars <= view.budget == 21_000
    assert view.receipt[-1].ids == (f"e{count - 1}",)
    latest_fits = len(question) + len(answer) < 11_000
    assert not latest_fits or {cut.rule for cut in view.cuts} <= {Rule.ROOM}


def test_a_standing_order_of_the_first_day_is_there_after_sixty_meltings():
    order = "Always answer in metric units, never in feet.\nThank you."
    state = sharp_state("b", question=order)
    for number in range(1, 1500):
        at = START + timedelta(hours=number)
        chatter = f"Message {number}: " + "what about this and that then? " * 6
        exchange = Exchange(id=f"e{number}", at=at, question=chatter, answer="ok " * 100)
        apply(state, Appended(entry=Entry(position=Position(1, number), exchange=exchange)))
        maintain(state, DEFAULT, now=at)
    assert state.melted > 1000
    view = view_of(state, DEFAULT)
    assert f"· e0]\n{order}\n" in view.text
    assert {cut.rule for cut in view.cuts} <= {Rule.ROOM}
    newest = max(word.at for word, _ in compose_narrative(state, DEFAULT, 3_000).words)
    assert newest == state.words[-1].at
    assert "autres paroles, du 2026-07-10 au " in view.text


def test_flagging_what_has_melted_brings_its_words_back_and_unflagging_hides_them():
    state = condensed_state("p")
    melt(state, ["e0"], set())
    assert not compose_narrative(state, PARIS, 1000).words
    word = Word(id="e0", at=START, text="q" * 40)
    apply(state, Flagged(id="e0", on=True, at=NOW, word=word))
    assert [told for told, _ in compose_narrative(state, PARIS, 1000).words] == [word]
    apply(state, Flagged(id="e0", on=False, at=NOW))
    assert not compose_narrative(state, PARIS, 1000).words
    assert chars_of(compose_narrative(state, PARIS, 1000).parts) <= 1000
