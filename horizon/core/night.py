"""What a home's ledger says of its nights, and of every fact it ever kept (spec 2-consolidation §4, §5).

The ledger is an append-only file of the events below; `apply` is the only way in which what is known changes.

Rules:

- An attempt is recorded before the call, what a model returned before it is used, and what a day comes to
  (`Settled`) before any shared file is touched. `Applied` says that the files hold it. So a night that was killed
  anywhere is finished from here, with no second call and nothing written twice.
- A good day is never made worse: what follows a day that a model consolidated replaces it only when a model made it.
- A fact holds from its day on, until the day of a fact that took its place; said again later, it holds again.
- A day says a fact once. What the keeper's words of a day are known to hold changes no span when that day is read
  again, and facts that hold from one day on never take each other's place: a rerun ends in the state of one run.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Final, assert_never

from horizon.core.day import DayState
from horizon.core.fact import Trust, near_key, subject_keys, supersedes

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime

    from horizon.core.extraction import Reading
    from horizon.core.fact import Fact, Quote

ATTEMPTS_MOST: Final = 5
"""Unusable replies for the same exchanges after which a day waits for a person: it stays owed, and `force` asks again."""
PUSHED_MOST: Final = 20
"""Facts that nights may add beyond what the owner's cap leaves, within `PUSHED_WITHIN` of each other: 2 % of what the
owner keeps can be pushed out, however many days are made up and however often one is read again."""
PUSHED_WITHIN: Final = timedelta(days=1)


class Decision(StrEnum):
    """What became of a believed fact."""

    NEW = "new"
    MERGED = "merged"
    """It was known already, here or in the shared file; its provenance is added there."""
    HELD_BACK = "held-back"
    """New, and kept in the ledger only: the shared file is full, and the share of it that may be pushed out was used up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided:
    """A believed fact and what became of it.

    `into` is the id of the fact it was merged into, `replaces` the ids of facts whose place it took,
    `replaced_by` the id of a later day's fact that has taken its own (of a day made up late).
    """

    fact: Fact
    decision: Decision
    into: str = ""
    replaces: tuple[str, ...] = ()
    replaced_by: str = ""
    until: date | None = None
    """The day of `replaced_by`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempted:
    """A summarizer is about to be asked about a day."""

    day: date
    at: datetime
    fingerprint: str
    models: tuple[str, ...]
    force: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PartRead:
    """A model's reply about a part of a day was judged; `key` says which exchanges, how asked.

    A reply that no try made usable has no `reading` and the reason; `text` is that of a last call for the
    day's summary.
    """

    day: date
    at: datetime
    key: str
    by: str
    reading: Reading | None = None
    text: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """What a run made of a day. `at` is when; `section` the text for journal.md, empty where none is written."""

    day: date
    at: datetime
    state: DayState
    fingerprint: str = ""
    digests: str = ""
    """The digests of the exchanges read, end to end, in lived order."""
    read: int = 0
    left_out: Mapping[str, int] = field(default_factory=dict[str, int])
    by: str = ""
    chosen: bool = False
    """Of a degraded day: nobody configured a summarizer, or it was switched off. A choice, not a failure."""
    summary: str = ""
    section: str = ""
    facts: tuple[Decided, ...] = ()
    pushed: int = 0
    """How many of its new facts went beyond what the owner's cap left."""
    ended: tuple[str, ...] = ()
    """Ids of facts that ended on this day, where what took their place was forgotten since."""
    proposed: int = 0
    merged: int = 0
    """Proposed facts that were one with another of the same day."""
    refused: Mapping[str, int] = field(default_factory=dict[str, int])
    isolated: tuple[str, ...] = ()
    """Addresses of exchanges about which no model gave a usable reply; the rest of the day was consolidated."""
    prompt_version: str = ""
    calls: int = 0
    prompt_tokens: int = 0
    reply_tokens: int = 0
    seconds: float = 0.0
    error: str = ""
    unreachable: bool = False
    """The failure was of transport: it is not the day's fault and uses up no attempt."""
    sources: tuple[str, ...] = ()

    @property
    def writes(self) -> bool:
        """Whether files are to hold what this says."""
        return self.state in {DayState.DONE, DayState.DEGRADED}


@dataclass(frozen=True, slots=True, kw_only=True)
class Applied:
    """The facts journal and the day journal hold what the day was settled to; `section` says what became of it there."""

    day: date
    at: datetime
    section: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Indexed:
    """The search index holds these facts, by id."""

    at: datetime
    ids: tuple[str, ...]


NightEvent = Attempted | PartRead | Settled | Applied | Indexed


