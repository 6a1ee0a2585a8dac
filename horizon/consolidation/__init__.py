"""One home, one day: read again as a whole, believed with proof, written once (spec 2-consolidation)."""

from __future__ import annotations

from horizon.consolidation.night import Consolidation
from horizon.consolidation.report import DayPlan, DayReport, Night

__all__ = ["Consolidation", "DayPlan", "DayReport", "Night"]
