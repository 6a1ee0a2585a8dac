"""Commands on a home's nights: consolidate, backfill, nights."""

from __future__ import annotations

from collections import Counter
from datetime import date, timedelta
from typing import TYPE_CHECKING, Final

from horizon import wiring
from horizon.cli.output import DONE, NEEDS_A_LOOK, UNAVAILABLE
from horizon.core.day import EXCERPT, MARKS, DayState, days, shown_state
from horizon.errors import InvalidInput

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterable, Mapping, Sequence

    from horizon.cli.output import Output
    from horizon.consolidation import Consolidation, DayPlan, DayReport, Night

SHOWN: Final = timedelta(days=41)
"""How far back `nights` looks when it is not told: six weeks, the day it ends with included."""
EXCERPT_WHY: Final = "excerpt, no summarizer configured"
DAYS_MOST: Final = 3_660
"""Most days of one backfill or calendar: ten years. More is a mistyped year."""


def consolidate(args: Namespace, out: Output) -> int:
    """Consolidate one day, yesterday by default."""
    home = _opened(args, out)
    day = args.day or home.yesterday()
    if args.dry_run:
        plan = home.plan(day)
        out.result(plan.to_json(), lambda: show_plans((plan,), out))
        return DONE
    wiring.keep_settings(args.home)
    report = home.consolidate(day, force=args.force)
    out.result(report.to_json(), lambda: show_days((report,), out))
    return status_of((report,))


def backfill(args: Namespace, out: Output) -> int:
    """Consolidate the days of a span, oldest first; what is done with the same exchanges is passed over."""
    home = _opened(args, out)
    wanted = _span(args.first, args.last)
    if args.dry_run:
        plans = list(home.plans(wanted))
        out.result(
            {"home": str(args.home), "plans": [plan.to_json() for plan in plans]}, lambda: show_plans(plans, out)
        )
        return DONE
    wiring.keep_settings(args.home)
    reports = list(_watched(home.backfill(wanted, force=args.force), len(wanted), out))
    out.result(
        {"home": str(args.home), "days": [report.to_json() for report in reports]}, lambda: show_days(reports, out)
    )
    return status_of(reports)


def _opened(args: Namespace, out: Output) -> Consolidation:
    """Return the home's nights, once what of its settings was passed over is told."""
    home = wiring.open_home(args.home)
    out.settings(wiring.passed_over(args.home))
    return home


def _watched(reports: Iterable[DayReport], total: int, out: Output) -> Iterable[DayReport]:
    """Yield the days' reports as they come, under a progress bar for people."""
    if out.json:
        return reports
    from horizon.cli.tables import progressing  # noqa: PLC0415  # rich is loaded only where it shows something

    return progressing(reports, "consolidating", total=total)


def nights(args: Namespace, out: Output) -> int:
    """Show the ledger as a calendar; status 1 where a day is owed, stale or could not be read."""
    home = _opened(args, out)
    last = args.last or (max(home.yesterday(), args.first) if args.first else home.yesterday())
    first = args.first or date.fromordinal(max(last.toordinal() - SHOWN.days, 1))
    _span(first, last)
    found = home.nights(first, last)
    out.result(
        {"home": str(args.home), "nights": [night.to_json() for night in found]}, lambda: show_nights(found, out)
    )
    wanting = {DayState.OWED, DayState.STALE, DayState.SOURCE_MISSING}
    degraded = any(night.state is DayState.DEGRADED and not night.chosen for night in found)
    return NEEDS_A_LOOK if degraded or any(night.state in wanting for night in found) else DONE


def _span(first: date, last: date) -> tuple[date, ...]:
    """Return the days from `first` to `last`, both included.

    Raises:
        InvalidInput: they are in the wrong order, or too many.
    """
    if last < first:
        raise InvalidInput(f"--from {first} is after --to {last}")
    if (last - first).days >= DAYS_MOST:
        raise InvalidInput(f"{first} to {last} is more than ten years; give a shorter span")
    return tuple(days(first, last))


