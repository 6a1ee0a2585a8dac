"""`traces.db`, the agent host's record of exchanges: read only, a span of time at once (spec 4-formats).

There is no index on `started_at`, so a private side file keeps (instant, row id) of every row seen, fed by the rows above
its watermark: rows are never updated and ids never used again. It is exact however late a row comes, may be deleted at any
time, and is built anew where the database turns out to be another one. Where it cannot be used, the table is scanned.

No transaction is open between two batches of rows, and none while anybody works on them.
"""

from __future__ import annotations

import math
import shutil
import sqlite3
import tempfile
from collections import Counter
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from horizon.adapters.files import make_folder
from horizon.core.day import Lived
from horizon.core.exchange import Exchange
from horizon.core.finding import Undated
from horizon.errors import StoreBusy, Unavailable

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Sequence

SIDE_FILE: Final = ".horizon-traces.db"
"""The private side file of a home's own `traces.db`."""
BUSY: Final = 10.0
"""Seconds to wait for the owner where its journal mode makes readers wait."""
_BATCH: Final = 400
"""Rows of one short transaction: some megabytes of text."""
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_LATEST: Final = 253_370_764_800.0
"""9999-01-01 in Unix seconds: a later instant is none."""
_MILLIS: Final = 1e11
"""From here on a number of seconds would be after the year 5138: it counts milliseconds, then micro-, then nanoseconds."""
_SCHEMA: Final = "1"
"""Of the side file; another one is built anew."""
_NAMED: Final = 5
"""Rows that `check` names; they all have their reason counted."""

# SQL that gives a row's instant in Unix seconds, NULL where it has none that can be meant. Text and blobs are greater
# than any number to SQLite, so they are left to Python, as are other units.
_INSTANT: Final = (
    "CASE WHEN started_at > 0 AND started_at < 1e11 THEN started_at * 1.0 ELSE horizon_instant(started_at) END"
)
_SIDE_TABLES: Final = (
    "CREATE TABLE seen (t REAL NOT NULL, id INTEGER NOT NULL, PRIMARY KEY (t, id)) WITHOUT ROWID",
    "CREATE TABLE mark (one INTEGER PRIMARY KEY CHECK (one = 1), id INTEGER NOT NULL, trace TEXT NOT NULL, version TEXT NOT NULL)",
)


@dataclass(frozen=True, slots=True)
class _Columns:
    """Which expressions of the owner's table give what we need; older versions lack some columns."""

    id: str
    trace: str
    agent: str
    model: str


