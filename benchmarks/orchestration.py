"""What Prefect costs around the use cases: nights of many homes, idle bees, a year's backfill, many hives, its database."""

from __future__ import annotations

import argparse
import logging
import os
import shutil
import tempfile
import time
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

from prefect.settings import PREFECT_API_URL, temporary_settings

from benchmarks.measure import table
from flows.backfill_consolidation import backfill_consolidation
from flows.bees import Bees
from flows.maintain_horizon import maintain_horizon
from flows.nightly_consolidation import nightly_consolidation
from flows.parameters import Days
from flows.repair_degraded import repair_degraded
from horizon import wiring
from tests.deterministic_model import reply_to
from tests.flows import homes
from tests.flows.hives import hive
from tests.flows.real_prefect import RealPrefect
from tests.ollama_behaviour import Behaviour
from tests.ollama_server import OllamaServer

HOMES = 30
IDLE = 1_000
YEAR = 365
HIVES, BEES = 1_000, 5
UPKEEP, REPAIR = 96, 24
"""Runs a day of the deployed schedules, beside one night."""
SAMPLE = 20
"""Idle runs measured for the database's growth."""
SLOW = 20.0
"""Seconds that one bee's summarizer takes."""


def resident() -> float:
    """Return this process's memory now, in MB."""
    fields = Path("/proc/self/statm").read_text("ascii").split()
    return int(fields[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def peak() -> float:
    """Return the most memory since `from_here`, in MB."""
    status = Path("/proc/self/status").read_text("ascii")
    return int(status.split("VmHWM:")[1].split()[0]) * 1024 / 1e6


def from_here() -> float:
    Path("/proc/self/clear_refs").write_text("5", "ascii")
    return resident()


class Took:
    wall = cpu = 0.0


@contextmanager
def timed():
    took = Took()
    wall, cpu = time.perf_counter(), time.process_time()
    yield took
    took.wall, took.cpu = time.perf_counter() - wall, time.process_time() - cpu


def copies(first: Path, root: Path, count: int) -> list[Path]:
    """Copy a folder so many times; return the copies, in order."""
    made = [root / f"{number:04}" for number in range(count)]
    for each in made:
        shutil.copytree(first, each)
    return made


def nights(place: Path) -> list[tuple[object, ...]]:
    """A night of yesterday in `HOMES` homes, through Prefect and directly, by turns of one home each."""
    day = homes.yesterday()
    first = homes.home(place / "first", day)
    through, direct = copies(first, place / "through", HOMES), copies(first, place / "direct", HOMES)
    nightly_consolidation(homes=[first], return_state=True)  # what is loaded once
    with timed() as flow:
        state = nightly_consolidation(homes=through, return_state=True)
    assert state.message == f"days: {HOMES} done", state.message
    with timed() as plain:
        for home in direct:
            assert wiring.open_home(home).consolidate(day).changed
            wiring.open_home(home).owed(day, 14)
    return [
        ("through Prefect", *(f"{1e3 * each / HOMES:.0f}" for each in (flow.wall, flow.cpu))),
        ("called directly", *(f"{1e3 * each / HOMES:.0f}" for each in (plain.wall, plain.cpu))),
        ("Prefect's part", *(f"{1e3 * each / HOMES:.0f}" for each in (flow.wall - plain.wall, flow.cpu - plain.cpu))),
    ]


def idle(place: Path) -> list[tuple[object, ...]]:
    """Upkeep of bees that have nothing to do."""
    root = place / "idle"
    first = hive(root / "ruche", *(f"bee{n}" for n in range(10)), exchanges=2)
    copies(first, root, IDLE // 10 - 1)
    maintain_horizon(hives=[first], return_state=True)
    with timed() as flow:
        state = maintain_horizon(hives=[root], return_state=True)
    assert state.message == f"bees: none; {IDLE} idle in {IDLE // 10} hives", state.message
    hives = wiring.hives(root)
    with timed() as ours:
        assert not list(Bees(hives).due())
    return [
        ("the whole run", f"{flow.wall:.2f}", f"{1e3 * flow.cpu / IDLE:.2f}"),
        ("ours", f"{ours.wall:.2f}", f"{1e3 * ours.cpu / IDLE:.2f}"),
    ]


def year(place: Path) -> list[tuple[object, ...]]:
    """A backfill of a year, through Prefect and directly, and once more over what is done."""
    last = homes.yesterday()
    first = last - timedelta(days=YEAR - 1)
    one = homes.home(place / "year" / "one", *(first + timedelta(days=n) for n in range(YEAR)))
    two = place / "year" / "two"
    shutil.copytree(one, two)
    rows: list[tuple[object, ...]] = []

    def run(what: str, work) -> None:
        before = from_here()
        with timed() as took:
            work()
        rows.append((what, f"{took.wall:.0f}", f"{1e3 * took.wall / YEAR:.0f}", f"{peak() - before:.0f}"))

    def directly() -> None:
        place = wiring.open_home(two)
        for number in range(YEAR):
            place.consolidate(first + timedelta(days=number))

    def flow(expected: str) -> None:
        state = backfill_consolidation(home=one, days=Days(first=first, last=last), return_state=True)
        assert state.name == expected, state.message

    run("called directly", directly)
    run("through Prefect", lambda: flow("Completed"))
    run("again, all done", lambda: flow("NothingToDo"))
    return rows


def many(place: Path) -> list[tuple[object, ...]]:
    """Upkeep of many hives in one run, each bee with something to do, one of them with a slow summarizer."""
    root = place / "many"
    first = hive(root / "first", *(f"bee{n}" for n in range(BEES)))
    copies(first, root, HIVES - 1)
    bees = root / "0000" / "bees"
    bees.mkdir(exist_ok=True)
    (bees / "bee0.toml").write_text('[horizon]\nresumeur = "ollama/qwen3"\n', "utf-8")
    before = from_here()
    with timed() as took:
        state = maintain_horizon(hives=[root], return_state=True)
    assert f"{HIVES * BEES} done" in state.message, state.message
    per_bee = 1e3 * took.wall / (HIVES * BEES)
    return [(f"{HIVES} × {BEES}", f"{took.wall:.0f}", f"{per_bee:.0f}", f"{before:.0f}", f"{peak() - before:.0f}")]


def growth(prefect: RealPrefect, place: Path) -> list[tuple[object, ...]]:
    """What Prefect's database grows by, by run and by day of the deployed schedules."""
    folder = prefect.place / "prefect"

    def size() -> int:
        time.sleep(5)  # what is recorded late
        return sum(path.stat().st_size for path in folder.glob("prefect.db*"))

    def grown(runs: int, work) -> float:
        before = size()
        for _ in range(runs):
            work()
        return (size() - before) / runs / 1e3

    home = homes.home(place / "grow" / "maison")
    days = iter(homes.yesterday() - timedelta(days=n) for n in range(SAMPLE))

    def night() -> None:
        homes.live(home, next(days))
        nightly_consolidation(homes=[home], return_state=True)

    hive(place / "grow" / "ruche", "mia", exchanges=2)
    upkeep = grown(SAMPLE, lambda: maintain_horizon(hives=[place / "grow"], return_state=True))
    repair = grown(SAMPLE, lambda: repair_degraded(homes=[home], return_state=True))
    one = grown(SAMPLE, night)
    total = UPKEEP * upkeep + REPAIR * repair + one
    return [
        ("upkeep, all bees idle", UPKEEP, f"{upkeep:.0f}"),
        ("repair, nothing owed", REPAIR, f"{repair:.0f}"),
        ("a night with one day to take", 1, f"{one:.0f}"),
        ("a day of all three", "", f"{total:.0f}"),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--long", action="store_true", help="also a year's backfill and 1 000 hives: ten minutes more")
    asked = parser.parse_args()
    logging.disable(logging.ERROR)
    with tempfile.TemporaryDirectory() as folder, OllamaServer() as ollama:
        place = Path(folder)
        os.environ["OLLAMA_HOST"] = ollama.host
        with RealPrefect(place) as prefect, temporary_settings({PREFECT_API_URL: prefect.url}):
            print(f"A night of {HOMES} homes, ms a home:\n")
            table(("", "wall", "CPU"), nights(place))
            print(f"Upkeep of {IDLE} idle bees:\n")
            table(("", "seconds in all", "CPU ms a bee"), idle(place))
            print("What Prefect's database grows by:\n")
            table(("", "runs a day", "KB a run"), growth(prefect, place))
            if asked.long:
                print(f"A backfill of {YEAR} days:\n")
                table(("", "seconds", "ms a day", "memory added at most, MB"), year(place))
                print("Many hives in one run, one bee with a summarizer that takes 20 s:\n")
                ollama.answer(Behaviour(text=reply_to, delay=SLOW))
                table(("hives × bees", "seconds", "ms a bee", "memory before, MB", "added at most, MB"), many(place))


if __name__ == "__main__":
    main()