def status_of(reports: Iterable[DayReport]) -> int:
    """Return the exit status for days: 3 where a source is missing, 1 where one is owed or degraded.

    An excerpt because nobody named a summarizer is a choice, and done.
    """
    found = {shown_state(report.state, chosen=report.chosen) for report in reports}
    if DayState.SOURCE_MISSING in found:
        return UNAVAILABLE
    return NEEDS_A_LOOK if found - {DayState.DONE, DayState.EMPTY, EXCERPT} else DONE


def show_days(reports: Sequence[DayReport], out: Output) -> None:
    """Print what became of days, a line each, and below what is to be said about them."""
    rows = [
        (
            str(report.day),
            _state(report.state, chosen=report.chosen),
            "" if report.changed else "nothing to do",
            str(report.read),
            _reasons(report.left_out),
            str(report.new),
            str(report.merged),
            _reasons(report.refused),
            report.by or "–",
            str(report.calls),
        )
        for report in reports
    ]
    columns = ("day", "state", "", "read#", "left out", "new#", "merged#", "refused", "summarised by", "calls#")
    out.table("nights", columns, rows)
    for report in reports:
        for said in (report.error, *report.notes):
            if said:
                out.line(f"{report.day}: {said}")
    _tell_excerpts(sum(1 for each in reports if each.state is DayState.DEGRADED and each.chosen), out)
    if len(reports) == 1 and reports[0].summary:
        where = "not in journal.md: " if reports[0].kept_out else ""
        out.line(f"{where}{reports[0].summary}")


def show_plans(plans: Sequence[DayPlan], out: Output) -> None:
    """Print what consolidating days would do."""
    rows = [
        (
            str(plan.day),
            f"{MARKS[plan.state]} {plan.state}",
            str(plan.read),
            _reasons(plan.left_out),
            str(plan.parts),
            f"{plan.calls} (at most {plan.calls_most})" if plan.models else EXCERPT_WHY,
            ", ".join(plan.models) or "–",
        )
        for plan in plans
    ]
    out.table("what would be done", ("day", "state now", "to read#", "left out", "parts#", "calls", "models"), rows)


def show_nights(found: Sequence[Night], out: Output) -> None:
    """Print the calendar, the counts of each state, and a line for each day that somebody summarised or that is owed."""
    from horizon.cli.calendar import legend, months  # noqa: PLC0415  # rich is loaded only where it shows something
    from horizon.cli.tables import console  # noqa: PLC0415  # as above

    screen = console()
    for month in months({night.day: shown_state(night.state, chosen=night.chosen) for night in found}):
        screen.print(month)
    screen.print(legend())
    told = [night for night in found if night.state not in {DayState.EMPTY, DayState.NEVER}]
    rows = [
        (
            str(night.day),
            _state(night.state, chosen=night.chosen),
            str(night.read),
            _reasons(night.left_out),
            str(night.new),
            night.by or "–",
            night.error,
        )
        for night in told
    ]
    if rows:
        out.table("nights", ("day", "state", "read#", "left out", "facts#", "summarised by", ""), rows)
    states = Counter(shown_state(night.state, chosen=night.chosen) for night in found)
    out.line(", ".join(f"{states[state]} {state}" for state in MARKS if states[state]) or "no day")
    _tell_excerpts(states[EXCERPT], out)


def _state(state: DayState, *, chosen: bool) -> str:
    shown = shown_state(state, chosen=chosen)
    return f"{MARKS[shown]} {EXCERPT_WHY if shown == EXCERPT else shown}"


def _tell_excerpts(count: int, out: Output) -> None:
    if count:
        days = "1 day stands" if count == 1 else f"{count} days stand"
        out.line(
            f"{days} by excerpt, no summarizer being configured: name one in horizon.toml"
            ' ([consolidation] modele = "ollama/<model>") and it reads them'
        )


def _reasons(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {reason}" for reason, count in sorted(counts.items()) if count)
