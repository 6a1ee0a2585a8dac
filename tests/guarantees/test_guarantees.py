"""The seven guarantees, one property test each over arbitrary lives of a bee (spec 1-horizon §6)."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC

from hypothesis import given
from hypothesis import settings as examples

from horizon.adapters.journal_jsonl import JournalStore
from horizon.core.day import DayState
from horizon.core.escape import unescape
from horizon.core.event import TRUNCATION
from horizon.core.receipt import Role, Rule
from horizon.core.state import Zone, degraded_texts, in_lived_order
from horizon.core.view import view_of
from horizon.memory import view_options
from tests.guarantees import lives
from tests.night_home import DAY, Home, local, reply

EXAMPLES = 25


@examples(max_examples=EXAMPLES)
@given(turns=lives.turns, setting=lives.settings)
def test_1_the_integral_is_sacred(turns, setting):
    with lives.lived((), setting) as life:
        for turn in turns:
            life.do(turn)
            assert life.journal() == life.written
        assert [entry.exchange.question for entry in life.store.entries()] == list(life.said.values())


@examples(max_examples=EXAMPLES)
@given(turns=lives.turns, setting=lives.settings)
def test_2_the_view_can_be_rebuilt(turns, setting):
    with lives.lived([*turns, ("maintain", "good")], setting) as life:
        view = life.bee.read().text
        window = life.path / "window"
        for name in ("mia-horizon.snapshot", "mia-horizon.index"):
            (window / name).unlink(missing_ok=True)
        assert life.reopened().read().text == view

        (window / "mia-horizon.jsonl").unlink(missing_ok=True)
        life.work("good").maintain()
        state = life.store.load().state
        assert state.appended == len(life.said)
        assert len(state.sharp) + len(state.condensed) + state.melted == len(life.said)
        again = life.reopened().read()
        assert again.chars <= setting.budget
        (window / "mia-horizon.snapshot").unlink(missing_ok=True)
        assert life.reopened().read().text == again.text


@examples(max_examples=EXAMPLES)
@given(turns=lives.turns, setting=lives.settings)
def test_3_the_budget_holds(turns, setting):
    with lives.lived((), setting) as life:
        for turn in turns:
            life.do(turn)
            view = life.bee.read()
            assert len(view.text) <= view.budget == setting.budget
            assert sum(len(message["content"]) for message in view.messages()) <= setting.budget
        assert len(life.bee.read(at=lives.START + (life.clock.now() - lives.START) / 2).text) <= setting.budget


@examples(max_examples=EXAMPLES)
@given(turns=lives.turns, setting=lives.settings)
def test_4_the_latest_exchange_is_always_there(turns, setting):
    with lives.lived((), setting) as life:
        for turn in turns:
            life.do(turn)
            if not life.said or not setting.budget:
                continue
            view = life.bee.read()
            latest = list(life.said)[-1]
            assert view.receipt[-1].ids == (latest,)
            assert view.receipt[-1].zone is Zone.SHARP
            protected = {cut.rule for cut in view.cuts} - {Rule.ROOM, Rule.CONDENSED, Rule.NARRATIVE, Rule.SHARP}
            if protected:  # the keeper's questions and words are cut last: nothing else is left
                left = {id_ for part in view.receipt if part.role in {Role.QUESTION, Role.ANSWER} for id_ in part.ids}
                assert not [id_ for id_ in left - {latest} if not life.is_beacon(id_)]
                assert not [part for part in view.receipt if part.role is Role.SECTION]


@examples(max_examples=EXAMPLES)
@given(turns=lives.turns, setting=lives.settings)
def test_5_beacons_survive(turns, setting):
    """Whatever befalls them, with room enough each stands in the view, its question as it was typed."""
    with lives.lived([*turns, ("maintain", "loses all"), ("maintain", "down")], lives.roomy(setting)) as life:
        for bee in (life.bee, life.reopened()):
            shown = {}
            for part in bee.read().receipt:
                if part.role in {Role.QUESTION, Role.WORD}:
                    shown[part.ids[0]] = unescape(part.body)
            for id_, question in life.said.items():
                if (life.is_beacon(id_) and _was_beacon_when_it_melted(life, id_)) or id_ in shown:
                    assert shown[id_] == question


def _was_beacon_when_it_melted(life, id_):
    """A keeper who unflags and flags again sees it again; one who never flagged a tool's exchange sees no word of it."""
    return life.flags.get(id_) is True or life.kinds[id_] == "conversation"


@examples(max_examples=EXAMPLES)
@given(turns=lives.turns, setting=lives.settings)
def test_6_it_always_works(turns, setting):
    """No turn of any life raises; what failed is known, and with the model back nothing stays degraded."""
    with lives.lived([*turns, ("maintain", "down")], setting) as life:
        state = life.store.load().state
        options = view_options(setting, UTC)
        assert view_of(state, options).chars <= setting.budget
        for made in life.outcomes("condensat"):
            assert made["degrade"] == (made["par"] == TRUNCATION)
        for told in life.outcomes("recit"):
            if told["par"] == TRUNCATION and told["etapes"]:  # none where there is no room to ask a model for a text
                assert told["degrade"]
        if degraded_texts(state):
            life.do(("repair", "good"))
            assert degraded_texts(life.store.load().state) == ()
            assert life.bee.read().chars <= setting.budget


def test_6_it_always_works_also_at_night(tmp_path):
    home = Home(tmp_path / "home")
    home.make()
    home.live("Je préfère le thé vert le matin.", "Entendu, du thé vert.", at=local(9))
    assert home.night().consolidate(DAY).state is DayState.DEGRADED
    home.model.then = lambda _request: reply(("La personne préfère le thé vert le matin.", [1]))
    assert home.night().consolidate(DAY).state is DayState.DONE


@examples(max_examples=EXAMPLES)
@given(turns=lives.turns, setting=lives.settings)
def test_7_nothing_leaves_the_view_unsaid(turns, setting):
    with lives.lived((), setting) as life:
        for turn in turns:
            life.do(turn)
        state = JournalStore(life.path, "mia", life.clock).load().state
        sharp = {exchange.id for _, exchange in in_lived_order(state.sharp)}
        condensed = {exchange.id for _, exchange in in_lived_order(state.condensed)}
        told = life.outcomes("recit")
        melted = [id_ for version in told if version["cause"] == "fondu" for id_ in version["ids"]]
        assert len(melted) == len(set(melted)) == state.melted
        assert sorted([*sharp, *condensed, *melted]) == sorted(life.said)  # each in exactly one zone
        assert [version["version"] for version in told] == sorted({version["version"] for version in told})

        tight = replace(setting, budget_net=150, budget_condense=150, budget_recit=0)
        for view in (life.bee.read(), life.bee.read(trying=tight)):
            _all_is_declared(view, sharp | condensed, state)


def _all_is_declared(view, held, state):
    assert "".join(part.text for part in view.receipt) == view.text
    shown = {id_ for part in view.receipt for id_ in part.ids}
    declared = {id_ for cut in view.cuts for id_ in cut.ids}
    assert held <= shown | declared
    for part in view.receipt:
        assert part.ids or part.role in {Role.HEADING, Role.OLDER_WORDS, Role.NOTICE}
        assert part.by
    for word in state.words:
        flag = state.flags.get(word.id)
        if word.text and (flag is None or flag.on):
            assert word.id in shown | declared
