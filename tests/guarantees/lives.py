"""Arbitrary lives of one bee on real files, for the tests of the seven guarantees (spec 1-horizon §6)."""

from __future__ import annotations

import gzip
import json
import shutil
import tempfile
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from unittest import mock

from hypothesis import strategies as st

from horizon.adapters import journal_jsonl
from horizon.adapters.clock import zone_called
from horizon.adapters.journal_jsonl import JournalStore
from horizon.adapters.journal_lines import line_of
from horizon.cascade import Cascade
from horizon.core.beacon import Floor
from horizon.maintenance import Maintenance
from horizon.memory import Bee, view_options
from horizon.settings import HorizonSettings, Resolved
from horizon.testing import FixedClock, ScriptedModel
from tests.deterministic_model import reply_to
from tests.strategies import HOSTILE

START = datetime(2026, 7, 10, 8, 0, tzinfo=UTC)
ANSWER = (
    "Service {0} runs on port {1} and reads /etc/horizon/app-{0}.toml at start. It writes its log to /var/log/horizon-{0}.log. "
    "Restart it with systemctl restart horizon-{0} once the file has changed. The build took {1} seconds on the old machine. "
    "All of that was looked at twice, since the first look had missed the second file of service {0}. "
)
MOODS = ("good", "down", "silly", "loses all")


def good(request):
    return reply_to({"messages": [{"role": "user", "content": request.prompt}], "format": request.schema})


def silly(_request):
    return "The answer is 31337, see /tmp/never-said.txt and https://invented.example/."


def loses_all(request):
    return json.dumps({key: [] for key in request.schema["properties"]}) if request.schema else "It was done."


class Life:
    """One bee: what was done is remembered here, what is on disk is the product's."""

    def __init__(self, path, setting):
        self.path = path
        self.setting = setting
        self.clock = FixedClock(START)
        self.said = {}
        """By id: the question as it was typed."""
        self.written = b""
        """What the integral journal must hold, byte for byte."""
        self.kinds = {}
        self.flags = {}
        self.moods_met = set()
        self.bee = self.reopened()

    def stamp(self):
        return self.setting

    def resolved(self):
        return Resolved(settings=self.setting, origins={}, problems=())

    def keep_good(self):
        """There is no settings file."""

    @property
    def store(self):
        return JournalStore(self.path, "mia", self.clock)

    def reopened(self):
        return Bee("mia", self.store, self, self.clock, zone_called)

    def work(self, mood="good"):
        self.moods_met.add(mood)
        then = {"good": good, "silly": silly, "loses all": loses_all}.get(mood)
        return Maintenance(
            hive=str(self.path),
            bee="mia",
            store=self.store,
            settings=self.setting,
            options=view_options(self.setting, UTC),
            cascade=Cascade(ScriptedModel(then=then), self.clock),
            clock=self.clock,
        )

    def do(self, turn):
        """Do one turn of a life."""
        self.clock.advance(timedelta(minutes=7))
        match turn:
            case ("append", kind, piece, times):
                number = len(self.said)
                question = f"n{number} {piece * times}"
                exchange = self.bee.append(question, ANSWER.format(number, 8000 + number) + piece, kind=kind)
                self.said[exchange.id] = exchange.question
                self.written += line_of(exchange)
                self.kinds[exchange.id] = kind
            case ("flag", which, on) if self.said:
                id_ = list(self.said)[which % len(self.said)]
                (self.bee.flag if on else self.bee.unflag)(id_)
                self.flags[id_] = on
            case ("maintain", mood):
                self.work(mood).maintain()
            case ("repair", mood):
                self.work(mood).repair()
            case ("rebuild", fresh):
                self.work("good").rebuild(fresh=fresh)
            case ("reopen",):
                self.bee = self.reopened()
            case _:
                pass

    def is_beacon(self, id_):
        return self.flags.get(id_, self.kinds[id_] == "conversation")

    def journal(self):
        """Return the integral journal's bytes, segment after segment."""
        window = self.path / "window"
        packed = sorted((window / "archive").glob("mia-messages*")) if (window / "archive").exists() else []
        active = window / "mia-messages.jsonl"
        files = [*packed, *([active] if active.exists() else [])]
        return b"".join(gzip.decompress(p.read_bytes()) if p.suffix == ".gz" else p.read_bytes() for p in files)

    def outcomes(self, kind):
        path = self.path / "window" / "mia-horizon.jsonl"
        lines = path.read_text(encoding="utf-8").split("\n") if path.exists() else []
        return [each for each in map(json.loads, filter(None, lines)) if each["fait"] == kind]


@contextmanager
def lived(turns, setting, segment=5):
    """Give a life after `turns`, and take it away then."""
    folder = Path(tempfile.mkdtemp(prefix="horizon-life-"))
    try:
        with mock.patch.object(journal_jsonl, "SEGMENT_ENTRIES", segment):
            life = Life(folder / "ruche", setting)
            for turn in turns:
                life.do(turn)
            yield life
    finally:
        shutil.rmtree(folder)


pieces = st.one_of(st.sampled_from(HOSTILE), st.text(st.characters(exclude_categories=("Cs",)), max_size=8))
appends = st.tuples(st.just("append"), st.sampled_from(("conversation", "outil")), pieces, st.integers(0, 40))
moods = st.sampled_from(MOODS)
turns = st.lists(
    st.one_of(
        appends,
        appends,
        appends,
        st.tuples(st.just("flag"), st.integers(0, 40), st.booleans()),
        st.tuples(st.just("maintain"), moods),
        st.tuples(st.just("repair"), moods),
        st.tuples(st.just("rebuild"), st.booleans()),
        st.tuples(st.just("reopen")),
    ),
    min_size=8,
    max_size=26,
)
settings = st.builds(
    HorizonSettings,
    actif=st.just(True),
    budget_net=st.sampled_from((0, 300, 1_000, 2_000)),
    budget_condense=st.sampled_from((0, 300, 1_200)),
    budget_recit=st.sampled_from((0, 200, 900, 3_000)),
    age_net_heures=st.sampled_from((0.2, 24.0)),
    plancher_phare=st.sampled_from(Floor),
    langue=st.sampled_from(("fr", "en")),
    modele=st.just("ollama/qwen3"),
)


def roomy(setting):
    """Return the settings with a narrative that has room for all words."""
    return replace(setting, budget_recit=200_000)
