"""Times of day in a text, in whatever notation, as values that compare (spec 1-horizon §7)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from horizon.core.numeral import WORD_NUMBER, han_value, words_value

if TYPE_CHECKING:
    from collections.abc import Iterable
    from fractions import Fraction


class Time(NamedTuple):
    """A time of day; `sure` where it is told in which half of the day it is."""

    hour: int
    minute: int
    sure: bool

    def is_told_by(self, others: Iterable[Time]) -> bool:
        """Tell whether one of `others` is this time, or may be: "2:30" is, of "14:30"."""
        return any(
            self.minute == other.minute
            and (self.hour == other.hour or (not (self.sure and other.sure) and self.hour % 12 == other.hour % 12))
            for other in others
        )


_WORD: Final = WORD_NUMBER.pattern.removeprefix(r"\b").removesuffix(r"\b")
_HOUR: Final = "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve"
TIME: Final = re.compile(
    r"(?<![\d:.,])(?P<h>[01]?\d|2[0-4])(?::(?P<mn>[0-5]\d)(?::[0-5]\d(?:[.,]\d+)?)?|\s?(?:h|heures?)\s?(?P<mf>[0-5]\d)?(?![\w]))(?:\s*(?P<ap>[ap])\.?\s?m\b\.?)?(?:Z|[+-]\d\d:?\d\d)?(?![\d:])"
    r"|(?<![\d:.,])(?P<h2>1[0-2]|0?[1-9])\s*(?P<ap2>[ap])\.?\s?m\b\.?"
    r"|(?P<part>凌晨|早上|上午|中午|下午|晚上)?\s?(?:(?P<h3>\d{1,2})\s*[点點时時]|(?P<hh>[一二两三四五六七八九十]{1,3})[点點](?P<clock>钟|整)?)(?:\s*(?P<mh>\d{1,2}|[一二三四五]?十[一二三四五六七八九]?(?=分))\s*分?|(?P<half>半)|(?P<quarter>[一三])刻)?"
    r"|\b(?P<noon>midi|noon)\b|\b(?P<night>minuit|midnight)\b",
    re.IGNORECASE,
)  # fmt: skip
SPOKEN: Final = re.compile(
    rf"\b(?P<away>quarter|half|five|ten|twenty|twenty-five) (?P<side>past|to) (?P<h4>{_HOUR}|\d{{1,2}})\b|\b(?P<h5>{_HOUR}|\d{{1,2}}) o['’]clock\b"
    rf"|\b(?P<hw>(?:{_WORD})|\d{{1,2}})\s(?:h|heures?)\s(?P<fr>et quart|et demie?|moins (?:le quart|dix|cinq|vingt(?:-cinq)?)|(?:{_WORD}))\b",
    re.IGNORECASE,
)  # fmt: skip
"""Times told in words: "quarter past nine", « quatorze heures trente »."""
SIGN: Final = re.compile(r"\d(?::|\s?h|\s*[ap]\.?\s?m|\s*[点點时時])|[点點]|midi|noon|minuit|midnight")
"""What stands in every `TIME`, of a caseless text."""
SPOKEN_SIGN: Final = re.compile(
    r" past | to (?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\d)|o['’]clock|\sheures? [a-z]"
)
"""What stands in every `SPOKEN` one, of a caseless text."""
_AWAY: Final = {"quarter": 15, "half": 30, "five": 5, "ten": 10, "twenty": 20, "twenty-five": 25}
_FRENCH: Final = {"et quart": 15, "et demi": 30, "et demie": 30, "moins le quart": -15, "moins dix": -10, "moins cinq": -5, "moins vingt": -20, "moins vingt-cinq": -25}  # fmt: skip


def times_of(found: re.Match[str]) -> list[Time]:
    """Return the time that a match of `TIME` is, none where it is none."""
    if found["noon"]:
        return [Time(12, 0, sure=True)]
    if found["night"]:
        return [Time(0, 0, sure=True)]
    if found["hh"] and not (found["part"] or found["clock"] or found["half"] or found["mh"] or found["quarter"]):
        return []  # "three points", "a bit"
    hour = _number(found["h"] or found["h2"] or found["h3"] or found["hh"])
    minute = _number(found["mn"] or found["mf"] or found["mh"] or "0")
    if found["half"] or found["quarter"]:
        minute = {"一": 15, "三": 45}.get(found["quarter"] or "", 30)
    half = (found["ap"] or found["ap2"] or "").casefold()
    sure = bool(half or found["part"] or (found["h"] or "").startswith("0") or hour in {0, *range(13, 25)})
    if half and hour <= 12:
        hour = hour % 12 + (12 if half == "p" else 0)
    elif found["part"] in {"下午", "晚上"} and hour < 12:
        hour += 12
    return _made(hour, minute, sure=sure)


def _number(written: str) -> int:
    value = han_value(written)
    return 1 if value is None else int(value)  # 一 alone


def spoken(found: re.Match[str]) -> list[Time]:
    """Return the time that a match of `SPOKEN` is, none where it is none."""
    written: str = found["h4"] or found["h5"] or found["hw"]
    hour = int(written) if written.isdecimal() else words_value(written) or 1
    minute: Fraction | int | None = 0
    if found["side"]:
        away = _AWAY[found["away"].casefold()]
        minute = away if found["side"].casefold() == "past" else -away
    elif found["fr"]:
        said = found["fr"].casefold()
        minute = _FRENCH[said] if said in _FRENCH else words_value(said)
    return [] if minute is None else _made(int(hour), int(minute), sure=hour > 12)


def _made(hour: int, minute: int, *, sure: bool) -> list[Time]:
    if minute < 0:
        hour, minute = hour - 1, minute + 60
    return [Time(hour % 24, minute, sure=sure)] if minute < 60 and 0 <= hour <= 24 else []
