"""Dates and weekdays in a text, in whatever notation, as values that compare (spec 1-horizon §7).

French, English and Chinese. A date that may be read in two ways is read in both.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Final, TypeVar

from horizon.core.numeral import han_value

if TYPE_CHECKING:
    from collections.abc import Callable

_Value = TypeVar("_Value")


@dataclass(frozen=True, slots=True, kw_only=True)
class Day:
    """A date as far as it is told: any of its parts may be None."""

    year: int | None = None
    month: int | None = None
    day: int | None = None

    def fits(self, other: Day) -> bool:
        """Tell whether every part told here is told there, and the same."""
        return all(
            mine is None or mine == theirs
            for mine, theirs in ((self.year, other.year), (self.month, other.month), (self.day, other.day))
        )

    def weekday(self) -> int | None:
        """Return 0 for a Monday to 6; None where the date is not whole or no date."""
        if self.year is None or self.month is None or self.day is None:
            return None
        try:
            return date(self.year, self.month, self.day).weekday()
        except ValueError:
            return None


_MONTH_NAMES: Final = (
    "janvier|january|janv|jan", "février|fevrier|february|févr|fevr|fév|feb", "mars|march|mar", "avril|april|avr|apr", "mai|may",
    "juin|june|jun", "juillet|july|juil|jul", "août|aout|august|aug", "septembre|september|sept|sep", "octobre|october|oct",
    "novembre|november|nov", "décembre|decembre|december|déc|dec",
)  # fmt: skip
_MONTHS: Final = {name: number for number, names in enumerate(_MONTH_NAMES, start=1) for name in names.split("|")}
_ORDERED = "|".join(sorted(_MONTHS, key=len, reverse=True))
_SURE_MONTHS = "|".join(
    sorted(
        (
            name
            for name in _MONTHS
            if (len(name) > 4 and name != "march") or name in {"mai", "juin", "june", "july", "juil"}
        ),
        key=len,
        reverse=True,
    )
)
_WEEKDAY_NAMES: Final = (
    "lundi|monday|mon|周一|星期一|礼拜一", "mardi|tuesday|tue|周二|星期二|礼拜二", "mercredi|wednesday|wed|周三|星期三|礼拜三",
    "jeudi|thursday|thu|周四|星期四|礼拜四", "vendredi|friday|fri|周五|星期五|礼拜五",
    "samedi|saturday|周六|星期六|礼拜六", "dimanche|sunday|周日|周天|星期日|星期天|礼拜天",
)  # fmt: skip
_WEEKDAYS: Final = {name: number for number, names in enumerate(_WEEKDAY_NAMES) for name in names.split("|")}

_ISO = re.compile(r"(?<![\d.])(?P<y>\d{4})[-/.](?P<m>\d{1,2})[-/.](?P<d>\d{1,2})(?:(?=[T ]\d)T?|(?!\d|\.\d))")
_YEAR_MONTH = re.compile(r"(?<![\d./-])(?P<y>(?:19|20)\d\d)[-/](?P<m>0[1-9]|1[0-2])(?![\d/-])")
_SLASHED = re.compile(r"(?<![\d/.-])(?P<a>\d{1,2})(?P<sep>[/.-])(?P<b>\d{1,2})(?P=sep)(?P<y>\d{4}|\d{2})(?![\d/])")
_DAY_MONTH_SLASHED = re.compile(r"(?<![\d/.])(?P<a>\d{1,2})/(?P<b>\d{1,2})(?![\d/])")
_DAY_FIRST = re.compile(
    rf"(?<!\d)(?:(?P<d0>\d{{1,2}})(?:er)?\s*(?:-|–|au|to|et|and|&)\s*)?(?P<d>\d{{1,2}})(?:er|st|nd|rd|th)?(?:\s+(?:of|de))?\s+(?P<m>{_ORDERED})\b\.?"
    r"(?:,?\s+(?P<y>\d{4})(?!\d))?",
    re.IGNORECASE,
)
_MONTH_FIRST = re.compile(
    rf"\b(?P<m>{_ORDERED})\b\.?\s+(?:the\s+)?(?P<d>\d{{1,2}})(?:st|nd|rd|th)?(?!\d|[:.]\d|\s?%)(?:\s*[-–]\s*(?P<d0>\d{{1,2}})(?!\d))?"
    r"(?:,?\s+(?P<y>\d{4})(?!\d))?",
    re.IGNORECASE,
)
_MONTH_YEAR = re.compile(rf"\b(?P<m>{_ORDERED})\b\.?,?\s+(?:de\s+|of\s+)?(?P<y>(?:19|20)\d\d)(?!\d)", re.IGNORECASE)
_MONTH_ALONE = re.compile(
    rf"\b(?P<m>(?i:{_SURE_MONTHS}|août|mars(?=\s+dernier)|march(?=\s+\d))|mars|March|May(?! (?:I|we|you|he|she|it|they|be|the|not)\b))\b"
)
_MAY_ALONE = re.compile(
    r"\b(?:in|since|until|last|en|depuis|au mois de|fin|début|mi-)\s*(?P<m>may|mai|march|mars|june|juin|july|aug)\b",
    re.IGNORECASE,
)
_HAN_DATE = re.compile(
    r"(?:(?P<y>\d{4}|[〇零一二三四五六七八九]{4})\s*年\s*)?(?:(?P<m>\d{1,2}|[一二三四五六七八九十]{1,2})\s*月)(?:\s*(?P<d>\d{1,2}|[一二三四五六七八九十]{1,3})\s*[日号號])?|(?P<yy>\d{4}|[〇零一二三四五六七八九]{4})\s*年"
)
_WEEKDAY = re.compile(
    r"\b(?:lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche|monday|tuesday|wednesday|thursday|friday|saturday|sunday)\b|\b(?:Mon|Tue|Wed|Thu|Fri)\b(?=,? )|(?:周|星期|礼拜)[一二三四五六日天]",
    re.IGNORECASE,
)


def take_days(text: str, known: str) -> tuple[str, list[tuple[str, Day]]]:
    """Return `text` with its dates blanked out, and each date as written with what it may mean; `known` is caseless."""
    days: list[tuple[str, Day]] = []
    for sign, readers in _DAY_READERS:
        if sign.search(known):
            for pattern, read in readers:
                text = take(pattern, text, read, days)
    return text, days


def take_weekdays(text: str, known: str) -> tuple[str, list[tuple[str, int]]]:
    """Return `text` with its weekdays blanked out, and each as written with its number, 0 for a Monday."""
    if not _WEEKDAY_SIGN.search(known):
        return text, []
    weekdays = [(found[0], _WEEKDAYS[found[0].casefold()]) for found in _WEEKDAY.finditer(text)]
    return _WEEKDAY.sub(lambda found: "\n" * len(found[0]), text), weekdays


def take(
    pattern: re.Pattern[str], text: str, read: Callable[[re.Match[str]], list[_Value]], into: list[tuple[str, _Value]]
) -> str:
    """Return `text` with what `pattern` finds blanked out where `read` gives values for it, which go `into` the list."""

    def one(found: re.Match[str]) -> str:
        values = read(found)
        if not values:
            return found[0]
        into.extend((found[0].strip(), value) for value in values)
        return "\n" * len(found[0])

    return pattern.sub(one, text)


def _made(year: int | None, month: int, day: int | None) -> list[Day]:
    if 1 <= month <= 12 and (day is None or 1 <= day <= 31):
        return [Day(year=year, month=month, day=day)]
    return []


def _iso(found: re.Match[str]) -> list[Day]:
    return _made(int(found["y"]), int(found["m"]), int(found["d"]))


def _year_month(found: re.Match[str]) -> list[Day]:
    return _made(int(found["y"]), int(found["m"]), None)


def _slashed(found: re.Match[str]) -> list[Day]:
    year = int(found["y"])
    year += 2000 if year < 100 else 0
    first, second = int(found["a"]), int(found["b"])
    return _made(year, second, first) + (_made(year, first, second) if first != second else [])


def _day_month_slashed(found: re.Match[str]) -> list[Day]:
    first, second = int(found["a"]), int(found["b"])
    if len(found["a"]) + len(found["b"]) < 4 and not (first > 12 or second > 12):
        return []  # 1/2, 24/7 and 3/4 are no dates for sure
    return _made(None, second, first) + (_made(None, first, second) if first != second else [])


def _named(found: re.Match[str]) -> list[Day]:
    groups = found.groupdict()
    month = _MONTHS[found["m"].casefold()]
    year = int(groups["y"]) if groups.get("y") else None
    if not groups.get("d"):
        return _made(year, month, None)
    days = _made(year, month, int(groups["d"]))
    if days and groups.get("d0"):
        days += _made(year, month, int(groups["d0"]))
    return days


def _han_date(found: re.Match[str]) -> list[Day]:
    if found["yy"]:
        return [Day(year=int(han_value(found["yy"]) or 0))]
    month = han_value(found["m"])
    day = han_value(found["d"]) if found["d"] else None
    return _made(
        int(han_value(found["y"]) or 0) if found["y"] else None, int(month or 0), None if day is None else int(day)
    )


_DATE_SIGN = re.compile(r"\d[-/.]\d")
_MONTH_SIGN = re.compile(rf"(?:{_ORDERED})\b")
_WEEKDAY_SIGN = re.compile("|".join(sorted(_WEEKDAYS, key=len, reverse=True)))
_DAY_READERS: Final = (
    (_DATE_SIGN, ((_ISO, _iso), (_SLASHED, _slashed), (_YEAR_MONTH, _year_month))),
    (_MONTH_SIGN, ((_DAY_FIRST, _named), (_MONTH_YEAR, _named), (_MONTH_FIRST, _named))),
    (re.compile("[年月]"), ((_HAN_DATE, _han_date),)),
    (_MONTH_SIGN, ((_MAY_ALONE, _named), (_MONTH_ALONE, _named))),
    (_DATE_SIGN, ((_DAY_MONTH_SLASHED, _day_month_slashed),)),
)
"""In which order dates are read; each kind only where the folded text has what each of its forms holds, which is much
quicker to find."""
