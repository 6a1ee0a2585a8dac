r"""The view file: a view as a process left it for others, a cache that may be deleted at any time.

A fresh process takes its first view from here and need not parse the settings or the snapshot, nor render anything.
It holds what it was made of: the stamps of the journals, of the settings and of the zone's file, and how far the journal
had been read, so that what was appended since can be added. Whatever else differs, the file is passed over.

In order, each ended by b"\n" but the last: a checksum of all that follows, the head, the parts of the receipt (parsed
once they are asked for), the text.
"""

from __future__ import annotations

import json
import os
import zlib
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from horizon.adapters.clock import zone_called, zone_stamp
from horizon.adapters.cursor import Moved, stamp_of
from horizon.adapters.files import replace_file
from horizon.core.beacon import Floor
from horizon.core.budget import Budgets, ViewOptions
from horizon.core.exchange import Position
from horizon.core.receipt import Cut, Gauge, Level, Part, Parts, Role, Rule, View
from horizon.core.state import Zone
from horizon.core.view import RENDERING, Kept, kept_of, lengthened
from horizon.errors import Unavailable

if TYPE_CHECKING:
    from pathlib import Path

    from horizon.adapters.bee_files import BeeFiles
    from horizon.adapters.cursor import Notes
    from horizon.adapters.journal_reader import JournalReader, Progress
    from horizon.core.view import Look

VERSION: Final = 1
"""Of the file's shape: one of another version is passed over."""
_BESIDE_JOURNAL: Final = slice(1, 3)
"""Flags and outcomes in the store's stamp: they must be the same for a view to be lengthened."""


@dataclass(slots=True, kw_only=True)
class Basis:
    """What a view was made of: the stamps of the store and of the settings, how far the journal was read."""

    stamp: tuple[object, ...]
    settings: object
    zone: str
    """The zone's name, as the settings have it."""
    progress: Progress


def write_view(path: Path, looked: Look, basis: Basis) -> None:
    """Replace the view file, atomically; one that says the same already is left as it is.

    Raises:
        OSError: the disk refused; the old one stands.
    """
    stamp = zone_stamp(basis.zone)
    if stamp is None:
        return  # where the zone's rules stand is not known, nor then when they change
    data = _bytes_of(kept_of(looked), looked.options, basis, stamp)
    try:
        if path.read_bytes() == data:
            return
    except OSError:
        pass
    replace_file(path, data)


def read_view(
    path: str, reader: JournalReader, notes: Notes, stamp: tuple[object, ...], settings: object
) -> View | None:
    """Return the view that was left, with what was appended since, where nothing else has changed; else None."""
    try:
        data = _content(path)
        if data is None:
            return None
        end = data.index(b"\n", 9)
        head: dict[str, Any] = json.loads(data[9:end])
        if not _holds(head, stamp, settings):
            return None
        if head["stamp"] == _plain(stamp):
            return _view_of(head, data, end + 1)
        if not _lengthens(head, reader.files):
            return None
        progress = reader.progress_from(head["progress"])
        entries = [found.entry() for found in reader.new(progress, notes)]
        return lengthened(_kept_of(head, _view_of(head, data, end + 1)), entries, _options_of(head))
    except (OSError, ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RecursionError):
        return None  # damaged, or left by another version
    except (Moved, Unavailable):
        return None


