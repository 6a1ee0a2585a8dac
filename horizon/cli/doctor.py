"""`horizon doctor`: what is wrong or odd, where, and what to do."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from horizon import wiring
from horizon.cli.output import DONE, NEEDS_A_LOOK

if TYPE_CHECKING:
    from argparse import Namespace

    from horizon.cli.output import Output


def doctor(args: Namespace, out: Output) -> int:
    """Print each finding with its file and line; status 1 where there is any."""
    findings = wiring.doctor(args.path)

    def people() -> None:
        for path, found in groupby(findings, key=lambda finding: finding.path):
            out.line(path)
            for finding in found:
                place = f"line {finding.line} (byte {finding.offset}): " if finding.line else ""
                out.line(f"  {finding.kind}: {place}{finding.message}")
                out.line(f"      → {finding.remedy}")
        out.line(f"{len(findings)} to look at" if findings else "nothing wrong or odd")

    out.result({"path": str(args.path), "findings": [finding.to_json() for finding in findings]}, people)
    return NEEDS_A_LOOK if findings else DONE
