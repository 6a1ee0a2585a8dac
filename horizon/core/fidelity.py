"""Whether a summary says only what its sources say, by code (spec 1-horizon §7).

Every number, date, path, file name, address, identifier and proper name in it must occur in the sources,
in whatever notation; it is no loop and no echo of the prompt. What was dropped of the sources' evidence can
be taken beside it, by code.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from horizon.core.claims import Kind, Literal, commands, folded, literals
from horizon.core.grounding import strange_sentence
from horizon.core.prompt import FENCE, OWN_MARKER, clean
from horizon.core.proper_name import doers, is_known, names, quotes, shares_stem, words_of
from horizon.core.prose import fault_of
from horizon.core.quantity import quantities
from horizon.core.salvage import without_fences, without_thoughts
from horizon.core.support import NUMBER_LONG, squeezed, support
from horizon.core.verdict import Rejected

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from horizon.core.support import Support

THINGS_MOST: Final = 1_000
"""Most things that a text's evidence holds, the most telling first: what comes after them is shown nowhere."""
ECHO_LEAST: Final = 40
"""Shortest sentence of an instruction that is taken for an echo: shorter ones are said by chance."""
_FIGURE = re.compile(
    r"(?<![\w.,])\d+(?:[.,:]\d+){0,6}(?:[ \u00a0\u202f]\d{3}){0,6}[ \u00a0\u202f]?(?:[^\W\d_]{1,14}|[%€$£])"
)
"""A number and the word or sign after it: "42 secondes", "3.2 GB", "80 %"."""
_QUARTERS: Final = {"t": "q", "q": "t", "s": "h", "h": "s"}
"""Quarters and halves of a year, by their French and their English letter."""
_HOME: Final = r"/(?:home|users)/[^/\s]+/"
"""What `~/` stands for, folded."""
_HASH = re.compile(r"(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,64}")
_TELEPHONE = re.compile(r"\+?\d[\d .()-]{7,22}\d")
_DATE_WORDS = re.compile(
    r"\b(?:January|February|March|April|May|June|July|August|September|October|November|December|Janvier|Février|Mars|Avril|Mai|Juin"
    r"|Juillet|Août|Septembre|Octobre|Novembre|Décembre|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec|Monday|Tuesday|Wednesday|Thursday"
    r"|Friday|Saturday|Sunday|Lundi|Mardi|Mercredi|Jeudi|Vendredi|Samedi|Dimanche|Mon|Tue|Wed|Thu|Fri|Sat|Sun|AM|PM)\b"
)
"""Their claims are judged as dates."""
_UNIT = re.compile(r"(?<=\d)\s?[^\W\d_]{1,3}\b")
"""Units beside their numbers, with which they are judged."""


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
    return (
        fault_of(text, sources) or _echo(text, instructions) or _unsupported(text, sources) or _strange(text, sources)
    )


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


@lru_cache(maxsize=8)  # one text is checked sentence by sentence against the same sources, facts each against its own
def _known(sources: tuple[str, ...]) -> str:
    return folded("\n".join(clean(source) for source in sources))


@lru_cache(maxsize=8)  # as above
def _supported(sources: tuple[str, ...]) -> Support:
    return support(sources, _known(sources))


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
        if squeezed(folded(said)) not in squeezed(known):
            return f"the quoted words {said[:60]!r} are not in the text"
    found = quantities(rest)
    if found.days or found.weekdays or found.times or found.amounts:  # reading all of a source's takes the longest
        fault = _supported(tuple(sources)).fault(found, rest)
        if fault is not None:
            return fault
    return _wrong_name(rest, known)


def _literal_known(thing: Literal, known: str) -> bool:
    key = folded(thing.text)
    match thing.kind:
        case Kind.URL:
            key = re.sub(r"^\w+://(?:www\.)?", "", key).rstrip("/")
            return _bounded(key, known)
        case Kind.PATH | Kind.FILE:
            key = key.removeprefix("./").rstrip("/")
            return _bounded(key, known) or (
                key.startswith("~/") and re.search(_HOME + re.escape(key[2:]), known) is not None
            )
        case Kind.IDENTIFIER:
            return _identifier_known(key, known)
        case Kind.VERSION:
            return _bounded(key, known) or _bounded(key.removeprefix("v"), known)
        case _:
            return _bounded(key, known)


def _identifier_known(key: str, known: str) -> bool:
    if _HASH.fullmatch(key):
        return re.search(rf"(?<![0-9a-z]){key}", known) is not None  # hashes are told by their beginning
    if _bounded(key, known):
        return True
    if key.startswith("#") and key[1:].isdecimal():
        return re.search(rf"(?<!\d){key[1:]}(?!\d)", known) is not None
    if key.startswith("--"):
        option, _, value = key[2:].partition("=")
        name = r"[\W_]*".join(map(re.escape, re.split(r"[-_]", option)))
        return (
            re.search(
                rf"(?<!\w){name}(?!\w)" + (rf"\W+(?:\w+\W+){{0,3}}?{re.escape(value)}(?!\w)" if value else ""), known
            )
            is not None
        )
    bare = squeezed(key)
    if len(bare) >= NUMBER_LONG and bare.isdecimal():  # a telephone, with its country or without
        return bare in squeezed(known) or any(
            bare.endswith(number) or number.endswith(bare.removeprefix("0"))
            for number in (squeezed(found).removeprefix("0") for found in _TELEPHONE.findall(known))
        )
    return bare in squeezed(known) or (
        key[1:] in {"1", "2", "3", "4"} and _QUARTERS.get(key[0], "-") + key[1:] in known
    )


def _bounded(key: str, text: str) -> bool:
    """Tell whether `key` occurs without running on in a digit: "v1.2" is not in "v1.23"."""
    if key not in text or (not key[-1:].isdecimal() and not key[:1].isdecimal()):
        return key in text
    return re.search(rf"(?<!\d){re.escape(key)}(?!\d)", text) is not None


def _wrong_name(text: str, known: str) -> str | None:
    plain_text = _UNIT.sub(" ", _DATE_WORDS.sub(" ", text))
    told = dict.fromkeys(names(plain_text))
    doing = dict.fromkeys(doers(plain_text))
    words = words_of(known) if told or doing else frozenset[str]()
    wrong = next((name for name in told if not is_known(name, words, known)), None) or next(
        (name for name in doing if not (is_known(name, words, known) or shares_stem(name, words))), None
    )
    return None if wrong is None else f"the name {wrong} is not in the text"


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
    """Tell whether `key` occurs in `text` as a whole: "12" is not in "120". Of a key of accents alone nothing is left to look for."""
    if not key:
        return True
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
