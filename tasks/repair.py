"""What an outage left of one bee, made again from the integral journal, as a task."""

from __future__ import annotations

from typing import TYPE_CHECKING

from horizon import wiring
from tasks.maintain import BeeOutcome, of_report
from tasks.policy import use_case
from tasks.summarizer import summarizer_slot

if TYPE_CHECKING:
    from pathlib import Path


@use_case(run_name="repair {bee}", tags=("horizon", "repair"))
def repair_bee(hive: Path, bee: str) -> BeeOutcome:
    """Make again one bee's degraded condensates and narrative; a good text is never replaced by a worse one.

    Raises:
        StoreBusy: another maintainer is at work on this bee.
    """
    with summarizer_slot():
        return of_report(wiring.repair(hive, bee))
