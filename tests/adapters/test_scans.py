"""Months of a home in one pass say of each day what reading it alone says (spec 2-consolidation §2)."""

from __future__ import annotations

import zoneinfo
from datetime import UTC, date, datetime, timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from horizon.adapters.scans import DaySurvey, survey
from horizon.core.day import Lived, bounds, digest
from horizon.core.evidence import sift
from horizon.core.exchange import Exchange

PARIS = zoneinfo.ZoneInfo("Europe/Paris")
START = datetime(2026, 10, 23, tzinfo=UTC)

exchanges = st.lists(
    st.tuples(
        st.integers(0, 5 * 24 * 60),
        st.sampled_from(["traces.db", "window/mia"]),
        st.sampled_from(["Une question.", "", "[horizon récit]\nx", "Autre."]),
        st.sampled_from(["llama3:latest", "test-model"]),
        st.sampled_from(["simple", "voice"]),
    ),
    max_size=30,
)


@given(found=exchanges, agents=st.sampled_from([(), ("simple",)]))
@settings(max_examples=60)
def test_one_pass_says_what_each_day_alone_says(found, agents):
    lived = [
        Lived(
            exchange=Exchange(
                id=str(n), at=START + timedelta(minutes=minutes), question=question, answer="r", model=model
            ),
            source=source,
            agent=agent,
            place=n,
        )
        for n, (minutes, source, question, model, agent) in enumerate(found)
    ]
    surveyed = survey(iter(lived), zone=PARIS, bench=(), agents=agents)
    for ahead in range(-1, 7):
        day = date(2026, 10, 23) + timedelta(days=ahead)
        start, end = bounds(day, PARIS)
        alone = sift([each for each in lived if start <= each.exchange.at < end], bench=(), agents=agents)
        said = surveyed.get(day, DaySurvey())
        assert said.digests == "".join(digest(each) for each in alone.kept)
        assert said.left_out == {str(reason): count for reason, count in alone.left_out.items()}


def test_nothing_is_no_day():
    assert survey(iter(()), zone=PARIS, bench=(), agents=()) == {}
