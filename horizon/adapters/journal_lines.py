r"""Lines of an integral journal, ours and other engines', to and from exchanges (spec 1-horizon §9).

Nothing that can be read is lost, nothing is changed, and each leniency is named. A line is bytes up to
b"\n"; what else Unicode calls a line end may stand inside a string.
"""

from __future__ import annotations

import json
import math
import re
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final, cast

from horizon.core.exchange import CONVERSATION, Exchange, content_id

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

TOOL_KIND: Final = "outil"
"""Kind of a record that names a tool and no kind: it is not the keeper who speaks in it."""
EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
"""Date of the exchanges of a journal in which nothing is dated."""
LINE_LONGEST: Final = 256 * 1024 * 1024
"""Bytes of the longest line that is read: several times the longest known (90 MB), and it bounds memory."""
UTF_16: Final = "UTF-16, which is not read; save it as UTF-8"
"""What is said of a file that begins with its mark."""

_DATE_KEYS: Final = ("quand", "timestamp", "date", "ts", "created_at", "time")
_QUESTION_KEYS: Final = ("question", "query", "prompt", "input")
_ANSWER_KEYS: Final = ("reponse", "response", "answer", "result", "output")
_TOOL_KEYS: Final = ("outil", "tool")
_KIND_KEYS: Final = ("type", "kind")
_MODEL_KEYS: Final = ("modele", "model")

_SALVAGE_START: Final = re.compile(
    r'\{\s*"(?:' + "|".join(("id", *_DATE_KEYS, *_QUESTION_KEYS, *_ANSWER_KEYS, *_TOOL_KEYS, *_KIND_KEYS)) + r')"\s*:'
)
_SALVAGE_TRIES: Final = 64
"""Places in a broken line at which a whole record is looked for: bounds the time that garbage can cost."""
_OURS_BEGINS: Final = re.compile(rb'\{"id": "([^"\\]+)", "quand": "([0-9T:.+-]{19,40})", "type": "')
_OURS_ENDS: Final = re.compile(rb'", "modele": (?:null|"[^"\\]{0,200}")\}$')
_NOT_RECORD: Final = "\ufeff\0 \t\r"
_NUMBER: Final = re.compile(r"[+-]?[0-9]{1,20}(?:\.[0-9]*)?")
_encode = json.JSONEncoder(ensure_ascii=False).encode
_decode = json.JSONDecoder().raw_decode
_decode_lenient = json.JSONDecoder(strict=False).raw_decode


@dataclass(slots=True)
class Record:
    """One JSON object of a line that holds an exchange; `offset` and `end` are byte offsets in the file."""

    offset: int
    end: int
    fields: Mapping[str, object]


@dataclass(slots=True)
class Line:
    """What a line holds: its records in order, and by byte offset what was passed over or taken leniently."""

    records: list[Record]
    notes: list[tuple[int, str]]


def read_line(line: bytes, offset: int, *, ended: bool) -> Line:
    """Return the records of one line that begins at byte `offset` of its file.

    `ended` is False for a last line that a writer may still be at: only whole records at its start are taken.
    """
    try:
        value: object = json.loads(line.decode())
    except (ValueError, RecursionError):
        return _read_oddly(line, offset, ended=ended)
    found = Line([], [])
    _take(value, offset, offset + len(line), found)
    return found


def _take(value: object, offset: int, end: int, found: Line) -> None:
    if not isinstance(value, dict):
        found.notes.append((offset, f"a JSON {_json_type(value)}, not an object"))
        return
    fields = cast("dict[str, object]", value)
    if _first(fields, _QUESTION_KEYS) is None and _first(fields, _ANSWER_KEYS) is None:
        keys = ", ".join(list(fields)[:5]) or "none"
        found.notes.append((offset, f"no exchange: neither a question nor an answer (keys: {keys[:80]})"))
        return
    found.records.append(Record(offset, end, fields))


def _read_oddly(line: bytes, offset: int, *, ended: bool) -> Line:
    """Read a line that is not exactly one JSON value."""
    found = Line([], [])
    try:
        text = line.decode()
    except UnicodeDecodeError as error:
        found.notes.append((offset, UTF_16 if is_utf_16(line) else f"invalid UTF-8 at byte {error.start} of the line"))
        return found
    at = _skip(text, 0)
    if text[:at].strip(" \t\r"):
        found.notes.append((offset, "a byte order mark or NUL bytes at its start"))
    here = offset + len(text[:at].encode())
    while at < len(text):
        value, stop, reason = _decode_at(text, at)
        if stop == at:
            if ended:
                _salvage(text, at, here, reason, found)
            break
        if reason:
            found.notes.append((here, reason))
        end = here + len(text[at:stop].encode())
        _take(value, here, end, found)
        at = _skip(text, stop)
        if at < len(text):
            found.notes.append((end, "more than one record on the line"))
        here = end + len(text[stop:at].encode())
    return found


