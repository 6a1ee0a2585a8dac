"""A look that starts from the last one gives the view that a fresh one gives."""

import json
from dataclasses import replace
from datetime import timedelta
from hashlib import sha256

from hypothesis import given
from hypothesis import strategies as st

from horizon.core.budget import Budgets
from horizon.core.event import Appended, Cause, Condensed, Evicted, Flagged, Narrated, Section, Word
from horizon.core.exchange import Entry, Exchange, Position
from horizon.core.state import State, apply, copy_of, in_lived_order
from horizon.core.view import RENDERING, look, view_of
from tests.core.test_render import PARIS
from tests.strategies import START, exchanges, options, states


def append(state, number, exchange):
    apply(state, Appended(entry=Entry(position=Position(2, number), exchange=exchange)))


@given(
    states(),
    options(),
    st.lists(st.tuples(st.sampled_from(("append", "late", "flag", "evict", "again")), exchanges(7)), max_size=6),
)
def test_a_look_after_any_events_is_the_view(state, chosen, turns):
    last = look(copy_of(state), chosen, None)
    for number, (turn, exchange) in enumerate(turns):
        sharp = in_lived_order(state.sharp)
        if turn == "append":
            later = exchange.at + timedelta(days=number + 1)
            append(state, number, replace(exchange, id=f"n{number}", at=later))
        elif turn == "late":
            append(state, number, exchange)
        elif turn == "flag" and sharp:
            told = sharp[0][1]
            word = Word(id=told.id, at=told.at, text=told.question)
            apply(state, Flagged(id=told.id, on=bool(number % 2), at=START, word=word))
        elif turn == "evict" and len(sharp) > 1:
            told = sharp[0][1]
            apply(state, Condensed(id=told.id, text="bref", by="x", degraded=False, at=START))
            apply(state, Evicted(ids=(told.id,), at=START))
        last = look(copy_of(state), chosen, last)
        assert last.view == view_of(state, chosen)


@given(exchanges(1), exchanges(2))
def test_what_was_rendered_is_kept_when_an_exchange_is_appended(first, second):
    state = State()
    append(state, 1, first)
    before = look(copy_of(state), PARIS, None)
    append(state, 2, replace(second, id="e2", at=first.at + timedelta(hours=1), question="q", answer=""))
    after = look(state, PARIS, before)
    if not after.view.cuts:
        assert after.view.receipt[0] is before.view.receipt[0]


def test_a_view_that_was_cut_is_made_again_also_where_the_new_exchange_would_fit():
    """How full a zone is counts only as far as the budget: with the new exchange that is reached one sooner."""
    chosen = replace(PARIS, budgets=Budgets(sharp=700, condensed=0, narrative=0))

    def of_length(number, chars):
        exchange = Exchange(
            id=f"e{number}", at=START + timedelta(minutes=number), question="q", answer="a", kind="outil"
        )
        alone = State()
        append(alone, 0, exchange)
        return replace(exchange, answer="a" * (1 + chars - view_of(alone, PARIS).chars))

    state = State()
    for number in range(3):
        append(state, number, of_length(number, 340))
    before = look(copy_of(state), chosen, None)
    assert before.view.chars == 340 + 95  # one of three, and the notice
    append(state, 3, of_length(3, 100))
    after = look(state, chosen, before).view
    assert after.chars == 340 + 95 + 100
    assert after.gauge.sharp.chars == 340 + 340 + 100
    assert after == view_of(state, chosen)


def test_other_options_are_another_view():
    state = State()
    append(state, 1, Exchange(id="e1", at=START, question="q", answer="a"))
    before = look(copy_of(state), PARIS, None)
    english = replace(PARIS, language="en")
    assert "Lui :" in before.view.text
    assert "Keeper:" in look(state, english, before).view.text


def test_who_changes_what_a_view_looks_like_raises_its_number():
    """Views are kept between processes: one made by other code must not pass for ours. Where this fails, raise `RENDERING`."""
    state = State()
    for number in range(12):
        text = f"[horizon {number}] " + "mot " * 40
        kind = "conversation" if number % 2 else "outil"
        at = START + timedelta(minutes=number)
        append(state, number, Exchange(id=f"e{number}", at=at, question=text, answer=text, kind=kind, tool="grep"))
    for number in range(6):
        apply(state, Condensed(id=f"e{number}", text="bref. " * 20, by="x", degraded=False, at=START))
    apply(state, Evicted(ids=tuple(f"e{number}" for number in range(6)), at=START))
    words = (Word(id="e0", at=START, text="toujours en mètres"), Word(id="e1", at=START, text="mot " * 40))
    sections = dict.fromkeys(Section, "Une phrase. " * 9)
    apply(
        state,
        Narrated(version=1, base=0, cause=Cause.MELTING, sections=sections, by="x", degraded=False, at=START, ids=("e0", "e1"), words=words),
    )  # fmt: skip
    views = [
        view_of(
            state, replace(PARIS, language=language, budgets=Budgets(sharp=size, condensed=size, narrative=size // 3))
        )
        for language in ("fr", "en")
        for size in (50, 300, 900, 1_500, 4_000)
    ]
    told = json.dumps([view.to_json() for view in views], sort_keys=True, ensure_ascii=False)
    assert (RENDERING, sha256(told.encode()).hexdigest()[:16]) == (1, "1bd6b9c8d6aeb633")
