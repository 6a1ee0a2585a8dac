"""Commands that tend a hive's horizons: maintain, rebuild. One bee's failure does not stop the others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from horizon import wiring
from horizon.cli.bees import existing, known_bee
from horizon.cli.output import DONE, NEEDS_A_LOOK
from horizon.errors import HorizonError

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from horizon.cli.output import Output
    from horizon.core.upkeep import MaintenanceReport


def maintain(args: Namespace, out: Output) -> int:
    """Evict and melt now, for one bee or all of the hive's."""
    return _over_bees(args, out, lambda hive, bee: wiring.maintain(hive, bee, dry_run=args.dry_run))


def rebuild(args: Namespace, out: Output) -> int:
    """Fold a bee's journals again."""
    return _over_bees(args, out, lambda hive, bee: wiring.rebuild(hive, bee, fresh=args.fresh))


def _over_bees(args: Namespace, out: Output, work: Callable[[Path, str], MaintenanceReport]) -> int:
    hive = existing(args.hive)
    names = (known_bee(hive, args.bee).name,) if args.bee else wiring.bees(hive)
    out.settings(wiring.passed_over(hive, names))
    reports: list[MaintenanceReport] = []
    failures: list[tuple[str, Exception]] = []
    for name in names:
        try:
            reports.append(work(hive, name))
        except (HorizonError, OSError) as error:
            if len(names) == 1:
                raise
            failures.append((name, error))
            out.say(f"{name}: {error}")
    out.result(
        {
            "hive": str(hive),
            "bees": [report.to_json() for report in reports],
            "failures": [{"bee": name, "error": str(error), "kind": type(error).__name__} for name, error in failures],
        },
        lambda: show_reports(reports, out),
    )
    return NEEDS_A_LOOK if failures or any(report.degraded for report in reports) else DONE


def show_reports(reports: Sequence[MaintenanceReport], out: Output) -> None:
    """Print what passes did, a line for each bee, and below why anything was left."""
    if not reports:
        out.line("no bee yet")
        return
    dry = any(report.dry_run for report in reports)
    columns = (
        "bee",
        "evicted#",
        "condensed#",
        "melted#",
        "narratives#",
        "repaired#",
        "degraded#",
        "calls#",
        "written by",
    )
    rows = [
        (
            report.bee,
            *(str(count) for count in _counts(report)),
            ", ".join(f"{by} {count}" for by, count in sorted(report.by.items())),
        )
        for report in reports
    ]
    out.table("what would be done" if dry else "what was done", columns, rows)
    for report in reports:
        levels = ", ".join(f"{zone} {chars}/{budget}" for zone, (chars, budget) in report.gauge.items())
        out.line(f"{report.bee}: {levels}")
        for note in report.notes:
            out.line(f"{report.bee}: {note}")


def _counts(report: MaintenanceReport) -> tuple[int, ...]:
    return (
        report.evicted,
        report.condensed,
        report.melted,
        report.narratives,
        report.repaired,
        report.degraded,
        report.calls,
    )
