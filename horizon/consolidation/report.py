"""What a run says of a day: counts, dates and names; a memory's text only in `summary`, which stands apart."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from horizon.consolidation.world import KEPT
from horizon.core.fact import Trust
from horizon.core.night import PUSHED_MOST, Decision

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import date, datetime

    from horizon.core.day import DayState
    from horizon.core.night import Decided, Row, Settled


@dataclass(frozen=True, slots=True, kw_only=True)
class DayReport:
    """What one run made of one day of one home.

    `changed` is False for a run that had nothing to do. `read` and `left_out` count exchanges; `proposed`
    the facts that the model named, of which `new` were kept, `merged` were known or said twice, `refused` not
    believed (by reason), `quarantined` (a part of `new`) kept for review only. `by` says who summarised.
    Tokens and seconds are the model's, as its server counted them; `calls` counts requests of this run.
    """

    home: str
    day: date
    state: DayState
    changed: bool
    read: int = 0
    left_out: Mapping[str, int] = field(default_factory=dict[str, int])
    proposed: int = 0
    new: int = 0
    merged: int = 0
    refused: Mapping[str, int] = field(default_factory=dict[str, int])
    quarantined: int = 0
    superseded: int = 0
    held_back: int = 0
    """New facts that only our own ledger has: the shared file is full, and what nights may push out of it was used up."""
    by: str = ""
    chosen: bool = False
    """Of a degraded day: no summarizer is configured, which is a choice and not owed."""
    calls: int = 0
    prompt_tokens: int = 0
    reply_tokens: int = 0
    seconds: float = 0.0
    error: str = ""
    unreachable: bool = False
    """Whether it failed because the summarizer could not be reached."""
    notes: tuple[str, ...] = ()
    journal_section: str = ""
    """What became of the day's section in journal.md."""
    summary: str = ""

    @property
    def kept_out(self) -> bool:
        """Whether the summary isn't in journal.md, because a person's own section stands there."""
        return self.journal_section == KEPT

    def to_json(self) -> dict[str, Any]:
        """Return the report as plain JSON values."""
        return {
            "home": self.home,
            "day": self.day.isoformat(),
            "state": str(self.state),
            "changed": self.changed,
            "read": self.read,
            "left_out": {str(key): count for key, count in self.left_out.items()},
            "proposed": self.proposed,
            "new": self.new,
            "merged": self.merged,
            "refused": {str(key): count for key, count in self.refused.items()},
            "quarantined": self.quarantined,
            "superseded": self.superseded,
            "held_back": self.held_back,
            "by": self.by,
            "chosen": self.chosen,
            "calls": self.calls,
            "prompt_tokens": self.prompt_tokens,
            "reply_tokens": self.reply_tokens,
            "seconds": round(self.seconds, 3),
            "error": self.error,
            "unreachable": self.unreachable,
            "notes": list(self.notes),
            "journal_section": self.journal_section,
            "summary": self.summary,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class DayPlan:
    """What consolidating a day would do: read, left out by reason, and the calls of the model, known beforehand.

    `calls` is the plan without failures; `calls_most` is never exceeded, whatever the models answer.
    """

    day: date
    state: DayState
    read: int
    left_out: Mapping[str, int]
    parts: int
    calls: int
    calls_most: int
    models: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the plan as plain JSON values."""
        return {
            "day": self.day.isoformat(),
            "state": str(self.state),
            "read": self.read,
            "left_out": {str(key): count for key, count in self.left_out.items()},
            "parts": self.parts,
            "calls": self.calls,
            "calls_most": self.calls_most,
            "models": list(self.models),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Night:
    """A day as the ledger and the sources together tell it, for the calendar."""

    day: date
    state: DayState
    exchanges: int = 0
    """Exchanges of the day that the sources hold now and that count."""
    left_out: Mapping[str, int] = field(default_factory=dict[str, int])
    read: int = 0
    new: int = 0
    merged: int = 0
    by: str = ""
    chosen: bool = False
    attempts: int = 0
    at: datetime | None = None
    """When it was settled."""
    error: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return the night as plain JSON values."""
        return {
            "day": self.day.isoformat(),
            "state": str(self.state),
            "exchanges": self.exchanges,
            "left_out": {str(key): count for key, count in self.left_out.items()},
            "read": self.read,
            "new": self.new,
            "merged": self.merged,
            "by": self.by,
            "chosen": self.chosen,
            "attempts": self.attempts,
            "at": None if self.at is None else self.at.isoformat(),
            "error": self.error,
        }


def night_of(day: date, state: DayState, row: Row, exchanges: int, left_out: Mapping[str, int]) -> Night:
    """Return the calendar's view of a day from its row and what the sources hold."""
    settled = row.settled
    decisions = [decided.decision for decided in settled.facts] if settled else []
    return Night(
        day=day,
        state=state,
        exchanges=exchanges,
        left_out=left_out,
        read=settled.read if settled else 0,
        new=sum(1 for each in decisions if each != "merged"),
        merged=sum(1 for each in decisions if each == "merged"),
        by=settled.by if settled else "",
        chosen=settled.chosen if settled else False,
        attempts=row.attempts,
        at=settled.at if settled else None,
        error=row.failure.error if row.failure else "",
    )


def report_of(
    home: str,
    day: date,
    state: DayState,
    settled: Settled | None,
    *,
    changed: bool,
    notes: tuple[str, ...] = (),
    section: str = "",
    error: str = "",
) -> DayReport:
    """Return what is to be told of a run that left `day` in `state`; `settled` is the result it tells of."""
    if settled is None:
        return DayReport(home=home, day=day, state=state, changed=changed, notes=notes, error=error)
    isolated = tuple(f"no usable reply about {address}; the rest of the day was read" for address in settled.isolated)
    told = _tally(settled.facts)
    if section == KEPT:
        notes = (*notes, "journal.md keeps the section that a person edited; the summary stands in the ledger only")
    if told["held_back"]:
        full = f"{told['held_back']} new facts are in the ledger only: the shared facts are full, and nights push out"
        notes = (*notes, f"{full} at most {PUSHED_MOST} a day")
    return DayReport(
        home=home,
        day=day,
        state=state,
        changed=changed,
        read=settled.read,
        left_out=settled.left_out,
        proposed=settled.proposed,
        new=told["new"],
        merged=told["merged"] + settled.merged,
        refused=settled.refused,
        quarantined=told["quarantined"],
        superseded=told["superseded"],
        held_back=told["held_back"],
        by=settled.by,
        chosen=settled.chosen,
        calls=settled.calls if changed else 0,
        prompt_tokens=settled.prompt_tokens if changed else 0,
        reply_tokens=settled.reply_tokens if changed else 0,
        seconds=settled.seconds if changed else 0.0,
        error=error or settled.error,
        unreachable=settled.unreachable,
        notes=(*notes, *isolated),
        journal_section=section,
        summary=settled.summary,
    )


def _tally(facts: Sequence[Decided]) -> dict[str, int]:
    new = [each for each in facts if each.decision is not Decision.MERGED]
    return {
        "new": len(new),
        "merged": len(facts) - len(new),
        "quarantined": sum(1 for each in new if each.fact.trust is Trust.UNTRUSTED),
        "superseded": sum(len(each.replaces) for each in facts),
        "held_back": sum(1 for each in new if each.decision is Decision.HELD_BACK),
    }
