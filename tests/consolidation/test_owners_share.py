"""Whatever nights are made, an owner's older facts are pushed out by a set share a day only (spec 2-consolidation §4)."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest

from horizon.adapters.facts_jsonl import OWNER_MOST
from horizon.core.night import PUSHED_MOST
from horizon.testing import FixedClock
from tests.night_home import DAY, Home, local, reply

NOW = datetime(2026, 7, 20, 1, 30, tzinfo=UTC)
PER_RUN = 12
NAMES = [
    f"{first}{last}"
    for first in ("Al", "Be", "Cy", "Do", "Ev")
    for last in ("ra", "ne", "tis", "lor", "min", "va", "zu", "gon", "pel", "ric", "sto", "dax")
]


def said(name):
    return f"Le carnet de {name} est rangé dans la grange."


@pytest.fixture
def home(tmp_path):
    home = Home(tmp_path / "maison").make()
    for day in range(5):
        for number, name in enumerate(NAMES[day * PER_RUN : (day + 1) * PER_RUN]):
            home.live(said(name), at=local(8, number, day=DAY + timedelta(days=day)))
    owned = [
        {"text": f"Un fait de l'hôte, le {n}.", "source": "chat", "created_at": 1.0, "trust": ""}
        for n in range(OWNER_MOST)
    ]
    (home.path / "memory_facts.jsonl").write_text("".join(json.dumps(fact) + "\n" for fact in owned), encoding="utf-8")
    return home


def tell(home, names):
    """Let the model say of each exchange that it is shown what stands there, for `names` only."""

    def answer(request):
        shown = [name for name in names if said(name) in request.prompt]
        numbered = [(said(name), [number]) for name in shown for number in [_number(request.prompt, said(name))]]
        return reply(*numbered, resume="Des carnets sont rangés dans la grange.")

    home.model.then = answer


def _number(prompt, text):
    return int(prompt[: prompt.index(text)].rpartition("[")[2].partition("]")[0])


def added(home):
    return len(home.facts()) - OWNER_MOST


def test_forced_reruns_of_one_night_push_out_no_more_than_one_share(home):
    for day in range(5):
        home.live(" ".join(map(said, NAMES)), at=local(22, day))
    for run in range(5):
        tell(home, NAMES[run * PER_RUN : (run + 1) * PER_RUN])
        home.clock = FixedClock(NOW + timedelta(minutes=run))
        report = home.night(partie_echanges=2).consolidate(DAY, force=True)
        assert report.new == PER_RUN
    assert added(home) == PUSHED_MOST
    assert report.held_back == PER_RUN
    assert any("push out at most 20 a day" in note for note in report.notes)
    assert [event["pousses"] for event in home.ledger() if event.get("pousses")] == [12, 8]


def test_a_backfill_of_many_days_does_not_either_and_the_next_day_has_its_own_share(home):
    tell(home, NAMES)
    days = [DAY + timedelta(days=day) for day in range(5)]
    new = [report.new for report in home.night().backfill(days[:4])]
    assert new == [PER_RUN] * 4
    assert added(home) == PUSHED_MOST
    home.clock = FixedClock(NOW + timedelta(days=1, seconds=1))
    report = home.night().consolidate(days[4])
    assert (added(home), report.held_back) == (PUSHED_MOST + PER_RUN, 0)


def test_what_the_cap_leaves_is_no_pushing(home):
    lines = (home.path / "memory_facts.jsonl").read_bytes().split(b"\n")
    (home.path / "memory_facts.jsonl").write_bytes(b"\n".join(lines[PER_RUN:]))
    tell(home, NAMES)
    home.night().consolidate(DAY)
    assert not any(event.get("pousses") for event in home.ledger())
    home.night().consolidate(DAY + timedelta(days=1))
    assert [event["pousses"] for event in home.ledger() if event.get("pousses")] == [PER_RUN]
