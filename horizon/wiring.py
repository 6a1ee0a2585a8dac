"""The composition root: settings and paths in, use cases with real adapters out.

The command line, the flows and other programs start here. Nothing here decides anything.
"""

from __future__ import annotations

import os
import threading
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from horizon.adapters.bee_files import check_name
from horizon.adapters.clock import SystemClock, zone_called
from horizon.adapters.journal_jsonl import JournalStore, bees_of
from horizon.adapters.settings_files import SettingsFiles
from horizon.errors import InvalidInput, StoreBusy, Unavailable
from horizon.memory import Bee, view_options
from horizon.settings import summarizers

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from horizon.adapters.hive_days import HiveDays
    from horizon.adapters.traces_sqlite import Traces
    from horizon.cascade import Cascade
    from horizon.consolidation import Consolidation
    from horizon.core.document import Documents
    from horizon.core.event import Narrated
    from horizon.core.exchange import Exchange
    from horizon.core.oblivion import Oblivion
    from horizon.core.upkeep import MaintenanceReport
    from horizon.forgetting import Forgetting
    from horizon.importing import ImportReport, Watch
    from horizon.maintenance import Maintenance
    from horizon.recall import Recall
    from horizon.settings import HorizonSettings, Problem, Resolved

_CLOCK = SystemClock()
_LOCK = threading.Lock()
_SHARED: dict[str, Cascade] = {}
"""By server: what this process knows of its models' health."""


@dataclass(slots=True)
class _BeeSettings:
    files: SettingsFiles
    bee: str

    def stamp(self) -> object:
        return self.files.stamp(self.bee)

    def resolved(self) -> Resolved[HorizonSettings]:
        return self.files.horizon(self.bee)

    def keep_good(self) -> None:
        self.files.keep_good(self.bee)


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
    if not folder.is_dir() and folder.exists():
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
    return bees_of(existing(hive))


def import_file(hive: str | Path, bee: str, file: str | Path, *, watch: Watch = iter) -> ImportReport:
    """Bring the exchanges of a file of another program into a bee's journal; the hive need not exist yet.

    `watch` may show how far the import is; see `import_exchanges`.

    Raises:
        InvalidInput: the bee's name is not allowed, or the file is none that can be imported.
        Unavailable: the file cannot be read.
        StoreBusy: a maintainer or another import is at work on this bee, or the file's owner keeps it locked.
        OSError: the disk refused; what was appended before stays.
    """
    from horizon.adapters.imports import read_import  # noqa: PLC0415 - readers and appenders need none of it
    from horizon.importing import import_exchanges  # noqa: PLC0415 - readers and appenders need none of it

    store = JournalStore(open_hive(hive).path, check_name(bee), _CLOCK)
    return import_exchanges(store, read_import(Path(file).expanduser().absolute()), watch=watch)


def forgetting(hive: str | Path, bee: str) -> Forgetting:
    """Return the way to forget exchanges of one bee, for good; see `Forgetting.forget`.

    Raises:
        Unavailable: there is no such hive.
        InvalidInput: the name could not be a file's name on every system.
    """
    from horizon.adapters.bee_files import files_of  # noqa: PLC0415 - forgetting only
    from horizon.adapters.blanking import BlankableJournal  # noqa: PLC0415 - forgetting only
    from horizon.adapters.scrubbing import HiveScrubber, days_around  # noqa: PLC0415 - forgetting only
    from horizon.core.day import day_of  # noqa: PLC0415 - forgetting only
    from horizon.forgetting import Forgetting  # noqa: PLC0415 - forgetting only

    folder = existing(hive)
    files = files_of(folder, bee)
    zone = zone_called(SettingsFiles(folder).consolidation().settings.fuseau)

    def scrubber(exchanges: Sequence[Exchange], ids: Sequence[str], oblivion: Oblivion) -> HiveScrubber:
        days = days_around(day_of(exchange.at, zone) for exchange in exchanges)
        return HiveScrubber(folder, files, frozenset(ids), days, oblivion)

    return Forgetting(
        hive=str(folder),
        bee=files.bee,
        store=JournalStore(folder, files.bee, _CLOCK),
        journal=BlankableJournal(files),
        scrubber=scrubber,
        clock=_CLOCK,
    )


