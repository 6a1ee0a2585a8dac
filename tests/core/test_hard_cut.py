"""The hard cut, rule by rule by hand, and its guarantees over arbitrary states."""

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from horizon.core.beacon import is_beacon
from horizon.core.budget import Budgets
from horizon.core.escape import MARK, escape, unescape
from horizon.core.event import Appended, Cause, Condensed, Evicted, Narrated, Section, Word
from horizon.core.exchange import Entry, Exchange, Position
from horizon.core.grapheme import may_cut
from horizon.core.receipt import Role, Rule
from horizon.core.render import NOTICE
from horizon.core.state import State, Zone, apply, in_lived_order
from horizon.core.view import view_of
from horizon.core.zone import entries
from tests.core.test_render import PARIS
from tests.strategies import START, options, states

ORDER = list(Rule)


def budget(total, chosen=PARIS):
    """`chosen` with a hard budget of `total`, the narrative's own budget aside."""
    narrative = min(chosen.budgets.narrative, total)
    return replace(chosen, budgets=Budgets(sharp=total - narrative, condensed=0, narrative=narrative))


def sample():
    """Two condensed exchanges, two melted, four sharp; every second one a beacon, the latest a plain one."""
    state = State()
    for number in range(8):
        exchange = Exchange(
            id=f"e{number}",
            at=START + timedelta(minutes=number),
            kind="conversation" if number % 2 == 0 else "outil",
            question=f"question {number} " + "q" * 20,
            answer=f"réponse {number} " + "r" * 200,
        )
        apply(state, Appended(entry=Entry(position=Position(0, number), exchange=exchange)))
    for number in range(4):
        apply(
            state, Condensed(id=f"e{number}", text=f"condensé {number} " + "c" * 60, by="x", degraded=False, at=START)
        )
    apply(state, Evicted(ids=("e0", "e1", "e2", "e3"), at=START))
    apply(
        state,
        Narrated(
            version=1,
            base=0,
            cause=Cause.MELTING,
            sections={Section.MISSION: "m" * 80, Section.ERRORS: "x" * 70},
            by="y",
            degraded=False,
            at=START,
            ids=("e0", "e1"),
            words=(Word(id="e0", at=START, text="mots de e0"), Word(id="w", at=START, text="mots de w")),
        ),
    )
    return state


def shown(view):
    """What of the sample is in a view: entries as id and the roles shown of them, sections, words, the notice."""
    parts = [(*part.ids, part.role.value) for part in view.receipt if part.role in {Role.QUESTION, Role.ANSWER}]
    sections = [part.lead.split(" · ")[1][:-2] for part in view.receipt if part.role is Role.SECTION]
    words = [part.ids[0] for part in view.receipt if part.role is Role.WORD]
    return parts, sections, words, NOTICE in view.text


WHOLE = view_of(sample(), budget(10_000))
E3, E5, E7 = (
    (("e3", "question"), ("e3", "reponse")),
    (("e5", "question"), ("e5", "reponse")),
    [("e7", "question"), ("e7", "reponse")],
)
E2, E4, E6 = (
    (("e2", "question"), ("e2", "reponse")),
    (("e4", "question"), ("e4", "reponse")),
    (("e6", "question"), ("e6", "reponse")),
)


def chars(view, *wanted):
    return sum(part.chars for part in view.receipt if part.ids[:1] and part.ids[0] in wanted and part.zone != "recit")


def test_nothing_is_cut_where_all_fits():
    exact = view_of(sample(), budget(WHOLE.chars))
    assert exact.cuts == ()
    assert shown(exact) == ([*E2, *E3, *E4, *E5, *E6, *E7], ["mission", "erreurs"], ["e0", "w"], True)


def test_rule_1_drops_plain_condensed_entries_first():
    view = view_of(sample(), budget(WHOLE.chars - 1))
    assert shown(view) == ([*E2, *E4, *E5, *E6, *E7], ["mission", "erreurs"], ["e0", "w"], True)
    (cut,) = view.cuts
    assert (cut.rule, cut.zone, cut.ids) == (Rule.CONDENSED, Zone.CONDENSED, ("e3",))
    assert cut.chars == len("question 3 ") + 20 + len("condensé 3 ") + 60


def test_rule_2_drops_sections_one_by_one_and_keeps_the_words():
    total = WHOLE.chars - chars(WHOLE, "e3") - 1
    view = view_of(sample(), budget(total))
    assert shown(view) == ([*E2, *E4, *E5, *E6, *E7], ["mission"], ["e0", "w"], True)
    assert [(cut.rule, cut.what, cut.chars) for cut in view.cuts] == [
        (Rule.CONDENSED, "", 102),
        (Rule.NARRATIVE, Section.ERRORS, 70),
    ]


