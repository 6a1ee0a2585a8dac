"""Any sequence of turns, evictions, meltings, rotations, crashes and reopenings, against a list.

The list model knows only which exchanges were written and in which zone each must be; the store must give
the same state live, from its snapshot, and from the journals alone.
"""

import gzip
import shutil
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from horizon.adapters.clock import SystemClock
from horizon.adapters.journal_jsonl import JournalStore
from horizon.core.event import Cause, Condensed, Evicted, Flagged, Narrated, Section, Word
from horizon.core.exchange import Exchange
from horizon.core.state import in_lived_order

START = datetime(2026, 7, 10, 8, 0, tzinfo=UTC)
NAMES = st.sampled_from(["a", "b", "c", "d", "e", "f"])


class JournalMachine(RuleBasedStateMachine):
    def __init__(self):
        super().__init__()
        self.hive = Path(tempfile.mkdtemp(prefix="horizon-machine-"))
        self.window = self.hive / "window"
        self.journal = self.window / "mia-messages.jsonl"
        self.archive = self.window / "archive"
        self.model = []  # [id, question, zone]
        self.flags = {}
        self.bytes = {"messages": b"", "phares": b"", "horizon": b""}
        self.turn = 0
        self.version = 0
        self.reopen()

    def teardown(self):
        shutil.rmtree(self.hive)

    def now(self):
        self.turn += 1
        return START + timedelta(minutes=self.turn)

    @rule()
    def reopen(self):
        self.store = JournalStore(self.hive, "mia", SystemClock())

    @rule(name=NAMES, question=st.text(st.characters(), max_size=12), late=st.integers(0, 3))
    def append(self, name, question, late):
        at = self.now() - timedelta(minutes=2 * late)
        written = self.store.append(Exchange(id=name, at=at, question=question, answer="r" * 20)).exchange
        self.model.append([name, written.question, "sharp"])

    @rule(questions=st.lists(st.sampled_from(["x", "y"]), min_size=1, max_size=3), newline=st.booleans())
    def another_engine_appends(self, questions, newline):
        """Without an id and without a lock; the end of its last line may still be missing."""
        self.window.mkdir(exist_ok=True)
        data = self.journal.read_bytes() if self.journal.exists() else b""
        lead = b"\n" if data and not data.endswith(b"\n") else b""
        written = b"\n".join(b'{"query": "%s", "ts": %d}' % (q.encode(), self.turn) for q in questions)
        with self.journal.open("ab") as file:
            file.write(lead + written + (b"\n" if newline else b""))
        self.model += [[None, question, "sharp"] for question in questions]

    @rule(name=NAMES, on=st.booleans(), word=st.booleans())
    def flag(self, name, on, word):
        said = Word(id=name, at=START, text="w") if word else None
        event = Flagged(id=name, on=on, at=self.now(), word=said)
        self.store.flag(event)
        self.flags[name] = event

    @rule(names=st.lists(NAMES, min_size=1, max_size=4, unique=True), snapshot=st.booleans())
    def evict(self, names, snapshot):
        names = [name for name in names if [name, "sharp"] in [[entry[0], entry[2]] for entry in self.model]]
        with self.store.exclusive():
            for name in names:
                self.store.record(Condensed(id=name, text="c", by="troncature", degraded=False, at=self.now()))
            self.store.record(Evicted(ids=tuple(names), at=self.now()))
            if snapshot:
                self.store.save_snapshot()
        for name in names:
            next(entry for entry in self.model if entry[0] == name and entry[2] == "sharp")[2] = "condensed"

    @rule(names=st.lists(NAMES, min_size=1, max_size=4, unique=True), degraded=st.booleans())
    def melt(self, names, degraded):
        names = [name for name in names if [name, "condensed"] in [[entry[0], entry[2]] for entry in self.model]]
        self.version += 1
        with self.store.exclusive():
            self.store.record(
                Narrated(
                    version=self.version,
                    base=self.version - 1,
                    cause=Cause.MELTING,
                    sections={Section.MISSION: f"version {self.version}"},
                    by="ollama/x",
                    degraded=degraded,
                    at=self.now(),
                    ids=tuple(names),
                    words=tuple(Word(id=name, at=START, text="w") for name in names[:1]),
                )
            )
        for name in names:
            next(entry for entry in self.model if entry[0] == name and entry[2] == "condensed")[2] = "melted"

    @precondition(lambda self: self.journal.exists())
    @rule(how=st.sampled_from(["rename", "copy and truncate", "compress"]))
    def another_engine_rotates(self, how):
        self.archive.mkdir(exist_ok=True)
        target = self.archive / f"mia-messages-{self.now():%H%M}.jsonl"
        if how == "copy and truncate":
            shutil.copy(self.journal, target)
            self.journal.write_bytes(b"")
        else:
            self.journal.rename(target)
        if how == "compress":
            target.with_suffix(".jsonl.gz").write_bytes(gzip.compress(target.read_bytes()))
            target.unlink()

    @precondition(lambda self: self.journal.exists())
    @rule(cut=st.integers(1, 200))
    def crash_while_appending(self, cut):
        """A writer dies: a part of its line is on disk."""
        line = b'{"id": "never", "quand": "2026-07-10T08:00:00Z", "question": "' + b"x" * 200 + b'", "reponse": ""}\n'
        data = self.journal.read_bytes()
        with self.journal.open("ab") as file:
            file.write((b"\n" if data and not data.endswith(b"\n") else b"") + line[:cut])
        self.reopen()

    @precondition(lambda self: (self.window / "mia-horizon.jsonl").exists())
    @rule(cut=st.integers(1, 60))
    def crash_while_recording(self, cut):
        line = b'{"quand": "2026-07-10T08:00:00+00:00", "fait": "eviction", "ids": ["a", "b"]}\n'
        with (self.window / "mia-horizon.jsonl").open("ab") as file:
            file.write(line[:cut])
        self.reopen()

    @rule()
    def lose_the_caches(self):
        (self.window / "mia-horizon.snapshot").unlink(missing_ok=True)
        (self.window / "mia-horizon.index").unlink(missing_ok=True)

    @rule(name=NAMES)
    def look_up(self, name):
        found = self.store.exchange(name)
        expected = next((question for id_, question, _ in self.model if id_ == name), None)
        assert (found.question if found else None) == expected

    @invariant()
    def the_state_is_what_the_list_says(self):
        state = self.store.load().state
        assert state.appended == len(self.model)
        for zone, held in (("sharp", state.sharp), ("condensed", state.condensed)):
            expected = [question for _, question, where in self.model if where == zone]
            assert [held[place].question for place in sorted(held)] == expected
            assert len(in_lived_order(held)) == len(held)
        assert state.melted == sum(where == "melted" for _, _, where in self.model)
        assert state.flags == self.flags

    @invariant()
    def replaying_the_journals_gives_the_live_state(self):
        live = self.store.load().state
        assert JournalStore(self.hive, "mia", SystemClock()).load().state == live
        snapshot = self.window / "mia-horizon.snapshot"
        if snapshot.exists():
            aside = snapshot.rename(self.window / "aside")
            assert JournalStore(self.hive, "mia", SystemClock()).load().state == live
            aside.rename(snapshot)

    @invariant()
    def bytes_once_written_never_change(self):
        packed = sorted(self.archive.iterdir()) if self.archive.exists() else []
        parts = [gzip.decompress(p.read_bytes()) if p.suffix == ".gz" else p.read_bytes() for p in packed]
        journal = b"".join([*parts, self.journal.read_bytes() if self.journal.exists() else b""])
        for name, now in (("messages", journal), *((n, self.read(n)) for n in ("phares", "horizon"))):
            assert now.startswith(self.bytes[name])
            self.bytes[name] = now

    def read(self, name):
        path = self.window / f"mia-{name}.jsonl"
        return path.read_bytes() if path.exists() else b""


JournalMachine.TestCase.settings = settings(max_examples=60, stateful_step_count=25, deadline=None)
TestJournalMachine = JournalMachine.TestCase
