"""The part of a text that shows why it was found (spec 5-interface, `recall`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from horizon.core.query import places

if TYPE_CHECKING:
    from collections.abc import Collection

SNIPPET_CHARS: Final = 240
"""Three lines of a terminal."""
_BEFORE: Final = 40
"""Characters shown before the first word that was asked for."""


def snippet(text: str, terms: Collection[str], *, most: int = SNIPPET_CHARS) -> str:
    """Return at most `most` characters of `text` on one line, from where most of `terms` stand together.

    `terms` are search tokens. Where none occurs, the text's beginning is returned; "…" marks each end at
    which something is left out and counts.
    """
    flat = " ".join(text.split())
    if len(flat) <= most:
        return flat
    found = [(at, token) for at, token in places(flat) if token in terms]
    reach = max(1, most - _BEFORE - 2)
    best, best_worth = 0, 0
    for index, (at, _) in enumerate(found):
        worth = len({token for place, token in found[index : index + reach] if place < at + reach})
        if worth > best_worth:
            best, best_worth = at, worth
    start = max(0, min(best - _BEFORE, len(flat) - most))
    if start:  # not inside a word, where a space is near
        space = flat.find(" ", start, best)
        start = space + 1 if space >= 0 else start
    head = "…" if start else ""
    end = start + most - len(head)
    if end >= len(flat):
        return head + flat[start:]
    return head + flat[start : max(start, end - 1)] + "…"
