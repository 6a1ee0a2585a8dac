"""The commands on a home's nights, and those that find again, with a model behind Ollama's protocol and without."""

from __future__ import annotations

import sqlite3

import pytest

from horizon.adapters.ollama_model import OllamaModel
from tests.ollama_server import OllamaServer

FIRST, SECOND = "2026-07-10", "2026-07-11"


@pytest.fixture(autouse=True)
def no_model(monkeypatch):
    monkeypatch.setenv("OLLAMA_HOST", "127.0.0.1:9")
    monkeypatch.setenv("TZ", "Europe/Paris")


@pytest.fixture
def lived(run, hive):
    for day, question, answer in (
        (FIRST, "Retiens que je préfère le thé vert.", "C'est noté."),
        (FIRST, "Où est le devis D-0147 ?", "Dans /srv/ruche/devis/D-0147.md, pour 1 220,58 €."),
        (SECOND, "Quand vient Paul ?", "Paul Ferrand vient jeudi à 14 h."),
    ):
        at = f"{day}T10:00:00+02:00"
        assert run("append", hive, "mia", "--question", question, "--answer", answer, "--at", at) == 0
    return hive


@pytest.fixture
def with_model(lived, ollama_server, monkeypatch):
    monkeypatch.setenv("OLLAMA_HOST", ollama_server.host)
    toml = lived / "horizon.toml"
    toml.write_text(toml.read_text("utf-8").replace('# modele = "ollama/<model>"', 'modele = "ollama/qwen3"'), "utf-8")
    return lived


def files_of(home):
    """Return the bytes of what is kept; caches and locks aside."""
    kept = (path for path in home.rglob("*") if path.is_file() and not path.name.startswith("."))
    return {path: path.read_bytes() for path in kept if path.suffix not in {".index", ".snapshot"}}


def test_a_day_by_excerpt_because_nobody_named_a_model_is_done_and_says_so(run, lived):
    assert run("consolidate", lived, "--day", FIRST, "--json") == 0
    assert (run.json["state"], run.json["chosen"]) == ("degraded", True)
    assert run.json["read"] == 2
    assert f"## {FIRST}" in (lived / "journal.md").read_text("utf-8")

    before = files_of(lived)
    assert run("consolidate", lived, "--day", FIRST) == 0
    assert "nothing to do" in run.out
    assert files_of(lived) == before


def test_every_surface_says_that_a_day_stands_by_excerpt_for_want_of_a_model(run, lived):
    said = "excerpt, no summarizer configured"
    assert run("consolidate", lived, "--day", FIRST, "--dry-run") == 0
    assert said in run.out
    assert run("consolidate", lived, "--day", FIRST) == 0
    assert f"◔ {said}" in run.out
    assert "1 day stands by excerpt, no summarizer being configured: name one" in run.out
    assert run("backfill", lived, "--from", FIRST, "--to", SECOND) == 0
    assert run.out.count(f"◔ {said}") == 2
    assert "2 days stand by excerpt" in run.out
    assert run("nights", lived, "--from", FIRST, "--to", SECOND) == 0
    assert run.out.count(f"◔ {said}") == 2
    assert "10 ◔" in run.out
    assert "2 excerpt" in run.out
    assert "degraded" not in run.out.replace("◐ degraded", "")  # but in the legend
    assert "aucun résumeur n'est configuré" in (lived / "journal.md").read_text("utf-8")
    assert run("nights", lived, "--from", FIRST, "--to", SECOND, "--json") == 0
    assert [(night["state"], night["chosen"]) for night in run.json["nights"]] == [("degraded", True)] * 2


def test_a_day_with_a_model_is_done(run, with_model, ollama_server):
    assert run("consolidate", with_model, "--day", FIRST, "--json") == 0
    assert run.json["state"] == "done"
    assert run.json["by"] == "ollama/qwen3"
    assert ollama_server.requests

    asked = len(ollama_server.requests)
    assert run("consolidate", with_model, "--day", FIRST, "--json") == 0
    assert not run.json["changed"]
    assert len(ollama_server.requests) == asked
    assert run("consolidate", with_model, "--day", FIRST, "--force", "--json") == 0
    assert len(ollama_server.requests) > asked


def test_people_are_told_that_a_section_they_edited_was_left_alone(run, with_model):
    assert run("consolidate", with_model, "--day", FIRST) == 0
    assert "not in journal.md" not in run.out
    path = with_model / "journal.md"
    path.write_text(path.read_text(encoding="utf-8") + "\nÀ moi.\n", encoding="utf-8")
    edited = path.read_bytes()
    assert run("consolidate", with_model, "--day", FIRST, "--force") == 0
    said = " ".join(run.out.split())
    assert "journal.md keeps the section that a person edited" in said
    assert "not in journal.md: " in said
    assert path.read_bytes() == edited


