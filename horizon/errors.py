"""The error tree. Every error says what was asked, what was found, where, and what to do.

HorizonError
├── InvalidInput          the caller's mistake: a bad name, value, id, command
│   └── InvalidSettings   a settings file or value; lists file, line, key, value found, what is allowed
├── CorruptData           bytes on disk that cannot be used; carries path, line and byte offset
├── Unavailable           a needed thing is not there (a source, a folder); not worth an immediate retry
└── TransientError        the world's fault and worth a retry
    ├── ModelUnavailable  refused, cut, busy, timed out
    └── StoreBusy         another process holds the lock

Only `TransientError` is ever retried. A poor reply of a model is a value, not an error. All survive pickling.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


class HorizonError(Exception):
    """Base of every error this package raises on purpose."""


class InvalidInput(HorizonError):
    """The caller asked for something that cannot be: correct the call."""


class InvalidSettings(InvalidInput):
    """A settings file does not parse, or a key or value in it is not allowed."""


class CorruptData(HorizonError):
    """Bytes on disk cannot be used; nothing was changed.

    `path` is the file, `line` the 1-based line, `offset` the byte offset of that line's start.
    """

    def __init__(self, message: str, *, path: Path, line: int, offset: int) -> None:
        super().__init__(message)
        self.message = message
        self.path = path
        self.line = line
        self.offset = offset

    def __str__(self) -> str:
        return f"{self.path}, line {self.line} (byte {self.offset}): {self.message}"

    def __reduce__(self) -> tuple[object, ...]:
        return (_corrupt_data, (self.message, self.path, self.line, self.offset))


def _corrupt_data(message: str, path: Path, line: int, offset: int) -> CorruptData:
    return CorruptData(message, path=path, line=line, offset=offset)


class Unavailable(HorizonError):
    """A needed file, folder, source or server is not there."""


class TransientError(HorizonError):
    """It may work in a moment: the only kind that is retried."""


class ModelUnavailable(TransientError):
    """The summarizer could not be reached or did not finish: refused, cut off, busy, timed out."""


class StoreBusy(TransientError):
    """Another process holds the lock that this work needs."""
