"""Numbers, dates and times in a text, in whatever notation, as values that compare (spec 1-horizon §7).

French, English and Chinese: digits with either kind of separator, words, units and multipliers, percentages,
dates and times of day. Nothing here raises for any text.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, replace
from datetime import date
from fractions import Fraction
from typing import TYPE_CHECKING, Final, TypeVar

from horizon.core.numeral import HAN_NUMBER, WORD_NUMBER, han_value, words_value

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


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


_BINARY: Final = Fraction(1024, 1000)
"""What lies between counting bytes by 1 000 and by 1 024, for each prefix."""
_PREFIXES: Final = {Fraction(1): 0, Fraction(10**3): 1, Fraction(10**6): 2, Fraction(10**9): 3, Fraction(10**12): 4}


@dataclass(frozen=True, slots=True, kw_only=True)
class Amount:
    """A number with its unit's dimension ("" without one), its size in that dimension's base, and how finely it is told.

    `number` is what is written before the unit, multipliers ("3 millions") included. `step` is the value of
    the last digit told, `hedged` whether the writer called it approximate.
    """

    number: Fraction
    scale: Fraction = Fraction(1)
    step: Fraction = Fraction(1)
    dimension: str = ""
    hedged: bool = False

    @property
    def size(self) -> Fraction:
        """The value in the base unit of the dimension."""
        return self.number * self.scale

    def told_by(self, other: Amount) -> bool:
        """Tell whether the source's `other` is this amount, or rounds to it as finely as it is told here."""
        apart = self.dimension != other.dimension
        same = not apart and self.scale == other.scale
        if self.number == other.number and (same or not (self.dimension and other.dimension)):
            return True
        if apart and not (
            {self.dimension, other.dimension} - {""} <= _LOOSE and "" in {self.dimension, other.dimension}
        ):
            return False
        sizes = [other.size]
        if self.dimension == other.dimension == "bytes":
            mine, theirs = _PREFIXES[self.scale], _PREFIXES[other.scale]
            sizes += [other.size * _BINARY**power for power in (-mine, theirs, theirs - mine)]
        return any(self._rounds(size, other.step * other.scale) for size in sizes)

    def _rounds(self, size: Fraction, step: Fraction) -> bool:
        gap = abs(self.size - size)
        if gap == 0:
            return True
        if self.hedged:
            return gap * 20 <= abs(size)  # "about" is within a twentieth
        mine = self.step * self.scale
        return mine > step and gap * 2 <= mine and (bool(self.dimension) or abs(self.number) >= 10 * self.step)


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """The quantities of a text, each with how it is written there."""

    days: tuple[tuple[str, Day], ...]
    weekdays: tuple[tuple[str, int], ...]
    times: tuple[tuple[str, tuple[int, int]], ...]
    amounts: tuple[tuple[str, Amount], ...]


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
_SHORT_DAYS: Final = frozenset({"mon", "tue", "wed", "thu", "fri"})

