"""Whether a summary only copies the exchanges: their labels, or most of itself in long runs of their words.

Small models now and then give the transcript back. A short summary may well say a sentence as it was said, so only
long ones are judged by their words.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from horizon.core.claims import folded
from horizon.core.prose import is_ideograph, words_in

if TYPE_CHECKING:
    from collections.abc import Sequence

RUN: Final = 8
"""Words in a row that are a copy: people who retell share fewer, but for names and set phrases. Of ideographs twice as many."""
WORDS_LEAST: Final = 60
"""Fewest words that are judged: three long sentences, what a summary is asked to have at least. Of ideographs twice as many."""
SHARE: Final = 0.8
"""Share of the words in such runs from which a text is a copy."""
_LABEL = re.compile(r"(?<!\w)(?:Lui|Toi)\s?[:：]")


def is_copied(text: str, sources: Sequence[str]) -> bool:
    """Tell whether `text` bears the transcript's labels, twice or more, or is mostly long runs of the sources' words."""
    if len(_LABEL.findall(text)) > 1:
        return True
    words = words_in(folded(text))
    dense = 2 if 2 * sum(1 for word in words if is_ideograph(word)) > len(words) else 1
    if len(words) < WORDS_LEAST * dense:
        return False
    run = RUN * dense
    said: set[tuple[str, ...]] = set()
    for source in sources:
        said.update(_runs(words_in(folded(source)), run))
    covered = [False] * len(words)
    for at, each in enumerate(_runs(words, run)):
        if each in said:
            covered[at : at + run] = [True] * run
    return sum(covered) >= SHARE * len(words)


def _runs(words: Sequence[str], run: int) -> list[tuple[str, ...]]:
    return [tuple(words[at : at + run]) for at in range(len(words) - run + 1)]
