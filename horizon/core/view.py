"""The view of a state: what `read()` gives (spec 1-horizon §3). A pure function of the state and the options."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from horizon.core.hard_cut import fit
from horizon.core.receipt import Gauge, Level, View
from horizon.core.state import State, Zone
from horizon.core.zone import Narrative, bounded_chars, chars_of, compose_narrative, entries, rooms

if TYPE_CHECKING:
    from horizon.core.budget import ViewOptions
    from horizon.core.zone import Item

PLAIN: Final = 3
"""How many exchanges a view shows where the horizon is switched off."""


def view_of(state: State, options: ViewOptions) -> View:
    """Return the view of `state`, never longer than the sum of the budgets.

    Narrative, condensed entries, the notice as soon as anything is condensed, melted or cut, sharp entries; each zone
    oldest first. Where `options.active` is false: the last three exchanges in view, whole, under the same budget.
    """
    if not options.active:
        return _plain(state, options)
    budgets = options.budgets
    narrative = compose_narrative(state, options, rooms(budgets).narrative)
    condensed = entries(state, Zone.CONDENSED, options)
    sharp = entries(state, Zone.SHARP, options)
    notice = bool(condensed or state.melted or state.narrative is not None or narrative.parts or narrative.cuts)
    fitted = fit(condensed, sharp, narrative, options, most=budgets.total, notice=notice)
    return View(
        text="".join(part.text for part in fitted.parts),
        budget=budgets.total,
        gauge=_gauge(state, condensed, sharp, narrative, options),
        cuts=(*narrative.cuts, *fitted.cuts),
        receipt=fitted.parts,
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
