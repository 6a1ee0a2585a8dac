"""`horizon demo`: the main job on sample data in a temporary hive, with what to look at next (spec 5-interface).

The flows run here, in this process, on Prefect's own ephemeral server; the keeper's Prefect is not touched.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import sys
import tempfile
import time
from collections import Counter
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from rich.columns import Columns
from rich.markdown import Markdown
from rich.panel import Panel
from rich.text import Text

from horizon import wiring
from horizon.adapters.ollama_model import OllamaModel
from horizon.cli import sample, tables
from horizon.cli.calendar import legend, months
from horizon.cli.gauges import gauges
from horizon.cli.output import DONE, NEEDS_A_LOOK, one_line, shown
from horizon.core.event import TRUNCATION, VERBATIM
from horizon.core.receipt import HORIZON
from horizon.core.render import NOTICE

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Generator

    from rich.console import Console

    from horizon.cli.output import Output
    from horizon.consolidation import Night
    from horizon.core.receipt import View

ENGINE: Final = {
    "PREFECT_SERVER_EPHEMERAL_ENABLED": "true",
    "PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS": "180",
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    "PREFECT_LOGGING_LEVEL": "CRITICAL",
    "PREFECT_LOGGING_TO_API_ENABLED": "false",
    "DO_NOT_TRACK": "1",
}
"""Prefect's settings for the demonstration. The ephemeral server takes 15 to 45 s to start on a busy laptop."""
BROKEN: Final = ("Failed", "Crashed", "SourceMissing")
"""Names of the states in which a flow of the demonstration did not do its work at all."""
ENDS: Final = 12
"""Lines shown of a view's beginning, and of its end."""
AROUND: Final = 8
"""Lines shown before and after the notice, where the condensed past ends and the sharp one begins."""
FACTS: Final = 12
"""Facts shown, the newest first."""


def demo(args: Namespace, out: Output) -> int:
    """Fill a hive, run the flows over it, and show what came of it; the folder is kept and named."""
    del args
    screen = tables.console(stderr=out.json)
    folder = Path(tempfile.mkdtemp(prefix="horizon-demo-"))
    _set_engine(folder)
    model = _model()
    screen.print(
        Text(f"Summarizer: {model}" if model else "No Ollama with a model answers: everything is made by truncation."),
        style="bold",
    )
    with _step(screen, "filling a hive with two bees and a host's traces.db"):
        made = sample.make(folder, model=model)
    for where, count in made.counts.items():
        screen.print(f"  {where}: {count} exchanges")
    states = _run_flows(screen, made)
    hive = made.hive
    found = _nights(hive)
    views = {name: wiring.open_hive(hive).bee(name).read() for name in wiring.bees(hive)}
    commands = _next_commands(hive)
    out.result(
        {
            "hive": str(hive),
            "exchanges": made.counts,
            "summarizer": model or TRUNCATION,
            "flows": states,
            "bees": {name: view.gauge.to_json() for name, view in views.items()},
            "nights": [night.to_json() for night in found],
            "next": commands,
        },
        lambda: _show(screen, hive, views, found, commands),
    )
    return NEEDS_A_LOOK if any(state.startswith(BROKEN) for state in states.values()) else DONE


def _model() -> str:
    """Return the smallest model that a local Ollama can chat with, as "ollama/<name>"; empty where there is none."""
    return next((name for name in OllamaModel().models() if "embed" not in name), "")


def _set_engine(folder: Path) -> None:
    """Point Prefect, not loaded yet, to a place of its own."""
    for name in [name for name in os.environ if name.startswith("PREFECT_")]:
        del os.environ[name]
    os.environ.update(ENGINE, PREFECT_HOME=str(folder / "prefect"))


def _run_flows(screen: Console, made: sample.Sample) -> dict[str, str]:
    """Run the three flows over the hive; return the state that each ended in, with its message."""
    with _step(screen, "starting Prefect's own server in this process"):
        from flows.backfill_consolidation import (  # noqa: PLC0415 - Prefect reads its settings when it is loaded
            backfill_consolidation,
        )
        from flows.maintain_horizon import maintain_horizon  # noqa: PLC0415 - as above
        from flows.nightly_consolidation import nightly_consolidation  # noqa: PLC0415 - as above
        from flows.parameters import Days  # noqa: PLC0415 - as above

    past = Days(first=sample.FIRST_DAY, last=sample.LAST_DAY)
    states: dict[str, str] = {}
    with _step(screen, "maintain-horizon: what is over budget or old is condensed, then melts"):
        ended = maintain_horizon([made.hive], return_state=True)
        states["maintain-horizon"] = f"{ended.name}: {ended.message}"
    with _step(screen, f"backfill-consolidation: {past.first} to {past.last}"):
        ended = backfill_consolidation(made.hive, past, return_state=True)
        states["backfill-consolidation"] = f"{ended.name}: {ended.message}"
    with _step(screen, "nightly-consolidation: yesterday"):
        ended = nightly_consolidation([made.hive], return_state=True)
        states["nightly-consolidation"] = f"{ended.name}: {ended.message}"
    for name, state in states.items():
        screen.print(f"  {name} ended {state}")
    return states


