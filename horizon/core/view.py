"""The view of a state: what `read()` gives (spec 1-horizon §3). A pure function of the state and the options."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from horizon.core.hard_cut import fit
from horizon.core.receipt import Gauge, Level, Rule, View
from horizon.core.state import State, Zone, copy_of
from horizon.core.zone import Item, Narrative, bounded_chars, chars_of, compose_narrative, entries, rooms

if TYPE_CHECKING:
    from collections.abc import Iterable

    from horizon.core.budget import ViewOptions
    from horizon.core.exchange import Entry, Position

PLAIN: Final = 3
"""How many exchanges a view shows where the horizon is switched off."""


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
    """A copy; its exchanges and texts are those of the state that was looked at."""
    narrative: Narrative
    items: dict[Position, Item]
    """The entries, by place in the journal, with what was rendered of them."""


def look(state: State, options: ViewOptions, last: Look | None) -> Look:
    """Return a look whose view is `view_of(state, options)`, made from the `last` one as far as that still holds.

    The common turn, an exchange appended to a view that fits, costs what it adds to it.
    """
    if last is not None and last.options != options:
        last = None
    if not options.active:
        return Look(
            view=_plain(state, options), options=options, seen=State(), narrative=Narrative(options=options), items={}
        )
    extended = _extended(state, options, last) if last is not None else None
    return extended or _made(state, options, last)


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
        receipt=fitted.parts,
    )
    items = {item.order[1]: item for item in (*condensed, *sharp)}
    return Look(view=view, options=options, seen=copy_of(state), narrative=narrative, items=items)


def _extended(state: State, options: ViewOptions, last: Look) -> Look | None:
    """Return the last look with what was appended since; None where it is not the beginning of the new one."""
    seen, view = last.seen, last.view
    new = len(state.sharp) - len(seen.sharp)
    if new < 0 or any(cut.rule is not Rule.ROOM for cut in view.cuts) or not _same_but_sharp(seen, state):
        return None
    held = list(state.sharp.items())
    if held[: len(held) - new] != list(seen.sharp.items()):
        return None
    newest = max(((exchange.at, position) for position, exchange in seen.sharp.items()), default=None)
    items = [Item(position, exchange, Zone.SHARP, options, state) for position, exchange in held[len(held) - new :]]
    items.sort(key=lambda item: item.order)
    if newest is not None and any(item.order < newest for item in items):
        return None
    added = sum(item.chars for item in items)
    if view.chars + added > view.budget:
        return None
    parts = [part for item in items for part in item.parts]
    sharp = view.gauge.sharp
    longer = View(
        text=view.text + "".join([part.text for part in parts]),
        budget=view.budget,
        gauge=replace(
            view.gauge,
            sharp=replace(sharp, chars=sharp.chars + added, count=sharp.count + new),
            appended=state.appended,
        ),
        cuts=view.cuts,
        receipt=(*view.receipt, *parts),
    )
    known = last.items | {item.order[1]: item for item in items}
    return Look(view=longer, options=options, seen=copy_of(state), narrative=last.narrative, items=known)


def _same_but_sharp(seen: State, state: State) -> bool:
    """Tell whether all that a view shows above the sharp zone, and the flags, are the same in both."""
    return (
        seen.melted == state.melted
        and seen.condensed == state.condensed
        and seen.condensates == state.condensates
        and _same_narrative(seen, state)
    )


def _same_narrative(seen: State, state: State) -> bool:
    """Tell whether both give the same narrative. Words of flagged exchanges show only while these are in no zone."""
    return (
        seen.narrative is state.narrative
        and seen.older_words == state.older_words
        and seen.words == state.words
        and seen.flags == state.flags
        and all((id_ in seen.places) == (id_ in state.places) for id_ in state.flags)
    )


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
        receipt=fitted.parts,
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
