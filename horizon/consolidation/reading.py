"""Reading a day with a summarizer: part by part, each reply recorded, one failing exchange isolated.

Rules:

- How many calls there can be is known beforehand; nothing that a model says makes more of them.
- What a model returned is recorded as soon as it is judged; a rerun goes on from there without a second call.
- A part that no reply made usable is read again by halves. A half that goes well tells that the fault is in the other;
  where both fail the fault is the model's, and the day is owed.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from horizon.cascade import request_for, window_for
from horizon.core import asking, extraction
from horizon.core.asking import PROMPT_VERSION
from horizon.core.day import digest
from horizon.core.night import PartRead
from horizon.core.transcript import parts

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import date, tzinfo

    from horizon.cascade import Asked, Attempt, Cascade
    from horizon.core.day import Lived
    from horizon.core.extraction import Reading
    from horizon.core.verdict import Rejected
    from horizon.ports import Clock, ModelRequest
    from horizon.settings import ConsolidationSettings

POISONS_MOST: Final = 3
"""Exchanges isolated in one day; more than that are not the exchanges' fault."""
TRIES: Final = 2
"""Calls for one question to one model: the first, and one with the reason of its rejection."""


class _Unreachable(Exception):
    """No model could be reached; carries why."""


class _Unusable(Exception):
    """The models answered, and not usably; carries why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DayReading:
    """What came of reading a day. Without `failure` it was read whole, but for the `isolated` exchanges."""

    readings: tuple[Reading, ...] = ()
    summary: str = ""
    by: str = ""
    isolated: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    failure: str = ""
    unreachable: bool = False


@dataclass(slots=True, kw_only=True)
class Reader:
    """Reads one day. `recorded` are replies that an earlier run has paid for, by key; `record` keeps new ones."""

    day: date
    models: tuple[str, ...]
    settings: ConsolidationSettings
    zone: tzinfo
    cascade: Cascade
    clock: Clock
    recorded: dict[str, PartRead]
    record: Callable[[PartRead], None]
    _isolated: list[str] = field(default_factory=list[str])
    _authors: dict[str, None] = field(default_factory=dict[str, None])
    _why: str = ""

    @property
    def facts(self) -> int:
        """Most facts asked for in one call."""
        return asking.asked(self.settings.contexte, self.settings.faits_max)

    def plan(self, kept: Sequence[Lived]) -> tuple[tuple[Lived, ...], ...]:
        """Return the parts in which the day is read."""
        return parts(
            kept,
            size=self.settings.partie_echanges,
            most=self.settings.parties_max,
            room=asking.room(self.settings.contexte, self.facts),
        )

    def calls(self, kept: Sequence[Lived]) -> tuple[int, int]:
        """Return how many calls the day takes without failures, and how many it can take at most."""
        planned = self.plan(kept)
        calls = len(planned) + (len(planned) > 1)
        halvings = sum(sorted((2 * (len(part) - 1).bit_length() for part in planned), reverse=True)[:POISONS_MOST])
        # a part that is halved makes a summary of its halves needed; a window found too small costs one call more
        return calls, (len(planned) + 1 + halvings) * TRIES * len(self.models) + len(self.models)

    def read(self, kept: Sequence[Lived]) -> DayReading:
        """Read the day's exchanges; never raises for a model's sake."""
        readings: list[Reading] = []
        try:
            for part in self.plan(kept):
                readings += self._part(part)
            if not readings:
                raise _Unusable(self._why)
            summary, notes = self._summary([reading for reading in readings if reading.summary], readings)
        except _Unreachable as error:
            return DayReading(failure=str(error), unreachable=True)
        except _Unusable as error:
            return DayReading(failure=str(error), isolated=tuple(self._isolated))
        return DayReading(
            readings=tuple(readings),
            summary=summary,
            by=", ".join(self._authors),
            isolated=tuple(self._isolated),
            notes=notes,
        )

    def _part(self, part: Sequence[Lived]) -> list[Reading]:
        """Return the readings of a part: one, or those of its halves without an isolated exchange."""
        found = self._ask(part)
        if found is not None:
            return [found]
        readings: list[Reading] = []
        failing: Sequence[Lived] = part
        while len(failing) > 1:
            middle = len(failing) // 2
            first, second = self._ask(failing[:middle]), self._ask(failing[middle:])
            if first is None and second is None and len(failing) > 2:
                raise _Unusable(self._why)
            if first is not None:
                readings.append(first)
            if second is not None:
                readings.append(second)
            if first is None and second is None:
                self._isolate(failing[0])
                failing = failing[1:]
                break
            if first is not None and second is not None:  # together they failed, apart they do not
                return readings
            failing = failing[:middle] if first is None else failing[middle:]
        self._isolate(failing[0])
        return readings

    def _isolate(self, lived: Lived) -> None:
        self._isolated.append(lived.address)
        if len(self._isolated) > POISONS_MOST:
            raise _Unusable(self._why)

    def _ask(self, part: Sequence[Lived]) -> Reading | None:
        """Return what is believed of a reply about `part`, None where no reply was usable.

        Raises:
            _Unreachable: no model could be reached.
        """
        key = self._key("part", [digest(lived) for lived in part])
        held = self.recorded.get(key)
        if held is None:
            again = False

            def request(attempt: Attempt) -> ModelRequest | Rejected:
                nonlocal again
                again = attempt.reason is not None
                prompt = asking.prompt(
                    part,
                    zone=self.zone,
                    language=self.settings.langue,
                    window=window_for(attempt, self.settings),
                    facts=self.facts,
                    reason=attempt.reason,
                )
                return request_for(attempt, prompt, self.settings)

            asked = self.cascade.ask(
                self.models,
                request,
                lambda reply: extraction.judge(
                    reply,
                    part,
                    day=self.day,
                    language=self.settings.langue,
                    facts=self.facts,
                    window=self.settings.contexte,
                    again=again,
                ),
            )
            self._reached(asked)
            held = PartRead(
                day=self.day, at=self.clock.now(), key=key, by=asked.by, reading=asked.value, reason=asked.reason
            )
            self.record(held)
        return self._taken(held).reading

    def _summary(self, told: Sequence[Reading], readings: Sequence[Reading]) -> tuple[str, tuple[str, ...]]:
        """Return the day's summary from its parts', and what is to be said about how it came about."""
        summaries = [reading.summary for reading in told]
        if len(summaries) == 1:
            return summaries[0], ()
        if not summaries:
            sentences = [fact.text for reading in readings for fact in reading.facts]
            return " ".join(f"{text.rstrip(' .')}." for text in sentences[: asking.SUMMARY_SENTENCES]), ()
        key = self._key("summary", summaries)
        held = self.recorded.get(key)
        if held is None:
            asked = self.cascade.ask(
                self.models,
                lambda attempt: request_for(
                    attempt,
                    asking.prompt_together(
                        summaries,
                        language=self.settings.langue,
                        window=window_for(attempt, self.settings),
                        reason=attempt.reason,
                    ),
                    self.settings,
                ),
                lambda reply: extraction.judge_together(reply, summaries, language=self.settings.langue),
            )
            self._reached(asked)
            held = PartRead(
                day=self.day, at=self.clock.now(), key=key, by=asked.by, text=asked.value or "", reason=asked.reason
            )
            self.record(held)
        if self._taken(held).text:
            return held.text, ()
        joined = extraction.joined(summaries)
        return joined, (f"the parts' summaries were put together by code: {held.reason}",)

    def _reached(self, asked: Asked[Reading] | Asked[str]) -> None:
        if asked.unreachable:
            raise _Unreachable(asked.reason)

    def _taken(self, held: PartRead) -> PartRead:
        if held.by:
            self._authors[held.by] = None
        if held.reason and held.reading is None and not held.text:
            self._why = held.reason
        return held

    def _key(self, what: str, of: Sequence[str]) -> str:
        said = [
            what, PROMPT_VERSION, self.settings.langue, str(self.settings.contexte), str(self.facts),
            *self.models, "", *of,
        ]  # fmt: skip
        return hashlib.sha256("\x1f".join(said).encode("utf-8", "replace")).hexdigest()[:16]
