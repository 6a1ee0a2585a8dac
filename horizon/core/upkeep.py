"""What a pass of maintenance tells of a bee (spec 1-horizon §8)."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True, kw_only=True)
class MaintenanceReport:
    """What a pass really did for one bee, in counts; no text of its memory.

    `condensed` counts texts made for evicted exchanges, `melted` exchanges, `narratives` versions written,
    `repaired` texts made again, `degraded` texts that are degraded in the state that the pass left. `by` counts
    the texts of this pass by author. `gauge` gives each zone's characters and budget by the zone's French name.
    `notes` say, for people, what was left and why. Of a dry run, `evicted` and `melted` are what would move.
    """

    hive: str
    bee: str
    active: bool
    dry_run: bool = False
    evicted: int = 0
    condensed: int = 0
    melted: int = 0
    narratives: int = 0
    repaired: int = 0
    degraded: int = 0
    calls: int = 0
    failures: int = 0
    tokens: int = 0
    by: Mapping[str, int] = field(default_factory=dict[str, int])
    gauge: Mapping[str, tuple[int, int]] = field(default_factory=dict[str, tuple[int, int]])
    notes: tuple[str, ...] = ()

    def needs(self) -> bool:
        """Tell whether the pass changed anything, or a dry run would have."""
        return bool(self.evicted or self.melted or self.narratives or self.repaired or self.condensed)

    def to_json(self) -> dict[str, object]:
        """Return the report for a JSON document."""
        return {**asdict(self), "gauge": {zone: list(level) for zone, level in self.gauge.items()}}
