"""What the core says of a model's reply that cannot be used: a value, not an error (spec 1-horizon §7)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejected:
    """A model answered, or would answer, but not usably; `reason` is for people and for the second attempt.

    `final` tells that asking again, even with the reason, changes nothing (an unknown model, a refused key).
    `window` is the model's real window in tokens where a request was too large for it, else None: the
    asker may shorten its prompt to that and ask again.
    """

    reason: str
    final: bool = False
    window: int | None = None
