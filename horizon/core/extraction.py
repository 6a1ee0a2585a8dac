"""What is believed of a summarizer's reply about a part of a day, and the day's facts from its parts (spec 2-consolidation §3).

Rules:

- A reply is never trusted. A fact cites exchanges of its part; the words it quotes stand in them; its numbers, dates,
  names of files and addresses occur in them; most of what it says has to be found there at all.
- What cannot be used is dropped and counted by reason; a reply with nothing usable in it is Rejected.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple, cast

from horizon.core.asking import INSTRUCTION, QUOTE_CAP, SUMMARY_MOST, SUMMARY_SENTENCES, TOGETHER, room
from horizon.core.condensation import sentences
from horizon.core.copying import is_copied
from horizon.core.fact import (
    Fact,
    Quote,
    Trust,
    content,
    fact_id,
    folded,
    is_instruction,
    is_sentence,
    near_key,
    one_line,
    wishes,
)  # fmt: skip
from horizon.core.fidelity import check
from horizon.core.prose import no_sentence
from horizon.core.redaction import redact
from horizon.core.salvage import best_object, texts, without_thoughts
from horizon.core.transcript import shown
from horizon.core.verdict import Rejected

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import date

    from horizon.core.day import Lived

SUPPORT: Final = 0.25
"""Least share of a fact's words of substance that its exchanges must hold: a paraphrase shares at least the
names of things; what was made up shares nothing."""


TEXTS_HELD: Final = 32
"""Texts of which is remembered what was found in them: each of a part's is held against all facts that cite it."""


class Refusal(StrEnum):
    """Why a proposed fact was not taken."""

    MALFORMED = "malformed"
    """Not an object with a sentence."""
    UNCITED = "cites-nothing"
    """No number of an exchange of its part."""
    QUOTE = "quote-not-found"
    INVENTED = "not-in-what-it-cites"
    """A number, date, name, path or address, or all of it, is not in what it cites."""
    CAPPED = "over-the-cap"
    """More facts than are kept of one day."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What was believed of a reply about one part: `proposed` is how many facts the reply had."""

    facts: tuple[Fact, ...] = ()
    summary: str = ""
    proposed: int = 0
    refused: Mapping[Refusal, int] = field(default_factory=dict[Refusal, int])


class _Seen(NamedTuple):
    """An exchange, and its question and answer as a summarizer saw them."""

    lived: Lived
    question: str
    answer: str


_FACTS_KEYS: Final = ("faits", "facts", "fait")
_SUMMARY_KEYS: Final = ("resume", "résumé", "summary")
_FACT_KEYS: Final = ("fait", "fact", "texte", "text")
_CITES_KEYS: Final = ("echanges", "échanges", "echange", "exchanges", "sources", "numeros")
_COPIED: Final = "its summary copies the exchanges instead of telling what happened"
_QUOTE_KEYS: Final = ("citation", "quote", "mots")


def _first(found: Mapping[str, object], keys: Iterable[str]) -> object:
    return next((found[key] for key in keys if key in found), None)


def judge(
    reply: str, part: Sequence[Lived], *, day: date, language: str, facts: int, window: int, again: bool = False
) -> Reading | Rejected:
    """Return what is believed of a reply about `part`; Rejected where neither a fact nor a summary can be used.

    Believed is what stands in the exchanges as a window of `window` tokens shows them. Where the summary only copies
    them the reply is Rejected; `again`, after it was asked once more, only that summary.
    """
    answer = without_thoughts(reply)
    if answer is None:
        return Rejected(reason="the reply is reasoning without an answer")
    found = best_object(answer, (*_FACTS_KEYS, *_SUMMARY_KEYS))
    if found is None:
        return Rejected(reason="the reply holds no JSON object with faits and resume")
    refused: Counter[Refusal] = Counter()
    believed: list[Fact] = []
    texts_seen = shown(part, room=room(window, facts), language=language)
    seen = [_Seen(lived, *texts) for lived, texts in zip(part, texts_seen, strict=True)]
    proposed = _proposed(_first(found, _FACTS_KEYS))
    for item in proposed:
        fact = _believe(item, seen, day)
        if isinstance(fact, Refusal):
            refused[fact] += 1
        elif len(believed) >= facts:
            refused[Refusal.CAPPED] += 1
        else:
            believed.append(fact)
    told = _as_text(_first(found, _SUMMARY_KEYS))
    copied = is_copied(told, _sources(seen, day))
    kept = "" if copied else summary_of(told, _sources(seen, day), instructions=INSTRUCTION[language])
    if copied and not (again and believed):
        return Rejected(reason=_COPIED)
    if not kept and not believed:
        if told:
            return Rejected(reason="its summary holds what is not in the text")
        return Rejected(reason="it has neither a usable fact nor a summary")
    return Reading(facts=tuple(believed), summary=kept, proposed=len(proposed), refused=dict(sorted(refused.items())))


