"""A bee's folded state, and `apply`, the only way it changes (spec 1-horizon §2, §8).

Rules:

- An exchange is in exactly one zone: sharp when appended, condensed when evicted, melted for good.
- Events of the three journals commute: an outcome may be applied before the exchange that it names
  (it then waits in `pending`), so that readers need no lock and a cold fold needs the texts of the
  sharp and condensed exchanges only. Within one journal, order counts.
- Where two exchanges carry one id, an outcome that names it means the oldest in the zone it leaves.
- Nothing here depends on settings or on the time of day: replaying the same journals gives an equal state.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Final, assert_never

from horizon.core.event import Appended, Cause, Condensed, Evicted, Flagged, Narrated, Word
from horizon.core.words import is_order

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from horizon.core.event import Event
    from horizon.core.exchange import Entry, Exchange, Position

WORDS_KEPT: Final = 32_768
"""Characters of melted words that the state holds, newest first. The rest stays on disk, counted in
`older_words`: it bounds the snapshot, and is ten times what the default narrative budget can show."""


class Zone(StrEnum):
    """Where an exchange is."""

    SHARP = "nette"
    CONDENSED = "condensee"
    MELTED = "recit"


@dataclass(frozen=True, slots=True, kw_only=True)
class OlderWords:
    """The melted words that the state no longer holds: how many, and the dates they span."""

    count: int
    first: datetime
    last: datetime


@dataclass(slots=True, kw_only=True)
class State:
    """The fold of a bee's three journals. Mutable; change it through `apply` only."""

    sharp: dict[Position, Exchange] = field(default_factory=dict["Position", "Exchange"])
    condensed: dict[Position, Exchange] = field(default_factory=dict["Position", "Exchange"])
    condensates: dict[str, Condensed] = field(default_factory=dict[str, Condensed])
    """By id: the condensed text of each condensed exchange, and of sharp ones about to be evicted."""
    narrative: Narrated | None = None
    last_good: Narrated | None = None
    """The newest version that is not degraded; what a repair starts from."""
    since_good: list[str] = field(default_factory=list[str])
    """Ids melted after `last_good`, in order; empty when the narrative is good."""
    words: deque[Word] = field(default_factory=deque[Word])
    """Words of melted beacons, in the order of melting: `WORDS_KEPT` characters of them, the newest and standing orders."""
    words_chars: int = 0
    """Sum of the lengths of `words`."""
    older_words: OlderWords | None = None
    orders: dict[str, bool] = field(default_factory=dict[str, bool], compare=False)
    """By a held word's text: whether it is a standing order, where that was looked at. Copies share it."""
    flags: dict[str, Flagged] = field(default_factory=dict[str, Flagged])
    """By id: the latest flag set by hand."""
    pending: dict[str, list[Zone]] = field(default_factory=dict[str, list[Zone]])
    """By id: the zones that coming exchanges with this id are already known to have reached, oldest first."""
    appended: int = 0
    melted: int = 0
    """How many exchanges were ever appended, and how many of them are melted."""
    places: dict[str, tuple[Position, ...]] = field(default_factory=dict[str, tuple["Position", ...]])
    """By id: where the exchanges with this id stand in the sharp and condensed zones, in journal order."""


def apply(state: State, event: Event) -> None:
    """Change `state` by one event; what an event names and the state does not know waits in `pending`."""
    match event:
        case Appended(entry=entry):
            _append(state, entry)
        case Flagged():
            state.flags[event.id] = event
        case Condensed():
            state.condensates[event.id] = event
        case Evicted(ids=ids):
            for id_ in ids:
                _sink(state, id_, Zone.SHARP, Zone.CONDENSED)
        case Narrated():
            _narrate(state, event)
        case _:
            assert_never(event)


def _append(state: State, entry: Entry) -> None:
    exchange = entry.exchange
    state.appended += 1
    waiting = state.pending.get(exchange.id)
    zone = waiting.pop(0) if waiting else Zone.SHARP
    if waiting is not None and not waiting:
        del state.pending[exchange.id]
    if zone is Zone.MELTED:
        state.melted += 1
        return
    state.places[exchange.id] = (*state.places.get(exchange.id, ()), entry.position)
    (state.sharp if zone is Zone.SHARP else state.condensed)[entry.position] = exchange


def with_appended(state: State, entry: Entry) -> State:
    """Return `state` with one exchange more: what `apply` of its `Appended` makes of a copy, at less cost.

    The two share what an append leaves as it is, so that neither may be changed any more: go on from a copy.
    """
    exchange = entry.exchange
    if exchange.id in state.pending:
        changed = copy_of(state)
        _append(changed, entry)
        return changed
    return State(
        sharp={**state.sharp, entry.position: exchange},
        condensed=state.condensed,
        condensates=state.condensates,
        narrative=state.narrative,
        last_good=state.last_good,
        since_good=state.since_good,
        words=state.words,
        words_chars=state.words_chars,
        older_words=state.older_words,
        orders=state.orders,
        flags=state.flags,
        pending=state.pending,
        appended=state.appended + 1,
        melted=state.melted,
        places={**state.places, exchange.id: (*state.places.get(exchange.id, ()), entry.position)},
    )


