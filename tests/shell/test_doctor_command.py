"""`horizon doctor` names what keeps a bee, a source or a night from working, with the file and what to do."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
from contextlib import closing

import pytest

from horizon.core.fact import Trust
from horizon.core.night import Decision
from tests.night_home import DAY, add_trace, local, make_traces

SETTLED_WITH_A_FACT = {
    "evenement": "resultat",
    "jour": str(DAY),
    "quand": "2026-07-10T01:00:00+00:00",
    "etat": "done",
    "faits": [
        {
            "fait": "La ruche est au fond.",
            "jour": str(DAY),
            "quand": "2026-07-09T09:00:00+02:00",
            "confiance": str(Trust.AUTO),
            "echanges": ["traces.db#t0"],
            "sort": str(Decision.NEW),
        }
    ],
}
WRITTEN = {"evenement": "ecrit", "jour": str(DAY), "quand": "2026-07-10T01:00:01+00:00"}


@pytest.fixture(autouse=True)
def no_model(monkeypatch):
    monkeypatch.setenv("OLLAMA_HOST", "127.0.0.1:9")


@pytest.fixture
def home(run, hive):
    """A hive that is a home as well: a bee's journal, a `traces.db`, and one night that is done."""
    assert run("append", hive, "mia", "--question", "q", "--answer", "a", "--at", f"{DAY}T10:00:00+02:00") == 0
    path = hive / "traces.db"
    make_traces(path)
    add_trace(path, "Où est la ruche ?", "Au fond. " * 400, at=local(9), trace_id="t0")
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        database.executemany(
            "INSERT INTO traces (trace_id, query, result, started_at) VALUES (?, 'q', ?, ?)",
            [(f"t{number}", "word " * 60, local(9, 1)) for number in range(1, 900)],
        )
    assert run("doctor", hive) == 0, run.out
    return hive


def findings(run, path, *kinds):
    assert run("doctor", path, "--json") == 1
    assert all(each["message"] and each["remedy"] for each in run.json["findings"])
    return [each for each in run.json["findings"] if not kinds or each["kind"] in kinds]


