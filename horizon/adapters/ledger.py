"""A home's ledger, `consolidation.jsonl`: one event of its nights a line, append-only (spec 2-consolidation §5).

Keys are French, values plain JSON; instants in ISO 8601 (UTC). A line that cannot be read is passed over and named; it
is never touched. Reading goes on where it stopped, so a year of nights is read once by one process.
"""

from __future__ import annotations

import json
import os
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Any, Final, cast

from horizon.adapters.files import append_lines, locked_or_busy
from horizon.core.day import DayState
from horizon.core.extraction import Reading, Refusal
from horizon.core.fact import Fact, Quote, Trust
from horizon.core.night import (
    Applied,
    Attempted,
    Decided,
    Decision,
    Indexed,
    Ledger,
    NightEvent,
    PartRead,
    Settled,
    apply,
)  # fmt: skip
from horizon.errors import Unavailable
from horizon.ports import Oddity

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping
    from pathlib import Path

FILE_NAME: Final = "consolidation.jsonl"


@dataclass(slots=True)
class LedgerFile:
    """The ledger of one home, folded. Reading writes nothing and needs no lock."""

    path: Path
    _ledger: Ledger = field(default_factory=Ledger, repr=False)
    _read: int = field(default=0, repr=False)
    _line: int = field(default=0, repr=False)
    _file: tuple[int, int] | None = field(default=None, repr=False)
    _oddities: list[Oddity] = field(default_factory=list[Oddity], repr=False)

    def load(self) -> Ledger:
        """Return what the ledger says now; an empty one where there is no file. Treat it as read-only.

        Raises:
            OSError: the file is there and could not be read.
        """
        try:
            with self.path.open("rb") as file:
                status = os.fstat(file.fileno())
                if self._file != (status.st_dev, status.st_ino) or status.st_size < self._read:
                    self._restart((status.st_dev, status.st_ino))
                file.seek(self._read)
                rest = file.read()
        except FileNotFoundError:
            if self._file is not None:
                self._restart(None)
            return self._ledger
        end = rest.rfind(b"\n") + 1  # what has no newline yet is being written
        for line in rest[:end].split(b"\n")[:-1]:
            self._line += 1
            self._take(line)
            self._read += len(line) + 1
        return self._ledger

    def oddities(self) -> tuple[Oddity, ...]:
        """Return the lines that could not be read, in order."""
        self.load()
        return tuple(self._oddities)

    def record(self, event: NightEvent) -> None:
        """Append one event durably, in one write. Only under `exclusive()`.

        Raises:
            Unavailable: the home has disappeared; it is not made anew elsewhere under its name.
            OSError: the disk refused; nothing of it is in the file.
        """
        self._check_home()
        line = json.dumps(_encoded(event), ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        data = line.encode("utf-8", "replace") + b"\n"
        append_lines(self.path, data, lock=self._lock("append"))
        self.load()

    @contextmanager
    def exclusive(self) -> Generator[None]:
        """Exclude every other night of this home, in all processes.

        Raises:
            Unavailable: the home has disappeared.
            StoreBusy: another one is at work.
        """
        self._check_home()
        with locked_or_busy(self._lock("lock"), f"the night of {self.path.parent}"):
            yield

    def _check_home(self) -> None:
        if not self.path.parent.is_dir():
            raise Unavailable(f"{self.path.parent} has disappeared; nothing is written in its place")

    def _lock(self, what: str) -> Path:
        return self.path.with_name(f".{self.path.name}.{what}")

    def _restart(self, file: tuple[int, int] | None) -> None:
        self._ledger, self._read, self._line, self._file = Ledger(), 0, 0, file
        self._oddities.clear()

    def _take(self, line: bytes) -> None:
        if not line.strip():
            return
        try:
            event = _decoded(json.loads(line))
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:  # whatever shape it has
            self._oddities.append(
                Oddity(
                    path=str(self.path), line=self._line, offset=self._read, reason=f"not an event of a night: {error}"
                )
            )
            return
        apply(self._ledger, event)


_Json = dict[str, Any]


def _encoded(event: NightEvent) -> _Json:
    match event:
        case Attempted():
            return {
                "evenement": "essai", "jour": str(event.day), "quand": _instant(event.at), "empreinte": event.fingerprint,
                "resumeurs": list(event.models), "force": event.force,
            }  # fmt: skip
        case PartRead():
            found: _Json = {
                "evenement": "partie", "jour": str(event.day), "quand": _instant(event.at), "cle": event.key, "par": event.by,
            }  # fmt: skip
            if event.reading is not None:
                found["lu"] = _reading(event.reading)
            if event.text:
                found["texte"] = event.text
            if event.reason:
                found["raison"] = event.reason
            return found
        case Settled():
            return _settled(event)
        case Applied():
            return {"evenement": "ecrit", "jour": str(event.day), "quand": _instant(event.at), "section": event.section}
        case Indexed():
            return {"evenement": "indexe", "quand": _instant(event.at), "faits": list(event.ids)}


def _settled(event: Settled) -> _Json:
    found: _Json = {
        "evenement": "resultat",
        "jour": str(event.day),
        "quand": _instant(event.at),
        "etat": str(event.state),
        "empreinte": event.fingerprint,
        "echanges": event.digests,
        "lus": event.read,
        "laisses": dict(event.left_out),
        "par": event.by,
        "choisi": event.chosen,
        "resume": event.summary,
        "section": event.section,
        "faits": [_decided(each) for each in event.facts],
        "pousses": event.pushed,
        "clos": list(event.ended),
        "proposes": event.proposed,
        "fusionnes": event.merged,
        "refuses": dict(event.refused),
        "isoles": list(event.isolated),
        "consigne": event.prompt_version,
        "appels": event.calls,
        "jetons_lus": event.prompt_tokens,
        "jetons_ecrits": event.reply_tokens,
        "secondes": round(event.seconds, 3),
        "erreur": event.error,
        "injoignable": event.unreachable,
        "sources": list(event.sources),
    }
    return {key: value for key, value in found.items() if value or key in {"etat", "lus"}}


def _reading(reading: Reading) -> _Json:
    return {
        "faits": [_fact(fact) for fact in reading.facts],
        "resume": reading.summary,
        "proposes": reading.proposed,
        "refuses": {str(key): count for key, count in reading.refused.items()},
    }


def _fact(fact: Fact) -> _Json:
    return {
        "fait": fact.text,
        "jour": str(fact.day),
        "quand": _instant(fact.at),
        "confiance": str(fact.trust),
        "echanges": list(fact.cites),
        "citations": [[quote.address, quote.words] for quote in fact.quotes],
        "dit": fact.said_by_keeper,
    }


def _decided(decided: Decided) -> _Json:
    found: _Json = _fact(decided.fact) | {
        "sort": str(decided.decision),
        "dans": decided.into,
        "remplace": list(decided.replaces),
        "remplace_par": decided.replaced_by,
        "jusqu_au": str(decided.until) if decided.until else "",
    }
    return {key: value for key, value in found.items() if value}


def _decoded(value: object) -> NightEvent:
    """Return the event that a line holds.

    Raises:
        ValueError, KeyError, TypeError, AttributeError: it holds none.
    """
    if not isinstance(value, dict):
        raise TypeError("not an object")
    found = cast("_Json", value)
    kind, at = found["evenement"], _when(found["quand"])
    if kind == "indexe":
        return Indexed(at=at, ids=_texts(found, "faits"))
    day = date.fromisoformat(found["jour"])
    match kind:
        case "essai":
            return Attempted(
                day=day, at=at, fingerprint=_text(found, "empreinte"), models=_texts(found, "resumeurs"), force=bool(found.get("force"))
            )  # fmt: skip
        case "partie":
            read = found.get("lu")
            return PartRead(
                day=day, at=at, key=_text(found, "cle"), by=_text(found, "par"),
                reading=None if read is None else _reading_of(read), text=_text(found, "texte"), reason=_text(found, "raison"),
            )  # fmt: skip
        case "resultat":
            return _settled_of(found, day, at)
        case "ecrit":
            return Applied(day=day, at=at, section=_text(found, "section"))
        case _:
            raise ValueError(f"an unknown event {kind!r}")


def _settled_of(found: _Json, day: date, at: datetime) -> Settled:
    return Settled(
        day=day,
        at=at,
        state=DayState(found["etat"]),
        fingerprint=_text(found, "empreinte"),
        digests=_text(found, "echanges"),
        read=_count(found, "lus"),
        left_out=_counts(found, "laisses"),
        by=_text(found, "par"),
        chosen=bool(found.get("choisi")),
        summary=_text(found, "resume"),
        section=_text(found, "section"),
        facts=tuple(_decided_of(each) for each in found.get("faits", ())),
        pushed=_count(found, "pousses"),
        ended=_texts(found, "clos"),
        proposed=_count(found, "proposes"),
        merged=_count(found, "fusionnes"),
        refused=_counts(found, "refuses"),
        isolated=_texts(found, "isoles"),
        prompt_version=_text(found, "consigne"),
        calls=_count(found, "appels"),
        prompt_tokens=_count(found, "jetons_lus"),
        reply_tokens=_count(found, "jetons_ecrits"),
        seconds=float(found.get("secondes", 0.0)),
        error=_text(found, "erreur"),
        unreachable=bool(found.get("injoignable")),
        sources=_texts(found, "sources"),
    )


def _reading_of(found: _Json) -> Reading:
    return Reading(
        facts=tuple(_fact_of(each) for each in found["faits"]),
        summary=_text(found, "resume"),
        proposed=_count(found, "proposes"),
        refused={Refusal(key): count for key, count in _counts(found, "refuses").items()},
    )


def _fact_of(found: _Json) -> Fact:
    return Fact(
        text=found["fait"],
        day=date.fromisoformat(found["jour"]),
        at=_when(found["quand"]),
        trust=Trust(found["confiance"]),
        cites=_texts(found, "echanges"),
        quotes=tuple(Quote(address=address, words=words) for address, words in found.get("citations", ())),
        said_by_keeper=bool(found.get("dit")),
    )


def _decided_of(found: _Json) -> Decided:
    until = _text(found, "jusqu_au")
    return Decided(
        fact=_fact_of(found),
        decision=Decision(found["sort"]),
        into=_text(found, "dans"),
        replaces=_texts(found, "remplace"),
        replaced_by=_text(found, "remplace_par"),
        until=date.fromisoformat(until) if until else None,
    )


def _instant(at: datetime) -> str:
    return at.astimezone(UTC).isoformat()


def _when(value: object) -> datetime:
    if not isinstance(value, str):
        raise TypeError(f"an instant is a text, not {value!r}")
    at = datetime.fromisoformat(value)
    if at.utcoffset() is None:
        raise ValueError(f"an instant has an offset: {value!r}")
    return at.astimezone(UTC)


def _text(found: _Json, key: str) -> str:
    value = found.get(key, "")
    if not isinstance(value, str):
        raise TypeError(f"{key} is a text, not {value!r}")
    return value


def _count(found: _Json, key: str) -> int:
    value = found.get(key, 0)
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{key} is a whole number, not {value!r}")
    return value


def _texts(found: _Json, key: str) -> tuple[str, ...]:
    value = found.get(key, [])
    if not isinstance(value, list):
        raise TypeError(f"{key} is a list, not {value!r}")
    items = cast("list[object]", value)
    if not all(isinstance(item, str) for item in items):
        raise TypeError(f"{key} is a list of texts")
    return tuple(cast("list[str]", items))


def _counts(found: _Json, key: str) -> Mapping[str, int]:
    value = found.get(key, {})
    if not isinstance(value, dict):
        raise TypeError(f"{key} is a table, not {value!r}")
    table = cast("_Json", value)
    return {name: _count(table, name) for name in table}
