"""Whatever a real and very small model says: texts within their bounds, nothing invented, valid files, honest states.

Opt-in, and about two minutes on two cores: `pip install xllamacpp`, then
`LIVE_WEIGHTS=path/to/SmolLM2-135M-Instruct.gguf pytest -m live -s tests/live` (with `-s` what the model said is shown).
"""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from datetime import UTC, date, datetime

import pytest

from horizon import wiring
from horizon.adapters.ollama_model import OllamaModel
from horizon.cascade import Cascade
from horizon.core import condensation, narrative
from horizon.core.day import DayState
from horizon.core.exchange import Exchange
from horizon.core.fidelity import check
from horizon.ports import ModelRequest, Rejected
from horizon.testing import FixedClock
from tests.live.bridge import NAME
from tests.night_home import MEMORY, add_trace, make_traces

pytestmark = pytest.mark.live
MODEL = f"ollama/{NAME}"
MOST = 1_200
EXCHANGE = Exchange(
    id="e1",
    at=datetime(2026, 8, 23, 12, tzinfo=UTC),
    question="Why does the build fail?",
    answer=(
        "The build failed because the disk was full: /var had 0 bytes left. I removed 14 old archives from /var/backups, which "
        "freed 3.2 GB, and ran `make build` again. It passed in 42 seconds. I also set the nightly job to keep only the last "
        "5 archives, in /etc/cron.d/backups. Nothing else was changed, and the report was sent to the team by e-mail."
    ),
)


@pytest.fixture
def cascade(small_model):
    return Cascade(OllamaModel(host=small_model.host), FixedClock(datetime(2026, 8, 23, tzinfo=UTC)))


def requested(made, model):
    if isinstance(made, Rejected):
        return made
    return ModelRequest(
        model=model, prompt=made.text, system=made.system, schema=made.schema,
        reply_tokens=made.reply_tokens, context=4096, timeout=300,
    )  # fmt: skip


def honest(asked):
    (step,) = asked.steps
    assert step.by == MODEL
    assert (step.outcome == "ok") == (asked.value is not None)
    assert not asked.unreachable


def test_the_health_check_finds_it(small_model):
    assert OllamaModel(host=small_model.host).available(MODEL) is None


def test_one_condensing(cascade, small_model):
    asked = cascade.ask(
        [MODEL],
        lambda attempt: requested(
            condensation.prompt(EXCHANGE, language="en", window=4096, reason=attempt.reason), attempt.model
        ),
        lambda reply: condensation.judge(reply, EXCHANGE, language="en"),
    )
    honest(asked)
    text = asked.value if asked.value is not None else condensation.truncate(EXCHANGE)
    print(small_model.replies, asked, text, cascade.tally, sep="\n")  # noqa: T201  # what was said, for who runs it
    assert 0 < len(text) <= condensation.CONDENSED_MOST
    assert check(text, [EXCHANGE.question, EXCHANGE.answer]) is None


def test_one_melting(cascade, small_model):
    previous = narrative.truncate({}, [narrative.Melting(when="2026-08-22", question="Set up the backups.", text="Backups run nightly.")],
                                  most=MOST, language="en")  # fmt: skip
    batch = [narrative.Melting(when="2026-08-23", question=EXCHANGE.question, text=condensation.truncate(EXCHANGE))]
    asked = cascade.ask(
        [MODEL],
        lambda attempt: requested(
            narrative.prompt(previous, batch, most=MOST, language="en", window=4096, reason=attempt.reason),
            attempt.model,
        ),
        lambda reply: narrative.judge(reply, previous, batch, most=MOST, language="en"),
    )
    honest(asked)
    sections = asked.value if asked.value is not None else narrative.truncate(previous, batch, most=MOST, language="en")
    print(small_model.replies[-2:], asked, sections, cascade.tally, sep="\n")  # noqa: T201  # as above
    limits = narrative.caps(MOST)
    assert all(0 < len(text) <= limits[section] for section, text in sections.items())


DAY = date(2026, 8, 23)
LIVED = [
    (EXCHANGE.question, EXCHANGE.answer),
    ("I moved to Lyon in June and work at Acme now.", "Noted: you live in Lyon since June and work at Acme."),
    (
        "Remember that the demo is on Monday 7 September at 9:00.",
        "I will remember: the demo is on Monday 7 September at 9:00.",
    ),
]
SETTINGS = f'[consolidation]\nfuseau = "UTC"\nlangue = "en"\nresumeur = "{MODEL}"\ndelai_secondes = 300.0\n'


@pytest.fixture
def home(tmp_path, small_model, monkeypatch):
    monkeypatch.setenv("OLLAMA_HOST", small_model.host)
    (tmp_path / "horizon.toml").write_text(SETTINGS, encoding="utf-8")
    make_traces(tmp_path / "traces.db")
    for hour, (question, answer) in enumerate(LIVED, start=9):
        at = datetime(2026, 8, 23, hour, tzinfo=UTC).timestamp()
        add_trace(tmp_path / "traces.db", question, answer, at=at, trace_id=f"t{hour}")
    bench = datetime(2026, 8, 23, 20, tzinfo=UTC).timestamp()
    add_trace(tmp_path / "traces.db", "who are you?", "A model.", at=bench, trace_id="b", model="test-model")
    return tmp_path


def memory(home):
    return {name: (home / name).read_bytes() for name in MEMORY if (home / name).exists() and name != "memory.db"}


def test_one_night(home, small_model):
    traces = (home / "traces.db").read_bytes()
    report = wiring.open_home(home).consolidate(DAY)
    print(small_model.replies[-report.calls :], report, memory(home), sep="\n")  # noqa: T201  # as above
    assert report.state in {DayState.DONE, DayState.OWED}
    assert (report.read, report.left_out) == (3, {"test-bench": 1})
    assert report.calls >= 1
    assert not report.unreachable
    assert (home / "traces.db").read_bytes() == traces

    lines = [json.loads(line) for line in memory(home).get("memory_facts.jsonl", b"").split(b"\n") if line]
    sources = [text for exchange in LIVED for text in exchange]
    assert all(set(line) == {"text", "source", "created_at", "trust"} for line in lines)
    assert all(check(line["text"], sources) is None for line in lines)
    assert len(lines) == report.new
    section = memory(home).get("journal.md", b"").decode().count("## 2026-08-23\n")
    if report.state is DayState.DONE:
        assert (section, report.by, report.error) == (1, MODEL, "")
        assert report.summary
        with closing(sqlite3.connect(home / "memory.db")) as database:
            (indexed,) = database.execute("SELECT count(*) FROM documents").fetchone()
        assert indexed == len(lines)
    else:
        assert (section, lines) == (0, [])
        assert report.error

    (night,) = wiring.open_home(home).nights(DAY, DAY)
    assert night.state is report.state
    if report.state is DayState.DONE:
        before = memory(home)
        assert not wiring.open_home(home).consolidate(DAY).changed
        assert memory(home) == before
