"""The one summarizer slot, across all flows, workers and machines of a Prefect server (spec 3-orchestration).

A local model answers one request at a time; more of them only wait inside its server, unseen and without a limit.
"""

from __future__ import annotations

from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Final

from prefect.client.orchestration import get_client
from prefect.client.schemas.actions import GlobalConcurrencyLimitCreate
from prefect.concurrency.sync import concurrency
from prefect.exceptions import ObjectAlreadyExists, ObjectNotFound
from prefect.settings import PREFECT_API_URL

if TYPE_CHECKING:
    from collections.abc import Generator

SLOT: Final = "horizon-summarizer"
"""Name of the global concurrency limit."""
SLOTS: Final = 1
LEASE_SECONDS: Final = 60
"""How long a dead run may keep the slot; the least that Prefect takes. Renewed at three quarters of it."""


def ensure_limit() -> bool:
    """Make the limit where it is missing; a limit that somebody has changed is left as it is. Tells whether it was made."""
    with get_client(sync_client=True) as client:
        try:
            client.read_global_concurrency_limit_by_name(SLOT)
        except ObjectNotFound:
            try:
                client.create_global_concurrency_limit(GlobalConcurrencyLimitCreate(name=SLOT, limit=SLOTS))
            except ObjectAlreadyExists:
                return False
            return True
    return False


@cache
def _ensured(_server: str | None) -> None:
    """Make the limit where it is missing, once for each server that this process talks to."""
    ensure_limit()


@contextmanager
def summarizer_slot(*, needed: bool = True) -> Generator[None]:
    """Hold the summarizer's slot for as long as the block runs; waits for it without a limit of time.

    With `needed` false (work that asks no model) nothing is held. Where the lease is lost the block is stopped:
    the work is safe to kill at any instant, and two requests at once are not wanted.
    """
    if not needed:
        yield
        return
    _ensured(PREFECT_API_URL.value())
    with concurrency(SLOT, occupy=1, strict=True, lease_duration=LEASE_SECONDS):
        yield
