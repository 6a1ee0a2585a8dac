"""The folders that a flow is for: those given, or the root folder of the machine that runs it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

from horizon import wiring
from horizon.errors import Unavailable

if TYPE_CHECKING:
    from collections.abc import Iterable

ROOT_VARIABLE: Final = "HORIZON_ROOT"
"""Environment variable that names the root folder where a worker runs."""
ROOT: Final = "~/ruche"
"""The root folder where the variable is not set."""


def root() -> Path:
    """Return the root folder of this machine, `~` expanded; it need not exist."""
    return Path(os.environ.get(ROOT_VARIABLE, "") or ROOT).expanduser().absolute()


def hives_of(folders: Iterable[Path]) -> tuple[Path, ...]:
    """Return the hives in `folders`, in order, each once; in the root folder where none is given.

    A folder that is no hive itself stands for the hives in it. One that is not there stands for itself: what works on
    it tells so, and stops no other.

    Raises:
        Unavailable: none of the folders is there.
    """
    found: dict[Path, None] = {}
    for folder in _given(folders):
        found.update(dict.fromkeys(wiring.hives(folder) if folder.is_dir() else (folder,)))
    return tuple(found)


def homes_of(folders: Iterable[Path]) -> tuple[Path, ...]:
    """Return the homes in `folders`, in order, each once; the hives of the root folder where none is given.

    Any folder is a home; one that holds hives and no source of its own stands for the hives in it. One that is not
    there stands for itself: what works on it tells so, and stops no other.

    Raises:
        Unavailable: none of the folders is there.
    """
    found: dict[Path, None] = {}
    for folder in _given(folders):
        found.update(dict.fromkeys(wiring.hives(folder) or (folder,)))
    return tuple(found)


def names_of(folders: Iterable[Path]) -> str:
    """Return folders as a run's name tells them: "ruche", or "ruche and 2 more"."""
    names = [Path(folder).expanduser().name for folder in folders] or [root().name]
    return names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more"


def _given(folders: Iterable[Path]) -> list[Path]:
    given = [Path(folder).expanduser().absolute() for folder in folders] or [root()]
    if not any(folder.is_dir() for folder in given):
        names = " or ".join(map(str, given))
        raise Unavailable(f"there is no folder {names}; give one that is there, or set {ROOT_VARIABLE}")
    return given
