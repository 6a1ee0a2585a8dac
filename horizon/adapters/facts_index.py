"""`memory.db`, the search index shared with the agent host: each new fact once (spec 4-formats).

A fact is a row with the source `consolidation`; its id comes from its text, so that writing it again changes nothing.
The host makes the file; where there is none yet it is made with the host's own tables.
"""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from horizon.core.fact import SOURCE
from horizon.errors import StoreBusy, Unavailable

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from pathlib import Path

    from horizon.core.night import Known

FILE_NAME: Final = "memory.db"
_BUSY: Final = 10.0
"""Seconds to wait for another writer: the owner's own `busy_timeout`."""
_JULIAN_EPOCH: Final = 2_440_587.5
"""The Julian day of 1970-01-01T00:00Z; `created_at` is a Julian day in this file."""
_TABLES: Final = (
    (
        "CREATE TABLE IF NOT EXISTS documents (id TEXT PRIMARY KEY, content TEXT NOT NULL, source TEXT DEFAULT '',"
        " metadata TEXT DEFAULT '{}', created_at REAL DEFAULT (julianday('now')))"
    ),
    "CREATE VIRTUAL TABLE IF NOT EXISTS documents_fts USING fts5(content, source, tokenize='porter unicode61')",
)


@dataclass(frozen=True, slots=True)
class FactsIndex:
    """The search index of one home."""

    path: Path
    wait: float = _BUSY

    def add(self, facts: Sequence[Known]) -> int:
        """Write the facts that the index does not hold, in one transaction; return how many.

        Raises:
            StoreBusy: another writer held it for longer than `wait` seconds.
            Unavailable: it is no such database, or could not be written; nothing was.
        """
        if not facts:
            return 0
        try:
            return self._add(facts)
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}:
                raise StoreBusy(f"{self.path} is locked by another program") from error
            raise Unavailable(f"{self.path} could not be written: {error}") from error
        except sqlite3.Error as error:
            raise Unavailable(f"{self.path} could not be written: {error}") from error

    def check(self) -> None:
        """Look whether facts can be written to the index; one that is not there yet is made by the first. Changes nothing.

        Raises:
            StoreBusy: another writer held it for longer than `wait` seconds.
            Unavailable: it is no such database.
        """
        if not self.path.exists() and not self.path.is_symlink():
            return
        try:
            with closing(
                sqlite3.connect(f"{self.path.absolute().as_uri()}?mode=ro", uri=True, timeout=self.wait)
            ) as database:
                database.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone()
        except sqlite3.Error as error:
            if getattr(error, "sqlite_errorcode", 0) in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}:
                raise StoreBusy(f"{self.path} is locked by another program") from error
            raise Unavailable(f"{self.path} could not be read: {error}") from error

    def _add(self, facts: Sequence[Known]) -> int:
        new = not self.path.exists()
        added = 0
        with closing(sqlite3.connect(self.path, timeout=self.wait, isolation_level=None)) as database:
            if new:
                self.path.chmod(0o600)
                database.execute("PRAGMA journal_mode=WAL")
            database.execute("BEGIN IMMEDIATE")
            for statement in _TABLES:
                database.execute(statement)
            for fact in facts:
                done = database.execute(
                    "INSERT OR IGNORE INTO documents (id, content, source, metadata, created_at) VALUES (?, ?, ?, ?, ?)",
                    (f"{SOURCE}-{fact.id}", fact.text, SOURCE, _metadata(fact), _julian(fact.at)),
                )
                if done.rowcount == 1:
                    database.execute(
                        "INSERT INTO documents_fts (rowid, content, source) VALUES (?, ?, ?)",
                        (done.lastrowid, fact.text, SOURCE),
                    )
                    added += 1
            database.execute("COMMIT")
        return added

    def drop(self, ids: Collection[str]) -> int:
        """Take our own facts called `ids` out of the index and out of the file's bytes; return how many there were.

        Raises:
            StoreBusy: another writer held it for longer than `wait` seconds.
            Unavailable: it is no such database, or could not be written; nothing was.
        """
        if not self.path.exists():
            return 0
        try:
            return self._drop([f"{SOURCE}-{id_}" for id_ in sorted(ids)])
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}:
                raise StoreBusy(f"{self.path} is locked by another program") from error
            raise Unavailable(f"{self.path} could not be written: {error}") from error
        except sqlite3.Error as error:
            raise Unavailable(f"{self.path} could not be written: {error}") from error

    def _drop(self, names: Sequence[str]) -> int:
        with closing(sqlite3.connect(self.path, timeout=self.wait, isolation_level=None)) as database:
            database.execute("PRAGMA secure_delete = ON")
            database.execute("BEGIN IMMEDIATE")
            dropped = 0
            for name in names:
                row = database.execute("SELECT rowid FROM documents WHERE id = ?", (name,)).fetchone()
                if row is not None:
                    database.execute("DELETE FROM documents_fts WHERE rowid = ?", row)
                    database.execute("DELETE FROM documents WHERE rowid = ?", row)
                    dropped += 1
            if dropped:
                database.execute("INSERT INTO documents_fts (documents_fts) VALUES ('optimize')")
            database.execute("COMMIT")
            if dropped:
                database.execute("PRAGMA wal_checkpoint(TRUNCATE)")  # the log holds the old pages until then
        return dropped


def _metadata(fact: Known) -> str:
    days = str(fact.evidence[0].day)
    return json.dumps({"kind": "fact", "day": days, "trust": str(fact.trust)}, ensure_ascii=False)


def _julian(at: datetime) -> float:
    return _JULIAN_EPOCH + (at - datetime(1970, 1, 1, tzinfo=UTC)).total_seconds() / 86_400
