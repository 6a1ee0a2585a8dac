"""An outage seen from the command line: what it leaves is told, waits, and is made good when the model is back."""

from __future__ import annotations

import json

import pytest

DAY = "2026-07-10"


@pytest.fixture
def served(run, hive, ollama_server, monkeypatch):
    """A hive whose bee and nights have a model."""
    monkeypatch.setenv("OLLAMA_HOST", ollama_server.host)
    monkeypatch.setenv("TZ", "Europe/Paris")
    toml = hive / "horizon.toml"
    text = toml.read_text("utf-8").replace('# modele = "ollama/<model>"', 'modele = "ollama/qwen3"')
    toml.write_text(text.replace("# retour_jours = 14 ", "retour_jours = 3650 "), "utf-8")
    bee = hive / "bees" / "mia.toml"
    bee.write_text('modele = "ollama/qwen3"\n' + bee.read_text("utf-8"), "utf-8")
    for hour in range(9):
        answer = f"La ruche {hour} pèse {20 + hour} kg. " + "Le rucher est calme ce matin. " * 80
        at = f"{DAY}T{hour + 8:02}:00:00+02:00"
        assert run("append", hive, "mia", "--question", f"Ruche {hour} ?", "--answer", answer, "--at", at) == 0
    return hive


def test_an_outage_is_told_waits_and_is_made_good(run, served, ollama_server):
    ollama_server.switch("503")
    assert run("maintain", served, "--json") == 1
    assert run.json["bees"][0]["degraded"] > 0
    assert run("consolidate", served, "--day", DAY, "--json") == 1
    assert run.json["state"] in {"degraded", "owed"}
    assert run("doctor", served, "--json") == 1
    assert "degraded" in {finding["kind"] for finding in run.json["findings"]}

    assert run("repair", served, "--json") == 3
    assert set(run.json["waiting"]) == {"ruche/mia", "ruche"}
    assert run.json["bees"] == run.json["days"] == []

    ollama_server.switch("deterministic")
    assert run("repair", served, "--json") == 0
    assert run.json["bees"][0]["repaired"] > 0
    assert [(day["day"], day["state"]) for day in run.json["days"]] == [(DAY, "done")]
    assert run("repair", served) == 0
    assert "nothing is degraded or owed" in run.out


def test_one_bee_that_fails_does_not_stop_the_others(run, served):
    assert run("append", served, "noé", "--question", "q", "--answer", "a") == 0
    (served / "window" / "mia-horizon.jsonl").mkdir()

    assert run("maintain", served, "--json") == 1
    assert [report["bee"] for report in run.json["bees"]] == ["noé"]
    assert [failure["bee"] for failure in run.json["failures"]] == ["mia"]


def test_a_file_of_another_program_is_imported_once(run, hive, tmp_path):
    file = tmp_path / "chat.json"
    messages = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Where is the key?"},
        {"role": "assistant", "content": "Under the mat."},
    ]
    file.write_text(json.dumps(messages), "utf-8")

    assert run("import", hive, "mia", file, "--json") == 0
    assert (run.json["appended"], run.json["already"]) == (1, 0)
    journal = (hive / "window" / "mia-messages.jsonl").read_bytes()
    assert run("import", hive, "mia", file) == 0
    assert "1 there already" in run.out
    assert (hive / "window" / "mia-messages.jsonl").read_bytes() == journal
    assert run("read", hive, "mia") == 0
    assert "Under the mat." in run.out


def test_what_cannot_be_imported_is_told_with_what_can(run, hive, tmp_path):
    file = tmp_path / "poem.txt"
    file.write_text("roses are red")

    assert run("import", hive, "mia", file) == 2
    assert "ChatGPT" in run.err
    assert run("import", hive, "mia", tmp_path / "nowhere.json") == 3
