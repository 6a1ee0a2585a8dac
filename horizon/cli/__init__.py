"""The command line: parse, call one use case, print (spec 5-interface).

Exit status: 0 done; 1 done, but degraded, owed or something needs a look; 2 wrong use or settings;
3 a needed thing is unavailable; 130 interrupted.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
from typing import TYPE_CHECKING

from horizon.cli.output import DONE, INTERRUPTED, NEEDS_A_LOOK, UNAVAILABLE, WRONG_USE, Output
from horizon.cli.parser import parser
from horizon.errors import CorruptData, HorizonError, InvalidInput

if TYPE_CHECKING:
    from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status; `arguments` default to the process's own."""
    for stream in (sys.stdout, sys.stderr):
        # What the terminal's encoding cannot show is escaped, never a traceback.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    given = sys.argv[1:] if arguments is None else arguments
    out = Output(json="--json" in given)
    try:
        chosen = parser().parse_args(given)
        out = Output(json=chosen.json)
        status: int = chosen.run(chosen, out)
        if status == DONE and out.to_look_at:
            status = NEEDS_A_LOOK
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader has what it wanted. What is still buffered must not fail again when the interpreter ends.
        with contextlib.suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        out.say("interrupted; what was done is kept, the same command goes on from there")
        return INTERRUPTED
    except (HorizonError, OSError) as error:
        status = status_of(error)
        out.say(f"horizon: {error}")
        if out.json:
            out.document({"status": status, "error": str(error), "kind": type(error).__name__})
    return status


def status_of(error: Exception) -> int:
    """Return the exit status that tells of `error`."""
    if isinstance(error, InvalidInput):
        return WRONG_USE
    if isinstance(error, CorruptData):
        return NEEDS_A_LOOK
    return UNAVAILABLE
