"""Days are half open, follow each other without gap or overlap, and each instant is in exactly one (spec 2-consolidation §1)."""

from __future__ import annotations

import zoneinfo
from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from horizon.core.day import DIGEST_DIGITS, Lived, arrived, bounds, day_of, days, digest, fingerprint
from horizon.core.exchange import Exchange
from horizon.errors import InvalidInput

ZONES = [
    zoneinfo.ZoneInfo(name)
    for name in (
        "Europe/Paris", "America/Montreal", "Asia/Kathmandu", "Australia/Lord_Howe", "UTC", "Pacific/Apia",
        "America/St_Johns", "America/Sao_Paulo", "Africa/Cairo", "America/Havana",
    )
]  # fmt: skip
PARIS = ZONES[0]
zones = st.sampled_from(ZONES)
instants = st.floats(473_385_600, 2_051_222_400).map(lambda at: datetime.fromtimestamp(at, UTC))  # 1985 to 2034


@given(instants, zones)
def test_each_instant_is_in_exactly_one_day(instant, zone):
    day = day_of(instant, zone)
    start, end = bounds(day, zone)
    assert start <= instant < end
    for other in (day - timedelta(days=1), day + timedelta(days=1)):
        first, last = bounds(other, zone)
        assert not first <= instant < last


@given(st.dates(date(1985, 1, 1), date(2035, 1, 1)), zones)
def test_days_follow_each_other_without_gap(day, zone):
    assert bounds(day, zone).end == bounds(day + timedelta(days=1), zone).start
    assert bounds(day, zone).start <= bounds(day, zone).end


def test_paris_days_have_23_24_and_25_hours():
    lengths = [
        (bounds(day, PARIS).end - bounds(day, PARIS).start) / timedelta(hours=1)
        for day in (date(2026, 3, 29), date(2026, 7, 9), date(2026, 10, 25))
    ]
    assert lengths == [23, 24, 25]


def test_a_day_begins_at_local_midnight():
    assert bounds(date(2026, 7, 9), PARIS).start == datetime(2026, 7, 8, 22, tzinfo=UTC)
    assert bounds(date(2026, 1, 9), PARIS).start == datetime(2026, 1, 8, 23, tzinfo=UTC)
    assert bounds(date(2026, 1, 9), zoneinfo.ZoneInfo("Asia/Kathmandu")).start == datetime(
        2026, 1, 8, 18, 15, tzinfo=UTC
    )


def test_the_last_moment_and_midnight_are_in_different_days():
    midnight = datetime(2026, 7, 9, 22, tzinfo=UTC)
    assert day_of(midnight - timedelta(microseconds=1), PARIS) == date(2026, 7, 9)
    assert day_of(midnight, PARIS) == date(2026, 7, 10)


def test_a_day_that_a_zone_skipped_holds_nothing():
    apia = zoneinfo.ZoneInfo("Pacific/Apia")
    assert bounds(date(2011, 12, 30), apia).start == bounds(date(2011, 12, 30), apia).end


@pytest.mark.parametrize("day", [date.min, date.max])
def test_a_day_that_no_clock_can_tell_is_refused(day):
    with pytest.raises(InvalidInput):
        bounds(day, PARIS)


def test_days_lists_both_ends_in_order():
    assert list(days(date(2026, 2, 27), date(2026, 3, 1))) == [date(2026, 2, 27), date(2026, 2, 28), date(2026, 3, 1)]
    assert list(days(date(2026, 3, 1), date(2026, 2, 27))) == []


def lived(id_="a", question="q", answer="r"):
    return Lived(
        exchange=Exchange(id=id_, at=datetime(2026, 7, 9, tzinfo=UTC), question=question, answer=answer), source="s"
    )


def test_a_fingerprint_changes_with_ids_contents_and_order():
    one, two = digest(lived("a")), digest(lived("b"))
    assert len(one) == DIGEST_DIGITS
    found = {
        fingerprint("".join(each))
        for each in ([one, two], [two, one], [one], [], [digest(lived("a", answer="R")), two])
    }
    assert len(found) == 5


def test_only_arrivals_count():
    one, two, three = (digest(lived(name)) for name in "abc")
    assert arrived(one, one + two) == 0
    assert arrived(one + three, one + two) == 1
