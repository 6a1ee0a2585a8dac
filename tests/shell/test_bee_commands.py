"""The commands on a bee: what they print for people and for programs, and how they end."""

from __future__ import annotations

import json

import pytest

from horizon import open_hive
from horizon.cli import main


def add(run, hive, question, answer, *more):
    assert run("append", hive, "mia", "--question", question, "--answer", answer, "--json", *more) == 0
    return run.json["id"]


def test_init_makes_a_hive_switched_on_and_leaves_what_is_there(run, tmp_path):
    path = tmp_path / "ruche"

    assert run("init", path, "--bee", "mia", "--bee", "noé", "--json") == 0
    assert run.json["made"]
    assert open_hive(path).bees() == ("mia", "noé")
    assert open_hive(path).bee("mia").settings().settings.actif
    assert open_hive(path).bee("mia").settings().problems == ()

    toml = path / "horizon.toml"
    toml.write_text(toml.read_text("utf-8") + "# mine\n", "utf-8")
    before = {file: file.read_bytes() for file in path.rglob("*") if file.is_file()}
    assert run("init", path, "--bee", "mia", "--json") == 0
    assert run.json["made"] == []
    assert {file: file.read_bytes() for file in path.rglob("*") if file.is_file()} == before


def test_what_is_appended_is_what_is_read(run, hive):
    id_ = add(run, hive, "compose the page", "done: 4 sections", "--tool", "editor", "--kind", "outil")

    assert run("read", hive, "mia") == 0
    assert "compose the page" in run.out
    assert "done: 4 sections" in run.out
    assert run.out == open_hive(hive).bee("mia").read().text
    exchange = open_hive(hive).bee("mia").exchange(id_)
    assert (exchange.kind, exchange.tool) == ("outil", "editor")


def test_append_reads_standard_input_and_drops_the_line_break_that_echo_adds(run, hive):
    assert run("append", hive, "mia", "--question", "log?", "--answer", "-", stdin="deux\nlignes é\n".encode()) == 0

    exchange = open_hive(hive).bee("mia").exchange(run.out.strip())
    assert exchange.answer == "deux\nlignes é"


def test_append_survives_bytes_that_are_no_text(run, hive):
    assert run("append", hive, "mia", "--question", "b?", "--answer", "-", stdin=b"\xff\xfe ok") == 0
    assert "ok" in open_hive(hive).bee("mia").exchange(run.out.strip()).answer


def test_append_cannot_read_both_from_one_standard_input(run, hive):
    assert run("append", hive, "mia", "--question", "-", "--answer", "-") == 2
    assert "standard input" in run.err


def test_append_takes_the_instant_it_is_given(run, hive):
    id_ = add(run, hive, "q", "a", "--at", "2026-07-10T14:03:22+02:00")

    assert open_hive(hive).bee("mia").exchange(id_).at.isoformat() == "2026-07-10T12:03:22+00:00"


def test_read_as_json_carries_the_whole_contract(run, hive):
    id_ = add(run, hive, "où ?", "ici")

    assert run("read", hive, "mia", "--json") == 0
    document = run.json
    assert set(document) >= {"text", "chars", "budget", "gauge", "cuts", "receipt"}
    assert document["chars"] == len(document["text"]) == sum(part["chars"] for part in document["receipt"])
    assert id_ in {id_ for part in document["receipt"] for id_ in part["ids"]}
    assert document["budget"] == 21_000


def test_read_shows_a_receipt_as_a_table(run, hive):
    id_ = add(run, hive, "où ? [bold]pas de balise[/bold]", "ici")

    assert run("read", hive, "mia", "--receipt") == 0
    assert id_ in run.out
    assert "question" in run.out


def test_read_under_other_settings_writes_nothing(run, hive):
    add(run, hive, "long", "mot " * 2_000)
    before = {file: file.read_bytes() for file in hive.rglob("*") if file.is_file()}

    assert run("read", hive, "mia", "--with", "budget_net=500", "--with", "budget_condense=0", "--json") == 0
    assert run.json["budget"] == 500 + 0 + 3_000
    assert run.json["chars"] <= 3_500
    assert {file: file.read_bytes() for file in hive.rglob("*") if file.is_file()} == before


@pytest.mark.parametrize(
    ("pair", "told"),
    [("budget_net=-4", "0 to"), ("budget_nett=400", "budget_net"), ("budget_net", "KEY=VALUE"), ("langue=de", "fr")],
)
def test_read_refuses_settings_that_cannot_be(run, hive, pair, told):
    add(run, hive, "q", "a")
    assert run("read", hive, "mia", "--with", pair) == 2
    assert told in run.err


def test_a_broken_settings_file_is_told_and_never_breaks_a_read(run, hive):
    add(run, hive, "où ?", "ici")
    (hive / "bees" / "mia.toml").write_text("[horizon]\nbudget_net = -1\nactif = true\n", "utf-8")

    assert run("read", hive, "mia") == 0
    assert "où ?" in run.out
    assert "mia.toml, line 2" in run.err
    assert run("settings", hive, "mia") == 2
    assert "budget_net" in run.err


