"""Whether a model's reply is sentences about its source at all (spec 1-horizon §7).

Small models that fail give one sign over and over, a single word, JSON, pieces of their own template, or an apology. None of
it invents a number or a name, so nothing else would refuse it; and once accepted it would stand for the exchange for good.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from horizon.core.claims import folded

if TYPE_CHECKING:
    from collections.abc import Sequence

RUN_MOST: Final = 12
"""Longest run of one sign: longer ones are rules and paddings, which a summary has none of, or a model that is stuck."""
WORDS_LEAST: Final = 3
"""Fewest words of a summary: a subject, a verb and what is told. Of ideographs twice as many."""
SAME_MOST: Final = 8
"""How often each word of a text may stand in it on average: lists of like sentences stay at half of that."""

_RUN = re.compile(r"(\S)\1{" + str(RUN_MOST) + ",}")
_WORD = re.compile(r"[^\W\d_一-鿿぀-ヿ]+")
_IDEOGRAPH = re.compile(r"[一-鿿぀-ヿ]")
_ANY_WORD = re.compile(r"[一-鿿぀-ヿ]|[^\W_]+")
_TEMPLATE = re.compile(r"<\|[^|<>\n]{1,40}\|>|\[/?INST\]|</?s>|<(?:start|end)_of_turn>")
_REFUSAL = re.compile(
    r"(?:i(?:'m| am) (?:sorry|unable)|sorry,|i can(?:'|no)t (?:help|assist|provide|fulfil|comply|summari|do that)|as an? (?:ai|artificial"
    r"|large language|language model)|(?:je suis )?desolee?\b|je ne (?:peux|suis) pas (?:en mesure|vous|t'|repondre|resumer|fournir|aider)"
    r"|en tant qu[e'] ?(?:ia\b|intelligence|assistant|modele|un modele)|抱歉|对不起|很遗憾|我(?:不能|无法)|作为(?:一个|一名)?(?:ai|人工智能|语言模型))"
)


def fault_of(text: str, sources: Sequence[str]) -> str | None:
    """Return why `text` is no summary in sentences of `sources`, whatever it says; None where it may be one."""
    source = "\n".join(sources)
    run = _RUN.search(text)
    if run is not None and run[0] not in source:
        return "it repeats one sign"
    if (template := _TEMPLATE.search(text)) is not None and template[0] not in source:
        return "it has pieces of the model's own template in it"
    if text[:1] in "{[" and text[-1:] in "}]":
        return "it is data, not sentences"
    if len(_WORD.findall(text)) < WORDS_LEAST and len(_IDEOGRAPH.findall(text)) < 2 * WORDS_LEAST:
        return "it is no sentence"
    words = _ANY_WORD.findall(text.casefold())
    if len(set(words)) <= max(1, len(words) // SAME_MOST):
        return "it repeats itself"
    said = folded(text).lstrip("\"'«“ ")
    refusal = _REFUSAL.match(said)
    if refusal is not None and refusal[0] not in folded(source):
        return "it declines instead of telling"
    return None