def cut(path):
    os.truncate(path, path.stat().st_size // 2)


def torn_inside(path):
    with path.open("r+b") as file:
        file.seek(path.stat().st_size // 2 // 4096 * 4096)
        file.write(b"\xff" * 4096)


def folder(path):
    path.unlink()
    path.mkdir()


def without(what):
    def damage(path):
        path.unlink()
        with sqlite3.connect(path) as database:
            database.execute(
                "CREATE TABLE other (id)" if what == "table" else "CREATE TABLE traces (id, query, result)"
            )
        database.close()

    return damage


def dangling(path):
    path.unlink()
    path.symlink_to("/nowhere/at/all")


DAMAGES = {
    "cut": cut,
    "damaged inside": torn_inside,
    "garbage": lambda path: path.write_bytes(b"no database " * 1000),
    "empty": lambda path: path.write_bytes(b""),
    "a folder": folder,
    "without its table": without("table"),
    "without a column": without("column"),
    "a link to nothing": dangling,
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_source_that_cannot_be_read_is_named(run, home, damage):
    for beside in home.glob("traces.db-*"):
        beside.unlink()
    damage(home / "traces.db")
    (found,) = findings(run, home)
    assert (found["kind"], found["path"]) == ("source", str(home / "traces.db"))


def test_damage_inside_a_long_answer_is_met(run, tmp_path):
    path = tmp_path / "traces.db"
    make_traces(path, "id INTEGER PRIMARY KEY, trace_id, started_at, agent, model, query TEXT, result TEXT")
    add_trace(path, "q", "z" * 60_000, at=local(9), trace_id="t")
    with path.open("r+b") as file:
        middle = file.read().index(b"z" * 4092, 6 * 4096) // 4096 * 4096
        file.seek(middle)
        file.write(b"\xff" * 4096)
    (found,) = findings(run, tmp_path)
    assert (found["kind"], found["path"]) == ("source", str(path))


def test_a_host_s_folder_that_is_no_hive_is_looked_at_too(run, tmp_path):
    (tmp_path / "traces.db").write_bytes(b"junk")
    (found,) = findings(run, tmp_path)
    assert found["path"] == str(tmp_path / "traces.db")


def test_rows_that_are_in_no_day_are_counted_by_reason(run, tmp_path):
    make_traces(
        tmp_path / "traces.db",
        "id INTEGER PRIMARY KEY, trace_id TEXT, query TEXT, result TEXT, model, agent, started_at",
    )
    instants = [None, 0, -5.0, float("nan"), float("inf"), "soon", 1e30, local(9), "2026-07-09T10:00:00+02:00", None]
    for number, at in enumerate(instants):
        add_trace(tmp_path / "traces.db", f"q{number}", at=at)
    (found,) = findings(run, tmp_path)
    assert found["kind"] == "source"
    assert "8 rows" in found["message"]
    assert "1 0, 3 empty, 1 infinite, 1 negative, 1 text that is no date, 1 too late for any date" in found["message"]
    assert "(rows 1, 2, 3, 4, 5, …)" in found["message"]


def test_owed_days_are_named_with_their_reason_and_what_to_do(run, home):
    (home / "memory_facts.jsonl").mkdir()
    assert run("consolidate", home, "--day", DAY) == 1
    (found,) = findings(run, home, "night")
    assert found["path"] == str(home / "consolidation.jsonl")
    assert found["message"].startswith(f"{DAY} is owed: the facts journal could not be read")
    assert f"horizon repair {home}" in found["remedy"]
    assert f"horizon consolidate {home} --day {DAY} --force" in found["remedy"]


def test_a_day_whose_tries_are_used_up_waits_for_a_person(run, home):
    tried = {
        "evenement": "essai",
        "jour": str(DAY),
        "quand": "2026-07-10T01:00:00+00:00",
        "empreinte": "e",
        "resumeurs": [],
        "force": False,
    }
    (home / "consolidation.jsonl").write_text((json.dumps(tried) + "\n") * 5, "utf-8")
    (found,) = findings(run, home, "night")
    assert found["message"] == f"{DAY} is owed: its run was cut off, or is at work"
    assert found["remedy"] == f"its 5 tries are used up; horizon consolidate {home} --day {DAY} --force"


def test_a_ledger_s_line_that_cannot_be_read_is_named_with_its_place(run, home):
    (home / "consolidation.jsonl").write_bytes(b"\nnothing\n")
    (found,) = findings(run, home, "night")
    assert (found["path"], found["line"], found["offset"]) == (str(home / "consolidation.jsonl"), 2, 1)


@pytest.mark.parametrize("name", ["consolidation.jsonl", "journal.md", "memory.db"])
def test_a_folder_in_the_place_of_a_night_s_file_is_named(run, home, name):
    (home / name).mkdir()
    (found,) = findings(run, home, "night")
    assert found["path"] == str(home / name)


def test_a_search_index_that_is_no_database_is_named(run, home):
    (home / "memory.db").write_text("junk" * 500)
    (found,) = findings(run, home, "night")
    assert (found["path"], "not a database" in found["message"]) == (str(home / "memory.db"), True)


def test_facts_that_wait_for_the_search_index_are_counted(run, home):
    with (home / "consolidation.jsonl").open("w", encoding="utf-8") as file:
        file.write(json.dumps(SETTLED_WITH_A_FACT) + "\n" + json.dumps(WRITTEN) + "\n")
    (home / "memory.db").write_text("junk" * 500)
    (found,) = findings(run, home, "night")
    assert found["message"].endswith("; facts that wait for the search index: 1")
    (home / "memory.db").unlink()
    (found,) = findings(run, home, "night")
    assert found["message"] == "facts that wait for the search index: 1"
    assert f"horizon consolidate {home}" in found["remedy"]


def test_a_day_journal_that_is_gone_is_named(run, home):
    assert run("consolidate", home, "--day", DAY) == 0
    assert run("doctor", home) == 0
    (home / "journal.md").unlink()
    (found,) = findings(run, home)
    assert found["path"] == str(home / "journal.md")
    assert found["message"] == "it is gone, though the ledger knows of sections in it: 1"

    assert run("consolidate", home, "--day", DAY) == 0
    assert run("doctor", home) == 0


@pytest.mark.parametrize("leads_to", ["/nowhere/horizon.toml", "horizon.toml"], ids=["nothing", "itself"])
def test_a_settings_file_that_leads_to_nothing_is_named(run, home, leads_to):
    (home / "horizon.toml").unlink()
    (home / "horizon.toml").symlink_to(leads_to)
    (found,) = findings(run, home)
    assert (found["kind"], found["path"]) == ("settings", str(home / "horizon.toml"))


@pytest.mark.parametrize("name", ["mia-messages.jsonl", "mia-phares.jsonl", "mia-horizon.jsonl"])
@pytest.mark.parametrize("stands", ["a link to nothing", "a link to itself", "a folder"])
def test_a_bee_s_file_that_cannot_be_opened_is_named_and_never_taken_for_an_empty_one(run, home, name, stands):
    path = home / "window" / name
    path.unlink(missing_ok=True)
    if stands == "a folder":
        path.mkdir()
    else:
        path.symlink_to("/nowhere/at/all" if stands == "a link to nothing" else name)
    assert run("read", home, "mia") == 3
    found = findings(run, home, "journal")
    assert any(str(path) in each["message"] for each in found)


def test_a_file_in_the_place_of_the_window_is_named(run, home):
    shutil.rmtree(home / "window")
    (home / "window").write_text("")
    assert any(str(home / "window") in each["path"] for each in findings(run, home, "source"))


@pytest.mark.parametrize("name", ["mia-messages.jsonl", "mia-phares.jsonl", "mia-horizon.jsonl"])
def test_a_last_line_that_is_torn_is_named_with_its_place(run, home, name):
    path = home / "window" / name
    with path.open("ab") as file:
        file.write(b'{"question": "torn')
    path.chmod(0o600)
    before = path.read_bytes()
    (found,) = findings(run, home)
    assert (found["path"], found["line"]) == (str(path), before.count(b"\n") + 1)
    assert found["offset"] == len(before) - len(b'{"question": "torn')
    assert "torn" in found["message"]


def test_a_whole_last_record_without_its_newline_is_nothing_odd(run, home):
    path = home / "window" / "mia-messages.jsonl"
    path.write_bytes(path.read_bytes().rstrip(b"\n"))
    assert run("doctor", home) == 0


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be"])
@pytest.mark.parametrize("lines", [1, 3])
@pytest.mark.parametrize("end", ["", "\n"])
def test_a_journal_in_utf_16_is_named(run, home, encoding, lines, end):
    path = home / "window" / "mia-messages.jsonl"
    text = "\ufeff" * (encoding == "utf-16-be") + "\n".join(['{"question": "q", "reponse": "a"}'] * lines) + end
    path.write_bytes(text.encode(encoding))
    found = findings(run, home, "journal")
    assert found[0]["path"] == str(path)
    assert (found[0]["line"], found[0]["offset"]) == (1, 0)
    assert "UTF-16" in found[0]["message"]
