"""What runs leave to look at: counts, dates and names, in Markdown that nothing can break out of."""

from __future__ import annotations

import re
from datetime import date, timedelta

from hypothesis import given
from hypothesis import strategies as st

from horizon.core.day import EXCERPT, DayState
from horizon.core.receipt import Gauge, Level
from tasks.artifacts import BAR, WEEKS, bar, bee_row, calendar, cell, key, night_report, table
from tasks.consolidate import DayOutcome
from tasks.outcome import Outcome, Result

SUNDAY = date(2026, 8, 23)


@given(st.text(max_size=80))
def test_a_key_is_one_that_prefect_takes(name):
    assert re.fullmatch(r"night-[a-z0-9]+(-[a-z0-9]+)*", key("night", name))
    assert len(key("night", name)) <= 60


def test_keys_as_people_will_see_them():
    assert key("night", "ruche") == "night-ruche"
    assert key("calendar", ".openjarvis") == "calendar-openjarvis"
    assert key("night", "Été à Kathmandu_2") == "night-ete-a-kathmandu-2"
    assert key("night", "蜂") == "night-home"


@given(st.text(max_size=60))
def test_a_cell_keeps_to_its_line_and_column(text):
    line = table(("A", "B"), [(text, "x")]).split("\n")[2]

    assert len(re.findall(r"(?<!\\)(?:\\\\)*\|", line)) == 3


def test_markup_in_a_name_stays_text():
    assert cell("## a | b\n[c](d) <img>") == r"\#\# a \| b \[c\](d) \<img\>"


@given(st.dates(min_value=date(2000, 1, 1), max_value=date(2100, 1, 1)), st.data())
def test_the_calendar_has_one_mark_per_day_and_none_for_days_to_come(last, data):
    days = [last - timedelta(days=back) for back in range(7 * WEEKS)]
    states = {day: data.draw(st.sampled_from(DayState)) for day in days}

    text = calendar("ruche", states, last)

    rows = [line.split(" | ")[1:] for line in text.split("\n") if line.startswith(("| 2", "| 1"))]
    cells = [value.strip(" |") for row in rows for value in row]
    assert len(rows) == WEEKS
    assert sum(bool(value) for value in cells) == 7 * WEEKS - (6 - last.weekday())


def test_a_calendar_by_hand():
    states = {SUNDAY: "done", SUNDAY - timedelta(days=1): "degraded", SUNDAY - timedelta(days=6): "owed"}

    text = calendar("ruche", states, SUNDAY)

    assert "| Week of | Mon | Tue | Wed | Thu | Fri | Sat | Sun |" in text
    assert "| 2026-08-17 | ✕ | · | · | · | · | ◐ | ● |" in text
    assert "`◐` degraded" in text
    assert "`◔` excerpt" in text


def test_a_gauge_is_full_at_its_budget_and_beyond():
    assert bar(Level(chars=3600, budget=12000, count=4)) == "▰▱▱▱▱▱ 3\u202f600 / 12\u202f000"
    assert bar(Level(chars=0, budget=0, count=0)) == "▰▰▰▰▰▰ 0 / 0"
    assert bar(Level(chars=7000, budget=6000, count=9)).count("▰") == BAR


def test_a_bee_is_a_row():
    level = Level(chars=10, budget=100, count=1)
    gauge = Gauge(sharp=level, condensed=level, narrative=level, appended=12, melted=3)

    row = bee_row("ruche", "mia", gauge)

    assert (row["bee"], row["exchanges"], row["melted"]) == ("ruche/mia", 12, 3)
    assert row["sharp"] == "▱▱▱▱▱▱ 10 / 100"


def test_a_report_by_hand():
    report = night_report(
        "ruche",
        [
            DayOutcome(
                what="2026-08-23",
                result=Result.DONE,
                home="/ruche",
                day=SUNDAY,
                state="done",
                left_out={"bench": 3, "blank": 1},
                counts={"read": 12, "new": 4, "merged": 1, "refused": 2},
                by="ollama/qwen3",
                calls=3,
                tokens=4321,
                seconds=12.34,
            ),
            Outcome(what="2026-08-20", result=Result.WAITING),
        ],
        health="connection refused",
    )

    assert "| 2026-08-23 | ●\u00a0done | 12 | 4 | 4 | 1 | 2 |" in report
    assert "| 2026-08-23 | ollama/qwen3 | 3 | 4321 | 12.3 |" in report
    assert "| 2026-08-23 | 3 bench, 1 blank |" in report
    assert report.index("Waiting for it") < report.index("### Summarized by"), "what is to be known comes first"
    assert "- The summarizer is out of reach: connection refused" in report
    assert "- Waiting for it: 2026-08-20" in report


def test_days_by_excerpt_have_a_mark_of_their_own_and_one_note():
    days = [SUNDAY - timedelta(days=back) for back in range(3)]
    outcomes = [
        DayOutcome(what=str(day), result=Result.EXCERPT, home="/ruche", day=day, state=EXCERPT, by="troncature")
        for day in days
    ]

    report = night_report("ruche", outcomes, older="9 older days wait; to take: horizon backfill '/a b_c`'")

    assert report.count("◔\u00a0excerpt") == 3
    assert report.count("No summarizer is configured") == 1
    assert "- 9 older days wait; to take: horizon backfill '/a b\\_c\\`'" in report
    assert calendar("ruche", dict.fromkeys(days, EXCERPT), SUNDAY).count("◔") == 3 + 1


def test_a_summary_is_shown_only_where_it_was_handed_over_and_forges_no_heading():
    day = {"what": "2026-08-23", "result": Result.DONE, "home": "/ruche", "day": SUNDAY, "state": "done"}

    assert ">" not in night_report("ruche", [DayOutcome(**day)])
    shown = night_report("ruche", [DayOutcome(**day, summary="On a ri.\n## 2020-01-01\n")])
    assert "> On a ri.\n> \\#\\# 2020-01-01" in shown
