"""What `horizon doctor` found wrong or odd: where, what, and what to do."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


class Kind(StrEnum):
    """What a finding is about."""

    SETTINGS = "settings"
    JOURNAL = "journal"
    FLAG = "flag"
    DEGRADED = "degraded"
    DRIFT = "drift"
    RIGHTS = "rights"
    NIGHT = "night"
    SOURCE = "source"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing to look at. `line` is 1-based, `offset` in bytes; both 0 where the whole file is meant."""

    kind: Kind
    path: str
    message: str
    remedy: str
    line: int = 0
    offset: int = 0

    def to_json(self) -> dict[str, object]:
        """Return the finding for a JSON document."""
        return asdict(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Undated:
    """Rows of a source that are in no day: how many by reason, and the first few, in order; both empty where there are none."""

    reasons: Mapping[str, int]
    first: tuple[int, ...]
