"""What of a day is lived life, and what of a text is its own words (spec 2-consolidation §2, §3).

Left out and counted: blank exchanges, test-bench traffic, our own calls, other agents' where some are named,
the same exchange from a second source. Taken out of the texts that stay: the horizon that an agent quotes
back, our prompts, a host's system prompts. A discussion about our prompts stays: only whole blocks go.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, replace
from datetime import timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from horizon.core.prompt import FENCE, OWN_MARKER

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from horizon.core.day import Lived


class LeftOut(StrEnum):
    """Why an exchange is no part of the day's reading."""

    BLANK = "blank"
    """Its question or its answer is blank, or was only quoted memory."""
    BENCH = "test-bench"
    OWN = "own-call"
    """Our own summarizer was asked."""
    AGENT = "other-agent"
    TWICE = "twice"
    """Another source holds the same exchange."""


TWICE_WITHIN: Final = timedelta(minutes=10)
"""The same words from another source within this are the same exchange: sources date its start or its end."""

_WORD_EDGE = re.compile(r"[\W_]+")
_NOTICE = re.compile(r"^[ \t>]*\[horizon : [^\n\]]*\][ \t]*$", re.MULTILINE)
"""The notice in the middle of a rendered view: all above it is condensed memory."""
_VIEW_LINE = re.compile(r"^[ \t>]*\[horizon\b", re.MULTILINE)
"""How each structural line of a rendered view begins."""
_BLANK_LINE = re.compile(r"\n[ \t]*\n")
_TWO_BLANK_LINES = re.compile(r"\n[ \t]*\n[ \t]*\n\n*")
_FENCE_END: Final = f"</{FENCE}>"
_OWN_PROMPT = re.compile(rf"(?:^[ \t>]*)?{re.escape(OWN_MARKER)}.*?{_FENCE_END}", re.MULTILINE | re.DOTALL)
"""One of our prompts with its fenced data, wherever it begins (in JSON, after other words)."""
_OWN_LINE = re.compile(rf"^[ \t>]*{re.escape(OWN_MARKER)}[^\n]*", re.MULTILINE)
"""Its marked system line alone. The marker inside a line is talk about it."""
_SYSTEM = re.compile(
    r"<\|im_start\|>\s*system\b.*?(?:<\|im_end\|>|\Z)"
    r"|<<SYS>>.*?(?:<</SYS>>|\Z)"
    r"|<\|start_header_id\|>\s*system\s*<\|end_header_id\|>.*?(?:<\|eot_id\|>|\Z)",
    re.DOTALL | re.IGNORECASE,
)
"""A host's system prompt, by the marks that chat templates put around it; one that was cut goes to the end."""
_TAG = re.compile(
    r"(?P<begins>^[ \t>]*)?"
    r"<(?P<tag>system(?:[-_](?:prompt|reminder|message))?|memory|memories|recalled[-_]memory|memory[-_]context)\b[^<>]{0,200}>",
    re.MULTILINE | re.IGNORECASE,
)
"""How a host opens a system prompt or recalled memory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sifted:
    """What of a day is read: `kept` in lived order with its own words only, and how many were left out, by reason."""

    kept: tuple[Lived, ...]
    left_out: Mapping[LeftOut, int]


def is_bench(model: str | None, patterns: Iterable[str]) -> bool:
    """Tell whether a model's name is that of a test bench: the word `test` in it, or one of `patterns`.

    A word, not the letters (`llama3:latest` is lived life). In a pattern `*` and `?` stand for any text and
    any character; case does not matter.
    """
    if not model:
        return False
    name = model.casefold()
    return "test" in _WORD_EDGE.split(name) or any(_matches(name, pattern.casefold()) for pattern in patterns)


def _matches(name: str, pattern: str) -> bool:
    wild = {"*": ".*", "?": "."}
    return re.fullmatch("".join(wild.get(char) or re.escape(char) for char in pattern), name, re.DOTALL) is not None


def own_words(text: str) -> str:
    """Return `text` without the memory, prompts and system prompts quoted in it; unchanged where there is none."""
    if OWN_MARKER in text:
        end = text.rfind(_FENCE_END) + 1  # every prompt before it is closed: one look at each, however many there are
        if end:
            end += len(_FENCE_END) - 1
            text = _OWN_PROMPT.sub("", text[:end]) + text[end:]
        text = _OWN_LINE.sub("", text)
    if "<" in text:
        text = _without_tagged(_SYSTEM.sub("", text))
    if "[horizon" in text:
        text = _without_view(text)
    return text


def _without_tagged(text: str) -> str:
    """Return `text` without what stands in a host's tags; one left open takes the rest where it begins a line."""
    kept: list[str] = []
    at = 0
    never: set[str] = set()
    for opening in _TAG.finditer(text):
        if opening.start() < at:
            continue
        tag = opening["tag"].lower()
        closing = None if tag in never else re.compile(rf"</{tag}\s*>", re.IGNORECASE).search(text, opening.end())
        if closing is None:
            never.add(tag)
            if opening["begins"] is None:
                continue
        kept.append(text[at : opening.start()])
        at = len(text) if closing is None else closing.end()
    return "".join(kept) + text[at:]


