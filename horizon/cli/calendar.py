"""The calendar of nights: one mark per day, a month at a time."""

from __future__ import annotations

import calendar
from typing import TYPE_CHECKING

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from horizon.core.day import EXCERPT, MARKS, DayState

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import date

_STYLES = {
    DayState.DONE: "green",
    DayState.DEGRADED: "yellow",
    EXCERPT: "yellow",
    DayState.OWED: "bold red",
    DayState.STALE: "yellow",
    DayState.SOURCE_MISSING: "bold red",
    DayState.EMPTY: "dim",
    DayState.NEVER: "cyan",
}


def month_of(year: int, month: int, states: Mapping[date, str]) -> Table:
    """Return one month, Monday first; a day that `states` does not know has no mark."""
    made = Table(title=f"{calendar.month_name[month]} {year}", box=SIMPLE_HEAD, pad_edge=False, title_justify="left")
    for name in calendar.day_abbr:
        made.add_column(name, justify="right")
    for week in calendar.Calendar().monthdatescalendar(year, month):
        made.add_row(*(_cell(day, states) if day.month == month else Text() for day in week))
    return made


def months(states: Mapping[date, str]) -> list[Table]:
    """Return the months that `states` touches, oldest first."""
    return [month_of(year, month, states) for year, month in sorted({(day.year, day.month) for day in states})]


def legend() -> Text:
    """Return what each mark means, on one line."""
    return Text("  ").join(Text.assemble((mark, _STYLES[state]), f" {state}") for state, mark in MARKS.items())


def _cell(day: date, states: Mapping[date, str]) -> Text:
    state = states.get(day)
    return Text(f"{day.day}  ") if state is None else Text.assemble(f"{day.day} ", (MARKS[state], _STYLES[state]))
