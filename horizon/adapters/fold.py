"""Folding a bee's journals into its state, from any place on.

Flags and outcomes come before exchanges: a fold from the beginning then knows what has long melted, and
neither parses nor keeps it. Of the condensed texts it parses those that are left at the end.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, cast

from horizon.adapters.cursor import Moved, new_events, stamp_of
from horizon.adapters.journal_lines import given_id
from horizon.adapters.outcome_lines import condensed_id, fields_of, flag_of, outcome_of
from horizon.core.event import Appended, Flagged
from horizon.core.state import append_melted, apply, comes_too_late

if TYPE_CHECKING:
    from datetime import datetime

    from horizon.adapters.cursor import Notes
    from horizon.adapters.journal_reader import JournalReader, Progress
    from horizon.core.event import Condensed
    from horizon.core.state import State


@dataclass(slots=True)
class _Unparsed:
    """Stands in `State.condensates` for a condensed text while the fold is under way."""

    line: bytes


def fold(state: State, progress: Progress, reader: JournalReader, notes: Notes, until: datetime | None = None) -> bool:
    """Apply what is new since `progress`, and dated by `until` where that is given; tell whether anything was.

    Raises:
        Moved: the journals do not continue what was read; `state` and `progress` are then of no use.
        Unavailable: a journal is there and cannot be read.
    """
    forgets = stamp_of(
        str(reader.files.forgets)
    )  # from before reading: what is forgotten meanwhile is noticed next time
    size = 0 if forgets is None else forgets[1]
    if progress.forgets is None:
        progress.forgets = size
    elif progress.forgets != size:
        raise Moved("exchanges were forgotten")
    changed = _fold_events(state, progress, reader, notes, until)
    appended = state.appended
    known = partial(append_melted, state)
    for found in reader.new(progress, notes, known) if until is None else reader.new(progress, notes):
        if until is not None and found.at > until:
            continue
        if not append_melted(state, given_id(found.record.fields)):
            apply(state, Appended(entry=found.entry()))
    return changed or state.appended != appended


def _fold_events(state: State, progress: Progress, reader: JournalReader, notes: Notes, until: datetime | None) -> bool:
    changed = False
    melted = progress.outcomes.offset > 0  # else no words can have been let go yet

    def hold(line: bytes) -> bool:
        nonlocal changed
        id_ = condensed_id(line)
        if id_ is None:
            return False
        changed = True
        # In its place under the same rules: what melts takes it away, a later text replaces it.
        state.condensates[id_] = cast("Condensed", _Unparsed(line))
        return True

    flags = new_events(reader.files.flags, progress.flags, flag_of, notes)
    taken = hold if until is None else None  # a condensed text has its date inside
    outcomes = new_events(reader.files.outcomes, progress.outcomes, outcome_of, notes, taken)
    for event in chain(flags, outcomes):
        if until is None or event.at <= until:
            if melted and isinstance(event, Flagged) and comes_too_late(state, event):
                raise Moved(f"{event.id} was flagged after its words were counted among older ones")
            changed = True
            apply(state, event)
    for id_, held in state.condensates.items():
        if isinstance(held, _Unparsed):  # pyright: ignore[reportUnnecessaryIsInstance]  # put there above
            state.condensates[id_] = cast("Condensed", outcome_of(fields_of(held.line)))
    return changed
