"""The bees of some hives that a run is for: found lazily, so that a run over thousands holds only those under way."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any

from horizon import wiring
from horizon.errors import HorizonError
from tasks.artifacts import BEES_SHOWN, bee_row
from tasks.outcome import Outcome, Result, of_error
from tasks.runner import fan_out

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from prefect import Task

    from tasks.maintain import BeeOutcome


@dataclass(slots=True)
class Bees:
    """The bees of `hives`. `idle` counts those passed over so far because nothing was to be done for them."""

    hives: Sequence[Path]
    idle: int = 0
    passed_over: list[Outcome] = field(default_factory=list[Outcome])
    """Hives and bees that could not be looked at, and bees that wait for their summarizer."""

    def each(self) -> Iterator[tuple[Path, str]]:
        """Yield every bee with its hive, in order; a hive that cannot be listed is noted and stops no other."""
        for hive in self.hives:
            try:
                names = wiring.bees(hive)
            except (HorizonError, OSError) as error:
                self.passed_over.append(of_error(hive.name, error))
                continue
            for bee in names:
                yield hive, bee

    def due(self) -> Iterator[Mapping[str, Any]]:
        """Yield the bees with something to evict or melt; those that ask no model first, for they need not wait."""
        later: list[Mapping[str, Any]] = []
        for hive, bee in self.each():
            try:
                if not wiring.pending(hive, bee):
                    self.idle += 1
                    continue
                asks = wiring.asks_model(hive, bee)
            except (HorizonError, OSError) as error:
                self.passed_over.append(of_error(f"{hive.name}/{bee}", error))
                continue
            call = {"hive": hive, "bee": bee}
            if asks:
                later.append(call)
            else:
                yield call
        yield from later

    def degraded(self) -> Iterator[Mapping[str, Any]]:
        """Yield the bees with texts to make again whose summarizer answers; the others wait, and are counted."""
        for hive, bee in self.each():
            try:
                if not wiring.degraded(hive, bee):
                    self.idle += 1
                    continue
                away = wiring.summarizer_health(hive, bee)
            except (HorizonError, OSError) as error:
                self.passed_over.append(of_error(f"{hive.name}/{bee}", error))
                continue
            if away:
                self.passed_over.append(Outcome(what=f"{hive.name}/{bee}", result=Result.WAITING, note=away))
            else:
                yield {"hive": hive, "bee": bee}

    def gauges(self) -> list[dict[str, Any]]:
        """Return the table of bees with their gauges, in order, at most `BEES_SHOWN`; those that cannot be read aside."""
        rows: list[dict[str, Any]] = []
        for hive, name in islice(Bees(self.hives).each(), BEES_SHOWN):
            with suppress(HorizonError, OSError):
                rows.append(bee_row(hive.name, name, wiring.open_hive(hive).bee(name).read().gauge))
        return rows


def worked_on(task: Task[..., BeeOutcome], calls: Iterable[Mapping[str, Any]], *, most: int) -> Iterator[Outcome]:
    """Run `task` for each bee and yield what became of it as it ends; one bee's failure stops no other."""
    for call, ended in fan_out(task, calls, most=most):
        yield of_error(f"{call['hive'].name}/{call['bee']}", ended) if isinstance(ended, BaseException) else ended
