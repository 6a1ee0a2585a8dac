"""What maintenance sheds: sharp exchanges to condense (eviction), condensed ones to melt (spec 1-horizon §2, §4).

Plans are values: the ids to move and why, or why nothing can be. Zones are measured as they are rendered. A zone that is
over its budget sheds down to a low-water mark, so that it sheds now and then, and the view's beginning stays in between.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from horizon.core.beacon import Floor
from horizon.core.state import Zone
from horizon.core.zone import entries, rooms

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from horizon.core.budget import ViewOptions
    from horizon.core.state import State
    from horizon.core.zone import Item

SHARP_LOW_WATER: Final = 0.8
"""Share of the sharp zone's room that eviction leaves filled: whole recent exchanges are what a view is best at, so few
leave at once; yet several do, so that the text above the sharp zone changes once for all of them."""
CONDENSED_LOW_WATER: Final = 0.5
"""Share of the condensed zone's room that melting leaves filled: a melting costs one call of a model whatever its size,
and changes the view from its very first lines, so it is worth making seldom."""
BATCH_CHARS: Final = 6_000
"""Most characters of entries that one melting call reads: with the narrative before them, some 3 000 tokens of French, which
fits the window of 4 096 that small machines give, reply included. One longer entry makes a batch of its own."""


class Reason(StrEnum):
    """Why an exchange is evicted or melted."""

    BUDGET = "budget"
    AGE = "age"


class Held(StrEnum):
    """Why a zone that should shed cannot, for people to read."""

    LATEST = (
        "only the latest exchange is left in the sharp zone, and it always stays, even where it alone is over budget"
    )
    FLOOR = "what is past its age is beacons, and their floor (plancher_phare) is the sharp zone"


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaving:
    """An exchange that is to leave its zone; `size` is what it fills there, in characters as rendered."""

    id: str
    reason: Reason
    beacon: bool
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Plan:
    leaving: tuple[Leaving, ...]
    before: int
    after: int
    room: int
    why: Held | None = None

    @property
    def ids(self) -> tuple[str, ...]:
        """The exchanges that are to leave, oldest first."""
        return tuple(item.id for item in self.leaving)


class EvictionPlan(_Plan):
    """Exchanges to evict, oldest first; `why` says why the zone stays over its room, or keeps what is past its age.

    `before` and `after` are the sharp zone's characters, `room` what it may fill.
    """

    __slots__ = ()


class MeltingPlan(_Plan):
    """Exchanges to melt in one call, oldest first; empty where the zone is within its room.

    `before` and `after` are the condensed zone's characters, `room` what it may fill. Where `after` is still over
    `room`, another batch is due. `why` is None: the condensed zone can always shed.
    """

    __slots__ = ()


def plan_eviction(state: State, options: ViewOptions, *, now: datetime, age_hours: float) -> EvictionPlan:
    """Return what is to leave the sharp zone: all older than `age_hours`, and over budget the oldest down to the low-water mark.

    The latest exchange always stays. With the floor `net`, beacons leave only once nothing else is left to shed, and
    never by age.
    """
    room = rooms(options.budgets).sharp
    items = entries(state, Zone.SHARP, options)
    before = sum(item.chars for item in items)
    movable = items[:-1]
    stays = _is_beacon if options.floor is Floor.SHARP else _none
    since = now - timedelta(hours=age_hours)
    aged = [item for item in movable if item.exchange.at < since]
    leaving = {id(item): (item, Reason.AGE) for item in aged if not stays(item)}
    size = before - sum(item.chars for item, _ in leaving.values())
    if size > room:
        target = int(room * SHARP_LOW_WATER)
        overflowing = sum(item.chars for item in items if stays(item) or item is items[-1]) > room
        for item in _in_order(movable, stays):
            if size <= target or (stays(item) and not overflowing):
                break
            if id(item) not in leaving:
                leaving[id(item)] = (item, Reason.BUDGET)
                size -= item.chars
    why = None
    if size > room:
        why = Held.LATEST
    elif any(id(item) not in leaving for item in aged):
        why = Held.FLOOR
    chosen = sorted(leaving.values(), key=lambda pair: pair[0].order)
    return EvictionPlan(
        leaving=tuple(_leaving(item, reason) for item, reason in chosen),
        before=before,
        after=size,
        room=room,
        why=why,
    )


def plan_melting(state: State, options: ViewOptions) -> MeltingPlan:
    """Return what is to leave the condensed zone once it is over budget: the oldest, down to the low-water mark.

    One batch: at most `BATCH_CHARS`, and at least one exchange. Planning again after it goes on, or ends.

    Beacons melt only where they alone overflow the zone, and then down to the mark too, unless the floor is `recit`,
    which gives them no place of their own.
    """
    room = rooms(options.budgets).condensed
    items = entries(state, Zone.CONDENSED, options)
    before = size = sum(item.chars for item in items)
    target = int(room * CONDENSED_LOW_WATER)
    stays = _none if options.floor is Floor.NARRATIVE else _is_beacon
    batch: list[Item] = []
    if size > room:
        overflowing = sum(item.chars for item in items if stays(item)) > room
        for item in _in_order(items, stays):
            full = batch and before - size + item.chars > BATCH_CHARS
            if size <= target or full or (stays(item) and not overflowing):
                break
            batch.append(item)
            size -= item.chars
    batch.sort(key=lambda item: item.order)
    leaving = tuple(_leaving(item, Reason.BUDGET) for item in batch)
    return MeltingPlan(leaving=leaving, before=before, after=size, room=room)


def _is_beacon(item: Item) -> bool:
    return item.beacon


def _none(_item: Item) -> bool:
    return False


def _in_order(items: list[Item], stays: Callable[[Item], bool]) -> list[Item]:
    """Return `items` in the order of shedding: what has no floor here first, then the rest, each oldest first."""
    return [item for item in items if not stays(item)] + [item for item in items if stays(item)]


def _leaving(item: Item, reason: Reason) -> Leaving:
    return Leaving(id=item.exchange.id, reason=reason, beacon=item.beacon, size=item.chars)
