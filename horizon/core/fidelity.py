"""Whether a summary says only what its sources say, by code (spec 1-horizon §7).

Every number, date, path, file name, address, identifier and proper name in it must occur in the sources,
in whatever notation; it is no loop and no echo of the prompt. What was dropped of the sources' evidence can
be taken beside it, by code.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from horizon.core.claims import Kind, Literal, commands, folded, literals
from horizon.core.grounding import strange_sentence
from horizon.core.prompt import FENCE, OWN_MARKER, clean
from horizon.core.proper_name import is_known, names, quotes, words_of
from horizon.core.quantity import Amount, Day, Found, quantities
from horizon.core.salvage import without_fences, without_thoughts
from horizon.core.verdict import Rejected

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

GRAMS_MOST: Final = 0.3
"""Largest share of four-word runs that repeat one already said; real prose stays under a tenth."""
GRAMS_LEAST: Final = 20
"""Fewest four-word runs for which that share means anything."""
LINES_MOST: Final = 2
"""How often a line of some length may stand in a text."""
THINGS_MOST: Final = 1_000
"""Most things that a text's evidence holds, the most telling first: what comes after them is shown nowhere."""
NUMBER_LONG: Final = 8
"""Digits from which a number is a name (a telephone, an account) that may be written with spaces or without."""
ECHO_LEAST: Final = 40
"""Shortest sentence of an instruction that is taken for an echo: shorter ones are said by chance."""
_FIGURE = re.compile(r"(?<![\w.,])\d+(?:[.,:]\d+){0,6}(?:[   ]\d{3}){0,6}[   ]?(?:[^\W\d_]{1,14}|[%€$£])")
"""A number and the word or sign after it: "42 secondes", "3.2 GB", "80 %"."""
_BULLET = re.compile(r"^[ \t]*(?:[-*•–]|\d+[.)])[ \t]+\S", re.MULTILINE)
_QUARTERS: Final = {"t": "q", "q": "t", "s": "h", "h": "s"}
"""Quarters and halves of a year, by their French and their English letter."""
_NONE = re.compile(r"\b(?:aucune?|no|none|without|sans|zero|rien|nothing|pas d)\b|没有|无|零")
_DATE_WORDS = re.compile(
    r"\b(?:January|February|March|April|May|June|July|August|September|October|November|December|Janvier|Février|Mars|Avril|Mai|Juin"
    r"|Juillet|Août|Septembre|Octobre|Novembre|Décembre|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec|Monday|Tuesday|Wednesday|Thursday"
    r"|Friday|Saturday|Sunday|Lundi|Mardi|Mercredi|Jeudi|Vendredi|Samedi|Dimanche|Mon|Tue|Wed|Thu|Fri|Sat|Sun|AM|PM)\b"
)
"""Their claims are judged as dates."""
_UNIT = re.compile(r"(?<=\d)\s?[^\W\d_]{1,3}\b")
"""Units beside their numbers, with which they are judged."""
_WORDS = re.compile(r"[一-鿿぀-ヿ]|[^\W_]+")


def plain(reply: str) -> str | Rejected:
    """Return a model's reply in prose without reasoning, fences and blank ends; Rejected where nothing is left."""
    text = without_thoughts(reply)
    if text is None:
        return Rejected(reason="the reply is reasoning without an answer")
    text = without_fences(text)
    return text or Rejected(reason="the reply is empty")


def check(text: str, sources: Sequence[str], *, instructions: str = "") -> str | None:
    """Return why `text` may not stand as a summary of `sources`, None where it may. Never raises.

    `instructions` is what the prompt said beside the sources, so that an echo of it is known.
    """
    if not text.strip():
        return "it is empty"
    return _loop(text) or _echo(text, instructions) or _unsupported(text, sources) or _strange(text, sources)


def _loop(text: str) -> str | None:
    lines = Counter(line.strip() for line in text.split("\n") if len(line.strip()) > 20)
    if lines and max(lines.values()) > LINES_MOST:
        return "a line in it repeats"
    grams: list[tuple[str, ...]] = []
    for line in text.casefold().split("\n"):  # lines of a list may well begin alike
        words = _WORDS.findall(line)
        grams += [tuple(words[at : at + 4]) for at in range(len(words) - 3)]
    if len(grams) >= GRAMS_LEAST and 1 - len(set(grams)) / len(grams) > GRAMS_MOST:
        return "it repeats itself"
    return None


def _echo(text: str, instructions: str) -> str | None:
    if OWN_MARKER in text or re.search(rf"</?{FENCE}>", text):
        return "it repeats the prompt"
    if not instructions:
        return None
    said = folded(text)
    return "it repeats the instructions" if any(each in said for each in _told(instructions)) else None


