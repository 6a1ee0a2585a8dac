"""`horizon forget`: blank exchanges for good, once the keeper has said yes."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

from horizon import wiring
from horizon.cli.bees import known_bee
from horizon.cli.output import DONE, NEEDS_A_LOOK, one_line
from horizon.errors import InvalidInput

if TYPE_CHECKING:
    from argparse import Namespace

    from horizon.cli.output import Output
    from horizon.forgetting import ForgetReport

SHOWN_MOST: Final = 20
"""Exchanges listed before the question: more scroll away."""
QUESTION_SHOWN: Final = 72
_YES: Final = frozenset({"yes", "y", "oui", "o"})


def forget(args: Namespace, out: Output) -> int:
    """Forget an exchange, or all that hold a text; status 1 where some of it still stands in a file of the hive.

    Raises:
        InvalidInput: nothing was named, or nobody could be asked and `--yes` was not given.
    """
    bee = known_bee(args.hive, args.bee)
    work = wiring.forgetting(args.hive, bee.name)
    out.settings(wiring.passed_over(args.hive))
    if not args.yes:
        if out.json or not sys.stdin.isatty():
            raise InvalidInput("forgetting cannot be undone: add --yes where nobody can be asked")
        found = work.find(id_=args.id, text=args.matching)
        for exchange in found[:SHOWN_MOST]:
            out.line(f"{exchange.at:%Y-%m-%d %H:%M}  {exchange.id}  {one_line(exchange.question, most=QUESTION_SHOWN)}")
        if len(found) > SHOWN_MOST:
            out.line(f"… and {len(found) - SHOWN_MOST} more")
        out.say(f"forget {len(found)} exchanges of {bee.name} for good? [yes/no]")
        if sys.stdin.readline().strip().casefold() not in _YES:
            out.line("nothing was forgotten")
            return DONE
    report = work.forget(id_=args.id, text=args.matching)
    out.result(report.to_json(), lambda: _show(report, out))
    return NEEDS_A_LOOK if report.remaining else DONE


def _show(report: ForgetReport, out: Output) -> None:
    if not report.ids:
        out.line("no exchange holds that text")
    for id_ in report.ids:
        out.line(f"{id_} is forgotten")
    for path in report.cleaned:
        out.line(f"cleaned {path}")
    if report.said_by:
        shown = " ".join(report.said_by[:SHOWN_MOST])
        more = len(report.said_by) - SHOWN_MOST
        out.line(f"other exchanges say some of the same: {shown}" + (f" … and {more} more" if more > 0 else ""))
    for path in report.remaining:
        out.line(f"still holds some of it, look for yourself: {path}")
    if not report.remaining:
        out.line("no file of the hive holds any of it now")
