"""Dates that people name in a question, as spans of local days: English, French, Chinese (spec 5-interface).

A phrase means the latest such time that has begun: on a Wednesday, "thursday" is six days ago, "in May" the
last May that has started. What lies ahead ("next friday", "jeudi prochain") and what recurs ("every monday")
is no filter and stays text. The text is folded already: no capitals, no accents.
"""

from __future__ import annotations

import re
from datetime import date, timedelta
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Reading = Callable[["re.Match[str]", date], "Days"]
    Span = Callable[["re.Match[str]", "Sequence[Days]", date], "Days"]


class Days(NamedTuple):
    """A span of local days, both ends included; `first <= last`."""

    first: date
    last: date


_DAY: Final = timedelta(days=1)
_MONTHS: Final = {
    name: number
    for number, names in enumerate(
        (
            "january janvier jan janv", "february fevrier feb fev fevr", "march mars mar", "april avril apr avr",
            "may mai", "june juin jun", "july juillet jul juil", "august aout aug", "september septembre sep sept",
            "october octobre oct", "november novembre nov", "december decembre dec",
        ),
        start=1,
    )
    for name in names.split()
}  # fmt: skip
_MONTH: Final = "(?P<month>" + "|".join(sorted(_MONTHS, key=len, reverse=True)) + r")\b\.?"
_WEEKDAYS: Final = {
    name: number
    for number, names in enumerate(
        ("monday lundi", "tuesday mardi", "wednesday mercredi", "thursday jeudi", "friday vendredi",
         "saturday samedi", "sunday dimanche")
    )
    for name in names.split()
}  # fmt: skip
_WEEKDAY: Final = "(?P<weekday>" + "|".join(_WEEKDAYS) + r")(?:'s)?\b"
_HAN_DIGITS: Final = {sign: number for number, sign in enumerate("〇一二三四五六七八九")} | {"两": 2, "天": 7, "日": 7}
_NUMBERS: Final = {
    name: number
    for number, names in enumerate(
        (
            "a an un une one", "two deux couple", "three trois", "four quatre", "five cinq", "six", "seven sept",
            "eight huit", "nine neuf", "ten dix", "eleven onze", "twelve douze",
        ),
        start=1,
    )
    for name in names.split()
}  # fmt: skip
_COUNT: Final = r"(?P<count>\d{1,3}|" + "|".join(_NUMBERS) + ")"
_HAN: Final = r"\d{1,3}|[一二两三四五六七八九十]{1,3}"
_UNIT: Final = r"(?P<unit>day|week|month|year|jour|semaine|mois|an|annee|天|日|个?星期|周|个?礼拜|个?月|年)s?"
_NOT_AHEAD: Final = r"(?<!next )(?<!every )(?<!each )(?<!coming )(?<!chaque )(?<!tous les )"
_MARK: Final = ("\ue000", "\ue001")
"""Around the number of a span that stands for its phrase while the text is read."""


def take_days(text: str, today: date) -> tuple[str, tuple[Days, ...]]:
    """Return `text` without the dates that it names, and their spans in the order named, without repetition.

    `text` is folded. Empty spans mean that no date was named, and the text is returned as it was.
    """
    found: list[Days] = []
    rest = " ".join(text.replace(_MARK[0], " ").replace(_MARK[1], " ").split())
    for pattern, reading in _PHRASES:

        def mark(match: re.Match[str], reading: Reading = reading) -> str:
            try:
                found.append(reading(match, today))
            except (ValueError, OverflowError):  # no such day: the 30th of February, a thousand years ago
                return match[0]
            return f" {_MARK[0]}{len(found) - 1}{_MARK[1]} "

        rest = pattern.sub(mark, rest)
    if not found:
        return text, ()
    named: list[tuple[int, Days]] = []
    for pattern, span in _PUT_BACK:

        def take(match: re.Match[str], span: Span = span) -> str:
            named.append((int(match["one"]), span(match, found, today)))
            return " "

        rest = pattern.sub(take, rest)
    return " ".join(rest.split()), tuple(dict.fromkeys(days for _, days in sorted(named)))


def _single(match: re.Match[str], found: Sequence[Days], _today: date) -> Days:
    return found[int(match["one"])]


def _between(match: re.Match[str], found: Sequence[Days], _today: date) -> Days:
    one, two = found[int(match["one"])], found[int(match["two"])]
    return Days(min(one.first, two.first), max(one.last, two.last))


