"""Numbers written as words, in French, English and Chinese, as values."""

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
_LARGE: Final = {
    "cent": 100, "cents": 100, "hundred": 100, "mille": 1_000, "thousand": 1_000, "million": 10**6, "millions": 10**6,
    "milliard": 10**9, "milliards": 10**9, "billion": 10**9,
}  # fmt: skip
_FIRST: Final = "|".join(sorted((*_SMALL, "cent", "mille", "hundred", "thousand"), key=len, reverse=True))
_ANY: Final = "|".join(sorted((*_SMALL, *_LARGE), key=len, reverse=True))

WORD_NUMBER: Final = re.compile(
    rf"\b(?:{_FIRST})(?:(?:-|\s+)(?:(?:et|and)(?:-|\s+))?(?:{_ANY})){{0,23}}\b", re.IGNORECASE
)
"""Runs of number words, at most as many as the longest number has; a lone "un", "one", "cent" or "hundred" among them has no value of its own."""
_UNCOUNTED: Final = frozenset({"un", "une", "one", "cent", "cents", "mille", "hundred", "thousand"})
"""Alone these are articles, coins or figures of speech."""

_HAN_DIGITS: Final = {sign: value for value, sign in enumerate("零一二三四五六七八九")} | {"两": 2, "〇": 0}
_HAN_TENS: Final = {"十": 10, "百": 100, "千": 1_000}
_HAN_LARGE: Final = {"万": 10**4, "亿": 10**8}
HAN_NUMBER: Final = re.compile(
    r"(?<![零〇一二两三四五六七八九十百千])[零〇一二两三四五六七八九十百千]{1,16}(?:[万亿][零〇一二两三四五六七八九十百千]{0,16})?(?=\s*[个個条條台次天年月日周块元人份名位种项篇本件倍行页秒分%度只张家间层门套步号级部辆杯瓶枚户期轮场款批组章段句遍岁克斤吨米升题]|小时|公里|文件)"
)
"""Chinese numbers before what they count; elsewhere these signs are parts of words."""


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


def han_value(signs: str) -> Fraction | None:
    """Return the value of a Chinese number, or of digits; None where the signs make no number."""
    if signs.isdecimal():
        return Fraction(int(signs))
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
    value = total + section + digit
    return None if value == 1 and signs == "一" else Fraction(value)
