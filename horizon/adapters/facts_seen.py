"""What the shared facts journal held when we last saw it: a few numbers for each of its lines, and not a word of them.

So a night reads only the lines that somebody else has written since, and its facts cost the same beside ten thousand
others as beside a hundred.

Rules:

- It is a cache in a file beside the journal. Missing, unreadable, or made by other rules, it is made again.
- It vouches for the bytes that it was made of, by their length and checksum; without reading them for a file of the same
  inode, length and time of change, if it had rested when it was seen. Of any others it knows the lines that it has met.
- It is read and written under the journal's lock.
"""

from __future__ import annotations

import contextlib
import math
import struct
import time
import zlib
from array import array
from bisect import bisect_left, insort
from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING, Final, NamedTuple

from horizon.adapters.files import replace_file, sweep
from horizon.core.fact import NEAR_VERSION

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

FILE_NAME: Final = ".horizon-facts.seen"
NO_FACT: Final = 0
"""The near number of a line that is no fact."""
NOT_OURS: Final = -math.inf
"""The instant of a line that is no dated fact of ours: before any other, so that nothing goes before it."""
REST: Final = 3_000_000_000
"""Nanoseconds after which a second change gets another time, on file systems that count by two seconds too."""
_MAGIC: Final = b"hzfacts1"
_HEAD: Final = struct.Struct("=8s9Qd")
"""Magic, version of the near keys, lines; the journal's device, inode, length and time of change; its length and checksum
as seen; facts; the latest of ours. In the machine's own byte order: another's file is not known, and made again."""


class Numbers(NamedTuple):
    """What is kept of a line: of a fact the number of its near key, of a dated one of ours its `created_at`."""

    near: int = NO_FACT
    at: float = NOT_OURS


class Stamp(NamedTuple):
    """By what a file is known again without being read; all zeros by nothing."""

    device: int = 0
    inode: int = 0
    size: int = 0
    changed: int = 0
    """Nanoseconds."""


def stamp(status: os.stat_result) -> Stamp:
    """Return the stamp of a file; none that tells anything of one that has not rested yet."""
    if abs(time.time_ns() - status.st_mtime_ns) < REST:
        return Stamp()
    return Stamp(status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)


def near_number(key: Sequence[str]) -> int:
    """Return the number of a near key, never `NO_FACT`; two keys have the same one once in four thousand million."""
    return _number("\x1f".join(key).encode("utf-8", "surrogatepass"), 4) or 1


def _number(data: bytes, size: int = 8) -> int:
    return int.from_bytes(blake2b(data, digest_size=size).digest())


@dataclass(slots=True, kw_only=True)
class Seen:
    """The lines of the journal in order, as numbers; `size` and `checksum` are those of its bytes."""

    sizes: array[int]
    """Bytes of each line, without its newline."""
    digests: array[int]
    nears: array[int]
    sorted_nears: array[int]
    times: array[float]
    stamp: Stamp
    size: int
    checksum: int
    facts: int
    latest: float
    """The latest of `times`."""

    def is_of(self, data: bytearray, stamp: Stamp) -> bool:
        """Tell whether these are the lines of `data`, which a file with `stamp` holds."""
        if self.size != len(data):
            return False
        return self.stamp == stamp != Stamp() or self.checksum == zlib.crc32(data)

    def start(self, line: int) -> int:
        """Return the offset at which a line begins."""
        return sum(self.sizes[:line]) + line

    def lines_of(self, near: int) -> Iterator[int]:
        """Yield the numbers of the lines that have `near`, from 0, in order."""
        at = bisect_left(self.sorted_nears, near)
        line = -1
        while at < len(self.sorted_nears) and self.sorted_nears[at] == near:
            line = self.nears.index(near, line + 1)
            yield line
            at += 1

    def insert(self, line: int, pieces: Sequence[bytes], numbers: Sequence[Numbers]) -> None:
        """Note that `pieces` stand before `line` now; `seal` it afterwards."""
        self.sizes[line:line] = array("Q", map(len, pieces))
        self.digests[line:line] = array("Q", map(_number, pieces))
        self.nears[line:line] = array("I", [each.near for each in numbers])
        self.times[line:line] = array("d", [each.at for each in numbers])
        for each in numbers:
            insort(self.sorted_nears, each.near)
        self.facts += sum(each.near != NO_FACT for each in numbers)
        self.latest = max(self.latest, *(each.at for each in numbers))

    def seal(self, data: bytearray, *, appended: bool) -> None:
        """Vouch for `data`, just written; `appended` where it is what was vouched for before and more after it."""
        self.checksum = zlib.crc32(memoryview(data)[self.size :], self.checksum) if appended else zlib.crc32(data)
        self.size, self.stamp = len(data), Stamp()

    def save(self, path: Path) -> None:
        """Keep this in the file at `path`; where the disk refuses, the journal is read anew next time."""
        head = _HEAD.pack(
            _MAGIC, NEAR_VERSION, len(self.sizes), *self.stamp, self.size, self.checksum, self.facts, self.latest
        )
        columns = (self.sizes, self.digests, self.nears, self.sorted_nears, self.times)
        with contextlib.suppress(OSError):
            sweep(path)
            replace_file(path, b"".join((head, *(column.tobytes() for column in columns))))


def load(path: Path) -> Seen | None:
    """Return what the file at `path` keeps; None where there is none that can be used."""
    try:
        data = path.read_bytes()
    except OSError:
        return None
    if len(data) < _HEAD.size:
        return None
    magic, version, lines, device, inode, length, changed, size, checksum, facts, latest = _HEAD.unpack_from(data)
    sizes, digests, nears, sorted_nears, times = array("Q"), array("Q"), array("I"), array("I"), array("d")
    columns = (sizes, digests, nears, sorted_nears, times)
    if magic != _MAGIC or version != NEAR_VERSION:
        return None
    if len(data) != _HEAD.size + lines * sum(column.itemsize for column in columns):
        return None
    at = _HEAD.size
    for column in columns:
        column.frombytes(memoryview(data)[at : at + lines * column.itemsize])
        at += lines * column.itemsize
    return Seen(
        sizes=sizes, digests=digests, nears=nears, sorted_nears=sorted_nears, times=times,
        stamp=Stamp(device, inode, length, changed), size=size, checksum=checksum, facts=facts, latest=latest,
    )  # fmt: skip


def look(data: bytearray, stamp: Stamp, before: Seen | None, read: Callable[[bytes], Numbers]) -> Seen:
    """Return the numbers of the lines of `data`; `read` gives those of the lines that `before` does not know."""
    known: dict[int, Numbers] = {}
    if before is not None:
        known = dict(zip(before.digests, map(Numbers, before.nears, before.times), strict=True))
    pieces = lines_of(data)
    digests = array("Q", map(_number, pieces))
    for digest, piece in zip(digests, pieces, strict=True):
        if digest not in known:
            known[digest] = read(piece)
    nears = array("I", [known[digest].near for digest in digests])
    times = array("d", [known[digest].at for digest in digests])
    return Seen(
        sizes=array("Q", map(len, pieces)),
        digests=digests,
        nears=nears,
        sorted_nears=array("I", sorted(nears)),
        times=times,
        stamp=stamp,
        size=len(data),
        checksum=zlib.crc32(data),
        facts=len(nears) - nears.count(NO_FACT),
        latest=max(times, default=NOT_OURS),
    )


def lines_of(data: bytearray) -> list[bytes]:
    """Return the lines of a journal without their newlines."""
    pieces = bytes(data).split(b"\n")
    if not pieces[-1]:
        pieces.pop()
    return pieces
