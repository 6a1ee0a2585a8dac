"""What a night needs of the world, as small protocols; the adapters fulfil them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, Protocol

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager
    from datetime import date, datetime, tzinfo

    from horizon.core.day import Lived
    from horizon.core.fact import Fact
    from horizon.core.night import Known, Ledger, NightEvent

KEPT: Final = "kept (edited by a person)"
SectionFate = Literal["written", "unchanged", "kept (edited by a person)"]


class Source(Protocol):
    """Something in a home that holds exchanges."""

    @property
    def name(self) -> str:
        """What its exchanges' addresses begin with; tells it from the home's other sources."""
        ...

    @property
    def remarks(self) -> tuple[str, ...]:
        """What a person should know of how it is read, for the report; empty where there is nothing to say."""
        ...

    def between(self, start: datetime, end: datetime) -> Iterator[Lived]:
        """Yield the exchanges of [start, end), in any order. Reads only; makes no file in the source's place.

        Raises:
            Unavailable: it is missing or cannot be read.
            StoreBusy: its owner held it locked.
        """
        ...


class SharedFacts(Protocol):
    """The facts journal as it stands, while its lock is held."""

    @property
    def free(self) -> int:
        """How many more facts its owner keeps without dropping older ones; at least 0."""
        ...

    def near(self, facts: Iterable[Fact]) -> Mapping[tuple[str, ...], str]:
        """Return, by near key, the ids of facts in the file that might equal one of `facts`."""
        ...

    def add(self, facts: Sequence[Fact]) -> int:
        """Write those that the file does not hold, durably; return how many."""
        ...


class FactsJournal(Protocol):
    """The facts journal that is shared with the agent host."""

    def session(self) -> AbstractContextManager[SharedFacts]:
        """Hold its lock.

        Raises:
            StoreBusy: another writer held it for too long.
        """
        ...


class FactsIndex(Protocol):
    """The search index that is shared with the agent host."""

    def add(self, facts: Sequence[Known]) -> int:
        """Write the facts that it does not hold, all or none; return how many.

        Raises:
            HorizonError, OSError: it could not be written.
        """
        ...


class DayJournal(Protocol):
    """The day journal that a person reads and edits."""

    def write(self, day: date, text: str, ours: Collection[str]) -> SectionFate:
        """Put `text` under the day's heading unless a person's own stands there; tell what became of it."""
        ...

    def remake(self, sections: Mapping[date, str]) -> bool:
        """Make the file anew with `sections`, all or none, where it is gone; tell whether it was."""
        ...


class LedgerStore(Protocol):
    """The home's own append-only ledger."""

    def load(self) -> Ledger:
        """Return what it says now; treat it as read-only."""
        ...

    def record(self, event: NightEvent) -> None:
        """Append one event durably. Only under `exclusive()`."""
        ...

    def exclusive(self) -> AbstractContextManager[None]:
        """Exclude every other night of this home.

        Raises:
            StoreBusy: another one is at work.
        """
        ...


class Survey(Protocol):
    """Counting over many days in one pass."""

    def __call__(
        self, lived: Iterable[Lived], *, zone: tzinfo, bench: Sequence[str], agents: Sequence[str]
    ) -> Mapping[date, Surveyed]:
        """Return what the sources hold of each day that they hold anything of."""
        ...


class Surveyed(Protocol):
    """What the sources hold of one day."""

    @property
    def digests(self) -> str:
        """The digests of the exchanges that would be read, end to end in lived order."""
        ...

    @property
    def left_out(self) -> Mapping[str, int]:
        """How many would be left out, by reason."""
        ...
