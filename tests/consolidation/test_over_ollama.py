"""Nights over Ollama's real client and HTTP, wired as the product wires them: hives, traces, outages, every bad reply."""

from __future__ import annotations

import json
import sqlite3
from datetime import UTC, date, datetime

import pytest

from horizon import open_hive, wiring
from horizon.core.day import DayState
from tests import ollama_behaviour as behaviour
from tests.night_home import DAY, add_trace, local, make_traces

RESUME = "La personne préfère le thé vert."
GOOD = json.dumps(
    {"faits": [{"fait": "La personne préfère le thé vert.", "echanges": [1], "citation": ""}], "resume": RESUME},
    ensure_ascii=False,
)
SETTINGS = '[consolidation]\nfuseau = "Europe/Paris"\nresumeur = "ollama/qwen3"\ndelai_secondes = 2.0\n'


@pytest.fixture
def home(tmp_path, ollama_server, monkeypatch):
    monkeypatch.setenv("OLLAMA_HOST", f"http://127.0.0.1:{ollama_server.port}")
    home = tmp_path / "ruche"
    home.mkdir()
    (home / "horizon.toml").write_text(SETTINGS, encoding="utf-8")
    make_traces(home / "traces.db")
    add_trace(home / "traces.db", "Je préfère le thé vert.", "Entendu, du thé vert.", at=local(9), trace_id="a")
    return home


def night(home, **more):
    return wiring.open_home(home).consolidate(DAY, **more)


def test_a_faithful_model_makes_the_day(home, ollama_server):
    report = night(home)
    assert (report.state, report.by, report.calls, report.new) == (DayState.DONE, "ollama/qwen3", 1, 1)
    assert report.prompt_tokens > 0
    assert report.reply_tokens > 0
    assert len(ollama_server.requests) == 1


def test_a_hive_is_a_home_and_its_bees_are_told_apart(tmp_path, ollama_server, monkeypatch):
    monkeypatch.setenv("OLLAMA_HOST", f"http://127.0.0.1:{ollama_server.port}")
    hive = open_hive(tmp_path / "ruche")
    at = datetime(2026, 7, 9, 7, tzinfo=UTC)
    hive.bee("mia").append("Je préfère le thé vert.", "Entendu.", at=at)
    hive.bee("leo").append("On livre Atlas le 12 septembre.", "Atlas est livré le 12 septembre.", at=at.replace(hour=9))
    hive.bee("leo").append("Demain.", "Oui.", at=at.replace(day=10))
    (hive.path / "horizon.toml").write_text(SETTINGS, encoding="utf-8")
    before = {path: path.read_bytes() for path in (hive.path / "window").glob("*-messages.jsonl")}
    report = night(hive.path)
    assert (report.state, report.read) == (DayState.DONE, 2)
    sources = {
        each.split("#")[0]
        for fact in wiring.open_home(hive.path).ledger.load().facts.values()
        for each in fact.evidence[0].cites
    }
    assert len(sources) == 2
    assert {path: path.read_bytes() for path in before} == before
    states = {
        each.day.day: str(each.state)
        for each in wiring.open_home(hive.path).nights(date(2026, 7, 8), date(2026, 7, 10))
    }
    assert states == {8: "empty", 9: "done", 10: "never"}


@pytest.mark.parametrize(
    "how",
    [behaviour.status(503), behaviour.status(429), behaviour.reset(), behaviour.status(500), behaviour.hang()],
    ids=["503", "429", "reset", "500", "hang"],
)
def test_a_server_in_trouble_degrades_the_day_and_costs_no_attempt(home, ollama_server, how):
    (home / "horizon.toml").write_text(SETTINGS.replace("2.0", "0.5"), encoding="utf-8")
    ollama_server.answer(how)
    report = night(home)
    assert (report.state, report.unreachable) == (DayState.DEGRADED, True)
    (found,) = wiring.open_home(home).nights(DAY, DAY)
    assert found.attempts == 0
    ollama_server.answer(GOOD)
    report = night(home)
    assert (report.state, report.new) == (DayState.DONE, 1)
    assert (home / "journal.md").read_text(encoding="utf-8") == f"\n## 2026-07-09\n\n{RESUME}\n"


def test_nobody_at_the_door_degrades_the_day_without_an_attempt(home, monkeypatch, ollama_server):
    monkeypatch.setenv("OLLAMA_HOST", "http://127.0.0.1:9")
    report = night(home)
    assert (report.state, report.unreachable, report.calls) == (DayState.DEGRADED, True, 0)
    assert not [each for each in wiring.open_home(home).ledger.load().rows.values() if each.attempts]
    monkeypatch.setenv("OLLAMA_HOST", f"http://127.0.0.1:{ollama_server.port}")
    assert night(home).state is DayState.DONE


