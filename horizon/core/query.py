"""What a person asks when looking for something: words folded for search, and dates understood (spec 5-interface).

Documents and questions go through the same `tokens`, so that what is found does not depend on accents, case,
plurals or verb endings, in French and English alike, and Chinese is found by characters and pairs of them.
The tokens are plain letters and digits: no query text whatever can reach a search engine as an operator.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from horizon.core.when import Days, take_days

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import date

WORD_MOST: Final = 48
"""Characters of a word that are kept: longer runs are data (hashes, base64), told apart well before that."""
QUERY_MOST: Final = 10_000
"""Characters of a question that are read: a page, several times the longest question."""
TERMS_MOST: Final = 64
"""Distinct terms of a question that are searched: it bounds the cost of a pasted page."""

_CJK: Final = "\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\U00020000-\U0003134f"
"""Scripts written without spaces between words, and Hangul, whose particles stick to words."""
_RUN: Final = re.compile(rf"[{_CJK}]+|[a-z]\+\+|[a-z]#(?!\w)|[^\W_{_CJK}]+")
_WORD: Final = re.compile(rf"[{_CJK}]+|[^\W_{_CJK}]+(?:\+\+|#)?")
_IDEOGRAPH: Final = re.compile(rf"[{_CJK}]")

_STOP_WORDS: Final = (
    # English
    "a about am an and any are as at be been being but by can could did do does doing for from had has have he her him"
    " his how i if in into is it its just me mine my no not of off on or our ours s she should so some such t than that"
    " the their them then there these they this those to too us very was we were what when where which who whom whose"
    " why will with would you your yours ll ve re d m don didn doesn isn wasn weren"
    " remember recall tell told mention mentioned say said talk talked"
    # French, without accents
    " ai as au aux avait avec avez avoir avons c ce ces cet cette comme comment d dans de des du elle elles en est et"
    " etait etre eu il ils j je l la le les leur leurs lui ma mais mes moi mon n ne nos notre nous on ont ou par"
    " pas pour pourquoi qu quand que quel quelle quelles quels qui quoi sa sans se ses si son sont sur ta te tes toi"
    " ton tu un une va vos votre vous y"
)
_STOP: Final = frozenset(_STOP_WORDS.split())
"""Words that any text holds: asking for them finds nothing in particular."""
_ASKING: Final = re.compile(
    "为什么|什么|怎么样|怎么|怎样|哪些|哪个|哪里|哪儿|哪位|哪天|多少|几个|是不是|有没有|还记得|记得|告诉|我们|你们|他们|这个|那个|吗|呢"
)
"""What a Chinese question asks with; cut out of questions only, so that the pairs around it don't mislead."""
_FUNCTION: Final = frozenset("我你他她它的了是在和与及过着这那有就都也还很给吧啊呀哪不")
"""Ideographs that any sentence holds: a pair of them says nothing, though each may be half of a telling word."""

# Endings of English and French words, the longest first, with what takes their place. What remains of the
# word has at least three letters. Both languages at once, because one home holds both and a text does not
# say which it is; that a few words of different languages fall together costs little.
_SILENT: Final = (
    "ations ation ating ated ates ate atrices atrice ateurs ateur ators ator issements issement ements ement ments"
    " ment nesses ness fulness fully ful ingly ings ing edly ed ers er est ely ly es s e aient erons eront erait erais"
    " eras erez ait ais ons ez ees ee ant ants antes ante ables able ibles ible ions ion ities ity ites ite ives ive"
    " ifs if iers ier ieres iere"
)
_ENDINGS: Final = dict.fromkeys(_SILENT.split(), "") | {
    "ies": "i", "ied": "i", "ily": "i", "ications": "ic", "ication": "ic", "euses": "eu", "euse": "eu", "eux": "eu",
    "aux": "al", "eaux": "eau", "elles": "el", "elle": "el", "ennes": "en", "enne": "en",
}  # fmt: skip
_LONGEST: Final = max(map(len, _ENDINGS))
_IRREGULAR: Final = {
    "went": "go", "gone": "go", "goes": "go", "bought": "buy", "saw": "see", "seen": "see", "ate": "eat",
    "eaten": "eat", "wrote": "write", "written": "write", "ran": "run", "made": "make", "taught": "teach",
    "thought": "think", "felt": "feel", "met": "meet", "took": "take", "taken": "take", "gave": "give",
    "given": "give", "got": "get", "chose": "choose", "chosen": "choose", "spoke": "speak", "spoken": "speak",
    "broke": "break", "broken": "break", "lost": "lose", "kept": "keep", "left": "leave", "sent": "send",
    "found": "find", "slept": "sleep", "spent": "spend", "swam": "swim", "drove": "drive", "fell": "fall",
    "better": "good", "best": "good", "children": "child", "people": "person", "yeux": "oeil",
}  # fmt: skip
"""English strong verbs and plurals that no ending shows."""
_STEM_LEAST: Final = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """A question, understood.

    `terms` are the distinct tokens to look for, in the order typed, at most `TERMS_MOST`; `loose` the
    single ideographs among a question's words, worth less than `terms`. `days` are the spans of local days
    that it names, empty where it names none. Nothing at all is asked where all three are empty.
    """

    terms: tuple[str, ...]
    loose: tuple[str, ...]
    days: tuple[Days, ...]


def fold(text: str) -> str:
    """Return `text` without case, accents and typographic variants; folding twice changes nothing.

    Full-width and compatibility forms become plain, `œ` becomes `oe`; the marks of other scripts (kana,
    Devanagari) stay, since there they tell words apart.
    """
    if text.isascii():
        return text.lower()
    while (folded := _fold_once(text)) != text:
        text = folded
    return text


