"""What is retried, and what an error may tell Prefect."""

from __future__ import annotations

import traceback

import pytest
from prefect.states import Failed

from horizon.errors import (
    CorruptData,
    HorizonError,
    InvalidInput,
    InvalidSettings,
    ModelUnavailable,
    StoreBusy,
    TransientError,
    Unavailable,
)
from tasks import policy
from tasks.outcome import Unforeseen


@pytest.mark.parametrize("kind", [TransientError, ModelUnavailable, StoreBusy])
def test_what_may_work_in_a_moment_is_retried(kind):
    assert policy.worth_a_retry(task_called(kind("later")), None, Failed(data=kind("later")))


@pytest.mark.parametrize("kind", [HorizonError, InvalidInput, InvalidSettings, Unavailable, ValueError, OSError])
def test_what_stays_wrong_is_not(kind):
    assert not policy.worth_a_retry(task_called(kind("no")), None, Failed(data=kind("no")))


def test_waits_grow_and_are_spread():
    task = task_called(StoreBusy("busy"))

    assert task.retries == 3
    assert task.retry_delay_seconds == [2, 4, 8]
    assert task.retry_jitter_factor == 0.5


def test_an_unforeseen_error_tells_its_kind_and_place_and_not_its_message():
    task = task_called(KeyError("le code de la porte est 1234"))

    with pytest.raises(Unforeseen) as raised:
        task.fn("x")

    told = "".join(str(part) for part in (raised.value, raised.value.__cause__, raised.value.__suppress_context__))
    assert "1234" not in told
    assert str(raised.value).startswith("KeyError at ")
    assert "test_policy.py" in str(raised.value)


@pytest.mark.parametrize(
    "error",
    [Unavailable("there is no folder /ruche"), CorruptData("not JSON", path="x", line=1, offset=0), StoreBusy("busy")],
)
def test_our_own_errors_pass_as_they_are(error):
    with pytest.raises(type(error)) as raised:
        task_called(error).fn("x")
    assert raised.value is error


def test_what_led_to_an_error_of_ours_is_not_told_with_it():
    def read():
        try:
            int("le code de la porte est 1234")
        except ValueError as error:
            raise Unavailable("/ruche/x could not be read") from error

    with pytest.raises(Unavailable) as raised, policy.discreetly():
        read()

    assert "1234" not in "".join(traceback.format_exception(raised.value))
    assert "/ruche/x" in str(raised.value)


def task_called(error):
    @policy.use_case(run_name="try {what}", tags=("test",))
    def fail(what):
        assert what == "x"
        raise error

    return fail