def is_utf_16(line: bytes) -> bool:
    """Tell whether a file's first line begins with the mark of UTF-16."""
    return line.startswith((BOM_UTF16_LE, BOM_UTF16_BE))


def _decode_at(text: str, at: int) -> tuple[object, int, str]:
    """Return the JSON value at `at`, where it stops, and a remark; it stops where it starts if there is none."""
    try:
        value, stop = _decode(text, at)
    except RecursionError:
        return None, at, "nested too deeply"
    except ValueError as error:
        reason = f"not JSON: {str(error).split(':')[0]}"
    else:
        return value, stop, ""
    try:
        value, stop = _decode_lenient(text, at)
    except (ValueError, RecursionError):
        return None, at, reason
    return value, stop, "control characters inside a string"


def _salvage(text: str, at: int, here: int, reason: str, found: Line) -> None:
    """Take the record that a writer put right after a torn one, without a newline between them."""
    found.notes.append((here, reason))
    for tried, match in enumerate(_SALVAGE_START.finditer(text, at + 1)):
        if tried == _SALVAGE_TRIES:
            return
        start = match.start()
        value, stop, _ = _decode_at(text, start)
        if stop == start or _skip(text, stop) != len(text) or not isinstance(value, dict):
            continue
        fields = cast("dict[str, object]", value)
        # Both halves must be there: an object inside the torn record is not an exchange.
        if _first(fields, _QUESTION_KEYS) is not None and _first(fields, _ANSWER_KEYS) is not None:
            begin = here + len(text[at:start].encode())
            found.notes.append((begin, "a whole record after a torn one on the same line"))
            _take(fields, begin, begin + len(text[start:stop].encode()), found)
            return


def _skip(text: str, at: int) -> int:
    while at < len(text) and text[at] in _NOT_RECORD:
        at += 1
    return at


def _json_type(value: object) -> str:
    match value:
        case list():
            return "array"
        case str():
            return "string"
        case None | bool():
            return "constant"
        case _:
            return "number"


def _first(fields: Mapping[str, object], keys: Iterable[str]) -> object:
    for key in keys:
        value = fields.get(key)
        if value is not None:
            return value
    return None


def clean(text: str) -> str:
    """Return `text` as it can be stored: surrogate pairs joined, lone surrogates replaced by U+FFFD."""
    if text.isascii():  # most of it, and an answer of 90 MB need not be copied to know
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def _text(value: object) -> str:
    if isinstance(value, str):
        return clean(value)
    if value is None:
        return ""
    return clean(json.dumps(value, ensure_ascii=False))


def instant_of(fields: Mapping[str, object]) -> datetime | None:
    """Return a record's date in UTC; None where it has none that can be read.

    ISO 8601 (without an offset: in the machine's zone, where its writer ran), or seconds, milliseconds,
    microseconds or nanoseconds since 1970 as a number or digits, told apart by size.
    """
    return next((found for _, found in _dates(fields)), None)


def date_key(fields: Mapping[str, object]) -> str | None:
    """Return the key under which a record has the date that `instant_of` gives; None where it has none."""
    return next((key for key, _ in _dates(fields)), None)


def _dates(fields: Mapping[str, object]) -> Iterator[tuple[str, datetime]]:
    for key in _DATE_KEYS:
        value = fields.get(key)
        if value is None or isinstance(value, bool):
            continue
        found = _instant(value)
        if found is not None:
            yield key, found


def _instant(value: object) -> datetime | None:
    if isinstance(value, str):
        if value[4:5] == "-":  # the usual form first
            try:
                return datetime.fromisoformat(value).astimezone(UTC)
            except (ValueError, OverflowError, OSError):
                pass
        text = value.strip()
        # Digits alone count from 1970, but eight of them are a date as ISO 8601 also writes it.
        if _NUMBER.fullmatch(text) and len(text.split(".")[0]) != len("20260710"):
            return _from_epoch(float(text))
        try:
            return datetime.fromisoformat(text).astimezone(UTC)
        except (ValueError, OverflowError, OSError):
            return None
    return _from_epoch(value) if isinstance(value, (int, float)) else None