def judge_together(reply: str, summaries: Sequence[str], *, language: str) -> str | Rejected:
    """Return the day's summary that a reply gives, only sentences that its parts' summaries support; else Rejected."""
    answer = without_thoughts(reply)
    if answer is None:
        return Rejected(reason="the reply is reasoning without an answer")
    found = best_object(answer, _SUMMARY_KEYS)
    if found is None:
        return Rejected(reason="the reply holds no JSON object with resume")
    told = _as_text(_first(found, _SUMMARY_KEYS))
    if is_copied(told, ()):  # of the parts' summaries it may well be made
        return Rejected(reason=_COPIED)
    kept = summary_of(told, summaries, instructions=TOGETHER[language])
    return kept or Rejected(reason="it holds no summary that the parts support")


def summary_of(text: str, sources: Sequence[str], *, instructions: str = "") -> str:
    """Return the sentences of `text` that say only what `sources` say, on one line, at most six; may be empty."""
    kept: list[str] = []
    size = 0
    for sentence in sentences(redact(text)):
        line = one_line(sentence).lstrip("#>-*•= ").strip()
        if not line or is_instruction(line) or line in kept:
            continue
        if size + len(line) + 1 > SUMMARY_MOST or len(kept) == SUMMARY_SENTENCES:
            break
        if check(line, sources, instructions=instructions) is None:
            kept.append(line)
            size += len(line) + 1
    together = " ".join(kept)
    fault = no_sentence(together) or check(together, sources, instructions=instructions)
    return together if fault is None else ""


def joined(summaries: Sequence[str]) -> str:
    """Return one summary from several by code: each one's first sentence, evenly through the day, at most six."""
    firsts = [found[0] for each in summaries if (found := sentences(each))]
    last = len(firsts) - 1
    chosen = sorted({round(last * at / (SUMMARY_SENTENCES - 1)) for at in range(SUMMARY_SENTENCES)})
    return " ".join(firsts[at] for at in chosen)


def _as_text(value: object) -> str:
    if isinstance(value, str):
        return value
    return "\n".join(texts(value))


def _proposed(value: object) -> list[object]:
    """Return the items of a list of facts; a text is one item for each of its lines, anything else none."""
    if isinstance(value, list):
        return cast("list[object]", value)
    if isinstance(value, dict):
        return [cast("dict[str, object]", value)]
    return list[object](texts(value))


def _numbers(value: object) -> set[int]:
    """Return the exchange numbers in a field: of an integer, a list, or a text that names some."""
    if isinstance(value, bool):
        return set()
    if isinstance(value, int):
        return {value}
    if isinstance(value, float):
        return {int(value)} if value.is_integer() else set()
    if isinstance(value, str):
        return {int(digits) for digits in re.findall(r"(?<!\d)\d{1,5}(?!\d)", value)}
    if isinstance(value, list):
        return {
            number for item in cast("list[object]", value) if not isinstance(item, list) for number in _numbers(item)
        }
    return set()


def _believe(item: object, part: Sequence[_Seen], day: date) -> Fact | Refusal:
    if not isinstance(item, dict):
        return Refusal.UNCITED if isinstance(item, str) and is_sentence(one_line(item)) else Refusal.MALFORMED
    found = cast("dict[str, object]", item)
    said = _first(found, _FACT_KEYS)
    text = one_line(redact(said)) if isinstance(said, str) else ""
    if not is_sentence(text):
        return Refusal.MALFORMED
    cited = [part[number - 1] for number in sorted(_numbers(_first(found, _CITES_KEYS))) if 1 <= number <= len(part)]
    if not cited:
        return Refusal.UNCITED
    quotes: tuple[Quote, ...] = ()
    words = _first(found, _QUOTE_KEYS)
    if isinstance(words, str) and folded(words):
        quotes = tuple(found for each in cited if (found := _quote(words, each)))
        if not quotes:
            return Refusal.QUOTE
    if check(text, _sources(cited, day)) is not None or not _supported(text, _sources(cited, day)):
        return Refusal.INVENTED
    return Fact(
        text=text,
        day=day,
        at=cited[-1].lived.exchange.at,
        trust=Trust.UNTRUSTED if is_instruction(text) else Trust.AUTO,
        cites=tuple(each.lived.address for each in cited),
        quotes=quotes or tuple(found for each in cited[:1] if (found := _closest(text, each))),
        said_by_keeper=_supported(text, [each.question for each in cited], share=0.5),
    )


