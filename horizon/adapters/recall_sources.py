"""What a home holds, as documents for recall: facts, days, the exchanges of journals and of traces.

Journals and traces only grow, so their marks let reading go on where it stopped; a file that was replaced,
cut or rewritten is noticed and read anew. Facts and days are few and change, so they are read whole.
"""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from horizon.adapters.cursor import Moved, stamp_of
from horizon.adapters.day_journal import FILE_NAME as DAYS_FILE
from horizon.adapters.day_journal import DayJournal
from horizon.adapters.facts_jsonl import FILE_NAME as FACTS_FILE
from horizon.adapters.journal_reader import JournalReader, Progress
from horizon.adapters.ledger import FILE_NAME as LEDGER_FILE
from horizon.adapters.ledger import LedgerFile
from horizon.adapters.segments import archived
from horizon.core.day import Lived, bounds, day_of
from horizon.core.document import Document, Kind, Marked, SourceMoved
from horizon.core.evidence import why_left_out
from horizon.core.fact import Trust, fact_id
from horizon.errors import Unavailable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import tzinfo
    from pathlib import Path

    from horizon.adapters.bee_files import BeeFiles
    from horizon.adapters.traces_sqlite import Traces
    from horizon.core.exchange import Exchange

_LATEST: Final = 253_370_764_800.0
"""9999-01-01 in Unix seconds: a fact dated later has no date that can be meant."""


@dataclass(frozen=True, slots=True)
class FactDocuments:
    """The facts of a home: those of its ledger with the days on which they hold, and those of other writers."""

    home: Path
    zone: tzinfo
    name: str = FACTS_FILE

    def stamp(self) -> str:
        """Return what changes with the facts journal or the ledger."""
        return repr((_stat(self.home / FACTS_FILE), _stat(self.home / LEDGER_FILE), str(self.zone)))

    def since(self, mark: str | None) -> Iterator[Marked] | None:
        """Return all facts; a fact can change, so no mark is given."""
        assert mark is None, "no mark was given"
        return (Marked(None, document) for document in self._documents())

    def _documents(self) -> Iterator[Document]:
        known = LedgerFile(self.home / LEDGER_FILE).load().facts
        for fact in known.values():
            for span in fact.spans:
                yield Document(
                    kind=Kind.FACT,
                    id=fact.id,
                    at=max(fact.at, bounds(span.since, self.zone).start),
                    day=span.since,
                    until=span.until,
                    head=fact.text,
                    quarantined=fact.trust is Trust.UNTRUSTED,
                )
        for text, at, trust in _shared_facts(self.home / FACTS_FILE):
            if fact_id(text) not in known:
                yield Document(
                    kind=Kind.FACT,
                    id=fact_id(text),
                    at=at,
                    day=day_of(at, self.zone),
                    head=text,
                    quarantined=trust == Trust.UNTRUSTED,
                )


def _shared_facts(path: Path) -> Iterator[tuple[str, datetime, str]]:
    """Yield each fact of the shared file once: its text, date and trust; what is no fact is passed over."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return
    except OSError as error:
        raise Unavailable(f"{path} could not be read: {error}") from error
    seen: set[str] = set()
    for line in data.split(b"\n"):
        try:
            fields: Any = json.loads(line)
            text, created = fields["text"], fields.get("created_at", 0)
        except (ValueError, RecursionError, KeyError, TypeError, AttributeError):
            continue
        if not isinstance(text, str) or not text.strip() or fact_id(text) in seen:
            continue
        seen.add(fact_id(text))
        dated = isinstance(created, (int, float)) and 0 <= created < _LATEST
        yield text, datetime.fromtimestamp(float(created) if dated else 0.0, UTC), str(fields.get("trust", ""))


@dataclass(frozen=True, slots=True)
class DayDocuments:
    """The sections of a home's day journal, also those that a person wrote."""

    home: Path
    zone: tzinfo
    name: str = DAYS_FILE

    def stamp(self) -> str:
        """Return what changes with the day journal."""
        return repr((_stat(self.home / DAYS_FILE), str(self.zone)))

    def since(self, mark: str | None) -> Iterator[Marked] | None:
        """Return all days; a section can change, so no mark is given."""
        assert mark is None, "no mark was given"
        return self._documents()

    def _documents(self) -> Iterator[Marked]:
        try:
            sections = DayJournal(self.home / DAYS_FILE).sections()
        except OSError as error:
            raise Unavailable(f"{self.home / DAYS_FILE} could not be read: {error}") from error
        for day, text in sections:
            if text:
                at = bounds(day, self.zone).start
                yield Marked(None, Document(kind=Kind.DAY, id=str(day), at=at, day=day, body=text))


