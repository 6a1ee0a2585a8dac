"""The machine's clock and time zone."""

from __future__ import annotations

import os
import zoneinfo
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import tzinfo

_LOCALTIME = Path("/etc/localtime")


class SystemClock:
    """The machine's clock."""

    def now(self) -> datetime:
        """Return the present instant, aware, in UTC."""
        return datetime.now(UTC)


def zone_called(name: str) -> tzinfo:
    """Return the IANA zone called `name`; the machine's own for an empty name, UTC where that is unknown.

    Raises:
        zoneinfo.ZoneInfoNotFoundError: no such zone.
    """
    return zoneinfo.ZoneInfo(name) if name else _machine_zone()


def zone_stamp(name: str) -> str | None:
    """Return what changes whenever the rules of the zone that `zone_called` gives may; None where they stand in no file."""
    named = name or os.environ.get("TZ", "").lstrip(":")
    found = [named]
    for root in zoneinfo.TZPATH if named[:1] not in {"", "/"} else ():
        if stamp := _file_stamp(f"{root}/{named}"):
            found.append(stamp)
            break
    if not name:
        found.append(_file_stamp(str(_LOCALTIME)))
    return " ".join(found) if len(found) > 1 else None


def _file_stamp(path: str) -> str:
    try:
        status = os.stat(path)  # noqa: PTH116 - on the read path; a Path doubles its cost
    except OSError:
        return ""
    return f"{status.st_ino}-{status.st_size}-{status.st_mtime_ns}"


def _machine_zone() -> tzinfo:
    named = os.environ.get("TZ", "").lstrip(":")
    if named:
        try:
            return zoneinfo.ZoneInfo(named)
        except (ValueError, OSError, zoneinfo.ZoneInfoNotFoundError):
            pass  # a POSIX rule such as "CET-1CEST": the file below is the better guess
    try:
        target = os.path.realpath(_LOCALTIME)
        _, found, name = target.partition("/zoneinfo/")
        if found:
            return zoneinfo.ZoneInfo(name)
        with _LOCALTIME.open("rb") as file:
            return zoneinfo.ZoneInfo.from_file(file)
    except (ValueError, OSError, zoneinfo.ZoneInfoNotFoundError):
        return UTC