_ISO = re.compile(r"(?<![\d.])(?P<y>\d{4})[-/.](?P<m>\d{1,2})[-/.](?P<d>\d{1,2})(?:(?=[T ]\d)T?|(?!\d|\.\d))")
_YEAR_MONTH = re.compile(r"(?<![\d./-])(?P<y>(?:19|20)\d\d)[-/](?P<m>0[1-9]|1[0-2])(?![\d/-])")
_SLASHED = re.compile(r"(?<![\d/.-])(?P<a>\d{1,2})(?P<sep>[/.-])(?P<b>\d{1,2})(?P=sep)(?P<y>\d{4}|\d{2})(?![\d/])")
_DAY_MONTH_SLASHED = re.compile(r"(?<![\d/.])(?P<a>\d{1,2})/(?P<b>\d{1,2})(?![\d/])")
_DAY_FIRST = re.compile(
    rf"(?<!\d)(?:(?P<d0>\d{{1,2}})\s*(?:-|–|au|to|et|and|&)\s*)?(?P<d>\d{{1,2}})(?:er|st|nd|rd|th)?(?:\s+(?:of|de))?\s+(?P<m>{_ORDERED})\b\.?"
    r"(?:,?\s+(?P<y>\d{4})(?!\d))?",
    re.IGNORECASE,
)
_MONTH_FIRST = re.compile(
    rf"\b(?P<m>{_ORDERED})\b\.?\s+(?:the\s+)?(?P<d>\d{{1,2}})(?:st|nd|rd|th)?(?![\d:.%])(?:\s*[-–]\s*(?P<d0>\d{{1,2}})(?!\d))?"
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
    r"(?:(?P<y>\d{4})\s*年\s*)?(?:(?P<m>\d{1,2}|[一二三四五六七八九十]{1,2})\s*月)(?:\s*(?P<d>\d{1,2}|[一二三四五六七八九十]{1,3})\s*[日号號])?|(?P<yy>\d{4})\s*年"
)
_WEEKDAY = re.compile(
    r"\b(?:lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche|monday|tuesday|wednesday|thursday|friday|saturday|sunday)\b|\b(?:Mon|Tue|Wed|Thu|Fri)\b(?=,? )|(?:周|星期|礼拜)[一二三四五六日天]",
    re.IGNORECASE,
)
_TIME = re.compile(
    r"(?<![\d:.,])(?P<h>[01]?\d|2[0-4])(?::(?P<mn>[0-5]\d)(?::[0-5]\d(?:[.,]\d+)?)?|\s?(?:h|heures?)\s?(?P<mf>[0-5]\d)?(?![\w]))(?:\s*(?P<ap>[ap])\.?\s?m\b\.?)?(?:Z|[+-]\d\d:?\d\d)?(?![\d:])"
    r"|(?<![\d:.,])(?P<h2>1[0-2]|0?[1-9])\s*(?P<ap2>[ap])\.?\s?m\b\.?"
    r"|(?P<part>凌晨|早上|上午|中午|下午|晚上)?\s?(?:(?P<h3>\d{1,2})\s*[点點时時]|(?P<hh>[一二两三四五六七八九十]{1,3})[点點](?P<clock>钟|整)?)(?:\s*(?P<mh>\d{1,2})\s*分?|(?P<half>半))?"
    r"|\b(?P<noon>midi|noon)\b|\b(?P<night>minuit|midnight)\b",
    re.IGNORECASE,
)  # fmt: skip

_SPACE = r"[   \u2005’']"
_DIGITS = re.compile(
    rf"(?<![\w.,])(?P<sign>[-−](?=\d))?(?P<n>\d{{1,3}}(?:{_SPACE}\d{{3}})+(?:[.,]\d+)?|\d{{1,3}}(?:[.,]\d{{3}})+(?:[.,]\d+)?|\d+(?:[.,]\d+)?)"
)
_WRITTEN_MOST: Final = 400
"""Longest number that is read: beyond, digits are data."""
_UNIT_VALUES: Final[dict[str, tuple[str, Fraction]]] = {}


def _units(dimension: str, **values: Fraction | int) -> None:
    for names, value in values.items():
        for name in names.split("__"):
            _UNIT_VALUES[name.replace("_", " ")] = (dimension, Fraction(value))


_units("bytes", o__octet__octets__b__byte__bytes__字节=1, ko__kb__kio__kib=1000, mo__mb__mio__mib=10**6, go__gb__gio__gib=10**9, to__tb__tio__tib=10**12)  # fmt: skip
_units("seconds", ms__millisecondes__millisecondes__milliseconds__millisecond__毫秒=Fraction(1, 1000), s__sec__secs__seconde__secondes__second__seconds__秒=1,
       min__mins__minute__minutes__mn__分钟=60, h__heure__heures__hour__hours__hr__hrs__小时__个小时=3600, j__jour__jours__day__days__天=86400,
       semaine__semaines__week__weeks__周__个星期=604800, mois__month__months__个月=2629800, an__ans__année__années__year__years__年=31557600)  # fmt: skip
