"""An exchange: one question and its answer, as the integral journal keeps it (spec 1-horizon §1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from datetime import datetime

CONVERSATION: Final = "conversation"
"""The kind of an exchange in which the keeper speaks to the bee."""


class Position(NamedTuple):
    """Where an exchange stands in the integral journal; positions compare in journal order.

    A sealed segment is moved byte for byte, so a position never changes.
    """

    segment: int
    """0-based ordinal of the segment: the archive's files in name order, then the active one."""
    offset: int
    """Byte offset of the line's start in the (uncompressed) segment."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """One question and its answer.

    `at` is an aware instant in UTC. `kind` is never empty. `question` and `answer` hold any
    Unicode text without lone surrogates, and may be empty.
    """

    id: str
    at: datetime
    question: str
    answer: str
    kind: str = CONVERSATION
    tool: str | None = None
    model: str | None = None

    def __post_init__(self) -> None:
        if not self.id:
            raise ValueError("an exchange has an id")
        if self.at.utcoffset() is None:
            raise ValueError(f"exchange {self.id}: its instant must be aware, not {self.at!r}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """An exchange at its place in the journal."""

    position: Position
    exchange: Exchange

    @property
    def order(self) -> tuple[datetime, Position]:
        """Lived order: by instant, and by place in the journal where instants are equal."""
        return (self.exchange.at, self.position)


def content_id(*, at: datetime, kind: str, tool: str | None, question: str, answer: str) -> str:
    """Return the id of an exchange that was given none: 12 hexadecimal digits, the same for the same content.

    48 bits: among a million exchanges two ids are equal with a chance of 1 in 500.
    """
    import hashlib  # noqa: PLC0415 - two milliseconds that readers need not wait for

    said = "\x1f".join((at.isoformat(), kind, tool or "", question, answer))
    return hashlib.sha256(said.encode("utf-8", "surrogatepass")).hexdigest()[:12]
