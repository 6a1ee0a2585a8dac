"""`horizon doctor`: what is wrong or odd, where, and what to do."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Final

from horizon.cli.output import DONE, NEEDS_A_LOOK

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Sequence

    from horizon.cli.output import Output
    from horizon.core.finding import Finding

_PLACES: Final = 3
"""Places named of one thing found over and over, as in a journal without dates; `--json` has them all."""


def doctor(args: Namespace, out: Output) -> int:
    """Print each finding with its file and line; status 1 where there is any."""
    from horizon.doctor import examine  # noqa: PLC0415 - it looks at everything, and loads what no other command needs

    findings = examine(args.path)

    def people() -> None:
        for path, found in groupby(findings, key=lambda finding: finding.path):
            out.line(path)
            same: dict[tuple[str, str, str], list[Finding]] = {}
            for finding in found:
                same.setdefault((finding.kind, finding.message, finding.remedy), []).append(finding)
            for (kind, message, remedy), each in same.items():
                out.line(f"  {kind}: {_places(each)}{message}")
                out.line(f"      → {remedy}")
        out.line(f"{len(findings)} to look at" if findings else "nothing wrong or odd")

    out.result({"path": str(args.path), "findings": [finding.to_json() for finding in findings]}, people)
    return NEEDS_A_LOOK if findings else DONE


def _places(found: Sequence[Finding]) -> str:
    """Return where the same was found, in the order of the file; empty where the whole file is meant."""
    lines = [finding for finding in found if finding.line]
    if not lines:
        return ""
    named = ", ".join(f"{finding.line} (byte {finding.offset})" for finding in lines[:_PLACES])
    more = f" and {len(lines) - _PLACES} more" if len(lines) > _PLACES else ""
    return f"{'line' if len(lines) == 1 else 'lines'} {named}{more}: "
