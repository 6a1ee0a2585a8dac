"""Counting over many days at once: months of a home in one pass, in bounded memory (spec 2-consolidation §2).

Polars puts what was read into frames, a batch at a time, and writes each to a private folder; DuckDB groups, counts and
sorts them in SQL under a memory limit, and spills beside them. Both are loaded when something is counted, not before.
What is written holds digests, ids and small columns, never a text, and is gone when the answer is there.
"""

# Polars' own signatures name NumPy types, which are unknown where NumPy is not installed.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

import hashlib
import tempfile
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import groupby, islice
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from horizon.core.day import dated, digest
from horizon.core.evidence import TWICE_WITHIN, LeftOut, judged
from horizon.errors import Unavailable

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
    from datetime import date, tzinfo

    import duckdb

    from horizon.core.day import Lived

_BATCH: Final = 20_000
"""Rows that are held at once: some megabytes."""
_MEMORY: Final = "64MB"
"""What DuckDB may hold before it spills: enough for a month of busy days, and measured to be no slower than more."""
_THREADS: Final = 2
"""Each holds buffers of its own; the work beside reading is small."""
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)
_SAID_IN_SEVERAL: Final = """
    SELECT day, words, source, instant, number FROM lived
    WHERE reason = '' AND (day, words) IN
        (SELECT (day, words) FROM lived WHERE reason = '' GROUP BY day, words HAVING count(DISTINCT source) > 1)
    ORDER BY instant, source, place, id, number
"""
"""Words that stand in several sources on one day, in lived order; there are few, if any."""
_KEPT: Final = """
    SELECT day, digest FROM lived WHERE reason = '' AND number NOT IN (SELECT number FROM twice)
    ORDER BY instant, source, place, id, number
"""
_LEFT: Final = """
    SELECT day, reason, count(*) FROM lived WHERE reason <> '' GROUP BY day, reason
    UNION ALL
    SELECT day, ?, count(*) FROM lived WHERE number IN (SELECT number FROM twice) GROUP BY day
    ORDER BY ALL
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class DaySurvey:
    """What sources hold of one day: the digests of what would be read, end to end in lived order, and the rest by reason."""

    digests: str = ""
    left_out: Mapping[str, int] = field(default_factory=dict[str, int])


def survey(
    lived: Iterable[Lived], *, zone: tzinfo, bench: Sequence[str], agents: Sequence[str]
) -> dict[date, DaySurvey]:
    """Return for each day that `lived` (in any order) holds anything of what a night would read of it and leave out.

    The same as `sift` gives day by day, in one pass. Days in order.

    Raises:
        OSError, Unavailable: there is no room for the private folder, or for sorting.
    """
    with tempfile.TemporaryDirectory(prefix="horizon-survey-") as folder:
        if not _written(_rows(lived, zone, bench, agents), Path(folder)):
            return {}
        with _opened(Path(folder)) as database:
            _find_twice(database)
            kept = database.execute(_KEPT)
            digests: dict[date, str] = {
                day: "".join(each for _, each in found) for day, found in groupby(_fetched(kept), itemgetter(0))
            }
            left: dict[date, dict[str, int]] = {}
            for day, reason, count in _fetched(database.execute(_LEFT, [str(LeftOut.TWICE)])):
                left.setdefault(day, {})[reason] = count
    return {
        day: DaySurvey(digests=digests.get(day, ""), left_out=left.get(day, {}))
        for day in sorted(digests.keys() | left.keys())
    }


def _rows(
    lived: Iterable[Lived], zone: tzinfo, bench: Sequence[str], agents: Sequence[str]
) -> Iterator[tuple[object, ...]]:
    for number, (day, each) in enumerate(dated(lived, zone)):
        found = judged(each, bench=bench, agents=agents)
        words = proof = reason = ""
        if isinstance(found, LeftOut):
            reason = str(found)
        else:
            said = f"{found.exchange.question}\x1f{found.exchange.answer}".encode("utf-8", "surrogatepass")
            words, proof = hashlib.sha256(said).hexdigest()[:16], digest(found)
        instant = (each.exchange.at - _EPOCH) // _MICROSECOND
        yield (number, day, instant, _bytes(each.source), each.place, _bytes(each.exchange.id), words, proof, reason)


def _bytes(text: str) -> bytes:
    """Return bytes that sort as the text does; a lone surrogate (of a damaged id or file name) is no frame's text."""
    return text.encode("utf-8", "surrogatepass")


def _written(rows: Iterator[tuple[object, ...]], folder: Path) -> int:
    """Write the rows to files in `folder`, a batch each; return how many files."""
    import polars as pl  # noqa: PLC0415 - a tenth of a second that only counting over days is worth

    schema = {
        "number": pl.Int64, "day": pl.Date, "instant": pl.Int64, "source": pl.Binary, "place": pl.Int64,
        "id": pl.Binary, "words": pl.String, "digest": pl.String, "reason": pl.String,
    }  # fmt: skip
    files = 0
    while batch := list(islice(rows, _BATCH)):
        pl.DataFrame(batch, schema=schema, orient="row").write_parquet(
            folder / f"{files:06d}.parquet", compression="lz4"
        )
        files += 1
    return files


@contextmanager
def _opened(folder: Path) -> Generator[duckdb.DuckDBPyConnection]:
    """Give a database in memory over the files in `folder`, which takes nothing from anywhere else."""
    import duckdb  # noqa: PLC0415 - a tenth of a second that only counting over days is worth

    config: dict[str, str | bool | int | float | list[str]] = {
        "memory_limit": _MEMORY, "threads": _THREADS, "temp_directory": str(folder / "spilled"),
        "autoinstall_known_extensions": False, "autoload_known_extensions": False, "preserve_insertion_order": False,
    }  # fmt: skip
    try:
        with closing(duckdb.connect(":memory:", config=config)) as database:
            database.read_parquet(str(folder / "*.parquet")).create_view("lived")
            database.execute("CREATE TABLE twice (number BIGINT)")
            yield database
    except duckdb.Error as error:
        raise Unavailable(f"days could not be counted: {error}") from error


def _find_twice(database: duckdb.DuckDBPyConnection) -> None:
    """Put the numbers of exchanges into `twice` that another source holds in the same words, day and time.

    Which of them counts depends on the one before, so they are looked at one by one, in lived order.
    """
    twice: list[tuple[int]] = []
    within = TWICE_WITHIN // _MICROSECOND
    held: dict[tuple[date, str], tuple[bytes, int]] = {}
    for day, words, source, instant, number in _fetched(database.execute(_SAID_IN_SEVERAL)):
        earlier = held.get((day, words))
        if earlier is not None and earlier[0] != source and instant - earlier[1] <= within:
            twice.append((number,))
        else:
            held[day, words] = (source, instant)
    if twice:
        with database.appender("twice") as rows:
            rows.append_rows(twice)


def _fetched(result: duckdb.DuckDBPyConnection) -> Iterator[tuple[Any, ...]]:
    while batch := result.fetchmany(_BATCH):
        yield from batch