def test_rule_3_drops_plain_sharp_entries_but_not_the_latest():
    without_story = WHOLE.chars - chars(WHOLE, "e3") - len("[horizon · récit de soi]\n")
    without_story -= len("[horizon · mission]\n\n") + 80 + len("[horizon · erreurs]\n\n") + 70
    assert [cut.rule for cut in view_of(sample(), budget(without_story)).cuts] == ["1", "2", "2"]
    view = view_of(sample(), budget(without_story - 1))
    assert shown(view) == ([*E2, *E4, *E6, *E7], [], ["e0", "w"], True)
    assert view.cuts[-1].rule is Rule.SHARP
    assert view.cuts[-1].ids == ("e5",)


def protected():
    """The size once rules 1 to 3 have taken all they may."""
    size = WHOLE.chars - chars(WHOLE, "e3", "e5") - len("[horizon · récit de soi]\n")
    return size - (len("[horizon · mission]\n\n") + 80 + len("[horizon · erreurs]\n\n") + 70)


def test_rule_4a_takes_the_condensate_and_keeps_the_question():
    view = view_of(sample(), budget(protected() - 1))
    assert shown(view)[0] == [E2[0], *E4, *E6, *E7]
    assert [cut.rule for cut in view.cuts] == ["1", "2", "2", "3", "4a"]
    assert (view.cuts[-1].ids, view.cuts[-1].chars) == (("e2",), len("condensé 2 ") + 60)
    assert "question 2" in view.text


def stripped():
    """The size once 4a has taken the condensate of e2."""
    return protected() - (len("[horizon] Toi :\n") + len("condensé 2 ") + 60 + 1)


def test_rule_4b_shortens_answers_of_beacons_oldest_first_only_as_needed():
    view = view_of(sample(), budget(stripped() - 30))
    assert view.chars == view.budget - 1  # the marker is given room for three digits and needs two
    e4 = next(part for part in view.receipt if part.ids == ("e4",) and part.role is Role.ANSWER)
    mark = "[horizon · {} caractères coupés ; en entier au journal : e4]"
    hidden = 30 + len(mark.format(210)) + 1
    assert e4.body == ("réponse 4 " + "r" * 200)[:-hidden] + "\n" + mark.format(hidden)
    assert e4.cut is Rule.BEACON_ANSWER
    assert (view.cuts[-1].rule, view.cuts[-1].ids, view.cuts[-1].chars) == (Rule.BEACON_ANSWER, ("e4",), hidden)
    assert shown(view)[0] == [E2[0], *E4, *E6, *E7]


def shortened():
    """The size once 4b has left but the markers of e4 and e6."""
    return stripped() - 2 * (210 - len("[horizon · 210 caractères coupés ; en entier au journal : e4]"))


def test_rule_4c_drops_words_oldest_first_and_counts_them():
    assert shown(view_of(sample(), budget(shortened())))[2] == ["e0", "w"]
    view = view_of(sample(), budget(shortened() - 1))
    # One word's 55 characters give way to a counting line of 60, so the other goes too, and then the line may stay.
    assert shown(view)[2] == []
    assert (view.cuts[-1].rule, view.cuts[-1].ids, view.cuts[-1].chars) == (Rule.WORDS, ("e0", "w"), 19)
    assert "2 autres paroles" in view.text


def wordless():
    heading = "[horizon · paroles de l'apicultrice]\n"
    words = "".join(f"[horizon · parole · 2026-07-10 14:03 · {id_}]\nmots de {id_}\n" for id_ in ("e0", "w"))
    return shortened() - len(heading + words)


def test_rule_4d_drops_beacons_oldest_first():
    assert shown(view_of(sample(), budget(wordless())))[0] == [E2[0], *E4, *E6, *E7]
    view = view_of(sample(), budget(wordless() - 1))
    assert shown(view) == ([*E4, *E6, *E7], [], [], True)
    assert (view.cuts[-1].rule, view.cuts[-1].ids) == (Rule.BEACON, ("e2",))


def alone():
    """The size of the notice and the latest exchange."""
    return len(NOTICE) + 1 + chars(WHOLE, "e7")


def test_rule_4e_shortens_the_answer_of_the_latest_exchange_at_last():
    assert shown(view_of(sample(), budget(alone()))) == (E7, [], [], True)
    view = view_of(sample(), budget(alone() - 30))
    assert view.chars == alone() - 31  # one digit of the marker again
    assert shown(view) == (E7, [], [], True)
    assert view.cuts[-1].rule is Rule.LATEST_ANSWER
    assert "question 7 " + "q" * 20 + "\n" in view.text


