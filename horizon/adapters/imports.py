"""Files of other programs, read for import: the format is told by what is in them, never by their name.

SQLite → traces of an agent host; a zip → the conversations in it; JSON or JSON lines → the chat exports of
`chat_exports`, or journals of this and other engines. Files are read only.
"""

from __future__ import annotations

import json
import zipfile
import zlib
from collections import Counter
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final, cast

from horizon.adapters.chat_exports import (
    chatgpt_turns,
    claude_code_turns,
    claude_turns,
    is_message,
    message_turns,
    objects,
)
from horizon.adapters.journal_lines import clean, exchange_of, instant_of, read_line
from horizon.adapters.traces_sqlite import Traces
from horizon.core.conversation import UNDATED, Draft, Imported, drafts, exchanges
from horizon.core.evidence import why_left_out
from horizon.errors import InvalidInput, Unavailable

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from horizon.adapters.chat_exports import Json
    from horizon.adapters.journal_lines import Record

FORMATS: Final = (
    "OpenAI-style messages (JSON or JSON lines), a ChatGPT export, a Claude export, a Claude Code session,"
    " an agent host's traces.db, a journal"
)
"""What can be imported, in words for people."""
FILE_LARGEST: Final = 4 << 30
"""Bytes of a zip's member that are read: ten times the largest export known, and no bomb fits."""
_SQLITE: Final = b"SQLite format 3\0"
_ZIP: Final = b"PK\x03\x04"
_LISTS: Final = ("messages", "conversations", "conversation")
"""Keys under which programs keep a list of messages."""


def read_import(path: Path) -> Imported:
    """Return the exchanges of the file at `path`, in date order, and what was left out, by reason.

    Raises:
        Unavailable: the file is not there or cannot be read, or is a database without traces.
        StoreBusy: it is a database that its owner keeps locked.
        InvalidInput: it is none of the formats that can be imported; the message lists them.
    """
    try:
        with path.open("rb") as file:
            start = file.read(16)
        saved = datetime.fromtimestamp(path.stat().st_mtime, UTC)
        if start.startswith(_SQLITE):
            return _traces(path, saved)
        if start.startswith(_ZIP):
            return _zipped(path, saved)
        return _decoded(path.read_bytes(), path.name, saved)
    except OSError as error:
        raise Unavailable(f"{path} cannot be read: {error}") from error
    except (zipfile.BadZipFile, zlib.error) as error:
        raise InvalidInput(f"{path} is damaged: {error}") from error


def _unknown(name: str, found: str) -> InvalidInput:
    return InvalidInput(f"{name}: {found}; what can be imported: {FORMATS}")


def _zipped(path: Path, saved: datetime) -> Imported:
    with zipfile.ZipFile(path) as archive:
        members = [
            each
            for each in archive.infolist()
            if each.filename.rpartition("/")[2].startswith("conversations") and each.filename.endswith(".json")
        ]
        if not members:
            raise _unknown(path.name, "a zip without conversations.json in it")
        found: list[Imported] = []
        for member in members:
            if member.file_size > FILE_LARGEST:
                raise InvalidInput(f"{path}: {member.filename} is larger than {FILE_LARGEST >> 30} GiB")
            found.append(_decoded(archive.read(member), member.filename, saved))
    left_out: Counter[str] = Counter()
    for each in found:
        left_out.update(each.left_out)
    together = sorted((exchange for each in found for exchange in each.exchanges), key=lambda exchange: exchange.at)
    return Imported(form=found[0].form, exchanges=tuple(together), left_out=dict(left_out))


def _decoded(data: bytes, name: str, saved: datetime) -> Imported:
    try:
        value: object = json.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return _lines(data, name, saved)
    top: list[Json] | None = None
    if isinstance(value, dict):
        fields = cast("Json", value)
        top = objects(fields.get("conversations")) if "mapping" not in fields else None
        if not top or all(map(is_message, top)):
            top = [fields]
    elif isinstance(value, list):
        items = cast("list[object]", value)
        nested = [objects(cast("object", each)) for each in items if isinstance(each, list)]
        if nested and len(nested) == len(items):
            return _messages(nested, saved, Counter())
        top = objects(items)
    if not top:
        raise _unknown(name, "JSON without a conversation in it")
    return _conversations(top, name, saved)


