"""Where a text may be cut: never inside a grapheme cluster (Unicode annex 29), nor inside a mark of ours.

The standard library does not know cluster boundaries, so this module answers a simpler question: is it *certain* that
a boundary stands here? In doubt (a character that this Unicode version does not know yet, a joiner before
anything) the answer is no, so a cut falls a little earlier than it might, and never inside a cluster.
"""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING, Final

from horizon.core.escape import marks

if TYPE_CHECKING:
    from collections.abc import Container

_JOINER: Final = "\u200d"
_VIRAMA: Final = 9
"""Canonical combining class of the signs that join two consonants into a conjunct."""
_REGIONAL: Final = range(0x1F1E6, 0x1F200)
"""Regional indicators: two of them make a flag."""
_LEADING: Final = range(0x1100, 0x1160), range(0xA960, 0xA980)
_VOWELS_AND_TAILS: Final = range(0x1160, 0x1200), range(0xD7B0, 0xD800)
_SYLLABLES: Final = range(0xAC00, 0xD7A4)
_EXTENDING: Final = frozenset("\u0e33\u0eb3\u200c\u200d\uff9e\uff9f")
"""Characters that extend the one before and are no marks by category."""
_PREPENDED: Final = frozenset(
    "\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\u0d4e\U000110bd\U000110cd\U000111c2\U000111c3"
    "\U0001193f\U00011941\U00011a3a\U00011a84\U00011a85\U00011a86\U00011a87\U00011a88\U00011a89\U00011d46\U00011f02"
    "\U000113d1"
)
"""Characters that belong to the one after them."""
_MARKS: Final = frozenset({"Mn", "Mc", "Me"})


def head_end(text: str, most: int) -> int:
    """Return the greatest place not beyond `most` where `text` may be cut; 0 where there is none between."""
    if most >= len(text):
        return len(text)
    return max(_place(text, most, _spans(text), -1), 0)


def tail_start(text: str, least: int) -> int:
    """Return the smallest place not before `least` where `text` may be cut; its length where there is none."""
    if least <= 0:
        return 0
    return min(_place(text, least, _spans(text), 1), len(text))


def may_cut(text: str, place: int) -> bool:
    """Tell whether a cluster boundary certainly stands before `text[place]`; both ends of the text are ones."""
    if place <= 0 or place >= len(text):
        return True
    before, after = text[place - 1], text[place]
    if before < "\u0300" and after < "\u0300":
        return not (before == "\r" and after == "\n") and after != "\u00ad" and before != "\u00ad"
    return not (_extends(after) or before in _PREPENDED or _joined(text, place, before, after))


def _place(text: str, start: int, spans: dict[int, tuple[int, int]], step: int) -> int:
    place = start
    while 0 < place < len(text):
        span = spans.get(place)
        if span is not None:
            place = span[0] if step < 0 else span[1]
        elif may_cut(text, place):
            break
        else:
            place += step
    return place


def _spans(text: str) -> dict[int, tuple[int, int]]:
    """Return, for each place inside a mark, where that mark starts and ends."""
    return {place: (start, end) for start, end in marks(text) for place in range(start + 1, end)}


def _extends(char: str) -> bool:
    """Tell whether `char` belongs to what stands before it: marks, joiners, modifiers, and what is yet unknown."""
    category = unicodedata.category(char)
    if category in _MARKS or char in _EXTENDING:
        return True
    code = ord(char)
    return (
        0x1F3FB <= code <= 0x1F3FF or 0xE0020 <= code <= 0xE007F or (category == "Cn" and not 0x1F000 <= code < 0xE0000)
    )


def _joined(text: str, place: int, before: str, after: str) -> bool:
    if before == _JOINER:
        return True
    code = ord(after)
    if code in _REGIONAL:
        return _run(text, place, _REGIONAL) % 2 == 1
    if code in _SYLLABLES or _among(code, _LEADING):
        return _among(ord(before), _LEADING)
    if _among(code, _VOWELS_AND_TAILS):
        return ord(before) in _SYLLABLES or _among(ord(before), (*_LEADING, *_VOWELS_AND_TAILS))
    return unicodedata.category(after) == "Lo" and _conjunct(text, place)


def _among(code: int, blocks: tuple[range, ...]) -> bool:
    return any(code in block for block in blocks)


def _run(text: str, place: int, codes: Container[int]) -> int:
    """Return how many characters just before `place` are in `codes`."""
    start = place
    while start > 0 and ord(text[start - 1]) in codes:
        start -= 1
    return place - start


def _conjunct(text: str, place: int) -> bool:
    """Tell whether a joining sign stands among the marks just before `place`."""
    at = place - 1
    while at >= 0 and _extends(text[at]):
        if unicodedata.combining(text[at]) == _VIRAMA or unicodedata.category(text[at]) == "Cn":
            return True
        at -= 1
    return False
