r"""The segments of a bee's integral journal: which files they are, in which order, and their lines.

A journal is its archived segments in the natural order of their names, then the active file. Other
engines' names are accepted (`<bee>-messages`, then `.`, `-` or `_` and anything, then `.jsonl`), compressed
ones too (`.gz`; `.zst` where a library for it is installed). A segment that is being copied rather than
moved out of the active file does not count until the copy is all there is. Lines end with b"\n" only.
"""

from __future__ import annotations

import io
import os
import re
import sys
import time
import zlib
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, cast

from horizon.adapters.bee_files import JOURNAL_SUFFIXES, owner_of, split_suffix
from horizon.adapters.journal_lines import LINE_LONGEST
from horizon.errors import Unavailable

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator
    from pathlib import Path
    from typing import BinaryIO

    from horizon.adapters.bee_files import BeeFiles

_BLOCK: Final = 1 << 20
"""Bytes read at once: a segment of 500 exchanges in one or a few reads."""
_OURS: Final = re.compile(r"(.*\.)(0[0-9]{5})", re.DOTALL)
_NUMBERS: Final = re.compile(r"([0-9]+)")
_EDGE: Final = 65_536
"""Bytes compared at both ends to know a copy in progress."""
_PIECE: Final = 1_024
"""Compressed bytes that are uncompressed at once: a few of them can stand for a hundred thousand."""
_LOOKS: Final = 50
"""Looks at an archive that changes while it is listed: each change is a rotation that just happened."""
_JUST_NOW: Final = 1_000_000_000
"""Nanoseconds for which a folder's time is not trusted: two changes may bear the same."""


@dataclass(slots=True)
class Segment:
    """An archived segment: its name without suffix, and its file."""

    stem: str
    path: Path


class Damaged(Exception):
    """The rest of a compressed segment cannot be uncompressed; the text says why."""


def natural(stem: str) -> tuple[tuple[str | int, ...], str]:
    """Return the key by which segments sort: numbers in a name by value."""
    parts = _NUMBERS.split(stem)
    return tuple(int(part) if i % 2 else part for i, part in enumerate(parts)), stem


def archived(folder: Path, bee: str) -> list[Segment]:
    """Return a bee's archived segments, oldest first; none where there is no archive.

    Raises:
        Unavailable: the archive is there and cannot be listed.
    """
    ours = f"{bee}-messages"  # a thousand names of others are passed over quickly
    return _sorted((name for name in _names(folder) if name.startswith(ours)), folder).get(bee, [])


@dataclass(slots=True)
class Archive:
    """The archive of a hive: listed once for all its bees, and again whenever it changed."""

    _stamp: tuple[int, int] | None = None
    _segments: dict[str, list[Segment]] = field(default_factory=dict[str, list[Segment]])

    def of(self, folder: Path, bee: str) -> list[Segment]:
        """Return what `archived` does."""
        try:
            status = folder.stat()
        except OSError:
            return archived(folder, bee)
        stamp = (status.st_ino, status.st_mtime_ns)
        if stamp != self._stamp or time.time_ns() - status.st_mtime_ns < _JUST_NOW:
            self._segments = _sorted(_names(folder), folder)
            self._stamp = stamp
        return list(self._segments.get(bee, ()))


def _sorted(names: Iterable[str], folder: Path) -> dict[str, list[Segment]]:
    """Return the segments among some names of files by bee, oldest first."""
    best: dict[str, dict[str, tuple[int, str]]] = {}
    for name in names:
        parts = split_suffix(name)
        owner = None if parts is None else owner_of(parts[0])
        if parts is None or owner is None:
            continue
        rank = JOURNAL_SUFFIXES.index(parts[1])
        found = best.setdefault(owner, {})
        if parts[0] not in found or rank < found[parts[0]][0]:
            found[parts[0]] = (rank, name)
    return {
        owner: [Segment(stem, folder / found[stem][1]) for stem in sorted(found, key=natural)]
        for owner, found in best.items()
    }


def _names(folder: Path) -> list[str]:
    try:
        return os.listdir(folder)  # noqa: PTH208 - names are all that is needed, and a thousand paths cost
    except FileNotFoundError:
        return []
    except OSError as error:
        raise Unavailable(f"{folder} cannot be listed: {error.strerror}") from error


def next_stem(bee: str, last: str | None) -> str:
    """Return the name, without suffix, of the segment after `last`: it sorts after every existing one."""
    if last is None:
        return f"{bee}-messages.000001"
    ours = _OURS.fullmatch(last)
    if ours is not None and ours[2] != "099999":
        return f"{ours[1]}{int(ours[2]) + 1:06d}"
    # Another engine's name is never counted up: its next segment would take that name and overwrite ours.
    return f"{last}.000001"


