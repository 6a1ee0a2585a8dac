"""The composition root: settings and paths in, use cases with real adapters out.

The command line, the flows and other programs start here. Nothing here decides anything.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from horizon.adapters.bee_files import check_name
from horizon.adapters.clock import SystemClock, zone_called
from horizon.adapters.journal_jsonl import JournalStore, bees_of
from horizon.adapters.rights import open_to_others
from horizon.adapters.settings_files import SettingsFiles
from horizon.core.finding import Finding, Kind
from horizon.errors import InvalidInput, Unavailable
from horizon.memory import Bee, view_options
from horizon.settings import Problem, summarizers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from horizon.cascade import Cascade
    from horizon.maintenance import Maintenance, MaintenanceReport
    from horizon.settings import HorizonSettings, Resolved

_CLOCK = SystemClock()


@dataclass(frozen=True, slots=True)
class _BeeSettings:
    files: SettingsFiles
    bee: str

    def stamp(self) -> object:
        return self.files.stamp(self.bee)

    def resolved(self) -> Resolved[HorizonSettings]:
        return self.files.horizon(self.bee)


@dataclass(frozen=True, slots=True)
class Hive:
    """A folder whose bees share their settings; made when something is first written to it."""

    path: Path

    def bee(self, name: str) -> Bee:
        """Return the bee called `name`; it need not exist yet.

        Raises:
            InvalidInput: the name could not be a file's name on every system.
        """
        name = check_name(name)
        return Bee(
            name,
            JournalStore(self.path, name, _CLOCK),
            _BeeSettings(SettingsFiles(self.path), name),
            _CLOCK,
            zone_called,
        )

    def bees(self) -> tuple[str, ...]:
        """Return the names of the bees that have a journal or settings, sorted."""
        return bees_of(self.path)


def open_hive(path: str | Path) -> Hive:
    """Return the hive in the folder `path` (`~` is expanded); it need not exist yet (spec 5-interface).

    Raises:
        InvalidInput: `path` is there and is no folder.
    """
    folder = Path(path).expanduser().absolute()
    if folder.exists() and not folder.is_dir():
        raise InvalidInput(f"a hive is a folder; {folder} is a file")
    return Hive(folder)


def init_hive(path: str | Path, bees: Sequence[str] = ()) -> tuple[Path, ...]:
    """Make a hive with commented settings, switched on; return the files made, none where all were there.

    Raises:
        InvalidInput: `path` is a file, or a bee's name could not be a file's name on every system.
    """
    from horizon.adapters.new_hive import make_hive  # noqa: PLC0415 - readers and appenders need none of it

    return make_hive(open_hive(path).path, bees)


def hives(root: str | Path) -> tuple[Path, ...]:
    """Return `root` itself where it is a hive, else the hives directly in it, sorted; hidden folders are none.

    A hive is a folder with `window/`, `horizon.toml` or `bees/` in it.
    """
    folder = Path(root).expanduser().absolute()
    if _is_hive(folder):
        return (folder,)
    if not folder.is_dir():
        return ()
    return tuple(sorted(child for child in folder.iterdir() if child.name[:1] != "." and _is_hive(child)))


def bees(hive: str | Path) -> tuple[str, ...]:
    """Return the names of a hive's bees, sorted.

    Raises:
        Unavailable: there is no such folder.
    """
    return bees_of(_existing(hive))


def maintain(hive: str | Path, bee: str, *, dry_run: bool = False) -> MaintenanceReport:
    """Evict and melt for one bee; see `Maintenance.maintain`."""
    work = maintenance(hive, bee)
    report = work.maintain(dry_run=dry_run)
    if report.active and not dry_run:
        SettingsFiles(Path(work.hive)).keep_good(work.bee)
    return report


def repair(hive: str | Path, bee: str) -> MaintenanceReport:
    """Make again what an outage left degraded; see `Maintenance.repair`."""
    return maintenance(hive, bee).repair()


def rebuild(hive: str | Path, bee: str, *, fresh: bool = False) -> MaintenanceReport:
    """Fold a bee's journals again; see `Maintenance.rebuild`."""
    return maintenance(hive, bee).rebuild(fresh=fresh)


def pending(hive: str | Path, bee: str) -> bool:
    """Tell, without asking a model, whether there is anything to evict or melt."""
    return maintenance(hive, bee).pending()


def degraded(hive: str | Path, bee: str) -> bool:
    """Tell, without asking a model, whether an outage left texts to make again."""
    return maintenance(hive, bee).degraded()


def asks_model(hive: str | Path, bee: str) -> bool:
    """Tell whether a bee's settings name a model that may be asked."""
    return bool(summarizers(maintenance(hive, bee).settings))


def summarizer_health(hive: str | Path, bee: str) -> str | None:
    """Return None where one of a bee's models can be asked now, else why none can."""
    work = maintenance(hive, bee)
    return work.cascade.available(summarizers(work.settings))


def maintenance(hive: str | Path, bee: str) -> Maintenance:
    """Return the upkeep of one bee with real adapters; its settings are those of now.

    Raises:
        Unavailable: there is no such hive.
        InvalidInput: the name could not be a file's name on every system.
    """
    from horizon.maintenance import Maintenance  # noqa: PLC0415 - readers and appenders need none of it

    folder = _existing(hive)
    name = check_name(bee)
    settings = SettingsFiles(folder).horizon(name).settings
    return Maintenance(
        hive=str(folder),
        bee=name,
        store=JournalStore(folder, name, _CLOCK),
        settings=settings,
        options=view_options(settings, zone_called(settings.fuseau)),
        cascade=cascade(),
        clock=_CLOCK,
    )


def doctor(path: str | Path) -> tuple[Finding, ...]:
    """Return what is wrong or odd in the hive `path`, or in each hive of the folder `path`; changes nothing.

    Raises:
        Unavailable: there is no such folder.
    """
    from horizon.verification import verify  # noqa: PLC0415 - readers and appenders need none of it

    folder = _existing(path)
    found: list[Finding] = []
    for hive in hives(folder):
        settings = SettingsFiles(hive)
        problems = dict.fromkeys(settings.consolidation().problems)
        for bee in bees_of(hive):
            problems.update(dict.fromkeys(settings.horizon(bee).problems))
            found += verify(JournalStore(hive, bee, _CLOCK), path=str(hive), bee=bee)
        found += [_of_problem(problem) for problem in problems]
        found += [_of_rights(file) for file in open_to_others(hive / "window")]
    return tuple(found)


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


def cascade() -> Cascade:
    """Return the way to ask models of this process: one health record for all that it does."""
    from horizon.adapters.ollama_model import OllamaModel  # noqa: PLC0415 - readers and appenders need none of it
    from horizon.cascade import Cascade  # noqa: PLC0415 - as above

    return Cascade(OllamaModel(), _CLOCK)


def _is_hive(folder: Path) -> bool:
    return any((folder / name).exists() for name in ("window", "horizon.toml", "bees"))


def _existing(hive: str | Path) -> Path:
    folder = Path(hive).expanduser().absolute()
    if not folder.is_dir():
        raise Unavailable(f"there is no hive at {folder}; `horizon init {hive}` makes one")
    return folder
