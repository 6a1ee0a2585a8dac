"""Numbers, dates and times in a text, in whatever notation, as values that compare (spec 1-horizon §7).

French, English and Chinese: digits with either kind of separator, words, ordinals, Roman numbers, fractions, units
and multipliers, percentages, dates and times of day. Nothing here raises for any text.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from horizon.core import time_of_day
from horizon.core.amount import ABOUT, ROUNDLY, Amount
from horizon.core.calendar_notation import take, take_days, take_weekdays
from horizon.core.numeral import (
    ABOUT_ENDING,
    HAN_DECIMAL,
    HAN_NUMBER,
    ORDINAL,
    ROMAN,
    ROMAN_PLACE,
    SECOND,
    WORD_NUMBER,
    han_value,
    ordinal_value,
    roman_value,
    words_value,
)
from horizon.core.unit import MONEY_BEFORE, MULTIPLIERS, UNITS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from horizon.core.calendar_notation import Day
    from horizon.core.time_of_day import Time

DECADE: Final = "decade"
"""The dimension of "the nineties"; its number is that of the first year in its century."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """The quantities of a text, each with how it is written there.

    `hints` are amounts that its words may tell ("second", "an hour", "3/4", "IV"): they support what is said
    of the text, and claim nothing themselves.
    """

    days: tuple[tuple[str, Day], ...]
    weekdays: tuple[tuple[str, int], ...]
    times: tuple[tuple[str, Time], ...]
    amounts: tuple[tuple[str, Amount], ...]
    hints: tuple[Amount, ...]


_SPACE = "[ \u00a0\u2005\u2007\u2009\u202f’']"
"""Between the groups of a number, and before its unit."""
_DIGITS = re.compile(
    rf"(?<![\w.,])(?P<sign>[-−](?=\d)|(?:minus|moins)\s|零下\s?)?(?P<n>\d+(?:[.,]\d+)?[eE][+-]?\d{{1,2}}(?!\w)"
    rf"|\d{{1,3}}(?:{_SPACE}\d{{3}})+(?!\d)(?:[.,]\d+)?|\d{{1,3}}(?:[.,]\d{{3}})+(?!\d)(?:[.,]\d+)?|\d{{1,2}}(?:,\d\d)+,\d{{3}}(?!\d)|\d+(?:[.,]\d+)?)"
    r"(?P<tens>\s?[x×·*]\s?10)?(?P<power>\s?(?:\^|\*\*)\s?-?\d{1,2})?",
    re.IGNORECASE,
)
_WRITTEN_MOST: Final = 400
"""Longest number that is read: beyond, digits are data."""
_NAMES = "|".join(
    sorted((re.escape(name) for name in UNITS if name not in {"%", "pour cent", "per cent"}), key=len, reverse=True)
)
_UNIT = rf"%|％|pour cent\b|per cent\b|pourcents?\b|percent\b|(?:{_NAMES})(?![A-Za-zÀ-ÿ_])"
_AFTER = re.compile(
    rf"{_SPACE}?(?P<times>k(?=\b|[€$])|(?:de\s)?(?:mille|milliers?|millions?|milliards?|dizaines?|douzaines?|centaines?)\b|dozens?\b|thousand\b|billions?\b|bn\b|mn\b|(?-i:M)(?![\w])|M(?=[€$]|\s?(?:€|EUR|USD))|百万|[千万亿])?"
    rf"{_SPACE}?(?:de\s|d['’])?(?P<unit>{_UNIT})?",
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
    r"(?<!first )(?<!second )(?<!other )(?<!latter )(?<!and a )\bhalf\b(?!-|(?: an)? hour| past| a dozen)"
    r"|(?<!première )(?<!seconde )(?<!deuxième )(?<!autre )\bmoitié\b"
    r"|\b(?P<n>a|one|two|three|un|le|deux|les deux|trois|les trois) (?P<f>third|tiers|quarter|quart)s?"
    r"(?= (?:of|d[eu]s?)\b| d['’])(?! (?:of an?|de|d['’]) ?(?:heure|hour|litre|liter|kilo|an|year|century|siècle|tour)\b)"
    r"|(?<!\w)(?P<top>\d)/(?P<bottom>\d{1,2})(?![\d/])(?= (?:of|d[eu]s?)\b| d['’])"
    r"|(?P<hb>[二三四五六七八九十])分之(?P<ht>[一二三四五六七八九])|一半|半数",
    re.IGNORECASE,
)
"""Halves, and thirds and quarters of something; of a measure they are amounts of their own."""
_PART_OF_HOUR = re.compile(
    r"\bdemi[- ]heure\b|\bhalf (?:an )?hour\b|\bhalf[- ]hour\b|(?<!trois )\bquarts? d['’]heure\b|(?<!three )\bquarter of an hour\b",
    re.IGNORECASE,
)
_WORD = WORD_NUMBER.pattern.removeprefix(r"\b").removesuffix(r"\b")
_AND_HALF = re.compile(
    rf"\b(?P<n>(?:{_WORD})|\d+) and a half(?:\s(?P<u>{_UNIT}))?|\b(?P<n1>an?|(?:{_WORD})|\d+)\s(?P<u1>{_UNIT}) and a half\b"
    rf"|\b(?P<n2>(?:{_WORD})|\d+)\s?(?P<u2>{_UNIT}) et demie?\b"
    rf"|(?P<n3>\d+|[一两二三四五六七八九十]{{1,3}})\s?个?半(?P<u3>{_UNIT})|(?P<n4>\d+|[一两二三四五六七八九十]{{1,3}})\s?(?P<u4>年|天|小时|个小时|个月|分钟)半"
    r"|(?<![一-鿿点])半个?(?P<u5>小时|天|年|月)",
    re.IGNORECASE,
)
"""One and a half and the like, in each language, with what they measure."""
_DECADE = re.compile(
    r"\b(?:19|20)(?P<y>\d0)s\b|\b(?:the |early |mid-|late )['’]?(?P<y2>\d0)s\b|\bannées (?:19|20)?(?P<y3>\d0)\b|(?P<y4>[2-9]0|[二三四五六七八九]十)年代"
    r"|\bthe (?:early |late |mid-)?(?P<name>twenties|thirties|forties|fifties|sixties|seventies|eighties|nineties)\b",
    re.IGNORECASE,
)
_DECADE_SIGN = re.compile(r"0s\b|années|年代|the [a-z-]*\s?[a-z]+ties\b")
_FRACTION_SIGNS: Final = ("half", "moiti", "third", "tiers", "quart", "demi", "/", "分之", "一半", "半数")
_ORDINAL_SIGN = re.compile(r"(?:ième|[drfxnhet]th|ird|first|second)s?\b")
"""What stands in each kind, of a caseless text: quicker to look for."""
_DECADES: Final = {"twe": 20, "thi": 30, "for": 40, "fif": 50, "six": 60, "sev": 70, "eig": 80, "nin": 90}
_ARTICLE = re.compile(rf"\b(?:an?|une?|one)\s(?P<unit>{_UNIT})", re.IGNORECASE)
_RATIO = re.compile(r"(?<![\d/.])(\d{1,2})/(\d{1,2})(?![\d/])")
_HEDGE = re.compile(
    r"(?:\b(?:environ|autour de|près de|presque|à peu près|quelque|plus de|moins de|about|around|roughly|nearly|almost|approximately"
    r"|approx\.?|some|over|under|more than|less than|up to|circa|ca\.?)\s*(?:de\s|d['’])?|[~≈±<>]\s*|(?:大约|约|大概|近|将近|超过|不到)\s*)$",
    re.IGNORECASE,
)
_HEDGE_AFTER = re.compile(r"\s*(?:environ\b|or so\b|左右|多(?=\D))", re.IGNORECASE)
_HAN_SHARE = re.compile(r"百分之\s?([\d.]+|[一二两三四五六七八九十百点零]+)")
_VULGAR = re.compile(r"(\d*)([½¼¾])")
_HALF_OF = re.compile(r"\b(?:half a dozen|demi-douzaine|half a per ?cent)\b", re.IGNORECASE)
_RAISED = re.compile(r"(?<=10)⁻?[⁰¹²³⁴-⁹]{1,2}")


def quantities(text: str) -> Found:
    """Return the dates, weekdays, times and numbers in `text`, each taking its characters from the next."""
    text = _spelled(text)
    known = text.casefold()
    text, days = take_days(text, known)
    text, weekdays = take_weekdays(text, known)
    amounts: list[tuple[str, Amount]] = []
    times: list[tuple[str, Time]] = []
    if " and a half" in known or " et demi" in known or "半" in known:
        times += [(found[0].strip(), time) for found in time_of_day.SPOKEN.finditer(text) for time in _half_hour(found)]
        text = take(_AND_HALF, text, _and_half, amounts)
    if time_of_day.SPOKEN_SIGN.search(known):
        text = take(time_of_day.SPOKEN, text, time_of_day.spoken, times)
    if time_of_day.SIGN.search(known):
        amounts += [
            (found[0].strip(), length) for found in time_of_day.TIME.finditer(text) if (length := _duration(found))
        ]
        text = take(time_of_day.TIME, text, time_of_day.times_of, times)
    hints = list(_hints(text))
    if _DECADE_SIGN.search(known):
        amounts += [(found[0].strip(), decade) for found in _DECADE.finditer(text) if (decade := _decade(found))]
    if any(sign in known for sign in _FRACTION_SIGNS):
        text = take(_FRACTION, text, _fraction, amounts)
        text = take(_PART_OF_HOUR, text, _part_of_hour, amounts)
    text = take(ROMAN, text, _roman, amounts)
    if _ORDINAL_SIGN.search(known):
        text = take(ORDINAL, text, lambda found: [Amount(number=Fraction(ordinal_value(found["name"])))], amounts)
    amounts += _amounts(text)
    return Found(
        days=tuple(days), weekdays=tuple(weekdays), times=tuple(times), amounts=tuple(amounts), hints=tuple(hints)
    )


def _spelled(text: str) -> str:
    """Return `text` with its signs for fractions, powers and Chinese percentages as digits have them."""
    if "百分之" in text:
        text = _HAN_SHARE.sub(
            lambda found: f" {found[1]}%" if found[1][0].isdecimal() else f" {_decimal(han_value(found[1]))}%", text
        )
    if _VULGAR.search(text):
        text = _VULGAR.sub(lambda found: f"{int(found[1] or 0) + unicodedata.numeric(found[2])}", text)
    text = _HALF_OF.sub(lambda found: "six" if found[0][-1].casefold() in "en" else "0.5 percent", text)
    return _RAISED.sub(lambda found: "^" + unicodedata.normalize("NFKC", found[0]), text) if "10" in text else text


def _decimal(value: Fraction | None) -> str:
    return "1" if value is None else f"{float(value):g}"


def _half_hour(found: re.Match[str]) -> list[Time]:
    """Return the time that a length with a half of an hour also is: « deux heures et demie »."""
    return time_of_day.spoken(found) if (found["fr"] or "").casefold().startswith("et demi") else []


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
        slack=_slack(found.string, found.start(), found.end()),
    )


def _and_half(found: re.Match[str]) -> list[Amount]:
    groups = found.groupdict()
    written = next((groups[name] for name in ("n", "n1", "n2", "n3", "n4") if groups[name]), "")
    unit = next((groups[name] for name in ("u", "u1", "u2", "u3", "u4", "u5") if groups[name]), "")
    whole = Fraction(0) if not written else _whole(written)
    dimension, scale = UNITS.get("个月" if unit == "月" else unit.casefold(), ("", Fraction(1)))
    return [Amount(number=whole + Fraction(1, 2), scale=scale, step=Fraction(1, 2), dimension=dimension)]


def _whole(written: str) -> Fraction:
    if written.isdecimal() or "一" <= written[0] <= "鿿":
        return han_value(written) or Fraction(1)
    return Fraction(1) if written.casefold() in {"a", "an"} else words_value(written) or Fraction(1)


def _decade(found: re.Match[str]) -> Amount | None:
    name = found["name"]
    if name:
        return Amount(number=Fraction(_DECADES[name[:3].casefold()]), dimension=DECADE)
    value = han_value(found["y"] or found["y2"] or found["y3"] or found["y4"])
    return None if value is None else Amount(number=value, dimension=DECADE)


def _fraction(found: re.Match[str]) -> list[Amount]:
    value = Fraction(1, 2)
    if found["f"]:
        value = Fraction(_NUMERATORS[found["n"].casefold()], _PARTS[found["f"][:3].casefold()])
    elif found["bottom"]:
        if int(found["bottom"]) == 0:
            return []
        value = Fraction(int(found["top"]), int(found["bottom"]))
    elif found["hb"]:
        value = (han_value(found["ht"]) or Fraction(1)) / (han_value(found["hb"]) or Fraction(1))
    return [Amount(number=value, step=value / 10, dimension="share")]


def _part_of_hour(found: re.Match[str]) -> list[Amount]:
    part = Fraction(1, 4) if found[0][0] in "qQ" else Fraction(1, 2)
    return [Amount(number=part, scale=Fraction(3600), step=part, dimension="seconds")]


def _roman(found: re.Match[str]) -> list[Amount]:
    """Return a Roman number where its place shows that it is one: after what is counted so, or with an ordinal's ending."""
    letters = found["roman"]
    before = found.string[max(0, found.start() - 24) : found.start()]
    named = len(letters) > 1 and letters not in {"XL", "LI", "LV"} and re.search(r"\b[A-ZÀ-Þ][a-zà-ÿ]+\s$", before)
    if not letters or not (found["rank"] or ROMAN_PLACE.search(before) or named):
        return []
    return [Amount(number=Fraction(roman_value(letters)))]


