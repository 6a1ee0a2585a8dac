"""What runs leave to look at in Prefect: the night's report, the calendar of nights, bees with their gauges, progress.

Counts, dates and names only. A day's summary is in the report only where its home's setting `rapport_resume` says so.
Pure functions make the texts; `publish_…` hands them to Prefect, under keys of lower case letters, digits and dashes.
"""

from __future__ import annotations

import re
import unicodedata
from datetime import date, timedelta
from typing import TYPE_CHECKING, Any, Final

from prefect.artifacts import create_markdown_artifact, create_table_artifact

from horizon.core.day import EXCERPT, MARKS, DayState, days
from tasks.consolidate import DayOutcome
from tasks.outcome import Result

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from horizon.core.receipt import Gauge, Level
    from tasks.outcome import Outcome

WEEKS: Final = 6
"""Weeks that the calendar shows: the look-back's longest month, whole."""
BEES_SHOWN: Final = 200
"""Most bees in the table; a page of more is read by nobody, and each costs a fold of its journals."""
BAR: Final = 6
"""Length of a gauge's bar, in characters."""
KEY_MOST: Final = 60
"""Longest key, in characters."""


def key(kind: str, name: str) -> str:
    """Return an artifact's key: `kind` and a folder's name in lower case letters, digits and dashes."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    return f"{kind}-{re.sub('[^a-z0-9]+', '-', plain).strip('-') or 'home'}"[:KEY_MOST].rstrip("-")


def cell(text: str) -> str:
    """Return `text` as it may stand in a Markdown table: on one line, no markup or cell border of its own."""
    flat = re.sub(r"[^\S\u00a0\u202f]+", " ", text).strip(" ")
    return re.sub(r"([\\|`*_<>\[\]#])", r"\\\1", flat)


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a Markdown table; every cell is plain text."""
    lines = [head, ["---"] * len(head), *([cell(str(value)) for value in row] for row in rows)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def night_report(home: str, outcomes: Sequence[Outcome], *, health: str = "", older: str = "") -> str:
    """Return a night's report in Markdown: each day taken, what waits or is to be known, who summarized, what was left out.

    `health` says why the summarizer is away, `older` which days no night takes unasked; both empty where there is none.
    """
    taken = [outcome for outcome in outcomes if isinstance(outcome, DayOutcome)]
    rows = [
        (
            day.day,
            f"{MARKS[day.state]}\u00a0{day.state}" + ("" if day.result is not Result.NOTHING else " before"),
            day.counts.get("read", 0),
            sum(day.left_out.values()),
            day.counts.get("new", 0),
            day.counts.get("merged", 0),
            day.counts.get("refused", 0),
        )
        for day in taken
    ]
    head = ("Day", "State", "Read", "Left out", "New facts", "Merged", "Refused")
    parts = [f"## {cell(home)}", table(head, rows) if rows else "No day was taken."]
    notes = [f"- The summarizer is out of reach: {cell(health)}"] if health else []
    excerpts = sum(1 for day in taken if day.state == EXCERPT)
    if excerpts:
        notes.append(
            f"- **No summarizer is configured**: {excerpts} of these days stand by excerpt. Name a model as `resumeur`"
            " in the home's `horizon.toml`; the next nights then take the days of their look-back again."
        )
    if older:
        notes.append(f"- {cell(older)}")
    waiting = [outcome.what for outcome in outcomes if outcome.result is Result.WAITING]
    if waiting:
        notes.append(f"- Waiting for it: {', '.join(waiting)}")
    idle = sum(1 for o in outcomes if o.result is Result.NOTHING and not isinstance(o, DayOutcome))
    if idle:
        notes.append(f"- Nothing to do on {idle} days: empty, or done with the same exchanges")
    said = {Result.WAITING, Result.NOTHING}
    told = (o for o in outcomes if o.note or not (o.result in said or isinstance(o, DayOutcome)))
    notes += [f"- {cell(outcome.line())}" for outcome in told]
    if notes:
        parts.append("\n".join(notes))
    made = [(day.day, day.by, day.calls, day.tokens, f"{day.seconds:.1f}") for day in taken if day.calls]
    if made:
        parts += ["### Summarized by", table(("Day", "Summarizer", "Calls", "Tokens", "Seconds"), made)]
    left_out = [(day.day, _counts(day.left_out)) for day in taken if any(day.left_out.values())]
    if left_out:
        parts += ["### Left out", table(("Day", "Exchanges by reason"), left_out)]
    for day in taken:
        if day.summary:
            parts += [f"### {day.day}", "\n".join(f"> {cell(line)}" for line in day.summary.split("\n"))]
    return "\n\n".join(parts) + "\n"


def _counts(by_reason: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {reason}" for reason, count in sorted(by_reason.items()) if count)


def calendar(home: str, states: Mapping[date, str], last: date) -> str:
    """Return the calendar of nights in Markdown: a row per week up to `last`, one mark per day, newest week first."""
    monday = last - timedelta(days=last.weekday())
    rows: list[list[str]] = []
    for week in range(WEEKS):
        first = monday - timedelta(weeks=week)
        rows.append([first.isoformat(), *(_mark(day, states, last) for day in days(first, first + timedelta(days=6)))])
    head = ("Week of", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
    legend = " · ".join(f"`{mark}` {state}" for state, mark in MARKS.items())
    return f"## {cell(home)}\n\n{table(head, rows)}\n\n{legend}\n"


def _mark(day: date, states: Mapping[date, str], last: date) -> str:
    return "" if day > last else MARKS[states.get(day, DayState.EMPTY)]


def bee_row(hive: str, bee: str, gauge: Gauge) -> dict[str, str | int]:
    """Return a bee's row: each zone as a bar with its characters and budget."""
    return {
        "bee": f"{hive}/{bee}",
        "sharp": bar(gauge.sharp),
        "condensed": bar(gauge.condensed),
        "narrative": bar(gauge.narrative),
        "exchanges": gauge.appended,
        "melted": gauge.melted,
    }


def bar(level: Level) -> str:
    """Return how full a zone is, such as "▰▱▱▱▱▱ 3 600 / 12 000"; a bar is full at the budget and beyond."""
    filled = BAR if level.chars >= level.budget else level.chars * BAR // level.budget
    return f"{'▰' * filled}{'▱' * (BAR - filled)} {level.chars:,} / {level.budget:,}".replace(",", "\u202f")


def publish_night(home: Path, report: str) -> None:
    """Leave a night's report; the key's versions are the nights."""
    create_markdown_artifact(report, key=key("night", home.name), description=f"Nights of {home}")


def publish_calendar(home: Path, states: Mapping[date, str], last: date) -> None:
    """Leave the calendar of a home's nights."""
    text = calendar(home.name, states, last)
    create_markdown_artifact(text, key=key("calendar", home.name), description=f"Calendar of nights of {home}")


def publish_bees(rows: list[dict[str, Any]]) -> None:
    """Leave the table of bees with their gauges; nothing where there is no bee."""
    if rows:
        create_table_artifact(rows, key="bees", description="Bees and how full their zones are, in characters")
