"""How far a file of lines has been read, and whether what was read is still there; reading events on from that place.

The last line of a file may be without its newline while a writer is at it: it is held back, and told as torn by `torn_end`.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol

from horizon.adapters.journal_lines import LINE_LONGEST, UTF_16, is_utf_16
from horizon.adapters.outcome_lines import Unreadable, fields_of
from horizon.adapters.segments import lines_of, open_plain

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path
    from typing import BinaryIO

    from horizon.adapters.outcome_lines import Fields
    from horizon.core.event import Flagged, Outcome

_TAIL: Final = 256
"""Bytes before a place that must still be there: a date and more, so that another file differs."""
_LOOKED_AT: Final = 1 << 16
"""Bytes of a last line that tell what it is."""


class Moved(Exception):
    """What is on disk does not continue what was read; the text says how."""


class Notes(Protocol):
    """Takes what was passed over or taken leniently."""

    def note(self, path: Path, line: int, offset: int, reason: str) -> None:
        """Take one oddity; see `ports.Oddity`."""
        ...


@dataclass(slots=True)
class Cursor:
    """How far a file has been read, and how to know that what was read is still there."""

    offset: int = 0
    """The next byte."""
    line: int = 1
    """The next line, 1-based."""
    tail: bytes = b""
    """The bytes just before the next."""
    modified: int = 0
    """When the file was modified last, where it had been read to its end; 0 where that is not known."""

    def continues(self, file: BinaryIO) -> bool:
        """Tell whether the bytes before the place reached are still those that were read."""
        if not self.offset:
            return True
        file.seek(self.offset - len(self.tail))
        if file.read(len(self.tail)) != self.tail:
            return False
        if not self.modified:
            return True
        # Grown files were appended to; one that was modified and has not grown was changed before its end.
        status = os.fstat(file.fileno())
        return status.st_size != self.offset or status.st_mtime_ns == self.modified

    def advanced(self, line: bytes, *, modified: int) -> Cursor:
        """Return the cursor after one line more, written where this one stands; the file was `modified` with it."""
        return Cursor(self.offset + len(line), self.line + 1, (self.tail + line[-_TAIL:])[-_TAIL:], modified)

    def keep(self, file: BinaryIO) -> None:
        """Remember what stands before the place reached."""
        start = max(0, self.offset - _TAIL)
        file.seek(start)
        self.tail = file.read(self.offset - start)
        status = os.fstat(file.fileno())
        self.modified = status.st_mtime_ns if status.st_size == self.offset else 0


def stamp_of(file: str | int) -> tuple[int, ...] | None:
    """Return what changes whenever a file or folder (a path, or one that is open) does: inode, size, time; None where there is none."""
    try:
        status = os.stat(file)  # noqa: PTH116 - on the read path; a Path doubles its cost
    except OSError:
        return None
    return (status.st_ino, status.st_size, status.st_mtime_ns)


def new_events(
    path: Path,
    cursor: Cursor,
    decode: Callable[[Fields], Flagged | Outcome],
    notes: Notes,
    taken: Callable[[bytes], bool] | None = None,
) -> Iterator[Flagged | Outcome]:
    """Yield the events of the flags or outcomes file from `cursor` on, and move it.

    Whole lines are first offered to `taken`; what it takes is not parsed here.

    Raises:
        Moved: the file does not continue what was read.
        Unavailable: it is there and cannot be read.
    """
    if cursor.modified and (stamp := stamp_of(str(path))) and stamp[1:] == (cursor.offset, cursor.modified):
        return
    file = open_plain(path)
    if file is None:
        if cursor.offset:
            raise Moved(f"{path.name} is gone")
        return
    with file:
        if not cursor.continues(file):
            raise Moved(f"{path.name} does not continue what was read")
        for start, line, stop, newlines in lines_of(file, cursor.offset):
            if line is not None and newlines and taken is not None and taken(line):
                cursor.offset = stop
                cursor.line += 1
                continue
            event, reason = _event_of(line, decode)
            if event is not None:
                yield event
            elif not newlines:
                break  # a writer may still be at it
            elif reason:
                notes.note(path, cursor.line, start, reason)
            cursor.offset = stop
            cursor.line += newlines
        cursor.keep(file)


def torn_end(path: Path, cursor: Cursor) -> str:
    """Say what the file's last line is where reading stopped before its end at `cursor`; "" where nothing is left.

    Raises:
        Unavailable: it is there and cannot be read.
    """
    file = open_plain(path)
    if file is None:
        return ""
    with file:
        file.seek(cursor.offset)
        rest = file.read(_LOOKED_AT)
    if not rest.strip() or b"\n" in rest:  # the latter: it went on meanwhile, and stands whole
        return ""
    return UTF_16 if is_utf_16(rest) else "no newline ends it: a line that is being written, or torn"


def _event_of(
    line: bytes | None, decode: Callable[[Fields], Flagged | Outcome]
) -> tuple[Flagged | Outcome | None, str]:
    """Return a line's event, or why it has none; nothing and no reason for a blank one."""
    if line is None:
        return None, f"a line longer than {LINE_LONGEST} bytes"
    if not line.strip():
        return None, ""
    try:
        return decode(fields_of(line)), ""
    except Unreadable as error:
        return None, str(error)
