"""The recall index: a private SQLite file derived from what a home holds; it may be deleted at any time.

Secrets are masked before anything of a text is stored. Two tables, one row each per document: `documents` keeps what a hit shows, `words` (FTS5) the tokens of
`horizon.core.query`; `vocabulary` holds each word once, for questions with a typo in them. Texts reach SQLite as tokens only, and tokens are letters and digits: a question can
never act as an operator. `sources` remembers how far each source was read, so that a refresh adds what is
new and nothing else; every batch is one transaction, so that a killed refresh goes on where it stopped, and
processes that refresh at once take turns.

A file that is damaged, or was written by other rules (`RULES`), is thrown away and made again, under a lock
beside it, so that two processes don't throw away each other's.
"""

from __future__ import annotations

import fcntl
import os
import sqlite3
from contextlib import contextmanager, suppress
from datetime import UTC, date, datetime
from itertools import islice
from typing import TYPE_CHECKING, Final

from horizon.adapters.journal_lines import clean
from horizon.core.document import Document, Kind, Match, SourceMoved
from horizon.core.query import forgiving, ideographs, near, tokens
from horizon.core.redaction import redact
from horizon.errors import StoreBusy, Unavailable

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Sequence
    from pathlib import Path
    from typing import TypeVar

    from horizon.core.document import Documents, Marked
    from horizon.core.query import Query

    Result = TypeVar("Result")

FILE_NAME: Final = ".horizon-recall.db"
RULES: Final = 1
"""Number of the schema and of the rules of `tokens`: a file with another number is made again."""
BATCH: Final = 2_000
"""Documents per transaction: a second of work, so that others wait little and a kill loses little."""
SHOWN_MOST: Final = 4_000
"""Characters of a text that are kept for showing; every word of it is searched all the same."""
BUSY_SECONDS: Final = 30.0
"""How long to wait for another process's batch."""
TYPO_TERMS: Final = 3
"""Known words that stand in for one that no document holds."""
WEIGHTS: Final = {"head": 2.0, "body": 1.0, "place": 0.6, "letters": 0.25}
"""What a question says of itself tells more than what an answer adds; a single ideograph tells little."""

_SCHEMA: Final = f"""
CREATE TABLE sources(name TEXT PRIMARY KEY, stamp TEXT NOT NULL, mark TEXT) WITHOUT ROWID;
CREATE TABLE documents(
  number INTEGER PRIMARY KEY, source TEXT NOT NULL, kind TEXT NOT NULL, id TEXT NOT NULL, at REAL NOT NULL,
  day TEXT NOT NULL, until TEXT, quarantined INTEGER NOT NULL, place TEXT NOT NULL, head TEXT NOT NULL,
  body TEXT NOT NULL
);
CREATE INDEX documents_source ON documents(source);
CREATE INDEX documents_day ON documents(day);
CREATE VIRTUAL TABLE words USING fts5({", ".join(WEIGHTS)}, tokenize = "unicode61 remove_diacritics 0");
CREATE TABLE vocabulary(term TEXT PRIMARY KEY) WITHOUT ROWID;
PRAGMA user_version = {RULES};
"""
_TABLES: Final = {"sources", "documents", "words", "vocabulary"}
_BUSY: Final = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
_WORLD: Final = {sqlite3.SQLITE_FULL, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN}
_COLUMNS: Final = "d.source, d.kind, d.id, d.at, d.day, d.until, d.quarantined, d.place, d.head, d.body"


