"""Which dates, times and numbers the sources of a summary support, also by count and by reckoning (spec 1-horizon §7).

Supported is what is told in whatever notation, and what anyone can check on the text: how many things it lists, how
long it is from one time or date to the next. Sums, averages and shares are not: small models reckon badly.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from horizon.core.claims import Kind, folded, literals
from horizon.core.prompt import clean
from horizon.core.quantity import DECADE, quantities

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from fractions import Fraction

    from horizon.core.amount import Amount
    from horizon.core.calendar_notation import Day
    from horizon.core.quantity import Found
    from horizon.core.time_of_day import Time

NUMBER_LONG: Final = 8
"""Digits from which a number is a name (a telephone, an account) that may be written with spaces or without."""
LIST_MOST: Final = 40
"""Most items of a list that are counted."""
_BULLET = re.compile(r"^[ \t]*(?:[-*•–]|\d+[.)])[ \t]+\S", re.MULTILINE)
_ITEM: Final = r"[^\s,;:!?、，；。]+(?: [^\s,;:!?、，；。]+){0,3}"
_LIST = re.compile(
    rf"{_ITEM}(?:, ?{_ITEM}){{1,{LIST_MOST}}},? (?:and|or|et|ou|puis|then) [^\s,;]|[^\s、，。；：]{{1,30}}(?:、[^\s、，。；：]{{1,30}}){{1,{LIST_MOST}}}",
)
_PAIRED = re.compile(r"\S (?:and|et|&) \S|\S[和与]\S")
_NONE = re.compile(r"\b(?:aucune?|no|none|without|sans|zero|rien|nothing|pas d)\b|没有|无|零")
_BOTH: Final = r"\b(?:les|the|ces|these|ses|leurs|nos|vos|their|our|tous|toutes)\s+{}\b"
"""Before a two: of two things that were spoken of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Support:
    """What sources tell, read once in each way that the quantities of a summary are compared."""

    text: str
    """The sources, folded."""
    days: tuple[Day, ...]
    weekdays: frozenset[int]
    times: tuple[Time, ...]
    amounts: tuple[Amount, ...]
    literal: str
    written: str
    """The sources as they are, for counting what they list; few summaries ask for that."""
    kinds: frozenset[int]
    """How many paths, addresses, identifiers there are of each kind, and lines of each list."""
    lengths: frozenset[Fraction | int]
    """Seconds from one time or date to the next."""

    def fault(self, found: Found, text: str) -> str | None:
        """Return what of a summary's quantities is not supported, None where all are; `text` is what they were read from."""
        return self._wrong_day(found) or self._wrong_amount(found, text)

    def _wrong_day(self, found: Found) -> str | None:
        refused: dict[str, bool] = {}
        for written, day in found.days:  # an ambiguous date has several readings: one that fits will do
            told = any(day.fits(other) or _fits_without_year(day, other) for other in self.days)
            refused[written] = refused.get(written, True) and not told
        for written, wrong in refused.items():
            if wrong and not (written.isdecimal() and written in self.text):
                return f"the date {written} is not in the text"
        for written, weekday in found.weekdays:
            if weekday not in self.weekdays:
                return f"{written} is not in the text"
        return None

    def _wrong_amount(self, found: Found, text: str) -> str | None:
        refused: dict[str, bool] = {}
        for written, amount in found.amounts:
            refused[written] = refused.get(written, True) and not self._knows(written, amount, text)
        for written, time in found.times:
            refused[written] = refused.get(written, True) and not time.is_told_by(self.times)
        wrong = next((written for written, is_wrong in refused.items() if is_wrong), None)
        return None if wrong is None else f"the number {wrong} is not in the text"

    def _knows(self, written: str, amount: Amount, text: str) -> bool:
        if amount.number == 1 and amount.step == 1 and not amount.dimension:
            return True
        if any(amount.told_by(other) for other in self.amounts):
            return True
        if amount.dimension == DECADE:
            years = [*(day.year for day in self.days), *(int(other.number) for other in self.amounts)]
            return any(
                year is not None and 1000 <= year < 2100 and year % 100 // 10 * 10 == amount.number for year in years
            )
        if amount.dimension == "seconds" and amount.size in self.lengths:
            return True
        if amount.number.denominator == 1 and not amount.dimension and self._counts(int(amount.number), written, text):
            return True
        return self._literally(written, text)

    def _counts(self, number: int, written: str, text: str) -> bool:
        """Tell whether `number` counts what the sources list, or names a day or year of theirs."""
        if any(day.year == number for day in self.days) or number in self.kinds or number in _listed(self.written):
            return True
        if number == 0:
            return _NONE.search(self.text) is not None
        told = re.escape(written)
        named = re.search(rf"\b(?:le|the|du|on|au)\s+{told}|{told}\s*[日号]", text, re.IGNORECASE)
        if named and any(day.day == number for day in self.days):
            return True
        if number == 2 and re.search(_BOTH.format(told), text, re.IGNORECASE):
            return True
        if not any(char.isdigit() for char in written):  # an ordinal: "the third quarter" of "Q3"
            return re.search(rf"(?<!\w)[qthso]{number}(?!\d)", self.text) is not None
        return False

    def _literally(self, written: str, text: str) -> bool:
        """Tell whether the digits stand in the sources' names of things: in a path, behind an option, in a version."""
        if written.isdecimal() and len(written) >= NUMBER_LONG and written in squeezed(self.text):
            return True  # a telephone number, without its spaces
        digits = re.match(r"[\d.,]+(?![\d\s’']*\d)", written)
        if digits is None:
            return False
        if re.search(rf"(?<![\d.,]){re.escape(digits[0])}(?!\d)", self.literal):
            return True
        before = re.search(rf"([^\W\d_]+)[ -]?{re.escape(digits[0])}(?![\d.,]*\d)", text)
        return (
            before is not None
            and re.search(rf"(?<!\w){re.escape(folded(before[1]))}[ -]?v?{re.escape(digits[0])}\.", self.text)
            is not None
        )


