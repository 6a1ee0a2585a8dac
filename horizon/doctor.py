"""What is wrong or odd in a home, or in each hive of a folder: `horizon doctor` (spec 1-horizon §9, 5-interface).

Beside the composition root, since it looks at everything that a home is made of. It changes nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from horizon.adapters import day_journal, facts_index, ledger
from horizon.adapters.bee_files import bees_of, files_of
from horizon.adapters.blanking import BlankableJournal
from horizon.adapters.clock import SystemClock
from horizon.adapters.journal_jsonl import JournalStore
from horizon.adapters.rights import open_to_others
from horizon.adapters.settings_files import SettingsFiles
from horizon.core.finding import Finding, Kind
from horizon.errors import HorizonError
from horizon.verification import in_the_way, verify, verify_home
from horizon.wiring import Hive, existing, hives, sources_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from horizon.settings import Problem


def examine(path: str | Path) -> tuple[Finding, ...]:
    """Return what is wrong or odd in the home `path`, or in each hive of the folder `path`; changes nothing.

    Raises:
        Unavailable: there is no such folder.
    """
    folder = existing(path)
    return tuple(finding for home in hives(folder) or (folder,) for finding in _of_home(home))


def _of_home(home: Path) -> Iterator[Finding]:
    settings = SettingsFiles(home)
    consolidation = settings.consolidation()
    problems = dict.fromkeys(consolidation.problems)
    for bee in bees_of(home):
        problems.update(dict.fromkeys(settings.horizon(bee).problems))
        yield from _of_bee(home, bee)
    traces, journals = sources_of(home, consolidation.settings.sources)
    yield from verify_home(
        home,
        sources=[*traces, *journals],
        ledger=ledger.LedgerFile(home / ledger.FILE_NAME),
        index=facts_index.FactsIndex(home / facts_index.FILE_NAME),
        journal=day_journal.DayJournal(home / day_journal.FILE_NAME),
    )
    yield from map(_of_problem, problems)
    yield from map(_of_rights, open_to_others(home / "window"))


def _of_bee(hive: Path, bee: str) -> Iterator[Finding]:
    files = files_of(hive, bee)
    try:
        yield from verify(JournalStore(hive, bee, SystemClock()), path=str(hive), bee=bee)
        yield from _of_view(hive, bee)
        for place in BlankableJournal(files).unfinished():
            yield Finding(
                kind=Kind.JOURNAL,
                path=str(files.forgets),
                message=f"{bee}: forgetting {place.id} was cut off",
                remedy=f"finish it: horizon forget {hive} {bee} {place.id}",
            )
    except (HorizonError, OSError) as error:
        yield in_the_way(Kind.JOURNAL, files.journal, error, f"{bee} cannot be read")


def _of_view(hive: Path, bee: str) -> Iterator[Finding]:
    """Compare the view that upkeep left, if that is what is read, with the one that the state gives."""
    opened = Hive(hive).bee(bee)
    shown = opened.read()
    made = opened.read(trying=opened.settings().settings)
    if shown != made and opened.read() is shown:  # else something was written meanwhile
        yield Finding(
            kind=Kind.DRIFT,
            path=str(files_of(hive, bee).view),
            message=f"{bee}: the view that was left for other processes is not what the journals give",
            remedy=f"the journals are right: horizon rebuild {hive} {bee}",
        )


def _of_problem(problem: Problem) -> Finding:
    return Finding(
        kind=Kind.SETTINGS,
        path=problem.layer,
        line=problem.line or 0,
        message=f"{problem.key} = {problem.found}" if problem.key else problem.found,
        remedy=problem.allowed,
    )


def _of_rights(file: Path) -> Finding:
    return Finding(
        kind=Kind.RIGHTS,
        path=str(file),
        message="others than you may read or write it",
        remedy=f"chmod go-rwx '{file}'",
    )
