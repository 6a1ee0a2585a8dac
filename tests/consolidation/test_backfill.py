"""A backfill of many days ends as each of them alone would, oldest first, in few passes (spec 2-consolidation §1, §5)."""

from __future__ import annotations

from datetime import date, timedelta

import pytest

from horizon.core.day import DayState, days
from horizon.errors import InvalidInput
from tests.night_home import DAY, Home, local, reply

FIRST, LAST = date(2026, 6, 1), date(2026, 7, 9)
WANTED = tuple(days(FIRST, LAST))


def lived(path) -> Home:
    home = Home(path).make()
    for number, day in enumerate(WANTED):
        if number % 3 == 1:
            continue
        home.live(f"Dossier {number} : Marie relit la page {number}.", f"La page {number}.", at=local(9, day=day))
        home.live(f"Retiens que le code du dossier {number} est D-{number}.", at=local(23, 59, second=59.9, day=day))
        home.live("who are you?", "A bench.", at=local(12, day=day), model="test-model")
    home.model.then = lambda request: reply(
        ("Marie relit la page.", [1]), resume=request.prompt.split("Lui : ")[1].split("\n")[0]
    )
    return home


def test_it_ends_as_each_day_alone_would(tmp_path):
    at_once, one_by_one = lived(tmp_path / "a"), lived(tmp_path / "b")
    reports = list(at_once.night().backfill(WANTED))
    assert [report.day for report in reports] == list(WANTED)
    alone = [one_by_one.night().consolidate(day) for day in WANTED]
    assert [report.to_json() | {"home": ""} for report in reports] == [each.to_json() | {"home": ""} for each in alone]
    assert at_once.bytes() == one_by_one.bytes()
    assert {report.state for report in reports} == {DayState.DONE, DayState.EMPTY}
    before, asked = at_once.bytes(), len(at_once.model.requests)
    assert not any(report.changed for report in at_once.night().backfill(WANTED))
    assert (at_once.bytes(), len(at_once.model.requests)) == (before, asked)


def test_it_looks_at_a_source_a_few_times_however_many_days(tmp_path):
    home = lived(tmp_path)
    looks = []
    night = home.night()
    (traces,) = night.sources

    class Watched:
        name = traces.name
        remarks = ()

        def between(self, start, end):
            looks.append((start, end))
            return traces.between(start, end)

    home.sources = [Watched()]
    assert len(list(home.night().backfill(WANTED))) == 39
    assert len(looks) == 2  # a month, and the rest
    assert len(list(home.night().plans(WANTED))) == 39
    assert len(looks) == 4


def test_what_it_would_do_is_what_each_day_would(tmp_path):
    home = lived(tmp_path)
    before = home.bytes()
    plans = list(home.night().plans(WANTED))
    assert plans == [home.night().plan(day) for day in WANTED]
    assert home.bytes() == before


def test_an_exchange_that_comes_while_it_runs_makes_its_day_stale_and_is_not_lost(tmp_path):
    home = lived(tmp_path)
    running = home.night().backfill(WANTED)
    next(running)
    home.live("Une de plus.", at=local(10, day=WANTED[3]))
    for _ in running:
        pass
    assert home.state(WANTED[3]) == "stale"
    changed = [report for report in home.night().backfill(WANTED) if report.changed]
    assert [(report.day, report.state) for report in changed] == [(WANTED[3], DayState.DONE)]
    assert home.state(WANTED[3]) == "done"


def test_a_day_that_another_night_is_at_work_on_is_left_to_it(tmp_path):
    home = lived(tmp_path)
    running = home.night().backfill(WANTED)
    next(running)
    with home.night().ledger.exclusive():
        busy = next(running)
    assert (busy.state, busy.changed) == (DayState.NEVER, False)
    assert "worked on" in busy.error
    assert {report.state for report in running} == {DayState.DONE, DayState.EMPTY}
    assert home.night().owed(LAST, 60) == ()  # the second day was an empty one


def test_nothing_is_begun_where_the_last_day_has_not_begun(tmp_path):
    home = lived(tmp_path)
    with pytest.raises(InvalidInput, match="has not begun"):
        home.night().backfill((DAY, date(2026, 8, 1)))
    with pytest.raises(InvalidInput, match="has not begun"):
        home.night().plans((DAY, date(2026, 8, 1)))
    assert home.ledger() == []


def test_a_source_that_goes_away_is_missing_from_then_on_and_stops_nothing(tmp_path):
    home = lived(tmp_path)
    running = home.night().backfill(tuple(days(FIRST, FIRST + timedelta(days=35))))
    reports = [next(running)]
    home.traces.rename(tmp_path / "elsewhere")
    reports += running
    assert [report.state for report in reports[:31]] == [DayState.DONE, DayState.EMPTY, DayState.DONE] * 10 + [
        DayState.DONE
    ]
    assert {report.state for report in reports[31:]} == {DayState.SOURCE_MISSING}
