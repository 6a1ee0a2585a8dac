"""The snapshot: a bee's folded state as one JSON document, a cache that may be deleted at any time.

Fields stand in lists rather than under names: a fresh process reads it before every first view.
"""

from __future__ import annotations

from collections import deque
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from horizon.adapters.outcome_lines import flag_fields, flag_of, outcome_fields, outcome_of
from horizon.core.event import Condensed, Narrated, Step, Word
from horizon.core.exchange import Exchange, Position
from horizon.core.state import OlderWords, State, Zone

if TYPE_CHECKING:
    from collections.abc import Mapping

VERSION: Final = 1
"""Of the document's shape: a snapshot of another version is passed over."""

_Json = Any  # what json.loads gives; every use below is inside `state_of`, which is called under a catch-all check


def document_of(state: State) -> dict[str, object]:
    """Return a state as JSON values."""
    older = state.older_words
    return {
        "sharp": [_exchange_list(place, exchange) for place, exchange in state.sharp.items()],
        "condensed": [_exchange_list(place, exchange) for place, exchange in state.condensed.items()],
        "condensates": [
            [c.id, c.text, c.by, c.degraded, c.at.isoformat(), [[step.by, step.outcome] for step in c.steps]]
            for c in state.condensates.values()
        ],
        "narrative": None if state.narrative is None else outcome_fields(state.narrative),
        "last_good": None if state.last_good is None else outcome_fields(state.last_good),
        "since_good": state.since_good,
        "words": [[word.id, word.at.isoformat(), word.text] for word in state.words],
        "older_words": None if older is None else [older.count, older.first.isoformat(), older.last.isoformat()],
        "flags": [flag_fields(flag) for flag in state.flags.values()],
        "pending": {id_: [zone.value for zone in zones] for id_, zones in state.pending.items()},
        "appended": state.appended,
        "melted": state.melted,
        "places": {id_: [list(place) for place in places] for id_, places in state.places.items()},
    }


def state_of(document: Mapping[str, Any]) -> State:
    """Return the state of a document.

    Raises:
        KeyError, TypeError, ValueError, AttributeError, Unreadable: it is not what `document_of` gave.
    """
    older: _Json = document["older_words"]
    words = deque(Word(id=id_, at=_at(at), text=text) for id_, at, text in document["words"])
    return State(
        sharp=dict(_placed(item) for item in document["sharp"]),
        condensed=dict(_placed(item) for item in document["condensed"]),
        condensates={item[0]: _condensed(item) for item in document["condensates"]},
        narrative=_narrated(document["narrative"]),
        last_good=_narrated(document["last_good"]),
        since_good=list(document["since_good"]),
        words=words,
        words_chars=sum(len(word.text) for word in words),
        older_words=None if older is None else OlderWords(count=older[0], first=_at(older[1]), last=_at(older[2])),
        flags={flag.id: flag for flag in map(flag_of, document["flags"])},
        pending={id_: [Zone(zone) for zone in zones] for id_, zones in document["pending"].items()},
        appended=document["appended"],
        melted=document["melted"],
        places={id_: [Position(*place) for place in places] for id_, places in document["places"].items()},
    )


def _at(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone(UTC)


def _exchange_list(place: Position, exchange: Exchange) -> list[object]:
    return [
        place.segment,
        place.offset,
        exchange.id,
        exchange.at.isoformat(),
        exchange.kind,
        exchange.tool,
        exchange.question,
        exchange.answer,
        exchange.model,
    ]


def _placed(item: _Json) -> tuple[Position, Exchange]:
    segment, offset, id_, at, kind, tool, question, answer, model = item
    exchange = Exchange(id=id_, at=_at(at), kind=kind, tool=tool, question=question, answer=answer, model=model)
    return Position(segment, offset), exchange


def _condensed(item: _Json) -> Condensed:
    id_, text, by, degraded, at, steps = item
    return Condensed(
        id=id_,
        text=text,
        by=by,
        degraded=degraded,
        at=_at(at),
        steps=tuple(Step(by=who, outcome=outcome) for who, outcome in steps),
    )


def _narrated(fields: _Json) -> Narrated | None:
    if fields is None:
        return None
    outcome = outcome_of(fields)
    if not isinstance(outcome, Narrated):
        raise TypeError("the narrative of a snapshot is no narrative")
    return outcome