@dataclass(frozen=True, slots=True)
class TraceDocuments:
    """The exchanges in an agent host's `traces.db`, bench traffic and our own calls left out."""

    traces: Traces
    zone: tzinfo
    bench: Sequence[str] = ()
    agents: Sequence[str] = ()

    @property
    def name(self) -> str:
        """The name that addresses begin with."""
        return self.traces.name

    def stamp(self) -> str:
        """Return what changes with the database or its write-ahead log."""
        path = self.traces.path
        return repr((_stat(path), _stat(path.with_name(path.name + "-wal")), self._rules()))

    def since(self, mark: str | None) -> Iterator[Marked] | None:
        """Return the exchanges in rows after `mark`, by row."""
        if mark is None:
            rows = self.traces.after(0, "")
            return None if rows is None else self._documents(rows)
        rules, place, trace = json.loads(mark)
        if rules != self._rules():
            return None
        rows = self.traces.after(place, trace)
        return None if rows is None else self._documents(rows)

    def _rules(self) -> str:
        return repr((str(self.zone), tuple(self.bench), tuple(self.agents)))

    def _documents(self, rows: Iterator[Lived]) -> Iterator[Marked]:
        for lived in rows:
            if why_left_out(lived, bench=self.bench, agents=self.agents) is None:
                mark = json.dumps([self._rules(), lived.place, lived.exchange.id])
                yield Marked(mark, _exchange_document(lived.exchange, lived.agent, self.zone))


@dataclass(frozen=True, slots=True)
class JournalDocuments:
    """The exchanges of one bee's integral journal, archived segments included."""

    files: BeeFiles
    zone: tzinfo
    name: str
    """What addresses begin with."""
    bench: Sequence[str] = ()

    def stamp(self) -> str:
        """Return what changes with the active file or the archive."""
        return repr((stamp_of(str(self.files.journal)), stamp_of(str(self.files.archive)), self._rules()))

    def since(self, mark: str | None) -> Iterator[Marked] | None:
        """Return the exchanges after `mark`, in journal order."""
        if mark is None:
            return self._documents(Progress(), None)
        rules, files, seen, after, saved = json.loads(mark)
        now = self._inodes()
        if rules != self._rules() or seen != _digest(now[:files]):
            return None
        if saved is None:  # a first reading was cut off: what is after its place is found by going through it again
            return self._documents(Progress(), (after[0], after[1]))
        try:
            return self._documents(JournalReader(self.files).progress_from(saved), None)
        except (Moved, OSError, ValueError, KeyError, TypeError):
            return None

    def _documents(self, progress: Progress, after: tuple[int, int] | None) -> Iterator[Marked]:
        inodes = self._inodes()  # before reading: a file that comes meanwhile is not vouched for
        files = (len(inodes), _digest(inodes))
        held: Document | None = None
        place: tuple[int, int] = (0, 0)
        try:
            for found in JournalReader(self.files).new(progress, _Unnoted()):
                lived = Lived(exchange=found.entry().exchange, source=self.name, agent=self.files.bee)
                here = (found.position.segment, found.position.offset)
                if (after is not None and here <= after) or why_left_out(
                    lived, bench=self.bench, agents=()
                ) is not None:
                    continue
                if held is not None:
                    yield Marked(self._mark(files, place, None), held)
                held, place = _exchange_document(lived.exchange, self.files.bee, self.zone), here
        except Moved as error:
            raise SourceMoved(str(error)) from error
        if held is not None:
            yield Marked(self._mark(files, place, progress), held)

    def _mark(self, files: tuple[int, str], place: tuple[int, int], progress: Progress | None) -> str:
        saved = None if progress is None else progress.document()
        return json.dumps([self._rules(), *files, place, saved])

    def _rules(self) -> str:
        return repr((str(self.zone), tuple(self.bench)))

    def _inodes(self) -> list[int]:
        """Return the inodes of the sealed segments and the active file: moving keeps them, rewriting changes them."""
        found: list[int] = []
        for path in (*(segment.path for segment in archived(self.files.archive, self.files.bee)), self.files.journal):
            try:
                found.append(os.stat(path).st_ino)  # noqa: PTH116 - thousands of them; a Path doubles the cost
            except FileNotFoundError:
                continue
        return found


class _Unnoted:
    """Passes over what a journal's reading notes: `doctor` names it, recall shows what can be read."""

    def note(self, path: Path, line: int, offset: int, reason: str) -> None:
        """Take one oddity."""


def _exchange_document(exchange: Exchange, place: str, zone: tzinfo) -> Document:
    return Document(
        kind=Kind.EXCHANGE,
        id=exchange.id,
        at=exchange.at,
        day=day_of(exchange.at, zone),
        head=exchange.question,
        body=exchange.answer,
        place=place,
    )


def _digest(inodes: Sequence[int]) -> str:
    return hashlib.sha256(repr(list(inodes)).encode()).hexdigest()[:32]


def _stat(path: Path) -> tuple[int, ...] | None:
    return stamp_of(str(path))
