"""What the settings' files get wrong is told by each command that uses them, and the last good layer holds meanwhile."""

from __future__ import annotations

import json
from datetime import date

import pytest

from horizon import wiring
from tasks.consolidate import consolidate_day

DAY = "2026-07-10"
SPAN = ("--from", DAY, "--to", DAY)
GOOD = (
    '[horizon]\nactif = true\nbudget_net = 5000\n[consolidation]\nmodele = "ollama/qwen3"\nfuseau = "Asia/Kathmandu"\n'
)
BROKEN = GOOD.replace('qwen3"', "qwen3")
MISTYPED = '[horizon]\nactif = true\nbudget_nett = 5000\n[consolidation]\nmodel = "ollama/qwen3"\n'
OF_THE_HOME = [
    ("consolidate", "--day", DAY),
    ("consolidate", "--day", DAY, "--dry-run"),
    ("backfill", *SPAN),
    ("backfill", *SPAN, "--dry-run"),
    ("nights", *SPAN),
    ("recall", "Paul"),
    ("repair",),
]
OF_THE_BEE = [
    ("maintain",),
    ("maintain", "--dry-run"),
    ("rebuild", "mia"),
    ("repair",),
    ("read", "mia"),
    ("settings", "mia"),
]


@pytest.fixture(autouse=True)
def no_model(monkeypatch):
    monkeypatch.setenv("OLLAMA_HOST", "127.0.0.1:9")


@pytest.fixture
def lived(run, hive):
    (hive / "horizon.toml").write_text(GOOD, "utf-8")
    for number in range(5):
        at = f"{DAY}T1{number}:00:00+02:00"
        assert run("append", hive, "mia", "--question", f"question {number}", "--answer", "Paul", "--at", at) == 0
    return hive


def files_of(folder):
    """Return the bytes of what is kept; the days' index and locks aside."""
    kept = (path for path in folder.rglob("*") if path.is_file() and not path.name.startswith("."))
    return {path: path.read_bytes() for path in kept}


@pytest.mark.parametrize("words", OF_THE_HOME + OF_THE_BEE, ids=" ".join)
def test_a_file_that_does_not_parse_is_told_by_every_command_that_uses_it(run, lived, words):
    (lived / "horizon.toml").write_text(BROKEN, "utf-8")
    assert run(words[0], lived, *words[1:]) >= (words[0] != "read")
    assert run.err.count("settings: ") == 1
    assert f"{lived / 'horizon.toml'}, line 5: does not parse" in run.err
    assert run(words[0], lived, *words[1:], "--json") >= (words[0] != "read")
    (told,) = run.json["problems"]
    assert f"settings: {told}\n" in run.err


@pytest.mark.parametrize(
    ("words", "key"),
    [(words, "modele") for words in OF_THE_HOME] + [(words, "budget_net") for words in OF_THE_BEE],
    ids=lambda value: value if isinstance(value, str) else " ".join(value),
)
def test_a_mistyped_key_is_told_by_every_command_that_uses_its_table(run, lived, words, key):
    (lived / "horizon.toml").write_text(MISTYPED, "utf-8")
    assert run(words[0], lived, *words[1:], "--json") >= (words[0] != "read")
    assert any(f'did you mean "{key}"?' in told for told in run.json["problems"])
    assert run.err.count("settings: ") == len(run.json["problems"])


@pytest.mark.parametrize("words", OF_THE_HOME + OF_THE_BEE, ids=" ".join)
def test_good_settings_are_no_matter_to_speak_of(run, lived, words):
    (lived / "horizon.toml").write_text("[horizon]\nactif = true\n", "utf-8")
    run(words[0], lived, *words[1:], "--json")
    assert "settings: " not in run.err
    assert run.json.get("problems", []) == []