def support(sources: Sequence[str], known: str) -> Support:
    """Return what `sources` support; `known` is the whole of them, folded."""
    things, rest = literals("\n".join(clean(source) for source in sources))
    found = quantities(rest)
    days = tuple(dict.fromkeys(day for _, day in found.days))
    kinds = {len(_BULLET.findall(source)) for source in sources}
    by_kind: dict[Kind, set[str]] = {}
    for thing in things:
        kind = Kind.PATH if thing.kind is Kind.FILE else thing.kind
        by_kind.setdefault(kind, set()).add(folded(thing.text))
    kinds |= {len(names) for names in by_kind.values()}
    return Support(
        text=known,
        days=days,
        weekdays=frozenset(
            {day for _, day in found.weekdays} | {at for day in days if (at := day.weekday()) is not None}
        ),
        times=tuple(dict.fromkeys(time for _, time in found.times)),
        amounts=tuple(dict.fromkeys([*(amount for _, amount in found.amounts), *found.hints])),
        literal=" ".join(thing.text for thing in things),
        written="\n".join(sources),
        kinds=frozenset(kinds - {0, 1}),
        lengths=frozenset({*_between_times(found.times), *_between_days(days)}),
    )


def squeezed(text: str) -> str:
    """Return `text` without spaces and signs."""
    return re.sub(r"[\W_]+", "", text)


def _fits_without_year(day: Day, other: Day) -> bool:
    """Tell whether the source gives the day and month only, and they are the same."""
    return other.year is None and day.day is not None and day.month == other.month and day.day == other.day


@lru_cache(maxsize=8)  # one text is checked number by number against the same sources
def _listed(text: str) -> frozenset[int]:
    """Return how many items the lists within sentences may have; the words before a list may be none of them."""
    found: set[int] = set()
    for each in _LIST.finditer(text):
        items = (
            each[0].count(",")
            + each[0].count("、")
            + (1 if "、" in each[0] else 1 + (", and" not in each[0] and ", or" not in each[0]))
        )
        found |= {items, items - 1}
    if _PAIRED.search(text):
        found.add(2)
    return frozenset(count for count in found if count > 1)


def _between_times(times: Iterable[tuple[str, Time]]) -> set[int]:
    at = [time.hour * 60 + time.minute for _, time in times]
    return {(after - before) % 1440 * 60 for before, after in pairwise(at)}


def _between_days(days: Iterable[Day]) -> set[int]:
    """Return the lengths from each date to the next, and with both ends counted."""
    at = [found for day in days if (found := _date(day)) is not None]
    gaps = [abs((after - before).days) for before, after in pairwise(at)]
    return {gap * 86_400 for gap in gaps} | {(gap + 1) * 86_400 for gap in gaps}


def _date(day: Day) -> date | None:
    if day.month is None or day.day is None:
        return None
    try:
        return date(day.year or 2000, day.month, day.day)  # 2000: a leap year, so that each day is one
    except ValueError:
        return None
