"""Beacons: exchanges that are seen from afar (spec 1-horizon §4)."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Final

from horizon.core.exchange import CONVERSATION

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from horizon.core.event import Flagged
    from horizon.core.exchange import Exchange

KEEPER: Final = "apicultrice"
"""In `phares`: every exchange in which the keeper speaks to the bee."""


class Floor(StrEnum):
    """The lowest zone to which a beacon may sink while there is anything else to shed."""

    SHARP = "net"
    CONDENSED = "condense"
    NARRATIVE = "recit"


def is_beacon(exchange: Exchange, flags: Mapping[str, Flagged], beacons: Collection[str]) -> bool:
    """Tell whether `exchange` is a beacon: its flag decides, else its kind.

    `beacons` is the setting `phares`: kinds of exchange, where `KEEPER` stands for conversations.
    """
    flag = flags.get(exchange.id)
    if flag is not None:
        return flag.on
    return exchange.kind in beacons or (exchange.kind == CONVERSATION and KEEPER in beacons)
