"""The integral journals of a hive's bees as a source of days; reads only (spec 2-consolidation §2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from horizon.adapters.journal_jsonl import JournalStore, bees_of
from horizon.core.day import Lived
from horizon.errors import Unavailable

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime
    from pathlib import Path

    from horizon.ports import Clock


@dataclass(frozen=True, slots=True)
class HiveDays:
    """The exchanges of all bees of the hive in the folder `hive`; `name` is what addresses begin with."""

    hive: Path
    clock: Clock
    name: str = "window"

    def address(self, bee: str) -> str:
        """Return what the addresses of a bee's exchanges begin with."""
        return f"{self.name}/{bee}"

    def between(self, start: datetime, end: datetime) -> Iterator[Lived]:
        """Yield the exchanges of [start, end), bee by bee, each in journal order.

        Raises:
            Unavailable: there is no folder of journals, or one of them could not be read.
        """
        window = self.hive / "window"
        if not window.is_dir():
            what = "is no folder" if window.exists() else "does not exist"
            raise Unavailable(f"{window} {what}; the bees' journals were to be read there")
        try:
            for bee in bees_of(self.hive):
                for place, entry in enumerate(JournalStore(self.hive, bee, self.clock).entries_between(start, end)):
                    yield Lived(exchange=entry.exchange, source=self.address(bee), agent=bee, place=place)
        except OSError as error:
            raise Unavailable(f"a journal in {window} could not be read: {error}") from error