class RecallIndex:
    """The index of one home, over all of its sources. Safe with any number of processes and threads.

    Every method may raise `StoreBusy` (another process kept the file for longer than `BUSY_SECONDS`) and
    `Unavailable` (the disk is full or refuses).
    """

    def __init__(self, path: Path) -> None:
        """`path` is the file, made when first needed, for the user only (0600)."""
        self._path = path

    def refresh(self, sources: Sequence[Documents]) -> int:
        """Read what is new in `sources` and forget sources that are not among them; return documents added."""
        return self._with(lambda database: _refresh(database, sources))

    def search(
        self,
        query: Query,
        sources: Sequence[Documents],
        *,
        most: int,
        as_of: date | None = None,
        kinds: Sequence[Kind] = tuple(Kind),
        quarantined: bool = False,
    ) -> tuple[Match, ...]:
        """Refresh, then return up to `most` documents that hold a word of `query` on one of its days, best first.

        A query without words returns the documents of its days in lived order; an empty one returns nothing.
        Only what held on `as_of` (default: holds now) and, unless `quarantined`, what is not kept for review.
        """

        def work(database: sqlite3.Connection) -> tuple[Match, ...]:
            _refresh(database, sources)  # in one go with the search: a damage found by it makes both again
            return _search(database, query, most, as_of, kinds, quarantined)

        return self._with(work)

    def discard(self) -> None:
        """Delete the file and what SQLite keeps beside it; the next use makes it again."""
        with self._locked():
            self._remove()

    def _with(self, work: Callable[[sqlite3.Connection], Result]) -> Result:
        for attempt in (1, 2):
            try:
                database = self._open()
                try:
                    return work(database)
                finally:
                    database.close()
            except sqlite3.DatabaseError as error:
                code = getattr(error, "sqlite_errorcode", 0) & 0xFF
                if code in _BUSY:
                    raise StoreBusy(f"{self._path}: another process is writing the recall index") from error
                if code in _WORLD:
                    raise Unavailable(f"{self._path}: {error}") from error
                if attempt == 2:
                    raise Unavailable(f"{self._path}: damaged again as soon as it was made: {error}") from error
                self._heal()
        raise AssertionError("unreachable")

    def _open(self) -> sqlite3.Connection:
        if not self._path.exists():
            self._make()
        database = sqlite3.connect(self._path, timeout=BUSY_SECONDS, isolation_level=None)
        try:
            database.execute("PRAGMA secure_delete = ON")  # what is forgotten leaves the bytes, too
            if database.execute("PRAGMA user_version").fetchone()[0] != RULES:
                raise sqlite3.DatabaseError("written by other rules")
        except sqlite3.Error:
            database.close()
            raise
        return database

    def _make(self) -> None:
        """Make an empty index where there is none: complete, or not at all."""
        with self._locked():
            if self._path.exists():
                return
            draft = self._path.with_name(f"{self._path.name}.new")
            draft.unlink(missing_ok=True)
            os.close(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
            database = sqlite3.connect(draft)
            try:
                database.executescript(_SCHEMA)
            finally:
                database.close()
            draft.replace(self._path)

    def _heal(self) -> None:
        """Throw the file away if, with the lock held, it is still of no use: another process may have made it anew."""
        with self._locked():
            try:
                database = sqlite3.connect(self._path, timeout=BUSY_SECONDS)
                try:
                    tables = {name for (name,) in database.execute("SELECT name FROM sqlite_master")}
                    sound = (
                        tables >= _TABLES
                        and database.execute("PRAGMA user_version").fetchone()[0] == RULES
                        and database.execute("PRAGMA quick_check(1)").fetchone()[0] == "ok"
                    )
                    database.execute("INSERT INTO words(words) VALUES ('integrity-check')")
                finally:
                    database.close()
            except sqlite3.DatabaseError:
                sound = False
            if not sound:
                self._remove()

    def _remove(self) -> None:
        for ending in ("-journal", ""):  # the journal first: without its file, it would be played into the next one
            self._path.with_name(self._path.name + ending).unlink(missing_ok=True)

    @contextmanager
    def _locked(self) -> Generator[None]:
        try:
            lock = os.open(self._path.with_name(f"{self._path.name}.lock"), os.O_CREAT | os.O_RDWR, 0o600)
        except OSError as error:
            raise Unavailable(f"{self._path}: the recall index cannot be written here: {error.strerror}") from error
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield
        finally:
            os.close(lock)


def _refresh(database: sqlite3.Connection, sources: Sequence[Documents]) -> int:
    added = 0
    known = {str(name): str(stamp) for name, stamp in database.execute("SELECT name, stamp FROM sources")}
    for name in known.keys() - {source.name for source in sources}:
        with _transaction(database):
            _forget(database, name, scrub=True)
    for source in sources:
        stamp = source.stamp()  # before reading: what comes meanwhile shows as another stamp
        if known.get(source.name) != stamp:
            added += _read_on(database, source, stamp)
    return added


def _read_on(database: sqlite3.Connection, source: Documents, stamp: str) -> int:
    """Add what is new in one source, a batch per transaction; return how many."""
    added = 0
    waiting: Iterator[Marked] | None = None
    reached: str | None = None
    while True:
        with _transaction(database):
            row = database.execute("SELECT stamp, mark FROM sources WHERE name = ?", (source.name,)).fetchone()
            if row is not None and row[0] == stamp:  # another process was quicker
                return added
            mark: str | None = None if row is None else row[1]
            if waiting is None or mark != reached:
                waiting = None if mark is None else source.since(mark)
                if waiting is None:
                    _forget(database, source.name, scrub=mark is not None)
                    mark, waiting = None, source.since(None)
                    assert waiting is not None, f"{source.name}: everything can always be read"
            try:
                batch = list(islice(waiting, BATCH))
            except SourceMoved:
                _forget(database, source.name, scrub=True)
                waiting, reached = None, None
                continue
            for item in batch:
                _add(database, source.name, item.document)
            reached = batch[-1].mark if batch else mark
            last = len(batch) < BATCH
            database.execute(
                "INSERT INTO sources VALUES (?, ?, ?)"
                " ON CONFLICT (name) DO UPDATE SET stamp = excluded.stamp, mark = excluded.mark",
                (source.name, stamp if last else "", reached),
            )
        added += len(batch)
        if last:
            return added


@contextmanager
def _transaction(database: sqlite3.Connection) -> Generator[None]:
    database.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        with suppress(sqlite3.Error):  # the first error tells more; an open transaction ends with its connection
            database.execute("ROLLBACK")
        raise
    database.execute("COMMIT")


def _forget(database: sqlite3.Connection, source: str, *, scrub: bool) -> None:
    """Delete a source's documents; with `scrub` its words leave the file's bytes too, at the cost of a merge."""
    database.execute("DELETE FROM words WHERE rowid IN (SELECT number FROM documents WHERE source = ?)", (source,))
    gone = database.execute("DELETE FROM documents WHERE source = ?", (source,)).rowcount
    database.execute("DELETE FROM sources WHERE name = ?", (source,))
    if scrub and gone:
        database.execute("INSERT INTO words(words) VALUES ('optimize')")
        database.execute("DELETE FROM vocabulary")  # whose words were whose is not known; the rest makes it again
        database.executemany(
            "INSERT OR IGNORE INTO vocabulary VALUES (?)",
            (
                (word,)
                for (text,) in database.execute("SELECT head || ' ' || body FROM words")
                for word in text.split()
                if forgiving(word)
            ),
        )


def _add(database: sqlite3.Connection, source: str, document: Document) -> None:
    # Derived: no secret in it; and other writers' facts may hold what no database takes.
    shown_head, shown_body = redact(clean(document.head)), redact(clean(document.body))
    head, body = tokens(shown_head), tokens(shown_body)
    number = database.execute(
        "INSERT INTO documents(source, kind, id, at, day, until, quarantined, place, head, body)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            source,
            document.kind,
            document.id,
            document.at.timestamp(),
            document.day.isoformat(),
            None if document.until is None else document.until.isoformat(),
            document.quarantined,
            document.place,
            shown_head[:SHOWN_MOST],
            shown_body[:SHOWN_MOST],
        ),
    ).lastrowid
    database.execute(
        "INSERT INTO words(rowid, head, body, place, letters) VALUES (?, ?, ?, ?, ?)",
        (
            number,
            " ".join(head),
            " ".join(body),
            " ".join(tokens(document.place)),
            " ".join((*ideographs(shown_head), *ideographs(shown_body))),
        ),
    )
    database.executemany(
        "INSERT OR IGNORE INTO vocabulary VALUES (?)", ((word,) for word in {*head, *body} if forgiving(word))
    )