def maintain(hive: str | Path, bee: str, *, dry_run: bool = False) -> MaintenanceReport:
    """Evict and melt for one bee; see `Maintenance.maintain`."""
    work = maintenance(hive, bee)
    report = work.maintain(dry_run=dry_run)
    return _told(report) if dry_run else _kept(work, report)


def repair(hive: str | Path, bee: str) -> MaintenanceReport:
    """Make again what an outage left degraded; see `Maintenance.repair`."""
    work = maintenance(hive, bee)
    return _kept(work, work.repair())


def narratives(hive: str | Path, bee: str) -> tuple[Narrated, ...]:
    """Return every narrative version of a bee, oldest first; reads only."""
    return JournalStore(existing(hive), check_name(bee), _CLOCK).narratives()


def restore(hive: str | Path, bee: str, version: int) -> MaintenanceReport:
    """Show an earlier narrative version again; see `Maintenance.restore`."""
    work = maintenance(hive, bee)
    return _kept(work, work.restore(version))


def rebuild(hive: str | Path, bee: str, *, fresh: bool = False) -> MaintenanceReport:
    """Fold a bee's journals again; see `Maintenance.rebuild`."""
    work = maintenance(hive, bee)
    return _kept(work, work.rebuild(fresh=fresh))


def _kept(work: Maintenance, report: MaintenanceReport) -> MaintenanceReport:
    """Leave the view after upkeep for other processes, and the good settings where a file is broken by then.

    A maintainer that is at work by now leaves its own view.
    """
    SettingsFiles(Path(work.hive)).keep_good(work.bee)
    if report.active:
        with suppress(StoreBusy):
            Hive(Path(work.hive)).bee(work.bee).keep()
    return _told(report)


def _told(report: MaintenanceReport) -> MaintenanceReport:
    """Add to the notes what of the bee's settings was passed over."""
    problems = SettingsFiles(Path(report.hive)).horizon(report.bee).problems
    return replace(report, notes=(*report.notes, *(f"settings: {problem}" for problem in problems)))


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

    folder = existing(hive)
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


def open_home(path: str | Path) -> Consolidation:
    """Return the nights of the home in the folder `path`, with its settings of now (spec 5-interface).

    Its sources are those that its settings name, else what the folder holds of `traces.db` and `window/`.

    Raises:
        Unavailable: there is no such folder.
    """
    from horizon.adapters import day_journal, facts_index, facts_jsonl, ledger  # noqa: PLC0415 - nights only
    from horizon.adapters.scans import survey  # noqa: PLC0415 - readers and appenders need none of it
    from horizon.consolidation import Consolidation  # noqa: PLC0415 - readers and appenders need none of it

    home = existing(path)
    settings = SettingsFiles(home).consolidation().settings
    traces, journals = sources_of(home, settings.sources)
    return Consolidation(
        name=home.name,
        sources=[*traces, *journals],
        facts=facts_jsonl.FactsJournal(home / facts_jsonl.FILE_NAME),
        index=facts_index.FactsIndex(home / facts_index.FILE_NAME),
        journal=day_journal.DayJournal(home / day_journal.FILE_NAME),
        ledger=ledger.LedgerFile(home / ledger.FILE_NAME),
        cascade=cascade,
        survey=survey,
        clock=_CLOCK,
        settings=settings,
        zone=zone_called(settings.fuseau),
    )


def passed_over(path: str | Path, bees: Sequence[str] | None = None) -> tuple[Problem, ...]:
    """Return what of the settings of a home, or of `bees` of a hive, was passed over, each once; reads only."""
    files = SettingsFiles(Path(path).expanduser().absolute())
    resolved = [files.consolidation()] if bees is None else map(files.horizon, bees)
    return tuple(dict.fromkeys(problem for each in resolved for problem in each.problems))


def keep_settings(home: str | Path) -> None:
    """Keep a home's good settings, before a night, for processes that find a file broken; bees' upkeep keeps theirs."""
    SettingsFiles(Path(home).expanduser().absolute()).keep_good()


