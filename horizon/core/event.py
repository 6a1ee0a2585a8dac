"""Everything that can change a bee's state, as values (spec 1-horizon §8, §9).

Three journals hold them: exchanges (`Appended`), flags (`Flagged`) and outcomes (the rest). What cannot
be computed again (a model's text, a keeper's flag, an instant) is in an event; all else is computed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from horizon.core.exchange import Entry

TRUNCATION: Final = "troncature"
"""Recorded as the author of a text that deterministic truncation made."""
VERBATIM: Final = "verbatim"
"""Recorded as the author of a text that is the exchange's own, word for word."""


class Section(StrEnum):
    """The narrative's template, in the order in which it is rendered; the keeper's words stand apart."""

    MISSION = "mission"
    DECISIONS = "decisions"
    FILES = "fichiers"
    ERRORS = "erreurs"
    IN_PROGRESS = "en_cours"
    NEXT_STEP = "prochaine_etape"


class Cause(StrEnum):
    """Why a narrative version was written."""

    MELTING = "fondu"
    REPAIR = "reprise"
    RESTORATION = "restauration"


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """What one step of the cascade did for a text: `outcome` is "ok" or the reason it was left."""

    by: str
    outcome: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Word:
    """The keeper's words of one beacon, exactly as typed."""

    id: str
    at: datetime
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Appended:
    """An exchange entered the sharp zone."""

    entry: Entry


@dataclass(frozen=True, slots=True, kw_only=True)
class Flagged:
    """The keeper flagged (`on`) or unflagged an exchange by hand.

    `word` carries the exchange's own words, so that flagging what has long melted shows them again;
    None in lines written by other engines.
    """

    id: str
    on: bool
    at: datetime
    word: Word | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Condensed:
    """A condensed answer was made for an exchange; a later one for the same id replaces it (repair)."""

    id: str
    text: str
    by: str
    degraded: bool
    at: datetime
    steps: tuple[Step, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Evicted:
    """Exchanges left the sharp zone for the condensed zone; each has a `Condensed` before it."""

    ids: tuple[str, ...]
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Narrated:
    """A narrative version was written, and `ids` left the condensed zone into it.

    `words` are those of the beacons among `ids`, copied by code. `version` counts from 1; `base` is the
    version it was made from (0: none). A repair's `ids` had melted before and are melted again here,
    after the last good version; it is shown once none is left. A restoration has no `ids`.
    """

    version: int
    base: int
    cause: Cause
    sections: Mapping[Section, str] = field(default_factory=dict[Section, str])
    by: str
    degraded: bool
    at: datetime
    ids: tuple[str, ...] = ()
    words: tuple[Word, ...] = ()
    steps: tuple[Step, ...] = ()


Outcome = Condensed | Evicted | Narrated
Event = Appended | Flagged | Outcome