@contextmanager
def whole_journal(
    files: BeeFiles, listed: Callable[[Path, str], list[Segment]] = archived
) -> Generator[tuple[list[Segment], BinaryIO | None]]:
    """Give the sealed segments, as `listed`, and the active file, open, as they were at one instant.

    Raises:
        Unavailable: they are there and cannot be read.
    """
    for _ in range(_LOOKS):
        before = listed(files.archive, files.bee)
        active = open_plain(files.journal)
        try:
            if listed(files.archive, files.bee) != before:
                continue
            if before and active is not None and _is_copy(before[-1], active):
                before.pop()
            yield before, active
        finally:
            if active is not None:
                active.close()
        return
    raise Unavailable(f"{files.archive} changes too fast to be read")


def _is_copy(segment: Segment, active: BinaryIO) -> bool:
    """Tell whether an uncompressed segment is but the beginning of the active file: a copy in progress."""
    try:
        file = segment.path.open("rb")
    except OSError:
        return False
    with file:
        sealed, live = os.fstat(file.fileno()), os.fstat(active.fileno())
        if segment.path.suffix != ".jsonl" or sealed.st_size > live.st_size:
            return False
        for at in (0, max(0, sealed.st_size - _EDGE)):
            length = min(_EDGE, sealed.st_size - at)
            if os.pread(file.fileno(), length, at) != os.pread(active.fileno(), length, at):
                return False
    return True


def open_plain(path: Path) -> BinaryIO | None:
    """Open a file for reading, unbuffered; None where there is none.

    Raises:
        Unavailable: it is there and cannot be read.
    """
    try:
        return cast("BinaryIO", io.FileIO(path))
    except FileNotFoundError as error:
        if path.is_symlink():  # often what it leads to is only not mounted: never taken for an empty journal
            raise Unavailable(f"{path} is a link to what is not there: {path.readlink()}") from error
        return None
    except OSError as error:
        raise Unavailable(f"{path} cannot be read: {error.strerror}") from error


@contextmanager
def open_segment(segment: Segment) -> Generator[BinaryIO]:
    """Open a sealed segment for reading its uncompressed bytes, also if it was compressed since it was listed.

    Raises:
        FileNotFoundError: it is there in no form.
        Unavailable: it cannot be read here; the message says why, and what to install.
        Damaged: (while reading) the rest of it cannot be uncompressed.
    """
    with uncompressed(present(segment)) as file:
        yield file


def present(segment: Segment) -> Path:
    """Return a segment's file, also if it was compressed since it was listed; where it is there in no form, the one that was."""
    if segment.path.exists():
        return segment.path
    paths = (segment.path.with_name(segment.stem + suffix) for suffix in JOURNAL_SUFFIXES)
    return next((path for path in paths if path.exists()), segment.path)


@contextmanager
def uncompressed(path: Path) -> Generator[BinaryIO]:
    """Open one file of a segment for reading its uncompressed bytes.

    Raises:
        FileNotFoundError: it is gone.
        Unavailable: it cannot be read here; the message says why, and what to install.
        Damaged: (while reading) the rest of it cannot be uncompressed.
    """
    try:
        file, damage = _open_packed(path)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise Unavailable(f"{path} cannot be read: {error.strerror}") from error
    with file:
        try:
            yield file
        except damage as error:
            raise Damaged(f"cannot be uncompressed from here on: {error}") from error


def packed(path: Path, data: bytes) -> bytes:
    """Return `data` as the file at `path` keeps it, compressed by its suffix."""
    if path.suffix == ".gz":
        import gzip  # noqa: PLC0415 - only archivers' files need it

        return gzip.compress(data, mtime=0)
    if path.suffix == ".zst":
        return cast("bytes", _zstd(path).compress(data))
    return data


def _open_packed(path: Path) -> tuple[BinaryIO, tuple[type[Exception], ...]]:
    """Return a segment's uncompressed bytes and the errors by which damage shows."""
    if path.suffix == ".gz":
        import gzip  # noqa: PLC0415 - only archivers' files need it, and a read should not wait for it

        return cast("BinaryIO", gzip.open(path, "rb")), (EOFError, zlib.error, gzip.BadGzipFile)
    if path.suffix == ".zst":
        zstd = _zstd(path)
        if hasattr(zstd, "ZstdFile"):
            return zstd.open(path, "rb"), (EOFError, zstd.ZstdError)
        return io.BufferedReader(_Zstandard(path, zstd.ZstdDecompressor()), _BLOCK), (EOFError, zstd.ZstdError)
    return cast("BinaryIO", path.open("rb", buffering=0)), ()