@contextmanager
def _step(screen: Console, what: str) -> Generator[None]:
    begun = time.monotonic()
    with screen.status(what):
        yield
    screen.print(Text(f"✓ {what} ({time.monotonic() - begun:.1f} s)"))


def _nights(hive: Path) -> tuple[Night, ...]:
    home = wiring.open_home(hive)
    return (*home.nights(sample.FIRST_DAY, sample.LAST_DAY), *home.nights(home.yesterday(), home.yesterday()))


def _show(
    screen: Console, hive: Path, views: dict[str, View], found: tuple[Night, ...], commands: dict[str, str]
) -> None:
    screen.rule("The zones of each bee, in characters as injected")
    screen.print(gauges({name: view.gauge for name, view in views.items()}))
    screen.rule("What mia reads before her next turn")
    screen.print(Panel(Text(_excerpt(views["mia"].text)), title="mia", title_align="left"))
    screen.rule("The nights")
    screen.print(Columns(months({night.day: night.state for night in found}), padding=(0, 4)))
    screen.print(legend())
    screen.rule("Facts, newest first")
    facts = _facts(hive)
    for fact in facts[:FACTS]:
        screen.print(Text(f"• {one_line(fact, most=160)}"))
    if not facts:
        screen.print("none: facts need a model, save those that the keeper asks to be remembered")
    screen.rule("The day journal, its last section")
    journal = (hive / "journal.md").read_text("utf-8")
    screen.print(Markdown("## " + shown(journal.rsplit("\n## ", 1)[-1])))
    screen.rule("Who wrote what")
    for name, view in views.items():
        parts = Counter(part.by for part in view.receipt if part.by != HORIZON)
        screen.print(f"{name}: " + ", ".join(f"{count} parts {_author(by)}" for by, count in parts.most_common()))
    by = Counter(night.by or "nobody" for night in found)
    screen.print("nights: " + ", ".join(f"{count} by {_author(name)}" for name, count in by.most_common()))
    screen.rule("Everything is kept in")
    screen.print(Text(str(hive)), soft_wrap=True)
    screen.print("\nTry next:")
    for command, what in commands.items():
        screen.print(Text(f"\n  # {what}\n  {command}"), soft_wrap=True)


def _facts(hive: Path) -> list[str]:
    """Return the texts of the facts journal, the newest first."""
    try:
        lines = (hive / "memory_facts.jsonl").read_bytes().split(b"\n")
    except FileNotFoundError:
        return []
    return [json.loads(line)["text"] for line in reversed(lines) if line]


def _author(by: str) -> str:
    return {VERBATIM: "word for word", TRUNCATION: "truncation, no model"}.get(by, by)


def _excerpt(text: str) -> str:
    """Return a view's beginning, what stands around its notice, and its end; what is left out between is counted."""
    lines = shown(text).splitlines()
    notice = next((at for at, line in enumerate(lines) if line == NOTICE), len(lines))
    wanted = {
        *range(ENDS),
        *range(notice - AROUND, notice + AROUND + 1),
        *range(len(lines) - ENDS, len(lines)),
    }
    told: list[str] = []
    left = 0
    for at, line in enumerate(lines):
        if at not in wanted:
            left += 1
            continue
        if left:
            told.append(f"\n      … {left} lines …\n")
            left = 0
        told.append(line)
    return "\n".join(told)


def _next_commands(hive: Path) -> dict[str, str]:
    """Return three commands that work as they stand, and what each is for."""
    horizon = Path(sys.executable).with_name("horizon")
    on_path = shutil.which("horizon")
    program = "horizon" if on_path and Path(on_path).samefile(horizon) else shlex.quote(str(horizon))
    place = shlex.quote(str(hive))
    return {
        f"{program} read {place} mia --receipt": "where each part of the view comes from",
        f"{program} nights {place} --from {sample.FIRST_DAY} --to {sample.LAST_DAY}": "the ledger of the nights",
        f'{program} recall {place} "varroa"': "find again: facts, days and exchanges",
    }