def test_rule_4f_cuts_the_question_from_its_middle():
    state = State()
    question = "début " + "x" * 400 + " fin"
    exchange = Exchange(id="e1", at=START, question=question, answer="oui", kind="outil")
    apply(state, Appended(entry=Entry(position=Position(0, 0), exchange=exchange)))
    view = view_of(state, budget(300))
    assert view.chars == 300
    assert [cut.rule for cut in view.cuts] == [Rule.LATEST_ANSWER, Rule.LATEST_QUESTION]
    body = view.receipt[-1].body
    head, mark, tail = body.split("\n")
    assert question.startswith(head)
    assert question.endswith(tail)
    assert mark == f"[horizon · {410 - len(head + tail)} caractères coupés ; en entier au journal : e1]"
    assert NOTICE in view.text


def test_rule_4g_drops_the_notice_only_where_nothing_else_is_left():
    with_one = view_of(sample(), budget(len(NOTICE) + 2))
    assert with_one.text == NOTICE + "\nq"
    without = view_of(sample(), budget(len(NOTICE) + 1))
    assert without.cuts[-1].rule is Rule.NOTICE
    assert without.receipt[0].ids == ("e7",)
    assert [view_of(sample(), budget(total)).text for total in (0, 1, 5)] == ["", "q", "qu…qq"]


def test_the_notice_pays_for_itself():
    state = State()
    for number in range(3):
        exchange = Exchange(id=f"e{number}", at=START, question="q", answer="a" * 100, kind="outil")
        apply(state, Appended(entry=Entry(position=Position(0, number), exchange=exchange)))
    whole = view_of(state, budget(1000))
    assert NOTICE not in whole.text
    cut = view_of(state, budget(whole.chars - 1))
    assert NOTICE in cut.text
    assert cut.chars <= whole.chars - 1


def rank(view):
    return max((ORDER.index(cut.rule) for cut in view.cuts if cut.rule is not Rule.ROOM), default=-1)


@settings(max_examples=300)
@given(states(), options())
@example(State(), budget(0))
def test_the_budget_holds_and_the_receipt_is_the_text(state, chosen):
    view = view_of(state, chosen)
    assert len(view.text) <= view.budget == chosen.budgets.total
    assert "".join(part.text for part in view.receipt) == view.text
    assert sum(part.chars for part in view.receipt) == view.chars == len(view.text)
    assert sum(len(told["content"]) for told in view.messages()) <= view.budget
    assert view_of(state, chosen) == view


@given(states(), options(), st.integers(0, 5000))
def test_nothing_of_a_later_class_is_touched_while_an_earlier_one_remains(state, chosen, total):
    view = view_of(state, budget(total, chosen))
    last = rank(view)
    sharp = entries(state, Zone.SHARP, chosen)
    latest = sharp[-1].exchange.id if sharp else None
    held = {exchange.id: exchange for exchange in (*state.sharp.values(), *state.condensed.values())}
    for part in view.receipt:
        if part.role is Role.SECTION:
            assert last <= ORDER.index(Rule.NARRATIVE)
        elif part.role is Role.WORD:
            assert last <= ORDER.index(Rule.WORDS)
        elif part.role in {Role.QUESTION, Role.ANSWER} and part.ids[0] != latest:
            if not is_beacon(held[part.ids[0]], state.flags, chosen.beacons):
                assert last <= ORDER.index(Rule.CONDENSED if part.zone is Zone.CONDENSED else Rule.SHARP)
            elif part.role is Role.ANSWER and part.zone is Zone.CONDENSED:
                assert last <= ORDER.index(Rule.BEACON_CONDENSATE)
            elif part.role is Role.ANSWER and last > ORDER.index(Rule.BEACON_ANSWER):
                only_the_marker = part.body.startswith(f"{MARK} · {part.hidden} ")
                assert only_the_marker or part.chars < 200  # as short as its marker would be
            else:
                assert last <= ORDER.index(Rule.BEACON)


@given(states(), options())
def test_every_exchange_in_view_is_shown_or_declared(state, chosen):
    view = view_of(state, chosen)
    named = {id_ for part in view.receipt for id_ in part.ids} | {id_ for cut in view.cuts for id_ in cut.ids}
    assert {exchange.id for exchange in (*state.sharp.values(), *state.condensed.values())} <= named
    cut = {cut.rule for cut in view.cuts}
    assert all(part.cut is None or part.cut in cut for part in view.receipt)


@given(states(), options())
def test_the_latest_exchange_is_always_there(state, chosen):
    view = view_of(state, chosen)
    sharp = in_lived_order(state.sharp)
    if sharp and view.budget >= 600 and len(sharp[-1][1].id) < 60:
        assert view.receipt[-1].ids == (sharp[-1][1].id,)


