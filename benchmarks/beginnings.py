"""How much of a view is the same from one turn to the next, and what that costs: `python -m benchmarks.beginnings`.

500 real exchanges (the conversations of the demonstration), with upkeep and a read after each. A local model takes the
unchanged beginning of a prompt from its cache and reads the rest again. Beside it, in the same run: the last exchanges
that fit the same number of characters, the oldest dropped at each turn. By the low-water marks: calls of a model per 100
exchanges (the test model answers), and the share of turns after which the text above the sharp zone has changed.
"""

from __future__ import annotations

import tempfile
from collections import deque
from datetime import UTC, timedelta
from pathlib import Path
from unittest import mock

from horizon.adapters.clock import zone_called
from horizon.adapters.journal_jsonl import JournalStore
from horizon.cascade import Cascade
from horizon.cli import sample
from horizon.core import eviction
from horizon.maintenance import Maintenance
from horizon.memory import Bee, view_options
from horizon.settings import HorizonSettings, Resolved
from horizon.testing import FixedClock, ScriptedModel
from tests.deterministic_model import reply_to

EXCHANGES = 500
MARKS = ((0.8, 0.5), (0.9, 0.8), (1.0, 1.0), (0.5, 0.5))
"""Low-water marks of the sharp and the condensed zone; the first are the product's."""


class Settings:
    def __init__(self, setting):
        self.setting = setting

    def stamp(self):
        return 0

    def resolved(self):
        return Resolved(settings=self.setting, origins={}, problems=())

    def keep_good(self):
        """There is no settings file."""


def exchanges():
    turns = sorted(turn for _, turn in sample._conversations())  # noqa: SLF001 - the one reader of the sample's data
    assert len(turns) >= EXCHANGES, f"only {len(turns)} exchanges"
    return turns[:EXCHANGES]


def same(before, after):
    """Return how many characters both begin with."""
    at = 0
    while at < min(len(before), len(after)) and before[at] == after[at]:
        at += 1
    return at


def live(folder, marks):
    """Return the share reused, that of the window of the same size, calls per 100, and how often the top changed."""
    setting = HorizonSettings(actif=True, modele="ollama/test", langue="en", age_net_heures=1_000)
    clock = FixedClock()
    store = JournalStore(folder, "mia", clock)
    bee = Bee("mia", store, Settings(setting), clock, zone_called)
    model = ScriptedModel(
        then=lambda asked: reply_to({"messages": [{"role": "user", "content": asked.prompt}], "format": asked.schema})
    )
    reused = total = changed = window_reused = window_total = 0
    text = top = window_text = ""
    window: deque[str] = deque()
    with (
        mock.patch.object(eviction, "SHARP_LOW_WATER", marks[0]),
        mock.patch.object(eviction, "CONDENSED_LOW_WATER", marks[1]),
    ):
        for _, question, answer in exchanges():
            clock.advance(timedelta(minutes=7))
            bee.append(question, answer)
            Maintenance(
                hive=str(folder),
                bee="mia",
                store=store,
                settings=setting,
                options=view_options(setting, UTC),
                cascade=Cascade(model, clock),
                clock=clock,
            ).maintain()
            view = bee.read()
            above = "".join(part.text for part in view.receipt if part.zone != "nette")
            changed += above != top
            reused += same(text, view.text)
            total += view.chars
            text, top = view.text, above
            window.append(f"User: {question}\nAssistant: {answer}\n\n")
            while sum(map(len, window)) > setting.budget:
                window.popleft()
            slid = "".join(window)
            window_reused += same(window_text, slid)
            window_total += len(slid)
            window_text = slid
    return (
        reused / total,
        window_reused / window_total,
        100 * len(model.requests) / EXCHANGES,
        changed / EXCHANGES,
    )


def main() -> None:
    print("| low-water marks (sharp, condensed) | reused | reused by a sliding window | calls per 100 | top changed |")
    print("|---|---|---|---|---|")
    for marks in MARKS:
        with tempfile.TemporaryDirectory() as folder:
            share, window, calls, changed = live(Path(folder) / "ruche", marks)
        print(f"| {marks[0]}, {marks[1]} | {share:.0%} | {window:.0%} | {calls:.1f} | {changed:.1%} of turns |")


if __name__ == "__main__":
    main()
