"""Numbers written as words and in letters, in French, English, Chinese and Roman, as values (spec 1-horizon §7)."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Final

_SMALL: Final = {
    name: value
    for value, names in {
        1: "un une one", 2: "deux two", 3: "trois three", 4: "quatre four", 5: "cinq five", 6: "six", 7: "sept seven",
        8: "huit eight", 9: "neuf nine", 10: "dix ten", 11: "onze eleven", 12: "douze twelve", 13: "treize thirteen",
        14: "quatorze fourteen", 15: "quinze fifteen", 16: "seize sixteen", 17: "seventeen", 18: "eighteen", 19: "nineteen",
        20: "vingt vingts twenty", 30: "trente thirty", 40: "quarante forty", 50: "cinquante fifty", 60: "soixante sixty",
        70: "septante seventy", 80: "huitante octante eighty", 90: "nonante ninety",
    }.items()
    for name in names.split()
}  # fmt: skip
_ROUND: Final = {
    "dizaine": 10, "douzaine": 12, "dozen": 12, "quinzaine": 15, "vingtaine": 20, "trentaine": 30, "quarantaine": 40,
    "cinquantaine": 50, "soixantaine": 60, "centaine": 100,
}  # fmt: skip
"""About so many, and how many dozens: a lone plural ("dozens", "des centaines") tells no number."""
_LARGE: Final = {
    "cent": 100, "cents": 100, "hundred": 100, "mille": 1_000, "thousand": 1_000, "million": 10**6, "millions": 10**6,
    "milliard": 10**9, "milliards": 10**9, "billion": 10**9, **_ROUND, **{f"{name}s": value for name, value in _ROUND.items()},
}  # fmt: skip
_FIRST: Final = "|".join(sorted((*_SMALL, *_ROUND, "cent", "mille", "hundred", "thousand"), key=len, reverse=True))
_INITIAL: Final = f"(?=[{''.join(sorted({name[0] for name in _FIRST.split('|')}))}])"
_ANY: Final = "|".join(sorted((*_SMALL, *_LARGE), key=len, reverse=True))

WORD_NUMBER: Final = re.compile(
    rf"\b{_INITIAL}(?:{_FIRST})(?:(?:-|\s+)(?:(?:et|and)(?:-|\s+))?(?:{_ANY})){{0,23}}\b", re.IGNORECASE
)
"""Runs of number words, at most as many as the longest number has; a lone "un", "one", "cent" or "hundred" among them has no value of its own."""
_UNCOUNTED: Final = frozenset(
    {"un", "une", "one", "cent", "cents", "mille", "hundred", "thousand", "quinzaine", "quarantaine"}
)
"""Alone these are articles, coins, figures of speech, or things of their own."""
ABOUT_ENDING: Final = re.compile(r"aines?$", re.IGNORECASE)
"""How a French number ends that is only about so many."""

_ORDINAL_NAMES: Final = {
    **{f"{stem}ième": value for stem, value in {
        "deux": 2, "trois": 3, "quatr": 4, "cinqu": 5, "six": 6, "sept": 7, "huit": 8, "neuv": 9, "dix": 10, "onz": 11, "douz": 12,
        "treiz": 13, "quatorz": 14, "quinz": 15, "seiz": 16, "dix-sept": 17, "dix-huit": 18, "dix-neuv": 19, "vingt": 20,
        "vingt et un": 21, "vingt-deux": 22, "trent": 30,
    }.items()},
    **{name: value for value, name in enumerate(
        ["third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh", "twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth", "seventeenth", "eighteenth", "nineteenth", "twentieth"], start=3  # a word list reads better as text
    )},
    "twenty-first": 21, "twenty-second": 22, "thirtieth": 30,
}  # fmt: skip
ORDINAL: Final = re.compile(
    rf"\b(?P<name>{'|'.join(sorted(_ORDINAL_NAMES, key=len, reverse=True))})s?\b(?![- ]part)(?!,)", re.IGNORECASE
)
"""Ordinals from the second on, but for those that only count off what a text itself lists ("third, …")."""
SECOND: Final = re.compile(r"\b(?:second|seconde)\b", re.IGNORECASE)
"""The second, or a second of time."""

_HAN_DIGITS: Final = {sign: value for value, sign in enumerate("零一二三四五六七八九")} | {"两": 2, "〇": 0}
_HAN_TENS: Final = {"十": 10, "百": 100, "千": 1_000}
_HAN_LARGE: Final = {"万": 10**4, "亿": 10**8}
_HAN: Final = "零〇一二两三四五六七八九十百千"
HAN_NUMBER: Final = re.compile(
    rf"(?<![{_HAN}点])[{_HAN}]{{1,16}}(?:[万亿][{_HAN}]{{0,16}})?(?:点[零〇一二三四五六七八九]{{1,6}})?(?=\s*[个個条條台次天年月日周块元人份名位种项篇本件倍行页秒分%度只张家间层门套步号级部辆杯瓶枚户期轮场款批组章段句遍岁克斤吨米升题]|小时|公里|文件|毫秒|星期)"
)
"""Chinese numbers before what they count; elsewhere these signs are parts of words."""
HAN_DECIMAL: Final = re.compile(rf"(?<![{_HAN}])[{_HAN}]{{1,4}}点[零〇一二三四五六七八九]{{1,6}}")
"""A Chinese decimal wherever it stands; after a part of the day it is a time."""

_ROMAN_VALUES: Final = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100, "D": 500, "M": 1000}
ROMAN: Final = re.compile(
    r"(?<![\w.'’/-])(?P<roman>(?=[IVX]|L[XVI])(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3}))(?P<rank>er|e|ème|ère|th|st|nd|rd)?(?![\w'’/])(?!-\w)"
)
"""Roman numbers up to 89, as people count kings, centuries and chapters with them."""
ROMAN_PLACE: Final = re.compile(
    r"\b(?:chapter|part|phase|volume|vol\.|section|appendix|book|act|scene|article|title|level|stage|grade|chapitre|partie|tome|annexe|livre"
    r"|acte|scène|titre|niveau|étape|war|guerre|siècle)\s$",
    re.IGNORECASE,
)
"""What is counted in Roman numbers, right before one."""


def words_value(words: str) -> Fraction | None:
    """Return the value of a run of French or English number words; None where they make no number."""
    parts = [part for part in re.split(r"[-\s]+", words.casefold()) if part not in {"et", "and"}]
    if len(parts) == 1 and parts[0] in _UNCOUNTED:
        return None
    total, current = 0, 0
    for part in parts:
        large = _LARGE.get(part)
        if large == 100:
            current = max(current, 1) * 100
        elif large is not None:
            total += max(current, 1) * large
            current = 0
        else:
            value = _SMALL[part]
            if value == 20 and current % 100 == 4:
                current += 76  # quatre-vingts
            elif current % 100 and not (
                current % 10 == 0 and (value < 10 or (value < 20 and current % 100 in {60, 80}))
            ):
                if current % 100 != 10 or value not in {7, 8, 9}:  # dix-sept
                    return None
                current += value
            else:
                current += value
    return Fraction(total + current)


def ordinal_value(word: str) -> int:
    """Return what an `ORDINAL` counts to."""
    return _ORDINAL_NAMES[re.sub(r"\s+", " ", word.casefold())]


def roman_value(letters: str) -> int:
    """Return the value of a Roman number."""
    values = [_ROMAN_VALUES[letter] for letter in letters]
    return sum(-value if value < after else value for value, after in zip(values, [*values[1:], 0], strict=True))


def han_value(signs: str) -> Fraction | None:
    """Return the value of a Chinese number, or of digits; None where the signs make no number."""
    if signs.isdecimal():
        return Fraction(int(signs))
    whole, point, decimals = signs.partition("点")
    if all(sign in _HAN_DIGITS for sign in whole) and len(whole) > 1:  # digit by digit: 二〇二六
        value = int("".join(str(_HAN_DIGITS[sign]) for sign in whole))
    else:
        found = _han_whole(whole)
        if found is None:
            return None
        value = found
    if point:
        return value + Fraction(int("".join(str(_HAN_DIGITS[sign]) for sign in decimals)), 10 ** len(decimals))
    return None if value == 1 and signs == "一" else Fraction(value)


def _han_whole(signs: str) -> int | None:
    total, section, digit = 0, 0, 0
    for sign in signs:
        if sign in _HAN_DIGITS:
            digit = _HAN_DIGITS[sign] if not digit else digit * 10 + _HAN_DIGITS[sign]
        elif sign in _HAN_TENS:
            section += (digit or 1) * _HAN_TENS[sign]
            digit = 0
        elif sign in _HAN_LARGE:
            total += (section + digit) * _HAN_LARGE[sign]
            section = digit = 0
        else:
            return None
    return total + section + digit
