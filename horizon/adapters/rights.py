"""Who else may look into a folder: memory is for its user only (0600 files, 0700 folders)."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

OTHERS: Final = 0o077
"""The bits that give a group or everybody a right."""


def open_to_others(folder: Path) -> tuple[Path, ...]:
    """Return `folder` and what is in it that others than the owner have a right on, sorted; links are not followed."""
    found: list[Path] = []
    for place, folders, files in os.walk(folder):
        found += [path for path in (Path(place), *(Path(place, name) for name in files)) if _is_open(path)]
        folders.sort()
    return tuple(sorted(found))


def _is_open(path: Path) -> bool:
    try:
        return bool(path.lstat().st_mode & OTHERS) and not path.is_symlink()
    except OSError:  # gone meanwhile
        return False