def test_what_the_work_says_stays_the_status_where_it_is_more_than_a_look(run, lived):
    (lived / "horizon.toml").write_text(MISTYPED, "utf-8")
    assert run("settings", lived, "mia") == 2
    (lived / "horizon.toml").write_text(GOOD + 'sources = ["gone.db"]\nfait = 1\n', "utf-8")
    assert run("consolidate", lived, "--day", DAY) == 3


def test_a_homes_last_good_layer_holds_for_a_night_that_finds_the_file_broken(run, lived):
    (lived / "horizon.toml").write_text(BROKEN, "utf-8")
    home = wiring.open_home(lived)
    assert (home.settings.modele, str(home.zone)) == ("ollama/qwen3", "Asia/Kathmandu")
    assert run("consolidate", lived, "--day", DAY, "--json") == 1
    assert not run.json["chosen"]
    assert run("consolidate", lived, "--day", DAY) == 1
    assert "no summarizer" not in run.out


@pytest.mark.parametrize("words", [("consolidate", "--day", DAY), ("backfill", *SPAN), ("repair",)], ids=" ".join)
def test_a_home_without_bees_keeps_its_good_layer_too_and_becomes_no_hive_by_it(run, tmp_path, words):
    home = tmp_path / "openjarvis"
    home.mkdir()
    (home / "horizon.toml").write_text(GOOD, "utf-8")
    run(words[0], home, *words[1:])
    assert not (home / "window").exists()
    (home / "horizon.toml").write_text(BROKEN, "utf-8")
    assert wiring.open_home(home).settings.modele == "ollama/qwen3"


def test_the_note_of_a_pass_tells_it_too(lived):
    (lived / "horizon.toml").write_text(BROKEN, "utf-8")
    for report in (wiring.maintain(lived, "mia"), wiring.maintain(lived, "mia", dry_run=True)):
        assert any("does not parse" in note for note in report.notes)


def test_the_flows_outcome_of_a_day_tells_it_too(lived):
    assert consolidate_day.fn(lived, date.fromisoformat(DAY), dry_run=True).note == ""
    (lived / "horizon.toml").write_text(BROKEN, "utf-8")
    assert "line 5: does not parse" in consolidate_day.fn(lived, date.fromisoformat(DAY), dry_run=True).note


def test_five_appends_are_enough_for_a_read_that_finds_the_file_broken(run, lived):
    assert run("read", lived, "mia", "--json") == 0
    before = run.json
    (lived / "horizon.toml").write_text("[horizon\n", "utf-8")
    assert run("read", lived, "mia", "--json") == 0
    after = run.json
    assert after.pop("problems")
    assert after == before
    assert before["budget"] == 5_000 + 6_000 + 3_000
    assert before["text"].count("question ") == 5


def test_a_read_and_a_dry_run_write_nothing(run, lived):
    (lived / "window" / "settings.last-good.json").unlink()
    before = files_of(lived)
    for words in (
        ("read", "mia"),
        ("settings", "mia"),
        ("maintain", "--dry-run"),
        ("consolidate", "--day", DAY, "--dry-run"),
    ):
        run(words[0], lived, *words[1:])
    wiring.open_hive(lived).bee("mia").read()
    assert files_of(lived) == before


def test_a_horizon_that_was_switched_off_stays_so_when_the_file_breaks(run, lived):
    (lived / "horizon.toml").write_text("[horizon]\nactif = false\n", "utf-8")
    assert run("maintain", lived) == 0
    (lived / "horizon.toml").write_text("[horizon\n", "utf-8")
    assert not wiring.open_hive(lived).bee("mia").settings().settings.actif


def test_an_append_stands_where_the_last_good_values_cannot_be_written(run, lived):
    kept = lived / "window" / "settings.last-good.json"
    kept.unlink()
    kept.mkdir()
    (kept / "in the way").touch()
    assert run("append", lived, "mia", "--question", "q", "--answer", "a", "--json") == 0
    assert json.loads(run.out)["id"]
    assert not list(lived.glob("window/*.tmp"))