_units("metres", mm__millimètres=Fraction(1, 1000), cm__centimètres=Fraction(1, 100), m__mètre__mètres__metre__metres__meter__meters__米=1, km__kilomètres__kilometers__kilometres__公里=1000)  # fmt: skip
_units("grams", mg=Fraction(1, 1000), g__gramme__grammes__grams=1, kg__kilo__kilos__kilogrammes__公斤=1000)
_units("share", **{"%": Fraction(1, 100), "pour_cent__pourcent__percent__per_cent__pourcents": Fraction(1, 100)})
_units("litres", ml__millilitre__millilitres__毫升=Fraction(1, 1000), cl__centilitre__centilitres=Fraction(1, 100), dl=Fraction(1, 10), l__litre__litres__liter__liters__升=1)  # fmt: skip
_units("euros", **{"€__eur__euro__euros__欧元": 1})
_units("dollars", **{"$__usd__dollar__dollars__美元": 1})
_units("pounds", **{"£__gbp": 1})
_units("yuan", **{"¥__元__块__块钱__cny__rmb__yuan__人民币": 1})
_MONEY_BEFORE: Final = {"€": "euros", "$": "dollars", "£": "pounds", "¥": "yuan"}
_LOOSE: Final = frozenset({"share", *_MONEY_BEFORE.values()})
"""Dimensions that a number may have without their sign beside it."""
_MULTIPLIERS: Final = {
    "k": 10**3, "mille": 10**3, "thousand": 10**3, "millier": 10**3, "milliers": 10**3, "千": 10**3, "万": 10**4, "m": 10**6, "million": 10**6,
    "millions": 10**6, "mn": 10**6, "亿": 10**8, "milliard": 10**9, "milliards": 10**9, "billion": 10**9, "billions": 10**9, "bn": 10**9, "百万": 10**6,
}  # fmt: skip
_AFTER = re.compile(
    rf"{_SPACE}?(?P<times>k(?=\b|[€$])|(?:de\s)?(?:mille|milliers?|millions?|milliards?)\b|thousand\b|billions?\b|bn\b|mn\b|(?-i:M)(?![\w])|M(?=[€$]|\s?(?:€|EUR|USD))|百万|[千万亿])?"
    rf"{_SPACE}?(?:de\s|d['’])?(?P<unit>%|％|pour cent\b|per cent\b|pourcents?\b|percent\b|(?:{'|'.join(sorted((re.escape(name) for name in _UNIT_VALUES if name not in {'%', 'pour cent', 'per cent'}), key=len, reverse=True))})(?![A-Za-zÀ-ÿ_]))?",
    re.IGNORECASE,
)
_PARTS: Final = {"thi": 3, "tie": 3, "qua": 4}
_NUMERATORS: Final = {
    "a": 1,
    "one": 1,
    "un": 1,
    "une": 1,
    "la": 1,
    "le": 1,
    "two": 2,
    "deux": 2,
    "les deux": 2,
    "three": 3,
    "trois": 3,
    "les trois": 3,
}
_FRACTION = re.compile(
    r"(?<!first )(?<!second )(?<!other )(?<!latter )(?<!and a )\bhalf\b(?!-|(?: an)? hour)"
    r"|(?<!première )(?<!seconde )(?<!deuxième )(?<!autre )\bmoitié\b"
    r"|\b(?P<n>a|one|two|three|un|deux|les deux|trois|les trois) (?P<f>third|tiers|quarter|quart)s?"
    r"(?= (?:of|d[eu]s?)\b| d['’])(?! (?:of an?|de|d['’]) ?(?:heure|hour|litre|liter|kilo|an|year|century|siècle|tour)\b)",
    re.IGNORECASE,
)
"""Halves, and thirds and quarters of something; of a measure they are amounts of their own."""
_PART_OF_HOUR = re.compile(
    r"\bdemi[- ]heure\b|\bhalf (?:an )?hour\b|\bhalf[- ]hour\b|(?<!trois )\bquarts? d['’]heure\b|(?<!three )\bquarter of an hour\b",
    re.IGNORECASE,
)
_HEDGE = re.compile(
    r"(?:\b(?:environ|autour de|près de|presque|à peu près|quelque|plus de|moins de|about|around|roughly|nearly|almost|approximately"
    r"|approx\.?|some|over|under|more than|less than|up to|circa|ca\.?)\s*(?:de\s|d['’])?|[~≈±<>]\s*|(?:大约|约|大概|近|将近|超过|不到)\s*)$",
    re.IGNORECASE,
)
_HEDGE_AFTER = re.compile(r"\s*(?:environ\b|or so\b|左右|多(?=\D))", re.IGNORECASE)