@lru_cache(maxsize=8)  # a few texts of ours
def _told(instructions: str) -> tuple[str, ...]:
    """Return the longer sentences of an instruction, folded."""
    lines = instructions.split("\n")
    parts = (sentence for line in lines for sentence in re.split(r"(?<=[.:]) ", line))
    return tuple(folded(sentence) for sentence in parts if len(sentence) >= ECHO_LEAST)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sources:
    """The sources' quantities, read once in each way that those of a summary are compared."""

    text: str
    found: Found
    literal: str
    counts: frozenset[int]


@lru_cache(maxsize=8)  # one text is checked sentence by sentence against the same sources, facts each against its own
def _known(sources: tuple[str, ...]) -> str:
    return folded("\n".join(clean(source) for source in sources))


@lru_cache(maxsize=8)  # as above
def _read(sources: tuple[str, ...]) -> _Sources:
    things, rest = literals("\n".join(clean(source) for source in sources))
    found = quantities(rest)
    return _Sources(
        text=_known(sources),
        found=replace(found, days=tuple(set(found.days)), amounts=tuple(set(found.amounts))),
        literal=" ".join(thing.text for thing in things),
        counts=frozenset(len(_BULLET.findall(source)) for source in sources),
    )


def _strange(text: str, sources: Sequence[str]) -> str | None:
    sentence = strange_sentence(text, "\n".join(sources))
    return None if sentence is None else f"{sentence[:60]!r} has nothing of the text"


def _unsupported(text: str, sources: Sequence[str]) -> str | None:
    known = _known(tuple(sources))
    things, rest = literals(clean(text))
    for thing in things:
        if not _literal_known(thing, known):
            return f"{thing.text!r} is not in the text"
    for said in quotes(text):
        if _squeezed(folded(said)) not in _squeezed(known):
            return f"the quoted words {said[:60]!r} are not in the text"
    found = quantities(rest)
    if found.days or found.weekdays or found.times or found.amounts:  # reading all of a source's takes the longest
        read = _read(tuple(sources))
        fault = _wrong_day(found, read) or _wrong_amount(found, rest, read)
        if fault is not None:
            return fault
    return _wrong_name(rest, known)


def _literal_known(thing: Literal, known: str) -> bool:
    key = folded(thing.text)
    if thing.kind is Kind.URL:
        key = re.sub(r"^\w+://(?:www\.)?", "", key).rstrip("/")
    elif thing.kind in {Kind.PATH, Kind.FILE}:
        key = key.removeprefix("./").rstrip("/")
    if key in known:
        return _bounded(key, known)
    if thing.kind is Kind.IDENTIFIER:
        if key.startswith("#") and key[1:].isdecimal():
            return re.search(rf"(?<!\d){key[1:]}(?!\d)", known) is not None
        return _squeezed(key) in _squeezed(known) or (
            key[1:] in {"1", "2", "3", "4"} and _QUARTERS.get(key[0], "-") + key[1:] in known
        )
    return thing.kind is Kind.VERSION and _bounded(key.removeprefix("v"), known)


def _bounded(key: str, text: str) -> bool:
    """Tell whether `key` occurs without running on in a digit: "v1.2" is not in "v1.23"."""
    if not key[-1:].isdecimal() and not key[:1].isdecimal():
        return True
    return re.search(rf"(?<!\d){re.escape(key)}(?!\d)", text) is not None


def _wrong_day(found: Found, known: _Sources) -> str | None:
    days = [day for _, day in known.found.days]
    refused: dict[str, bool] = {}
    for written, day in found.days:  # an ambiguous date has several readings: one that fits will do
        told = any(day.fits(other) or _fits_without_year(day, other) for other in days)
        refused[written] = refused.get(written, True) and not told
    for written, wrong in refused.items():
        if wrong and not (written.isdecimal() and written in known.text):
            return f"the date {written} is not in the text"
    weekdays = {day for _, day in known.found.weekdays} | {day.weekday() for day in days}
    for written, weekday in found.weekdays:
        if weekday not in weekdays:
            return f"{written} is not in the text"
    return None


def _fits_without_year(day: Day, other: Day) -> bool:
    """Tell whether the source gives the day and month only, and they are the same."""
    return other.year is None and day.day is not None and day.month == other.month and day.day == other.day


def _wrong_amount(found: Found, text: str, known: _Sources) -> str | None:
    refused: dict[str, bool] = {}
    for written, amount in found.amounts:
        refused[written] = refused.get(written, True) and not _amount_known(written, amount, text, known)
    times = {(hour % 12, minute) for _, (hour, minute) in known.found.times}
    for written, (hour, minute) in found.times:
        if (hour % 12, minute) in times:
            refused[written] = False
        else:
            refused.setdefault(written, True)
    wrong = next((written for written, is_wrong in refused.items() if is_wrong), None)
    return None if wrong is None else f"the number {wrong} is not in the text"


