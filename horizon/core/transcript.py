"""A day's exchanges as text for a summarizer, in parts that fit its window; or told without one (spec 2-consolidation §2, §3).

Rules:

- Parts follow each other in lived order and hold every exchange once; how many there are is known before any call.
- Text from others stands indented under our own lines, so that nothing in it can pass for one of them.
- What is too long for its part is shortened visibly; what is short stays whole.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

from horizon.core.condensation import first_sentences
from horizon.core.fact import one_line
from horizon.core.prompt import CUT, collapsed, most_tokens, within
from horizon.core.redaction import redact

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import tzinfo

    from horizon.core.day import Lived

QUESTION_SHARE: Final = 3
"""Of a shortened exchange, the question keeps up to one part in so many of the room; facts come from what the
keeper says, but what was done stands in the answer."""
ENTRY_TOKENS: Final = 24
"""Room for one exchange's own lines (hour, number, labels)."""
EXCERPTS: Final = 6
"""Moments told of a day without a summarizer: as many as a summary has sentences at most."""
EXCERPT_MOST: Final = 160
"""Characters of each."""


def parts(day: Sequence[Lived], *, size: int, most: int, room: int) -> tuple[tuple[Lived, ...], ...]:
    """Return `day` in consecutive parts: at most `size` exchanges and `room` tokens each, and at most `most` parts.

    Where that is too many, parts grow until there are few enough; what then does not fit is shortened by
    `transcript`. `size`, `most` and `room` are at least 1.
    """
    weights = [_weight(lived, room) for lived in day]
    while True:
        found: list[tuple[Lived, ...]] = []
        start, weight = 0, 0
        for at, each in enumerate(weights):
            if at > start and (at - start >= size or weight + each > room):
                found.append(tuple(day[start:at]))
                start, weight = at, 0
            weight += each
        if start < len(day):
            found.append(tuple(day[start:]))
        if len(found) <= most:
            return tuple(found)
        size, room = size + max(1, size // 2), room + max(1, room // 2)


def _weight(lived: Lived, room: int) -> int:
    """Return the tokens that an exchange takes at most, counted no further than a whole part."""
    exchange = lived.exchange
    if len(exchange.question) + len(exchange.answer) > 12 * room:  # not even runs that collapse are counted
        return room
    return min(room, ENTRY_TOKENS + most_tokens(collapsed(exchange.question)) + most_tokens(collapsed(exchange.answer)))


def transcript(part: Sequence[Lived], *, zone: tzinfo, room: int, language: str) -> str:
    """Return a part as text of at most about `room` tokens: `— HH:MM [n]`, `Lui : …`, `Toi : …`, n from 1.

    Hours are local. Secrets are masked, runs collapsed; the longest exchanges are shortened first.
    """
    lines: list[str] = []
    texts = shown(part, room=room, language=language)
    for number, (lived, (asked, said)) in enumerate(zip(part, texts, strict=True), start=1):
        lines += [
            f"— {lived.exchange.at.astimezone(zone):%H:%M} [{number}]",
            f"Lui : {_indented(asked)}",
            f"Toi : {_indented(said)}",
            "",
        ]
    return "\n".join(lines).rstrip("\n")


def shown(part: Sequence[Lived], *, room: int, language: str) -> list[tuple[str, str]]:
    """Return question and answer of each exchange as a summarizer sees them in about `room` tokens, in order."""
    return list(_shown(tuple(part), room, language))


@lru_cache(maxsize=1)  # what was asked about is what the reply is held against
def _shown(part: tuple[Lived, ...], room: int, language: str) -> tuple[tuple[str, str], ...]:
    texts = [(redact(lived.exchange.question).strip(), redact(lived.exchange.answer).strip()) for lived in part]
    shares = _shares([ENTRY_TOKENS + _tokens(question) + _tokens(answer) for question, answer in texts], room)
    note = CUT[language]
    found: list[tuple[str, str]] = []
    for (question, answer), share in zip(texts, shares, strict=True):
        left = max(share - ENTRY_TOKENS, 8)
        asked = within(question, max(left // QUESTION_SHARE, left - _tokens(answer)), note)
        found.append((asked, within(answer, max(left - most_tokens(asked), 4), note)))
    return tuple(found)


def _tokens(text: str) -> int:
    return most_tokens(collapsed(text))


def _indented(text: str) -> str:
    return "\n  ".join(line.rstrip("\r") for line in text.split("\n"))


def _shares(wanted: Sequence[int], room: int) -> list[int]:
    """Return each one's share of `room`: what it wants where that fits, the rest divided evenly among the longest."""
    shares = list(wanted)
    left, longest = room, sorted(range(len(wanted)), key=lambda at: wanted[at])
    for done, at in enumerate(longest):
        shares[at] = min(wanted[at], left // (len(longest) - done))
        left -= shares[at]
    return shares


_EXCERPT: Final[Mapping[str, tuple[str, str]]] = {
    "fr": ("{} échange", "{} échanges"),
    "en": ("{} exchange", "{} exchanges"),
}


def excerpts(day: Sequence[Lived], *, zone: tzinfo, language: str) -> str:
    """Return what can be told of a day without a summarizer: how many exchanges, and the keeper's own words of some.

    The first, the last, and others evenly between; verbatim up to their length, secrets masked, one line.
    """
    one, many = _EXCERPT[language]
    count = (one if len(day) == 1 else many).format(len(day))
    last = len(day) - 1
    chosen = sorted({round(last * at / (EXCERPTS - 1)) for at in range(EXCERPTS)})
    told = (
        f"{day[at].exchange.at.astimezone(zone):%H:%M} « {first_sentences(one_line(redact(day[at].exchange.question)), EXCERPT_MOST)} »"
        for at in chosen
    )
    return f"{count} : " + " · ".join(told)