def _search(
    database: sqlite3.Connection,
    query: Query,
    most: int,
    as_of: date | None,
    kinds: Sequence[Kind],
    quarantined: bool,  # noqa: FBT001 - private, called once
) -> tuple[Match, ...]:
    conditions: list[str] = [f"d.kind IN ({', '.join('?' * len(kinds))})"]
    values: list[object] = [*kinds]
    if query.days:
        conditions.append("(" + " OR ".join("d.day BETWEEN ? AND ?" for _ in query.days) + ")")
        values.extend(day.isoformat() for span in query.days for day in span)
    if as_of is None:
        conditions.append("d.until IS NULL")
    else:
        conditions.append("d.day <= ? AND (d.until IS NULL OR d.until > ?)")
        values.extend((as_of.isoformat(), as_of.isoformat()))
    if not quarantined:
        conditions.append("NOT d.quarantined")
    where = " AND ".join(conditions)
    wanted = _expression(database, query)
    if wanted:
        rows = database.execute(
            f"SELECT {_COLUMNS}, -bm25(words, ?, ?, ?, ?) AS relevance FROM words"  # noqa: S608 - constants and ? only
            f" JOIN documents d ON d.number = words.rowid WHERE words MATCH ? AND {where}"
            " ORDER BY relevance DESC, d.at DESC, d.number LIMIT ?",
            (*WEIGHTS.values(), wanted, *values, most),
        )
    elif query.days and not query.terms and not query.loose:
        rows = database.execute(
            f"SELECT {_COLUMNS}, 0.0 FROM documents d WHERE {where}"  # noqa: S608 - constants and ? only
            " ORDER BY d.kind = 'day' DESC, d.kind = 'fact' DESC, d.at, d.number LIMIT ?",
            (*values, most),
        )
    else:
        return ()
    return tuple(_match(row) for row in rows)


