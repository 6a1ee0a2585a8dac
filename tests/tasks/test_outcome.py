"""What a run's state says: the gravest of what became of its bees or days, and how many of each."""

from __future__ import annotations

import pickle
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prefect.client.schemas.objects import StateType

from horizon.errors import CorruptData, InvalidInput, ModelUnavailable, StoreBusy, Unavailable
from tasks.consolidate import DayOutcome
from tasks.outcome import ENDINGS, Outcome, Result, Unforeseen, gravest, message, of_error, state_of


@given(st.lists(st.sampled_from(Result)))
def test_a_run_is_completed_only_if_all_that_it_did_is_done(results):
    state = state_of(results, "days")

    succeeded = state.type is StateType.COMPLETED
    assert succeeded == set(results).issubset({Result.EXCERPT, Result.DONE, Result.NOTHING})
    assert (state.name == "Completed") == (succeeded and Result.DONE in results and Result.EXCERPT not in results)


@given(st.lists(st.sampled_from(Result), min_size=1))
def test_every_outcome_is_counted_in_the_message(results):
    told = message(results, "days")

    for result in set(results):
        assert f"{results.count(result)} {result}" in told


def test_a_degraded_night_is_told_by_name_and_counts():
    state = state_of([Result.DONE, Result.DEGRADED, Result.DONE, Result.NOTHING], "days", note="2 more owed")

    assert state.type is StateType.FAILED
    assert state.name == "Degraded"
    assert state.message == "days: 1 degraded, 2 done, 1 nothing to do; 2 more owed"


def test_excerpts_by_choice_are_no_failure_and_no_summaries():
    state = state_of([Result.DONE, Result.EXCERPT, Result.EXCERPT], "days")

    assert (state.type, state.name) == (StateType.COMPLETED, "Excerpt")
    assert state.message == "days: 2 by excerpt (no summarizer configured), 1 done"
    assert state_of([Result.EXCERPT, Result.DEGRADED], "days").name == "Degraded"


def test_nothing_to_do_is_told_apart_from_done():
    assert state_of([], "bees").name == "NothingToDo"
    assert state_of([], "bees").message == "bees: none"
    assert state_of([Result.NOTHING], "bees").name == "NothingToDo"
    assert state_of([Result.DONE], "bees").name == "Completed"


def test_a_dry_run_never_looks_completed_nor_hides_a_failure():
    assert state_of([Result.DONE], "days", dry_run=True).name == "DryRun"
    assert state_of([Result.MISSING], "days", dry_run=True).name == "SourceMissing"


def test_every_result_has_an_ending_of_its_own_name():
    assert set(ENDINGS) == set(Result)
    assert len({ending.name for ending in ENDINGS.values()}) == len(Result)


def test_the_gravest_wins():
    assert gravest([Result.DONE, Result.OWED, Result.DEGRADED]) is Result.OWED
    assert gravest([]) is Result.NOTHING


@pytest.mark.parametrize(
    ("error", "result", "note"),
    [
        (StoreBusy("another maintainer is at work on mia"), Result.BUSY, "another maintainer is at work on mia"),
        (Unavailable("there is no traces.db"), Result.MISSING, "there is no traces.db"),
        (ModelUnavailable("refused"), Result.FAILED, "ModelUnavailable: refused"),
        (InvalidInput("no such bee"), Result.FAILED, "InvalidInput: no such bee"),
        (
            CorruptData("not JSON", path=Path("x.jsonl"), line=3, offset=40),
            Result.FAILED,
            "CorruptData: x.jsonl, line 3 (byte 40): not JSON",
        ),
        (Unforeseen("KeyError at x.py:3 in f"), Result.FAILED, "Unforeseen: KeyError at x.py:3 in f"),
        (ValueError("« le code est 1234 »"), Result.FAILED, "ValueError"),
    ],
)
def test_an_error_becomes_an_outcome_that_tells_no_memory(error, result, note):
    assert of_error("mia", error) == Outcome(what="mia", result=result, note=note)


def test_a_line_for_the_log_says_what_happened_and_how_much():
    outcome = Outcome(what="mia", result=Result.DONE, counts={"evicted": 3, "melted": 0, "calls": 4}, note="one left")

    assert outcome.line() == "mia: done: 3 evicted, 4 calls: one left"


def test_outcomes_travel_between_processes():
    outcome = DayOutcome(
        what="2026-08-23", result=Result.DONE, home="/ruche", day=date(2026, 8, 23), state="done", calls=4
    )

    assert pickle.loads(pickle.dumps(outcome)) == outcome
