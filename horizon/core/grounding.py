"""Whether a summary's sentences are about its sources at all: fluent sentences that share nothing are invented.

Small models end a summary with advice, apologies or stories of their own, in which no number, name or path
gives them away. Judged only where summary and sources are in one language: a translation shares few words.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from horizon.core.claims import folded

if TYPE_CHECKING:
    from collections.abc import Iterable

WORDS_LEAST: Final = 4
"""Fewest telling words of a sentence that are judged: shorter ones ("It is done.") may well share none. Of pairs of ideographs twice as many."""
STEM: Final = 5
"""Letters that two words must share at their beginning to be taken for one: "corrigé", "correction"."""

_TELLING = re.compile(r"[^\W\d_一-鿿]{4,}|\d+|[一-鿿]{2,}")
_SENTENCE = re.compile(r"[.!?…。！？](?:\s|$)|[。！？]|\n")
_HAN = re.compile("[一-鿿]")
_COMMON: Final = {
    "fr": frozenset(["le", "la", "les", "des", "est", "une", "dans", "pour", "qui", "que", "pas", "sur", "avec", "au", "du", "et", "ce", "il"]),
    "en": frozenset(["the", "is", "of", "and", "to", "in", "that", "for", "it", "was", "on", "with", "be", "this", "are", "not", "you", "i"]),
}  # fmt: skip
_EMPTY: Final = frozenset(
    [
        *(
            "avec",
            "dans",
            "pour",
            "cette",
            "etait",
            "sont",
            "plus",
            "tout",
            "comme",
            "mais",
            "donc",
            "leur",
            "elle",
            "nous",
            "vous",
        ),
        *(
            "that",
            "this",
            "with",
            "have",
            "been",
            "were",
            "from",
            "they",
            "will",
            "would",
            "their",
            "there",
            "which",
            "when",
            "your",
            "also",
        ),
    ]
)
"""Words of four letters and more that tell nothing."""


def language_of(text: str) -> str | None:
    """Return "fr", "en" or "zh" where the words of `text` leave no doubt, else None."""
    if len(_HAN.findall(text)) * 4 > len(text):
        return "zh"
    words = folded(text).split()
    counts = {language: sum(word in common for word in words) for language, common in _COMMON.items()}
    french, english = counts["fr"], counts["en"]
    if max(french, english) < 3 or not 2 * min(french, english) < max(french, english):
        return None
    return "fr" if french > english else "en"


def strange_sentence(text: str, source: str) -> str | None:
    """Return the first sentence of `text` of which no telling word occurs in `source`, None where there is none."""
    language = language_of(text)
    if language is None:
        return None
    told, known = _ground(source)
    if language != told:
        return None
    for sentence in _SENTENCE.split(text):
        stems = set(_stems(_TELLING.findall(folded(sentence))))
        if len(stems) >= (2 * WORDS_LEAST if language == "zh" else WORDS_LEAST) and not stems & known:
            return " ".join(sentence.split())
    return None


@lru_cache(maxsize=4)  # one text is checked sentence by sentence against the same sources
def _ground(source: str) -> tuple[str | None, frozenset[str]]:
    """Return the language of `source` and its stems."""
    return language_of(source), frozenset(_stems(_TELLING.findall(folded(source))))


def _stems(words: Iterable[str]) -> Iterable[str]:
    for word in words:
        if _HAN.match(word):
            yield from (word[at : at + 2] for at in range(len(word) - 1))
        elif word not in _EMPTY:
            yield word[:STEM]
