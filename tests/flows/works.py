"""Runs to meet in the middle: a night, a backfill and an upkeep, each with how far it is and what it is to leave.

Each asks a model of its own name, that of its flow, so that the summarizer knows whom it keeps waiting.
"""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING
from unittest.mock import patch

from horizon import open_hive, wiring
from tests.flows import homes
from tests.flows.hives import hive

if TYPE_CHECKING:
    from pathlib import Path

    from tests.ollama_server import OllamaServer

PATIENCE = 600
"""Seconds for which a call may be kept waiting, longer than any test does."""
DAYS = 5
BEES = ("ada", "eva", "lou", "mia", "zoe")


@dataclass(frozen=True)
class Days:
    """A flow over the days of one home."""

    flow: str
    home: Path

    @property
    def parameters(self) -> dict[str, object]:
        if self.flow == "nightly-consolidation":
            return {"homes": [str(self.home)]}
        first = homes.yesterday() - timedelta(days=DAYS - 1)
        return {"home": str(self.home), "days": {"first": str(first), "last": str(homes.yesterday())}}

    def done(self) -> int:
        last = homes.yesterday()
        nights = wiring.open_home(self.home).nights(last - timedelta(days=DAYS - 1), last)
        return sum(1 for night in nights if night.state == "done")

    def whole(self) -> bool:
        return self.done() == DAYS

    def check(self) -> None:
        assert_each_day_once(self.home, DAYS)


@dataclass(frozen=True)
class Upkeep:
    """`maintain-horizon` over the bees of one hive; `calm` is a copy of it that was looked after without disturbance."""

    hive: Path
    calm: Path
    said: dict[str, bytes]
    flow: str = "maintain-horizon"

    @property
    def parameters(self) -> dict[str, object]:
        return {"hives": [str(self.hive)]}

    def done(self) -> int:
        return sum(1 for bee in BEES if not wiring.pending(self.hive, bee))

    def whole(self) -> bool:
        return self.done() == len(BEES)

    def check(self) -> None:
        assert self.whole()
        for bee in BEES:
            assert integral(self.hive, bee) == self.said[bee], "the integral journal is only appended to"
            assert open_hive(self.hive).bee(bee).read().text == open_hive(self.calm).bee(bee).read().text
        assert not any(wiring.degraded(self.hive, bee) for bee in BEES)


def night(place: Path) -> Days:
    return _days("nightly-consolidation", place)


def backfill(place: Path) -> Days:
    return _days("backfill-consolidation", place)


def _days(flow: str, place: Path) -> Days:
    days = (homes.yesterday() - timedelta(days=back) for back in range(DAYS))
    return Days(flow, homes.home(place / flow, *days, summarizer=f"ollama/{flow}", seconds=PATIENCE))


def upkeep(place: Path, summarizer: OllamaServer) -> Upkeep:
    folder = hive(place / "ruche", *BEES, summarizer="ollama/maintain-horizon", seconds=PATIENCE)
    calm = place / "calm"
    shutil.copytree(folder, calm)
    with patch.dict(os.environ, OLLAMA_HOST=summarizer.host):
        for bee in BEES:
            wiring.maintain(calm, bee)
    return Upkeep(folder, calm, {bee: integral(folder, bee) for bee in BEES})


def integral(folder: Path, bee: str) -> bytes:
    return (folder / "window" / f"{bee}-messages.jsonl").read_bytes()


def assert_each_day_once(home: Path, count: int) -> None:
    lines = (home / "journal.md").read_text("utf-8").split("\n")
    headings = [line for line in lines if line.startswith("## ")]
    assert headings == sorted(set(headings))
    assert len(headings) == count
    facts = (home / "memory_facts.jsonl").read_text("utf-8").splitlines()
    texts = [line.split('"source"')[0] for line in facts]
    assert len(texts) == len(set(texts)) > 0