def _from_epoch(number: float) -> datetime | None:
    # From 1973 to 5138 the four units do not overlap.
    for unit, most in ((1, 1e11), (1_000, 1e14), (1_000_000, 1e17), (1_000_000_000, 1e20)):
        if abs(number) < most:
            whole, rest = divmod(number, unit)
            if not math.isfinite(whole):
                return None
            try:
                return EPOCH + timedelta(seconds=whole, microseconds=round(rest * 1_000_000 / unit))
            except OverflowError:
                return None
    return None


def id_and_date(line: bytes) -> tuple[str, bytes] | None:
    """Return the id and the written date of a line of ours, whole, without parsing it; None for any other line.

    Inside a JSON string each quote has a backslash before it, so what is looked for cannot stand in one: the
    line begins one object, ours, and ends as ours do.
    """
    begins = _OURS_BEGINS.match(line)
    if begins is None or line.count(b'{"') != 1 or b"\0" in line:
        return None
    if not line.endswith(b'", "modele": null}') and _OURS_ENDS.search(line, len(line) - 230) is None:
        return None
    try:
        if not line.isascii():
            line.decode()
        return begins[1].decode(), begins[2]
    except UnicodeDecodeError:
        return None


def instant_at(written: bytes, otherwise: datetime | None) -> datetime | None:
    """Return the instant of a date as `id_and_date` gave it, `otherwise` where it is none."""
    return _instant(written.decode()) or otherwise


def exchange_of(record: Record, at: datetime, *, dated: bool) -> Exchange:
    """Return a record's exchange; `at` is its own date where it is `dated`, else that of its neighbours.

    Where the record has no id, one is made of its content; an undated one's does not depend on its neighbours.
    """
    fields = record.fields
    tool = _text(_first(fields, _TOOL_KEYS)) or None
    kind = _text(_first(fields, _KIND_KEYS)).strip() or (TOOL_KIND if tool else CONVERSATION)
    question = _text(_first(fields, _QUESTION_KEYS))
    answer = _text(_first(fields, _ANSWER_KEYS))
    id_ = given_id(fields) or content_id(
        at=at if dated else EPOCH, kind=kind, tool=tool, question=question, answer=answer
    )
    return Exchange(
        id=id_,
        at=at,
        kind=kind,
        tool=tool,
        question=question,
        answer=answer,
        model=_text(_first(fields, _MODEL_KEYS)) or None,
    )


def given_id(fields: Mapping[str, object]) -> str:
    """Return the id that a record gives itself, "" where it gives none."""
    value = fields.get("id")
    if isinstance(value, str):
        return clean(value).strip()
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else ""


def leniencies(record: Record) -> Iterator[str]:
    """Yield what was made up or replaced in taking a record as an exchange."""
    fields = record.fields
    if _first(fields, _QUESTION_KEYS) is None:
        yield "no question"
    if instant_of(fields) is None:
        yield "no date that can be read: it takes that of its neighbour"
    if any(isinstance(value, str) and clean(value) != value for value in fields.values()):
        yield "a lone surrogate, replaced by U+FFFD"


def line_of(exchange: Exchange) -> bytes:
    """Return the journal line of an exchange, with its newline."""
    fields = {
        "id": exchange.id,
        "quand": local_date(exchange.at),
        "type": exchange.kind,
        "outil": exchange.tool,
        "question": exchange.question,
        "reponse": exchange.answer,
        "modele": exchange.model,
    }
    return _encode(fields).encode() + b"\n"


def local_date(at: datetime) -> str:
    """Return an instant as ISO 8601 with the machine's offset, exact to the microsecond."""
    try:
        return at.astimezone().isoformat()
    except (OverflowError, ValueError, OSError):  # the first and last day of the calendar
        return at.isoformat()


def cleaned(exchange: Exchange) -> Exchange:
    """Return the exchange as it will be read back."""
    return Exchange(
        id=clean(exchange.id).strip(),
        at=exchange.at.astimezone(UTC),
        kind=clean(exchange.kind).strip(),
        tool=clean(exchange.tool) if exchange.tool else None,
        question=clean(exchange.question),
        answer=clean(exchange.answer),
        model=clean(exchange.model) if exchange.model else None,
    )
