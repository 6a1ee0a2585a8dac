"""Who makes a text: the order, the second attempt, the circuit, and what is told of each step."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from horizon.adapters.ollama_model import OllamaModel
from horizon.cascade import FAILURES_MOST, REST, Attempt, Cascade, request_for
from horizon.core.event import Step
from horizon.core.prompt import Prompt
from horizon.errors import InvalidInput, ModelUnavailable
from horizon.ports import ModelRequest, Rejected
from horizon.settings import HorizonSettings, summarizers
from horizon.testing import FixedClock, ScriptedModel
from tests.ollama_behaviour import hang, slow

DOWN = ModelUnavailable("refused")


@pytest.fixture
def clock():
    return FixedClock(datetime(2026, 8, 23, 12, tzinfo=UTC))


def request(attempt: Attempt) -> ModelRequest:
    prompt = "text" if attempt.reason is None else f"text, not: {attempt.reason}"
    return ModelRequest(model=attempt.model, prompt=prompt, reply_tokens=10, context=attempt.window or 4096, timeout=1)


def good(reply):
    return reply if reply.startswith("good") else Rejected(reason=f"{reply} is bad")


def cascade_of(clock, *replies, then=None):
    model = ScriptedModel(then=then)
    model.replies.extend(replies)
    return Cascade(model, clock), model


def test_the_first_model_s_good_text_is_taken(clock):
    cascade, model = cascade_of(clock, "good 1")
    asked = cascade.ask(["a", "b"], request, good)
    assert (asked.value, asked.by, asked.steps) == ("good 1", "a", (Step(by="a", outcome="ok"),))
    assert not asked.failed
    assert [each.model for each in model.requests] == ["a"]


def test_a_rejected_reply_is_asked_for_once_more_with_the_reason(clock):
    cascade, model = cascade_of(clock, "poor", "good 2")
    assert cascade.ask(["a"], request, good).value == "good 2"
    assert [each.prompt for each in model.requests] == ["text", "text, not: poor is bad"]


def test_after_two_rejections_the_next_model_is_asked_afresh(clock):
    cascade, model = cascade_of(clock, "poor", "poorer", "good 3")
    asked = cascade.ask(["a", "b"], request, good)
    assert asked.steps == (Step(by="a", outcome="poorer is bad"), Step(by="b", outcome="ok"))
    assert [(each.model, each.prompt) for each in model.requests][2] == ("b", "text")


def test_a_model_that_cannot_be_reached_is_left_at_once(clock):
    cascade, model = cascade_of(clock, DOWN, "good")
    asked = cascade.ask(["a", "b"], request, good)
    assert asked.by == "b"
    assert asked.steps[0] == Step(by="a", outcome="refused")
    assert len(model.requests) == 2


def test_each_step_waits_its_own_time_for_a_real_server(clock, ollama_server):
    ollama_server.model("small").model("own")
    ollama_server.then(hang(), slow("good, late", delay=0.6))
    times = HorizonSettings(
        resumeur="ollama/small",
        modele="ollama/own",
        delai_secondes=0.2,
        delai_dedie_secondes=0.2,
        delai_abeille_secondes=60,
    )
    asked = Cascade(OllamaModel(host=ollama_server.host), clock).ask(
        summarizers(times),
        lambda attempt: request_for(attempt, Prompt(system="", text="text", reply_tokens=10), times),
        good,
    )
    assert (asked.value, asked.by) == ("good, late", "ollama/own")
    assert [step.by for step in asked.steps] == ["ollama/small", "ollama/own"]
    assert "in time" in asked.steps[0].outcome


def test_a_final_rejection_is_not_asked_again(clock):
    cascade, model = cascade_of(clock, Rejected(reason="ollama pull a", final=True))
    asked = cascade.ask(["a"], request, good)
    assert asked.unreachable
    assert asked.reason == "ollama pull a"
    assert len(model.requests) == 1


def test_no_model_is_a_choice_and_a_useless_one_a_failure(clock):
    cascade, _ = cascade_of(clock, "poor", "poor")
    none = cascade.ask([], request, good)
    assert (none.value, none.failed, none.unreachable) == (None, False, False)
    poor = cascade.ask(["a"], request, good)
    assert (poor.value, poor.failed, poor.unreachable) == (None, True, False)
    down = cascade.ask(["a"], request, good)
    assert (down.value, down.failed, down.unreachable) == (None, True, True)


def test_a_smaller_window_is_learnt_and_costs_no_attempt(clock):
    small = Rejected(reason="does not fit", window=2048)
    cascade, model = cascade_of(clock, small, "poor", "good")
    assert cascade.ask(["a"], request, good).value == "good"
    model.replies.append("good")
    cascade.ask(["a"], request, good)
    assert [each.context for each in model.requests] == [4096, 2048, 2048, 2048]


def test_a_window_that_does_not_shrink_ends_all_the_same(clock):
    cascade, model = cascade_of(clock, then=lambda _: Rejected(reason="does not fit", window=2048))
    assert cascade.ask(["a"], request, good).value is None
    assert len(model.requests) == 3


def test_a_request_that_cannot_be_made_leaves_the_model(clock):
    cascade, model = cascade_of(clock)
    asked = cascade.ask(["a"], lambda _: Rejected(reason="too small"), good)
    assert asked.steps == (Step(by="a", outcome="too small"),)
    assert model.requests == []


def test_settings_that_can_be_no_address_do_not_stop_the_work(clock):
    cascade, _ = cascade_of(clock, InvalidInput("no address"))
    assert cascade.ask(["a"], request, good).reason == "no address"


def test_the_circuit_opens_after_failures_in_a_row_and_closes_after_a_rest_and_a_look(clock):
    cascade, model = cascade_of(clock, *[DOWN] * FAILURES_MOST)
    for _ in range(FAILURES_MOST):
        cascade.ask(["a"], request, good)
    assert "passed over" in cascade.ask(["a"], request, good).reason
    clock.advance(REST - timedelta(seconds=1))
    cascade.ask(["a"], request, good)
    assert len(model.requests) == FAILURES_MOST
    clock.advance(timedelta(seconds=1))
    assert "down" in cascade.ask(["a"], request, good).reason  # the look finds it still down, and no call is made
    assert len(model.requests) == FAILURES_MOST
    clock.advance(REST)
    model.replies.append("good again")
    assert cascade.ask(["a"], request, good).value == "good again"


def test_one_failure_after_a_rest_opens_it_again(clock):
    cascade, model = cascade_of(clock, *[DOWN] * FAILURES_MOST)
    for _ in range(FAILURES_MOST):
        cascade.ask(["a"], request, good)
    clock.advance(REST)
    model.replies.append(DOWN)
    cascade.ask(["a"], request, good)
    model.replies.append("good")
    assert "passed over" in cascade.ask(["a"], request, good).reason


def test_failures_that_are_not_in_a_row_do_not_open_it(clock):
    cascade, _ = cascade_of(clock, DOWN, DOWN, "good", DOWN, DOWN, "good")
    values = [cascade.ask(["a"], request, good).value for _ in range(6)]
    assert values == [None, None, "good", None, None, "good"]


def test_each_model_has_its_own_circuit(clock):
    cascade, model = cascade_of(clock)
    for _ in range(FAILURES_MOST):
        cascade.ask(["a"], request, good)
    model.then = lambda _: "good"
    assert cascade.ask(["a", "b"], request, good).by == "b"


def test_a_health_check_closes_the_circuit(clock):
    cascade, model = cascade_of(clock)
    for _ in range(FAILURES_MOST):
        cascade.ask(["a"], request, good)
    assert "down" in cascade.available(["a"])
    model.then = lambda _: "good"
    assert cascade.available(["a"]) is None
    assert cascade.ask(["a"], request, good).value == "good"
    assert cascade.available([]) == "no model is configured"


def test_the_tally_counts_calls_failures_and_rejections(clock):
    cascade, _ = cascade_of(clock, "poor", "good", DOWN)
    cascade.ask(["a"], request, good)
    cascade.ask(["a"], request, good)
    tally = cascade.tally
    assert (tally.calls, tally.failures, tally.rejections) == (3, 1, 1)


def test_over_a_real_server_the_outage_ends_and_work_goes_on(ollama_server, clock):
    from horizon.adapters.ollama_model import OllamaModel  # noqa: PLC0415  # the other tests need no client

    cascade = Cascade(OllamaModel(host=ollama_server.host), clock)
    ollama_server.switch("503")
    for _ in range(FAILURES_MOST + 2):
        assert cascade.ask(["ollama/qwen3"], request, good).unreachable
    ollama_server.switch("deterministic").answer("good")
    clock.advance(REST)
    assert cascade.ask(["ollama/qwen3"], request, good).value == "good"
    assert cascade.tally.prompt_tokens > 0
