"""Bring exchanges of other programs into a bee's integral journal (spec 5-interface, `import`)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

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

    What is in the journal is known by its id. Killed and run again, the rest is appended. `watch` gives the
    exchanges back one by one, as they are: it may show how far the import is.

    Raises:
        StoreBusy: a maintainer or another import is at work on this bee; nothing was appended.
        OSError: the disk refused; what was appended before stays.
    """
    appended = 0
    with store.exclusive():
        known = {entry.exchange.id for entry in store.entries()}
        for exchange in watch(found.exchanges):
            if exchange.id not in known:
                store.append(exchange)
                known.add(exchange.id)
                appended += 1
    return ImportReport(
        form=found.form,
        read=len(found.exchanges),
        appended=appended,
        already=len(found.exchanges) - appended,
        left_out=found.left_out,
    )
