"""One bee's maintenance: evict, melt, repair, rebuild, verify (spec 1-horizon §8).

Rules:

- What a model returned is recorded before it is used; a zone's change is one event, appended in one write.
  Killed at any instant and run again, a pass ends in the state that an undisturbed one gives.
- Maintainers of one bee exclude each other; readers and appenders never wait.
- Every loop ends: each turn moves at least one exchange to the next zone, or the pass stops and says why.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from horizon.cascade import request_for, window_for
from horizon.core import condensation, narrative
from horizon.core.beacon import is_beacon
from horizon.core.event import TRUNCATION, VERBATIM, Cause, Condensed, Evicted, Narrated, Word
from horizon.core.eviction import plan_eviction, plan_melting
from horizon.core.render import minute
from horizon.core.state import Zone, degraded_texts
from horizon.core.upkeep import MaintenanceReport
from horizon.core.view import view_of
from horizon.core.zone import chars_of, compose_narrative, rooms
from horizon.errors import InvalidInput
from horizon.settings import summarizers

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from horizon.cascade import Cascade
    from horizon.core.budget import ViewOptions
    from horizon.core.event import Section, Step
    from horizon.core.eviction import EvictionPlan
    from horizon.core.exchange import Exchange
    from horizon.core.state import State
    from horizon.ports import BeeStore, Clock
    from horizon.settings import HorizonSettings

EVICTION_MOST: Final = 1_000
"""Exchanges moved by one eviction. A bee switched on after years has more waiting: it is taken in steps, each melted
before the next, so that neither zone is ever measured at the size of the whole history."""
CALLS_PER_PASS: Final = 500
"""Most model calls of one pass. A bee switched on after years has thousands of exchanges to condense; the
rest waits for the next pass, still in the journal and counted in the view, instead of one pass of days."""
SECTION_FRAMES: Final = 180
"""Characters of the narrative's heading and its six sections' own, which the sections' texts leave free."""
SECTIONS_LEAST: Final = 600
"""Fewest characters of sections for which a model is asked: in less there is no room for a sentence in each, so that
code melts, which is the settings' choice and no failure."""
REPAIR_BATCH_CHARS: Final = 6_000
"""Characters of exchanges that one call of a narrative's repair takes from the journal: some twenty condensed
exchanges, so that a day's outage is made good in a few calls, each recorded."""


@dataclass(slots=True)
class _Pass:
    """What one pass has done so far."""

    by: Counter[str] = field(default_factory=Counter[str])
    evicted: int = 0
    condensed: int = 0
    melted: int = 0
    narratives: int = 0
    repaired: int = 0
    notes: list[str] = field(default_factory=list[str])


