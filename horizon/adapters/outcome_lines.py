"""Lines of the flags file and of the outcomes file, to and from events (spec 1-horizon §9).

Keys are French, as in the journals. What is not ours or is torn decodes to a reason, never to an error.
"""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final, cast

from horizon.adapters.journal_lines import EPOCH, clean, instant_of, local_date
from horizon.core.event import Cause, Condensed, Evicted, Flagged, Narrated, Section, Step, Word

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from horizon.core.event import Outcome

_CONDENSED: Final = "condensat"
_EVICTED: Final = "eviction"
_NARRATED: Final = "recit"

_CONDENSED_BEGINS: Final = re.compile(
    rb'\{"quand": "[0-9T:.+-]{19,40}", "fait": "condensat", "id": "([^"\\]+)", "texte": "'
)
_CONDENSED_ENDS: Final = re.compile(rb'", "degrade": (?:true|false), "etapes": \[(?:|.*[^\\]"\})\]\}$')

Fields = dict[str, object]


class Unreadable(Exception):
    """A line that is no event of ours; its text says why."""


def fields_line(fields: Mapping[str, object]) -> bytes:
    """Return one line of JSON with its newline."""
    return json.dumps(fields, ensure_ascii=False).encode() + b"\n"


def fields_of(line: bytes) -> Fields:
    """Return a line's JSON object.

    Raises:
        Unreadable: it is none.
    """
    try:
        value: object = json.loads(line.decode())
    except UnicodeDecodeError as error:
        raise Unreadable(f"invalid UTF-8 at byte {error.start} of the line") from None
    except RecursionError:
        raise Unreadable("nested too deeply") from None
    except ValueError as error:
        raise Unreadable(f"not JSON: {str(error).split(':')[0]}") from None
    if not isinstance(value, dict):
        raise Unreadable("not a JSON object")
    return cast("Fields", value)


def condensed_id(line: bytes) -> str | None:
    """Return the id in a line that records a condensed text, whole, without parsing it; None for any other line.

    Inside a JSON string each quote has a backslash before it, so what is looked for cannot stand in one.
    """
    begins = _CONDENSED_BEGINS.match(line)
    if begins is None or line.find(b'{"quand": ', 1) >= 0 or _CONDENSED_ENDS.search(line, begins.end()) is None:
        return None
    try:
        line.decode()
        return begins[1].decode()
    except UnicodeDecodeError:
        return None


def flag_fields(event: Flagged) -> Fields:
    """Return a flag as the fields of its line."""
    fields: Fields = {"id": clean(event.id), "phare": event.on, "quand": local_date(event.at)}
    if event.word is not None:
        fields["echange"] = {"quand": local_date(event.word.at), "question": clean(event.word.text)}
    return fields


def flag_of(fields: Fields) -> Flagged:
    """Return the flag of a line; one without a date holds since ever.

    Raises:
        Unreadable: it names no id, or does not say whether it is set.
    """
    id_, on = fields.get("id"), fields.get("phare")
    if not isinstance(id_, str) or not id_:
        raise Unreadable("a flag without an id")
    if not isinstance(on, bool):
        raise Unreadable('a flag whose "phare" is neither true nor false')
    said = fields.get("echange")
    word = None
    if isinstance(said, dict):
        told = cast("Fields", said)
        question, at = told.get("question"), instant_of(told)
        if isinstance(question, str) and at is not None:
            word = Word(id=clean(id_), at=at, text=clean(question))
    return Flagged(id=clean(id_), on=on, at=instant_of(fields) or EPOCH, word=word)


def outcome_fields(outcome: Outcome) -> Fields:
    """Return an outcome as the fields of its line."""
    fields: Fields = {"quand": local_date(outcome.at)}
    match outcome:
        case Condensed():
            fields |= {
                "fait": _CONDENSED,
                "id": outcome.id,
                "texte": clean(outcome.text),
                "par": outcome.by,
                "degrade": outcome.degraded,
                "etapes": _step_list(outcome.steps),
            }
        case Evicted():
            fields |= {"fait": _EVICTED, "ids": list(outcome.ids)}
        case Narrated():
            fields |= {
                "fait": _NARRATED,
                "version": outcome.version,
                "base": outcome.base,
                "cause": outcome.cause.value,
                "sections": {section.value: clean(text) for section, text in outcome.sections.items()},
                "par": outcome.by,
                "degrade": outcome.degraded,
                "ids": list(outcome.ids),
                "paroles": [
                    {"id": word.id, "quand": local_date(word.at), "question": clean(word.text)}
                    for word in outcome.words
                ],
                "etapes": _step_list(outcome.steps),
            }
    return fields


def outcome_of(fields: Fields) -> Outcome:
    """Return the outcome of a line.

    Raises:
        Unreadable: a field is missing or of another type, or the outcome is none that we know.
    """
    try:
        at = datetime.fromisoformat(cast("str", fields["quand"])).astimezone(UTC)
        match fields["fait"]:
            case "condensat":
                return Condensed(
                    id=_str(fields["id"]),
                    text=_str(fields["texte"]),
                    by=_str(fields["par"]),
                    degraded=fields["degrade"] is True,
                    at=at,
                    steps=_steps(fields.get("etapes")),
                )
            case "eviction":
                return Evicted(ids=_ids(fields["ids"]), at=at)
            case "recit":
                return Narrated(
                    version=_int(fields["version"]),
                    base=_int(fields["base"]),
                    cause=Cause(fields["cause"]),
                    sections=_sections(fields["sections"]),
                    by=_str(fields["par"]),
                    degraded=fields["degrade"] is True,
                    at=at,
                    ids=_ids(fields["ids"]),
                    words=tuple(_word(item) for item in _list(fields.get("paroles"))),
                    steps=_steps(fields.get("etapes")),
                )
            case other:
                raise Unreadable(f"an outcome called {str(other)[:40]!r}, which this version does not know")
    except KeyError as error:
        raise Unreadable(f"an outcome without {error}") from None
    except (TypeError, ValueError, OverflowError, OSError) as error:
        raise Unreadable(f"an outcome with a wrong value: {str(error)[:120]}") from None


def _str(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"text expected, found {str(value)[:40]!r}")
    return clean(value)


def _int(value: object) -> int:
    if not isinstance(value, int):
        raise TypeError(f"a number expected, found {str(value)[:40]!r}")
    return value


def _list(value: object) -> list[object]:
    if value is None:
        return []
    if not isinstance(value, list):
        raise TypeError(f"a list expected, found {str(value)[:40]!r}")
    return cast("list[object]", value)


def _ids(value: object) -> tuple[str, ...]:
    return tuple(_str(item) for item in _list(value))


def _dict(value: object) -> Fields:
    if not isinstance(value, dict):
        raise TypeError(f"an object expected, found {str(value)[:40]!r}")
    return cast("Fields", value)


def _sections(value: object) -> dict[Section, str]:
    return {Section(key): _str(text) for key, text in _dict(value).items()}


def _word(value: object) -> Word:
    fields = cast("Fields", value)  # what is no object raises TypeError here, as a missing key does KeyError
    at = datetime.fromisoformat(cast("str", fields["quand"])).astimezone(UTC)
    return Word(id=_str(fields["id"]), at=at, text=_str(fields["question"]))


def _step_list(steps: Sequence[Step]) -> list[Fields]:
    return [{"par": step.by, "issue": clean(step.outcome)} for step in steps]


def _steps(value: object) -> tuple[Step, ...]:
    return tuple(Step(by=_str(_dict(item)["par"]), outcome=_str(_dict(item)["issue"])) for item in _list(value))