def _amount_known(written: str, amount: Amount, text: str, known: _Sources) -> bool:
    if amount.number == 1 or any(amount.told_by(other) for _, other in known.found.amounts):
        return True
    whole = int(amount.number) if amount.number.denominator == 1 else None
    days = [day for _, day in known.found.days]
    if whole is not None and not amount.dimension:
        if any(day.year == whole for day in days) or whole in known.counts:
            return True
        if whole == 0:
            return _NONE.search(known.text) is not None
        named = re.search(
            rf"(?:\b(?:le|the|du|on|au)\s+{re.escape(written)})|{re.escape(written)}\s*[日号]", text, re.IGNORECASE
        )
        if named and any(day.day == whole for day in days):
            return True
        if whole == 2 and re.search(
            rf"\b(?:les|the|ces|these|ses|leurs|nos|vos|their|our|tous|toutes)\s+{re.escape(written)}\b",
            text,
            re.IGNORECASE,
        ):
            return True  # "the two": of two things that were spoken of
    if written.isdecimal() and len(written) >= NUMBER_LONG and written in _squeezed(known.text):
        return True  # a telephone number, without its spaces
    digits = re.match(r"[\d.,]+", written)
    if digits is None:
        return False
    if re.search(rf"(?<![\d.,]){re.escape(digits[0])}(?!\d)", known.literal):
        return True
    before = re.search(rf"([^\W\d_]+)[ -]?{re.escape(digits[0])}(?![\d.,]*\d)", text)
    return (
        before is not None
        and re.search(rf"(?<!\w){re.escape(folded(before[1]))}[ -]?v?{re.escape(digits[0])}\.", known.text) is not None
    )


def _wrong_name(text: str, known: str) -> str | None:
    plain_text = _UNIT.sub(" ", _DATE_WORDS.sub(" ", text))
    told = dict.fromkeys(names(plain_text))
    words = words_of(known) if told else frozenset[str]()
    for name in told:
        if not is_known(name, words, known):
            return f"the name {name} is not in the text"
    return None


@lru_cache(maxsize=4)  # the sources, for each thing that a summary says
def _squeezed(text: str) -> str:
    return re.sub(r"[\W_]+", "", text)


def evidence(text: str, sources: Sequence[str]) -> tuple[str, ...]:
    """Return the identifiers in `sources` that `text` does not have, the most telling first, each once.

    Commands, then paths, files, addresses, identifiers, versions; then numbers with what they count, and names.
    Within a kind in the order of the sources. At most `THINGS_MOST`.
    """
    return dropped(text, things_in(sources))


def things_in(sources: Sequence[str]) -> tuple[Literal, ...]:
    """Return all of the evidence in `sources`, in the order of `evidence`, none that stands in one before it."""
    found: list[Literal] = []
    for source in sources:
        things, rest = literals(source)
        found += [*commands(source), *things, *_figures(rest)]
    kept: dict[str, Literal] = {}
    seen = ""
    for thing in sorted(found, key=lambda thing: thing.kind):  # stable: the order of the sources within a kind
        key = folded(thing.text)
        if key and key not in kept and not _stands_in(key, seen):
            seen += f"\n{key}"  # a line each: nothing folded has a line end
            kept[key] = thing
            if len(kept) == THINGS_MOST:
                break
    return tuple(kept.values())


def dropped(text: str, things: Iterable[Literal]) -> tuple[str, ...]:
    """Return those of `things`, each on one line, that `text` does not have, in their order."""
    said = folded(text)
    return tuple(" ".join(thing.text.split()) for thing in things if not _stands_in(folded(thing.text), said))


def _stands_in(key: str, text: str) -> bool:
    """Tell whether `key` occurs in `text` as a whole: "12" is not in "120"."""
    at = text.find(key)
    while at >= 0:
        end = at + len(key)
        before, after = text[at - 1 : at], text[end : end + 1]
        if not (before.isalnum() and key[0].isalnum() and before.isascii()) and not (
            after.isalnum() and key[-1].isalnum() and after.isascii()
        ):
            return True
        at = text.find(key, at + 1)
    return False


def _figures(text: str) -> list[Literal]:
    """Return the numbers that tell something, with the word that they count, and the names."""
    found = [Literal(kind=Kind.NUMBER, text=match[0].strip(), start=match.start()) for match in _FIGURE.finditer(text)]
    told = dict.fromkeys(names(_DATE_WORDS.sub(" ", text)))
    found += [Literal(kind=Kind.NAME, text=name, start=0) for name in told]
    return found
