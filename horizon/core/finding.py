"""What `horizon doctor` found wrong or odd: where, what, and what to do."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import StrEnum


class Kind(StrEnum):
    """What a finding is about."""

    SETTINGS = "settings"
    JOURNAL = "journal"
    FLAG = "flag"
    DEGRADED = "degraded"
    DRIFT = "drift"
    RIGHTS = "rights"
    NIGHT = "night"


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
