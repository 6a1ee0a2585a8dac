"""Bring exchanges of other programs into a bee's integral journal (spec 5-interface, `import`)."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from horizon.core.conversation import UNDATED
from horizon.core.exchange import content_id

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from datetime import datetime

    from horizon.core.conversation import Imported
    from horizon.core.exchange import Exchange
    from horizon.ports import BeeStore

    Watch = Callable[[Sequence[Exchange]], Iterable[Exchange]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportReport:
    """What an import did: `read` = `appended` + `already`; what was left out before is counted by reason."""

    form: str
    read: int
    appended: int
    already: int
    left_out: Mapping[str, int] = field(default_factory=dict[str, int])


def import_exchanges(store: BeeStore, found: Imported, *, watch: Watch = iter) -> ImportReport:
    """Append to the journal what it does not hold yet, in date order, each durably; the same again changes nothing.

    What is in the journal is known by its id. An exchange that carries the id of another one (other programs
    count from 1 in each file), said at another time in other words, gets an id of its own. Killed and run again,
    the rest is appended. `watch` gives the exchanges back one by one, as they are: it may show how far the import is.

    Raises:
        StoreBusy: a maintainer or another import is at work on this bee; nothing was appended.
        OSError: the disk refused; what was appended before stays.
    """
    appended = 0
    with store.exclusive():
        known = {entry.exchange.id: _marks(entry.exchange) for entry in store.entries()}
        for each in watch(found.exchanges):
            exchange = _told_apart(each, known)
            if exchange.id not in known:
                store.append(exchange)
                known[exchange.id] = _marks(exchange)
                appended += 1
    return ImportReport(
        form=found.form,
        read=len(found.exchanges),
        appended=appended,
        already=len(found.exchanges) - appended,
        left_out=found.left_out,
    )


def _marks(exchange: Exchange) -> tuple[datetime, int]:
    """Return by what an exchange is told from another with its id: its instant, and its words in short."""
    return exchange.at, hash((exchange.question, exchange.answer))


def _told_apart(exchange: Exchange, known: Mapping[str, tuple[datetime, int]]) -> Exchange:
    """Return `exchange`, under an id made of its id and content where another one holds that id."""
    held = known.get(exchange.id)
    if held is None or any(mark == other for mark, other in zip(held, _marks(exchange), strict=True)):
        return exchange
    own = content_id(
        at=UNDATED, kind=exchange.kind, tool=exchange.tool, question=exchange.question, answer=exchange.answer
    )
    return replace(exchange, id=f"{exchange.id}-{own}")
