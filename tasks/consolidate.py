"""One home's one day as a task: read again, believed with proof, written once."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date  # noqa: TC003 - a field of a value that travels between processes
from typing import TYPE_CHECKING, Final

from horizon import wiring
from horizon.core.day import DayState, shown_state
from horizon.core.event import TRUNCATION
from horizon.settings import summarizers
from tasks.outcome import Outcome, Result
from tasks.policy import use_case
from tasks.summarizer import summarizer_slot

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
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
    """What became of a day: `state` as `shown_state` gives it, and what the night's report tells.

    `left_out` counts exchanges by reason. `tokens` are those that the model read and wrote, `seconds` its time.
    `unreachable` tells that the summarizer could not be reached. `summary` is empty unless the home's setting
    `rapport_resume` lets it be shown in Prefect.
    """

    home: str
    day: date
    state: str
    left_out: Mapping[str, int] = field(default_factory=dict[str, int])
    by: str = ""
    calls: int = 0
    tokens: int = 0
    seconds: float = 0.0
    unreachable: bool = False
    summary: str = ""


def of_report(
    home: Path, report: DayReport, *, dry_run: bool, with_summary: bool, remarks: Sequence[str] = ()
) -> DayOutcome:
    """Return what Prefect may know of a day: counts and names, its text only where `with_summary` says so.

    `remarks` are added to its note.
    """
    return DayOutcome(
        what=report.day.isoformat(),
        result=_planned(report) if dry_run else _result(report),
        counts={
            "read": report.read,
            "new": report.new,
            "merged": report.merged,
            "refused": sum(report.refused.values()),
            "quarantined": report.quarantined,
            "superseded": report.superseded,
            "held back": report.held_back,
            "calls": report.calls,
        },
        note="; ".join(filter(None, (_note(report), *remarks))),
        home=str(home),
        day=report.day,
        state=shown_state(report.state, chosen=report.chosen),
        left_out=dict(report.left_out),
        by=report.by,
        calls=report.calls,
        tokens=report.prompt_tokens + report.reply_tokens,
        seconds=report.seconds,
        unreachable=report.unreachable,
        summary=report.summary if with_summary else "",
    )


def _result(report: DayReport) -> Result:
    chosen = report.state is DayState.DEGRADED and report.chosen
    result = Result.EXCERPT if chosen else RESULTS[report.state]
    return Result.NOTHING if result in {Result.DONE, Result.EXCERPT} and not report.changed else result


def _planned(report: DayReport) -> Result:
    if report.state is DayState.SOURCE_MISSING:
        return Result.MISSING
    if report.by == TRUNCATION:
        return Result.EXCERPT
    return Result.DONE if report.by else Result.NOTHING


def _note(report: DayReport) -> str:
    """Return why a day is as it is. Why a reply was refused stays in the ledger, for it may quote the memory."""
    if report.state is DayState.SOURCE_MISSING or report.unreachable:
        return report.error
    if report.state in {DayState.OWED, DayState.STALE}:
        return "`horizon nights` tells why"
    return ""


@use_case(run_name="consolidate {day} · {home.name}", tags=("horizon", "consolidation"))
def consolidate_day(home: Path, day: date, *, force: bool = False, dry_run: bool = False) -> DayOutcome:
    """Consolidate one day of one home; the same day again with the same exchanges changes nothing.

    Raises:
        StoreBusy: another run is at work on this home.
        InvalidInput: the day has not begun yet.
    """
    place = wiring.open_home(home)
    remarks = [f"settings: {problem}" for problem in wiring.passed_over(home)]
    if not dry_run:
        wiring.keep_settings(home)
    with summarizer_slot(needed=not dry_run and bool(summarizers(place.settings))):
        report = place.consolidate(day, force=force, dry_run=dry_run)
    return of_report(home, report, dry_run=dry_run, with_summary=place.settings.rapport_resume, remarks=remarks)