@dataclass(slots=True, kw_only=True)
class Maintenance:
    """The upkeep of one bee's horizon."""

    hive: str
    bee: str
    store: BeeStore
    settings: HorizonSettings
    options: ViewOptions
    """What the view depends on, from the same settings."""
    cascade: Cascade
    clock: Clock

    def pending(self) -> bool:
        """Tell, without asking a model, whether `maintain` has anything to move."""
        if not self.settings.actif:
            return False
        state = self.store.load().state
        return bool(self._eviction(state).leaving or plan_melting(state, self.options).leaving)

    def degraded(self) -> bool:
        """Tell, without asking a model, whether an outage left texts that `repair` would make again."""
        return self.settings.actif and bool(degraded_texts(self.store.load().state))

    def maintain(self, *, dry_run: bool = False) -> MaintenanceReport:
        """Evict, then melt, until each zone is within its budget (spec 1-horizon §2, §8).

        Raises:
            StoreBusy: another maintainer is at work on this bee.
            OSError: the disk refused; what was recorded by then holds.
        """
        if not self.settings.actif:
            return self._report(_Pass(notes=["the horizon is switched off (actif = false)"]))
        if dry_run:
            return self._planned()
        done = _Pass()
        with self.store.exclusive():
            self._shed(done)
            self.store.save_snapshot()
        return self._report(done)

    def repair(self) -> MaintenanceReport:
        """Make again from the integral journal what an outage left degraded (spec 1-horizon §5).

        A text is replaced only by one that a model made and the checks accepted.

        Raises:
            StoreBusy: another maintainer is at work on this bee.
        """
        done = _Pass()
        if not self.degraded():
            return self._report(done)
        models = summarizers(self.settings)
        reason = self.cascade.available(models)
        if reason is not None:
            return self._report(_Pass(notes=[f"nothing was repaired: {reason}"]))
        with self.store.exclusive():
            self._repair_condensates(done)
            self._repair_narrative(done)
            self.store.save_snapshot()
        return self._report(done)

    def restore(self, version: int) -> MaintenanceReport:
        """Make narrative `version` the one that is shown, as a new version; the keeper's words stay as they are.

        What melted since then is in the versions between, which are kept; nothing of it is melted again.

        Raises:
            InvalidInput: there is no such version; the message says which there are.
            StoreBusy: another maintainer is at work on this bee.
        """
        done = _Pass()
        with self.store.exclusive():
            versions = {told.version: told for told in self.store.narratives()}
            wanted = versions.get(version)
            if wanted is None:
                has = f"there are 1 to {max(versions)}" if versions else "there is none yet"
                raise InvalidInput(f"{self.bee} has no narrative version {version}; {has}")
            self.store.record(
                Narrated(
                    version=max(versions) + 1,
                    base=version,
                    cause=Cause.RESTORATION,
                    sections=wanted.sections,
                    by=wanted.by,
                    degraded=False,  # somebody chose it
                    at=self.clock.now(),
                )
            )
            self.store.save_snapshot()
        done.by[wanted.by] += 1
        done.narratives += 1
        return self._report(done)

    def rebuild(self, *, fresh: bool = False) -> MaintenanceReport:
        """Fold the journals again from their first byte; with `fresh`, also ask the models again for every text.

        `fresh` sets the recorded outcomes aside (the file stays beside, renamed) and maintains from the
        journal and the flags alone.

        Raises:
            StoreBusy: another maintainer is at work on this bee.
        """
        with self.store.exclusive():
            self.store.refold(drop_outcomes=fresh)
            self.store.save_snapshot()
        return self.maintain() if fresh else self._report(_Pass())

    def _shed(self, done: _Pass) -> None:
        """Evict and melt in turn until nothing is due, or the pass has made its calls.

        Melting comes first: a pass that was killed goes on where it stopped, as an undisturbed one would have.
        """
        while self._melt(done) and self._evict(done):
            pass

    def _evict(self, done: _Pass) -> bool:
        """Condense what is due and move it in one event; tell whether anything moved."""
        state = self.store.load().state
        plan = self._eviction(state)
        if not plan.leaving:
            if plan.why is not None:
                done.notes.append(plan.why.value)
            return False
        sharp = _by_id(state.sharp.values())
        ids: list[str] = []
        for id_ in plan.ids[:EVICTION_MOST]:
            if id_ not in state.condensates:
                if self.cascade.tally.calls >= CALLS_PER_PASS:
                    done.notes.append(
                        f"{len(plan.ids) - len(ids)} exchanges wait for the next pass: {CALLS_PER_PASS} calls are made in one"
                    )
                    break
                self._condense(sharp[id_], done)
            ids.append(id_)
        if ids:
            self.store.record(Evicted(ids=tuple(ids), at=self.clock.now()))
            done.evicted += len(ids)
        return bool(ids)

    def _condense(self, exchange: Exchange, done: _Pass, *, by_model_only: bool = False) -> bool:
        """Record a condensed text for `exchange`; tell whether one was made that is not degraded."""
        own = condensation.own_text(exchange)
        if own is not None:
            text, by, degraded, steps = own, VERBATIM, False, ()
        else:
            language = self.settings.langue
            asked = self.cascade.ask(
                summarizers(self.settings),
                lambda attempt: request_for(
                    attempt,
                    condensation.prompt(
                        exchange, language=language, window=window_for(attempt, self.settings), reason=attempt.reason
                    ),
                    self.settings,
                ),
                lambda reply: condensation.judge(reply, exchange, language=language),
            )
            steps, degraded = asked.steps, asked.failed
            if asked.value is None and by_model_only:
                return False
            text, by = (condensation.truncate(exchange), TRUNCATION) if asked.value is None else (asked.value, asked.by)
        self.store.record(
            Condensed(id=exchange.id, text=text, by=by, degraded=degraded, at=self.clock.now(), steps=steps)
        )
        done.by[by] += 1
        done.condensed += 1
        return not degraded

    def _melt(self, done: _Pass) -> bool:
        """Melt batch by batch until the zone is within its room; tell whether it is."""
        while True:
            state = self.store.load().state
            plan = plan_melting(state, self.options)
            if not plan.leaving:
                return True
            if self.cascade.tally.calls >= CALLS_PER_PASS:
                done.notes.append(f"{len(plan.ids)} exchanges wait for the next pass to melt")
                return False
            self._melt_batch(state, plan.ids, done)

    def _melt_batch(self, state: State, ids: tuple[str, ...], done: _Pass) -> None:
        condensed = _by_id(state.condensed.values())
        batch = [condensed[id_] for id_ in ids]
        base = state.narrative
        words = tuple(
            Word(id=exchange.id, at=exchange.at, text=exchange.question)
            for exchange in batch
            if is_beacon(exchange, state.flags, self.options.beacons)
        )
        sections, by, steps, failed = self._narrate(
            state,
            base.sections if base else {},
            [self._piece(state, exchange) for exchange in batch],
            coming=sum(len(word.text) for word in words),
        )
        from_degraded = (base is not None and base.degraded) or any(
            state.condensates[id_].degraded for id_ in ids if id_ in state.condensates
        )
        self.store.record(
            Narrated(
                version=_next_version(state),
                base=base.version if base else 0,
                cause=Cause.MELTING,
                sections=sections,
                by=by,
                degraded=failed or from_degraded,
                at=self.clock.now(),
                ids=ids,
                words=words,
                steps=steps,
            )
        )
        done.by[by] += 1
        done.melted += len(ids)
        done.narratives += 1

    def _narrate(
        self, state: State, previous: Mapping[Section, str], batch: Sequence[narrative.Melting], *, coming: int = 0
    ) -> tuple[Mapping[Section, str], str, tuple[Step, ...], bool]:
        """Return the sections with `batch` melted in, who made them, each step, and whether a model failed.

        They get what of the narrative's room the keeper's words leave, `coming` characters of new ones included;
        at least half of it.
        """
        room = rooms(self.options.budgets).narrative
        words = chars_of(compose_narrative(state, self.options, room).word_parts()) + coming
        most = max(room - min(words, room // 2) - SECTION_FRAMES, 0)
        language = self.settings.langue
        asked = self.cascade.ask(
            summarizers(self.settings) if most >= SECTIONS_LEAST else (),
            lambda attempt: request_for(
                attempt,
                narrative.prompt(
                    previous,
                    batch,
                    most=most,
                    language=language,
                    window=window_for(attempt, self.settings),
                    reason=attempt.reason,
                ),
                self.settings,
            ),
            lambda reply: narrative.judge(reply, previous, batch, most=most, language=language),
        )
        if asked.value is not None:
            return asked.value, asked.by, asked.steps, False
        made = narrative.truncate(previous, batch, most=most, language=language)
        return made, TRUNCATION, asked.steps, asked.failed

    def _repair_condensates(self, done: _Pass) -> None:
        state = self.store.load().state
        held = _by_id([*state.sharp.values(), *state.condensed.values()])
        for id_ in [id_ for id_, made in state.condensates.items() if made.degraded and id_ in held]:
            if not self._condense(held[id_], done, by_model_only=True):
                done.notes.append(f"{id_} stays degraded: no model gave a usable text")
                continue
            done.repaired += 1

    def _repair_narrative(self, done: _Pass) -> None:
        """Melt again, from the last good version, what has melted since, whole from the journal."""
        while True:
            state = self.store.load().state
            if not state.since_good:
                return
            base = state.last_good
            ids: list[str] = []
            batch: list[narrative.Melting] = []
            room = REPAIR_BATCH_CHARS
            for id_ in state.since_good:
                exchange = self.store.exchange(id_)
                if exchange is not None:
                    text = condensation.own_text(exchange) or condensation.truncate(exchange)
                    room -= len(text) + len(exchange.question)
                    if ids and room < 0:
                        break
                    batch.append(self._melting(exchange, text))
                ids.append(id_)
            sections, by, steps, failed = self._narrate(state, base.sections if base else {}, batch)
            if failed:
                done.notes.append("the narrative stays degraded: no model gave a usable one")
                return
            self.store.record(
                Narrated(
                    version=_next_version(state),
                    base=base.version if base else 0,
                    cause=Cause.REPAIR,
                    sections=sections,
                    by=by,
                    degraded=False,
                    at=self.clock.now(),
                    ids=tuple(ids),
                    steps=steps,
                )
            )
            done.by[by] += 1
            done.narratives += 1
            done.repaired += 1

    def _eviction(self, state: State) -> EvictionPlan:
        return plan_eviction(state, self.options, now=self.clock.now(), age_hours=self.settings.age_net_heures)

    def _piece(self, state: State, exchange: Exchange) -> narrative.Melting:
        made = state.condensates.get(exchange.id)
        return self._melting(exchange, made.text if made else condensation.truncate(exchange))

    def _melting(self, exchange: Exchange, text: str) -> narrative.Melting:
        return narrative.Melting(when=minute(exchange.at, self.options.zone), question=exchange.question, text=text)

    def _planned(self) -> MaintenanceReport:
        state = self.store.load().state
        eviction = self._eviction(state)
        melting = plan_melting(state, self.options)
        notes = [eviction.why.value] if eviction.why is not None and not eviction.leaving else []
        planned = _Pass(evicted=len(eviction.ids), melted=len(melting.ids), notes=notes)
        return replace(self._report(planned), dry_run=True)

    def _report(self, done: _Pass) -> MaintenanceReport:
        state = self.store.load().state
        gauge = view_of(state, self.options).gauge
        tally = self.cascade.tally
        return MaintenanceReport(
            hive=self.hive,
            bee=self.bee,
            active=self.settings.actif,
            evicted=done.evicted,
            condensed=done.condensed,
            melted=done.melted,
            narratives=done.narratives,
            repaired=done.repaired,
            degraded=len(degraded_texts(state)),
            calls=tally.calls,
            failures=tally.failures,
            tokens=tally.prompt_tokens + tally.reply_tokens,
            by=dict(done.by),
            gauge={
                Zone.SHARP.value: (gauge.sharp.chars, gauge.sharp.budget),
                Zone.CONDENSED.value: (gauge.condensed.chars, gauge.condensed.budget),
                Zone.MELTED.value: (gauge.narrative.chars, gauge.narrative.budget),
            },
            notes=tuple(dict.fromkeys(done.notes)),
        )


def _by_id(exchanges: Iterable[Exchange]) -> dict[str, Exchange]:
    """Index by id; where two exchanges carry one id the oldest counts, as in the state."""
    found: dict[str, Exchange] = {}
    for exchange in exchanges:
        found.setdefault(exchange.id, exchange)
    return found


def _next_version(state: State) -> int:
    newest = max((told.version for told in (state.narrative, state.last_good) if told), default=0)
    return newest + 1