def _expression(database: sqlite3.Connection, query: Query) -> str:
    """Return the words of `query` as an FTS5 expression of quoted tokens; a word unknown here by its nearest."""
    words: dict[str, None] = {}
    for term in query.terms:
        if not forgiving(term) or database.execute("SELECT 1 FROM vocabulary WHERE term = ?", (term,)).fetchone():
            words.setdefault(term)
        else:
            candidates = database.execute(
                "SELECT term FROM vocabulary WHERE term >= ? AND term < ? ORDER BY term",
                (term[0], chr(ord(term[0]) + 1)),
            )
            words.update(dict.fromkeys(near(term, (str(row[0]) for row in candidates))[:TYPO_TERMS]))
    parts = [
        f"{{{columns}}} : ({' OR '.join(f'{chr(34)}{word}{chr(34)}' for word in group)})"
        for columns, group in (("head body place", tuple(words)), ("letters", query.loose))
        if group
    ]
    return " OR ".join(parts)


def _match(row: tuple[object, ...]) -> Match:
    source, kind, id_, at, day, until, quarantined, place, head, body, relevance = row
    return Match(
        document=Document(
            kind=Kind(str(kind)),
            id=str(id_),
            at=datetime.fromtimestamp(float(str(at)), UTC),
            day=date.fromisoformat(str(day)),
            until=None if until is None else date.fromisoformat(str(until)),
            quarantined=bool(quarantined),
            place=str(place),
            head=str(head),
            body=str(body),
        ),
        source=str(source),
        relevance=float(str(relevance)),
    )
