"""The keeper's words in the narrative: which are in view, and in which order of worth (spec 1-horizon §4)."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from horizon.core.event import Word
    from horizon.core.state import State

_SENTENCE: Final = r"(?:^|[.!?:;,\n。！？，、：；—–-])(?:[^\S\n]|[\"'«“(])*"
_STANDING: Final = "|".join(
    (
        # Anywhere: these say by themselves that they hold from now on.
        r"\bfrom now on\b|\bfrom this (?:day|point) on\b|\bgoing forward\b|\bin (?:the )?future,|\bat all times\b",
        r"\bdésormais\b|\bdorénavant\b|\bà partir de (?:maintenant|aujourd.hui)\b|\bà l.avenir\b|\bune fois pour toutes\b",
        r"以后|以後|从现在起|從現在起|从今|從今|今后|今後|记住|記住|请记得|務必|务必|始终|始終|永远不要|永遠不要|一定要",
        # As an order only: "I always eat fish" is no order, "always answer" and « réponds toujours » are.
        _SENTENCE
        + r"(?:(?:please|and|also|but|so|ok|okay|you (?:must|should|are to)|make sure (?:to|you)) )*"
        + r"(?:always|never|remember|keep in mind|do(?: not|n.t) (?:ever|forget)|each time|every time|whenever)\b",
        _SENTENCE
        + r"(?:(?:et|aussi|mais|donc|stp|s.il te pla[iî]t|merci de|tu dois|il faut),? )*"
        + r"(?:toujours|jamais|retiens|souviens-toi|rappelle-toi|n.oublie (?:pas|jamais)|chaque fois|à chaque fois"
        + r"|(?:ne |n.)?\w+(?:-(?:moi|le|la|les|lui|nous|toi))? (?:toujours|jamais))\b",
        _SENTENCE + r"[请請]?(?:你|您)?[要应應]?(?:总是|總是|永远|永遠|每次|绝不|絕不|不要再|别再|別再)",
    )
)
"""What tells a standing order, in French, English and Chinese."""


_HINTS: Final = (
    *("ever", "always", "time", "from ", "future", "forward", "remember", "keep in mind", "forget"),
    *(
        "toujours",
        "jamais",
        "sormais",
        "dorénavant",
        "partir",
        "avenir",
        "fois",
        "retiens",
        "souviens",
        "rappelle",
        "oublie",
    ),
)
"""One of these stands in every French or English order that `_STANDING` knows: most texts need no closer look."""
_HAN_HINTS: Final = tuple(
    "以后 以後 从现在 從現在 从今 從今 今后 今後 记住 記住 记得 務必 务必 始终 始終 永远 永遠 一定要 总是 總是 每次 绝不 絕不 不要再 别再 別再".split()  # noqa: SIM905  # a word list reads better as text
)
"""The same for Chinese."""


def is_standing_order(text: str) -> bool:
    """Tell whether `text` asks for something that is to hold from now on ("always answer in metric units")."""
    folded = text.lower()
    for hint in _HINTS:
        if hint in folded:
            break
    else:
        if text.isascii():
            return False
        for hint in _HAN_HINTS:
            if hint in text:
                break
        else:
            return False
    return _standing().search(text) is not None


def is_order(text: str, state: State) -> bool:
    """Tell whether a held word is a standing order; looked at once, then known to `state` and its copies."""
    known = state.orders.get(text)
    if known is None:
        known = state.orders[text] = is_standing_order(text)
    return known


@cache
def _standing() -> re.Pattern[str]:
    return re.compile(_STANDING, re.IGNORECASE)


def visible_words(state: State) -> list[Word]:
    """Return the words that may be shown, each id once, oldest first.

    They are the words of melted beacons that were not unflagged since, and those of flagged exchanges that are in
    no zone of their own any more.
    """
    words: dict[tuple[str, str], Word] = {}
    for word in state.words:
        flag = state.flags.get(word.id)
        if word.text and (flag is None or flag.on):
            words[word.id, word.text] = word
    told = {word.id for word in words.values()}
    for flag in state.flags.values():
        word = flag.word
        if flag.on and word is not None and word.text and word.id not in told and word.id not in state.places:
            words[word.id, word.text] = word
    return sorted(words.values(), key=lambda word: (word.at, word.id))


def by_worth(words: list[Word], state: State) -> list[list[Word]]:
    """Return `words` in three classes, each newest first: of flagged exchanges, standing orders, the rest."""
    flagged: list[Word] = []
    standing: list[Word] = []
    rest: list[Word] = []
    for word in reversed(words):
        flag = state.flags.get(word.id)
        if flag is not None and flag.on:
            flagged.append(word)
        elif is_order(word.text, state):
            standing.append(word)
        else:
            rest.append(word)
    return [flagged, standing, rest]
