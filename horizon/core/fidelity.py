"""Whether a summary says only what its sources say, by code (spec 1-horizon §7).

Every number, date, path, file name, address, identifier and proper name in it must occur in the sources,
in whatever notation; it is no loop and no echo of the prompt. What was dropped of the sources' evidence can
be taken beside it, by code.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Final

from horizon.core.claims import Kind, commands, folded, literals
from horizon.core.salvage import without_fences, without_thoughts
from horizon.core.verdict import Rejected

if TYPE_CHECKING:
    from collections.abc import Sequence

GRAMS_MOST: Final = 0.3
"""Largest share of four-word runs that repeat one already said; real prose stays under a tenth."""
GRAMS_LEAST: Final = 20
"""Fewest four-word runs for which that share means anything."""
LINES_MOST: Final = 2
"""How often a line of some length may stand in a text."""
_NUMBER = re.compile(r"\d+(?:[.,   ]\d+)*")
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
    return _loop(text) or _echo(text, instructions) or _unsupported(text, sources)


def _loop(text: str) -> str | None:
    lines = Counter(line.strip() for line in text.split("\n") if len(line.strip()) > 20)
    if lines and max(lines.values()) > LINES_MOST:
        return "a line in it repeats"
    words = _WORDS.findall(text.casefold())
    grams = [tuple(words[at : at + 4]) for at in range(len(words) - 3)]
    if len(grams) >= GRAMS_LEAST and 1 - len(set(grams)) / len(grams) > GRAMS_MOST:
        return "it repeats itself"
    return None


def _echo(text: str, instructions: str) -> str | None:
    asked = {" ".join(line.split()) for line in instructions.split("\n")}
    said = folded(text)
    for line in asked:
        if len(line) >= 40 and folded(line) in said:
            return "it repeats the instructions"
    return None


def _unsupported(text: str, sources: Sequence[str]) -> str | None:
    known = folded("\n".join(sources))
    found, rest = literals(text)
    for literal in found:
        if folded(literal.text) not in known:
            return f"{literal.text!r} is not in the text"
    digits = re.sub(r"(?<=\d)[.,   ](?=\d)", "", known)
    for number in _NUMBER.findall(rest):
        if re.sub(r"\D", "", number) not in digits:
            return f"the number {number} is not in the text"
    return None


def evidence(text: str, sources: Sequence[str]) -> tuple[str, ...]:
    """Return the identifiers in `sources` that `text` does not have, the most telling first, each once.

    Commands, then paths, files, addresses, identifiers, versions; within a kind in the order of the sources.
    """
    said = folded(text)
    kept: dict[str, None] = {}
    seen: set[str] = set()
    for kind in Kind:
        for source in sources:
            things = commands(source) if kind is Kind.COMMAND else literals(source)[0]
            for thing in sorted(things, key=lambda thing: thing.start):
                key = folded(thing.text)
                if thing.kind is kind and key not in said and not any(key in longer for longer in seen):
                    seen.add(key)
                    kept[" ".join(thing.text.split())] = None
    return tuple(kept)
