"""Whether what a model wrote is prose about its sources at all, before what it says is looked at (spec 1-horizon §7).

Small models that fail give one sign over and over, a word, a line or a phrase in a loop, pieces of their own template, data,
or an apology. None of it invents a number or a name, so nothing else would refuse it; and once accepted it would stand for
the exchange for good.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Final

from horizon.core.claims import folded

if TYPE_CHECKING:
    from collections.abc import Sequence

RUN_MOST: Final = 12
"""Longest run of one sign: longer ones are rules and paddings, which a summary has none of, or a model that is stuck."""
SAME_MOST: Final = 8
"""How often each word of a text may stand in it on average: lists of like sentences stay at half of that."""
GRAMS_MOST: Final = 0.3
"""Largest share of four-word runs that repeat one already said; real prose stays under a tenth."""
GRAMS_LEAST: Final = 20
"""Fewest four-word runs for which that share means anything."""
LINES_MOST: Final = 2
"""How often a line of some length may stand in a text."""
WORDS_LEAST: Final = 3
"""Fewest words of a summary: a subject, a verb and what is told. Of ideographs twice as many."""

_WORD: Final = re.compile(r"[一-鿿぀-ヿ]|[^\W_]+")
_RUN: Final = re.compile(r"(\S)\1{" + str(RUN_MOST) + ",}")
_TEMPLATE: Final = re.compile(r"<\|[^|<>\n]{1,40}\|>|\[/?INST\]|</?s>|<(?:start|end)_of_turn>")
_REFUSAL: Final = re.compile(
    r"^[\"'«“ ]*(?:i(?:'m| am) (?:sorry|unable)|sorry,|i can(?:'|no)t (?:help|assist|provide|fulfil|comply|summari|do that)"
    r"|as an? (?:ai|artificial|large language|language model)|(?:je suis )?desolee?\b"
    r"|je ne (?:peux|suis) pas (?:en mesure|vous|t'|repondre|resumer|fournir|aider)"
    r"|en tant qu[e'] ?(?:ia\b|intelligence|assistant|modele|un modele)"
    r"|抱歉|对不起|很遗憾|我(?:不能|无法)|作为(?:一个|一名)?(?:ai|人工智能|语言模型))"
)


def words_in(text: str) -> list[str]:
    """Return the words of `text` in order, numbers among them; each ideograph is one."""
    return _WORD.findall(text)


def fault_of(text: str, sources: Sequence[str]) -> str | None:
    """Return why `text` is no prose about `sources`, whatever it says; None where it may be. What they say it may say too."""
    source = "\n".join(sources)
    run = _RUN.search(text)
    if run is not None and run[0] not in source:
        return "it repeats one sign"
    if (template := _TEMPLATE.search(text)) is not None and template[0] not in source:
        return "it has pieces of the model's own template in it"
    return _loop(text) or _declined(text, source)


def no_sentence(text: str) -> str | None:
    """Return why a whole summary is too little to be one, or data; None where it may be sentences."""
    if text[:1] in "{[" and text[-1:] in "}]":
        return "it is data, not sentences"
    said = [word for word in words_in(text) if not word.isdecimal()]
    ideographs = sum(1 for word in said if is_ideograph(word))
    return None if len(said) - ideographs >= WORDS_LEAST or ideographs >= 2 * WORDS_LEAST else "it is no sentence"


def is_ideograph(word: str) -> bool:
    """Tell whether a word of `words_in` is an ideograph or a kana."""
    return len(word) == 1 and "\u3040" <= word <= "\u9fff"


def _loop(text: str) -> str | None:
    lines = Counter(line.strip() for line in text.split("\n") if len(line.strip()) > 20)
    if lines and max(lines.values()) > LINES_MOST:
        return "a line in it repeats"
    every: list[str] = []
    grams: list[tuple[str, ...]] = []
    for line in text.casefold().split("\n"):  # lines of a list may well begin alike
        said = words_in(line)
        every += said
        grams += [tuple(said[at : at + 4]) for at in range(len(said) - 3)]
    same = len(every) > 1 and len(set(every)) <= max(1, len(every) // SAME_MOST)
    if same or (len(grams) >= GRAMS_LEAST and 1 - len(set(grams)) / len(grams) > GRAMS_MOST):
        return "it repeats itself"
    return None


def _declined(text: str, source: str) -> str | None:
    for line in text.split("\n"):
        said = _REFUSAL.match(folded(line))
        if said is not None and said[0].lstrip("\"'«“ ") not in folded(source):
            return "it declines instead of telling"
    return None