@dataclass(slots=True, kw_only=True)
class Row:
    """What the ledger says of one day. Mutable; changed through `apply` only."""

    settled: Settled | None = None
    """The result that stands: the last one that counts."""
    pending: bool = False
    """It is not yet known to be in the files."""
    section: str = ""
    """What became of its section in journal.md."""
    sections: set[str] = field(default_factory=set[str])
    """Every text that we ever meant for that section: what stands there and is none of these, a person wrote."""
    fingerprint: str = ""
    """Of the last attempt."""
    attempts: int = 0
    """Attempts at that fingerprint that were used up."""
    open: bool = False
    """An attempt has no result: the run was cut off."""
    parts: dict[str, PartRead] = field(default_factory=dict[str, PartRead])
    """Replies that no result has used yet, by key; a rerun does not pay for them again."""
    failure: Settled | None = None
    """The last failed run after `settled`, None where there is none."""

    @property
    def state(self) -> DayState:
        """The day's state as far as the ledger alone can tell; `stale` takes a look at the sources."""
        if self.settled is not None and self.settled.state in {DayState.DONE, DayState.DEGRADED}:
            return DayState.OWED if self.pending else self.settled.state
        if self.failure is not None:
            return self.failure.state
        if self.open:
            return DayState.OWED
        return self.settled.state if self.settled is not None else DayState.NEVER


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """Where a fact was found once: its day, exchanges, quoted words, and who read them how."""

    day: date
    cites: tuple[str, ...]
    quotes: tuple[Quote, ...]
    by: str
    prompt_version: str
    said_by_keeper: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """A fact held from day `since` on, up to but not on day `until`; None: it still holds.

    `by` is the id of the fact that ended it, empty where that was forgotten: what had ended does not hold again.
    """

    since: date
    until: date | None = None
    by: str = ""

    def covers(self, day: date) -> bool:
        """Tell whether `day` is in the span."""
        return self.since <= day and (self.until is None or day < self.until)


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """A fact as known over all days: `spans` in order of time, `evidence` in the order in which it was found."""

    id: str
    text: str
    trust: Trust
    at: datetime
    spans: tuple[Span, ...]
    evidence: tuple[Evidence, ...]
    indexed: bool = False
    shared: bool = True
    """Whether it was written to the shared facts journal."""

    def holds(self, day: date) -> bool:
        """Tell whether the fact held on `day`."""
        return any(span.covers(day) for span in self.spans)

    def was_said(self, day: date) -> bool:
        """Tell whether the keeper's own words of `day` are known to hold the fact."""
        return any(found.day == day and found.said_by_keeper for found in self.evidence)

    @property
    def superseded_by(self) -> str:
        """The id of the fact that took its place last; empty where it still holds, or where that one was forgotten."""
        return "" if self.spans[-1].until is None else self.spans[-1].by


@dataclass(slots=True, kw_only=True)
class Ledger:
    """The fold of a home's ledger. Mutable; changed through `apply` only."""

    rows: dict[date, Row] = field(default_factory=dict[date, Row])
    facts: dict[str, Known] = field(default_factory=dict[str, Known])
    """By id; quarantined ones among them (`trust`)."""
    near: dict[tuple[str, ...], str] = field(default_factory=dict[tuple[str, ...], str])
    """By near key: the id of a fact with it."""
    subjects: dict[tuple[str, str], list[str]] = field(default_factory=dict[tuple[str, str], list[str]])
    """By subject key: the ids of the facts that have it, in the order of coming."""
    unindexed: dict[str, None] = field(default_factory=dict[str, None])
    """Ids of facts that the search index owes, in order."""
    sources: tuple[str, ...] = ()
    """The sources that the last settled run read."""
    pushed: list[tuple[datetime, int]] = field(default_factory=list[tuple["datetime", int]])
    """When runs added facts beyond the owner's cap, and how many."""

    def row(self, day: date) -> Row:
        """Return what is known of `day`; a fresh row where nothing is, not yet part of the ledger."""
        return self.rows.get(day) or Row()


def apply(ledger: Ledger, event: NightEvent) -> None:
    """Change `ledger` by one event."""
    if isinstance(event, Indexed):
        for id_ in event.ids:
            ledger.unindexed.pop(id_, None)
            if id_ in ledger.facts:
                ledger.facts[id_] = replace(ledger.facts[id_], indexed=True)
        return
    row = ledger.rows.setdefault(event.day, Row())
    match event:
        case Attempted():
            if event.fingerprint != row.fingerprint:
                row.fingerprint, row.attempts = event.fingerprint, 0
            if event.force:
                row.parts.clear()
            row.attempts += 1
            row.open = True
        case PartRead():
            row.parts[event.key] = event
        case Settled():
            _settle(ledger, row, event)
        case Applied():
            row.pending = False
            row.section = event.section
        case _:
            assert_never(event)


def _settle(ledger: Ledger, row: Row, event: Settled) -> None:
    if row.open and event.unreachable:
        row.attempts -= 1
    row.open = False
    row.parts = {key: part for key, part in row.parts.items() if part.reading is not None or part.text}
    if event.sources:
        ledger.sources = event.sources
    if event.state in {DayState.OWED, DayState.SOURCE_MISSING, DayState.STALE}:
        row.failure = event
        return
    row.failure = None
    row.settled = event
    row.pending = event.writes
    if event.section:
        row.sections.add(event.section)
    if event.state is DayState.DONE:
        row.parts.clear()
        row.attempts = 0
    if event.pushed:
        ledger.pushed.append((event.at, event.pushed))
    for decided in event.facts:
        _learn(ledger, decided, event)
    for old in event.ended:
        _end(ledger, old, event.day, "")