def _sources(part: Sequence[_Seen], day: date) -> list[str]:
    """Return the texts of exchanges as a summarizer saw them, and the day's own date, which it may state."""
    told = [text for each in part for text in (each.question, each.answer)]
    return [*told, f"{day} {day:%d/%m/%Y} {day.day} {day.year}"]


def _quote(words: str, seen: _Seen) -> Quote | None:
    """Return `words` as the exchange has them; None where it has not all of them (an ellipsis may join pieces)."""
    pieces = [piece for each in re.split(r"\[?(?:…|\.{3})\]?", words) if (piece := folded(each))]
    for text in (seen.question, seen.answer):
        held = _flat(text)
        if pieces and all(piece in held for piece in pieces):
            return Quote(address=seen.lived.address, words=one_line(redact(words))[: QUOTE_CAP * 2])
    return None


@lru_cache(maxsize=TEXTS_HELD)
def _flat(text: str) -> str:
    return folded(one_line(text))


def _closest(text: str, seen: _Seen) -> Quote | None:
    """Return the sentence of an exchange that shares most with a fact, verbatim; None where none shares anything."""
    wanted = set(content(text))
    best, score = "", 0
    for said in (seen.question, seen.answer):
        for sentence in sentences(said)[:200]:
            shared = len(wanted & set(content(sentence)))
            if shared > score:
                best, score = sentence, shared
    return Quote(address=seen.lived.address, words=one_line(best)[: QUOTE_CAP * 2]) if score else None


def _stem(word: str) -> str:
    return word[:5]


def _supported(text: str, sources: Iterable[str], share: float = SUPPORT) -> bool:
    """Tell whether the sources hold at least `share` of the words of substance of `text`."""
    wanted = {_stem(word) for word in content(text) if len(word) > 2 or not word.isascii()}
    if not wanted:
        return False
    found = {word for source in sources for word in wanted & _known(source)}
    return len(found) >= max(1.0, share * len(wanted))


@lru_cache(maxsize=TEXTS_HELD)
def _known(text: str) -> frozenset[str]:
    return frozenset(map(_stem, content(text)))


def wished(kept: Iterable[Lived], day: date) -> tuple[Fact, ...]:
    """Return what the keeper asked to be remembered that day, verbatim, in lived order, each once."""
    found: dict[str, Fact] = {}
    for lived in kept:
        if lived.exchange.kind != "conversation":
            continue
        for wish in wishes(redact(lived.exchange.question)):
            fact = Fact(
                text=wish,
                day=day,
                at=lived.exchange.at,
                trust=Trust.UNTRUSTED if is_instruction(wish) else Trust.TRUSTED,
                cites=(lived.address,),
                quotes=(Quote(address=lived.address, words=wish),),
                said_by_keeper=True,
            )
            found.setdefault(fact.id, fact)
    return tuple(found.values())


def merged(readings: Sequence[Reading], wishes_first: Sequence[Fact], most: int) -> tuple[tuple[Fact, ...], int, int]:
    """Return a day's facts, how many were merged into another of the day, and how many fell to the cap.

    Wishes come first and always stay; then each part's first fact, each part's second, and so on, up to
    `most`. Equal and nearly equal ones are one fact with the exchanges and quotes of all. In lived order.
    """
    chosen: dict[tuple[str, ...], Fact] = {}
    joined = capped = 0
    rounds = max((len(reading.facts) for reading in readings), default=0)
    turns = [reading.facts[at] for at in range(rounds) for reading in readings if at < len(reading.facts)]
    limit = max(most, len(wishes_first))
    for fact in (*wishes_first, *turns):
        key = near_key(fact.text) or (fact_id(fact.text),)
        held = chosen.get(key)
        if held is not None:
            chosen[key] = united(held, fact)
            joined += 1
        elif len(chosen) < limit:
            chosen[key] = fact
        else:
            capped += 1
    return tuple(sorted(chosen.values(), key=lambda fact: (fact.at, fact.text))), joined, capped


def united(held: Fact, other: Fact) -> Fact:
    """Return one fact with the text of `held` and the provenance of both."""
    return Fact(
        text=held.text,
        day=held.day,
        at=max(held.at, other.at),
        trust=held.trust,
        cites=tuple(dict.fromkeys((*held.cites, *other.cites))),
        quotes=tuple(dict.fromkeys((*held.quotes, *other.quotes))),
        said_by_keeper=held.said_by_keeper or other.said_by_keeper,
    )
