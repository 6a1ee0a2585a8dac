"""What became of one bee or one day, and of a whole run: small values that hold counts, dates and names only.

A run's state is the truth (spec 3-orchestration): Completed only if what it was for was really done. Whatever else
happened ends in a state of its own name, of type FAILED, so that no list, colour or filter of the Prefect UI takes it
for a success; the counts stand in its message. Days by excerpt because nobody named a summarizer are no failure, and
no success that could be taken for a summary: such a night ends well, under a name of its own.
"""

from __future__ import annotations

import logging
from collections import Counter
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final

from prefect.exceptions import FailedRun
from prefect.states import Completed, Failed

from horizon.errors import HorizonError, StoreBusy, Unavailable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from prefect.client.schemas.objects import State


class Unforeseen(Exception):
    """An error that nobody meant; says its kind and place, never what it was about."""


class Result(StrEnum):
    """What became of one bee or day; the order is that of gravity, the gravest first."""

    FAILED = "failed"
    """An error that a person must look at."""
    MISSING = "source missing"
    """What it works on could not be read."""
    OWED = "owed"
    """Nothing was written; it is taken again."""
    WAITING = "waiting"
    """Not begun, because the summarizer is out of reach."""
    BUSY = "busy"
    """Another run was at work on it throughout."""
    DEGRADED = "degraded"
    """Done without the summarizer; made again when it is back."""
    EXCERPT = "by excerpt (no summarizer configured)"
    """A day told by its own excerpt because nobody named a summarizer: a choice, taken again once one is named."""
    DONE = "done"
    NOTHING = "nothing to do"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """How a run ends when `Result` is its gravest: the state's name, and whether the run did what it was for."""

    name: str
    success: bool


ENDINGS: Final[Mapping[Result, Ending]] = {
    Result.FAILED: Ending(name="Failed", success=False),
    Result.MISSING: Ending(name="SourceMissing", success=False),
    Result.OWED: Ending(name="Owed", success=False),
    Result.WAITING: Ending(name="Unavailable", success=False),
    Result.BUSY: Ending(name="Busy", success=False),
    Result.DEGRADED: Ending(name="Degraded", success=False),
    Result.EXCERPT: Ending(name="Excerpt", success=True),
    Result.DONE: Ending(name="Completed", success=True),
    Result.NOTHING: Ending(name="NothingToDo", success=True),
}
"""Prefect emits an event of the state's *name*, so whatever watches for the end of runs must know all of these."""
PREVIEW: Final = Ending(name="DryRun", success=True)
"""How a dry run ends, whatever it found."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """One bee or one day after a run: `what` names it, `counts` says how much, `note` is for people."""

    what: str
    result: Result
    counts: Mapping[str, int] = field(default_factory=dict[str, int])
    note: str = ""

    def line(self) -> str:
        """Return one line for a log."""
        numbers = ", ".join(f"{count} {name}" for name, count in self.counts.items() if count)
        return ": ".join(part for part in (self.what, str(self.result), numbers, self.note) if part)


def of_error(what: str, error: BaseException) -> Outcome:
    """Return what became of `what` where work on it ended with `error`; only texts of our own are told."""
    if isinstance(error, StoreBusy):
        return Outcome(what=what, result=Result.BUSY, note=str(error))
    if isinstance(error, Unavailable):
        return Outcome(what=what, result=Result.MISSING, note=str(error))
    told = f"{type(error).__name__}: {error}" if isinstance(error, HorizonError | Unforeseen) else type(error).__name__
    return Outcome(what=what, result=Result.FAILED, note=told)


def gravest(results: Iterable[Result]) -> Result:
    """Return the gravest of `results`; nothing to do where there is none."""
    present = set(results)
    return next((result for result in Result if result in present), Result.NOTHING)


def message(results: Iterable[Result], nouns: str) -> str:
    """Return the counts for a state's message, the gravest first: "days: 2 degraded, 5 done"."""
    tally = Counter(results)
    return f"{nouns}: " + (", ".join(f"{tally[result]} {result}" for result in Result if tally[result]) or "none")


def state_of(results: Iterable[Result], nouns: str, *, dry_run: bool = False, note: str = "") -> State[Any]:
    """Return the state that a run over `results` ends in; `nouns` says of what, `note` is added to its message."""
    found = tuple(results)
    text = message(found, nouns) + (f"; {note}" if note else "")
    grave = gravest(found)
    ending = PREVIEW if dry_run and ENDINGS[grave].success else ENDINGS[grave]
    logging.getLogger("prefect.flow_runs").addFilter(_without_trace)
    return Completed(name=ending.name, message=text) if ending.success else Failed(name=ending.name, message=text)


def _without_trace(record: logging.LogRecord) -> bool:
    """Drop the trace of Prefect's own code that its engine logs, as an error, for any failing state that a flow returns."""
    return not (record.exc_info and record.exc_info[0] is FailedRun)
