"""Horizon: a past that local LLM agents can carry.

    >>> from horizon import open_hive
    >>> bee = open_hive("~/ruche").bee("mia")

What is near stays sharp, what is far fades, nothing is lost. Importing this loads no Prefect, Polars,
DuckDB or Ollama; what acts is loaded when it is first asked for, so that values and errors come alone.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Final

from horizon.core.beacon import Floor
from horizon.core.exchange import Exchange
from horizon.core.receipt import Cut, Gauge, Level, Part, Role, Rule, View
from horizon.errors import (
    CorruptData,
    HorizonError,
    InvalidInput,
    InvalidSettings,
    ModelUnavailable,
    StoreBusy,
    TransientError,
    Unavailable,
)

if TYPE_CHECKING:
    from horizon.memory import Bee
    from horizon.wiring import Hive, open_hive

__all__ = [
    "Bee",
    "CorruptData",
    "Cut",
    "Exchange",
    "Floor",
    "Gauge",
    "Hive",
    "HorizonError",
    "InvalidInput",
    "InvalidSettings",
    "Level",
    "ModelUnavailable",
    "Part",
    "Role",
    "Rule",
    "StoreBusy",
    "TransientError",
    "Unavailable",
    "View",
    "open_hive",
]

_ACTING: Final = {"Bee": "horizon.memory", "Hive": "horizon.wiring", "open_hive": "horizon.wiring"}


def __getattr__(name: str) -> object:
    if name not in _ACTING:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = getattr(import_module(_ACTING[name]), name)
    return found
