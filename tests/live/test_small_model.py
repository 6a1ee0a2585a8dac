"""Whatever a real and very small model says: texts within their bounds, nothing invented, honest steps."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from horizon.adapters.ollama_model import OllamaModel
from horizon.cascade import Cascade
from horizon.core import condensation, narrative
from horizon.core.exchange import Exchange
from horizon.core.fidelity import check
from horizon.ports import ModelRequest, Rejected
from horizon.testing import FixedClock
from tests.live.bridge import NAME

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
