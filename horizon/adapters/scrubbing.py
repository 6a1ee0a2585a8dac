"""Cleaning what was derived from forgotten exchanges, in every file of a bee and of its hive (spec 1-horizon §9).

Recorded texts lose what tells of them and keep all else; caches and indexes are deleted and made again; what others
own (a host's own facts, sections that a person edited) is left alone, and named where it still holds something.
"""

from __future__ import annotations

import json
from contextlib import nullcontext
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final, cast

from horizon.adapters import day_journal, facts_index, facts_jsonl, ledger
from horizon.adapters.bee_files import JOURNAL_SUFFIXES
from horizon.adapters.files import locked, replace_file
from horizon.adapters.outcome_lines import Unreadable, fields_line, fields_of
from horizon.adapters.recall_index import FILE_NAME as RECALL_FILE
from horizon.adapters.recall_index import RecallIndex
from horizon.adapters.segments import Damaged, uncompressed
from horizon.core.fact import fact_id
from horizon.core.oblivion import strings
from horizon.errors import Unavailable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from contextlib import AbstractContextManager
    from datetime import date
    from pathlib import Path

    from horizon.adapters.bee_files import BeeFiles
    from horizon.adapters.outcome_lines import Fields
    from horizon.core.oblivion import Oblivion

_BLOCK: Final = 1 << 22
"""Bytes of a file that are searched at once: a host's database is larger than memory."""


