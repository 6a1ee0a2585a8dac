"""How full each zone of a bee is, as bars."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from horizon.core.receipt import Gauge, Level

BAR: Final = 16
"""Length of a bar, in characters."""


def gauges(levels: Mapping[str, Gauge]) -> Table:
    """Return a row for each bee: its zones as bars, then how many exchanges it lived and how many have melted."""
    made = Table(box=SIMPLE_HEAD, pad_edge=False)
    for column in ("bee", "sharp", "condensed", "narrative"):
        made.add_column(column)
    for column in ("exchanges", "melted"):
        made.add_column(column, justify="right")
    for name, gauge in levels.items():
        made.add_row(
            name,
            bar(gauge.sharp),
            bar(gauge.condensed),
            bar(gauge.narrative),
            str(gauge.appended),
            str(gauge.melted),
        )
    return made


def bar(level: Level) -> Text:
    """Return a zone's level as a bar with its numbers; red where it is over its budget."""
    share = level.chars / level.budget if level.budget else float(level.chars > 0)
    full = min(BAR, round(share * BAR))
    style = "red" if share > 1 else "green"
    numbers = f" {'' if level.exact else '>'}{level.chars:,}/{level.budget:,} ({level.count})"
    return Text.assemble(("█" * full, style), ("░" * (BAR - full), "dim"), numbers)
