"""A look that starts from the last one gives the view that a fresh one gives."""

from dataclasses import replace
from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from horizon.core.event import Appended, Condensed, Evicted, Flagged, Word
from horizon.core.exchange import Entry, Exchange, Position
from horizon.core.state import State, apply, in_lived_order
from horizon.core.view import look, view_of
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
    last = look(state, chosen, None)
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
        last = look(state, chosen, last)
        assert last.view == view_of(state, chosen)


@given(exchanges(1), exchanges(2))
def test_what_was_rendered_is_kept_when_an_exchange_is_appended(first, second):
    state = State()
    append(state, 1, first)
    before = look(state, PARIS, None)
    append(state, 2, replace(second, id="e2", at=first.at + timedelta(hours=1), question="q", answer=""))
    after = look(state, PARIS, before)
    if not after.view.cuts:
        assert after.view.receipt[0] is before.view.receipt[0]


def test_other_options_are_another_view():
    state = State()
    append(state, 1, Exchange(id="e1", at=START, question="q", answer="a"))
    before = look(state, PARIS, None)
    english = replace(PARIS, language="en")
    assert "Lui :" in before.view.text
    assert "Keeper:" in look(state, english, before).view.text