@dataclass(slots=True)
class HiveScrubber:
    """What was derived from one bee's exchanges `ids`, in the files of its hive."""

    hive: Path
    files: BeeFiles
    ids: frozenset[str]
    days: frozenset[date]
    """Days of the forgotten exchanges and those beside them: what was made of these days may tell of them."""
    oblivion: Oblivion
    _is_told: Callable[[str], bool] = field(init=False, repr=False)
    _dropped: set[str] = field(default_factory=set[str], init=False, repr=False)
    _kept: set[str] = field(default_factory=set[str], init=False, repr=False)

    def __post_init__(self) -> None:
        self._is_told = self.oblivion.finder()

    def scrub(self) -> tuple[str, ...]:
        """Clean every recorded text, durably; return the files that were changed. Under the bee's and the night's locks.

        Raises:
            OSError: the disk refused; the next run goes on.
            StoreBusy, Unavailable: a file shared with the agent host is locked or cannot be written.
        """
        changed: list[str] = []
        with locked(self.files.append_lock):
            changed += self._rewritten(self.files.flags, self._flag)
            for path in self._outcome_files():
                lineage = _Lineage(self)
                changed += self._rewritten(path, lineage.clean)
        changed += self._night()
        return tuple(changed)

    def discard_caches(self) -> None:
        """Delete what is derived and made again by itself: snapshot, view, indexes, what a crash left half written."""
        for path in (self.files.snapshot, self.files.view, self.files.index):
            for ending in ("", "-journal", "-wal", "-shm"):
                path.with_name(path.name + ending).unlink(missing_ok=True)
        own = f".{self.files.bee}-*.tmp"
        halves = [*self.files.window.glob(own), *self.files.archive.glob(own)]
        for name in (ledger.FILE_NAME, facts_jsonl.FILE_NAME, day_journal.FILE_NAME):
            halves += self.hive.glob(f".{name}.*.tmp")
        for path in halves:
            path.unlink(missing_ok=True)
        if (self.hive / RECALL_FILE).exists():
            RecallIndex(self.hive / RECALL_FILE).discard()
        (self.hive / f"{RECALL_FILE}.new").unlink(missing_ok=True)

    def remaining(self) -> tuple[str, ...]:
        """Return the files of the hive that still hold a fragment, or could not be looked into, sorted; bytes are read."""
        longest = max(map(len, self.oblivion.forms()), default=0)
        found: list[str] = []
        for path in sorted(self.hive.rglob("*")) if longest else ():
            if path.is_symlink() or not path.is_file():
                continue
            try:
                if _holds(path, self._is_told, 4 * longest):
                    found.append(str(path))
            except (OSError, Unavailable, Damaged):
                found.append(f"{path} (it could not be read)")
        return tuple(found)

    # -- a bee's files -------------------------------------------------------------------------------------

    def _outcome_files(self) -> list[Path]:
        asides = sorted(self.files.window.glob(f"{self.files.bee}-horizon.aside-*.jsonl"))
        return [*asides, self.files.outcomes]

    def _rewritten(self, path: Path, clean: Callable[[Fields], bool]) -> list[str]:
        """Rewrite the lines of `path` that `clean` changes; one that cannot be read and tells something goes."""
        try:
            data = path.read_bytes()
        except FileNotFoundError:
            return []
        lines: list[bytes] = []
        for line in _lines(data):
            try:
                fields = fields_of(line) if line.strip() else None
            except Unreadable:
                if self._is_told(line.decode("utf-8", "replace")):
                    continue
                fields = None
            lines.append(fields_line(fields) if fields is not None and clean(fields) else line)
        if (written := b"".join(lines)) == data:
            return []
        replace_file(path, written)
        return [str(path)]

    def _flag(self, fields: Fields) -> bool:
        told = fields.get("echange")
        if not isinstance(told, dict):
            return False
        word = cast("Fields", told)
        question = word.get("question")
        if not question or (str(fields.get("id")) not in self.ids and not self.oblivion.names(str(question))):
            return False
        word["question"] = ""
        return True

    # -- the nights of the hive ----------------------------------------------------------------------------

    def exclusive_night(self) -> AbstractContextManager[None]:
        """Exclude the nights of the hive where there were any.

        Raises:
            StoreBusy: a night is at work.
        """
        path = self.hive / ledger.FILE_NAME
        return ledger.LedgerFile(path).exclusive() if path.exists() else nullcontext()

    def _night(self) -> list[str]:
        path = self.hive / ledger.FILE_NAME
        if not path.exists():
            return []
        rows = ledger.LedgerFile(path).load().rows
        sections = {day: set(row.sections) for day, row in rows.items()}
        changed: list[str] = []
        journal = day_journal.DayJournal(self.hive / day_journal.FILE_NAME)
        for day, meant in sections.items():
            there = journal.section(day)
            if there is None or there not in {text.strip() for text in meant}:
                continue  # a person's own; where it holds something, the scan names it
            cleaned = self._without(there, day)
            if cleaned != there and journal.write(day, cleaned, meant) == day_journal.WRITTEN:
                changed.append(str(journal.path))
        facts = self._facts_of_night(path)
        if facts:
            with facts_jsonl.FactsJournal(self.hive / facts_jsonl.FILE_NAME).session() as file:
                if file.drop(facts):
                    changed.append(str(file.path))
            index = facts_index.FactsIndex(self.hive / facts_index.FILE_NAME)
            if index.drop(facts):
                changed.append(str(index.path))
        changed += self._rewritten(path, self._event)  # last: it says which facts came from what
        return list(dict.fromkeys(changed))

    def _facts_of_night(self, path: Path) -> frozenset[str]:
        """Return the ids of the facts that came from forgotten exchanges, and from no other."""
        self._dropped.clear()
        self._kept.clear()
        for line in path.read_bytes().split(b"\n"):
            try:
                self._event(fields_of(line))
            except Unreadable:
                continue
        return self._gone()

    def _gone(self) -> frozenset[str]:
        return frozenset(self._dropped - self._kept)

    def _event(self, fields: Fields) -> bool:
        """Clean one event of the ledger; tell whether it changed."""
        before = json.dumps(fields)
        if fields.get("evenement") == "indexe":
            gone = self._gone()
            fields["faits"] = [id_ for id_ in cast("list[str]", fields.get("faits", [])) if id_ not in gone]
            return json.dumps(fields) != before
        day = str(fields.get("jour"))
        for holder in (fields, fields.get("lu")):
            if isinstance(holder, dict):
                self._clean(cast("Fields", holder), day)
        return json.dumps(fields) != before

    def _clean(self, holder: Fields, day: str) -> None:
        facts = holder.get("faits")
        if isinstance(facts, list):
            kept: list[Fields] = []
            ended = cast("list[str]", holder.get("clos", []))
            for fact in cast("list[Fields]", facts):
                if self._keeps(fact):
                    kept.append(fact)
                else:  # what it took the place of had ended, and does not hold again
                    ended = [*ended, *cast("list[str]", fact.get("remplace", []))]
            holder["faits"] = kept
            if ended := [id_ for id_ in dict.fromkeys(ended) if id_ not in self._gone()]:
                holder["clos"] = ended
        for key in ("resume", "section", "texte", "erreur", "raison"):
            text = holder.get(key)
            if isinstance(text, str) and text:
                holder[key] = self._without(text, day)

    def _keeps(self, fact: Fields) -> bool:
        """Tell whether a fact stays: what it says stands in every exchange that it cites, so these decide."""
        text = str(fact.get("fait", ""))
        cites = cast("list[str]", fact.get("echanges", []))
        if any(self._is_ours(address) for address in cites) or self.oblivion.names(text):
            self._dropped.add(str(fact.get("dans") or fact_id(text)))
            return False
        self._kept.add(str(fact.get("dans") or fact_id(text)))
        if fact.get("remplace_par") in self._gone():
            fact["remplace_par"] = ""  # it stays ended on its day
        quotes = cast("list[list[str]]", fact.get("citations", []))
        if any(self.oblivion.names(" ".join(quote)) for quote in quotes):
            fact["citations"] = [quote for quote in quotes if not self.oblivion.names(" ".join(quote))]
        return True

    def _is_ours(self, address: str) -> bool:
        source, _, id_ = address.partition("#")
        return id_ in self.ids and source.rpartition("/")[2] == self.files.bee

    def _is_near(self, day: str) -> bool:
        return any(str(each) == day for each in self.days)

    def _without(self, text: str, day: date | str) -> str:
        told = self.oblivion.tells if self._is_near(str(day)) else self.oblivion.names
        return self.oblivion.without(text, told)


