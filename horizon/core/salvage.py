"""Reading a model's reply leniently: what can be saved is saved, and nothing in it can make reading fail.

Survived: reasoning blocks, code fences, prose around the JSON, several objects, trailing commas, a reply
cut in the middle, ten thousand nested brackets, strings where lists were asked for (spec 2-consolidation §3).
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Final, cast

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

DEPTH_MOST: Final = 32
"""Deepest nesting read: our schemas need three levels, and Python's own reader fails near a thousand."""
_OPENINGS_MOST: Final = 64
"""Most places tried as the beginning of an object, so that a reply full of braces costs no more than that."""

_THOUGHT_END = re.compile(r"</think(?:ing)?\s*>", re.IGNORECASE)
_THOUGHT = re.compile(r"<think(?:ing)?\s*>", re.IGNORECASE)
_FENCE_LINE = re.compile(r"^[ \t]*(?:```|~~~)[^\n`]*$\n?", re.MULTILINE)


def without_thoughts(reply: str) -> str | None:
    """Return `reply` after its last reasoning block; None where a block is left open, so no answer came."""
    ends = [found.end() for found in _THOUGHT_END.finditer(reply)]
    if ends:
        reply = reply[ends[-1] :]
    if _THOUGHT.search(reply):
        return None
    return reply.strip()


def without_fences(reply: str) -> str:
    """Return `reply` without the lines that open or close a code fence; what they hold stays."""
    return _FENCE_LINE.sub("", reply).strip()


def objects(reply: str) -> list[dict[str, object]]:
    """Return every JSON object found at the outermost level of `reply`, in order; empty where there is none.

    The last one is mended where the reply was cut inside it.
    """
    found: list[dict[str, object]] = []
    at = 0
    for _ in range(_OPENINGS_MOST):
        at = reply.find("{", at)
        if at < 0:
            break
        end, cut = _extent(reply, at)
        if end is None:
            at += 1
            continue
        value = _read(reply[at:end] + cut)
        if value is None:
            at += 1
            continue
        found.append(value)
        at = end
    return found


def best_object(reply: str, keys: Collection[str]) -> dict[str, object] | None:
    """Return the object of `reply` with the most of `keys`, the last of equals; None where none has any."""
    best: dict[str, object] | None = None
    score = 0
    for value in objects(reply):
        have = sum(1 for key in keys if key in value)
        if have and have >= score:
            best, score = value, have
    return best


def texts(value: object) -> list[str]:
    """Return the texts that a field holds: of a list its texts, of a text its lines, of anything else none."""
    if isinstance(value, str):
        return [line for part in value.split("\n") if (line := part.strip().lstrip("-*•·").strip())]
    if isinstance(value, list):
        items = cast("list[object]", value)
        return [text for item in items if isinstance(item, str) and (text := " ".join(item.split()))]
    return []


_TOKEN = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*("?)|[{}\[\]]', re.DOTALL)
"""A quoted text, to its end or to that of all, or a bracket outside of one."""
_COMMAS = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"?|,\s*([}\]])', re.DOTALL)
"""A quoted text, or a comma before a closer outside of one."""


def _extent(reply: str, start: int) -> tuple[int | None, str]:
    """Return where the object at `start` ends and what closes it if the reply was cut; None if it is too deep."""
    closers: list[str] = []
    quoted = False
    for found in _TOKEN.finditer(reply, start):
        mark = found[0]
        if mark[0] == '"':
            quoted = not found[1]
        elif mark in "{[":
            closers.append("}" if mark == "{" else "]")
            if len(closers) > DEPTH_MOST:
                return None, ""
        else:
            if closers.pop() != mark:
                return None, ""
            if not closers:
                return found.end(), ""
    return len(reply), ('"' if quoted else "") + "".join(reversed(closers))


def _read(text: str) -> dict[str, object] | None:
    for mended in _mendings(text):
        try:
            value = json.loads(mended, strict=False)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict):
            return cast("dict[str, object]", value)
    return None


def _mendings(text: str) -> Iterator[str]:
    """Yield readings of `text` to try: as it is, without commas before a closer, without a half-written last item."""
    yield text
    yield (bare := _without_trailing_commas(text))
    closers = re.search(r'"?[\]}]*$', bare)
    tail = closers[0].lstrip('"') if closers else ""
    body = bare[: len(bare) - len(tail)]
    for _ in range(4):  # a cut reply ends in a half item: a key alone, a bare word, a half escape
        cut = body.rfind(",")
        if cut < 0:
            break
        body = body[:cut]
        closing = _extent(body, 0)
        if closing[0] == len(body):
            yield _without_trailing_commas(body + closing[1])


def _without_trailing_commas(text: str) -> str:
    return _COMMAS.sub(lambda found: found[0] if found[0][0] == '"' else found[1], text)
