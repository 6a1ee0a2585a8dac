"""Nothing of a memory's text in Prefect's database, by runs that fail in every way that a text could slip out of.

What runs well is looked at where the server ends: `conftest` searches its database after all tests that used it.
"""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing

import pytest

from tests.flows import homes
from tests.flows.hives import ANSWERS, hive
from tests.flows.spoken import quoted
from tests.ollama_behaviour import Behaviour

pytestmark = pytest.mark.engine

SAID = " ".join(homes.SAID[0])
JUNK = '{"question": "' + SAID + "\n"
"""A line that breaks off, as a program that died leaves it."""
FAILURES = (
    Behaviour(status=500, error=SAID),
    Behaviour(text=SAID),
    Behaviour(raw=SAID.encode()),
    Behaviour(mid_error=SAID),
)
"""Ways in which a server may give back what it was sent."""


def test_a_text_in_a_database_is_found(tmp_path):
    with closing(sqlite3.connect(tmp_path / "some.db", isolation_level=None)) as database:
        database.execute("CREATE TABLE log (message TEXT)")
        assert not quoted(tmp_path)
        database.execute("INSERT INTO log VALUES (?)", (json.dumps({"message": f"failed on: {SAID}"}),))
        assert "quand dois je rendre le" in quoted(tmp_path)


def damaged(place):
    """Return homes and hives that are broken, each in a way of its own, with memory text in what is broken."""
    day = homes.yesterday()
    found = [homes.home(place / name, day) for name in ("ledger", "facts", "traces", "settings")]
    (place / "ledger" / "consolidation.jsonl").write_text(
        JUNK + "[1]\n" + json.dumps({"evenement": SAID}) + "\n", "utf-8"
    )
    (place / "facts" / "memory_facts.jsonl").write_text(
        JUNK + json.dumps({"text": SAID, "created_at": SAID}) + "\n", "utf-8"
    )
    with closing(sqlite3.connect(place / "traces" / "traces.db")) as database, database:
        database.execute("UPDATE traces SET started_at = ?, metadata = ?, messages = ?", (SAID, SAID, SAID))
    (place / "settings" / "horizon.toml").write_text(
        f'[consolidation]\nfuseau = "{SAID}"\nresumeur = {SAID}\n', "utf-8"
    )
    for name, file in (
        ("integral", "mia-messages.jsonl"),
        ("events", "mia-horizon.jsonl"),
        ("flags", "mia-phares.jsonl"),
    ):
        folder = hive(place / name, "mia", "zoe", summarizer="ollama/qwen3")
        with (folder / "window" / file).open("a", encoding="utf-8") as journal:
            journal.write(JUNK + json.dumps({"id": ANSWERS[0], "quand": SAID, "evenement": SAID}) + "\n")
        found.append(folder)
    return [str(folder) for folder in found]


def test_no_failure_takes_a_text_into_prefects_database(prefect, summarizer, tmp_path):
    folders = damaged(tmp_path)
    first = {"first": str(homes.yesterday()), "last": str(homes.yesterday())}
    summarizer.then(*(FAILURES * 200))

    ids = [
        prefect.trigger("nightly-consolidation", homes=folders),
        prefect.trigger("maintain-horizon", hives=folders[4:]),
        prefect.trigger("backfill-consolidation", home=folders[2], days=first, force=True),
        prefect.trigger("backfill-consolidation", home=folders[4], days=first, force=True),
        prefect.trigger("rebuild-horizon", hive=folders[5], how="fresh"),
    ]
    ended = [prefect.ended(id_) for id_ in ids]
    ended.append(prefect.run("repair-degraded", homes=folders))

    assert "FAILED" in {run["state_type"] for run in ended}, [run["state"] for run in ended]
    assert not quoted(prefect.place / "prefect")
    summarizer.switch("deterministic")