class _Lineage:
    """Goes through one outcomes file in order: a narrative made after a forgotten exchange melted was made of it too."""

    def __init__(self, scrubber: HiveScrubber) -> None:
        self.ids = scrubber.ids
        self.oblivion = scrubber.oblivion
        self.melted = False

    def clean(self, fields: Fields) -> bool:
        before = json.dumps(fields)
        match fields.get("fait"):
            case "condensat":
                self._condensed(fields)
            case "recit":
                self._narrated(fields)
            case _:
                return False
        return json.dumps(fields) != before

    def _condensed(self, fields: Fields) -> None:
        if fields.get("id") in self.ids:
            fields["texte"] = ""
            fields["degrade"] = False  # there is nothing left to make again
            self._steps(fields)
        elif any(self.oblivion.names(text) for text in strings(fields)):
            fields["texte"] = self.oblivion.without(str(fields.get("texte", "")), self.oblivion.names)
            self._steps(fields)

    def _narrated(self, fields: Fields) -> None:
        self.melted = self.melted or not self.ids.isdisjoint(cast("list[str]", fields.get("ids", [])))
        told = self.oblivion.tells if self.melted else self.oblivion.names
        sections = cast("dict[str, str]", fields.get("sections", {}))
        fields["sections"] = {key: text for key, old in sections.items() if (text := self.oblivion.without(old, told))}
        for word in cast("list[Any]", fields.get("paroles", [])):
            if word.get("id") in self.ids or self.oblivion.names(str(word.get("question", ""))):
                word["question"] = ""
        if self.melted:
            self._steps(fields)

    def _steps(self, fields: Fields) -> None:
        """Take the reasons out of the steps: they quote what was refused."""
        for step in cast("list[Any]", fields.get("etapes", [])):
            if step.get("issue") != "ok":
                step["issue"] = ""


def _lines(data: bytes) -> list[bytes]:
    r"""Return the lines of `data` with their newlines; b"\n" alone ends one."""
    return [line + b"\n" for line in data.split(b"\n")[:-1]] + ([rest] if (rest := data.rpartition(b"\n")[2]) else [])


def days_around(days: Iterable[date]) -> frozenset[date]:
    """Return `days` and those beside them: a home's zone may date an exchange one day off."""
    return frozenset(day + timedelta(days=by) for day in days for by in (-1, 0, 1))


def _holds(path: Path, is_told: Callable[[str], bool], overlap: int) -> bool:
    """Tell whether the uncompressed bytes of a file are told of; blocks overlap by as many bytes as a fragment may take."""
    opened = uncompressed(path) if path.name.endswith(JOURNAL_SUFFIXES) else path.open("rb")
    with opened as file:
        held = b""
        while block := file.read(_BLOCK):
            if is_told((held + block).decode("utf-8", "ignore")):
                return True
            held = block[-overlap:]
    return False
