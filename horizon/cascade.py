"""Who makes a text: the models in order, each asked at most twice, before code does (spec 1-horizon §5).

Rules:

- A rejected reply is asked for once more, with the reason; then the next model's turn comes.
- A model that cannot be reached is left at once: whoever runs the work decides about trying again, later.
- After three failures to reach a model in a row its circuit is open: it is passed over without a call,
  until a while has gone by and a health check finds it well.
- What each step did is told, so that it can stand beside the text that came of it.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Final, Generic, TypeVar

from horizon.core.event import Step
from horizon.core.verdict import Rejected
from horizon.errors import InvalidInput, ModelUnavailable
from horizon.ports import ModelRequest
from horizon.settings import timeout_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from horizon.core.prompt import Prompt
    from horizon.ports import ChatModel, Clock
    from horizon.settings import ConsolidationSettings, HorizonSettings

Value = TypeVar("Value")

FAILURES_MOST: Final = 3
"""Failures to reach a model, in a row, that open its circuit (spec 3-orchestration, outages)."""
REST: Final = timedelta(minutes=5)
"""How long an open circuit rests before the model's health is looked at again."""
OK: Final = "ok"
"""A step's outcome where its text was accepted."""
REASON_MOST: Final = 300
"""Longest outcome recorded for a step, in characters: enough to know, too little to leak a text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """What a request is to be made for: the model, why its last reply was rejected, and its window if known.

    `reason` is None on the first attempt. `window` is in tokens; None where nothing smaller than the
    setting is known.
    """

    model: str
    reason: str | None = None
    window: int | None = None


def window_for(attempt: Attempt, settings: HorizonSettings | ConsolidationSettings) -> int:
    """Return the window in tokens to ask for: the setting's, or the model's own where that is known to be smaller."""
    return min(settings.contexte, attempt.window or settings.contexte)


def request_for(
    attempt: Attempt, prompt: Prompt | Rejected, settings: HorizonSettings | ConsolidationSettings
) -> ModelRequest | Rejected:
    """Return the request of an attempt under `settings`; Rejected where no prompt could be made."""
    if isinstance(prompt, Rejected):
        return prompt
    return ModelRequest(
        model=attempt.model,
        system=prompt.system,
        prompt=prompt.text,
        schema=prompt.schema,
        reply_tokens=prompt.reply_tokens,
        context=window_for(attempt, settings),
        timeout=timeout_of(attempt.model, settings),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked(Generic[Value]):
    """What a round through the models gave.

    `value` is what the judge accepted, `by` the model that made it; None and "" where none did. `steps`
    are in order, one for each model. `unreachable` tells that no model gave a reply to judge: there was at
    least one, but none could be reached, is known to its server, or may be asked. `reason` is the last one for
    which a model was left, "" where none was.
    """

    value: Value | None
    by: str = ""
    steps: tuple[Step, ...] = ()
    unreachable: bool = False
    reason: str = ""

    @property
    def failed(self) -> bool:
        """Whether a model was there to be asked and none gave a usable text: what code then makes is degraded.

        False also where nobody configured a model or all are switched off: that is a choice.
        """
        return self.value is None and bool(self.steps)


@dataclass(slots=True, kw_only=True)
class Tally:
    """What a cascade has cost since it was made, failed and rejected calls included.

    `calls` counts requests that were sent or tried, `failures` those that did not reach a model's end,
    `rejections` replies that were refused. Tokens are as the server counted them; seconds are of
    finished replies.
    """

    calls: int = 0
    failures: int = 0
    rejections: int = 0
    prompt_tokens: int = 0
    reply_tokens: int = 0
    seconds: float = 0.0


@dataclass(slots=True, kw_only=True)
class _Circuit:
    failures: int = 0
    opened: datetime | None = None
    window: int | None = None


@dataclass(slots=True)
class Cascade:
    """Asks models in order and remembers which cannot be reached; one for a run, shared by all its work.

    Safe to use from several threads. It neither sleeps nor repeats a call that failed to reach its model.
    """

    model: ChatModel
    clock: Clock
    tally: Tally = field(default_factory=Tally)
    _circuits: dict[str, _Circuit] = field(default_factory=dict[str, _Circuit])
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def fresh(self) -> Cascade:
        """Return a cascade with a tally of its own, over the same record of which models cannot be reached."""
        return Cascade(self.model, self.clock, _circuits=self._circuits, _lock=self._lock)

    def ask(
        self,
        models: Sequence[str],
        make_request: Callable[[Attempt], ModelRequest | Rejected],
        judge: Callable[[str], Value | Rejected],
    ) -> Asked[Value]:
        """Ask `models` in order until `judge` accepts a reply, and tell what each step did.

        `make_request` gives the request for an attempt, or Rejected where none can be made (a prompt that
        cannot be shortened to the window). `judge` gets the reply's text. Never raises for a model's sake.
        """
        steps: list[Step] = []
        reached = False
        reason = ""
        for model in dict.fromkeys(models):
            resting = self._resting(model)
            if resting is not None:
                reason = resting
            else:
                try:
                    found = self._attempts(model, make_request, judge)
                except ModelUnavailable as error:
                    reason = str(error)
                else:
                    if not isinstance(found, Rejected):
                        steps.append(Step(by=model, outcome=OK))
                        return Asked(value=found, by=model, steps=tuple(steps))
                    reached = reached or not found.final
                    reason = found.reason
            steps.append(Step(by=model, outcome=reason[:REASON_MOST]))
        return Asked(value=None, steps=tuple(steps), unreachable=bool(steps) and not reached, reason=reason)

    def available(self, models: Sequence[str]) -> str | None:
        """Return None where at least one of `models` can be asked now, else why none can; closes its circuit.

        A health check, not a call: use it before work that only makes sense with a model.
        """
        reason = "no model is configured"
        for model in dict.fromkeys(models):
            found = self.model.available(model)
            if found is None:
                with self._lock:
                    self._circuit(model).failures = 0
                    self._circuit(model).opened = None
                return None
            reason = found
        return reason

    def _attempts(
        self,
        model: str,
        make_request: Callable[[Attempt], ModelRequest | Rejected],
        judge: Callable[[str], Value | Rejected],
    ) -> Value | Rejected:
        """Ask one model, and once more after a rejection; a window found to be smaller costs no attempt.

        Raises:
            ModelUnavailable: it could not be reached.
        """
        reason: str | None = None
        found: Value | Rejected = Rejected(reason="not asked")
        rejections = 0
        while rejections < 2:
            with self._lock:
                window = self._circuit(model).window
            request = make_request(Attempt(model=model, reason=reason, window=window))
            if isinstance(request, Rejected):
                return request
            found = self._judged(request, judge)
            if not isinstance(found, Rejected):
                return found
            if found.window is not None and (window is None or found.window < window):
                with self._lock:
                    self._circuit(model).window = found.window
                continue
            if found.final:
                return found
            rejections += 1
            reason = found.reason
        return found

    def _judged(self, request: ModelRequest, judge: Callable[[str], Value | Rejected]) -> Value | Rejected:
        with self._lock:
            self.tally.calls += 1
        try:
            answer = self.model.chat(request)
        except ModelUnavailable:
            self._failed(request.model)
            raise
        except InvalidInput as error:  # an address that cannot be one: the settings' fault, and work goes on without
            return Rejected(reason=str(error), final=True)
        with self._lock:
            circuit = self._circuit(request.model)
            circuit.failures, circuit.opened = 0, None
            if not isinstance(answer, Rejected):
                self.tally.prompt_tokens += answer.prompt_tokens
                self.tally.reply_tokens += answer.reply_tokens
                self.tally.seconds += answer.seconds
        found = answer if isinstance(answer, Rejected) else judge(answer.text)
        if isinstance(found, Rejected):
            with self._lock:
                self.tally.rejections += 1
        return found

    def _failed(self, model: str) -> None:
        with self._lock:
            self.tally.failures += 1
            circuit = self._circuit(model)
            circuit.failures += 1
            if circuit.failures >= FAILURES_MOST:
                circuit.opened = self.clock.now()

    def _resting(self, model: str) -> str | None:
        """Return why `model` is passed over without a call, None where it may be asked."""
        with self._lock:
            opened = self._circuit(model).opened
        if opened is None:
            return None
        now = self.clock.now()
        if now - opened < REST:
            return f"passed over after {FAILURES_MOST} failures to reach it"
        reason = self.model.available(model)
        with self._lock:
            self._circuit(model).opened = None if reason is None else now
        return reason

    def _circuit(self, model: str) -> _Circuit:
        return self._circuits.setdefault(model, _Circuit())