def _content(path: str) -> bytes | None:
    """Return the file's bytes where they are what was written; None where there is none."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        data = os.read(fd, os.fstat(fd).st_size)
    finally:
        os.close(fd)
    return data if data[:9] == b"%08x\n" % zlib.crc32(memoryview(data)[9:]) else None


def _holds(head: dict[str, Any], stamp: tuple[object, ...], settings: object) -> bool:
    """Tell whether the settings, the zone, the flags and the outcomes are what they were."""
    zone, rules = head["zone"]
    return (
        head["version"] == VERSION
        and head["rendering"] == RENDERING
        and head["settings"] == repr(settings)
        and head["stamp"][_BESIDE_JOURNAL] == _plain(stamp[_BESIDE_JOURNAL])
        and rules == zone_stamp(zone)
    )


def _lengthens(head: dict[str, Any], files: BeeFiles) -> bool:
    """Tell whether nothing was forgotten since: what remains to have changed is the journal."""
    forgets = stamp_of(str(files.forgets))
    return bool(head["progress"]["forgets"] == (0 if forgets is None else forgets[1]))


def _plain(stamp: tuple[object, ...]) -> list[object]:
    """Return a stamp as JSON gives it back."""
    return [list(each) if isinstance(each, tuple) else each for each in stamp]  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]  # numbers


def _bytes_of(kept: Kept, options: ViewOptions, basis: Basis, rules: str) -> bytes:
    view = kept.view
    gauge = view.gauge
    levels = (gauge.sharp, gauge.condensed, gauge.narrative)
    head = {
        "version": VERSION,
        "rendering": RENDERING,
        "settings": repr(basis.settings),
        "zone": [basis.zone, rules],
        "stamp": basis.stamp,
        "progress": basis.progress.document(),
        "options": [
            [options.budgets.sharp, options.budgets.condensed, options.budgets.narrative],
            options.floor,
            sorted(options.beacons),
            options.language,
        ],
        "budget": view.budget,
        "gauge": [[level.chars, level.budget, level.count, level.exact] for level in levels],
        "counts": [gauge.appended, gauge.melted],
        "cuts": [[cut.rule, cut.zone, cut.ids, cut.chars, cut.what] for cut in view.cuts],
        "newest": None if kept.newest is None else [kept.newest[0].isoformat(), *kept.newest[1]],
        "named": None if kept.named is None else sorted(kept.named),
    }
    parts = [
        [
            part.role,
            part.zone,
            len(part.lead),
            len(part.body),
            len(part.trail),
            part.ids,
            part.by,
            part.cut,
            part.hidden,
        ]
        for part in view.receipt
    ]
    rest = b"\n".join((_json(head), _json(parts), view.text.encode()))
    return b"%08x\n" % zlib.crc32(rest) + rest


def _json(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def _view_of(head: dict[str, Any], data: bytes, start: int) -> View:
    """Return the view of a file whose parts begin at byte `start`."""
    end = data.index(b"\n", start)
    text = data[end + 1 :].decode()
    sharp, condensed, narrative = [
        Level(chars=chars, budget=budget, count=count, exact=exact) for chars, budget, count, exact in head["gauge"]
    ]
    appended, melted = head["counts"]
    return View(
        text=text,
        budget=head["budget"],
        gauge=Gauge(sharp=sharp, condensed=condensed, narrative=narrative, appended=appended, melted=melted),
        cuts=tuple(
            Cut(rule=Rule(rule), zone=None if zone is None else Zone(zone), ids=tuple(ids), chars=chars, what=what)
            for rule, zone, ids, chars, what in head["cuts"]
        ),
        parts=Parts(partial(_parts_of, data[start:end], text)),
    )


def _parts_of(line: bytes, text: str) -> tuple[Part, ...]:
    parts: list[Part] = []
    at = 0
    for role, zone, lead, body, trail, ids, by, cut, hidden in json.loads(line):
        body_at, trail_at, end = at + lead, at + lead + body, at + lead + body + trail
        parts.append(
            Part(
                role=Role(role),
                zone=None if zone is None else Zone(zone),
                lead=text[at:body_at],
                body=text[body_at:trail_at],
                trail=text[trail_at:end],
                ids=tuple(ids),
                by=by,
                cut=None if cut is None else Rule(cut),
                hidden=hidden,
            )
        )
        at = end
    return tuple(parts)


def _kept_of(head: dict[str, Any], view: View) -> Kept:
    newest, named = head["newest"], head["named"]
    return Kept(
        view=view,
        newest=None if newest is None else (datetime.fromisoformat(newest[0]), Position(newest[1], newest[2])),
        named=None if named is None else frozenset(named),
    )


def _options_of(head: dict[str, Any]) -> ViewOptions:
    (sharp, condensed, narrative), floor, beacons, language = head["options"]
    return ViewOptions(
        active=True,
        budgets=Budgets(sharp=sharp, condensed=condensed, narrative=narrative),
        zone=zone_called(head["zone"][0]),
        floor=Floor(floor),
        beacons=frozenset(beacons),
        language=language,
    )
