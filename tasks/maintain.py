"""One bee's upkeep as a task: evict, then melt."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from horizon import wiring
from tasks.outcome import Outcome, Result
from tasks.policy import use_case
from tasks.summarizer import summarizer_slot

if TYPE_CHECKING:
    from collections.abc import Mapping

    from horizon.core.upkeep import MaintenanceReport


@dataclass(frozen=True, slots=True, kw_only=True)
class BeeOutcome(Outcome):
    """What became of a bee; `gauge` gives characters and budget of each zone, as injected."""

    hive: str
    gauge: Mapping[str, tuple[int, int]] = field(default_factory=dict[str, tuple[int, int]])


def of_report(report: MaintenanceReport) -> BeeOutcome:
    """Return the counts of a report, without any text of the bee's memory."""
    if report.degraded:
        result = Result.DEGRADED
    elif report.needs():
        result = Result.DONE
    else:
        result = Result.NOTHING
    counts = {
        "evicted": report.evicted,
        "condensed": report.condensed,
        "melted": report.melted,
        "narratives": report.narratives,
        "made again": report.repaired,
        "degraded": report.degraded,
        "calls": report.calls,
    }
    return BeeOutcome(
        hive=report.hive,
        what=f"{Path(report.hive).name}/{report.bee}",
        result=result,
        counts=counts,
        gauge=dict(report.gauge),
        note="; ".join(report.notes),
    )


@use_case(run_name="evict {bee}", tags=("horizon", "maintenance"))
def maintain_bee(hive: Path, bee: str, *, dry_run: bool = False) -> BeeOutcome:
    """Evict and melt for one bee; idempotent, and safe to kill at any instant.

    Raises:
        StoreBusy: another maintainer is at work on this bee.
    """
    with summarizer_slot(needed=not dry_run and wiring.asks_model(hive, bee)):
        return of_report(wiring.maintain(hive, bee, dry_run=dry_run))
