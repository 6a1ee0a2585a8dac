"""The segments of a bee's integral journal: which files they are, in which order, and their lines.

A journal is its archived segments in the natural order of their names, then the active file. Other
engines' names are accepted (`<bee>-messages` and `.`, `-` or `_`, anything, `.jsonl`), compressed ones
too (`.gz`; `.zst` where a library for it is installed). A segment that is being copied rather than moved
out of the active file does not count until the copy is all there is.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from horizon.adapters.journal_lines import LINE_LONGEST
from horizon.errors import Unavailable

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import BinaryIO

_SUFFIXES: Final = (".jsonl", ".jsonl.gz", ".jsonl.zst")
"""In the order of preference where one segment is there twice: an archiver may be at work on the others."""
_BLOCK: Final = 1 << 20
"""Bytes read at once: a segment of 500 exchanges in one or a few reads."""
_OURS: Final = re.compile(r"^(.*\.)(0[0-9]{5})$", re.DOTALL)
_EDGE: Final = 65_536
"""Bytes compared at both ends to know a copy in progress."""


@dataclass(frozen=True, slots=True)
class Segment:
    """An archived segment: its name without suffix, and its file."""

    stem: str
    path: Path


def owner_of(stem: str) -> str | None:
    """Return the bee that a segment's or journal's name (without suffix) belongs to, None if to none.

    `mia-messages-messages.000001` belongs to the bee `mia-messages`: the longest name wins.
    """
    bee, found, rest = stem.rpartition("-messages")
    if not found or not bee or (rest and rest[0] not in ".-_"):
        return None
    return bee


def split_suffix(name: str) -> tuple[str, str] | None:
    """Return a journal file's name without its suffix, and the suffix; None where it is no such file."""
    for suffix in _SUFFIXES:
        if name.endswith(suffix):
            return name[: -len(suffix)], suffix
    return None


def natural(stem: str) -> tuple[tuple[str | int, ...], str]:
    """Return the key by which segments sort: numbers in a name by value."""
    parts = re.split(r"([0-9]+)", stem)
    return tuple(int(part) if i % 2 else part for i, part in enumerate(parts)), stem


def archived(folder: Path, bee: str) -> list[Segment]:
    """Return a bee's archived segments, oldest first; none where there is no archive."""
    best: dict[str, tuple[int, str]] = {}
    try:
        names = os.listdir(folder)  # noqa: PTH208 - names are all that is needed, and a thousand paths cost
    except FileNotFoundError:
        return []
    for name in names:
        parts = split_suffix(name)
        if parts is None or owner_of(parts[0]) != bee:
            continue
        rank = _SUFFIXES.index(parts[1])
        if parts[0] not in best or rank < best[parts[0]][0]:
            best[parts[0]] = (rank, name)
    return [Segment(stem, folder / best[stem][1]) for stem in sorted(best, key=natural)]


def next_stem(bee: str, last: str | None) -> str:
    """Return the name, without suffix, of the segment after `last`: it sorts after every existing one."""
    if last is None:
        return f"{bee}-messages.000001"
    ours = _OURS.match(last)
    if ours is not None and ours[2] != "099999":
        return f"{ours[1]}{int(ours[2]) + 1:06d}"
    return f"{last}.000001"


def is_copy(segment: Segment, active: BinaryIO) -> bool:
    """Tell whether an uncompressed segment is but the beginning of the active file: a copy in progress."""
    if segment.path.suffix != ".jsonl":
        return False
    with segment.path.open("rb") as file:
        sealed, live = os.fstat(file.fileno()), os.fstat(active.fileno())
        if sealed.st_size > live.st_size:
            return False
        if os.path.samestat(sealed, live):
            return True
        for at in (0, max(0, sealed.st_size - _EDGE)):
            length = min(_EDGE, sealed.st_size - at)
            if os.pread(file.fileno(), length, at) != os.pread(active.fileno(), length, at):
                return False
    return True


def open_segment(path: Path) -> BinaryIO:
    """Open a segment for reading its uncompressed bytes.

    Raises:
        FileNotFoundError: it has been moved or compressed since it was listed.
        Unavailable: it is compressed in a way that cannot be read here; the message says what to install.
    """
    if path.suffix == ".gz":
        import gzip  # noqa: PLC0415 - only archivers' files need it, and a read should not wait for it

        return gzip.open(path, "rb")  # type: ignore[return-value]  # a GzipFile reads, seeks and closes like a file
    if path.suffix == ".zst":
        return _open_zst(path)
    return path.open("rb", buffering=0)  # type: ignore[return-value]  # read in blocks of our own


def _open_zst(path: Path) -> BinaryIO:
    try:
        from compression import zstd  # noqa: PLC0415  # type: ignore[import-not-found]  # Python 3.14 and later
    except ImportError:
        try:
            import zstandard as zstd  # noqa: PLC0415  # type: ignore[import-not-found]  # optional
        except ImportError:
            raise Unavailable(
                f"{path} is compressed with zstd, which this Python cannot read: pip install zstandard"
            ) from None
    return zstd.open(path, "rb")


def lines_of(file: BinaryIO, offset: int) -> Iterator[tuple[int, bytes | None, bool]]:
    """Yield each line from byte `offset` on: where it begins, its bytes without newline, whether it is ended.

    The bytes are None for a line longer than `LINE_LONGEST`, which is passed over without being held.
    """
    file.seek(offset)
    start = offset
    pieces: list[bytes] = []
    held = 0
    while block := file.read(_BLOCK):
        lines = block.split(b"\n")
        rest = lines.pop()
        for line in lines:
            size = held + len(line)
            if pieces:
                pieces.append(line)
                whole = b"".join(pieces) if size <= LINE_LONGEST else None
                pieces.clear()
            else:
                whole = line if size <= LINE_LONGEST else None
            yield start, whole, True
            start += size + 1
            held = 0
        held += len(rest)
        if held > LINE_LONGEST:
            pieces.clear()
            pieces.append(b"")
        elif rest:
            pieces.append(rest)
    if held:
        yield start, b"".join(pieces) if held <= LINE_LONGEST else None, False
