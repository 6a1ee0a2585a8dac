"""`horizon narrative`: the versions of a bee's narrative, all kept; any can be shown, and made the one that is read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from horizon import wiring
from horizon.cli.bees import known_bee
from horizon.cli.output import DONE
from horizon.errors import InvalidInput

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Mapping

    from horizon.cli.output import Output
    from horizon.core.event import Narrated


def narrative(args: Namespace, out: Output) -> int:
    """List the versions, or print or restore one.

    Raises:
        InvalidInput: there is no such version.
    """
    bee = known_bee(args.hive, args.bee)
    if args.restore is not None:
        out.settings(bee.settings().problems)
        report = wiring.restore(args.hive, bee.name, args.restore)
        out.result(report.to_json(), lambda: out.line(f"version {args.restore} is shown again"))
        return DONE
    versions = wiring.narratives(args.hive, bee.name)
    if args.show is not None:
        wanted = next((told for told in versions if told.version == args.show), None)
        if wanted is None:
            raise InvalidInput(f"{bee.name} has no narrative version {args.show}; without --show they are listed")
        out.result({**_told(wanted), "sections": dict(wanted.sections)}, lambda: _show(wanted, out))
        return DONE
    out.result({"bee": bee.name, "versions": [_told(told) for told in versions]}, lambda: _list(versions, out))
    return DONE


def _told(told: Narrated) -> Mapping[str, object]:
    return {
        "version": told.version,
        "base": told.base,
        "quand": told.at.isoformat(),
        "cause": told.cause,
        "par": told.by,
        "degrade": told.degraded,
        "ids": list(told.ids),
        "chars": sum(map(len, told.sections.values())),
        "etapes": [{"par": step.by, "issue": step.outcome} for step in told.steps],
    }


def _show(told: Narrated, out: Output) -> None:
    for section, text in told.sections.items():
        out.line(f"{section}:")
        out.line(text)


def _list(versions: tuple[Narrated, ...], out: Output) -> None:
    if not versions:
        out.line("nothing has melted yet")
        return
    columns = ("version#", "made", "from#", "why", "by", "exchanges#", "chars#", "")
    rows = (
        (
            str(told.version),
            f"{told.at:%Y-%m-%d %H:%M}",
            str(told.base or "–"),
            told.cause,
            told.by,
            str(len(told.ids)),
            str(sum(map(len, told.sections.values()))),
            "degraded" if told.degraded else "",
        )
        for told in versions
    )
    out.table("versions of the narrative", columns, rows)