@dataclass(frozen=True, slots=True)
class Traces:
    """The exchanges in one `traces.db`; `side` is where its private side file may stand, None for none.

    `name` is what addresses begin with.
    """

    path: Path
    side: Path | None = None
    name: str = "traces.db"
    wait: float = BUSY

    def between(self, start: datetime, end: datetime) -> Iterator[Lived]:
        """Yield the exchanges that began in [start, end), by instant and row.

        Raises:
            Unavailable: the file is missing, is no such database, or is damaged.
            StoreBusy: its owner held it locked for longer than `wait` seconds.
        """
        with self._failures(), self._readable() as readable:
            yield from self._between(readable, (start - _EPOCH).total_seconds(), (end - _EPOCH).total_seconds())

    @property
    def remarks(self) -> tuple[str, ...]:
        """Say where the file is read from a copy; nothing where it cannot be read at all, as reading it will tell."""
        try:
            with self._failures():
                in_place = self._reads_in_place()
        except (Unavailable, StoreBusy):
            return ()
        said = f"{self.path} was read from a copy: its folder may not be written to, and nobody has it open"
        return () if in_place else (said,)

    def after(self, place: int, trace: str) -> Iterator[Lived] | None:
        """Return the dated exchanges in rows above `place`, by row; from the first with 0.

        None where the row at `place` is no longer that of `trace`: the file was replaced or cut.

        Raises:
            Unavailable, StoreBusy: as `between`; also while the rows are read.
        """
        with self._failures(), self._readable() as readable, closing(self._open(readable)) as database:
            columns = _columns(database, "main", self.path)
            if place:
                at = database.execute(f"SELECT {columns.trace} FROM traces WHERE {columns.id} = ?", (place,)).fetchone()  # noqa: S608 - constants of ours
                if at is None or (_text(at[0]) or str(place)) != trace:
                    return None
        return self._after(place)

    def exchange(self, trace: str) -> Lived | None:
        """Return the exchange of the trace called `trace`; None where there is none, or it has no instant.

        Raises:
            Unavailable, StoreBusy: as `between`.
        """
        with self._failures(), self._readable() as readable, closing(self._open(readable)) as database:
            columns = _columns(database, "main", self.path)
            at = database.execute(
                f"SELECT {_INSTANT}, {columns.id} FROM traces WHERE {columns.trace} = ?",  # noqa: S608 - constants of ours
                (trace,),
            ).fetchone()
            return (
                None if at is None or at[0] is None else self._rows(database, columns, [(float(at[0]), int(at[1]))])[0]
            )

    def _after(self, place: int) -> Iterator[Lived]:
        with self._failures(), self._readable() as readable, closing(self._open(readable)) as database:
            columns = _columns(database, "main", self.path)
            while True:
                ids = [
                    (None if t is None else float(t), int(id_))
                    for t, id_ in database.execute(
                        f"SELECT {_INSTANT}, {columns.id} FROM traces WHERE {columns.id} > ? ORDER BY {columns.id} LIMIT ?",  # noqa: S608 - constants of ours
                        (place, _BATCH),
                    )
                ]
                if not ids:
                    return
                yield from self._rows(database, columns, [(t, id_) for t, id_ in ids if t is not None])
                place = ids[-1][1]

    def undated(self) -> int:
        """Return how many rows have no instant that could be meant, and so are in no day.

        Raises:
            Unavailable, StoreBusy: as `between`.
        """
        with self._failures(), self._readable() as readable, closing(self._open(readable)) as database:
            _columns(database, "main", self.path)
            found = database.execute(f"SELECT count(*) FROM traces WHERE {_INSTANT} IS NULL").fetchone()  # noqa: S608 - a constant of ours
            return int(found[0])

    def check(self) -> Undated:
        """Go through every row to its end, and return those that no instant puts in a day. Changes nothing.

        Raises:
            Unavailable, StoreBusy: as `between`; what is damaged anywhere in a row is met.
        """
        reasons: Counter[str] = Counter()
        first: list[int] = []
        with self._failures(), self._readable() as readable, closing(self._open(readable)) as database:
            columns = _columns(database, "main", self.path)
            place = -1 << 63
            while True:
                rows = database.execute(
                    f"SELECT {columns.id}, {_INSTANT}, started_at, length(query), length(result) FROM traces"  # noqa: S608 - constants of ours
                    f" WHERE {columns.id} > ? ORDER BY {columns.id} LIMIT ?",
                    (place, _BATCH),
                ).fetchall()
                if not rows:
                    return Undated(reasons=reasons, first=tuple(first))
                for id_, instant, cell, *_ in rows:
                    if instant is None:
                        reasons[_why_undated(cell)] += 1
                        first += [int(id_)] if len(first) < _NAMED else []
                place = int(rows[-1][0])

    def _between(self, readable: Path, start: float, end: float) -> Iterator[Lived]:
        with closing(self._open(readable)) as database:
            columns = _columns(database, "main", self.path)
            ids = self._from_side(readable, columns, start, end) if self.side is not None else None
            if ids is None:
                ids = [
                    (float(t), int(id_))
                    for t, id_ in database.execute(
                        f"SELECT t, id FROM (SELECT {_INSTANT} AS t, {columns.id} AS id FROM traces)"  # noqa: S608 - constants of ours
                        " WHERE t >= ? AND t < ? ORDER BY t, id",
                        (start, end),
                    )
                ]
            for at in range(0, len(ids), _BATCH):
                yield from self._rows(database, columns, ids[at : at + _BATCH])

    def _rows(self, database: sqlite3.Connection, columns: _Columns, ids: Sequence[tuple[float, int]]) -> list[Lived]:
        marks = ",".join("?" * len(ids))
        found = {
            int(row[0]): row
            for row in database.execute(
                f"SELECT {columns.id}, {columns.trace}, query, result, {columns.agent}, {columns.model}"  # noqa: S608 - constants of ours
                f" FROM traces WHERE {columns.id} IN ({marks})",
                [id_ for _, id_ in ids],
            )
        }
        return [self._lived(t, found[id_]) for t, id_ in ids if id_ in found]

    def _lived(self, t: float, row: Sequence[object]) -> Lived:
        id_, trace, query, result, agent, model = row
        return Lived(
            exchange=Exchange(
                id=_text(trace) or str(id_),
                at=_EPOCH + timedelta(microseconds=round(t * 1e6)),
                question=_text(query),
                answer=_text(result),
                model=_text(model) or None,
            ),
            source=self.name,
            agent=_text(agent),
            place=int(str(id_)),
        )

    # --- the side file ---

    def _from_side(self, readable: Path, columns: _Columns, start: float, end: float) -> list[tuple[float, int]] | None:
        """Return the rows of a span by the side file, brought up to date first; None where it cannot be used."""
        assert self.side is not None
        for _ in range(2):
            try:
                return self._look_up(readable, columns, start, end)
            except OSError:
                return None
            except sqlite3.Error as error:
                # locked, full, read-only: done without; else it is damaged or none of ours, and is built anew
                if isinstance(error, sqlite3.OperationalError) and error.sqlite_errorcode != sqlite3.SQLITE_ERROR:
                    return None
                self.side.unlink(missing_ok=True)
        return None  # the table itself is at fault, as reading it will tell

    def _look_up(self, readable: Path, columns: _Columns, start: float, end: float) -> list[tuple[float, int]]:
        assert self.side is not None
        make_folder(self.side.parent)
        fresh = not self.side.exists()
        with closing(sqlite3.connect(_uri(self.side, "rwc"), uri=True, timeout=2.0, isolation_level=None)) as side:
            if fresh:
                self.side.chmod(0o600)
            side.create_function("horizon_instant", 1, _instant, deterministic=True)
            side.text_factory = _decoded
            side.execute("PRAGMA synchronous=NORMAL")
            side.execute("ATTACH ? AS owner", (_uri(readable, "ro"),))
            side.execute(f"PRAGMA owner.busy_timeout = {int(self.wait * 1000)}")
            self._feed(side, columns)
            return [
                (float(t), int(id_))
                for t, id_ in side.execute("SELECT t, id FROM seen WHERE t >= ? AND t < ? ORDER BY t, id", (start, end))
            ]

    def _feed(self, side: sqlite3.Connection, columns: _Columns) -> None:
        """Bring the side file up to the last row of now; from the beginning where it is of another database."""
        latest = side.execute(f"SELECT max({columns.id}) FROM owner.traces").fetchone()[0]  # noqa: S608 - a constant of ours
        mark = self._mark(side)
        if mark is not None and mark[0] == latest and self._holds(side, columns, mark):
            return
        side.execute("BEGIN IMMEDIATE")
        try:
            mark = self._mark(side)  # another process may have been quicker
            if mark is None or not self._holds(side, columns, mark):
                for table in ("seen", "mark"):
                    side.execute(f"DROP TABLE IF EXISTS {table}")
                for statement in _SIDE_TABLES:
                    side.execute(statement)
                mark = (0, "", _SCHEMA)
            latest = side.execute(
                f"SELECT {columns.id}, {columns.trace} FROM owner.traces ORDER BY {columns.id} DESC LIMIT 1"  # noqa: S608 - constants of ours
            ).fetchone()
            if latest is not None:
                side.execute(
                    f"INSERT OR IGNORE INTO seen (t, id) SELECT {_INSTANT}, {columns.id} FROM owner.traces"  # noqa: S608 - constants of ours; a row without an instant is ignored
                    f" WHERE {columns.id} > ? AND {columns.id} <= ?",
                    (mark[0], latest[0]),
                )
                side.execute(
                    "INSERT OR REPLACE INTO mark (one, id, trace, version) VALUES (1, ?, ?, ?)",
                    (latest[0], _text(latest[1]), _SCHEMA),
                )
            side.execute("COMMIT")
        except BaseException:
            if side.in_transaction:
                side.execute("ROLLBACK")
            raise

    def _mark(self, side: sqlite3.Connection) -> tuple[int, str, str] | None:
        if side.execute("SELECT 1 FROM main.sqlite_master WHERE name = 'mark'").fetchone() is None:
            return None
        found = side.execute("SELECT id, trace, version FROM mark").fetchone()
        return None if found is None else (int(found[0]), str(found[1]), str(found[2]))

    def _holds(self, side: sqlite3.Connection, columns: _Columns, mark: tuple[int, str, str]) -> bool:
        """Tell whether the row at the watermark is still the one it was: else the file was replaced or cut."""
        found = side.execute(
            f"SELECT {columns.trace} FROM owner.traces WHERE {columns.id} = ?",  # noqa: S608 - constants of ours
            (mark[0],),
        ).fetchone()
        return mark[2] == _SCHEMA and found is not None and _text(found[0]) == mark[1]

    # --- opening ---

    def _open(self, readable: Path) -> sqlite3.Connection:
        database = sqlite3.connect(_uri(readable, "ro"), uri=True, timeout=self.wait, isolation_level=None)
        database.create_function("horizon_instant", 1, _instant, deterministic=True)
        database.text_factory = _decoded
        return database

    @contextmanager
    def _readable(self) -> Generator[Path]:
        """Give the path to read: the file's own, or that of a copy where SQLite cannot read it in its folder.

        A database in WAL mode needs its index beside it; in a folder that we may not write to it has none
        unless its owner runs.
        """
        if self._reads_in_place():
            yield self.path
            return
        with tempfile.TemporaryDirectory(prefix="horizon-traces-") as folder:
            copy = Path(folder) / "traces.db"
            try:
                shutil.copyfile(self.path, copy)
                wal = self.path.with_name(self.path.name + "-wal")
                if wal.exists():
                    shutil.copyfile(wal, copy.with_name("traces.db-wal"))
            except OSError as error:
                raise Unavailable(f"{self.path} could not be read or copied: {error}") from error
            with closing(sqlite3.connect(copy)) as database:  # the copy is ours: its log may be folded in
                database.execute("PRAGMA wal_checkpoint")
            yield copy

    def _reads_in_place(self) -> bool:
        """Tell whether SQLite can read the file in its folder."""
        try:
            if not self.path.is_file():
                what = "is a folder" if self.path.is_dir() else "does not exist"
                raise Unavailable(f"{self.path} {what}; a traces.db was to be read there")
            with self.path.open("rb") as file:
                if not file.read(1):
                    raise Unavailable(f"{self.path} is empty; it holds no table of traces")
            with closing(self._open(self.path)) as database:
                database.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone()
        except OSError as error:
            raise Unavailable(f"{self.path} could not be read: {error}") from error
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF not in {sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY}:
                raise
            return False
        return True

    @contextmanager
    def _failures(self) -> Generator[None]:
        try:
            yield
        except sqlite3.Error as error:
            code = getattr(error, "sqlite_errorcode", 0) & 0xFF
            if code in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}:
                raise StoreBusy(f"{self.path} was locked by another program for {self.wait:g} s") from error
            raise Unavailable(f"{self.path} could not be read: {error}") from error