def open_recall(path: str | Path) -> Recall:
    """Return the way to find again in the home `path`: facts, days, exchanges (spec 5-interface).

    Raises:
        Unavailable: there is no such folder.
    """
    from horizon.adapters import recall_sources  # noqa: PLC0415 - recall only
    from horizon.adapters.bee_files import files_of  # noqa: PLC0415 - readers and appenders need none of it
    from horizon.adapters.provenance import HomeProvenance  # noqa: PLC0415 - readers and appenders need none of it
    from horizon.adapters.recall_index import FILE_NAME, RecallIndex  # noqa: PLC0415 - readers and appenders need none of it
    from horizon.recall import Recall  # noqa: PLC0415 - readers and appenders need none of it

    home = existing(path)
    settings = SettingsFiles(home).consolidation().settings
    zone = zone_called(settings.fuseau)
    traces, journals = sources_of(home, settings.sources)

    def documents() -> list[Documents]:
        return [
            recall_sources.FactDocuments(home, zone),
            recall_sources.DayDocuments(home, zone),
            *(recall_sources.TraceDocuments(each, zone, settings.bancs, settings.agents) for each in traces),
            *(
                recall_sources.JournalDocuments(files_of(each.hive, bee), zone, each.address(bee), settings.bancs)
                for each in journals
                for bee in bees_of(each.hive)
            ),
        ]

    lookups: dict[str, Callable[[str], Exchange | None]] = {each.name: _trace_lookup(each) for each in traces}
    for each in journals:
        lookups |= {each.address(bee): JournalStore(each.hive, bee, _CLOCK).exchange for bee in bees_of(each.hive)}
    return Recall(RecallIndex(home / FILE_NAME), documents, HomeProvenance(home, lookups))


def _trace_lookup(traces: Traces) -> Callable[[str], Exchange | None]:
    def lookup(id_: str) -> Exchange | None:
        found = traces.exchange(id_)
        return None if found is None else found.exchange

    return lookup


def sources_of(home: Path, named: Sequence[str]) -> tuple[list[Traces], list[HiveDays]]:
    """Return a home's sources: those named, relative to it, else what it holds; one that is missing is still a source."""
    from hashlib import sha256  # noqa: PLC0415 - nights and recall only

    from horizon.adapters.hive_days import HiveDays  # noqa: PLC0415 - nights and recall only
    from horizon.adapters.traces_sqlite import SIDE_FILE, Traces  # noqa: PLC0415 - readers and appenders need none of it

    found = named or [name for name in ("traces.db", "window") if os.path.lexists(home / name)]
    traces: list[Traces] = []
    journals: list[HiveDays] = []
    for name in dict.fromkeys(found):
        path = home / Path(name).expanduser()
        if path.name == "window":
            journals.append(HiveDays(path.parent, name=name))
        elif (path / "window").is_dir():
            journals.append(HiveDays(path, name=name))
        else:
            own = path == home / "traces.db"
            side = SIDE_FILE if own else f".horizon-{sha256(name.encode()).hexdigest()[:8]}-traces.db"
            traces.append(Traces(path, home / side, name=name))
    return traces, journals


def cascade() -> Cascade:
    """Return the way to ask models, with a tally of its own.

    All that a process asks of one server shares what is known of its health: forty bees do not each wait for
    the same three failures.
    """
    from horizon.adapters.ollama_model import OllamaModel  # noqa: PLC0415 - readers and appenders need none of it
    from horizon.cascade import Cascade  # noqa: PLC0415 - as above

    host = os.environ.get("OLLAMA_HOST", "")
    with _LOCK:
        shared = _SHARED.setdefault(host, Cascade(OllamaModel(host=host), _CLOCK))
    return shared.fresh()


def _is_hive(folder: Path) -> bool:
    return any(os.path.lexists(folder / name) for name in ("window", "horizon.toml", "bees"))


def existing(hive: str | Path) -> Path:
    """Return the folder of a hive or home.

    Raises:
        Unavailable: there is no such folder.
    """
    folder = Path(hive).expanduser().absolute()
    if not folder.is_dir():
        raise Unavailable(f"there is no hive at {folder}; `horizon init {hive}` makes one")
    return folder
