"""The night of one home: collect the day, read it, settle it in the ledger, write it to the shared files.

Rules:

- The order of writes: the attempt, each reply, the result (with every decision in it), the facts journal, the day
  journal, the mark that they hold it, the index. A run that was killed is finished from the result, whatever came of it.
- A verdict is computed from what was read and written. A source that cannot be read makes `source-missing`, never
  an empty day; transport failures make `degraded` and cost no attempt; unusable replies make `owed` and write nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from typing import TYPE_CHECKING, Final

from horizon.consolidation.reading import DayReading, Reader
from horizon.consolidation.report import DayPlan, DayReport, Night, night_of
from horizon.core import extraction
from horizon.core.day import DayState, arrived, bounds, day_of, days, digest, fingerprint
from horizon.core.event import TRUNCATION
from horizon.core.evidence import LeftOut, Sifted, sift
from horizon.core.extraction import PROMPT_VERSION, Refusal
from horizon.core.fact import Trust
from horizon.core.night import ATTEMPTS_MOST, Applied, Attempted, Decided, Decision, Indexed, Row, Settled, decide
from horizon.core.transcript import excerpts
from horizon.errors import HorizonError, InvalidInput, TransientError, Unavailable
from horizon.settings import summarizers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from datetime import tzinfo

    from horizon.cascade import Cascade
    from horizon.consolidation.world import DayJournal, FactsIndex, FactsJournal, LedgerStore, Source, Survey, Surveyed
    from horizon.core.fact import Fact
    from horizon.core.night import Ledger
    from horizon.ports import Clock
    from horizon.settings import ConsolidationSettings

_ERA: Final = date(1970, 1, 2)
"""The first day that exchanges are looked for in: instants are seconds since the day before it, in any zone."""
_MARKS: Final[Mapping[tuple[str, bool], str]] = {
    ("fr", False): "*Extrait sans résumeur (aucun n'était joignable) :*",
    ("fr", True): "*Extrait sans résumeur :*",
    ("en", False): "*Excerpt without a summarizer (none could be reached):*",
    ("en", True): "*Excerpt without a summarizer:*",
}
"""How an extractive summary is marked in journal.md, by language and whether that was chosen."""


@dataclass(frozen=True, slots=True)
class _Day:
    """What was collected of a day."""

    sifted: Sifted
    digests: tuple[str, ...]

    @property
    def fingerprint(self) -> str:
        return fingerprint(self.digests)


@dataclass(slots=True, kw_only=True)
class Consolidation:
    """The nights of one home. `name` is for people; `settings` and `zone` are the home's of now."""

    name: str
    sources: Sequence[Source]
    facts: FactsJournal
    index: FactsIndex
    journal: DayJournal
    ledger: LedgerStore
    cascade: Callable[[], Cascade]
    survey: Survey
    clock: Clock
    settings: ConsolidationSettings
    zone: tzinfo
    _cascade: Cascade | None = field(default=None, repr=False)

    # --- which days ---

    def yesterday(self) -> date:
        """Return the day before the present one, in the home's zone."""
        return day_of(self.clock.now(), self.zone) - timedelta(days=1)

    def owed(self, until: date, look_back: int) -> tuple[date, ...]:
        """Return the days still to be made, of `until` and the `look_back` days before it, oldest first.

        They are never consolidated, owed, stale, degraded, or missing a source. A day whose excerpt was a
        choice is owed once a summarizer is configured; one whose attempts are used up waits for a person.
        """
        return tuple(night.day for night in self._owed(until, look_back))

    def repairable(self) -> tuple[date, ...]:
        """Return the owed days of the look-back of which something was made or tried, oldest first.

        The others are for the nights to begin.
        """
        tried = {DayState.OWED, DayState.STALE, DayState.DEGRADED}
        nights = self._owed(self.yesterday(), self.settings.retour_jours)
        return tuple(night.day for night in nights if night.state in tried)

    def _owed(self, until: date, look_back: int) -> Iterator[Night]:
        models = summarizers(self.settings)
        owed = {DayState.NEVER, DayState.OWED, DayState.STALE, DayState.DEGRADED, DayState.SOURCE_MISSING}
        return (
            night
            for night in self.nights(until - timedelta(days=look_back), until)
            if night.state in owed
            and not (night.state is DayState.DEGRADED and night.chosen and not models)
            and (night.attempts < ATTEMPTS_MOST or night.state not in {DayState.OWED, DayState.STALE})
        )

    def nights(self, first: date, last: date) -> tuple[Night, ...]:
        """Return each day from `first` to `last`, both included, in order, as ledger and sources tell it.

        One pass over the sources. Where one cannot be read, days that are not settled are `source-missing`.
        """
        if last < first:
            return ()
        ledger = self.ledger.load()
        missing = self._missing(ledger)
        surveyed: Mapping[date, Surveyed] = {}
        if not missing:
            try:
                surveyed = self._surveyed(first, last)
            except (Unavailable, TransientError, OSError) as error:
                missing = str(error)
        return tuple(self._look(ledger.row(day), day, surveyed.get(day), missing) for day in days(first, last))

    def beyond(self, before: date) -> tuple[date, ...]:
        """Return the days before `before` that are never consolidated or still owed, oldest first.

        No night takes them unasked; a backfill does. Only days that the ledger does not know are looked for in the
        sources. Empty where a source is missing altogether.

        Raises:
            Unavailable, StoreBusy, OSError: a source could not be read.
        """
        ledger = self.ledger.load()
        if self._missing(ledger):
            return ()
        owed = {DayState.OWED, DayState.STALE, DayState.DEGRADED, DayState.SOURCE_MISSING}
        models = summarizers(self.settings)
        found: list[date] = []
        first = _ERA
        for day in (*sorted(each for each in ledger.rows if _ERA <= each < before), before):
            if first < day:
                surveyed = self._surveyed(first, day - timedelta(days=1))
                found += (each for each, what in surveyed.items() if what.digests)
            first = day + timedelta(days=1)
            row = ledger.row(day)
            chosen = row.settled is not None and row.settled.chosen
            if day < before and row.state in owed and not (row.state is DayState.DEGRADED and chosen and not models):
                found.append(day)
        return tuple(found)

    def _surveyed(self, first: date, last: date) -> Mapping[date, Surveyed]:
        start, end = bounds(first, self.zone).start, bounds(last, self.zone).end
        return self.survey(
            (lived for source in self.sources for lived in source.between(start, end)),
            zone=self.zone,
            bench=self.settings.bancs,
            agents=self.settings.agents,
        )

    def _look(self, row: Row, day: date, found: Surveyed | None, missing: str) -> Night:
        if missing:
            state = row.state
            if state in {DayState.NEVER, DayState.EMPTY}:
                state = DayState.SOURCE_MISSING
            night = night_of(day, state, row, 0, {})
            return replace(night, error=night.error or missing)
        digests = found.digests if found else ()
        left_out: Mapping[str, int] = found.left_out if found else {}
        return night_of(day, self._state(row, digests), row, len(digests), left_out)

    def _state(self, row: Row, digests: Sequence[str]) -> DayState:
        """Return a day's state from its row and the exchanges that the sources hold now."""
        state = row.state
        settled = row.settled
        if state is DayState.SOURCE_MISSING:  # it can be read now
            state = DayState.NEVER if settled is None else settled.state
        if state in {DayState.NEVER, DayState.EMPTY}:
            if digests:
                return DayState.STALE if settled is not None and settled.state is DayState.DONE else DayState.NEVER
            return DayState.EMPTY
        if settled is not None and state is DayState.DONE and arrived(digests, settled.digests):
            return DayState.STALE
        return state

    def plan(self, day: date) -> DayPlan:
        """Return what consolidating `day` would do. Reads only.

        Raises:
            Unavailable, StoreBusy: a source could not be read.
        """
        self._check(day)
        ledger = self.ledger.load()
        found = self._collect(day)
        models = summarizers(self.settings)
        reader = self._reader(day, models, ledger.row(day))
        parts = len(reader.plan(found.sifted.kept)) if models else 0
        calls, most = reader.calls(found.sifted.kept) if models and parts else (0, 0)
        return DayPlan(
            day=day,
            state=self._state(ledger.row(day), found.digests),
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
        if dry_run:
            return self._preview(day, force=force)
        with self.ledger.exclusive():
            return self._night(day, force=force)

    def _check(self, day: date) -> None:
        if bounds(day, self.zone).start > self.clock.now():
            raise InvalidInput(f"{day} has not begun yet in {self.zone}")

    def _preview(self, day: date, *, force: bool) -> DayReport:
        ledger = self.ledger.load()
        try:
            plan = self.plan(day)
        except (Unavailable, TransientError) as error:
            return DayReport(home=self.name, day=day, state=DayState.SOURCE_MISSING, changed=False, error=str(error))
        row = ledger.row(day)
        found = self._collect(day)
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

    def _night(self, day: date, *, force: bool) -> DayReport:
        finished, notes = self._finish()
        ledger = self.ledger.load()
        row = ledger.row(day)
        try:
            found = self._collect(day)
        except (Unavailable, TransientError, OSError) as error:
            return self._source_missing(day, row, str(error), notes, changed=day in finished)
        if row.pending:  # the files could not be written, and still cannot
            return self._report(
                day, DayState.OWED, row.settled, changed=False, notes=notes, error=notes[-1] if notes else ""
            )
        if self._is_settled(row, found) and not force:
            assert row.settled is not None
            return self._report(
                day, row.settled.state, row.settled, changed=day in finished, notes=notes, section=row.section
            )
        if not found.sifted.kept:
            return self._empty(day, row, found, notes)
        report = self._consolidated(day, row, found, force=force)
        return replace(report, notes=(*notes, *report.notes))

    def _is_settled(self, row: Row, found: _Day) -> bool:
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

    def _missing(self, ledger: Ledger) -> str:
        """Return which source is missing altogether, empty where none is."""
        names = [source.name for source in self.sources]
        if not names:
            return f"{self.name} holds no source: neither a traces.db nor a window/ with journals"
        if not self.settings.sources:
            gone = [name for name in ledger.sources if name not in names]
            if gone:
                return f"{', '.join(gone)} was read by earlier nights and is gone; if that is meant, name the sources in the settings"
        return ""

    def _collect(self, day: date) -> _Day:
        """Return the day's exchanges as they are read.

        Raises:
            Unavailable, StoreBusy, OSError: a source is gone or could not be read.
        """
        missing = self._missing(self.ledger.load())
        if missing:
            raise Unavailable(missing)
        span = bounds(day, self.zone)
        lived = [each for source in self.sources for each in source.between(span.start, span.end)]
        sifted = sift(lived, bench=self.settings.bancs, agents=self.settings.agents)
        return _Day(sifted, tuple(digest(each) for each in sifted.kept))

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

    def _empty(self, day: date, row: Row, found: _Day, notes: tuple[str, ...]) -> DayReport:
        if row.settled is not None and row.settled.writes:
            said = "the sources no longer hold this day's exchanges; what was made of it stands"
            return self._report(
                day, row.settled.state, row.settled, changed=False, notes=(*notes, said), section=row.section
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
        return self._report(day, DayState.EMPTY, settled, changed=True, notes=notes)

    # --- reading and settling ---

    def _consolidated(self, day: date, row: Row, found: _Day, *, force: bool) -> DayReport:
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
            digests="".join(found.digests),
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
            return self._report(day, DayState.OWED, spent, changed=True)
        if reading.failure:
            return self._without_model(row, spent, found, wishes, attempted=down is None and bool(models))
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

    def _degraded(self, spent: Settled, found: _Day, *, chosen: bool) -> Settled:
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
        self, row: Row, spent: Settled, found: _Day, wishes: Sequence[Fact], *, attempted: bool
    ) -> DayReport:
        """Tell the day without a summarizer, unless what stands is as good or better; then only give back the attempt."""
        held = row.settled
        degraded = self._degraded(spent, found, chosen=not spent.unreachable)
        better = held is not None and held.state is DayState.DONE
        same = held is not None and held.state is DayState.DEGRADED and held.section == degraded.section
        if held is None or not (better or (same and held.fingerprint == spent.fingerprint)):
            return self._settle(degraded, wishes)
        if attempted:
            self.ledger.record(replace(spent, state=DayState.OWED))
        if better:
            return self._report(spent.day, DayState.STALE, spent, changed=False, section=row.section)
        return self._report(spent.day, DayState.DEGRADED, degraded, changed=False, section=row.section)

    def _settle(self, settled: Settled, facts: Sequence[Fact]) -> DayReport:
        """Record the result with every decision in it, then write it to the shared files."""
        try:
            with self.facts.session() as shared:
                decided = decide(self.ledger.load(), facts, shared.near(facts), shared.room)
        except OSError as error:  # nothing is decided, nothing is written; what the model said waits in the ledger
            failed = replace(
                settled, state=DayState.OWED, by="", summary="", section="", unreachable=True,
                error=f"the facts journal could not be read: {error}",
            )  # fmt: skip
            self.ledger.record(failed)
            return self._report(settled.day, DayState.OWED, replace(failed, unreachable=False), changed=False)
        settled = replace(settled, facts=decided)
        self.ledger.record(settled)
        _, notes = self._finish()
        row = self.ledger.load().row(settled.day)
        state = DayState.OWED if row.pending else settled.state
        report = self._report(settled.day, state, settled, changed=True, notes=notes, section=row.section)
        return replace(report, error=notes[0]) if row.pending and notes else report

    # --- writing, and finishing what was cut off ---

    def _finish(self) -> tuple[set[date], tuple[str, ...]]:
        """Write to the shared files whatever the ledger says they owe; return the days finished, and what failed.

        Raises:
            StoreBusy: the facts journal was held for too long.
        """
        notes: list[str] = []
        finished: set[date] = set()
        ledger = self.ledger.load()
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
        return finished, tuple(notes)

    def _write(self, row: Row, settled: Settled) -> None:
        new = [each.fact for each in settled.facts if each.decision is Decision.NEW]
        if new:
            with self.facts.session() as shared:
                shared.add(new)
        section = self.journal.write(settled.day, settled.section, row.sections) if settled.section else ""
        self.ledger.record(Applied(day=settled.day, at=self.clock.now(), section=section))

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

    def _names(self) -> tuple[str, ...]:
        return tuple(source.name for source in self.sources)

    def _report(
        self,
        day: date,
        state: DayState,
        settled: Settled | None,
        *,
        changed: bool,
        notes: tuple[str, ...] = (),
        section: str = "",
        error: str = "",
    ) -> DayReport:
        if settled is None:
            return DayReport(home=self.name, day=day, state=state, changed=changed, notes=notes, error=error)
        isolated = tuple(
            f"no usable reply about {address}; the rest of the day was read" for address in settled.isolated
        )
        told = _tally(settled.facts)
        return DayReport(
            home=self.name,
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


def _named(left_out: Mapping[LeftOut, int]) -> dict[str, int]:
    return {str(reason): count for reason, count in left_out.items()}


def _paragraph(text: str) -> str:
    """Return a model's text as one paragraph of Markdown that can begin no heading, list, quote or fence."""
    flat = " ".join(text.split())
    if flat[:1] in "#>-*+=`~|<_" or (flat[:1].isdigit() and flat.lstrip("0123456789")[:1] in {".", ")"}):
        flat = "\\" + flat
    return flat