class _Zstandard(io.RawIOBase):
    """The uncompressed bytes of a file by the `zstandard` package.

    The package's own reader cannot go back, and takes a file that was cut off for a whole one.
    """

    def __init__(self, path: Path, decompressor: Any) -> None:  # noqa: ANN401 - a library without types here
        super().__init__()
        self._file = path.open("rb", buffering=0)
        self._decompressor = decompressor
        self.seek(0)

    def readable(self) -> bool:
        """Tell that it can be read."""
        return True

    def seekable(self) -> bool:
        """Tell that places in it can be gone to; backwards from the beginning."""
        return True

    def fileno(self) -> int:
        """Return the compressed file's."""
        return self._file.fileno()

    def close(self) -> None:
        """Close the compressed file too."""
        self._file.close()
        super().close()

    def tell(self) -> int:
        """Return the place in the uncompressed bytes."""
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Go to a place from the beginning; at most to the end."""
        if whence != io.SEEK_SET:
            raise io.UnsupportedOperation("only from the beginning")
        if offset == 0 or offset < self._at:
            self._file.seek(0)
            self._frame: Any = None
            self._ready = b""
            self._at = 0
        while self._at < offset and self.read(min(_BLOCK, offset - self._at)):
            pass
        return self._at

    def readinto(self, buffer: Any) -> int:  # noqa: ANN401 - as the base class has it
        """Read some bytes; 0 at the end."""
        while not self._ready:
            ended = self._frame is None or self._frame.eof
            data = (self._frame.unused_data if self._frame is not None and ended else b"") or self._file.read(_PIECE)
            if not data:
                if ended:
                    return 0
                raise EOFError("the file ends before its last frame does")
            if ended:
                self._frame = self._decompressor.decompressobj()
            frame: Any = self._frame
            self._ready = frame.decompress(data)
        given = min(len(buffer), len(self._ready))
        buffer[:given] = self._ready[:given]
        self._ready = self._ready[given:]
        self._at += given
        return given


def _zstd(path: Path) -> Any:  # noqa: ANN401 - one of two optional libraries of the same shape, neither with types here
    from importlib import import_module  # noqa: PLC0415 - only archivers' files need it

    for name in ("compression.zstd", "zstandard"):  # the standard library's, from Python 3.14 on, or the package
        try:
            return import_module(name)
        except ImportError:
            continue
    raise Unavailable(f"{path} is compressed with zstd, which this Python cannot read: pip install zstandard")


def lines_of(file: BinaryIO, offset: int, end: int = sys.maxsize) -> Iterator[tuple[int, bytes | None, int, int]]:
    """Yield each line from byte `offset` on: where it begins, its bytes, where the next begins, its newlines.

    No byte from `end` on is read, at which a line begins, where it is given.

    The bytes are without newline, and None for a line longer than `LINE_LONGEST`, which is passed over
    without being held. The newlines are 1, or 0 for a last line that has none.
    """
    file.seek(offset)
    start = offset
    held = 0  # bytes of a line that goes on over several blocks: it is read again once its end is known
    most = _EDGE  # what a turn adds is small, and asking for much costs; whoever reads on reads in blocks
    while block := file.read(min(most, end - start - held)):
        most = _BLOCK if len(block) == most else _EDGE
        lines = block.split(b"\n")
        rest = lines.pop()
        for line in lines:
            size = held + len(line)
            stop = start + size + 1
            yield start, _long_line(file, start, size) if held else line, stop, 1
            start = stop
            held = 0
        held += len(rest)
    if held:
        yield start, _long_line(file, start, held), start + held, 0


def _long_line(file: BinaryIO, start: int, size: int) -> bytes | None:
    """Return a line that is longer than a block, or ends the file; None where it is too long to be held."""
    if size > LINE_LONGEST:
        return None
    here = file.tell()
    file.seek(start)
    line = file.read(size)
    file.seek(here)
    return line


def line_at(file: BinaryIO, offset: int) -> bytes:
    """Return the line that begins, or goes on, at byte `offset`, without its newline."""
    file.seek(offset)
    pieces: list[bytes] = []
    while block := file.read(_EDGE):
        head, found, _ = block.partition(b"\n")
        pieces.append(head)
        if found:
            break
    return b"".join(pieces)