def _hints(text: str) -> Iterator[Amount]:
    for found in ROMAN.finditer(text):
        if found["roman"]:
            yield Amount(number=Fraction(roman_value(found["roman"])))
    if SECOND.search(text):
        yield Amount(number=Fraction(2))
    for found in _ARTICLE.finditer(text):
        dimension, scale = UNITS[found["unit"].casefold()]
        yield Amount(number=Fraction(1), scale=scale, dimension=dimension)
    for found in _RATIO.finditer(text):
        if int(found[2]):
            yield Amount(number=Fraction(int(found[1]), int(found[2])), dimension="share")
    for found in HAN_DECIMAL.finditer(text):
        if (value := han_value(found[0])) is not None:
            yield Amount(number=value, step=Fraction(1, 10))


def _slack(text: str, start: int, end: int) -> Fraction:
    hedged = _HEDGE.search(text[max(0, start - 24) : start]) or _HEDGE_AFTER.match(text, end)
    return ABOUT if hedged else Fraction(0)


def _amounts(text: str) -> Iterator[tuple[str, Amount]]:
    starts: list[int] = []
    ends: list[int] = []
    for found in _DIGITS.finditer(text):
        written = found["n"]
        if len(written) > _WRITTEN_MOST:
            continue
        for value, step in _readings(written, found["power"], found["tens"]):
            at = found.start("n")
            read = Amount(
                number=value, step=step, slack=_slack(text, at, found.end()), negative=found["sign"] is not None
            )
            end, amount = _with_unit(text, found.end(), read)
            starts.append(at)
            ends.append(end)
            if not amount.dimension or text[found.end() : end] == "m":
                amount = _as_money(amount, _money_before(text, at))
            if text[end - 1] == "M" and amount.number != value:  # of bytes as well as of anything
                yield text[at:end].strip(), read
            yield text[at:end].strip(), amount
    for pattern, read_words in ((WORD_NUMBER, words_value), (HAN_NUMBER, han_value)):
        for found in pattern.finditer(text):
            number = read_words(found[0])
            before = bisect_right(starts, found.start())
            if number is None or (before and found.start() < ends[before - 1]):
                continue
            slack = ROUNDLY if ABOUT_ENDING.search(found[0]) else _slack(text, found.start(), found.end())
            negative = text[: found.start()].endswith("零下")
            read = Amount(number=number, step=_last_digit(number), slack=slack, negative=negative)
            end, amount = _with_unit(text, found.end(), read)
            yield text[found.start() : end].strip(), amount


