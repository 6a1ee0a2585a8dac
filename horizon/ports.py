"""What the use cases need of the world, as small protocols; adapters fulfil them, `testing` fakes them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from horizon.core.stored import Fold, Oddity, Written
from horizon.core.verdict import Rejected

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from contextlib import AbstractContextManager
    from datetime import datetime

    from horizon.core.event import Flagged, Narrated, Outcome
    from horizon.core.exchange import Entry, Exchange
    from horizon.core.receipt import View
    from horizon.core.view import Look


__all__ = [
    "Answered",
    "BeeStore",
    "ChatModel",
    "Clock",
    "Fold",
    "ModelRequest",
    "Oddity",
    "Rejected",
    "Written",
]


class Clock(Protocol):
    """The only source of "now"."""

    def now(self) -> datetime:
        """Return the present instant, aware, in UTC."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRequest:
    """One question to a language model.

    `model` is "ollama/<name>". `system` and `prompt` are clean text (no lone surrogate, no NUL). `schema`
    is a flat JSON schema for the reply, None for prose. `reply_tokens` bounds the reply, `context` is the
    window in tokens to ask for, `timeout` the seconds that the whole call may take.
    """

    model: str
    prompt: str
    system: str = ""
    schema: Mapping[str, object] | None = None
    reply_tokens: int
    context: int
    timeout: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """The model finished a reply; whether it is any use is for the core to judge."""

    text: str
    prompt_tokens: int = 0
    reply_tokens: int = 0
    seconds: float = 0.0


class ChatModel(Protocol):
    """A summarizer."""

    def chat(self, request: ModelRequest) -> Answered | Rejected:
        """Ask once, without any retry; Rejected where the answer was cut, empty, or cannot be had at all.

        Raises:
            ModelUnavailable: refused, cut off, busy (429, 5xx), timed out; the asker may try later.
        """
        ...

    def available(self, model: str) -> str | None:
        """Return None where `model` can be asked now, else the reason why not, for people to read."""
        ...


class BeeStore(Protocol):
    """One bee's journals and the state folded from them (spec 1-horizon §9). Readers take no lock."""

    def stamp(self) -> object:
        """Return a cheap value that changes whenever any of the bee's journals does."""
        ...

    def load(self) -> Fold:
        """Return the state folded from all bytes now on disk. Writes nothing."""
        ...

    def load_at(self, instant: datetime) -> Fold:
        """Return the state as of `instant`: only what had been recorded by then."""
        ...

    def append(self, exchange: Exchange) -> Written:
        """Append one exchange durably; it is on disk when this returns. Rotates at 500 entries.

        Raises:
            OSError: the disk refused; then nothing of it is in the journal.
        """
        ...

    def flag(self, event: Flagged) -> None:
        """Append a flag durably."""
        ...

    def record(self, outcome: Outcome) -> None:
        """Append one outcome durably, in one write. Only under `exclusive()`."""
        ...

    def exclusive(self) -> AbstractContextManager[None]:
        """Exclude every other maintainer of this bee, in all processes.

        Raises:
            StoreBusy: another one is at work.
        """
        ...

    def refold(self, *, drop_outcomes: bool = False) -> None:
        """Forget what is folded and cached, so that the next load reads every journal from its first byte.

        With `drop_outcomes` the recorded outcomes are set aside under another name beside the file (never
        deleted), so that the horizon is made again from the journal and the flags alone. Only under `exclusive()`.
        """
        ...

    def save_snapshot(self) -> None:
        """Write the cache of the folded state, atomically; it may be deleted at any time."""
        ...

    def keep_view(self, looked: Look, *, settings: object, zone: str) -> None:
        """Leave a view of what was loaded last for other processes; it may be deleted at any time. Only under `exclusive()`.

        `settings` is the stamp of the settings that its options come from, `zone` the name of their time zone.

        Raises:
            OSError: the disk refused; what was left before stands.
        """
        ...

    def kept_view(self, stamp: object, settings: object) -> View | None:
        """Return the view as `keep_view` left it, with what was appended since; writes nothing.

        `stamp` is this store's of now, `settings` that of the settings. None where none was left, or where anything
        else has changed: what is returned is what a look at the loaded state would give.
        """
        ...

    def exchange(self, id_: str) -> Exchange | None:
        """Return the exchange called `id_` from the integral journal, wherever it stands; None if unknown."""
        ...

    def entries(self) -> Iterator[Entry]:
        """Yield every readable exchange of the integral journal, in journal order."""
        ...

    def latest(self, count: int, until: datetime | None = None) -> tuple[Entry, ...]:
        """Return the last `count` exchanges of the journal dated by `until`, in journal order. Writes nothing."""
        ...

    def narratives(self) -> tuple[Narrated, ...]:
        """Return every narrative version that was recorded, oldest first."""
        ...

    def oddities(self) -> tuple[Oddity, ...]:
        """Return what in the three journals could not be read, by file, line and offset, in order."""
        ...
