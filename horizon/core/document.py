"""What can be found again, as plain values: facts, days and exchanges (spec 5-interface, `recall`)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import date, datetime


class Kind(StrEnum):
    """What a document is."""

    FACT = "fact"
    DAY = "day"
    EXCHANGE = "exchange"


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """One thing that can be found.

    `id` is its address within its source: an exchange's or a trace's id, a fact's id, a day (`YYYY-MM-DD`).
    `day` is the local day that it belongs to, in the home's zone. `head` says what it is about (an
    exchange's question, a fact itself), `body` the rest; either may be empty.
    """

    kind: Kind
    id: str
    at: datetime
    day: date
    head: str = ""
    body: str = ""
    place: str = ""
    """The bee whose exchange it is, or the agent of a trace; empty for facts and days."""
    until: date | None = None
    """The first day on which a superseded fact no longer holds; None while it holds."""
    quarantined: bool = False
    """Whether it is kept for review only."""

    def __post_init__(self) -> None:
        if not self.id:
            raise ValueError("a document has an id")
        if self.at.utcoffset() is None:
            raise ValueError(f"document {self.id}: its instant must be aware, not {self.at!r}")


class SourceMoved(Exception):
    """While a source was read, it turned out not to continue what was read before: it is to be read anew."""


class Marked(NamedTuple):
    """A document and the mark of its place in its source, from which reading can go on; None where it cannot."""

    mark: str | None
    document: Document


class Documents(Protocol):
    """A source of documents."""

    @property
    def name(self) -> str:
        """A name that tells this source from the home's others, the same in every process."""
        ...

    def stamp(self) -> str:
        """Return a cheap value, never empty, that changes whenever the documents do."""
        ...

    def since(self, mark: str | None) -> Iterator[Marked] | None:
        """Return the documents after `mark` in the source's order, all of them for None.

        None is returned where what is up to `mark` has changed or can change: then everything is to be read anew.

        Raises:
            SourceMoved: the same shows only while reading; what was yielded so far is to be forgotten.
            Unavailable: the source is there and cannot be read.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """A document found, and how well it matches: higher is better, above 0; 0 where only its day was asked."""

    document: Document
    source: str
    relevance: float
