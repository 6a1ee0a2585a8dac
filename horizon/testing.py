"""Fakes that ship with the package: a scripted model and a clock that stands still.

>>> from horizon.testing import FixedClock, ScriptedModel
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from horizon.errors import ModelUnavailable
from horizon.ports import Answered, Rejected

if TYPE_CHECKING:
    from collections.abc import Callable

    from horizon.ports import ModelRequest


@dataclass(slots=True)
class FixedClock:
    """A clock that shows `instant` until it is moved."""

    instant: datetime = datetime(2026, 7, 10, 12, 0, tzinfo=UTC)

    def now(self) -> datetime:
        """Return the instant it was set to, aware, in UTC."""
        return self.instant

    def advance(self, by: timedelta) -> None:
        """Move the clock on."""
        self.instant += by


@dataclass(slots=True)
class ScriptedModel:
    """A summarizer that gives the scripted replies in order, then what `then` makes of each request.

    A reply is a text, a `Rejected`, or an exception to raise. With neither replies nor `then` left, the
    model is down: `ModelUnavailable`. `requests` lists every request, in order.
    """

    replies: deque[str | Rejected | Exception] = field(default_factory=deque[str | Rejected | Exception])
    then: Callable[[ModelRequest], str | Rejected] | None = None
    requests: list[ModelRequest] = field(default_factory=list["ModelRequest"])

    def chat(self, request: ModelRequest) -> Answered | Rejected:
        """Return the next scripted reply.

        Raises:
            ModelUnavailable: nothing is scripted any more.
        """
        self.requests.append(request)
        if self.replies:
            reply: str | Rejected | Exception = self.replies.popleft()
        elif self.then is not None:
            reply = self.then(request)
        else:
            raise ModelUnavailable("no reply is scripted: this model is down")
        if isinstance(reply, Exception):
            raise reply
        return reply if isinstance(reply, Rejected) else Answered(text=reply)

    def available(self, model: str) -> str | None:
        """Return None while something is scripted, else why not."""
        if self.replies or self.then is not None:
            return None
        return f"{model} is down: no reply is scripted"
