"""Names and places of a bee's files in its hive (spec 1-horizon §9)."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final

from horizon.errors import InvalidInput

if TYPE_CHECKING:
    from pathlib import Path

_NAME_LONGEST: Final = 64
"""Characters in a name: enough for people, and the path stays readable."""
_NAME_BYTES: Final = 200
"""Bytes in a name: the 255 that file systems allow, less our longest suffixes."""
_RESERVED: Final = frozenset(
    {"con", "prn", "aux", "nul"} | {f"{port}{n}" for port in ("com", "lpt") for n in range(10)}
)
"""Names that are devices where the folder is shared with Windows."""

JOURNAL_SUFFIXES: Final = (".jsonl", ".jsonl.gz", ".jsonl.zst")
"""In the order of preference where one segment is there twice: an archiver may be at work on the others."""


def check_name(name: str) -> str:
    """Return a hive's or bee's name in NFC, safe as a part of a path.

    Letters of any script (with their marks), digits, `-` and `_`; 1 to 64 characters; no leading dash.

    Raises:
        InvalidInput: the name is none of that; the message says what is allowed.
    """
    normal = unicodedata.normalize("NFC", name)
    allowed = all(_allowed(character) for character in normal)
    if not 0 < len(normal) <= _NAME_LONGEST or not allowed or normal[0] == "-" or _is_mark(normal[0]):
        raise InvalidInput(
            f"a name has 1 to {_NAME_LONGEST} letters, digits, '-' or '_' and does not begin with '-'; "
            f"found {name[:80]!r}"
        )
    if len(normal.encode()) > _NAME_BYTES:
        raise InvalidInput(f"a name has at most {_NAME_BYTES} bytes of UTF-8; {name!r} has {len(normal.encode())}")
    if normal.casefold() in _RESERVED:
        raise InvalidInput(f"{name!r} is the name of a device on some systems; choose another")
    return normal


def _allowed(character: str) -> bool:
    category = unicodedata.category(character)
    return character in "-_" or category[0] in "LM" or category == "Nd"


def _is_mark(character: str) -> bool:
    return unicodedata.category(character)[0] == "M"


@dataclass(frozen=True)
class BeeFiles:
    """Where a bee's files stand; none of them need exist. Each path is made when it is asked for: few are by any one process."""

    bee: str
    window: Path

    @cached_property
    def archive(self) -> Path:
        """Folder of the sealed segments, shared by the bees of the hive."""
        return self.window / "archive"

    @cached_property
    def journal(self) -> Path:
        """The active segment of the integral journal; append-only."""
        return self.window / f"{self.bee}-messages.jsonl"

    @cached_property
    def flags(self) -> Path:
        """Manual flags; append-only."""
        return self.window / f"{self.bee}-phares.jsonl"

    @cached_property
    def outcomes(self) -> Path:
        """Condensed texts, evictions, narratives; append-only."""
        return self.window / f"{self.bee}-horizon.jsonl"

    @cached_property
    def forgets(self) -> Path:
        """Which exchanges were forgotten and when, without their content; append-only."""
        return self.window / f"{self.bee}-oublis.jsonl"

    @cached_property
    def snapshot(self) -> Path:
        """Derived: the folded state."""
        return self.window / f"{self.bee}-horizon.snapshot"

    @cached_property
    def view(self) -> Path:
        """Derived: the view as a process left it for others."""
        return self.window / f"{self.bee}-horizon.view"

    @cached_property
    def index(self) -> Path:
        """Derived: the date and place of each exchange."""
        return self.window / f"{self.bee}-horizon.index"

    @cached_property
    def append_lock(self) -> Path:
        """Held while a line is written."""
        return self.window / f"{self.bee}-messages.lock"

    @cached_property
    def exclusive_lock(self) -> Path:
        """Held by whoever maintains the bee."""
        return self.window / f"{self.bee}-horizon.lock"


def files_of(hive: Path, bee: str) -> BeeFiles:
    """Return the places of the files of the bee called `bee`.

    Raises:
        InvalidInput: the name is not one that `check_name` lets pass.
    """
    return BeeFiles(check_name(bee), hive / "window")


def split_suffix(name: str) -> tuple[str, str] | None:
    """Return a journal file's name without its suffix, and the suffix; None where it is no such file."""
    for suffix in JOURNAL_SUFFIXES:
        if name.endswith(suffix):
            return name[: -len(suffix)], suffix
    return None


def owner_of(stem: str) -> str | None:
    """Return the bee that a segment's or journal's name (without suffix) belongs to, None if to none.

    `mia-messages-messages.000001` belongs to the bee `mia-messages`: the longest name wins.
    """
    bee, found, rest = stem.rpartition("-messages")
    if not found or not bee or (rest and rest[0] not in ".-_"):
        return None
    return bee


def bees_of(hive: Path) -> tuple[str, ...]:
    """Return the bees of a hive, sorted: those with a journal (active or archived) or settings of their own."""
    window = hive / "window"
    found = {path.stem for path in (hive / "bees").glob("*.toml")}
    for folder in (window, window / "archive"):
        for path in folder.glob("*-messages*"):
            parts = split_suffix(path.name)
            owner = owner_of(parts[0]) if parts is not None else None
            if owner is not None and (folder is not window or parts == (f"{owner}-messages", ".jsonl")):
                found.add(owner)
    return tuple(sorted(name for name in found if _is_name(name)))


def _is_name(name: str) -> bool:
    try:
        return check_name(name) == name
    except InvalidInput:
        return False