_LATIN_MARKS: Final = re.compile("[\u0300-\u036f]+")
_LETTERS: Final = str.maketrans({"œ": "oe", "æ": "ae", "ø": "o", "ł": "l", "đ": "d", "ı": "i", "’": "'"})


def _fold_once(text: str) -> str:
    apart = unicodedata.normalize("NFD", unicodedata.normalize("NFKC", text).casefold())
    return unicodedata.normalize("NFKC", _LATIN_MARKS.sub("", apart)).translate(_LETTERS)


@lru_cache(maxsize=32_768)  # texts repeat their words: most of a day's are known after its first exchanges
def stem(word: str) -> str:
    """Return what a folded French or English word shares with its plural, feminine and verb forms.

    Words with digits and words of up to three letters stay as they are.
    """
    if word in _IRREGULAR:
        word = _IRREGULAR[word]
    if len(word) <= _STEM_LEAST or not word.isalpha():
        return word
    if not word.endswith("ss"):
        for length in range(min(_LONGEST, len(word) - _STEM_LEAST), 0, -1):
            instead = _ENDINGS.get(word[-length:])
            if instead is not None:
                word = word[:-length] + instead
                break
    if len(word) > _STEM_LEAST and word[-1] == word[-2] and word[-1] not in "aeiou":
        word = word[:-1]
    return word[:-1] + "i" if word[-1] == "y" else word


def tokens(text: str) -> list[str]:
    """Return the search tokens of a text, in its order: stems, numbers, and pairs of ideographs.

    Every token consists of letters and digits. A run of ideographs gives each pair of neighbours;
    `ideographs` gives them one by one.
    """
    return [stem(run) for run in _runs(fold(text))]


def _runs(folded: str) -> list[str]:
    found: list[str] = []
    for run in _RUN.findall(folded):
        if _IDEOGRAPH.match(run):
            found.extend(run[at : at + 2] for at in range(len(run) - 1))
        elif run.endswith(("+", "#")):
            found.append(run[0] + ("0plus" if run.endswith("+") else "0sharp"))
        else:
            found.append(run[:WORD_MOST])
    return found


def places(text: str) -> Iterator[tuple[int, str]]:
    """Yield where in `text` each of its words stands (a character offset), with each of its tokens, in order."""
    for word in _WORD.finditer(text):
        for at, token in enumerate(tokens(word[0])):
            yield word.start() + (at if _IDEOGRAPH.match(word[0]) else 0), token


def ideographs(text: str) -> list[str]:
    """Return each ideograph of a text, in its order."""
    return _IDEOGRAPH.findall(fold(text))


def understand(text: str, *, today: date) -> Query:
    """Return what `text` asks: the days that it names relative to `today`, and the words of the rest.

    Any text is understood; one without a word in it asks for nothing.
    """
    rest, days = take_days(fold(text[:QUERY_MOST]), today)
    asked = _ASKING.sub(" ", rest)
    words = [run for run in _runs(asked) if run not in _STOP and not _FUNCTION.issuperset(run)]
    letters = [letter for letter in _IDEOGRAPH.findall(asked) if letter not in _FUNCTION]
    if not words and not letters and not days:  # only words that any text holds: then these are what is asked
        words, letters = _runs(rest), _IDEOGRAPH.findall(rest)
    return Query(
        terms=tuple(dict.fromkeys(stem(word) for word in words))[:TERMS_MOST],
        loose=tuple(dict.fromkeys(letters))[:TERMS_MOST],
        days=days,
    )


TYPO_LEAST: Final = 4
"""Letters of a word from which one wrong letter is forgiven; two from twice as many."""
TYPO_MOST: Final = 24
"""Letters of the longest word in which one is: what is longer is no word of a language searched by stems."""


def forgiving(word: str) -> bool:
    """Tell whether a token is a word in which a typo is forgiven: plain letters, neither short nor very long."""
    return TYPO_LEAST <= len(word) <= TYPO_MOST and word.isascii() and word.isalpha()


def near(word: str, candidates: Iterable[str]) -> list[str]:
    """Return the candidates that may be what `word` was meant to be, the nearest first, then in their order.

    One letter wrong, missing, too many or swapped with its neighbour, two in words of eight letters or more;
    also words that begin with `word`. A word that is not `forgiving` has no near ones.
    """
    if not forgiving(word):
        return []
    most = 1 if len(word) < 2 * TYPO_LEAST else 2
    letters = set(word)
    found: list[tuple[int, str]] = []
    for candidate in candidates:
        if candidate.startswith(word):
            found.append((most, candidate))
        elif abs(len(candidate) - len(word)) <= most and len(letters.symmetric_difference(candidate)) <= 2 * most:
            distance = _distance(word, candidate)
            if distance <= most:
                found.append((distance, candidate))
    return [candidate for _, candidate in sorted(found, key=lambda pair: pair[0])]


def _distance(one: str, two: str) -> int:
    """Return how many letters are to be put in, left out, changed or swapped with a neighbour."""
    before: list[int] = []
    above = list(range(len(two) + 1))
    for row, letter in enumerate(one, start=1):
        line = [row]
        for column, other in enumerate(two, start=1):
            cost = min(above[column] + 1, line[-1] + 1, above[column - 1] + (letter != other))
            if row > 1 and column > 1 and letter == two[column - 2] and one[row - 2] == other:
                cost = min(cost, before[column - 2] + 1)
            line.append(cost)
        before, above = above, line
    return above[-1]
