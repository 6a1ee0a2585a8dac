"""Days are collected in few passes and bounded memory, each as reading it alone gives it (spec 2-consolidation §2)."""

from __future__ import annotations

import zoneinfo
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from horizon.consolidation import collecting
from horizon.consolidation.collecting import Collector
from horizon.core.day import Lived, bounds, days, digest
from horizon.core.evidence import sift
from horizon.core.exchange import Exchange
from horizon.errors import Unavailable
from horizon.settings import ConsolidationSettings

PARIS = zoneinfo.ZoneInfo("Europe/Paris")
FIRST = date(2026, 10, 20)


@dataclass
class Held:
    """A source of exchanges in memory, in any order; it counts the looks, and what is alive of what it gave."""

    name: str
    lived: list[Lived]
    looks: list[tuple[datetime, datetime]] = field(default_factory=list)
    broken: bool = False
    remarks: tuple[str, ...] = ()

    def between(self, start, end):
        self.looks.append((start, end))
        if self.broken:
            raise Unavailable(f"{self.name} is gone")
        yield from (each for each in self.lived if start <= each.exchange.at < end)


def lived(number: int, minutes: int, size: int, source: str) -> Lived:
    at = bounds(FIRST, PARIS).start + timedelta(minutes=minutes)
    return Lived(
        exchange=Exchange(id=str(number), at=at, question="q" * size, answer="réponse", model="m"),
        source=source,
        place=number,
    )


def collector(sources, wanted):
    return Collector(sources=sources, zone=PARIS, settings=ConsolidationSettings(), wanted=wanted)


def alone(sources, day):
    start, end = bounds(day, PARIS)
    found = sift(
        [each for source in sources for each in source.lived if start <= each.exchange.at < end], bench=(), agents=()
    )
    return "".join(digest(each) for each in found.kept), found.left_out


exchanges = st.lists(
    st.tuples(st.integers(0, 12 * 24 * 60), st.integers(0, 40), st.sampled_from(["traces.db", "window/mia"])),
    max_size=40,
)


@given(
    found=exchanges,
    most=st.integers(1, 300),
    wanted=st.sets(st.integers(0, 11)).map(sorted),
    skipped=st.sets(st.integers(0, 11)),
)
@settings(max_examples=150, deadline=None)
def test_each_day_is_as_reading_it_alone_gives_it(found, most, wanted, skipped):
    sources = [
        Held(name, [lived(n, minutes, size, name) for n, (minutes, size, source) in enumerate(found) if source == name])
        for name in ("traces.db", "window/mia")
    ]
    wanted = [FIRST + timedelta(days=ahead) for ahead in wanted]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(collecting, "HELD_MOST", most)
        each = collector(sources, wanted)
        for day in wanted:
            if (day - FIRST).days in skipped:
                continue
            of = each.of(day)
            assert (of.digests, of.sifted.left_out) == alone(sources, day)


def test_what_is_held_for_days_to_come_is_bounded(monkeypatch):
    monkeypatch.setattr(collecting, "HELD_MOST", 1_000)
    source = Held("a", [lived(n, n * 60, 93, "a") for n in range(24 * 30)])  # 100 characters each, 2400 a day
    most = 0
    each = collector([source], tuple(days(FIRST, FIRST + timedelta(days=29))))
    for day in each.wanted:
        each.of(day)
        most = max(most, sum(len(found) for found in each._held.values()))
    assert most * 100 <= 1_000


def test_a_year_of_quiet_days_takes_a_pass_a_month():
    source = Held("a", [lived(n, n * 24 * 60, 10, "a") for n in range(365)])
    wanted = tuple(days(FIRST, FIRST + timedelta(days=364)))
    each = collector([source], wanted)
    assert sum(len(each.of(day).sifted.kept) for day in wanted) == 365
    assert len(source.looks) == 12
    assert [look[0] for look in source.looks[1:]] == [look[1] for look in source.looks[:-1]]  # nothing is read twice


def test_a_busy_spell_shortens_the_passes_and_a_quiet_one_lengthens_them_again(monkeypatch):
    monkeypatch.setattr(collecting, "HELD_MOST", 1_000)
    busy = [lived(n, n * 60, 93, "a") for n in range(24 * 10)]
    quiet = [lived(1000 + n, (10 + n) * 24 * 60, 3, "a") for n in range(200)]
    source = Held("a", busy + quiet)
    wanted = tuple(days(FIRST, FIRST + timedelta(days=209)))
    each = collector([source], wanted)
    assert sum(len(each.of(day).sifted.kept) for day in wanted) == 440
    assert len(source.looks) < 10 + 5 + 8  # a pass for each busy day, few while they lengthen, a pass a month


def test_a_source_that_fails_fails_its_day_only():
    source = Held("a", [lived(n, n * 24 * 60 + 5, 10, "a") for n in range(3)])
    each = collector([source], tuple(days(FIRST, FIRST + timedelta(days=2))))
    source.broken = True
    with pytest.raises(Unavailable):
        each.of(FIRST)
    source.broken = False
    assert len(each.of(FIRST + timedelta(days=1)).sifted.kept) == 1


def test_nothing_is_read_before_it_is_asked_for():
    source = Held("a", [])
    collector([source], (FIRST,))
    assert source.looks == []