def test_a_dry_run_tells_the_calls_and_makes_none(run, with_model, ollama_server):
    before = files_of(with_model)
    assert run("consolidate", with_model, "--day", FIRST, "--dry-run", "--json") == 0
    assert run.json["calls"] >= 1
    assert run("backfill", with_model, "--from", FIRST, "--to", SECOND, "--dry-run") == 0
    assert FIRST in run.out
    assert SECOND in run.out
    assert ollama_server.requests == []
    assert files_of(with_model) == before


def test_a_day_without_exchanges_is_empty_and_that_is_fine(run, lived):
    assert run("consolidate", lived, "--day", "2026-01-01", "--json") == 0
    assert run.json["state"] == "empty"
    assert not (lived / "journal.md").exists()


def test_a_backfill_takes_the_days_in_order(run, with_model):
    assert run("backfill", with_model, "--from", FIRST, "--to", "2026-07-12", "--json") == 0
    assert [(day["day"], day["state"]) for day in run.json["days"]] == [
        (FIRST, "done"),
        (SECOND, "done"),
        ("2026-07-12", "empty"),
    ]
    text = (with_model / "journal.md").read_text("utf-8")
    assert text.index(FIRST) < text.index(SECOND)


@pytest.mark.parametrize(
    ("first", "last", "told"), [(SECOND, FIRST, "after"), ("1900-01-01", "2026-01-01", "ten years")]
)
def test_a_span_that_cannot_be_is_refused(run, lived, first, last, told):
    for command in ("backfill", "nights"):
        assert run(command, lived, "--from", first, "--to", last) == 2
        assert told in run.err


def test_the_calendar_has_a_mark_per_day_and_tells_what_is_wanting(run, with_model, ollama_server):
    assert run("consolidate", with_model, "--day", FIRST) == 0
    ollama_server.switch("503")
    assert run("consolidate", with_model, "--day", SECOND) == 1

    assert run("nights", with_model, "--from", FIRST, "--to", "2026-07-12", "--json") == 1
    states = {night["day"]: night["state"] for night in run.json["nights"]}
    assert states[FIRST] == "done"
    assert states[SECOND] in {"degraded", "owed"}
    assert states["2026-07-12"] == "empty"
    assert run("nights", with_model, "--from", FIRST, "--to", FIRST) == 0
    assert "July 2026" in run.out
    assert "10 ●" in run.out


def test_a_missing_source_is_never_a_quiet_day(run, lived):
    toml = lived / "horizon.toml"
    text = toml.read_text("utf-8").replace("[consolidation]", '[consolidation]\nsources = ["traces.db"]')
    toml.write_text(text, "utf-8")

    assert run("consolidate", lived, "--day", FIRST, "--json") == 3
    assert run.json["state"] == "source-missing"
    assert not (lived / "traces.db").exists()
    assert run("nights", lived, "--from", FIRST, "--to", FIRST) == 1


def test_a_home_with_only_a_hosts_traces_is_a_home(run, tmp_path):
    home = tmp_path / "host"
    home.mkdir()
    with sqlite3.connect(home / "traces.db") as database:
        database.execute(
            "CREATE TABLE traces (id INTEGER PRIMARY KEY, trace_id TEXT, query TEXT, agent TEXT, model TEXT,"
            " result TEXT, started_at REAL)"
        )
        row = (
            "t1",
            "Where is the key?",
            "simple",
            "llama3:latest",
            "Under the mat.",
            1_783_670_400.0,
        )  # 10:00 in Paris
        database.execute(
            "INSERT INTO traces (trace_id, query, agent, model, result, started_at) VALUES (?,?,?,?,?,?)", row
        )
        bench = ("t2", "2+2?", "simple", "test-model", "4", 1_783_670_500.0)
        database.execute(
            "INSERT INTO traces (trace_id, query, agent, model, result, started_at) VALUES (?,?,?,?,?,?)", bench
        )
    database.close()

    assert run("consolidate", home, "--day", FIRST, "--json") == 0
    assert run.json["read"] == 1
    assert sum(run.json["left_out"].values()) == 1
    assert run("recall", home, "key", "--json") == 0
    assert any("mat" in hit["text"] for hit in run.json["hits"])


def test_recall_finds_and_why_proves(run, lived):
    assert run("consolidate", lived, "--day", FIRST) == 0
    assert run("recall", lived, "thé vert", "--json") == 0
    kinds = {hit["kind"]: hit for hit in run.json["hits"]}
    assert "exchange" in kinds
    fact = kinds["fact"]
    assert fact["day"] == FIRST

    assert run("why", lived, fact["id"], "--json") == 0
    (cited,) = run.json["cites"]
    assert cited["exchange"]["question"] == "Retiens que je préfère le thé vert."
    assert all(quote in cited["exchange"]["question"] for quote in cited["quotes"])
    assert run("why", lived, fact["text"]) == 0
    assert "Retiens que je préfère le thé vert." in run.out
    assert run("why", lived, "the moon is cheese") == 2


