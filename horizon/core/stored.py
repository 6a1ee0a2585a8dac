"""What a bee's store gives: the folded state, what an append stored, what could not be read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from horizon.core.exchange import Exchange
    from horizon.core.state import State


@dataclass(frozen=True, slots=True, kw_only=True)
class Oddity:
    """Something in a file that was passed over or taken leniently; the file was not touched."""

    path: str
    line: int
    """1-based; 0 where it concerns the whole file."""
    offset: int
    """Byte offset of the line's start."""
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Fold:
    """A bee's state as of the bytes that were read, and the stamp of those bytes.

    Two loads with an equal `stamp` saw the same bytes. Treat `state` as read-only.
    """

    state: State
    stamp: object
    oddities: tuple[Oddity, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """What an append stored: the exchange as it will be read back."""

    exchange: Exchange
    rotated: bool = False
    fold: Fold | None = None
    """The state with it, where nothing but it has come since the last load; None where only a load can tell."""
