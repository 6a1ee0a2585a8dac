"""Our own time in nights, the summarizer instant: `python -m benchmarks.nights`.

Adding one night's facts to shared files of 100 and of 10 000 facts; and a backfill of 365 busy days, by part of the
work and by quarter, so that growth would show.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import time
import zoneinfo
from collections import defaultdict
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from benchmarks import make_traces
from benchmarks.measure import by_turns, met, milliseconds, place, progress, table
from horizon.adapters.day_journal import DayJournal
from horizon.adapters.facts_index import FactsIndex
from horizon.adapters.facts_jsonl import FactsJournal
from horizon.adapters.facts_seen import FILE_NAME as SEEN_FILE
from horizon.adapters.files import replace_file
from horizon.adapters.ledger import LedgerFile
from horizon.adapters.scans import survey
from horizon.adapters.traces_sqlite import Traces
from horizon.cascade import Cascade
from horizon.consolidation import Consolidation
from horizon.core.fact import Fact, Trust, near_key, one_line
from horizon.settings import ConsolidationSettings
from horizon.testing import FixedClock, ScriptedModel

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from horizon.ports import ModelRequest

PER_NIGHT = 12
"""Facts of one night: the most that are asked for by default."""
DAYS = 365
QUARTER = 91


def facts_of(night: int) -> list[Fact]:
    texts = make_traces.Texts(100)
    day = make_traces.FIRST + timedelta(days=night)
    at = datetime.combine(day, datetime.min.time(), UTC)
    return [
        Fact(text=f"{one_line(texts.text(60, 140))} [{night}, {number}]", day=day, at=at, trust=Trust.AUTO, cites=(f"traces.db#{number}",))
        for number in range(PER_NIGHT)
    ]  # fmt: skip


class Home:
    """A home with a shared file of so many facts, as the last night left it: what it held has been seen."""

    def __init__(self, folder: Path, count: int) -> None:
        folder.mkdir()
        self.shared = folder / "memory_facts.jsonl"
        self.seen = folder / SEEN_FILE
        make_traces.facts(self.shared, count=count)
        with FactsJournal(self.shared).session():
            pass
        self.ready = {path: path.read_bytes() for path in (self.shared, self.seen)}
        self.found = facts_of(1)

    def add(self) -> None:
        with FactsJournal(self.shared).session() as shared:
            shared.add(self.found)

    def rewrite(self) -> None:
        replace_file(self.shared, self.shared.read_bytes())

    def cost(self) -> float:
        """Return the CPU seconds of adding, less those of rewriting the file once."""
        for path, data in self.ready.items():
            path.write_bytes(data)
        os.utime(self.shared, (1, 1))
        with FactsJournal(self.shared).session():
            pass  # as after the last night: it has rested and is known
        near_key.cache_clear()
        start = time.process_time()
        self.add()
        added = time.process_time()
        self.rewrite()
        return 2 * added - start - time.process_time()

    def first(self) -> float:
        """Return the CPU seconds of seeing the whole file for the first time."""
        self.seen.unlink()
        near_key.cache_clear()
        start = time.process_time()
        with FactsJournal(self.shared).session():
            return time.process_time() - start


def adding(folder: Path, times: int) -> list[list[object]]:
    small, large = Home(folder / "small", 100), Home(folder / "large", 10_000)
    least, most = by_turns(small.cost, large.cost, times=times, clock=lambda run: run())
    return [
        [f"{PER_NIGHT} facts to 10 000, beyond rewriting the file once", milliseconds(most), f"to 100: {milliseconds(least)}", f"{most / least:.2f} ×", "≤ 1.3 ×", met(most / least, 1.3)],
        ["10 000 facts seen for the first time, once", milliseconds(large.first()), "–", "–", "–", "–"],
    ]  # fmt: skip


class Timed:
    """Counts the CPU time spent in a part of the world, by name; what it gives lazily too."""

    def __init__(self, thing: Any, part: str, spent: dict[str, float]) -> None:
        self._thing, self._part, self._spent = thing, part, spent

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._thing, name)
        return self._timed(found, name) if callable(found) else found

    def _timed(self, call: Any, name: str) -> Any:
        def timed(*values: Any, **named: Any) -> Any:
            if name in {"session", "exclusive"}:
                return self._session(call)
            start = time.process_time()
            found = call(*values, **named)
            if name == "between":
                found = iter(list(found))
            self._spent[self._part] += time.process_time() - start
            return found

        return timed

    @contextmanager
    def _session(self, call: Any) -> Iterator[Any]:
        start = time.process_time()
        with call() as found:
            self._spent[self._part] += time.process_time() - start
            yield None if found is None else Timed(found, self._part, self._spent)


def instant(request: ModelRequest) -> str:
    """Reply at once with what stands in the exchanges: for each the beginning of its question, word for word."""
    told = re.findall(r"\[(\d+)\]\n(?:Lui|Them|They) : (.+)", request.prompt)
    facts = [
        {"fait": " ".join(said.split()[:14]), "echanges": [int(number)], "citation": " ".join(said.split()[:8])}
        for number, said in told
        if len(said.split()) >= 14
    ]
    return json.dumps(
        {"faits": facts[:3], "resume": "Une journée chargée, entre les ruches et les serveurs."}, ensure_ascii=False
    )


def backfill(folder: Path, days: int, per_day: int) -> None:
    home = folder / "home"
    home.mkdir()
    progress(f"making {days} days of {per_day} traces")
    make_traces.traces(home / "traces.db", days=days, per_day=per_day)
    spent: defaultdict[str, float] = defaultdict(float)
    clock = FixedClock(datetime.combine(make_traces.FIRST, datetime.min.time(), UTC))
    model = ScriptedModel(then=instant)
    night = Consolidation(
        name="home",
        sources=[Timed(Traces(home / "traces.db", side=home / "side.db"), "collecting", spent)],
        facts=Timed(FactsJournal(home / "memory_facts.jsonl"), "facts journal", spent),
        index=Timed(FactsIndex(home / "memory.db"), "index", spent),
        journal=Timed(DayJournal(home / "journal.md"), "day journal", spent),
        ledger=Timed(LedgerFile(home / "consolidation.jsonl"), "ledger", spent),
        cascade=lambda: Cascade(model, clock),
        survey=survey,
        clock=clock,
        settings=ConsolidationSettings(resumeur="ollama/qwen3"),
        zone=zoneinfo.ZoneInfo("Europe/Paris"),
    )
    rows: list[list[object]] = []
    parts = ("collecting", "ledger", "facts journal", "day journal", "index")
    quarters: list[float] = []
    step = min(QUARTER, max(days // 4, 1))
    for first in range(0, days, step):
        last = min(first + step, days)
        if last - first < step // 2:
            break
        spent.clear()
        model.requests.clear()
        read = new = 0
        start = time.process_time()
        for number in range(first, last):
            # each in its own night: of a full facts file only a share a day may be pushed out
            night.clock = FixedClock(clock.now() + timedelta(days=number + 2))
            report = night.consolidate(make_traces.FIRST + timedelta(days=number))
            read, new = read + report.read, new + report.new
        total = (time.process_time() - start) / (last - first)
        each = [spent[part] / (last - first) for part in parts]
        quarters.append(total)
        rows.append(
            [f"{first + 1}–{last}", f"{read / (last - first):.0f}", f"{new / (last - first):.1f}", *map(milliseconds, each),
             milliseconds(total - sum(each)), f"**{milliseconds(total)}**"]
        )  # fmt: skip
    table(["days", "exchanges a day", "facts a day", *parts, "prompts, judging, evidence", "a day"], rows)
    growth = quarters[-1] / quarters[0]
    table(
        ["a backfill of busy days", "measured", "target", "met"],
        [["the last quarter's day against the first's", f"{growth:.2f} ×", "no growth", met(growth, 1.1)]],
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--days", type=int, default=DAYS)
    parser.add_argument("--per-day", type=int, default=30)
    parser.add_argument("--times", type=int, default=15)
    asked = parser.parse_args()
    with place(None) as folder:
        table(["adding one night's facts", "CPU", "against", "ratio", "target", "met"], adding(folder, asked.times))
        backfill(folder, asked.days, asked.per_day)


if __name__ == "__main__":
    main()