@given(states(), options())
def test_a_beacons_question_is_exact_wherever_it_is_shown(state, chosen):
    view = view_of(state, chosen)
    held = {exchange.id: exchange for exchange in (*state.sharp.values(), *state.condensed.values())}
    for part in view.receipt:
        if part.role is Role.QUESTION and part.cut is None:
            assert unescape(part.body) == held[part.ids[0]].question
        if part.role is Role.QUESTION and part.cut is not None:
            assert part.cut is Rule.LATEST_QUESTION


@given(states(), options())
def test_nothing_forges_a_line_of_ours(state, chosen):
    view = view_of(state, chosen)
    ours = 0
    for part in view.receipt:
        marked = part.cut is not None and part.body.count("]") and MARK in part.body
        ours += part.lead.count(MARK) + (1 if marked else 0) + (part.role is Role.NOTICE)
    assert view.text.casefold().count(MARK) == ours
    assert view.text.count(NOTICE) == sum(part.role is Role.NOTICE for part in view.receipt)


@given(states(), options())
def test_a_cut_breaks_neither_a_cluster_nor_an_escape(state, chosen):
    view = view_of(state, chosen)
    texts = {exchange.id: exchange for exchange in (*state.sharp.values(), *state.condensed.values())}
    for part in view.receipt:
        if part.cut in {Rule.BEACON_ANSWER, Rule.LATEST_ANSWER}:
            kept, _, mark = part.body.rpartition("\n")
            whole = escape(texts[part.ids[0]].answer)
            assert whole.startswith(kept)
            assert may_cut(whole, len(kept))
            assert mark.startswith(f"{MARK} · {part.hidden} ")
            assert len(unescape(kept)) + part.hidden == len(texts[part.ids[0]].answer)


@given(states(), options(), st.text(max_size=20), st.text(max_size=20))
def test_the_beginning_stays_when_an_exchange_is_appended(state, chosen, question, answer):
    wide = replace(chosen, budgets=Budgets(sharp=200_000, condensed=0, narrative=chosen.budgets.narrative))
    before = view_of(state, wide)
    exchange = Exchange(id="new", at=START + timedelta(days=2), question=question, answer=answer)
    apply(state, Appended(entry=Entry(position=Position(1, 0), exchange=exchange)))
    after = view_of(state, wide)
    assert rank(before) == rank(after) == -1
    assert after.text.startswith(before.text)


@given(states(), options(active=st.just(False)))
def test_switched_off_it_gives_the_last_three_whole(state, chosen):
    view = view_of(state, chosen)
    held = [exchange for _, exchange in in_lived_order({**state.sharp, **state.condensed})][-3:]
    assert len(view.text) <= view.budget
    assert {part.zone for part in view.receipt} <= {Zone.SHARP, None}
    if not view.cuts:
        assert NOTICE not in view.text
        assert [part.ids[0] for part in view.receipt if part.role is Role.QUESTION] == [told.id for told in held]
        answers = [unescape(part.body) for part in view.receipt if part.role is Role.ANSWER]
        assert answers == [told.answer for told in held if told.answer]


@pytest.mark.parametrize("kind", ["conversation", "outil"])
def test_a_zone_that_was_never_maintained_is_not_rendered_whole(kind):
    state = State()
    for number in range(20_000):
        exchange = Exchange(id=f"e{number}", at=START + timedelta(seconds=number), question="q", answer="a", kind=kind)
        apply(state, Appended(entry=Entry(position=Position(0, number), exchange=exchange)))
    view = view_of(state, budget(3000))
    assert 2800 < view.chars <= 3000
    assert view.receipt[-1].ids == ("e19999",)
    assert not view.gauge.sharp.exact
    rendered = sum(part.role is Role.QUESTION for part in view.receipt)
    dropped = sum(len(cut.ids) for cut in view.cuts if cut.rule in {Rule.SHARP, Rule.BEACON})
    assert rendered + dropped == 20_000


@pytest.mark.parametrize("question", ["e" + "\u0301" * 60_000, "\u200d".join(["👨"] * 30_000)], ids=["marks", "joined"])
def test_of_a_question_whose_first_character_is_longer_than_the_budget_the_marker_stands(question):
    state = State()
    latest = Exchange(id="e0", at=START, kind="conversation", question=question, answer="réponse")
    apply(state, Appended(entry=Entry(position=Position(0, 0), exchange=latest)))

    view = view_of(state, PARIS)

    assert "e0" in view.text
    assert f"{len(question)} " in view.text
    assert len(view.text) <= view.budget
    assert [cut.rule for cut in view.cuts] == [Rule.LATEST_ANSWER, Rule.LATEST_QUESTION]