_HAN_SHARE = re.compile(r"百分之\s?([\d.]+|[一二两三四五六七八九十百]+)")


def quantities(text: str) -> Found:
    """Return the dates, weekdays, times and numbers in `text`, each taking its characters from the next."""
    days: list[tuple[str, Day]] = []
    times: list[tuple[str, tuple[int, int]]] = []
    weekdays: list[tuple[str, int]] = []
    durations: list[tuple[str, Amount]] = []
    if "百分之" in text:
        text = _HAN_SHARE.sub(lambda found: f" {found[1]}%", text)
    known = text.casefold()
    for sign, readers in _DAY_READERS:
        if sign.search(known):
            for pattern, read in readers:
                text = _take(pattern, text, read, days)
    if _WEEKDAY_SIGN.search(known):
        weekdays = [(found[0], _WEEKDAYS[found[0].casefold()]) for found in _WEEKDAY.finditer(text)]
        text = _WEEKDAY.sub(lambda found: "\n" * len(found[0]), text)
    if _TIME_SIGN.search(known):
        durations = [(found[0].strip(), amount) for found in _TIME.finditer(text) if (amount := _duration(found))]
        text = _take(_TIME, text, _times_of, times)
    amounts = durations + list(_fractions(text)) + list(_amounts(text))
    return Found(days=tuple(days), weekdays=tuple(weekdays), times=tuple(times), amounts=tuple(amounts))


def _take(
    pattern: re.Pattern[str], text: str, read: Callable[[re.Match[str]], list[_Value]], into: list[tuple[str, _Value]]
) -> str:
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
        return [Day(year=int(found["yy"]))]
    month = han_value(found["m"])
    day = han_value(found["d"]) if found["d"] else None
    return _made(int(found["y"]) if found["y"] else None, int(month or 0), None if day is None else int(day))


_DATE_SIGN = re.compile(r"\d[-/.]\d")
_MONTH_SIGN = re.compile(rf"(?:{_ORDERED})\b")
_WEEKDAY_SIGN = re.compile("|".join(sorted(_WEEKDAYS, key=len, reverse=True)))
_TIME_SIGN = re.compile(r"\d(?::|\s?h|\s*[ap]\.?\s?m|\s*[点點时時])|[点點]|midi|noon|minuit|midnight")
_DAY_READERS: Final = (
    (_DATE_SIGN, ((_ISO, _iso), (_SLASHED, _slashed), (_YEAR_MONTH, _year_month))),
    (_MONTH_SIGN, ((_DAY_FIRST, _named), (_MONTH_YEAR, _named), (_MONTH_FIRST, _named))),
    (re.compile("[年月]"), ((_HAN_DATE, _han_date),)),
    (_MONTH_SIGN, ((_MAY_ALONE, _named), (_MONTH_ALONE, _named))),
    (_DATE_SIGN, ((_DAY_MONTH_SLASHED, _day_month_slashed),)),
)
"""In which order dates are read; each kind only where the folded text has what each of its forms holds, which is much
quicker to find."""


def _times_of(found: re.Match[str]) -> list[tuple[int, int]]:
    if found["noon"]:
        return [(12, 0)]
    if found["night"]:
        return [(0, 0)]
    if found["hh"]:
        if not (found["part"] or found["clock"] or found["half"] or found["mh"]):
            return []  # "three points", "a bit"
        hour = int(han_value(found["hh"]) or 1)
    else:
        hour = int(found["h"] or found["h2"] or found["h3"])
    minute = 30 if found["half"] else int(found["mn"] or found["mf"] or found["mh"] or 0)
    half = (found["ap"] or found["ap2"] or "").casefold()
    if half and hour <= 12:
        hour = hour % 12 + (12 if half == "p" else 0)
    elif found["part"] in {"下午", "晚上"} and hour < 12:
        hour += 12
    return [(hour % 24, minute)] if minute < 60 and hour <= 24 else []


def _duration(found: re.Match[str]) -> Amount | None:
    """Return "2 h" and "2h58" as the length of time that they may also be."""
    if not found["h"] or found["mn"] or found["ap"]:
        return None
    minutes = found["mf"]
    number = Fraction(int(found["h"])) + Fraction(int(minutes or 0), 60)
    return Amount(
        number=number,
        scale=Fraction(3600),
        step=Fraction(1, 60) if minutes else Fraction(1),
        dimension="seconds",
        hedged=_is_hedged(found.string, found.start(), found.end()),
    )


