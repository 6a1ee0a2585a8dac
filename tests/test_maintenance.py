"""One bee's maintenance over real files: what moves, what is recorded, what an outage leaves, what a crash leaves."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from horizon.adapters.clock import zone_called
from horizon.adapters.journal_jsonl import JournalStore
from horizon.cascade import Cascade
from horizon.core.beacon import Floor
from horizon.core.event import TRUNCATION, VERBATIM
from horizon.core.exchange import Exchange
from horizon.core.view import view_of
from horizon.errors import StoreBusy
from horizon.maintenance import CALLS_PER_PASS, Maintenance
from horizon.memory import Bee, view_options
from horizon.settings import HorizonSettings, Resolved
from horizon.testing import FixedClock, ScriptedModel
from tests.deterministic_model import reply_to

START = datetime(2026, 7, 10, 8, 0, tzinfo=UTC)
ON = HorizonSettings(actif=True, modele="ollama/qwen3", langue="en")
LONG = (
    "Service {0} runs on port {1} and reads /etc/horizon/app-{0}.toml at start. "
    "It writes its log to /var/log/horizon-{0}.log, one line for each request that comes in from the outside world. "
    "Restart it with systemctl restart horizon-{0} once the file has changed. "
    "The build of Thursday took 412 seconds on the old machine and 97 seconds on the new one, which is fine. "
)
"""Not short, and different for each exchange: a summary that says the same of all is a loop, and refused."""


def faithful(request):
    """What a good model says: computed from the prompt alone."""
    return reply_to({"messages": [{"role": "user", "content": request.prompt}], "format": request.schema})


class Hive:
    """A bee's store on disk and its maintenance under a clock and a model of the test's own."""

    def __init__(self, path, model=None, setting=ON):
        self.path = path
        self.clock = FixedClock(START)
        self.model = model or ScriptedModel(then=faithful)
        self.setting = setting

    @property
    def store(self):
        return JournalStore(self.path, "mia", self.clock)

    def work(self, store=None, **changes):
        setting = replace(self.setting, **changes)
        return Maintenance(
            hive=str(self.path),
            bee="mia",
            store=store or self.store,
            settings=setting,
            options=view_options(setting, UTC),
            cascade=Cascade(self.model, self.clock),
            clock=self.clock,
        )

    def live(self, count, *, answer=LONG, kind="outil", every=timedelta(minutes=10), question="What of it, number {}?"):
        """Append `count` exchanges, the clock moving on."""
        store = self.store
        for _ in range(count):
            number = store.load().state.appended
            store.append(
                Exchange(
                    id=f"e{number:04}",
                    at=self.clock.now(),
                    kind=kind,
                    question=question.format(number),
                    answer=f"{answer.format(number, 8000 + number)} That was answer {number}.",
                )
            )
            self.clock.advance(every)

    def view(self, **changes):
        return view_of(self.store.load().state, view_options(replace(self.setting, **changes), UTC))


@pytest.fixture
def hive(tmp_path):
    return Hive(tmp_path / "ruche")


def zones(state):
    return [e.id for e in state.sharp.values()], [e.id for e in state.condensed.values()], state.melted


def test_over_budget_the_oldest_are_condensed_and_the_latest_stays(hive):
    hive.live(30)
    report = hive.work().maintain()
    sharp, condensed, melted = zones(hive.store.load().state)
    assert report.evicted == len(condensed) + melted > 0
    assert sharp[-1] == "e0029"
    assert sharp == [f"e{n:04}" for n in range(30 - len(sharp), 30)]
    for chars, budget in report.gauge.values():
        assert chars <= budget
    assert hive.view().cuts == ()


def test_past_its_age_all_but_the_latest_leaves_the_sharp_zone(hive):
    hive.live(3, answer="short")
    hive.clock.advance(timedelta(hours=25))
    assert hive.work().maintain().evicted == 2
    assert zones(hive.store.load().state) == (["e0002"], ["e0000", "e0001"], 0)


def test_a_single_exchange_over_every_budget_stays_and_the_pass_says_why(hive):
    hive.live(1, answer="x" * 350_000)
    report = hive.work().maintain()
    assert report.evicted == 0
    assert "latest" in report.notes[0]
    assert hive.view().chars <= 21_000


def test_a_short_answer_is_its_own_condensed_text_and_costs_no_call(hive):
    hive.live(2, answer="Done.")
    hive.clock.advance(timedelta(days=2))
    report = hive.work().maintain()
    assert report.by == {VERBATIM: 1}
    assert hive.model.requests == []


def test_who_made_a_text_and_each_step_is_recorded_on_it(hive):
    hive.live(2)
    hive.clock.advance(timedelta(days=2))
    hive.work().maintain()
    made = hive.store.load().state.condensates["e0000"]
    assert (made.by, made.degraded, [(s.by, s.outcome) for s in made.steps]) == (
        "ollama/qwen3",
        False,
        [("ollama/qwen3", "ok")],
    )


def test_truncation_by_choice_is_not_degraded(hive):
    hive.live(2)
    hive.clock.advance(timedelta(days=2))
    report = hive.work(modele="").maintain()
    assert report.by == {TRUNCATION: 1}
    assert report.degraded == 0
    assert hive.model.requests == []


def test_switched_off_nothing_moves(hive):
    hive.live(40)
    report = hive.work(actif=False).maintain()
    assert (report.active, report.evicted) == (False, 0)
    assert not hive.work(actif=False).pending()


def test_a_second_pass_changes_nothing_on_disk(hive):
    hive.live(40)
    hive.work().maintain()
    before = {p.name: p.read_bytes() for p in (hive.path / "window").iterdir()}
    report = hive.work().maintain()
    assert not report.needs()
    assert {p.name: p.read_bytes() for p in (hive.path / "window").iterdir()} == before


def test_a_dry_run_counts_and_writes_nothing(hive):
    hive.live(40)
    before = {p.name: p.read_bytes() for p in (hive.path / "window").iterdir()}
    report = hive.work().maintain(dry_run=True)
    assert report.dry_run
    assert report.evicted > 0
    assert {p.name: p.read_bytes() for p in (hive.path / "window").iterdir()} == before
    assert hive.model.requests == []


def test_two_maintainers_exclude_each_other(hive):
    hive.live(40)
    other = hive.store
    with other.exclusive(), pytest.raises(StoreBusy):
        hive.work().maintain()


def test_an_outage_degrades_and_repair_makes_good_also_what_has_melted(hive):
    hive.live(60)
    hive.model.then = None
    report = hive.work().maintain()
    assert report.melted > 0
    assert set(report.by) == {TRUNCATION}
    assert report.degraded > 0
    assert hive.work().degraded()
    still_down = hive.work().repair()
    assert still_down.repaired == 0
    assert "nothing was repaired" in still_down.notes[0]

    hive.model.then = faithful
    repaired = hive.work().repair()
    assert repaired.degraded == 0
    assert not hive.work().degraded()
    state = hive.store.load().state
    assert all(not made.degraded for made in state.condensates.values())
    assert state.narrative.by == "ollama/qwen3"
    assert not state.narrative.degraded
    assert state.since_good == []
    assert hive.work().repair().repaired == 0


def test_meltings_after_an_outage_stay_marked_until_the_narrative_is_repaired(hive):
    hive.live(60)
    hive.model.then = None
    hive.work().maintain()
    hive.model.then = faithful
    hive.live(40)
    hive.work().maintain()
    state = hive.store.load().state
    assert state.narrative.by == "ollama/qwen3"
    assert state.narrative.degraded
    melted = len(state.since_good)
    assert melted == state.melted
    hive.work().repair()
    assert not hive.store.load().state.narrative.degraded


def test_a_keepers_words_survive_meltings_by_a_model_that_loses_everything(hive):
    order = "Always answer in metric units."
    hive.live(1, kind="conversation", question=order)

    def loses(request):
        return (
            '{"mission": [], "decisions": [], "fichiers": [], "erreurs": [], "en_cours": [], "prochaine_etape": []}'
            if request.schema
            else "Done."
        )

    hive.model.then = loses
    for _ in range(60):
        hive.live(12, kind="conversation", question="And what about this other thing, number {}?", answer="It is so.")
        hive.clock.advance(timedelta(days=1))
        hive.work(budget_condense=600).maintain()
    state = hive.store.load().state
    assert state.narrative.version >= 60
    assert order in hive.view(budget_condense=600).text


def test_flagging_what_has_melted_brings_its_words_back(hive):
    hive.live(5)
    hive.live(1, question="The colour of the door is celadon.")
    hive.live(60)
    hive.work().maintain()
    store = hive.store
    assert store.load().state.melted > 0
    assert "celadon" not in hive.view().text

    class Fixed:
        def stamp(self):
            return 0

        def resolved(self):
            return Resolved(settings=ON, origins={}, problems=())

    bee = Bee("mia", store, Fixed(), hive.clock, zone_called)
    bee.flag("e0005")
    assert "The colour of the door is celadon." in bee.read().text
    bee.unflag("e0005")
    assert "celadon" not in bee.read().text


class Killed(Exception):
    """Stands for a kill between two writes."""


class Fragile:
    """A store that is killed at its `left`-th record, before or after the bytes are down."""

    def __init__(self, store, left, *, after):
        self._store, self.left, self.after = store, left, after

    def __getattr__(self, name):
        return getattr(self._store, name)

    def record(self, outcome):
        self.left -= 1
        if self.left == 0 and not self.after:
            raise Killed
        self._store.record(outcome)
        if self.left == 0:
            raise Killed


@pytest.mark.parametrize("after", [False, True])
def test_killed_at_every_write_and_run_again_it_ends_as_undisturbed(tmp_path, after):
    undisturbed = Hive(tmp_path / "a")
    undisturbed.live(45)
    writes = 0

    class Counting(Fragile):
        def record(self, outcome):
            nonlocal writes
            writes += 1
            self._store.record(outcome)

    undisturbed.work(Counting(undisturbed.store, 0, after=False)).maintain()
    text = undisturbed.view().text
    calls = len(undisturbed.model.requests)
    assert writes > 10
    for at in range(1, writes + 1):
        hive = Hive(tmp_path / f"b{at}")
        hive.live(45)
        with pytest.raises(Killed):
            hive.work(Fragile(hive.store, at, after=after)).maintain()
        hive.work().maintain()
        assert hive.view().text == text
        paid_twice = len(hive.model.requests) - calls
        assert paid_twice == (0 if after else min(1, paid_twice))


def test_a_pass_makes_a_bounded_number_of_calls(hive):
    hive.live(CALLS_PER_PASS + 100, every=timedelta(seconds=1))
    report = hive.work().maintain()
    assert report.calls <= CALLS_PER_PASS + 1
    assert "next pass" in report.notes[0]
    assert hive.work().pending()


def test_rebuilding_changes_nothing_and_fresh_asks_again(hive):
    hive.live(50)
    hive.work().maintain()
    text = hive.view().text
    hive.work().rebuild()
    assert hive.view().text == text
    (hive.path / "window" / "mia-horizon.snapshot").unlink()
    assert hive.view().text == text
    asked = len(hive.model.requests)
    report = hive.work().rebuild(fresh=True)
    assert len(hive.model.requests) > asked
    assert report.evicted > 0
    assert list((hive.path / "window").glob("mia-horizon.aside-*.jsonl"))


@given(
    lengths=st.lists(st.tuples(st.integers(0, 3_000), st.booleans()), min_size=1, max_size=40),
    net=st.sampled_from([300, 2_000, 12_000]),
    condense=st.sampled_from([300, 6_000]),
    recit=st.sampled_from([0, 400, 3_000]),
    floor=st.sampled_from(["net", "condense", "recit"]),
)
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_each_exchange_is_in_exactly_one_zone_and_the_budget_holds(
    tmp_path_factory, lengths, net, condense, recit, floor
):
    setting = replace(
        ON, modele="", budget_net=net, budget_condense=condense, budget_recit=recit, plancher_phare=Floor(floor)
    )
    hive = Hive(tmp_path_factory.mktemp("h") / "ruche", setting=setting)
    for length, talk in lengths:
        hive.live(1, answer=("word " * length)[:length], kind="conversation" if talk else "outil")
    hive.work().maintain()
    state = hive.store.load().state
    sharp, condensed, melted = zones(state)
    assert len(sharp) + len(condensed) + melted == len(lengths)
    assert not set(sharp) & set(condensed)
    assert f"e{len(lengths) - 1:04}" in sharp
    view = hive.view()
    assert len(view.text) <= view.budget == net + condense + recit
    assert not hive.work().pending()
