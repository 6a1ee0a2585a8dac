"""`horizon repair`: make again what an outage left degraded or owed, of the bees and the nights of a folder."""

from __future__ import annotations

from typing import TYPE_CHECKING

from horizon import wiring
from horizon.cli.bees import existing
from horizon.cli.homes import show_days, status_of
from horizon.cli.output import DONE, NEEDS_A_LOOK, UNAVAILABLE
from horizon.cli.upkeep import show_reports
from horizon.errors import HorizonError
from horizon.settings import summarizers

if TYPE_CHECKING:
    from argparse import Namespace
    from pathlib import Path

    from horizon.cli.output import Output
    from horizon.consolidation import DayReport
    from horizon.core.upkeep import MaintenanceReport


def repair(args: Namespace, out: Output) -> int:
    """Repair the home at the path, or each hive in it; what needs a summarizer that is away waits, status 3."""
    path = existing(args.path)
    work = _Repair()
    for home in wiring.hives(path) or (path,):
        out.settings((*wiring.passed_over(home), *wiring.passed_over(home, wiring.bees(home))))
        wiring.keep_settings(home)
        work.bees_of(home)
        work.days_of(home)
    for what, why in (*work.waiting.items(), *work.failures.items()):
        out.say(f"{what}: {why}")

    def people() -> None:
        if work.bees:
            show_reports(work.bees, out)
        if work.days:
            show_days(work.days, out)
        if not (work.bees or work.days or work.waiting or work.failures):
            out.line("nothing is degraded or owed")

    out.result(
        {
            "path": str(path),
            "bees": [report.to_json() for report in work.bees],
            "days": [report.to_json() for report in work.days],
            "waiting": work.waiting,
            "failures": work.failures,
        },
        people,
    )
    if work.waiting:
        return UNAVAILABLE
    return NEEDS_A_LOOK if work.wanting() else DONE


class _Repair:
    """What was repaired, what waits for a summarizer, what failed; by bee or home."""

    def __init__(self) -> None:
        self.bees: list[MaintenanceReport] = []
        self.days: list[DayReport] = []
        self.waiting: dict[str, str] = {}
        self.failures: dict[str, str] = {}

    def bees_of(self, hive: Path) -> None:
        for bee in wiring.bees(hive):
            try:
                if not wiring.degraded(hive, bee):
                    continue
                away = wiring.summarizer_health(hive, bee)
                if away is None:
                    self.bees.append(wiring.repair(hive, bee))
                else:
                    self.waiting[f"{hive.name}/{bee}"] = away
            except (HorizonError, OSError) as error:
                self.failures[f"{hive.name}/{bee}"] = str(error)

    def days_of(self, path: Path) -> None:
        try:
            home = wiring.open_home(path)
            days = home.repairable()
            away = home.cascade().available(summarizers(home.settings)) if days else None
            if away is not None:
                self.waiting[path.name] = f"{len(days)} days wait: {away}"
                return
            for day in days:
                self.days.append(home.consolidate(day))
        except (HorizonError, OSError) as error:
            self.failures[path.name] = str(error)

    def wanting(self) -> bool:
        """Tell whether something is still not as it should be."""
        return bool(self.failures) or status_of(self.days) != DONE or any(report.degraded for report in self.bees)