def _without_view(text: str) -> str:
    """Return `text` without a rendered view in it, from its first line of ours to the end of its last entry.

    Nothing says where that entry ends: at two blank lines, else at the first one, else with the text. What is
    taken out too little is an old exchange said again; what would be taken out too much is the keeper's own.
    """
    first = _VIEW_LINE.search(text)
    if first is None:
        return text
    notices = list(_NOTICE.finditer(text))
    last = list(_VIEW_LINE.finditer(text))[-1]
    tail = max(last.start(), notices[-1].end() if notices else 0)
    end = _TWO_BLANK_LINES.search(text, tail) or _BLANK_LINE.search(text, tail)
    return text[: first.start()] + (text[end.end() :] if end else "")


def why_left_out(lived: Lived, *, bench: Iterable[str], agents: Iterable[str]) -> LeftOut | None:
    """Return why `lived` is no part of the day, None where it is; of several reasons the first.

    `bench` is the setting `bancs`; `agents`, where it names any, are the only ones that count.
    """
    exchange = lived.exchange
    if is_bench(exchange.model, bench):
        return LeftOut.BENCH
    if exchange.question.lstrip().startswith(OWN_MARKER):
        return LeftOut.OWN
    wanted = tuple(agents)
    if wanted and lived.agent not in wanted:
        return LeftOut.AGENT
    if not exchange.question.strip() or not exchange.answer.strip():
        return LeftOut.BLANK
    return None


def judged(lived: Lived, *, bench: Iterable[str], agents: Iterable[str]) -> Lived | LeftOut:
    """Return `lived` with its own words only, or why it is left out, looked at alone."""
    reason = why_left_out(lived, bench=bench, agents=agents)
    if reason is not None:
        return reason
    exchange = lived.exchange
    question, answer = own_words(exchange.question), own_words(exchange.answer)
    if not question.strip() or not answer.strip():
        return LeftOut.BLANK
    if (question, answer) == (exchange.question, exchange.answer):
        return lived
    return replace(lived, exchange=replace(exchange, question=question, answer=answer))


def is_twice(lived: Lived, earlier: Lived | None) -> bool:
    """Tell whether `lived` is another source's record of `earlier`, an exchange of the same words."""
    if earlier is None or earlier.source == lived.source:
        return False
    return lived.exchange.at - earlier.exchange.at <= TWICE_WITHIN


def sift(day: Iterable[Lived], *, bench: Iterable[str], agents: Iterable[str]) -> Sifted:
    """Return what of a day's exchanges is read and why the rest is not; `day` may come in any order."""
    bench, agents = tuple(bench), tuple(agents)
    left: Counter[LeftOut] = Counter()
    kept: list[Lived] = []
    seen: dict[tuple[str, str], Lived] = {}
    for lived in sorted(day, key=lambda each: each.order):
        found = judged(lived, bench=bench, agents=agents)
        if isinstance(found, LeftOut):
            left[found] += 1
            continue
        words = (found.exchange.question, found.exchange.answer)
        if is_twice(found, seen.get(words)):
            left[LeftOut.TWICE] += 1
            continue
        seen[words] = found
        kept.append(found)
    return Sifted(kept=tuple(kept), left_out=dict(sorted(left.items())))
