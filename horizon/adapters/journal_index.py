"""Where each exchange of a bee's integral journal stands, by its id: a derived SQLite file.

It follows the journal as a fold does, from the place reached to the end, and is built again whenever the
journal does not continue what it had read. It may be deleted at any time; where it cannot be kept (a folder
that cannot be written, a lock that is held too long), it says so and the journal is read instead.
"""

from __future__ import annotations

import json
import os
from contextlib import closing, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final

from horizon.adapters.cursor import Moved
from horizon.adapters.journal_lines import EPOCH, exchange_of, given_id, read_line
from horizon.adapters.journal_reader import Progress
from horizon.adapters.segments import Damaged, line_at, open_segment, whole_journal
from horizon.core.exchange import Entry, Position

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator, Sequence
    from pathlib import Path
    from typing import BinaryIO

    from horizon.adapters.journal_reader import Found, JournalReader

_VERSION: Final = 2
_BUSY_SECONDS: Final = 5.0
"""Longest wait for another process that is bringing the index up to date; then the journal is read instead."""
_RETRIES: Final = 3
_SCHEMA: Final = """
CREATE TABLE exchanges (segment INTEGER, offset INTEGER, id TEXT, at INTEGER, dated INTEGER,
                        PRIMARY KEY (segment, offset)) WITHOUT ROWID;
CREATE INDEX by_id ON exchanges (id);
CREATE TABLE progress (document TEXT);
"""
_Row = tuple[int, int, str, int, int]


class _Silent:
    """Passes over what could not be read: `oddities()` is there to tell it."""

    def note(self, path: Path, line: int, offset: int, reason: str) -> None:
        """Let it go."""


@dataclass(slots=True)
class JournalIndex:
    """The index of one bee's journal."""

    reader: JournalReader

    def refresh(self) -> None:
        """Bring the index up to date with the journal; does nothing where it cannot be kept."""
        self._select("SELECT segment, offset, id, at, dated FROM exchanges LIMIT 0", ())

    def called(self, id_: str) -> Iterator[Entry] | None:
        """Return the exchanges called `id_` in journal order; None where the index cannot be kept."""
        return self._entries(
            "SELECT segment, offset, id, at, dated FROM exchanges WHERE id = ? ORDER BY segment, offset", (id_,)
        )

    def _entries(self, query: str, values: Sequence[object]) -> Iterator[Entry] | None:
        for _ in range(_RETRIES):
            rows = self._select(query, values)
            if rows is None:
                return None
            try:
                # All at once, so that a journal that moves meanwhile is noticed before anything is given.
                return iter(list(self._read(rows)))
            except (Moved, Damaged):
                self._discard()
        return None

    def _select(self, query: str, values: Sequence[object]) -> list[_Row] | None:
        """Return the rows of a query after bringing the index up to date; None where it cannot be kept."""
        import sqlite3  # noqa: PLC0415 - reading a view never needs it, and should not wait for its import

        for _ in range(_RETRIES):
            try:
                # Made first, so that it is for the user only.
                os.close(os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
                with closing(sqlite3.connect(self._path, timeout=_BUSY_SECONDS, isolation_level=None)) as connection:
                    self._update(connection)
                    return connection.execute(query, values).fetchall()
            except (OSError, sqlite3.OperationalError):
                return None  # no such folder, read-only, busy or full: it stays as it was
            except (sqlite3.DatabaseError, Moved, LookupError, TypeError, ValueError):
                self._discard()
        return None

    @property
    def _path(self) -> Path:
        return self.reader.files.index

    def _discard(self) -> None:
        """Delete the index: it is built again from the journal."""
        with suppress(OSError):
            self._path.unlink()

    def _update(self, connection: sqlite3.Connection) -> None:
        """Read what is new in the journal.

        Raises:
            Moved: the journal does not continue what the index had read.
        """
        progress = self._progress(connection)
        before = None if progress is None else progress.document()
        if progress is not None and self.reader.unchanged(progress):
            return
        connection.execute("BEGIN IMMEDIATE")
        try:
            progress = self._progress(connection)  # another process may just have gone on from there
            if progress is None:
                for statement in _SCHEMA.split(";"):
                    connection.execute(statement)
                connection.execute(f"PRAGMA user_version = {_VERSION}")
                progress = Progress()
            connection.executemany(
                "INSERT OR REPLACE INTO exchanges VALUES (?, ?, ?, ?, ?)",
                (
                    (*found.position, _id_of(found), _micros(found.at), found.dated)
                    for found in self.reader.new(progress, _Silent(), brief=True)
                ),
            )
            document = progress.document()
            if document != before:
                connection.execute("DELETE FROM progress")
                connection.execute("INSERT INTO progress VALUES (?)", (json.dumps(document),))
        except BaseException:
            connection.execute("ROLLBACK")
            raise
        connection.execute("COMMIT")

    def _progress(self, connection: sqlite3.Connection) -> Progress | None:
        """Return how far the index has read; None where it is new.

        Raises:
            Moved: the journal does not hold what it had read, or the index is of another version.
        """
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        if version == 0:
            return None
        if version != _VERSION:
            raise Moved(f"an index of version {version}")
        row = connection.execute("SELECT document FROM progress").fetchone()
        return self.reader.progress_from(json.loads(row[0]))

    def _read(self, rows: Sequence[_Row]) -> Iterator[Entry]:
        """Yield the exchanges at the rows' places, which are in journal order.

        Raises:
            Moved: something else stands at one of them.
        """
        if not rows:
            return
        with whole_journal(self.reader.files) as (segments, active):
            at = 0
            while at < len(rows):
                segment = rows[at][0]
                stop = at
                while stop < len(rows) and rows[stop][0] == segment:
                    stop += 1
                if segment < len(segments):
                    try:
                        with open_segment(segments[segment]) as file:
                            yield from _entries_at(file, rows[at:stop])
                    except FileNotFoundError as error:
                        raise Moved(str(error)) from error
                elif active is not None:
                    yield from _entries_at(active, rows[at:stop])
                else:
                    raise Moved("the active file is gone")
                at = stop


def _entries_at(file: BinaryIO, rows: Sequence[_Row]) -> Iterator[Entry]:
    for segment, offset, id_, micros, dated in rows:
        found = read_line(line_at(file, offset), offset, ended=True)
        if not found.records or found.records[0].offset != offset:
            raise Moved("no exchange where one was")
        at = EPOCH + timedelta(microseconds=micros)
        exchange = exchange_of(found.records[0], at, dated=bool(dated))
        if exchange.id != id_:
            raise Moved("another exchange where one was")
        yield Entry(position=Position(segment, offset), exchange=exchange)


def _id_of(found: Found) -> str:
    return given_id(found.record.fields) or found.entry().exchange.id


def _micros(at: datetime) -> int:
    since = (at if at.tzinfo is UTC else at.astimezone(UTC)) - EPOCH
    return (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds
