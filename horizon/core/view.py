"""The view of a state: what `read()` gives (spec 1-horizon §3). A pure function of the state and the options."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from horizon.core.hard_cut import fit
from horizon.core.receipt import Gauge, Level, Parts, Rule, View
from horizon.core.state import State, Zone, copy_of
from horizon.core.zone import Item, Narrative, bounded_chars, chars_of, compose_narrative, entries, rooms

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from horizon.core.budget import ViewOptions
    from horizon.core.exchange import Entry, Position
    from horizon.core.receipt import Part

PLAIN: Final = 3
"""How many exchanges a view shows where the horizon is switched off."""
NAMED_MOST: Final = 1_000
"""Ids that are kept with a view to know which exchanges it takes the state to place: many times what is flagged by hand."""
RENDERING: Final = 1
"""Raised whenever the same state gives another view than before: one that was kept under another number is passed over."""


def view_of(state: State, options: ViewOptions) -> View:
    """Return the view of `state`, never longer than the sum of the budgets.

    Narrative, condensed entries, the notice as soon as anything is condensed, melted or cut, sharp entries; each zone
    oldest first. Where `options.active` is false: the last three exchanges that the state holds, whole, under the same
    budget; see `with_latest`.
    """
    return look(state, options, None).view


def with_latest(state: State, latest: Iterable[Entry]) -> State:
    """Return a state for a view that is switched off: with the journal's `latest` exchanges too, should they have melted."""
    held = copy_of(state)
    for entry in latest:
        if entry.position not in held.condensed:
            held.sharp.setdefault(entry.position, entry.exchange)
    return held


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """A view and what it was made of, so that the next look renders only what is new."""

    view: View
    options: ViewOptions
    seen: State
    """What was looked at; not changed afterwards."""
    narrative: Narrative
    items: dict[Position, Item]
    """The entries, by place in the journal, with what was rendered of them."""


def look(state: State, options: ViewOptions, last: Look | None) -> Look:
    """Return a look whose view is `view_of(state, options)`, made from the `last` one as far as that still holds.

    The common turn, an exchange appended to a view that fits, costs what it adds to it. `state` is not changed afterwards.
    """
    if not options.active:
        return Look(
            view=_plain(state, options), options=options, seen=state, narrative=Narrative(options=options), items={}
        )
    if last is None or last.options != options:
        return _made(state, options, None)
    return extended(state, last) or _made(state, options, last)


def _made(state: State, options: ViewOptions, last: Look | None) -> Look:
    budgets = options.budgets
    if last is not None and _same_narrative(last.seen, state):
        narrative = last.narrative
    else:
        narrative = compose_narrative(state, options, rooms(budgets).narrative)
    known = last.items if last is not None else None
    condensed = entries(state, Zone.CONDENSED, options, known)
    sharp = entries(state, Zone.SHARP, options, known)
    notice = bool(condensed or state.melted or state.narrative is not None or narrative.parts or narrative.cuts)
    fitted = fit(condensed, sharp, narrative, options, most=budgets.total, notice=notice)
    view = View(
        text="".join([part.text for part in fitted.parts]),
        budget=budgets.total,
        gauge=_gauge(state, condensed, sharp, narrative, options),
        cuts=(*narrative.cuts, *fitted.cuts),
        parts=Parts.of(fitted.parts),
    )
    items = {item.order[1]: item for item in (*condensed, *sharp)}
    return Look(view=view, options=options, seen=state, narrative=narrative, items=items)


def extended(state: State, last: Look) -> Look | None:
    """Return the last look with what was appended since; None where it is not the beginning of the new one."""
    seen, options = last.seen, last.options
    new = len(state.sharp) - len(seen.sharp)
    if new < 0 or not options.active or not _same_but_sharp(seen, state):
        return None
    held = list(state.sharp.items())
    if held[: len(held) - new] != list(seen.sharp.items()):
        return None
    newest = max([(exchange.at, position) for position, exchange in seen.sharp.items()], default=None)
    items = [Item(position, exchange, Zone.SHARP, options, state) for position, exchange in held[len(held) - new :]]
    view = _longer(last.view, items, newest)
    if view is None:
        return None
    known = last.items.copy()
    known.update([(item.order[1], item) for item in items])
    return Look(view=view, options=options, seen=state, narrative=last.narrative, items=known)


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """A view that stands by itself, and what it takes to lengthen it by what is appended to its journal."""

    view: View
    newest: tuple[datetime, Position] | None
    """Lived order of the latest exchange; None where there is none."""
    named: frozenset[str] | None
    """Ids of which flags or outcomes say something already; None where they are too many to be kept."""


