"""Blanking exchanges in a bee's integral journal: the one thing that may change bytes there (spec 1-horizon §1).

Rules:

- An entry keeps its place, its date and its id; what stood in it becomes a record of the same length, so that the
  places of all others stay what they are. In a compressed segment the uncompressed bytes do.
- What is to be blanked is recorded first, by place and without its content, in the file of what was forgotten;
  so a run that was killed is finished by the next. The record that it is done makes every reader fold again.
- A file that may be appended to is changed where it stands: who has it open goes on writing to it.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, cast

from horizon.adapters.bee_files import JOURNAL_SUFFIXES
from horizon.adapters.cursor import Moved
from horizon.adapters.files import append_lines, locked, replace_file
from horizon.adapters.journal_lines import EPOCH, date_key, exchange_of, instant_of, local_date, read_line
from horizon.adapters.journal_reader import JournalReader, Progress
from horizon.adapters.outcome_lines import Unreadable, fields_line, fields_of
from horizon.adapters.segments import Damaged, archived, lines_of, open_plain, packed, uncompressed, whole_journal
from horizon.core.exchange import Position
from horizon.core.oblivion import Place, is_named, strings
from horizon.errors import Unavailable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from datetime import datetime
    from pathlib import Path

    from horizon.adapters.bee_files import BeeFiles
    from horizon.adapters.journal_reader import Found
    from horizon.core.exchange import Exchange

_BEGUN: Final = "commence"
_DONE: Final = "fait"
_BLOCK: Final = 1 << 20
"""Bytes written at once."""


def _record_for(found: Found, named: str) -> str:
    """Return the most telling record without content that is no longer than what it replaces."""
    exchange, length = found.entry().exchange, found.record.end - found.record.offset
    kept = {"type": exchange.kind, "outil": exchange.tool, "modele": exchange.model}
    if named:
        kept = {key: None if value and is_named(named, (value,)) else value for key, value in kept.items()}
    whole: dict[str, object] = {"id": exchange.id}
    own = date_key(found.record.fields) if found.dated else None
    if own is not None:
        whole["quand"] = local_date(found.at)
    whole |= {"type": kept["type"], "outil": kept["outil"], "question": "", "reponse": "", "modele": kept["modele"]}
    dated = {} if own is None else {own: found.record.fields[own]}
    for fields, separators in (
        (whole, (", ", ": ")),
        ({"id": exchange.id, **dated, "type": kept["type"], "question": ""}, (",", ":")),
        ({"id": exchange.id, **dated, "question": ""}, (",", ":")),
    ):
        text = json.dumps(fields, ensure_ascii=False, separators=separators)
        if len(text.encode("utf-8", "replace")) <= length:
            return text
    return ""


class _Silent:
    def note(self, path: Path, line: int, offset: int, reason: str) -> None:
        """Let it go: what cannot be read is looked at as bytes."""


@dataclass(frozen=True, slots=True)
class BlankableJournal:
    """The integral journal of one bee, for the one use case that may blank text in it."""

    files: BeeFiles

    def find(self, *, id_: str = "", named: str = "") -> tuple[tuple[Exchange, Place], ...]:
        """Return the exchanges called `id_`, or with `named` (folded) in any field, in journal order, with their places.

        Raises:
            Unavailable: the journal could not be read, or was moved meanwhile.
        """
        found: list[tuple[Exchange, Place]] = []
        for each in self._records():
            exchange = each.entry().exchange
            if exchange.id != id_ if id_ else not is_named(named, strings(dict(each.record.fields))):
                continue
            length = each.record.end - each.record.offset
            place = Place(id=exchange.id, position=each.position, length=length, record=_record_for(each, named))
            found.append((exchange, place))
        return tuple(found)

    def others(self, ids: Iterable[str]) -> Iterator[Exchange]:
        """Yield every exchange but those called `ids`, in journal order."""
        left_out = set(ids)
        return (exchange for each in self._records() if (exchange := each.entry().exchange).id not in left_out)

    def derived(self, ids: Iterable[str]) -> tuple[str, ...]:
        """Return the condensed texts that were ever recorded for exchanges called `ids`, also those set aside."""
        wanted = set(ids)
        found: dict[str, None] = {}
        asides = sorted(self.files.window.glob(f"{self.files.bee}-horizon.aside-*.jsonl"))
        for path in (*asides, self.files.outcomes):
            for fields in _events(path):
                if fields.get("id") in wanted:
                    found.update(dict.fromkeys(strings(fields.get("texte"))))
        return tuple(text for text in found if text)

    def _records(self) -> Iterator[Found]:
        try:
            yield from JournalReader(self.files).new(Progress(), _Silent())
        except Moved as moved:
            raise Unavailable(f"the journal of {self.files.bee} was changed while it was read: {moved}") from moved

    # -- the record of what was forgotten ------------------------------------------------------------------

    def unfinished(self) -> tuple[Place, ...]:
        """Return the places that a run began to blank and did not finish."""
        begun: tuple[Place, ...] = ()
        for fields in _events(self.files.forgets):
            match fields.get("oubli"):
                case "commence":
                    begun = tuple(_place_of(item) for item in cast("list[Any]", fields["places"]))
                case "fait":
                    begun = ()
                case _:
                    pass
        return begun

    def begin(self, places: Iterable[Place], at: datetime) -> None:
        """Record durably what is to be blanked."""
        self._log(
            {
                "quand": local_date(at),
                "oubli": _BEGUN,
                "places": [
                    [place.id, place.position.segment, place.position.offset, place.length, place.record]
                    for place in places
                ],
            }
        )

    def finish(self, ids: Iterable[str], at: datetime) -> None:
        """Record durably that it is done: whoever has folded the journals folds them again."""
        self._log({"quand": local_date(at), "oubli": _DONE, "ids": list(ids)})
        for path in (self.files.archive, self.files.journal):  # a change in the middle of a segment shows nowhere else
            if path.exists():
                os.utime(path)

    def _log(self, fields: dict[str, object]) -> None:
        append_lines(self.files.forgets, fields_line(fields), lock=self.files.append_lock)

    # -- blanking ------------------------------------------------------------------------------------------

    def blank(self, places: Iterable[Place], is_told: Callable[[str], bool]) -> int:
        """Blank `places`, and what cannot be read as an exchange and `is_told`, durably; return how many bytes changed.

        Raises:
            Unavailable: another exchange stands at one of the places; nothing is changed there.
            OSError: the disk refused; the next run goes on.
        """
        wanted: dict[int, list[Place]] = {}
        for place in places:
            wanted.setdefault(place.position.segment, []).append(place)
        changed = 0
        with locked(self.files.append_lock):
            with whole_journal(self.files) as (segments, _):
                active = len(segments)
            for number, segment in enumerate(archived(self.files.archive, self.files.bee)):
                # One that is but a copy in progress of the active file has the active file's places.
                told = wanted.get(min(number, active), [])
                for path in (segment.path.with_name(segment.stem + suffix) for suffix in JOURNAL_SUFFIXES):
                    if path.exists():
                        changed += _blank_file(path, told, is_told, whole=number < active)
            if self.files.journal.exists():
                changed += _blank_file(self.files.journal, wanted.get(active, []), is_told, whole=True)
        return changed


def _events(path: Path) -> Iterator[dict[str, object]]:
    """Yield the objects of a file of JSON lines; a line torn by a kill, what it says never began."""
    file = open_plain(path)
    if file is None:
        return
    with file:
        for _, line, _, newlines in lines_of(file, 0):
            if line and newlines:
                try:
                    yield fields_of(line)
                except Unreadable:
                    continue


def _place_of(item: list[Any]) -> Place:
    id_, segment, offset, length, record = item
    return Place(id=id_, position=Position(segment, offset), length=length, record=record)


def _blank_file(path: Path, places: list[Place], is_told: Callable[[str], bool], *, whole: bool) -> int:
    try:
        with uncompressed(path) as file:
            if not whole:
                size = file.seek(0, os.SEEK_END)
                places = [place for place in places if place.position.offset + place.length <= size]
            for place in places:
                _check(path, place, file)
            wanted = [*((place.position.offset, place.data) for place in places), *_strays(file, is_told)]
            changes = [(offset, data) for offset, data in wanted if _at(file, offset, len(data)) != data]
            if not changes:
                return 0
            if path.suffix != ".jsonl":
                file.seek(0)
                _repack(path, file.read(), changes)
    except (Damaged, Unavailable) as error:
        if places:
            raise Unavailable(f"{path} cannot be changed: {error}") from error
        return 0  # nothing is known to stand there; the scan that follows names it
    if path.suffix == ".jsonl":
        _overwrite(path, changes)
    return sum(len(data) for _, data in changes)


def _repack(path: Path, data: bytes, changes: list[tuple[int, bytes]]) -> None:
    whole = bytearray(data)
    for offset, new in changes:
        whole[offset : offset + len(new)] = new
    replace_file(path, packed(path, bytes(whole)))


def _overwrite(path: Path, changes: list[tuple[int, bytes]]) -> None:
    fd = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        for offset, data in changes:
            done = 0
            while done < len(data):
                done += os.pwrite(fd, data[done : done + _BLOCK], offset + done)
        os.fsync(fd)
    finally:
        os.close(fd)


def _at(file: Any, offset: int, length: int) -> bytes:  # noqa: ANN401 - a plain or an uncompressing file
    file.seek(offset)
    return cast("bytes", file.read(length))


def _check(path: Path, place: Place, file: Any) -> None:  # noqa: ANN401 - as above
    """Make sure that what stands at a place is the exchange, whole or half blanked.

    Raises:
        Unavailable: it is another one: somebody has changed the journal.
    """
    data = _at(file, place.position.offset, place.length)
    for record in read_line(data, 0, ended=True).records:
        at = instant_of(record.fields)
        if len(data) == place.length and exchange_of(record, at or EPOCH, dated=at is not None).id == place.id:
            return
        raise Unavailable(f"{path}: another exchange than {place.id!r} stands at byte {place.position.offset}")


def _strays(file: Any, is_told: Callable[[str], bool]) -> Iterator[tuple[int, bytes]]:  # noqa: ANN401 - as above
    """Yield blanks for what is no exchange (torn lines, foreign objects) and is told of."""
    for start, line, _, newlines in lines_of(file, 0):
        if not line or not newlines or not is_told(line.decode("utf-8", "replace")):
            continue  # a last line without its newline may still be written
        at = start
        records = read_line(line, start, ended=True).records
        for begin, end in [*((record.offset, record.end) for record in records), (start + len(line),) * 2]:
            between = line[at - start : begin - start]
            if between.strip() and is_told(between.decode("utf-8", "replace")):
                yield at, b" " * len(between)
            at = end
