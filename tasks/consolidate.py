"""One home's one day as a task: read again, believed with proof, written once."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date
from typing import TYPE_CHECKING, Final

from horizon import wiring
from horizon.core.day import DayState
from tasks.outcome import Outcome, Result
from tasks.policy import use_case
from tasks.summarizer import summarizer_slot

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from horizon.consolidation import DayReport

RESULTS: Final[Mapping[DayState, Result]] = {
    DayState.DONE: Result.DONE,
    DayState.EMPTY: Result.NOTHING,
    DayState.DEGRADED: Result.DEGRADED,
    DayState.OWED: Result.OWED,
    DayState.NEVER: Result.OWED,
    DayState.STALE: Result.OWED,
    DayState.SOURCE_MISSING: Result.MISSING,
}
"""What each state of the ledger (spec 2-consolidation §5) means to the run that tried the day."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DayOutcome(Outcome):
    """What became of a day: `state` as the ledger says it, and what the night's report tells.

    `left_out` counts exchanges by reason. `tokens` are those that the model read and wrote, `seconds` its time.
    `unreachable` tells that the summarizer could not be reached. `summary` is empty unless the home's setting
    `rapport_resume` lets it be shown in Prefect.
    """

    home: str
    day: date
    state: str
    read: int = 0
    left_out: Mapping[str, int] = field(default_factory=dict[str, int])
    by: str = ""
    calls: int = 0
    tokens: int = 0
    seconds: float = 0.0
    unreachable: bool = False
    summary: str = ""