@pytest.mark.parametrize(
    "query", ["dog's", "C++", '"unbalanced', "NEAR(", "", "''; DROP TABLE x", "\0", "*", "é" * 5000]
)
def test_recall_takes_any_text(run, lived, query):
    assert run("recall", lived, query, "--json") == 0
    assert isinstance(run.json["hits"], list)


def test_recall_shows_people_the_date_and_address_of_each_hit(run, lived):
    assert run("recall", lived, "Ferrand", "--limit", "1") == 0
    assert SECOND in run.out
    assert "window/mia" in run.out
    assert run("recall", lived, "xylophone") == 0
    assert "nothing found" in run.out


@pytest.mark.parametrize("command", [["consolidate"], ["nights"], ["recall", "QUERY"], ["why", "FACT"]])
def test_a_home_that_is_not_there_is_unavailable_and_not_made(run, tmp_path, command):
    name, *more = command
    assert run(name, tmp_path / "nowhere", *more, "--json") == 3
    assert run.json["kind"] == "Unavailable"
    assert not (tmp_path / "nowhere").exists()


@pytest.mark.parametrize("zone", ["Pacific/Kiritimati", "America/Montreal", "UTC"])
def test_exchanges_at_the_calendar_s_ends_are_found_and_stop_nothing(run, lived, monkeypatch, zone):
    monkeypatch.setenv("TZ", zone)
    toml = lived / "horizon.toml"
    toml.write_text(f'{toml.read_text("utf-8")}\nfuseau = "{zone}"\n', "utf-8")
    for at in ("0001-01-01T00:00:00+00:00", "9999-12-31T23:59:59+00:00"):
        assert run("append", lived, "mia", "--question", f"bergamote {at}", "--answer", "a", "--at", at) == 0

    assert run("recall", lived, "bergamote", "--json") == 0
    assert {hit["day"] for hit in run.json["hits"]} == {"0001-01-01", "9999-12-31"}
    assert run("recall", lived, "bergamote") == 0
    assert run("read", lived, "mia") == 0
    assert run("consolidate", lived, "--day", FIRST, "--json") == 0


@pytest.mark.parametrize("bounds", [("--to", "0001-01-01"), ("--to", "9999-12-31"), ("--from", "0001-01-01")])
def test_a_calendar_beyond_what_can_be_told_is_wrong_use(run, lived, bounds):
    assert run("nights", lived, *bounds, "--json") == 2
    assert run.json["kind"] == "InvalidInput"


def test_facts_of_others_that_no_database_takes_are_found_all_the_same(run, lived):
    with (lived / "memory_facts.jsonl").open("ab") as file:
        file.write(
            b'{"text": "le code \\ud800 de la ruche est N7K", "source": "autre", "created_at": 1.0, "trust": ""}\n'
        )

    assert run("recall", lived, "code ruche", "--json") == 0
    assert any("N7K" in hit["text"] for hit in run.json["hits"])


@pytest.mark.parametrize("query", ["--", "", "NEAR(", '"', "-x", "AND NOT"])
def test_any_query_is_only_a_query(run, lived, query):
    assert run("recall", "--json", lived, "--", query) == 0
    assert isinstance(run.json["hits"], list)


def test_doctor_names_the_line_and_the_remedy(run, lived):
    assert run("doctor", lived) == 0
    journal = lived / "window" / "mia-messages.jsonl"
    with journal.open("ab") as file:
        file.write(b'{"question": "torn\n')
    (lived / "bees" / "mia.toml").write_text("[horizon]\nbudget_nett = 4\n", "utf-8")

    assert run("doctor", lived, "--json") == 1
    found = run.json["findings"]
    assert any(each["path"].endswith("mia-messages.jsonl") and each["line"] == 4 for each in found)
    assert any(each["path"].endswith("mia.toml") and each["line"] == 2 for each in found)
    assert all(each["remedy"] for each in found)
    assert run("doctor", lived) == 1
    assert "line 4" in run.out


def test_doctor_tells_what_is_found_over_and_over_once_with_its_places(run, lived):
    journal = lived / "window" / "mia-messages.jsonl"
    first = len(journal.read_bytes().splitlines()) + 1
    with journal.open("ab") as file:
        file.writelines(b'{"question": "undated %d", "reponse": "a"}\n' % number for number in range(5))

    assert run("doctor", lived) == 1
    (told,) = (line for line in run.out.splitlines() if "no date that can be read" in line)
    assert [f"{first + number} (byte" in told for number in range(5)] == [True, True, True, False, False]
    assert "and 2 more" in told
    assert run("doctor", lived, "--json") == 1
    lines = [each["line"] for each in run.json["findings"] if "no date" in each["message"]]
    assert lines == [first + number for number in range(5)]


def test_the_models_of_a_server_are_listed_smallest_first_and_none_where_none_answers(ollama_server):
    names = OllamaModel(host=ollama_server.host).models()

    assert names in {("ollama/qwen3:latest",), ("ollama/qwen3",)}
    assert OllamaModel(host="127.0.0.1:9").models() == ()
    with OllamaServer(mode="html") as broken:
        assert OllamaModel(host=broken.host).models() == ()
