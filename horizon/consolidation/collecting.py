"""Collecting the days of a home: months in one pass over its sources, as far as memory allows (spec 2-consolidation §2).

Rules:

- Days are asked for in order. A pass reads a month at most; where its texts grow too many, the latest days are let go
  and read by the next pass. So what is held is bounded by `HELD_MOST`, or by one day's own texts.
- Nothing that was read is written anywhere.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import TYPE_CHECKING, Final

from horizon.core.day import Lived, bounds, dated, digest, fingerprint
from horizon.core.evidence import sift

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import tzinfo

    from horizon.consolidation.world import Source
    from horizon.core.evidence import Sifted
    from horizon.settings import ConsolidationSettings

HELD_MOST: Final = 16_000_000
"""Characters of text that are held for days to come: 16 to 64 MB. A busy day has a million."""
PASS_DAYS: Final = 31
"""Most days of one pass: beyond a month a pass saves nothing, and the last day's exchanges would be old when it is read."""


@dataclass(frozen=True, slots=True)
class Collected:
    """What was collected of a day; `digests` are those of what is kept, end to end in lived order."""

    sifted: Sifted
    digests: str

    @property
    def fingerprint(self) -> str:
        """The day's fingerprint."""
        return fingerprint(self.digests)


@dataclass(slots=True, kw_only=True)
class Collector:
    """Reads the days `wanted`, in order, each once."""

    sources: Sequence[Source]
    zone: tzinfo
    settings: ConsolidationSettings
    wanted: Sequence[date]
    _held: dict[date, list[Lived]] = field(default_factory=dict[date, list[Lived]], repr=False)
    _days: int = PASS_DAYS

    def of(self, day: date) -> Collected:
        """Return what the sources hold of `day`, which is one of those wanted.

        Raises:
            Unavailable, StoreBusy, OSError: a source is gone or could not be read; the next day is tried anew.
        """
        if day not in self._held:
            self._read(day)
        sifted = sift(self._held.pop(day), bench=self.settings.bancs, agents=self.settings.agents)
        return Collected(sifted, "".join(digest(each) for each in sifted.kept))

    def _read(self, first: date) -> None:
        """Read `first` and the days wanted after it."""
        self._held = {}
        last = first + timedelta(days=self._days - 1)
        ahead = self.wanted[bisect_left(self.wanted, first) :]
        held: dict[date, list[Lived]] = {first: []} | {day: [] for day in ahead if day <= last}
        sizes = dict.fromkeys(held, 0)
        total = 0
        end = last
        for source in self.sources:
            for day, lived in dated(self._between(source, first, max(held)), self.zone):
                if day not in held:
                    continue
                held[day].append(lived)
                size = len(lived.exchange.question) + len(lived.exchange.answer)
                sizes[day] += size
                total += size
                while total > HELD_MOST and len(held) > 1:
                    end, _ = held.popitem()  # the latest: they stand in order
                    total -= sizes[end]
        self._days = min(PASS_DAYS, 2 * self._days) if end == last else max(1, (end - first).days)
        self._held = held

    def _between(self, source: Source, first: date, last: date) -> Iterator[Lived]:
        return source.between(bounds(first, self.zone).start, bounds(last, self.zone).end)