def _learn(ledger: Ledger, decided: Decided, event: Settled) -> None:
    fact = decided.fact
    evidence = Evidence(
        day=fact.day,
        cites=fact.cites,
        quotes=fact.quotes,
        by=event.by,
        prompt_version=event.prompt_version,
        said_by_keeper=fact.said_by_keeper,
    )
    id_ = decided.into or fact.id
    held = ledger.facts.get(id_)
    if held is None:
        new = decided.decision is not Decision.MERGED
        ledger.facts[id_] = Known(
            id=id_,
            text=fact.text,
            trust=fact.trust,
            at=fact.at,
            spans=(Span(since=fact.day, until=decided.until, by=decided.replaced_by),),
            evidence=(evidence,),
            shared=decided.decision is not Decision.HELD_BACK,
        )
        ledger.near.setdefault(near_key(fact.text), id_)
        for key in subject_keys(fact.text):
            ledger.subjects.setdefault(key, []).append(id_)
        if new and fact.trust is not Trust.UNTRUSTED:
            ledger.unindexed[id_] = None
    else:
        found = held.evidence if evidence in held.evidence else (*held.evidence, evidence)
        if held.was_said(fact.day):  # whatever an earlier version decided when it read the day again
            ledger.facts[id_] = replace(held, evidence=found)
            return
        ledger.facts[id_] = replace(held, evidence=found, spans=_said_again(held.spans, fact))
    for old in decided.replaces:
        _end(ledger, old, fact.day, id_)


def _end(ledger: Ledger, id_: str, day: date, by: str) -> None:
    """Let the fact called `id_` hold up to `day` only, where it held then."""
    ended = ledger.facts.get(id_)
    if ended is not None:
        spans = tuple(replace(span, until=day, by=by) if span.covers(day) else span for span in ended.spans)
        ledger.facts[id_] = replace(ended, spans=spans)


def _said_again(spans: tuple[Span, ...], fact: Fact) -> tuple[Span, ...]:
    """Return the spans of a fact that was found again: it holds from its earliest day, and again after it had ended."""
    last = spans[-1]
    if fact.day < spans[0].since:
        return (replace(spans[0], since=fact.day), *spans[1:])
    if fact.said_by_keeper and last.until is not None and fact.day >= last.until:
        return (*spans, Span(since=fact.day))
    return spans


def room(ledger: Ledger, free: int, at: datetime) -> int:
    """Return how many new facts a run at `at` may add to the shared file, of whose cap `free` are left; at least 0."""
    pushed = sum(count for when, count in ledger.pushed if when > at - PUSHED_WITHIN)
    return max(free, 0) + max(PUSHED_MOST - pushed, 0)


def decide(
    ledger: Ledger, facts: Iterable[Fact], shared: Mapping[tuple[str, ...], str], room: int
) -> tuple[Decided, ...]:
    """Return what becomes of a day's believed facts, in order.

    `shared` gives the id of each fact in the shared file by near key; `room` is how many new ones may be
    added there. What an owner has dropped from it is not new again: the ledger remembers.
    """
    decided: list[Decided] = []
    for fact in facts:
        key = near_key(fact.text)
        into = (fact.id if fact.id in ledger.facts else "") or ledger.near.get(key, "") or shared.get(key, "")
        replaces, by, until = _places(ledger, fact, into)
        if into:
            decision = Decision.MERGED
        elif room > 0:
            decision, room = Decision.NEW, room - 1
        else:
            decision = Decision.HELD_BACK
        decided.append(Decided(fact=fact, decision=decision, into=into, replaces=replaces, replaced_by=by, until=until))
    return tuple(decided)


def _places(ledger: Ledger, fact: Fact, into: str) -> tuple[tuple[str, ...], str, date | None]:
    """Return the ids of facts that `fact` takes the place of, and the id and day of a later one that took its own.

    Only the keeper's own words change what holds: an agent that repeats what it recalled proves nothing new, nor does
    a day that is read again.
    """
    known = ledger.facts.get(into)
    if fact.trust is Trust.UNTRUSTED or not fact.said_by_keeper or (known is not None and known.was_said(fact.day)):
        return (), "", None
    replaces: list[str] = []
    by, until = "", None
    for id_ in sorted({id_ for key in subject_keys(fact.text) for id_ in ledger.subjects.get(key, ())}):
        other = ledger.facts[id_]
        if id_ in {into, fact.id} or other.trust is Trust.UNTRUSTED:
            continue
        held = next((span.since for span in other.spans if span.covers(fact.day)), None)
        later = min((span.since for span in other.spans if span.since > fact.day), default=None)
        if held is not None and held < fact.day and supersedes(fact.text, other.text):
            replaces.append(id_)
        elif later is not None and (until is None or later < until) and supersedes(other.text, fact.text):
            by, until = id_, later
    return tuple(replaces), by, until