@pytest.mark.parametrize(
    "how",
    [
        "", "Voilà.", '{"faits": null}', '{"faits": "text"}', "[" * 10_000, "<think>sans fin",
        behaviour.text('{"faits": [', done_reason="length"),
    ],
    ids=["empty", "prose", "null", "text", "brackets", "thinking", "length"],
)  # fmt: skip
def test_an_unusable_reply_owes_the_day_and_writes_nothing(home, ollama_server, how):
    ollama_server.answer(how)
    report = night(home)
    assert (report.state, report.unreachable) == (DayState.OWED, False)
    assert report.error
    assert not (home / "journal.md").exists()
    assert not (home / "memory_facts.jsonl").exists()
    assert len(ollama_server.requests) == 2  # once, and once with the reason
    ollama_server.answer(GOOD)
    assert night(home).state is DayState.DONE


@pytest.mark.parametrize(
    "reply",
    [
        f"<think>hm</think>{GOOD}", f"```json\n{GOOD}\n```", f"Voici {{}} : {GOOD} Voilà.", f'{{"x": 1}} {GOOD}',
        GOOD.replace("]}]", "],}],").replace('."}', '.",}'), GOOD.replace(RESUME, f"{RESUME}\\n## 2020-01-01\\nFin."),
    ],
)  # fmt: skip
def test_a_reply_in_disguise_is_read(home, ollama_server, reply):
    ollama_server.answer(reply)
    assert night(home).state is DayState.DONE
    text = (home / "journal.md").read_text(encoding="utf-8")
    assert [line for line in text.split("\n") if line.startswith("#")] == ["## 2026-07-09"]


def test_a_fact_list_given_as_a_text_is_not_stored_letter_by_letter(home, ollama_server):
    ollama_server.answer(json.dumps({"faits": "Il aime le thé.", "resume": RESUME}, ensure_ascii=False))
    report = night(home)
    assert (report.state, report.new, report.refused) == (DayState.DONE, 0, {"cites-nothing": 1})


def test_a_reply_to_a_cut_prompt_is_refused(home, ollama_server):
    for hour in range(10, 16):
        add_trace(
            home / "traces.db", "Raconte. " * 400, "Voici l'histoire. " * 400, at=local(hour), trace_id=f"t{hour}"
        )
    ollama_server.answer(behaviour.text(GOOD, prompt_eval_count=40))
    report = night(home)
    assert report.state is DayState.OWED
    assert not (home / "journal.md").exists()


def test_a_day_of_1000_exchanges_and_one_of_300_000_characters_fit_the_window_in_bounded_calls(home, ollama_server):
    with sqlite3.connect(home / "traces.db") as database:
        database.executemany(
            "INSERT INTO traces (trace_id, query, result, started_at) VALUES (?, ?, ?, ?)",
            [
                (f"n{n}", f"Le dossier {n} avance ?", f"Le dossier {n} avance bien. " * 8, local(8) + n * 30)
                for n in range(1000)
            ],
        )
        other = date(2026, 7, 8)
        database.executemany(
            "INSERT INTO traces (trace_id, query, result, started_at) VALUES (?, 'Lis ce texte.', ?, ?)",
            [(f"h{n}", "Le long récit continue. " * 12_500, local(9 + n, day=other)) for n in range(3)],
        )
    database.close()
    plan = wiring.open_home(home).plan(DAY)
    assert plan.parts <= 40
    report = night(home)
    assert (report.state, report.read) == (DayState.DONE, 1001)
    assert report.calls == plan.calls == plan.parts + 1
    assert wiring.open_home(home).consolidate(other).state is DayState.DONE
    assert ollama_server.requests  # that each fits its window is checked by the server, strictly


def test_a_month_with_an_outage_ends_with_the_files_of_a_month_without(tmp_path, ollama_server, monkeypatch):
    days = [date(2026, 6, number) for number in range(1, 13)]
    monkeypatch.setenv("OLLAMA_HOST", f"http://127.0.0.1:{ollama_server.port}")
    left = []
    for name, outage in (("calme", ()), ("panne", days[4:9])):
        home = tmp_path / name
        home.mkdir()
        (home / "horizon.toml").write_text(SETTINGS.replace("2.0", "0.5"), encoding="utf-8")
        make_traces(home / "traces.db")
        for day in days:
            said = f"Le dossier {day.day} est confié à Marie. Retiens que le dossier {day.day} est urgent."
            add_trace(home / "traces.db", said, "C'est noté.", at=local(9, day=day), trace_id=str(day))
        for day in days:
            ollama_server.mode = "503" if day in outage else "deterministic"
            wiring.open_home(home).consolidate(day)
        if outage:
            nights = {each.day: str(each.state) for each in wiring.open_home(home).nights(days[0], days[-1])}
            assert [day for day, state in nights.items() if state == "degraded"] == outage
        for day in wiring.open_home(home).owed(days[-1], 14):
            wiring.open_home(home).consolidate(day)
        assert wiring.open_home(home).owed(days[-1], 11) == ()
        left.append({kind: (home / kind).read_bytes() for kind in ("memory_facts.jsonl", "journal.md")})
    assert left[0] == left[1]
    assert left[0]["journal.md"].count(b"## 2026-06-") == 12