def _columns(database: sqlite3.Connection, schema: str, path: Path) -> _Columns:
    names = {str(row[1]) for row in database.execute(f"PRAGMA {schema}.table_info(traces)")}
    if not names:
        raise Unavailable(f"{path} holds no table of traces; is it the agent host's traces.db?")
    missing = [name for name in ("query", "result", "started_at") if name not in names]
    if missing:
        raise Unavailable(f"{path}: its table of traces has no column {', '.join(missing)}")
    id_ = "id" if "id" in names else "rowid"
    return _Columns(
        id=id_,
        trace="trace_id" if "trace_id" in names else id_,
        agent="agent" if "agent" in names else "''",
        model="model" if "model" in names else "''",
    )


def _uri(path: Path, mode: str) -> str:
    return f"file:{quote(str(path.absolute()))}?mode={mode}"


def _decoded(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _text(value: Any) -> str:  # noqa: ANN401 - a cell of any type
    if value is None:
        return ""
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def _instant(value: Any) -> float | None:  # noqa: ANN401 - a cell of any type
    """Return the Unix seconds that a cell means; None where it means no instant. 0 is the column's default: none."""
    if isinstance(value, bytes | str):
        text = _text(value).strip()
        try:
            value = float(text)
        except ValueError:
            try:
                at = datetime.fromisoformat(text)
                return (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp()
            except (ValueError, OverflowError):
                return None
    if not isinstance(value, int | float) or not math.isfinite(value) or value <= 0:
        return None
    seconds = float(value)
    for _ in range(3):
        if seconds < _MILLIS:
            break
        seconds /= 1_000
    return seconds if seconds < min(_MILLIS, _LATEST) else None


def _why_undated(value: Any) -> str:  # noqa: ANN401 - a cell of any type
    """Return for people why `_instant` finds none in a cell. SQLite keeps what is not a number as NULL."""
    if value is None:
        return "empty"
    if isinstance(value, bytes | str):
        return "text that is no date"
    if not math.isfinite(value):
        return "infinite"
    if value == 0:
        return "0"
    return "negative" if value < 0 else "too late for any date"
