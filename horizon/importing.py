"""Bring exchanges of other programs into a bee's integral journal (spec 5-interface, `import`)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from horizon.core.conversation import Imported
    from horizon.ports import BeeStore


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportReport:
    """What an import did: `read` = `appended` + `already`; what was left out before is counted by reason."""

    form: str
    read: int
    appended: int
    already: int
    left_out: Mapping[str, int] = field(default_factory=dict[str, int])


def import_exchanges(
    store: BeeStore, found: Imported, *, progress: Callable[[int], None] | None = None
) -> ImportReport:
    """Append to the journal what it does not hold yet, in date order, each durably; the same again changes nothing.

    What is in the journal is known by its id. Killed and run again, the rest is appended. `progress` is
    told how many have been looked at, after each.

    Raises:
        StoreBusy: a maintainer or another import is at work on this bee; nothing was appended.
        OSError: the disk refused; what was appended before stays.
    """
    appended = 0
    with store.exclusive():
        known = {entry.exchange.id for entry in store.entries()}
        for done, exchange in enumerate(found.exchanges, start=1):
            if exchange.id not in known:
                store.append(exchange)
                known.add(exchange.id)
                appended += 1
            if progress is not None:
                progress(done)
    return ImportReport(
        form=found.form,
        read=len(found.exchanges),
        appended=appended,
        already=len(found.exchanges) - appended,
        left_out=found.left_out,
    )
