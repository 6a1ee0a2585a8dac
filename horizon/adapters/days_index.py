"""What is known of the days of a hive's journal files, kept beside them: a derived SQLite file.

What it says of a file holds as long as the file's inode, size and time of modification are the same; the active file may
also have grown. It may be deleted at any time; where it cannot be kept, what was learned serves once. It holds dates and
places, and no text.
"""

from __future__ import annotations

import os
import sqlite3
import time
import zlib
from array import array
from contextlib import closing, suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from horizon.adapters.day_runs import DayRuns
from horizon.adapters.journal_lines import EPOCH

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime
    from pathlib import Path
    from typing import BinaryIO

FILE_NAME: Final = ".horizon-days.db"
"""In the folder of a hive's journals."""
_VERSION: Final = 1
_BUSY_SECONDS: Final = 2.0
"""Longest wait for another process that saves what it learned; then it is learned once more."""
_TAIL: Final = 256
"""Bytes before the place reached that must still be there: a date and more, so that another file differs."""
_SCHEMA: Final = """
CREATE TABLE written (zone TEXT);
CREATE TABLE files (name TEXT PRIMARY KEY, inode INTEGER, size INTEGER, modified INTEGER, tail INTEGER, offset INTEGER,
                    carried INTEGER, since INTEGER, head INTEGER, first INTEGER, last INTEGER, runs BLOB);
"""


@dataclass(slots=True)
class Known:
    """What is known of one file as it was when its `stamp` was taken."""

    stamp: tuple[int, int, int]
    tail: int
    """Checksum of the bytes before the place reached."""
    runs: DayRuns

    def grown(self, file: BinaryIO, status: os.stat_result) -> bool:
        """Tell whether the file, which is not as it was, was only appended to since."""
        inode, size, _ = self.stamp
        return status.st_ino == inode and status.st_size > size and checksum(file, self.runs.offset) == self.tail


def stamp(status: os.stat_result) -> tuple[int, int, int]:
    """Return what changes whenever a file does: its inode, size and time of modification."""
    return status.st_ino, status.st_size, status.st_mtime_ns


def checksum(file: BinaryIO, offset: int) -> int:
    """Return what tells the bytes before `offset` from others that happen to stand there, and cannot be read back."""
    start = max(0, offset - _TAIL)
    file.seek(start)
    return zlib.crc32(file.read(offset - start))


def load(window: Path, first: int, last: int) -> dict[str, Known]:
    """Return what is known by file name in the folder `window`.

    The runs of a sealed segment are among it only where it may hold something of the days `first` to `last`.
    """
    path = window / FILE_NAME
    if not path.exists():
        return {}
    try:
        with closing(sqlite3.connect(path, timeout=_BUSY_SECONDS, isolation_level=None)) as database:
            if not _is_ours(database):
                return {}
            return {
                row[0]: _known(row[1:])
                for row in database.execute(
                    "SELECT name, inode, size, modified, tail, offset, carried, since, head,"
                    " CASE WHEN first <= ? AND last >= ? OR instr(name, '/') = 0 THEN runs ELSE x'' END FROM files",
                    (last, first),
                )
            }
    except (sqlite3.Error, OSError, ValueError, TypeError):
        return {}


def save(window: Path, learned: Mapping[str, Known], gone: Iterable[str]) -> None:
    """Keep what was learned of files, and let go of those that are gone; does nothing where it cannot be kept."""
    path = window / FILE_NAME
    for _ in range(2):
        try:
            # Made first, so that it is for the user only.
            os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
            with closing(sqlite3.connect(path, timeout=_BUSY_SECONDS, isolation_level=None)) as database:
                _save(database, learned, gone)
        except (OSError, sqlite3.OperationalError):
            return  # read-only, busy or full: it stays as it was
        except sqlite3.DatabaseError:
            with suppress(OSError):
                path.unlink()  # damaged: it is made anew
        else:
            return


def _save(database: sqlite3.Connection, learned: Mapping[str, Known], gone: Iterable[str]) -> None:
    database.execute("PRAGMA synchronous=NORMAL")
    database.execute("BEGIN IMMEDIATE")
    try:
        if not _is_ours(database):
            for table in ("written", "files"):
                database.execute(f"DROP TABLE IF EXISTS {table}")
            for statement in _SCHEMA.split(";"):
                database.execute(statement)
            database.execute("INSERT INTO written VALUES (?)", (_zone(),))
            database.execute(f"PRAGMA user_version = {_VERSION}")
        database.executemany("DELETE FROM files WHERE name = ?", [(name,) for name in gone])
        database.executemany(
            "INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [(name, *_row(known)) for name, known in learned.items()],
        )
        database.execute("COMMIT")
    except BaseException:
        if database.in_transaction:
            database.execute("ROLLBACK")
        raise


def _is_ours(database: sqlite3.Connection) -> bool:
    """Tell whether the tables are of this version, and were made where dates without an offset mean the same."""
    if database.execute("PRAGMA user_version").fetchone()[0] != _VERSION:
        return False
    return database.execute("SELECT zone FROM written").fetchone() == (_zone(),)


def _zone() -> str:
    return repr((time.tzname, time.timezone, time.altzone))


def _row(known: Known) -> tuple[object, ...]:
    runs = known.runs
    carried = None if runs.carried is None else (runs.carried - EPOCH) // timedelta(microseconds=1)
    days = runs.days() or (None, None)
    return (*known.stamp, known.tail, runs.offset, carried, runs.since, runs.head, *days, runs.packed.tobytes())


def _known(row: tuple[int, int, int, int, int, int | None, int, int, bytes]) -> Known:
    inode, size, modified, tail, offset, carried, since, head, packed = row
    at: datetime | None = None if carried is None else EPOCH + timedelta(microseconds=carried)
    return Known((inode, size, modified), tail, DayRuns(offset, at, since, head, array("q", packed)))
