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
    from horizon.core.night import Known
    from horizon.core.query import Query

LIMIT: Final = 10
LIMIT_MOST: Final = 10_000
"""Most hits of one question: more is a listing, and it bounds memory."""
CANDIDATES: Final = 5
"""Matches fetched for each hit wanted: enough for recency to reorder, few enough to stay quick."""
RECENT_WEIGHT: Final = 0.1
"""How much more a hit of today is worth than an old one that matches as well: it decides between near equals only."""
RECENT_DAYS: Final = 90.0
"""Days in which that advantage halves."""


class Index(Protocol):
    """What is searched."""

    def search(
        self,
        query: Query,
        sources: Sequence[Documents],
        *,
        most: int,
        as_of: date | None,
        kinds: Sequence[Kind],
        quarantined: bool,
    ) -> tuple[Match, ...]:
        """Read what is new in `sources`, forget other sources, and return up to `most` matches, best first.

        Where `query` has no words: the documents of its days, in lived order.
        """
        ...


class Provenance(Protocol):
    """The home's own memory of where facts come from."""

    def fact(self, id_: str) -> Known | None:
        """Return what is known of the fact called `id_`."""
        ...

    def exchange(self, address: str) -> Exchange | None:
        """Return the exchange at `address` (`source#id`), whole, from its source; None where it is gone."""
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
    """An exchange that a fact comes from: the words in it that prove the fact, and the whole while it is still there."""

    address: str
    day: date
    quotes: tuple[str, ...]
    exchange: Exchange | None
    by: str = ""
    """The model that read it; empty where the keeper asked for the fact to be remembered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Why:
    """From a fact to its quoted words to its exchanges, in the order in which they were read, each once."""

    fact: Known
    cited: tuple[Cited, ...]
    superseded_by: Known | None = None


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
        """Return up to `limit` (and 10 000) hits for any text, best first; none for a text without a word or date in it.

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
        limit = min(limit, LIMIT_MOST)
        sources = self._sources()
        found = self._index.search(
            asked, sources, most=limit * CANDIDATES, as_of=as_of, kinds=kinds, quarantined=quarantined
        )
        if not found and asked.days and Kind.DAY in kinds:
            days_only = replace(asked, terms=(), loose=())
            found = self._index.search(
                days_only, sources, most=limit, as_of=as_of, kinds=(Kind.DAY,), quarantined=quarantined
            )
        ranked = [(_score(match, today), match) for match in found]
        if asked.terms or asked.loose:
            ranked.sort(key=lambda pair: -pair[0])  # stable: equals stay as the index gave them, the recent first
        return tuple(_hit(match, asked, score) for score, match in ranked[:limit])

    def why(self, fact: str) -> Why | None:
        """Return where the fact with this text or id comes from; None where the home knows of no such fact.

        The text may differ in case, space and end punctuation.
        """
        known = self._provenance.fact(fact.strip()) or self._provenance.fact(fact_id(fact))
        if known is None:
            return None
        cited: dict[str, Cited] = {}
        for evidence in known.evidence:
            for address in evidence.cites:
                words = tuple(quote.words for quote in evidence.quotes if quote.address == address)
                if address not in cited or (words and not cited[address].quotes):
                    cited[address] = Cited(
                        address=address,
                        day=evidence.day,
                        quotes=words,
                        exchange=self._provenance.exchange(address),
                        by=evidence.by,
                    )
        later = self._provenance.fact(known.superseded_by) if known.superseded_by else None
        return Why(fact=known, cited=tuple(cited.values()), superseded_by=later)


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
