"""What is wrong or odd with one bee's files, and with one home's (spec 1-horizon §9, 5-interface `doctor`). Reads only."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final, Protocol

from horizon.core.day import DayState
from horizon.core.finding import Finding, Kind
from horizon.core.night import ATTEMPTS_MOST
from horizon.core.state import degraded_texts
from horizon.errors import HorizonError, TransientError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import date
    from pathlib import Path

    from horizon.core.finding import Undated
    from horizon.core.night import Ledger, Row
    from horizon.core.stored import Oddity
    from horizon.ports import BeeStore

_END_OF_TIME: Final = datetime.max.replace(tzinfo=UTC)


class Source(Protocol):
    """Something in a home that holds exchanges."""

    @property
    def name(self) -> str:
        """Its path, relative to the home."""
        ...

    def check(self) -> Undated:
        """Return what of it is in no day.

        Raises:
            HorizonError: it cannot be read.
        """
        ...


class NightLedger(Protocol):
    """The home's ledger."""

    @property
    def path(self) -> Path:
        """Its file."""
        ...

    def load(self) -> Ledger:
        """Return what it says now."""
        ...

    def oddities(self) -> tuple[Oddity, ...]:
        """Return its lines that could not be read."""
        ...


class SearchIndex(Protocol):
    """The search index that is shared with the agent host."""

    @property
    def path(self) -> Path:
        """Its file."""
        ...

    def check(self) -> None:
        """Look whether facts can be written to it.

        Raises:
            HorizonError: they cannot.
        """
        ...


class DaySections(Protocol):
    """The day journal."""

    @property
    def path(self) -> Path:
        """Its file."""
        ...

    def sections(self) -> Sequence[tuple[date, str]]:
        """Return every day's section.

        Raises:
            OSError: the file is there and could not be read.
        """
        ...


def verify(store: BeeStore, *, path: str, bee: str) -> Iterator[Finding]:
    """Yield what is wrong or odd with a bee's journals and state, in the order of the files.

    `path` is the hive's, for findings that concern no single file. Nothing is changed.
    """
    for oddity in store.oddities():
        yield Finding(
            kind=Kind.JOURNAL,
            path=oddity.path,
            line=oddity.line,
            offset=oddity.offset,
            message=oddity.reason,
            remedy="nothing is lost: the line stays as it is, and all that can be read of it is",
        )
    state = store.load().state
    for id_ in state.flags:
        if store.exchange(id_) is None:
            yield Finding(
                kind=Kind.FLAG,
                path=path,
                message=f"{bee}: a flag names exchange {id_!r}, which the journal does not hold",
                remedy=f"unflag it: horizon flag {path} {bee} {id_} --off; or restore the journal's missing segment",
            )
    for id_ in state.pending:
        yield Finding(
            kind=Kind.JOURNAL,
            path=path,
            message=f"{bee}: the outcomes name exchange {id_!r}, which the journal does not hold",
            remedy=f"restore the journal's missing segment, or make the horizon anew: horizon rebuild {path} {bee} --fresh",
        )
    degraded = degraded_texts(state)
    if degraded:
        yield Finding(
            kind=Kind.DEGRADED,
            path=path,
            message=f"{bee}: {len(degraded)} texts were made by truncation because the summarizer failed",
            remedy=f"once the summarizer is back: horizon repair {path}",
        )
    if store.load_at(_END_OF_TIME).state != state:
        yield Finding(
            kind=Kind.DRIFT,
            path=path,
            message=f"{bee}: the snapshot and a fold of the journals from their first byte differ",
            remedy=f"the journals are right: horizon rebuild {path} {bee}",
        )


def verify_home(
    home: Path, *, sources: Sequence[Source], ledger: NightLedger, index: SearchIndex, journal: DaySections
) -> Iterator[Finding]:
    """Yield what is wrong or odd with a home's sources, its ledger, and the files that its nights write. Nothing is changed."""
    for source in sources:
        yield from _of_source(home / source.name, source)
    try:
        said, oddities = ledger.load(), ledger.oddities()
    except OSError as error:
        yield in_the_way(Kind.NIGHT, ledger.path, error, "no night can run")
        return
    for oddity in oddities:
        yield Finding(
            kind=Kind.NIGHT,
            path=oddity.path,
            line=oddity.line,
            offset=oddity.offset,
            message=oddity.reason,
            remedy="the line stays as it is; what it said of its day is made again by the next run of that day",
        )
    for day, row in sorted(said.rows.items()):
        if row.state is DayState.OWED:
            yield _of_owed(home, ledger.path, day, row)
    yield from _of_index(home, index, len(said.unindexed))
    yield from _of_journal(home, journal, said)


def _of_source(path: Path, source: Source) -> Iterator[Finding]:
    try:
        undated = source.check()
    except (HorizonError, OSError) as error:
        yield in_the_way(Kind.SOURCE, path, error, "its days are source-missing")
        return
    if undated.reasons:
        count = sum(undated.reasons.values())
        why = ", ".join(f"{number} {reason}" for reason, number in sorted(undated.reasons.items()))
        more = ", …" if count > len(undated.first) else ""
        yield Finding(
            kind=Kind.SOURCE,
            path=str(path),
            message=f"{count} rows are in no day, for started_at gives no instant: {why}"
            f" (rows {', '.join(map(str, undated.first))}{more})",
            remedy="nothing is lost; with an instant in started_at the nights take them",
        )


def _of_owed(home: Path, path: Path, day: date, row: Row) -> Finding:
    if row.pending:
        why = "its facts or its section could not be written"
    else:
        failure = row.failure
        why = (failure.error if failure else "") or "its run was cut off, or is at work"
    forced = f"horizon consolidate {home} --day {day} --force"
    remedy = f"horizon repair {home}; or, whatever its age: {forced}"
    if row.attempts >= ATTEMPTS_MOST:
        remedy = f"its {row.attempts} tries are used up; {forced}"
    return Finding(kind=Kind.NIGHT, path=str(path), message=f"{day} is owed: {why}", remedy=remedy)


def _of_index(home: Path, index: SearchIndex, waiting: int) -> Iterator[Finding]:
    facts = f"facts that wait for the search index: {waiting}"
    try:
        index.check()
    except (HorizonError, OSError) as error:
        yield in_the_way(Kind.NIGHT, index.path, error, facts if waiting else "no fact could be written to it")
        return
    if waiting:
        yield Finding(
            kind=Kind.NIGHT,
            path=str(index.path),
            message=facts,
            remedy=f"the next night writes them; now: horizon consolidate {home}",
        )


def _of_journal(home: Path, journal: DaySections, said: Ledger) -> Iterator[Finding]:
    try:
        journal.sections()
    except OSError as error:
        yield in_the_way(Kind.NIGHT, journal.path, error, "no section can be written")
        return
    written = sum(
        row.settled is not None and bool(row.settled.section) and not row.pending for row in said.rows.values()
    )
    if written and not journal.path.exists():
        yield Finding(
            kind=Kind.NIGHT,
            path=str(journal.path),
            message=f"it is gone, though the ledger knows of sections in it: {written}",
            remedy=f"restore it; else the next night writes the sections again from the ledger: horizon consolidate {home}",
        )


def in_the_way(kind: Kind, path: Path, error: Exception, meanwhile: str) -> Finding:
    """Return the finding of a file that cannot be used at all; `meanwhile` is what that means."""
    return Finding(
        kind=kind,
        path=str(path),
        message=f"{error}; {meanwhile}",
        remedy="look again in a moment"
        if isinstance(error, TransientError)
        else "bring it back from a copy, or move away what stands in its place",
    )