def _is_hedged(text: str, start: int, end: int) -> bool:
    return bool(_HEDGE.search(text[max(0, start - 24) : start]) or _HEDGE_AFTER.match(text, end))


def _amounts(text: str) -> Iterator[tuple[str, Amount]]:
    starts: list[int] = []
    ends: list[int] = []
    for found in _DIGITS.finditer(text):
        written = found["n"]
        if len(written) > _WRITTEN_MOST:
            continue
        for value, step in _readings(written):
            hedged = _is_hedged(text, found.start(), found.end())
            end, amount = _with_unit(text, found.end(), value, step, hedged=hedged)
            starts.append(found.start())
            ends.append(end)
            if not amount.dimension and (money := _MONEY_BEFORE.get(text[found.start() - 1 : found.start()])):
                amount = replace(amount, dimension=money)
            if text[end - 1] == "M" and amount.number != value:  # of bytes as well as of anything
                yield text[found.start() : end].strip(), replace(amount, number=value, step=step)
            yield text[found.start() : end].strip(), amount
    for pattern, read in ((WORD_NUMBER, words_value), (HAN_NUMBER, han_value)):
        for found in pattern.finditer(text):
            value = read(found[0])
            before = bisect_right(starts, found.start())
            if value is None or (before and found.start() < ends[before - 1]):
                continue
            hedged = _is_hedged(text, found.start(), found.end())
            end, amount = _with_unit(text, found.end(), value, _last_digit(value), hedged=hedged)
            yield text[found.start() : end].strip(), amount


def _fractions(text: str) -> Iterator[tuple[str, Amount]]:
    for found in _FRACTION.finditer(text):
        value = Fraction(1, 2)
        if found["f"]:
            value = Fraction(_NUMERATORS[found["n"].casefold()], _PARTS[found["f"][:3].casefold()])
        yield found[0].strip(), Amount(number=value, step=value, dimension="share")
    for found in _PART_OF_HOUR.finditer(text):
        part = Fraction(1, 4) if found[0][0] in "qQ" else Fraction(1, 2)
        yield found[0], Amount(number=part, scale=Fraction(3600), step=part, dimension="seconds")


def _readings(written: str) -> list[tuple[Fraction, Fraction]]:
    """Return the values that digits may have: "1.234" is a thousand in French, and one and a bit in English."""
    bare = re.sub(_SPACE, "", written)
    marks = re.findall(r"[.,]", bare)
    if not marks:
        return [(Fraction(int(bare)), Fraction(1))]
    decimals = len(bare) - max(bare.rfind("."), bare.rfind(",")) - 1
    grouped = Fraction(int(re.sub(r"[.,]", "", bare)))
    decimal = (grouped / 10**decimals, Fraction(1, 10**decimals))
    if len(marks) > 1 and len(set(marks)) == 1:
        return [(grouped, Fraction(1))]
    if len(marks) > 1 or decimals != 3 or bare.startswith("0"):
        return [decimal]
    return [(grouped, Fraction(1)), decimal]


def _with_unit(text: str, at: int, number: Fraction, step: Fraction, *, hedged: bool) -> tuple[int, Amount]:
    found = _AFTER.match(text, at)
    if found is None or not found[0].strip():
        return at, Amount(number=number, step=step, hedged=hedged)
    times = _MULTIPLIERS.get((found["times"] or "").casefold().removeprefix("de "), 1)
    unit = (found["unit"] or "").casefold().replace("％", "%")
    dimension, scale = (
        _UNIT_VALUES.get(unit, ("", Fraction(1))) if found["unit"] != "G" else ("", Fraction(1))
    )  # bytes too
    return found.end(), Amount(
        number=number * times, scale=scale, step=step * times, dimension=dimension, hedged=hedged
    )


def _last_digit(value: Fraction) -> Fraction:
    """Return the place of the last digit that is not zero, for a number told in words: "twelve thousand" is told in thousands."""
    step = 1
    whole = int(value)
    while whole and whole % (step * 10) == 0 and step < 10**12:
        step *= 10
    return Fraction(step)
