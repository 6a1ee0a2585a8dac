"""Where a home's facts come from: its ledger, and the exchanges that it cites, wherever they stand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from horizon.adapters.ledger import FILE_NAME, LedgerFile
from horizon.errors import Unavailable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from horizon.core.exchange import Exchange
    from horizon.core.night import Known

    Lookup = Callable[[str], Exchange | None]


@dataclass(frozen=True, slots=True)
class HomeProvenance:
    """The ledger of one home and its sources: by the name that addresses begin with, how an id is looked up."""

    home: Path
    sources: Mapping[str, Lookup]

    def fact(self, id_: str) -> Known | None:
        """Return what the ledger knows of the fact called `id_`."""
        return LedgerFile(self.home / FILE_NAME).load().facts.get(id_)

    def exchange(self, address: str) -> Exchange | None:
        """Return the exchange at `address`, whole; None where it or its source is gone."""
        source, _, id_ = address.partition("#")
        lookup = self.sources.get(source)
        try:
            return None if lookup is None else lookup(id_)
        except Unavailable:
            return None