def _bounded(match: re.Match[str], found: Sequence[Days], today: date) -> Days:
    days = found[int(match["one"])]
    match match["side"]:
        case "since" | "depuis":
            return Days(days.first, max(days.last, today))
        case "after" | "apres":
            return Days(min(days.last, date.max - _DAY) + _DAY, max(min(days.last, date.max - _DAY) + _DAY, today))
        case "before" | "avant":
            return Days(date.min, max(days.first, date.min + _DAY) - _DAY)
        case _:
            return Days(date.min, days.last)


_ONE: Final = rf"{_MARK[0]}(?P<one>\d+){_MARK[1]}"
_TWO: Final = rf"{_MARK[0]}(?P<two>\d+){_MARK[1]}"
_SINGLE: Final = re.compile(_ONE)
_RANGE: Final = re.compile(
    rf"(?:\b(?:from|du|de)\s|从)?\s*{_ONE}\s*(?:to|until|through|till|au|a|jusqu'au|到|至|-|–)\s*{_TWO}"
)
_PAIR: Final = re.compile(rf"\b(?:between|entre)\s+{_ONE}\s*(?:and|et)\s*{_TWO}")
_BOUNDED: Final = re.compile(rf"\b(?P<side>since|depuis|after|apres|before|avant|until|jusqu'au|jusqu'a)\s+{_ONE}")
_PUT_BACK: Final = ((_RANGE, _between), (_PAIR, _between), (_BOUNDED, _bounded), (_SINGLE, _single))


def _day(match: re.Match[str], _today: date) -> Days:
    day = date(int(match["year"]), int(match["month"]), int(match["day"]))
    return Days(day, day)


def _slashed(match: re.Match[str], _today: date) -> Days:
    """Day first, as most of the world writes; month first where only that is a date."""
    day, month, year = int(match["day"]), int(match["month"]), int(match["year"])
    if month > 12:
        day, month = month, day
    return Days(date(year, month, day), date(year, month, day))


def _month_day(match: re.Match[str], today: date) -> Days:
    month = _MONTHS[match["month"]]
    number = 1 if match["day"] in {"1er", "premier"} else int(match["day"])
    return _latest(month, number, match["year"], today)


def _latest(month: int, number: int, year: str | None, today: date) -> Days:
    """Return that day of the given year, else its latest that is not ahead."""
    if year is not None:
        day = date(_year(year), month, number)
        return Days(day, day)
    for back in range(9):  # the 29th of February comes within eight years, also across 1900
        try:
            day = date(today.year - back, month, number)
        except ValueError:
            continue
        if day <= today:
            return Days(day, day)
    raise ValueError("no such day")


def _han_year(text: str | None, today: date) -> str | None:
    """Return the year that 去年, 今年 or 前年 names, in digits."""
    back = {"今": 0, "去": 1, "前": 2}.get(text or "")
    return text if back is None else str(today.year - back)


def _year(text: str) -> int:
    return int(text) + (2000 if len(text) == 2 else 0)


def _month(match: re.Match[str], today: date) -> Days:
    return _month_span(_MONTHS[match["month"]], match["year"], today)


def _month_span(month: int, year: str | None, today: date) -> Days:
    first = date(_year(year) if year else today.year, month, 1)
    if year is None and first > today:
        first = first.replace(year=first.year - 1)
    return _month_of(first)


