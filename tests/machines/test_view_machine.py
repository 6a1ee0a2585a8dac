"""Any sequence of turns, other writers, settings and upkeep: each way to a view gives what a fold from nothing gives.

The ways: the bee that was there all along (which prepares its view while it appends), a fresh process with whatever caches
lie there, and a fresh one without any. Views are compared whole: text, gauge, cuts and receipt.
"""

import json
import os
import shutil
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path
from unittest import mock

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from horizon import open_hive, wiring
from horizon.adapters import journal_jsonl

START = datetime(2026, 7, 10, 8, 0, tzinfo=UTC)
TEXTS = st.sampled_from(("court", "Réponds toujours en français. ", "[horizon · phare]\n", "mot " * 40, "字" * 120))
TOML = '[horizon]\nactif = {}\nresumeur = "troncature"\nbudget_net = {}\nbudget_condense = 400\nbudget_recit = 500\nlangue = "{}"\nfuseau = "{}"\nphares = ["{}"]\n'


class ViewMachine(RuleBasedStateMachine):
    def __init__(self):
        super().__init__()
        self.hive = Path(tempfile.mkdtemp(prefix="horizon-views-"))
        self.window = self.hive / "window"
        self.journal = self.window / "mia-messages.jsonl"
        self.rotation = mock.patch.object(journal_jsonl, "SEGMENT_ENTRIES", 7)
        self.rotation.start()
        self.turn = 0
        self.ids = []
        self.change_settings("true", 1_200, "fr", "Europe/Paris", "apicultrice")
        self.bee = self.fresh()

    def teardown(self):
        self.rotation.stop()
        shutil.rmtree(self.hive)

    def fresh(self):
        return open_hive(self.hive).bee("mia")

    def now(self):
        self.turn += 1
        return START + timedelta(minutes=self.turn)

    @rule(
        text=TEXTS,
        kind=st.sampled_from(("conversation", "outil")),
        late=st.sampled_from((0, 0, 0, 5)),
        there=st.booleans(),
    )
    def append(self, text, kind, late, there):
        """By the bee that is there, or by another process."""
        bee = self.bee if there else self.fresh()
        at = self.now() - timedelta(minutes=late)
        self.ids.append(bee.append(f"{self.turn} {text}", text, kind=kind, at=at).id)

    @rule(texts=st.lists(TEXTS, min_size=1, max_size=4))
    def chat(self, texts):
        """The common turn: one exchange, then a view, in one process."""
        self.bee.read()
        for text in texts:
            self.ids.append(self.bee.append(f"{self.turn} {text}", text, at=self.now()).id)
            assert self.bee.read() == self.fresh().read()

    @rule(
        fields=st.sampled_from(
            ({"query": "q", "response": "r"}, {"query": "q", "response": "r", "ts": 0}, {"id": "x", "query": "q"})
        ),
        newline=st.booleans(),
    )
    def another_engine_appends(self, fields, newline):
        """Undated or dated before all others, without a lock, its newline perhaps still to come."""
        self.window.mkdir(exist_ok=True)
        data = self.journal.read_bytes() if self.journal.exists() else b""
        lead = b"\n" if data and not data.endswith(b"\n") else b""
        with self.journal.open("ab") as file:
            file.write(lead + json.dumps(fields).encode() + (b"\n" if newline else b""))

    @precondition(lambda self: self.ids)
    @rule(which=st.integers(0, 30), on=st.booleans(), there=st.booleans())
    def flag(self, which, on, there):
        bee = self.bee if there else self.fresh()
        (bee.flag if on else bee.unflag)(self.ids[which % len(self.ids)])

    @rule(on=st.booleans())
    def flag_what_is_still_to_come(self, on):
        """Another engine's flag, on an id that its journal line will bring."""
        self.window.mkdir(exist_ok=True)
        with (self.window / "mia-phares.jsonl").open("ab") as file:
            file.write(json.dumps({"id": "x", "phare": on, "quand": START.isoformat()}).encode() + b"\n")

    @rule(
        active=st.sampled_from(("true", "true", "true", "false")),
        net=st.sampled_from((300, 1_200, 4_000)),
        language=st.sampled_from(("fr", "en")),
        zone=st.sampled_from(("Europe/Paris", "Asia/Tokyo", "")),
        beacons=st.sampled_from(("apicultrice", "outil")),
    )
    def change_settings(self, active, net, language, zone, beacons):
        path = self.hive / "horizon.toml"
        path.write_text(TOML.format(active, net, language, zone, beacons), encoding="utf-8")
        self.turn += 1
        os.utime(path, ns=(self.turn, self.turn))  # two writings may fall into one tick of the disk's clock

    @rule()
    def maintain(self):
        wiring.maintain(self.hive, "mia")

    @rule()
    def keep(self):
        self.bee.keep()

    @rule(fresh=st.booleans())
    def rebuild(self, fresh):
        wiring.rebuild(self.hive, "mia", fresh=fresh)

    @precondition(lambda self: self.ids)
    @rule(which=st.integers(0, 30))
    def forget(self, which):
        wiring.forgetting(self.hive, "mia").forget(id_=self.ids[which % len(self.ids)])

    @precondition(lambda self: (self.window / "mia-horizon.view").exists())
    @rule(at=st.floats(0, 1, exclude_max=True), bit=st.integers(0, 7), cut=st.booleans())
    def damage_the_view(self, at, bit, cut):
        path = self.window / "mia-horizon.view"
        data = bytearray(path.read_bytes())
        place = int(at * len(data))
        if data:
            data[place] ^= 1 << bit
        path.write_bytes(data[:place] if cut else data)

    @rule()
    def reopen(self):
        self.bee = self.fresh()

    @rule()
    def read(self):
        """The bee that is there looks, so that it prepares what comes next; without this it is only looked at in between."""
        self.bee.read()

    @invariant()
    def each_way_gives_the_same_view(self):
        view = self.fresh().read()
        aside = [path for name in ("snapshot", "view") if (path := self.window / f"mia-horizon.{name}").exists()]
        for path in aside:
            path.rename(path.with_suffix(f"{path.suffix}-aside"))
        expected = self.fresh().read()
        for path in aside:
            path.with_suffix(f"{path.suffix}-aside").rename(path)
        assert view == expected
        assert view.text == "".join(part.text for part in view.receipt)
        if self.turn % 3:  # else it is not asked, as when several exchanges come before the next view
            assert self.bee.read() == expected


ViewMachine.TestCase.settings = settings(max_examples=50, stateful_step_count=20, deadline=None)
TestViewMachine = ViewMachine.TestCase
