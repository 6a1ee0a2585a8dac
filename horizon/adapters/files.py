"""Two primitives for every file: replace it atomically, append lines to it durably; and the locks for both.

- A replaced file is the old one or the new one after a crash, never a mixture: temp file in the same
  folder, fsync, rename, fsync of the folder.
- An append mends a missing final newline first, is one write, and is checked; where the disk takes only a
  part, exactly the bytes of that write are taken back, so that nothing half is left.
- Files are created for the user only (0600), folders too (0700).
"""

from __future__ import annotations

import errno
import fcntl
import os
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from horizon.errors import StoreBusy

if TYPE_CHECKING:
    from collections.abc import Generator

_FILE_MODE: Final = 0o600
_FOLDER_MODE: Final = 0o700


def make_folder(path: Path) -> None:
    """Make a folder for the user only, with those above it that are missing; one that exists is left as it is."""
    if path.is_dir():
        return
    make_folder(path.parent)
    try:
        path.mkdir(mode=_FOLDER_MODE)
    except FileExistsError:
        if not path.is_dir():
            raise
    else:
        sync_folder(path.parent)


def sync_folder(path: Path) -> None:
    """Make names in a folder durable; where the file system cannot sync folders, do without."""
    fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    except OSError as error:
        if error.errno not in {errno.EINVAL, errno.EBADF, errno.ENOTSUP}:
            raise
    finally:
        os.close(fd)


def replace_file(path: Path, data: bytes | bytearray) -> None:
    """Put `data` in the place of the file, durably: a crash leaves the old one or the new one.

    A file that exists keeps its rights; a new one is for the user only. Where `path` is a symbolic link, what it leads to
    is replaced: a person may keep a day journal among other notes.

    Raises:
        OSError: the disk refused; the old file stands as it was.
    """
    path = _led_to(path)
    make_folder(path.parent)
    try:
        mode = path.stat().st_mode & 0o777
    except FileNotFoundError:
        mode = _FILE_MODE
    temporary = path.with_name(f".{path.name}.{os.getpid()}-{os.urandom(4).hex()}.tmp")
    fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, _FILE_MODE)
    try:
        try:
            os.fchmod(fd, mode)
            rest = memoryview(data)
            while rest:
                rest = rest[os.write(fd, rest) :]
            os.fsync(fd)
        finally:
            os.close(fd)
        temporary.rename(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def _led_to(path: Path) -> Path:
    """Return what a symbolic link leads to in the end, any other path as it is."""
    return Path(os.path.realpath(path)) if path.is_symlink() else path


def sweep(path: Path) -> None:
    """Remove what killed replacements of the file left beside it; only under the lock that its replacements take."""
    path = _led_to(path)
    for left in path.parent.iterdir():
        if left.name.startswith(f".{path.name}.") and left.name.endswith(".tmp"):
            left.unlink(missing_ok=True)


@contextmanager
def locked(path: Path) -> Generator[None]:
    """Hold an exclusive flock on `path` (made when missing), waiting for it; a crash gives it back."""
    fd = _open_lock(path)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        yield
    finally:
        os.close(fd)


@contextmanager
def locked_or_busy(path: Path, what: str) -> Generator[None]:
    """Hold an exclusive flock on `path` without waiting; the file says which process holds it.

    Raises:
        StoreBusy: another process or thread holds it; the message names `what` and who.
    """
    fd = _open_lock(path)
    try:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.pread(fd, 32, 0).split(b"\n")[0].decode("ascii", "replace").strip() or "unknown"
            raise StoreBusy(f"{what} is being worked on by process {holder} (lock {path}); try again later") from None
        os.ftruncate(fd, 0)
        os.pwrite(fd, b"%d\n" % os.getpid(), 0)
        yield
    finally:
        os.close(fd)


def _open_lock(path: Path) -> int:
    flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC
    try:
        return os.open(path, flags, _FILE_MODE)
    except FileNotFoundError:
        make_folder(path.parent)
        return os.open(path, flags, _FILE_MODE)


def open_to_append(path: Path) -> int:
    """Return a descriptor for appending to `path` and reading its end, made durably when it is missing."""
    flags = os.O_RDWR | os.O_APPEND | os.O_CLOEXEC
    try:
        return os.open(path, flags)
    except FileNotFoundError:
        make_folder(path.parent)
        fd = os.open(path, flags | os.O_CREAT, _FILE_MODE)
        sync_folder(path.parent)
        return fd


def write_lines(fd: int, lines: bytes) -> tuple[int, int]:
    """Write whole lines at the end in one write, after mending a missing newline; return where they stand.

    The caller holds the file's lock, and syncs. What is returned are the byte offsets at which `lines`
    begin and end.

    Raises:
        OSError: the disk took none of it or a part; what it took has been taken back.
    """
    assert lines.endswith(b"\n"), "only whole lines are appended"
    size = os.fstat(fd).st_size
    data = lines if not size or os.pread(fd, 1, size - 1) == b"\n" else b"\n" + lines
    written = os.write(fd, data)
    end = os.lseek(fd, 0, os.SEEK_CUR)
    if written != len(data):
        take_back(fd, end - written, end)
        raise OSError(errno.ENOSPC, f"only {written} of {len(data)} bytes could be written")
    return end - len(lines), end


def take_back(fd: int, start: int, end: int) -> None:
    """Remove the bytes that we wrote last, from `start` to `end`, unless somebody has written after them."""
    if os.fstat(fd).st_size == end:
        os.ftruncate(fd, start)


def append_lines(path: Path, lines: bytes, *, lock: Path) -> None:
    """Append whole lines durably: they are on disk when this returns.

    Raises:
        OSError: the disk refused; nothing of `lines` is in the file.
    """
    with locked(lock):
        fd = open_to_append(path)
        try:
            start, end = write_lines(fd, lines)
        except BaseException:
            os.close(fd)
            raise
    sync_written(fd, start, end, lock)


def sync_written(fd: int, start: int, end: int, lock: Path) -> None:
    """Make written bytes durable and close; outside the lock, so that several writers share one sync.

    Raises:
        OSError: the disk refused; the bytes were taken back where they were still the last.
    """
    try:
        os.fdatasync(fd)
    except OSError:
        with locked(lock):
            take_back(fd, start, end)
        raise
    finally:
        os.close(fd)
