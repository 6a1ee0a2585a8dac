"""One bee's horizon, folded again from its journals, as a task."""

from __future__ import annotations

from typing import TYPE_CHECKING

from horizon import wiring
from tasks.maintain import BeeOutcome, of_report
from tasks.policy import use_case
from tasks.summarizer import summarizer_slot

if TYPE_CHECKING:
    from pathlib import Path


@use_case(run_name="rebuild {bee}", tags=("horizon", "rebuild"))
def rebuild_bee(hive: Path, bee: str, *, fresh: bool = False) -> BeeOutcome:
    """Fold one bee's journals again; with `fresh` the models are asked again too. The journal is only read.

    Raises:
        StoreBusy: another maintainer is at work on this bee.
    """
    with summarizer_slot(needed=fresh):
        return of_report(wiring.rebuild(hive, bee, fresh=fresh))