def append_melted(state: State, id_: str) -> bool:
    """Append an exchange that is already known to have melted, without its content; False where it is not known.

    The same as `apply` of its `Appended`: a fold from the beginning need not build what it will not keep.
    """
    waiting = state.pending.get(id_)
    if not waiting or waiting[0] is not Zone.MELTED:
        return False
    del waiting[0]
    if not waiting:
        del state.pending[id_]
    state.appended += 1
    state.melted += 1
    return True


def _sink(state: State, id_: str, source: Zone, target: Zone) -> None:
    """Move the oldest exchange called `id_` in `source` to the next zone, now or when it arrives."""
    held = state.sharp if source is Zone.SHARP else state.condensed
    known = state.places.get(id_)
    position = next((place for place in known if place in held), None) if known else None
    if position is None:
        waiting = state.pending.setdefault(id_, [])
        if target is Zone.CONDENSED:
            waiting.append(target)
        elif Zone.CONDENSED in waiting:
            waiting[waiting.index(Zone.CONDENSED)] = target
        else:
            waiting.append(target)
        return
    exchange = held.pop(position)
    if target is Zone.CONDENSED:
        state.condensed[position] = exchange
        return
    state.melted += 1
    places = tuple(place for place in state.places[id_] if place != position)
    if places:
        state.places[id_] = places
    else:
        del state.places[id_]


def _narrate(state: State, event: Narrated) -> None:
    if event.cause is Cause.REPAIR:
        _repair(state, event)
        return
    for id_ in event.ids:
        _sink(state, id_, Zone.CONDENSED, Zone.MELTED)
        held = any(place in state.condensed for place in state.places.get(id_, ()))
        if not held and Zone.CONDENSED not in state.pending.get(id_, ()):
            state.condensates.pop(id_, None)
    for word in event.words:
        state.words.append(word)
        state.words_chars += len(word.text)
    while state.words_chars > WORDS_KEPT and state.words:
        _let_go(state)
    state.narrative = event
    if event.degraded:
        state.since_good.extend(event.ids)
    else:
        state.last_good = event
        state.since_good.clear()


def _repair(state: State, event: Narrated) -> None:
    """Take a version made again from the journal: it shows once it covers all that melted after the last good one."""
    covered = set(event.ids)
    state.since_good[:] = [id_ for id_ in state.since_good if id_ not in covered]
    state.last_good = event
    if not state.since_good:
        state.narrative = event


def _let_go(state: State) -> None:
    """Count the oldest held word among those that only the disk keeps; standing orders go after all others.

    One whose exchange was flagged by hand is not counted: the flag carries it, or says that it is not shown.

    They are held to half of the room, so that a keeper who only ever orders still sees her newest words.
    """
    index = 0
    orders = 0
    for place, word in enumerate(state.words):
        if not is_order(word.text, state):
            index = place
            break
        orders += len(word.text)
        if orders > WORDS_KEPT // 2:
            break
    word = state.words[index]
    del state.words[index]
    state.orders.pop(word.text, None)
    state.words_chars -= len(word.text)
    if _is_settled_by_flag(state.flags.get(word.id)):
        return
    older = state.older_words
    if older is None:
        state.older_words = OlderWords(count=1, first=word.at, last=word.at)
    else:
        state.older_words = OlderWords(
            count=older.count + 1, first=min(older.first, word.at), last=max(older.last, word.at)
        )


def _is_settled_by_flag(flag: Flagged | None) -> bool:
    """Tell whether a flag says by itself what is shown of its exchange's words: all of them, or none."""
    return flag is not None and (not flag.on or flag.word is not None)


def comes_too_late(state: State, flag: Flagged) -> bool:
    """Tell whether `flag` may concern words that were let go and counted: only a fold from the beginning counts them right.

    There flags come before outcomes, so that such words are never counted.
    """
    settled, before = _is_settled_by_flag(flag), _is_settled_by_flag(state.flags.get(flag.id))
    if settled == before or (settled and state.older_words is None):
        return False
    return flag.id not in state.places and all(word.id != flag.id for word in state.words)


def copy_of(state: State) -> State:
    """Return a state that can be changed without changing `state`."""
    return State(
        sharp=state.sharp.copy(),
        condensed=state.condensed.copy(),
        condensates=state.condensates.copy(),
        narrative=state.narrative,
        last_good=state.last_good,
        since_good=state.since_good.copy(),
        words=state.words.copy(),
        words_chars=state.words_chars,
        older_words=state.older_words,
        orders=state.orders,
        flags=state.flags.copy(),
        pending={id_: zones.copy() for id_, zones in state.pending.items()},
        appended=state.appended,
        melted=state.melted,
        places=state.places.copy(),
    )


def zone_of(state: State, id_: str) -> Zone | None:
    """Return the zone of the oldest exchange called `id_` in view; None where it is melted or unknown."""
    places = state.places.get(id_)
    if not places:
        return None
    return Zone.SHARP if places[0] in state.sharp else Zone.CONDENSED


def in_lived_order(zone: Mapping[Position, Exchange]) -> list[tuple[Position, Exchange]]:
    """Return a zone's exchanges oldest first: by instant, then by place in the journal."""
    return sorted(zone.items(), key=lambda item: (item[1].at, item[0]))


def degraded_texts(state: State) -> tuple[str, ...]:
    """Return what an outage left degraded: ids of exchanges in view, and the zone's name for the narrative."""
    texts = tuple(id_ for id_, made in state.condensates.items() if made.degraded and id_ in state.places)
    told = state.narrative is not None and state.narrative.degraded
    return (*texts, Zone.MELTED.value) if told else texts
