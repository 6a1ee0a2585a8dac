"""Counting over many days at once: months of a home in one pass, in frames (spec 2-consolidation §2).

Polars is loaded when something is counted, not before. A row holds a digest and small columns, never a text, so
that memory grows by some hundred bytes an exchange.
"""

# Polars' own signatures name NumPy types, which are unknown where NumPy is not installed.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from horizon.core.day import bounds, day_of, digest
from horizon.core.evidence import TWICE_WITHIN, LeftOut, judged

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from datetime import date, datetime, tzinfo

    import polars as pl

    from horizon.core.day import Lived

_BATCH: Final = 20_000
"""Rows that are put into a frame at once."""
_COLUMNS: Final = ("day", "at", "source", "place", "id", "words", "digest", "reason")


@dataclass(frozen=True, slots=True, kw_only=True)
class DaySurvey:
    """What sources hold of one day: the digests of what would be read, in lived order, and the rest by reason."""

    digests: tuple[str, ...] = ()
    left_out: Mapping[str, int] = field(default_factory=dict[str, int])


def survey(
    lived: Iterable[Lived], *, zone: tzinfo, bench: Sequence[str], agents: Sequence[str]
) -> dict[date, DaySurvey]:
    """Return for each day that `lived` (in any order) holds anything of what a night would read of it and leave out.

    The same as `sift` gives day by day, in one pass.
    """
    import polars as pl  # noqa: PLC0415 - half a second that only counting over days is worth

    frames = [
        pl.DataFrame(batch, schema=list(_COLUMNS), orient="row", infer_schema_length=None)
        for batch in _batches(_rows(lived, zone, bench, agents))
    ]
    if not frames:
        return {}
    frame = _without_twice(pl.concat(frames, how="vertical_relaxed").sort("at", "source", "place", "id"))
    kept = frame.filter(pl.col("reason") == "").group_by("day", maintain_order=True).agg("digest")
    left = frame.filter(pl.col("reason") != "").group_by("day", "reason").len().sort("day", "reason")
    digests: dict[date, tuple[str, ...]] = {day: tuple(found) for day, found in kept.iter_rows()}
    reasons: dict[date, dict[str, int]] = {}
    for day, reason, count in left.iter_rows():
        reasons.setdefault(day, {})[reason] = count
    return {
        day: DaySurvey(digests=digests.get(day, ()), left_out=reasons.get(day, {}))
        for day in sorted(digests.keys() | reasons.keys())
    }


def _rows(
    lived: Iterable[Lived], zone: tzinfo, bench: Sequence[str], agents: Sequence[str]
) -> Iterator[tuple[object, ...]]:
    span: tuple[datetime, datetime] | None = None
    day: date | None = None
    for each in lived:
        at = each.exchange.at
        if span is None or not span[0] <= at < span[1]:
            day = day_of(at, zone)
            span = bounds(day, zone)
        found = judged(each, bench=bench, agents=agents)
        if isinstance(found, LeftOut):
            yield (day, at, each.source, each.place, each.exchange.id, "", "", str(found))
        else:
            said = f"{found.exchange.question}\x1f{found.exchange.answer}".encode("utf-8", "surrogatepass")
            words = hashlib.sha256(said).hexdigest()[:16]
            yield (day, at, each.source, each.place, each.exchange.id, words, digest(found), "")


def _batches(rows: Iterable[tuple[object, ...]]) -> Iterator[list[tuple[object, ...]]]:
    batch: list[tuple[object, ...]] = []
    for row in rows:
        batch.append(row)
        if len(batch) == _BATCH:
            yield batch
            batch = []
    if batch:
        yield batch


def _without_twice(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the frame with the reason `twice` where another source holds the same words of the same day and time.

    Only words that stand in several sources are looked at one by one; there are few, if any.
    """
    import polars as pl  # noqa: PLC0415 - loaded by the caller

    frame = frame.with_row_index("row")
    shared = frame.filter((pl.col("reason") == "") & (pl.col("source").n_unique().over("day", "words") > 1)).select(
        "row", "day", "words", "source", "at"
    )
    twice: list[int] = []
    held: dict[tuple[date, str], tuple[str, datetime]] = {}
    for row, day, words, source, at in shared.iter_rows():
        earlier = held.get((day, words))
        if earlier is not None and earlier[0] != source and at - earlier[1] <= TWICE_WITHIN:
            twice.append(row)
        else:
            held[day, words] = (source, at)
    if not twice:
        return frame
    return frame.with_columns(
        pl.when(pl.col("row").is_in(twice)).then(pl.lit(str(LeftOut.TWICE))).otherwise(pl.col("reason")).alias("reason")
    )
