"""A number as a text tells it: with its unit, and how finely; and when it tells the same as another (spec 1-horizon §7)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from horizon.core.unit import LOOSE

_BINARY: Final = Fraction(1024, 1000)
"""What lies between counting bytes by 1 000 and by 1 024, for each prefix."""
_PREFIXES: Final = {Fraction(1): 0, Fraction(10**3): 1, Fraction(10**6): 2, Fraction(10**9): 3, Fraction(10**12): 4}
ABOUT: Final = Fraction(1, 10)
"""How far "about" is from a number, as a share of it."""
ROUNDLY: Final = Fraction(1, 6)
"""The same for « une dizaine »."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Amount:
    """A number with its unit's dimension ("" without one), its size in that dimension's base, and how finely it is told.

    `number` is what is written before the unit, multipliers ("3 millions") included. `step` is the value of
    the last digit told, `slack` the share by which the writer called it approximate, 0 where it is not.
    """

    number: Fraction
    scale: Fraction = Fraction(1)
    step: Fraction = Fraction(1)
    dimension: str = ""
    slack: Fraction = Fraction(0)
    negative: bool = False

    @property
    def size(self) -> Fraction:
        """The value in the base unit of the dimension."""
        return self.number * self.scale

    def told_by(self, other: Amount) -> bool:
        """Tell whether the source's `other` is this amount, or rounds to it as finely as it is told here."""
        if self.negative and not other.negative:
            return False
        apart = self.dimension != other.dimension
        same = not apart and self.scale == other.scale
        if self.number == other.number and (same or not (self.dimension and other.dimension)):
            return True
        if apart and not (
            {self.dimension, other.dimension} - {""} <= LOOSE and "" in {self.dimension, other.dimension}
        ):
            return False
        sizes = [other.size]
        if self.dimension == other.dimension == "bytes":
            mine, theirs = _PREFIXES[self.scale], _PREFIXES[other.scale]
            sizes += [other.size * _BINARY**power for power in (-mine, theirs, theirs - mine)]
        return any(self._rounds(size, other) for size in sizes)

    def _rounds(self, size: Fraction, other: Amount) -> bool:
        gap = abs(self.size - size)
        if gap == 0:
            return True
        slack = max(self.slack, other.slack if other.slack == ROUNDLY else Fraction(0))
        if slack:
            return gap <= abs(size) * slack
        mine = self.step * self.scale
        return (
            mine > other.step * other.scale
            and gap * 2 <= mine
            and (bool(self.dimension) or abs(self.number) >= 10 * self.step)
        )
