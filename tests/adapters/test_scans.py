"""Months of a home in one pass say of each day what reading it alone says (spec 2-consolidation §2)."""

from __future__ import annotations

import tempfile
import zoneinfo
from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from horizon.adapters import scans
from horizon.adapters.scans import DaySurvey, survey
from horizon.core.day import Lived, bounds, digest
from horizon.core.evidence import sift
from horizon.core.exchange import Exchange
from horizon.errors import Unavailable

PARIS = zoneinfo.ZoneInfo("Europe/Paris")
START = datetime(2026, 10, 23, tzinfo=UTC)

exchanges = st.lists(
    st.tuples(
        st.integers(0, 5 * 24 * 60),
        st.sampled_from(["traces.db", "window/mia", "window/\udcff"]),
        st.sampled_from(["Une question.", "", "[horizon récit]\nx", "Autre.", "\ud800 é"]),
        st.sampled_from(["llama3:latest", "test-model"]),
        st.sampled_from(["simple", "voice"]),
        st.sampled_from(["b", "a\ud800", "a", "é", "'"]),
    ),
    max_size=30,
)


@given(found=exchanges, agents=st.sampled_from([(), ("simple",)]), batch=st.sampled_from([3, 20_000]))
@settings(max_examples=60, deadline=None)
def test_one_pass_says_what_each_day_alone_says(found, agents, batch):
    lived = [
        Lived(
            exchange=Exchange(
                id=id_, at=START + timedelta(minutes=minutes), question=question, answer="r", model=model
            ),
            source=source,
            agent=agent,
            place=n % 3,
        )
        for n, (minutes, source, question, model, agent, id_) in enumerate(found)
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scans, "_BATCH", batch)
        surveyed = survey(iter(lived), zone=PARIS, bench=(), agents=agents)
    assert list(surveyed) == sorted(surveyed)
    for ahead in range(-1, 7):
        day = date(2026, 10, 23) + timedelta(days=ahead)
        start, end = bounds(day, PARIS)
        alone = sift([each for each in lived if start <= each.exchange.at < end], bench=(), agents=agents)
        said = surveyed.get(day, DaySurvey())
        assert said.digests == "".join(digest(each) for each in alone.kept)
        assert said.left_out == {str(reason): count for reason, count in alone.left_out.items()}


def test_the_same_words_from_two_sources_count_once_and_an_hour_later_twice():
    def said(source, minutes):
        at = START + timedelta(minutes=minutes)
        return Lived(exchange=Exchange(id=f"{source}{minutes}", at=at, question="q", answer="r"), source=source)

    lived = [said("a", 0), said("b", 5), said("b", 60), said("a", 65), said("a", 200), said("a", 201)]
    (found,) = survey(iter(lived), zone=PARIS, bench=(), agents=()).values()
    assert found.digests == "".join(digest(lived[at]) for at in (0, 2, 4, 5))
    assert found.left_out == {"twice": 2}


def test_what_is_written_aside_holds_no_text_and_is_gone_afterwards(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    held = []

    def lived():
        for n in range(40):
            held.extend(path.read_bytes() for path in tmp_path.rglob("*.parquet"))
            yield Lived(
                exchange=Exchange(id=str(n), at=START, question=f"SECRET question {n}", answer="SECRET"), source="a"
            )

    monkeypatch.setattr(scans, "_BATCH", 10)
    survey(lived(), zone=PARIS, bench=(), agents=())
    assert held
    assert not any(b"SECRET" in data for data in held)
    assert list(tmp_path.iterdir()) == []


def test_no_room_for_counting_is_an_error_of_the_system(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "absent"))
    with pytest.raises(OSError, match="absent"):
        survey(iter(()), zone=PARIS, bench=(), agents=())


def test_no_room_for_sorting_says_so(monkeypatch):
    monkeypatch.setattr(scans, "_MEMORY", "1KB")
    lived = [Lived(exchange=Exchange(id="a", at=START, question="q", answer="r"), source="a")]
    with pytest.raises(Unavailable, match="could not be counted"):
        survey(iter(lived), zone=PARIS, bench=(), agents=())


def test_nothing_is_no_day():
    assert survey(iter(()), zone=PARIS, bench=(), agents=()) == {}