def _as_money(amount: Amount, currency: str) -> Amount:
    """Return `amount` as of money, "€2.5m" in millions; unchanged where `currency` is ""."""
    if not currency:
        return amount
    times = 10**6 if amount.dimension == "metres" else 1
    return replace(amount, number=amount.number * times, step=amount.step * times, dimension=currency)


def _money_before(text: str, at: int) -> str:
    sign = re.search(r"(?:[€$£¥]|\b(?:EUR|USD|GBP|CHF|CNY|RMB))\s?$", text[max(0, at - 4) : at])
    return MONEY_BEFORE[sign[0].strip().casefold()] if sign else ""


def _readings(written: str, power: str | None, tens: str | None = None) -> list[tuple[Fraction, Fraction]]:
    """Return the values that digits may have: "1.234" is a thousand in French, and one and a bit in English."""
    bare = re.sub(_SPACE, "", written)
    mantissa, mark, exponent = bare.casefold().partition("e")
    if mark:
        return [
            (value * Fraction(10) ** int(exponent), step * Fraction(10) ** int(exponent))
            for value, step in _readings(mantissa, None)
        ]
    if tens:
        raised = Fraction(10) ** int(re.sub(r"[\s^*]", "", power or "1"))
        return [(value * raised, step * raised) for value, step in _readings(bare, None)]
    if power and len(bare) <= 3 and bare.isdecimal() and int(bare):
        value = Fraction(int(bare)) ** int(re.sub(r"[\s^*]", "", power))
        return [(value, Fraction(1))]
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


def _with_unit(text: str, at: int, read: Amount) -> tuple[int, Amount]:
    found = _AFTER.match(text, at)
    if found is None or not found[0].strip():
        return at, read
    times = MULTIPLIERS.get((found["times"] or "").casefold().removeprefix("de "), 1)
    unit = (found["unit"] or "").casefold().replace("％", "%")
    dimension, scale = UNITS.get(unit, ("", Fraction(1))) if found["unit"] != "G" else ("", Fraction(1))  # bytes too
    return found.end(), replace(
        read, number=read.number * times, scale=scale, step=read.step * times, dimension=dimension
    )


def _last_digit(value: Fraction) -> Fraction:
    """Return the place of the last digit that is not zero, for a number told in words: "twelve thousand" is told in thousands."""
    step = 1
    whole = int(value)
    while whole and whole % (step * 10) == 0 and step < 10**12:
        step *= 10
    return Fraction(step)