def _month_of(day: date, back: int = 0) -> Days:
    """Return the month that lies `back` months before the one of `day`."""
    count = day.year * 12 + day.month - 1 - back
    first = date(count // 12, count % 12 + 1, 1)
    after = date((count + 1) // 12, (count + 1) % 12 + 1, 1)
    return Days(first, after - _DAY)


def _week_of(day: date, back: int = 0) -> Days:
    """Return the week, Monday to Sunday, that lies `back` weeks before the one of `day`."""
    first = day - (day.weekday() + 7 * back) * _DAY
    return Days(first, first + 6 * _DAY)


def _year_of(year: int) -> Days:
    return Days(date(year, 1, 1), date(year, 12, 31))


def _whole_year(match: re.Match[str], _today: date) -> Days:
    return _year_of(int(match["year"]))


def _back(days: int) -> Reading:
    """Return the reading of a phrase for the day that lies `days` before today."""
    return lambda _match, today: Days(today - days * _DAY, today - days * _DAY)


def _weekday(match: re.Match[str], today: date) -> Days:
    strictly = match["before"] is not None or match["past"] is not None
    back = (today.weekday() - _WEEKDAYS[match["weekday"]]) % 7
    day = today - (back or (7 if strictly else 0)) * _DAY
    return Days(day, day)


def _han_weekday(match: re.Match[str], today: date) -> Days:
    number = _han(match["weekday"]) - 1
    if match["week"] == "上":
        day = _week_of(today, 1).first + number * _DAY
    elif match["week"]:
        day = _week_of(today).first + number * _DAY
    else:
        day = today - ((today.weekday() - number) % 7) * _DAY
    return Days(day, day)


def _weekend(match: re.Match[str], today: date) -> Days:
    saturday = _week_of(today).first + 5 * _DAY
    if saturday > today or (match["before"] is not None and saturday + _DAY >= today):
        saturday -= 7 * _DAY
    return Days(saturday, saturday + _DAY)


def _count(text: str) -> int:
    return _NUMBERS.get(text) or (int(text) if text.isdecimal() else _han(text))


def _han(text: str) -> int:
    """Read a number up to 99 in digits or ideographs: 二十三 is 23, 十二 is 12."""
    if text.isdecimal():
        return int(text)
    tens, ten, ones = text.partition("十")
    if not ten:
        return _HAN_DIGITS[text] if len(text) == 1 else int("".join(str(_HAN_DIGITS[sign]) for sign in text))
    return (_HAN_DIGITS[tens] if tens else 1) * 10 + (_HAN_DIGITS[ones] if ones else 0)


def _ago(match: re.Match[str], today: date) -> Days:
    count = _count(match["count"])
    match _UNITS[match["unit"].removeprefix("个")]:
        case "week":
            return _week_of(today, count)
        case "month":
            return _month_of(today, count)
        case "year":
            return _year_of(today.year - count)
        case _:
            return Days(today - count * _DAY, today - count * _DAY)


def _past(match: re.Match[str], today: date) -> Days:
    """The last so many days, weeks, months or years, up to today."""
    count = _count(match["count"])
    match _UNITS[match["unit"].removeprefix("个")]:
        case "week":
            return Days(today - 7 * count * _DAY, today)
        case "month":
            return Days(today - 30 * count * _DAY, today)
        case "year":
            return Days(today - 365 * count * _DAY, today)
        case _:
            return Days(today - count * _DAY, today)


def _han_month_day(match: re.Match[str], today: date) -> Days:
    return _latest(_han(match["month"]), _han(match["day"]), _han_year(match["year"], today), today)


def _han_month(match: re.Match[str], today: date) -> Days:
    return _month_span(_han(match["month"]), _han_year(match["year"], today), today)


def _han_day(match: re.Match[str], today: date) -> Days:
    for back in range(13):
        first = _month_of(today, back).first
        try:
            day = first.replace(day=_han(match["day"]))
        except ValueError:
            continue
        if day <= today:
            return Days(day, day)
    raise ValueError("no such day")


_UNITS: Final[dict[str, str]] = {
    name: unit
    for unit, names in (
        ("day", ("day", "jour", "天", "日")),
        ("week", ("week", "semaine", "星期", "周", "礼拜")),
        ("month", ("month", "mois", "月")),
        ("year", ("year", "an", "annee", "年")),
    )
    for name in names
}
_YEAR: Final = r"(?:,?\s+(?:de\s+)?(?P<year>\d{4}))?\b"


def _phrase(pattern: str, reading: Reading) -> tuple[re.Pattern[str], Reading]:
    return re.compile(pattern), reading


_PHRASES: Final = (
    _phrase(r"\b(?:on |le )?(?P<year>\d{4})[-/.](?P<month>\d{1,2})[-/.](?P<day>\d{1,2})(?!\d)", _day),
    _phrase(r"\b(?:on |le )?(?P<day>\d{1,2})[/.](?P<month>\d{1,2})[/.](?P<year>\d{4})\b", _slashed),
    _phrase(
        rf"(?:(?P<year>\d{{4}}|\d{{2}}|[去今前])\s*年\s*)?(?P<month>{_HAN})\s*月\s*(?P<day>{_HAN})\s*[日号]?",
        _han_month_day,
    ),
    _phrase(
        rf"\b(?:on |the |le |du ){{0,3}}(?P<day>\d{{1,2}}|1er|premier)(?:st|nd|rd|th)?(?: of| de)? {_MONTH}{_YEAR}",
        _month_day,
    ),
    _phrase(rf"\b(?:on )?{_MONTH} (?:the )?(?P<day>\d{{1,2}})(?:st|nd|rd|th)?{_YEAR}", _month_day),
    _phrase(
        r"\b(?:in |en |during |since )?(?P<year>\d{4})-(?P<month>0[1-9]|1[0-2])(?![\d-])",
        lambda match, _today: _month_of(date(int(match["year"]), int(match["month"]), 1)),
    ),
    _phrase(
        rf"\b(?:in|during|throughout|last|of|en|au mois de|mois de|courant|debut|fin|de) {_MONTH}{_YEAR}",
        _month,
    ),
    _phrase(rf"\b{_MONTH} (?P<year>(?:19|20)\d\d)\b", _month),
    _phrase(rf"(?:(?P<year>\d{{4}}|[去今前])\s*年\s*)?(?P<month>{_HAN})\s*月份?(?!\s*(?:{_HAN}))", _han_month),
    _phrase(r"(?P<year>(?:19|20)\d\d)\s*年", _whole_year),
    _phrase(r"\b(?:in|en|during) (?P<year>(?:19|20)\d\d)\b", _whole_year),
    _phrase(rf"(?<![\d月一二三四五六七八九十])(?P<day>{_HAN})[日号]", _han_day),
    _phrase(rf"(?:\b{_COUNT} {_UNIT} ago\b)", _ago),
    _phrase(rf"\bil y a {_COUNT} {_UNIT}\b", _ago),
    _phrase(rf"(?P<count>{_HAN})\s*{_UNIT}(?:之前|以前|前)", _ago),
    _phrase(rf"\b(?:the )?(?:last|past) {_COUNT} {_UNIT}\b", _past),
    _phrase(rf"\b(?:les |ces )?{_COUNT} (?:derniers|dernieres) {_UNIT}\b", _past),
    _phrase(rf"(?:最近|过去)\s*(?P<count>{_HAN})\s*{_UNIT}", _past),
    _phrase(r"\bday before yesterday\b|\bavant[- ]hier\b|(?<!大)前天", _back(2)),
    _phrase(r"大前天", _back(3)),
    _phrase(r"\byesterday(?:'s)?\b|\blast night\b|\bhier\b|昨天|昨日|昨晚", _back(1)),
    _phrase(
        r"\btoday(?:'s)?\b|\btonight\b|\bthis (?:morning|afternoon|evening)\b|\baujourd'hui\b"
        r"|\bce (?:matin|soir)\b|\bcet apres-midi\b|今天|今日|今早|今晚",
        _back(0),
    ),
    _phrase(
        r"\b(?:on |over )?(?:(?P<before>last)|this|the) weekend\b|\b(?:le |ce )week-?end(?P<past> dernier| passe)?\b"
        r"|(?:上个?|这个?)周末",
        _weekend,
    ),
    _phrase(
        rf"\b{_NOT_AHEAD}(?:on |this |le |ce |de )?(?:(?P<before>last|past) )?{_WEEKDAY}"
        r"(?P<past> (?:dernier|passe)\b)?(?! prochain| en huit)",
        _weekday,
    ),
    _phrase(r"(?P<week>[上这本])?个?(?:周|星期|礼拜)(?P<weekday>[一二三四五六日天])", _han_weekday),
    _phrase(
        r"\b(?:last|past|previous) week\b|\b(?:la )?semaine (?:derniere|passee|precedente)\b|上(?:个?星期|个?礼拜|周)",
        lambda _match, today: _week_of(today, 1),
    ),
    _phrase(
        r"\bthis week\b|\bcette semaine\b|[这本](?:个?星期|个?礼拜|周)",
        lambda _match, today: _week_of(today),
    ),
    _phrase(
        r"\b(?:last|past|previous) month\b|\b(?:le )?mois (?:dernier|passe|precedent)\b|上个?月",
        lambda _match, today: _month_of(today, 1),
    ),
    _phrase(r"\bthis month\b|\bce mois(?:-ci)?\b|这个?月|本月", lambda _match, today: _month_of(today)),
    _phrase(
        r"\blast year\b|\b(?:l'an|l'annee) (?:dernier|derniere|passe|passee)\b|去年",
        lambda _match, today: _year_of(today.year - 1),
    ),
    _phrase(r"\bthis year\b|\bcette annee\b|今年", lambda _match, today: _year_of(today.year)),
)
"""Most telling first: what an earlier phrase took is out of the text for the later ones."""
