"""Find again: facts, days and exchanges of a home, and why a fact is believed (spec 5-interface, 2-consolidation §4).

No model is asked. A question is understood by `core.query`; the index finds; here the hits are ranked: by how
well they match, and, among equals, the recent first.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Protocol

from horizon.core.document import Kind
from horizon.core.fact import fact_id
from horizon.core.query import understand
from horizon.core.snippet import snippet

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import date, datetime

    from horizon.core.document import Documents, Match
    from horizon.core.exchange import Exchange
    from horizon.core.fact import Quote
    from horizon.core.query import Query

LIMIT: Final = 10
CANDIDATES: Final = 5
"""Matches fetched for each hit wanted: enough for recency to reorder, few enough to stay quick."""
RECENT_WEIGHT: Final = 0.1
"""How much more a hit of today is worth than an old one that matches as well: it decides between near equals only."""
RECENT_DAYS: Final = 90.0
"""Days in which that advantage halves."""


class Index(Protocol):
    """What is searched."""

    def refresh(self, sources: Sequence[Documents]) -> int:
        """Read what is new in `sources`, forget other sources; return how many documents were added."""
        ...

    def search(
        self, query: Query, *, most: int, as_of: date | None, kinds: Sequence[Kind], quarantined: bool
    ) -> tuple[Match, ...]:
        """Return up to `most` matches, best first; those of the query's days in lived order where it has no words."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """What is known of a fact: its day, what it cites, the words that prove it, and what became of it.

    `cites` are addresses of exchanges (`source#id`), in lived order; `quotes` are found in them word for word.
    """

    id: str
    text: str
    day: date
    cites: tuple[str, ...]
    quotes: tuple[Quote, ...] = ()
    trust: str = ""
    by: str = ""
    """The model that proposed it; empty where the keeper asked for it to be remembered."""
    until: date | None = None
    superseded_by: str | None = None
    """The id of the fact that took its place on `until`."""


class Provenance(Protocol):
    """The home's own memory of where facts come from."""

    def proof(self, id_: str) -> Proof | None:
        """Return what is known of the fact called `id_`."""
        ...

    def exchange(self, address: str) -> Exchange | None:
        """Return the exchange at `address`, whole, from its source; None where it is gone."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """Something found.

    `address` leads to the whole: `source#id`. `snippet` is one line of at most 240 characters around the
    words asked for. `score` is above 0 for words found, higher is better; 0 where only a day was asked for.
    """

    kind: Kind
    id: str
    address: str
    day: date
    at: datetime
    text: str
    snippet: str
    score: float
    place: str = ""
    until: date | None = None
    quarantined: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Cited:
    """An exchange that a fact comes from: its words that prove it, and the whole where it is still there."""

    address: str
    quotes: tuple[str, ...]
    exchange: Exchange | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Why:
    """From a fact to its quoted words to its exchanges, in lived order."""

    proof: Proof
    cited: tuple[Cited, ...]


class Recall:
    """Finding again in one home."""

    def __init__(self, index: Index, sources: Callable[[], Sequence[Documents]], provenance: Provenance) -> None:
        """`sources` gives what the home holds now; it is asked at every call."""
        self._index = index
        self._sources = sources
        self._provenance = provenance

    def recall(
        self,
        query: str,
        *,
        today: date,
        as_of: date | None = None,
        limit: int = LIMIT,
        kinds: Sequence[Kind] = tuple(Kind),
        quarantined: bool = False,
    ) -> tuple[Hit, ...]:
        """Return up to `limit` hits for any text, best first; none for a text without a word or date in it.

        Dates in `query` are relative to `today` and filter: only what belongs to those local days is found. Where
        only dates are asked, the days' summaries come first, then facts and exchanges in lived order; where the
        words asked with a date are found on none of its days, the days' summaries stand in. Superseded facts are
        left out, or with `as_of` what did not hold on that day; so are facts kept for review, unless `quarantined`.

        Raises:
            StoreBusy: another process is writing the index.
            Unavailable: the index cannot be written, or a source cannot be read.
        """
        asked = understand(query, today=today)
        if limit < 1 or not (asked.terms or asked.loose or asked.days):
            return ()
        self._index.refresh(self._sources())
        found = self._index.search(asked, most=limit * CANDIDATES, as_of=as_of, kinds=kinds, quarantined=quarantined)
        if not found and asked.days and Kind.DAY in kinds:
            days_only = replace(asked, terms=(), loose=())
            found = self._index.search(days_only, most=limit, as_of=as_of, kinds=(Kind.DAY,), quarantined=quarantined)
        ranked = [(_score(match, today), match) for match in found]
        if asked.terms or asked.loose:
            ranked.sort(key=lambda pair: -pair[0])  # stable: equals stay as the index gave them, the recent first
        return tuple(_hit(match, asked, score) for score, match in ranked[:limit])

    def why(self, fact: str) -> Why | None:
        """Return where the fact with this text or id comes from; None where the home knows of no such fact.

        The text may differ in case, space and end punctuation.
        """
        proof = self._provenance.proof(fact.strip()) or self._provenance.proof(fact_id(fact))
        if proof is None:
            return None
        return Why(
            proof=proof,
            cited=tuple(
                Cited(
                    address=address,
                    quotes=tuple(quote.words for quote in proof.quotes if quote.address == address),
                    exchange=self._provenance.exchange(address),
                )
                for address in proof.cites
            ),
        )


def _score(match: Match, today: date) -> float:
    age = max(0, (today - match.document.day).days)
    return match.relevance * (1 + RECENT_WEIGHT * 0.5 ** (age / RECENT_DAYS))


def _hit(match: Match, asked: Query, score: float) -> Hit:
    document = match.document
    text = f"{document.head}\n{document.body}" if document.head and document.body else document.head or document.body
    return Hit(
        kind=document.kind,
        id=document.id,
        address=f"{match.source}#{document.id}",
        day=document.day,
        at=document.at,
        text=text,
        snippet=snippet(text, {*asked.terms, *asked.loose}),
        score=score,
        place=document.place,
        until=document.until,
        quarantined=document.quarantined,
    )