def _conversations(top: Sequence[Json], name: str, saved: datetime) -> Imported:
    """Take decoded objects for what their keys say they are."""
    left_out: Counter[str] = Counter()
    if any("mapping" in each for each in top):
        return _imported("a ChatGPT export", [drafts(chatgpt_turns(each, left_out)) for each in top], saved, left_out)
    if any("chat_messages" in each for each in top):
        return _imported("a Claude export", [drafts(claude_turns(each, left_out)) for each in top], saved, left_out)
    if any("sessionId" in each and "message" in each for each in top):
        turns = claude_code_turns(top, left_out)
        return _imported("a Claude Code session", [drafts(turns)], saved, left_out)
    if any(is_message(each) for each in top):
        return _messages([top], saved, left_out)
    listed = [objects(each.get(key)) for each in top for key in _LISTS]
    if any(is_message(message) for messages in listed for message in messages):
        return _messages(listed, saved, left_out)
    lines = [json.dumps(each).encode() for each in top]
    return _journal(lines, name, saved)


def _messages(conversations: Iterable[Sequence[Json]], saved: datetime, left_out: Counter[str]) -> Imported:
    found = [drafts(message_turns(each, left_out)) for each in conversations]
    return _imported("OpenAI-style messages", found, saved, left_out)


def _imported(form: str, found: Iterable[Sequence[Draft]], saved: datetime, left_out: Counter[str]) -> Imported:
    return Imported(form=form, exchanges=exchanges(found, saved=saved), left_out=dict(left_out))


def _lines(data: bytes, name: str, saved: datetime) -> Imported:
    """Read JSON lines; a journal's oddities are survived as where it lives."""
    lines = [line for line in data.removeprefix(b"\xef\xbb\xbf").split(b"\n") if line.strip()]
    values: list[Json] = []
    broken = 0
    for line in lines:
        try:
            value: object = json.loads(line.decode())
        except (ValueError, RecursionError):
            broken += 1
            continue
        if isinstance(value, dict):
            values.append(cast("Json", value))
    if any(_is_chat(each) for each in values):
        found = _conversations(values, name, saved)
        if not broken:
            return found
        counted = {**found.left_out, "a line that is not JSON": broken}
        return Imported(form=found.form, exchanges=found.exchanges, left_out=counted)
    return _journal(lines, name, saved)


def _is_chat(fields: Json) -> bool:
    listed = [message for key in _LISTS for message in objects(fields.get(key))]
    return is_message(fields) or any(map(is_message, listed)) or ("sessionId" in fields and "type" in fields)


def _journal(lines: Iterable[bytes], name: str, saved: datetime) -> Imported:
    left_out: Counter[str] = Counter()
    found: list[Draft] = []
    for line in lines:
        read = read_line(line, 0, ended=True)
        left_out.update(reason for _, reason in read.notes)
        found.extend(map(_draft, read.records))
    if not found:
        raise _unknown(name, "no conversation and no journal in it")
    return _imported("a journal", [found], saved, left_out)


def _draft(record: Record) -> Draft:
    at = instant_of(record.fields)
    exchange = exchange_of(record, at or UNDATED, dated=at is not None)
    return Draft(
        question=exchange.question,
        answer=exchange.answer,
        at=at,
        id=exchange.id,
        kind=exchange.kind,
        tool=exchange.tool,
        model=exchange.model,
    )


def _traces(path: Path, saved: datetime) -> Imported:
    """Read an agent host's traces, also while it writes; bench traffic and our own calls are left out."""
    left_out: Counter[str] = Counter()
    found: list[Draft] = []
    rows = Traces(path).after(0, "")
    assert rows is not None, "from the first row on, everything can be read"
    for lived in rows:
        reason = why_left_out(lived, bench=(), agents=())
        if reason is not None:
            left_out[reason] += 1
            continue
        exchange = lived.exchange
        found.append(
            Draft(
                question=clean(exchange.question),
                answer=clean(exchange.answer),
                at=exchange.at,
                id=exchange.id,
                model=exchange.model,
            )
        )
    undated = Traces(path).undated()
    if undated:
        left_out["without a date"] += undated
    return _imported("an agent host's traces", [found], saved, left_out)
