"""The night of one home: collect the day, read it, settle it in the ledger, write it to the shared files.

Rules:

- The order of writes: the attempt, each reply, the result (with every decision in it), the facts journal, the day
  journal, the mark that they hold it, the index. A run that was killed is finished from the result, whatever came of it.
- A verdict is computed from what was read and written. A source that cannot be read makes `source-missing`, never
  an empty day; transport failures make `degraded` and cost no attempt; unusable replies make `owed` and write nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from horizon.consolidation.calendar import Calendar
from horizon.consolidation.collecting import Collector
from horizon.consolidation.reading import DayReading, Reader
from horizon.consolidation.report import DayPlan, DayReport, report_of
from horizon.consolidation.settling import Settling
from horizon.core import extraction
from horizon.core.asking import PROMPT_VERSION
from horizon.core.day import DayState, arrived, bounds
from horizon.core.event import TRUNCATION
from horizon.core.extraction import Refusal
from horizon.core.night import Attempted, Settled
from horizon.core.transcript import excerpts
from horizon.errors import InvalidInput, StoreBusy, TransientError, Unavailable
from horizon.settings import summarizers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from datetime import date

    from horizon.cascade import Cascade
    from horizon.consolidation.collecting import Collected
    from horizon.consolidation.settling import Finished
    from horizon.consolidation.world import DayJournal, FactsIndex, FactsJournal
    from horizon.core.evidence import LeftOut
    from horizon.core.fact import Fact
    from horizon.core.night import Row

_MARKS: Final[Mapping[tuple[str, bool], str]] = {
    ("fr", False): "*Extrait sans résumeur (aucun n'était joignable) :*",
    ("fr", True): "*Extrait (aucun résumeur n'est configuré) :*",
    ("en", False): "*Excerpt without a summarizer (none could be reached):*",
    ("en", True): "*Excerpt (no summarizer is configured):*",
}
"""How an extractive summary is marked in journal.md, by language and whether that was chosen."""


@dataclass(slots=True, kw_only=True)
class Consolidation(Calendar):
    """The nights of one home: its calendar, and what makes its days."""

    facts: FactsJournal
    index: FactsIndex
    journal: DayJournal
    cascade: Callable[[], Cascade]
    _cascade: Cascade | None = field(default=None, repr=False)

    # --- what would be done ---

    def plan(self, day: date) -> DayPlan:
        """Return what consolidating `day` would do. Reads only.

        Raises:
            InvalidInput: `day` has not begun yet.
            Unavailable, StoreBusy: a source could not be read.
        """
        self._check(day)
        return self._planned(day, self._collected(day, self._collector((day,))))

    def plans(self, wanted: Sequence[date]) -> Iterator[DayPlan]:
        """Yield what consolidating each of `wanted`, in order, would do; months are read in one pass.

        Raises:
            InvalidInput: the last day has not begun yet.
            Unavailable, StoreBusy: a source could not be read.
        """
        for day in wanted[-1:]:
            self._check(day)
        collector = self._collector(wanted)
        return (self._planned(day, self._collected(day, collector)) for day in wanted)

    def _planned(self, day: date, found: Collected) -> DayPlan:
        row = self.ledger.load().row(day)
        models = summarizers(self.settings)
        reader = self._reader(day, models, row)
        parts = len(reader.plan(found.sifted.kept)) if models else 0
        calls, most = reader.calls(found.sifted.kept) if models and parts else (0, 0)
        return DayPlan(
            day=day,
            state=self.state_of(row, found.digests),
            read=len(found.sifted.kept),
            left_out=_named(found.sifted.left_out),
            parts=parts,
            calls=calls,
            calls_most=most,
            models=models,
        )

    # --- one day ---

    def consolidate(self, day: date, *, force: bool = False, dry_run: bool = False) -> DayReport:
        """Consolidate `day` and tell what became of it (spec 2-consolidation).

        A day with the same exchanges as last time is left as it is; `force` reads it again all the same.
        `dry_run` writes nothing and asks no model: `calls` is what the day would take.

        Raises:
            InvalidInput: `day` has not begun yet.
            StoreBusy: another night of this home is at work, or a shared file was held for too long.
        """
        self._check(day)
        collector = self._collector((day,))
        if dry_run:
            return self._preview(day, collector, force=force)
        with self.ledger.exclusive():
            return self._night(day, collector, force=force)

    def backfill(self, wanted: Sequence[date], *, force: bool = False) -> Iterator[DayReport]:
        """Consolidate each of `wanted`, in order, and yield what became of it; months are read in one pass.

        As `consolidate` does day by day. A day that another night of this home is at work on is left to it, and said so.

        Raises:
            InvalidInput: the last day has not begun yet; nothing was done.
        """
        for day in wanted[-1:]:
            self._check(day)
        collector = self._collector(wanted)
        return (self._night_or_busy(day, collector, force=force) for day in wanted)

    def _check(self, day: date) -> None:
        if bounds(day, self.zone).start > self.clock.now():
            raise InvalidInput(f"{day} has not begun yet in {self.zone}")

    def _night_or_busy(self, day: date, collector: Collector, *, force: bool) -> DayReport:
        try:
            with self.ledger.exclusive():
                return self._night(day, collector, force=force)
        except StoreBusy as error:
            state = self.ledger.load().row(day).state
            return DayReport(home=self.name, day=day, state=state, changed=False, error=str(error))

    def _preview(self, day: date, collector: Collector, *, force: bool) -> DayReport:
        row = self.ledger.load().row(day)
        try:
            found = self._collected(day, collector)
        except (Unavailable, TransientError, OSError) as error:
            return DayReport(home=self.name, day=day, state=DayState.SOURCE_MISSING, changed=False, error=str(error))
        plan = self._planned(day, found)
        nothing = not plan.read or (self._is_settled(row, found) and not force)
        models = ", ".join(plan.models) or TRUNCATION
        return DayReport(
            home=self.name,
            day=day,
            state=plan.state,
            changed=False,
            read=plan.read,
            left_out=plan.left_out,
            by="" if nothing else models,
            calls=0 if nothing else plan.calls,
            notes=("nothing to do: the same exchanges as last time",)
            if nothing and plan.read
            else (f"would read {plan.parts} parts, at most {plan.calls_most} calls",)
            if not nothing
            else (),
        )

    def _night(self, day: date, collector: Collector, *, force: bool) -> DayReport:
        finished = self._settling().finish()
        report = self._taken(day, collector, finished, force=force)
        return replace(report, changed=True) if day in finished.again else report

    def _taken(self, day: date, collector: Collector, finished: Finished, *, force: bool) -> DayReport:
        notes = finished.notes
        row = self.ledger.load().row(day)
        try:
            found = self._collected(day, collector)
        except (Unavailable, TransientError, OSError) as error:
            return self._source_missing(day, row, str(error), notes, changed=day in finished.days)
        if row.pending:  # the files could not be written, and still cannot
            return report_of(
                self.name, day, DayState.OWED, row.settled, changed=False, notes=notes, error=notes[-1] if notes else ""
            )
        notes = (*notes, *(said for source in self.sources for said in source.remarks))
        if self._is_settled(row, found) and not force:
            assert row.settled is not None
            return report_of(
                self.name,
                day,
                row.settled.state,
                row.settled,
                changed=day in finished.days,
                notes=notes,
                section=row.section,
            )
        if not found.sifted.kept:
            return self._empty(day, row, found, notes)
        report = self._consolidated(day, row, found, force=force)
        return replace(report, notes=(*notes, *report.notes))

    def _is_settled(self, row: Row, found: Collected) -> bool:
        """Tell whether a run with these exchanges would change nothing."""
        settled = row.settled
        if settled is None or row.pending:
            return False
        if settled.state is DayState.EMPTY:
            return settled.fingerprint == found.fingerprint and settled.left_out == _named(found.sifted.left_out)
        if arrived(found.digests, settled.digests):
            return False
        if settled.state is DayState.DEGRADED:
            return settled.chosen and not summarizers(self.settings) and settled.fingerprint == found.fingerprint
        return settled.state is DayState.DONE

    # --- collecting ---

    def _collector(self, wanted: Sequence[date]) -> Collector:
        return Collector(sources=self.sources, zone=self.zone, settings=self.settings, wanted=wanted)

    def _collected(self, day: date, collector: Collector) -> Collected:
        """Return the day's exchanges as they are read.

        Raises:
            Unavailable, StoreBusy, OSError: a source is gone or could not be read.
        """
        missing = self.missing(self.ledger.load())
        if missing:
            raise Unavailable(missing)
        return collector.of(day)

    def _source_missing(self, day: date, row: Row, why: str, notes: tuple[str, ...], *, changed: bool) -> DayReport:
        known = row.failure is not None and (row.failure.state, row.failure.error) == (DayState.SOURCE_MISSING, why)
        stands = row.settled is not None and row.settled.writes
        if not known and not stands:
            self.ledger.record(
                Settled(day=day, at=self.clock.now(), state=DayState.SOURCE_MISSING, error=why, unreachable=True)
            )
        return DayReport(
            home=self.name, day=day, state=DayState.SOURCE_MISSING, changed=changed or not (known or stands), error=why,
            notes=notes,
        )  # fmt: skip

    def _empty(self, day: date, row: Row, found: Collected, notes: tuple[str, ...]) -> DayReport:
        if row.settled is not None and row.settled.writes:
            said = "the sources no longer hold this day's exchanges; what was made of it stands"
            return report_of(
                self.name, day, row.settled.state, row.settled, changed=False, notes=(*notes, said), section=row.section
            )
        settled = Settled(
            day=day,
            at=self.clock.now(),
            state=DayState.EMPTY,
            fingerprint=found.fingerprint,
            left_out=_named(found.sifted.left_out),
            sources=self._names(),
        )
        self.ledger.record(settled)
        return report_of(self.name, day, DayState.EMPTY, settled, changed=True, notes=notes)

    # --- reading and settling ---

    def _consolidated(self, day: date, row: Row, found: Collected, *, force: bool) -> DayReport:
        models = summarizers(self.settings)
        cascade = self._asker()
        before = replace(cascade.tally)
        kept = found.sifted.kept
        wishes = extraction.wished(kept, day)
        base = Settled(
            day=day,
            at=self.clock.now(),
            state=DayState.OWED,
            fingerprint=found.fingerprint,
            digests=found.digests,
            read=len(kept),
            left_out=_named(found.sifted.left_out),
            prompt_version=PROMPT_VERSION,
            sources=self._names(),
        )
        down = cascade.available(models) if models else None
        if not models:
            reading = DayReading(failure="no summarizer is configured")
        elif down is not None:  # nobody is asked, so no attempt is made
            reading = DayReading(failure=down, unreachable=True)
        else:
            self.ledger.record(
                Attempted(day=day, at=self.clock.now(), fingerprint=found.fingerprint, models=models, force=force)
            )
            reader = self._reader(day, models, self.ledger.load().row(day))
            reading = reader.read(kept)
        spent = replace(
            base,
            at=self.clock.now(),
            calls=cascade.tally.calls - before.calls,
            prompt_tokens=cascade.tally.prompt_tokens - before.prompt_tokens,
            reply_tokens=cascade.tally.reply_tokens - before.reply_tokens,
            seconds=round(cascade.tally.seconds - before.seconds, 3),
            isolated=reading.isolated,
            error=reading.failure if models else "",
            unreachable=reading.unreachable,
        )
        if reading.failure and models and not reading.unreachable:
            self.ledger.record(spent)
            if row.settled is not None and row.settled.state is DayState.DONE:
                return self._stands(row, spent, changed=True)
            return report_of(self.name, day, DayState.OWED, spent, changed=True)
        if reading.failure:
            return self._without_model(row, spent, found, wishes, attempted=down is None and bool(models), force=force)
        facts, merged, capped = extraction.merged(reading.readings, wishes, self.settings.faits_max)
        refused: dict[str, int] = {}
        for each in reading.readings:
            for reason, count in each.refused.items():
                refused[str(reason)] = refused.get(str(reason), 0) + count
        if capped:
            refused[str(Refusal.CAPPED)] = refused.get(str(Refusal.CAPPED), 0) + capped
        done = replace(
            spent,
            state=DayState.DONE,
            by=reading.by,
            summary=reading.summary,
            section=_paragraph(reading.summary),
            proposed=sum(each.proposed for each in reading.readings),
            merged=merged,
            refused=refused,
        )
        report = self._settle(done, facts)
        return replace(report, notes=(*report.notes, *reading.notes))

    def _degraded(self, spent: Settled, found: Collected, *, chosen: bool) -> Settled:
        told = excerpts(found.sifted.kept, zone=self.zone, language=self.settings.langue)
        return replace(
            spent,
            state=DayState.DEGRADED,
            by=TRUNCATION,
            chosen=chosen,
            summary=told,
            section=f"{_MARKS[self.settings.langue, chosen]} {told}",
            prompt_version="",
        )

    def _without_model(
        self,
        row: Row,
        spent: Settled,
        found: Collected,
        wishes: Sequence[Fact],
        *,
        attempted: bool,
        force: bool,
    ) -> DayReport:
        """Tell the day without a summarizer, unless what stands is better, or the same and nobody forces it.

        Then only the attempt is given back.
        """
        held = row.settled
        degraded = self._degraded(spent, found, chosen=not spent.unreachable)
        better = held is not None and held.state is DayState.DONE
        same = held is not None and held.state is DayState.DEGRADED and held.section == degraded.section
        if held is None or not (better or (same and held.fingerprint == spent.fingerprint and not force)):
            return self._settle(degraded, wishes)
        if attempted:
            self.ledger.record(replace(spent, state=DayState.OWED))
        if better:
            return self._stands(row, spent, changed=False)
        return report_of(self.name, spent.day, DayState.DEGRADED, degraded, changed=False, section=row.section)

    def _stands(self, row: Row, spent: Settled, *, changed: bool) -> DayReport:
        """Tell of a run that came to nothing over a day that an earlier one consolidated."""
        assert row.settled is not None
        state = DayState.STALE if arrived(spent.digests, row.settled.digests) else DayState.OWED
        return report_of(
            self.name, spent.day, state, spent, changed=changed, section=row.section,
            notes=("what an earlier night made of it stands",),
        )  # fmt: skip

    def _settle(self, result: Settled, facts: Sequence[Fact]) -> DayReport:
        came = self._settling().settle(result, facts)
        return report_of(self.name,
            result.day, came.state, came.result, changed=came.changed, notes=came.notes, section=came.section,
            error=came.error,
        )  # fmt: skip

    # --- small things ---

    def _asker(self) -> Cascade:
        if self._cascade is None:
            self._cascade = self.cascade()
        return self._cascade

    def _reader(self, day: date, models: tuple[str, ...], row: Row) -> Reader:
        return Reader(
            day=day,
            models=models,
            settings=self.settings,
            zone=self.zone,
            cascade=self._asker(),
            clock=self.clock,
            recorded=dict(row.parts),
            record=self.ledger.record,
        )

    def _settling(self) -> Settling:
        return Settling(facts=self.facts, index=self.index, journal=self.journal, ledger=self.ledger, clock=self.clock)

    def _names(self) -> tuple[str, ...]:
        return tuple(source.name for source in self.sources)


def _named(left_out: Mapping[LeftOut, int]) -> dict[str, int]:
    return {str(reason): count for reason, count in left_out.items()}


def _paragraph(text: str) -> str:
    """Return a model's text as one paragraph of Markdown that can begin no heading, list, quote or fence."""
    flat = " ".join(text.split())
    if flat[:1] in "#>-*+=`~|<_" or (flat[:1].isdigit() and flat.lstrip("0123456789")[:1] in {".", ")"}):
        flat = "\\" + flat
    return flat