def kept_of(looked: Look) -> Kept:
    """Return what of a look can be kept outside of its process."""
    seen = looked.seen
    named = {*seen.flags, *seen.pending}
    return Kept(
        view=looked.view,
        newest=max(((exchange.at, position) for position, exchange in seen.sharp.items()), default=None),
        named=frozenset(named) if len(named) <= NAMED_MOST else None,
    )


def lengthened(kept: Kept, entries: Sequence[Entry], options: ViewOptions) -> View | None:
    """Return the view with what was appended since; None where only the whole state tells what it is then.

    `options` are those that it was made under, and nothing but `entries` has come since.
    """
    if kept.named is None or any(entry.exchange.id in kept.named for entry in entries):
        return None
    nothing = State()
    items = [Item(entry.position, entry.exchange, Zone.SHARP, options, nothing) for entry in entries]
    return _longer(kept.view, items, kept.newest)


def _longer(view: View, items: list[Item], newest: tuple[datetime, Position] | None) -> View | None:
    """Return a view with new sharp entries at its end; None where they are not the newest, or it does not fit then."""
    for cut in view.cuts:
        if cut.rule is not Rule.ROOM:
            return None
    if len(items) > 1:
        items.sort(key=lambda item: item.order)
    if newest is not None and items and items[0].order < newest:
        return None
    gauge, added = view.gauge, 0
    parts: list[Part] = []
    for item in items:
        added += item.chars
        if view.chars + added > view.budget:
            return None
        parts += item.parts
    sharp = gauge.sharp
    return View(
        text="".join([view.text, *[part.text for part in parts]]),
        budget=view.budget,
        gauge=Gauge(
            sharp=Level(
                chars=sharp.chars + added, budget=sharp.budget, count=sharp.count + len(items), exact=sharp.exact
            ),
            condensed=gauge.condensed,
            narrative=gauge.narrative,
            appended=gauge.appended + len(items),
            melted=gauge.melted,
        ),
        cuts=view.cuts,
        parts=view.parts.followed_by(parts),
    )


def _same_but_sharp(seen: State, state: State) -> bool:
    """Tell whether all that a view shows above the sharp zone, and the flags, are the same in both."""
    return (
        seen.melted == state.melted
        and _same(seen.condensed, state.condensed)
        and _same(seen.condensates, state.condensates)
        and _same_narrative(seen, state)
    )


def _same_narrative(seen: State, state: State) -> bool:
    """Tell whether both give the same narrative. Words of flagged exchanges show only while these are in no zone."""
    return (
        seen.narrative is state.narrative
        and seen.older_words == state.older_words
        and _same(seen.words, state.words)
        and _same(seen.flags, state.flags)
        and all((id_ in seen.places) == (id_ in state.places) for id_ in state.flags)
    )


def _same(one: object, other: object) -> bool:
    """Tell whether two are equal; what one state took over from another need not be gone through."""
    return one is other or one == other


def _plain(state: State, options: ViewOptions) -> View:
    held = State(sharp={**state.condensed, **state.sharp}, flags=state.flags, appended=state.appended)
    sharp = entries(held, Zone.SHARP, options)[-PLAIN:]
    narrative = Narrative(options=options)
    fitted = fit([], sharp, narrative, options, most=options.budgets.total, notice=False)
    return View(
        text="".join(part.text for part in fitted.parts),
        budget=options.budgets.total,
        gauge=_gauge(state, [], sharp, narrative, options),
        cuts=fitted.cuts,
        parts=Parts.of(fitted.parts),
    )


def _gauge(state: State, condensed: list[Item], sharp: list[Item], narrative: Narrative, options: ViewOptions) -> Gauge:
    budgets = options.budgets
    return Gauge(
        sharp=_level(sharp, budgets.sharp, budgets.total),
        condensed=_level(condensed, budgets.condensed, budgets.total),
        narrative=Level(
            chars=chars_of(narrative.parts),
            budget=budgets.narrative,
            count=len(narrative.sections) + len(narrative.words),
        ),
        appended=state.appended,
        melted=state.melted,
    )


def _level(items: list[Item], budget: int, most: int) -> Level:
    chars = bounded_chars(items, most)
    return Level(chars=chars, budget=budget, count=len(items), exact=chars <= most)
