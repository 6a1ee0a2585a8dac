"""Budgets in characters as injected, the only currency (spec 1-horizon §2), and what else a view depends on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from horizon.core.beacon import Floor

if TYPE_CHECKING:
    from collections.abc import Collection
    from datetime import tzinfo


@dataclass(frozen=True, slots=True, kw_only=True)
class Budgets:
    """The three zones' budgets, in code points as rendered, each 0 or more."""

    sharp: int
    condensed: int
    narrative: int

    def __post_init__(self) -> None:
        if min(self.sharp, self.condensed, self.narrative) < 0:
            raise ValueError(f"a budget is 0 or more, not {self}")

    @property
    def total(self) -> int:
        """The view's hard budget."""
        return self.sharp + self.condensed + self.narrative

    def less(self, chars: int) -> Budgets:
        """Return what is left once `chars` are paid: by the narrative, then the condensed, then the sharp zone."""
        narrative = min(self.narrative, chars)
        condensed = min(self.condensed, chars - narrative)
        sharp = min(self.sharp, chars - narrative - condensed)
        return Budgets(
            sharp=self.sharp - sharp, condensed=self.condensed - condensed, narrative=self.narrative - narrative
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewOptions:
    """All that a view depends on besides the state. `beacons` is the setting `phares`."""

    active: bool
    budgets: Budgets
    zone: tzinfo
    """Where the dates that are shown are local."""
    floor: Floor = Floor.CONDENSED
    beacons: Collection[str] = ()
    language: Literal["fr", "en"] = "fr"
