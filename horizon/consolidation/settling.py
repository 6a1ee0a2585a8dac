"""Settling a day: every decision in the ledger first, then the shared files; and finishing what was cut off.

The result stands in the ledger before any shared file is touched, so a run that was killed anywhere is finished from
there, and nothing is written twice (spec 2-consolidation §4, §5).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from horizon.consolidation.world import KEPT
from horizon.core.day import DayState
from horizon.core.night import Applied, Decision, Indexed, decide, room
from horizon.errors import HorizonError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import date

    from horizon.consolidation.world import DayJournal, FactsIndex, FactsJournal, LedgerStore
    from horizon.core.fact import Fact
    from horizon.core.night import Ledger, Row, Settled
    from horizon.ports import Clock


@dataclass(frozen=True, slots=True)
class Outcome:
    """What settling came to: `result` as recorded, the day's `state`, and what became of its section."""

    result: Settled
    state: DayState
    changed: bool
    section: str = ""
    notes: tuple[str, ...] = ()
    error: str = ""


class Finished(NamedTuple):
    """What finishing came to: the days whose results were written, those whose lost sections were, what is to be said."""

    days: frozenset[date]
    again: frozenset[date]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Settling:
    """Writes what days come to. Only under the ledger's lock."""

    facts: FactsJournal
    index: FactsIndex
    journal: DayJournal
    ledger: LedgerStore
    clock: Clock

    def settle(self, result: Settled, facts: Sequence[Fact]) -> Outcome:
        """Record `result` with what becomes of each of `facts`, then write it to the shared files.

        Raises:
            StoreBusy: the facts journal was held for too long; nothing is recorded.
            OSError: the ledger could not be written.
        """
        try:
            with self.facts.session() as shared:
                ledger, free = self.ledger.load(), shared.free
                decided = decide(ledger, facts, shared.near(facts), room(ledger, free, result.at))
        except OSError as error:  # nothing is decided, nothing is written; what the model said waits in the ledger
            failed = replace(
                result, state=DayState.OWED, by="", summary="", section="", unreachable=True,
                error=f"the facts journal could not be read: {error}",
            )  # fmt: skip
            self.ledger.record(failed)
            return Outcome(replace(failed, unreachable=False), DayState.OWED, changed=False)
        new = sum(each.decision is Decision.NEW for each in decided)
        result = replace(result, facts=decided, pushed=max(new - free, 0))
        self.ledger.record(result)
        notes = self.finish().notes
        row = self.ledger.load().row(result.day)
        error = notes[0] if row.pending and notes else ""
        state = DayState.OWED if row.pending else result.state
        return Outcome(result, state, changed=True, section=row.section, notes=notes, error=error)

    def finish(self) -> Finished:
        """Write to the shared files whatever the ledger says they owe; tell what came of it.

        Where journal.md is gone, every day's section is written again from the ledger. A section that is missing from
        a file that is there was taken out by a person, and stays out.

        Raises:
            StoreBusy: the facts journal was held for too long.
        """
        notes: list[str] = []
        finished: set[date] = set()
        ledger = self.ledger.load()
        again: frozenset[date] = frozenset()
        try:
            again = self._remade(ledger)
        except OSError as error:
            notes.append(f"journal.md is gone and could not be written again: {error}")
        if again:
            notes.append(f"journal.md was gone: sections written again from the ledger: {len(again)}")
        for day in sorted(day for day, row in ledger.rows.items() if row.pending):
            row = ledger.rows[day]
            assert row.settled is not None
            try:
                self._write(row, row.settled)
            except OSError as error:
                notes.append(f"{day} could not be written: {error}")
            else:
                finished.add(day)
        owing = [ledger.facts[id_] for id_ in ledger.unindexed]
        if owing:
            try:
                self.index.add(owing)
            except (HorizonError, OSError) as error:
                notes.append(f"{len(owing)} facts wait for the search index: {error}")
            else:
                self.ledger.record(Indexed(at=self.clock.now(), ids=tuple(fact.id for fact in owing)))
        return Finished(frozenset(finished), again, tuple(notes))

    def _remade(self, ledger: Ledger) -> frozenset[date]:
        """Write every section that the files are to hold where journal.md is gone; return the days of them."""
        held = {
            day: row.settled.section
            for day, row in sorted(ledger.rows.items())
            if row.settled is not None and row.settled.section and not row.pending
        }
        if not held or not self.journal.remake(held):
            return frozenset()
        for day in [day for day in held if ledger.rows[day].section == KEPT]:  # what a person wrote there is lost
            self.ledger.record(Applied(day=day, at=self.clock.now(), section="written"))
        return frozenset(held)

    def _write(self, row: Row, settled: Settled) -> None:
        new = [each.fact for each in settled.facts if each.decision is Decision.NEW]
        if new:
            with self.facts.session() as shared:
                shared.add(new)
        section = self.journal.write(settled.day, settled.section, row.sections) if settled.section else ""
        self.ledger.record(Applied(day=settled.day, at=self.clock.now(), section=section))