def test_settings_name_the_layer_of_each_value(run, hive):
    (hive / "bees" / "mia.toml").write_text('modele = "ollama/qwen3"\n[horizon]\nbudget_net = 9000\n', "utf-8")

    assert run("settings", hive, "mia", "--json") == 0
    values = run.json["settings"]
    assert values["budget_net"]["value"] == 9000
    assert values["budget_net"]["layer"].endswith("mia.toml")
    assert values["actif"]["layer"].endswith("horizon.toml")
    assert values["budget_recit"] == {"value": 3000, "layer": "default"}
    assert values["phares"]["value"] == ["apicultrice"]
    assert values["modele"]["value"] == "ollama/qwen3"
    assert run("settings", hive, "mia") == 0
    assert "9000" in run.out


def test_flags_hold(run, hive):
    id_ = add(run, hive, "q", "a", "--kind", "outil")

    assert run("flag", hive, "mia", id_, "--json") == 0
    assert run.json == {"id": id_, "phare": True}
    assert run("flag", hive, "mia", id_, "--off") == 0
    assert run("flag", hive, "mia", "no-such-id") == 2
    assert "no-such-id" in run.err


def test_maintain_evicts_and_says_so(run, hive):
    for number in range(12):
        add(run, hive, f"question {number}", f"réponse {number} " + "mot " * 800)

    assert run("maintain", hive, "--dry-run", "--json") == 0
    assert run.json["bees"][0]["evicted"] > 0
    assert run.json["bees"][0]["dry_run"]
    assert run("maintain", hive, "mia") == 0
    assert "mia" in run.out
    assert run("read", hive, "mia", "--json") == 0
    gauge = run.json["gauge"]
    assert gauge["nette"]["chars"] <= gauge["nette"]["budget"]
    assert run("maintain", hive, "--json") == 0
    assert run.json["bees"][0]["evicted"] == 0


def test_rebuild_changes_nothing_that_is_read(run, hive):
    for number in range(12):
        add(run, hive, f"question {number}", f"réponse {number} " + "mot " * 800)
    assert run("maintain", hive) == 0
    assert run("read", hive, "mia") == 0
    before = run.out

    assert run("rebuild", hive, "mia", "--json") == 0
    assert run("read", hive, "mia") == 0
    assert run.out == before


@pytest.mark.parametrize("command", [("read",), ("settings",), ("maintain",), ("rebuild",)])
def test_a_folder_or_bee_that_is_not_there_is_named(run, hive, tmp_path, command):
    assert run(*command, tmp_path / "nowhere", "mia") == 3
    assert "nowhere" in run.err
    assert run(*command, hive, "mai", "--json") == 2
    assert "mia" in run.err
    assert run.json["status"] == 2
    assert run.json["kind"] == "InvalidInput"
    assert not (tmp_path / "nowhere").exists()


@pytest.mark.parametrize("name", ["../evil", "a/b", "", ".", "nul\0"])
def test_a_name_that_is_no_file_name_is_refused(run, hive, name):
    assert run("append", hive, name, "--question", "q", "--answer", "a") == 2
    assert not list(hive.parent.glob("evil*"))


def test_a_wrong_instant_is_refused_with_an_example(hive, capsys):
    assert main(["read", str(hive), "mia", "--at", "hier"]) == 2
    told = capsys.readouterr().err
    assert "2026-07-10T14:03" in told
    assert "usage: horizon read" in told


@pytest.mark.parametrize(
    "arguments",
    [
        ["read", "--json"],
        ["read", "hive", "mia", "--at", "hier", "--json"],
        ["read", "hive", "-x", "--json"],
        ["--json", "no-such-command"],
        ["append", "hive", "mia", "--json", "--question"],
    ],
)
def test_wrong_use_is_one_json_document_too(capsys, arguments):
    assert main(arguments) == 2
    told = json.loads(capsys.readouterr().out)
    assert told["status"] == 2
    assert "usage: horizon" in told["error"]


@pytest.mark.parametrize("at", ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-12:00"])
def test_an_instant_beyond_the_calendar_is_wrong_use_and_changes_nothing(run, hive, at):
    assert run("append", hive, "mia", "--question", "q", "--answer", "a", "--at", at, "--json") == 2
    assert "calendar" in run.json["error"]
    assert run("read", hive, "mia", "--at", at, "--json") == 2


def test_text_cannot_steer_a_terminal(run, hive, monkeypatch):
    add(run, hive, "q", "\x1b[31mred\x1b]0;title\x07 \u202edet\u2028")

    assert run("read", hive, "mia") == 0
    assert "\x1b" in run.out  # a pipe gets the text exactly
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    assert run("read", hive, "mia") == 0
    assert "\x1b" not in run.out
    assert "\\x1b[31mred" in run.out
    assert "\\u202edet\\u2028" in run.out
