"""What maintenance sheds: sharp exchanges to condense (eviction), condensed ones to melt (spec 1-horizon §2, §4).

Plans are values: the ids to move and why, or why nothing can be. Zones are measured as they are rendered, from the
newest and no further than they fit, so that a zone that was never maintained is not rendered whole. A zone that is
over its budget sheds down to a low-water mark, so that it sheds now and then, and the view's beginning stays in between.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from horizon.core.beacon import Floor
from horizon.core.state import Zone
from horizon.core.zone import bounded_chars, entries, rooms

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from horizon.core.budget import ViewOptions
    from horizon.core.state import State
    from horizon.core.zone import Item

SHARP_LOW_WATER: Final = 0.8
"""Share of the sharp zone's room that eviction leaves filled: whole recent exchanges are what a view is best at, so few
leave at once; yet several do, so that the text above the sharp zone changes once for all of them: over 500 real exchanges
after 14 % of the turns, where without marks it does after 73 % (benchmarks/beginnings.py)."""
CONDENSED_LOW_WATER: Final = 0.5
"""Share of the condensed zone's room that melting leaves filled: a melting costs one call of a model whatever its size,
and changes the view from its very first lines, so it is worth making seldom: 21 calls for 100 exchanges, condensing
included, where without marks there are 78."""
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
    """An exchange that is to leave its zone, and why."""

    id: str
    reason: Reason
    beacon: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class _Plan:
    leaving: tuple[Leaving, ...]
    after: int
    room: int
    why: Held | None = None

    @property
    def ids(self) -> tuple[str, ...]:
        """The exchanges that are to leave, oldest first."""
        return tuple(item.id for item in self.leaving)


class EvictionPlan(_Plan):
    """Exchanges to evict, oldest first; `why` says why the zone stays over its room, or keeps what is past its age.

    `after` is what the sharp zone then fills of its `room`, in characters; a lower bound where it is over.
    """

    __slots__ = ()


class MeltingPlan(_Plan):
    """Exchanges to melt in one call, oldest first; empty where the zone is within its room.

    `after` is what the condensed zone then fills of its `room`, in characters; a lower bound where it is over, and then
    another batch is due. `why` is None: the condensed zone can always shed.
    """

    __slots__ = ()


def plan_eviction(state: State, options: ViewOptions, *, now: datetime, age_hours: float) -> EvictionPlan:
    """Return what is to leave the sharp zone: all older than `age_hours`, and over budget the oldest down to the low-water mark.

    The latest exchange always stays. With the floor `net`, beacons leave only once nothing else is left to shed, and
    never by age.
    """
    room = rooms(options.budgets).sharp
    items = entries(state, Zone.SHARP, options)
    movable = items[:-1]
    stays = _is_beacon if options.floor is Floor.SHARP else _none
    since = now - timedelta(hours=age_hours)
    aged = [item for item in movable if item.exchange.at < since]
    leaving = {id(item): (item, Reason.AGE) for item in aged if not stays(item)}
    kept = [item for item in items if id(item) not in leaving]
    if bounded_chars(kept, room) > room:
        order = [*_in_order(kept[:-1], stays), kept[-1]]
        target = int(room * SHARP_LOW_WATER)
        leaving |= {
            id(item): (item, Reason.BUDGET) for item in _over(order, stays, room=room, target=target, last=True)
        }
        kept = [item for item in kept if id(item) not in leaving]
    after = bounded_chars(kept, room)
    why = None
    if after > room:
        why = Held.LATEST
    elif any(id(item) not in leaving for item in aged):
        why = Held.FLOOR
    chosen = sorted(leaving.values(), key=lambda pair: pair[0].order)
    return EvictionPlan(
        leaving=tuple(_leaving(item, reason) for item, reason in chosen), after=after, room=room, why=why
    )


def plan_melting(state: State, options: ViewOptions) -> MeltingPlan:
    """Return what is to leave the condensed zone once it is over budget: the oldest, down to the low-water mark.

    One batch: at most `BATCH_CHARS`, and at least one exchange. Planning again after it goes on, or ends.

    Beacons melt only where they alone overflow the zone, and then down to the mark too, unless the floor is `recit`,
    which gives them no place of their own.
    """
    room = rooms(options.budgets).condensed
    items = entries(state, Zone.CONDENSED, options)
    stays = _none if options.floor is Floor.NARRATIVE else _is_beacon
    batch: list[Item] = []
    if bounded_chars(items, room) > room:
        target = int(room * CONDENSED_LOW_WATER)
        left = BATCH_CHARS
        for item in _over(_in_order(items, stays), stays, room=room, target=target, last=False):
            left -= item.chars
            if batch and left < 0:
                break
            batch.append(item)
    batch.sort(key=lambda item: item.order)
    gone = {id(item) for item in batch}
    after = bounded_chars([item for item in items if id(item) not in gone], room)
    leaving = tuple(_leaving(item, Reason.BUDGET) for item in batch)
    return MeltingPlan(leaving=leaving, after=after, room=room)


def _over(order: list[Item], stays: Callable[[Item], bool], *, room: int, target: int, last: bool) -> list[Item]:
    """Return what of `order`, first to shed first, must leave so that `target` characters hold the rest.

    What has its floor here leaves only where it, with the very last where `last` says that it never leaves, overflows
    the room alone. Entries are measured from the end, and no further than they fit.
    """
    firm = [item for item in order if stays(item) or (last and item is order[-1])]
    overflowing = bounded_chars(firm, room) > room
    kept = len(order)
    left = target
    while kept > 0:
        item = order[kept - 1]
        bound = (last and kept == len(order)) or (stays(item) and not overflowing)
        if item.chars > left and not bound:
            break
        left -= item.chars
        kept -= 1
    return order[:kept]


def _is_beacon(item: Item) -> bool:
    return item.beacon


def _none(_item: Item) -> bool:
    return False


def _in_order(items: list[Item], stays: Callable[[Item], bool]) -> list[Item]:
    """Return `items` in the order of shedding: what has no floor here first, then the rest, each oldest first."""
    return [item for item in items if not stays(item)] + [item for item in items if stays(item)]


def _leaving(item: Item, reason: Reason) -> Leaving:
    return Leaving(id=item.exchange.id, reason=reason, beacon=item.beacon)
