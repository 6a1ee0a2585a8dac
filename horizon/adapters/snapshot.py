"""The snapshot: a bee's folded state as one JSON document, a cache that may be deleted at any time.

Fields stand in lists rather than under names: a fresh process reads it before every first view.
"""

from __future__ import annotations

import json
from collections import deque
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from horizon.adapters.cursor import Moved
from horizon.adapters.files import replace_file
from horizon.adapters.outcome_lines import Unreadable, flag_fields, flag_of, outcome_fields, outcome_of
from horizon.core.event import Condensed, Narrated, Step, Word
from horizon.core.exchange import Exchange, Position
from horizon.core.state import OlderWords, State, Zone
from horizon.core.words import is_order

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from horizon.adapters.journal_reader import JournalReader, Progress

VERSION: Final = 2
"""Of the document's shape: a snapshot of another version is passed over."""


def write_snapshot(path: Path, progress: Progress, state: State) -> None:
    """Replace the snapshot, atomically.

    Raises:
        OSError: the disk refused; the old one stands.
    """
    document = {"version": VERSION, "progress": progress.document(), "state": document_of(state)}
    replace_file(path, json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode())


def read_snapshot(path: Path, reader: JournalReader) -> tuple[Progress, State] | None:
    """Return the snapshot's state and how far the journals had been read; None where there is no snapshot.

    Raises:
        Moved: it is damaged, of another version, or the journals do not hold what had been read by then.
    """
    try:
        document: Any = json.loads(path.read_bytes())
        if document["version"] != VERSION:
            raise Moved(f"version {str(document['version'])[:20]} of a snapshot, where {VERSION} is known")
        return reader.progress_from(document["progress"]), state_of(document["state"])
    except FileNotFoundError:
        return None
    except Unreadable as error:
        raise Moved(str(error)) from error
    except (OSError, ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RecursionError) as error:
        raise Moved(f"damaged: {error}") from error


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
        "words": [[word.id, word.at.isoformat(), word.text, is_order(word.text, state)] for word in state.words],
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
    older: Any = document["older_words"]
    words = deque(Word(id=id_, at=_at(at), text=text) for id_, at, text, _ in document["words"])
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
        orders={text: order for _, _, text, order in document["words"]},
        flags={flag.id: flag for flag in map(flag_of, document["flags"])},
        pending={id_: [Zone(zone) for zone in zones] for id_, zones in document["pending"].items()},
        appended=document["appended"],
        melted=document["melted"],
        places={id_: tuple(Position(*place) for place in places) for id_, places in document["places"].items()},
    )


def _at(text: str) -> datetime:
    at = datetime.fromisoformat(text)
    return at if at.tzinfo is UTC else at.astimezone(UTC)


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


def _placed(item: list[Any]) -> tuple[Position, Exchange]:
    segment, offset, id_, at, kind, tool, question, answer, model = item
    exchange = Exchange(id=id_, at=_at(at), kind=kind, tool=tool, question=question, answer=answer, model=model)
    return Position(segment, offset), exchange


def _condensed(item: list[Any]) -> Condensed:
    id_, text, by, degraded, at, steps = item
    return Condensed(
        id=id_,
        text=text,
        by=by,
        degraded=degraded,
        at=_at(at),
        steps=tuple(Step(by=who, outcome=outcome) for who, outcome in steps),
    )


def _narrated(fields: dict[str, Any] | None) -> Narrated | None:
    if fields is None:
        return None
    outcome = outcome_of(fields)
    if not isinstance(outcome, Narrated):
        raise TypeError("the narrative of a snapshot is no narrative")
    return outcome
