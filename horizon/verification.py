"""What is wrong or odd with one bee's files (spec 1-horizon §9, 5-interface `doctor`). Reads only."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from horizon.core.finding import Finding, Kind
from horizon.core.state import degraded_texts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from horizon.ports import BeeStore

_END_OF_TIME: Final = datetime.max.replace(tzinfo=UTC)


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
