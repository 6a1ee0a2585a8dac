"""A bee's turn through the public API, over real files (spec 1-horizon §3, §4; 5-interface)."""

from __future__ import annotations

import json
import threading
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import horizon
from horizon import InvalidInput, open_hive, wiring
from horizon.doctor import examine

NOTICE = "[horizon : le passé plus ancien est condensé ci-dessus ; l'historique intégral vit au journal]"
AT = datetime(2026, 7, 10, 12, 3, 22, tzinfo=UTC)


@pytest.fixture
def hive(tmp_path, monkeypatch):
    """A hive that is switched on, its dates shown in Paris."""
    monkeypatch.delenv("OLLAMA_HOST", raising=False)
    path = tmp_path / "ruche"
    path.mkdir()
    (path / "horizon.toml").write_text('[horizon]\nactif = true\nfuseau = "Europe/Paris"\n')
    return open_hive(path)


def test_what_was_appended_is_read_back_whole(hive):
    bee = hive.bee("mia")
    exchange = bee.append("compose the page", "done: 3 columns", at=AT)
    assert exchange.question == "compose the page"
    view = bee.read()
    assert view.text == (
        f"[horizon · phare · 2026-07-10 14:03 · conversation · {exchange.id}] Lui :\ncompose the page\n"
        "[horizon] Toi :\ndone: 3 columns\n\n"
    )
    assert (view.chars, view.budget, view.cuts) == (len(view.text), 21_000, ())
    assert sum(part.chars for part in view.receipt) == view.chars
    assert bee.exchange(exchange.id) == exchange


def test_the_journals_line_has_the_documented_keys(hive):
    bee = hive.bee("mia")
    exchange = bee.append("q", "a", kind="outil", tool="grep", at=AT, model="ollama/qwen3")
    line = (hive.path / "window" / "mia-messages.jsonl").read_bytes()
    record = json.loads(line)
    assert record == {
        "id": exchange.id,
        "quand": record["quand"],
        "type": "outil",
        "outil": "grep",
        "question": "q",
        "reponse": "a",
        "modele": "ollama/qwen3",
    }
    assert datetime.fromisoformat(record["quand"]) == AT
    assert line.endswith(b"\n")


def test_switched_off_the_view_is_the_plain_last_three(tmp_path):
    bee = open_hive(tmp_path / "ruche").bee("mia")
    for n in range(5):
        bee.append(f"question {n}", f"answer {n}", at=AT + timedelta(minutes=n))
    text = bee.read().text
    assert [n for n in range(5) if f"question {n}" in text] == [2, 3, 4]
    assert NOTICE not in text


def test_reading_a_hive_that_is_not_there_gives_an_empty_view_and_makes_nothing(tmp_path):
    view = open_hive(tmp_path / "nowhere").bee("mia").read()
    assert (view.text, view.receipt, view.messages()) == ("", (), [])
    assert not (tmp_path / "nowhere").exists()


def test_reading_writes_nothing(hive):
    bee = hive.bee("mia")
    for n in range(30):
        bee.append(f"question {n}", "word " * 300, at=AT + timedelta(minutes=n))

    def everything():
        return {p: (p.stat().st_mtime_ns, p.read_bytes()) for p in hive.path.rglob("*") if p.is_file()}

    before = everything()
    open_hive(hive.path).bee("mia").read()
    bee.read(at=AT + timedelta(minutes=3))
    assert everything() == before


def test_as_messages_the_content_is_the_same_and_within_the_budget(hive):
    bee = hive.bee("mia")
    for n in range(40):
        bee.append(f"question {n}", f"answer {n} " + "word " * 200, at=AT + timedelta(minutes=n))
    wiring.maintain(hive.path, "mia")
    view = bee.read()
    messages = view.messages()
    assert messages[0]["role"] == "system"
    assert NOTICE in messages[0]["content"]
    assert [m["role"] for m in messages[1:3]] == ["user", "assistant"]
    assert messages[-1] == {"role": "assistant", "content": "answer 39 " + "word " * 200}
    assert sum(len(m["content"]) for m in messages) <= view.chars <= view.budget


def test_flags_are_for_good_and_the_ids_must_exist(hive):
    bee = hive.bee("mia")
    exchange = bee.append("what is in the file?", "a table", kind="outil", at=AT)
    assert "phare" not in bee.read().text
    bee.flag(exchange.id)
    assert "phare" in open_hive(hive.path).bee("mia").read().text
    bee.unflag(exchange.id)
    assert "phare" not in open_hive(hive.path).bee("mia").read().text
    with pytest.raises(InvalidInput, match="has no exchange 'nope'"):
        bee.flag("nope")


def test_the_past_is_shown_as_it_was(hive):
    bee = hive.bee("mia")
    first = bee.append("first", "one", at=AT)
    alone = bee.read().text
    bee.append("second", "two", at=AT + timedelta(minutes=5))
    assert bee.read(at=AT + timedelta(minutes=1)).text == alone
    assert bee.read(at=AT - timedelta(minutes=1)).text == ""
    assert first.id in bee.read().text


def test_a_naive_instant_is_taken_in_the_bees_zone(hive):
    exchange = hive.bee("mia").append("q", "a", at=datetime(2026, 7, 10, 14, 3, 22))  # noqa: DTZ001 - naive is meant
    assert exchange.at == AT


@pytest.mark.parametrize(
    "name", ["../mia", "", "a/b", "a\0b", ".mia", "-rf", "con", "m" * 65, "mia.toml", "a\nb", "\u202emia"]
)
def test_a_name_that_could_leave_the_hive_is_refused(hive, name):
    with pytest.raises(InvalidInput):
        hive.bee(name)


def test_a_blank_kind_is_refused_and_nothing_is_written(hive):
    with pytest.raises(InvalidInput, match="kind"):
        hive.bee("mia").append("q", "a", kind=" ")
    assert not (hive.path / "window").exists()


def test_files_are_for_their_user_only(hive):
    bee = hive.bee("mia")
    for n in range(30):
        bee.flag(bee.append(f"question {n}", "word " * 300, at=AT + timedelta(minutes=n)).id)
    wiring.maintain(hive.path, "mia")
    modes = {p.name: oct(p.stat().st_mode & 0o777) for p in (hive.path / "window").rglob("*")}
    assert len(modes) >= 5
    assert set(modes.values()) <= {"0o600", "0o700"}
    assert examine(hive.path) == ()


def test_the_doctor_names_the_file_the_line_and_what_to_do(hive):
    bee = hive.bee("mia")
    bee.append("q", "a", at=AT)
    path = hive.path / "window" / "mia-messages.jsonl"
    size = path.stat().st_size
    with path.open("ab") as file:
        file.write(b'{"question": "torn\n')
    bee.append("r", "b", at=AT)
    path.chmod(0o644)
    (hive.path / "bees").mkdir()
    (hive.path / "bees" / "mia.toml").write_text("[horizon]\nbudget_net = -1\n")
    found = {finding.kind.value: finding for finding in examine(hive.path)}
    assert (found["journal"].path, found["journal"].line, found["journal"].offset) == (str(path), 2, size)
    assert found["settings"].line == 2
    assert found["rights"].path == str(path)
    assert all(finding.remedy for finding in found.values())


def test_a_changed_setting_is_seen_by_the_next_read(hive):
    bee = hive.bee("mia")
    bee.append("q", "a" * 500, at=AT)
    assert bee.read().budget == 21_000
    (hive.path / "horizon.toml").write_text(
        "[horizon]\nactif = true\nbudget_net = 100\nbudget_recit = 0\nbudget_condense = 0\n"
    )
    view = bee.read()
    assert view.budget == 100
    assert view.chars <= 100


def test_threads_that_share_a_bee_see_whole_exchanges_only(hive):
    bee = hive.bee("mia")
    faults = []

    def read():
        for _ in range(60):
            view = bee.read()
            if sum(part.chars for part in view.receipt) != len(view.text):
                faults.append(view.text)

    readers = [threading.Thread(target=read) for _ in range(3)]
    for reader in readers:
        reader.start()
    for n in range(60):
        bee.append(f"question {n}", "word " * 20, at=AT + timedelta(seconds=n))
    for reader in readers:
        reader.join()
    assert faults == []
    assert bee.read().gauge.appended == 60


def test_the_public_names_are_these():
    assert sorted(horizon.__all__) == [
        "Bee", "CorruptData", "Cut", "Exchange", "Floor", "Gauge", "Hive", "HorizonError", "InvalidInput",
        "InvalidSettings", "Level", "ModelUnavailable", "Part", "Role", "Rule", "StoreBusy", "TransientError",
        "Unavailable", "View", "open_hive",
    ]  # fmt: skip
    assert all(hasattr(horizon, name) for name in horizon.__all__)


@given(
    exchanges=st.lists(
        st.tuples(
            st.text(max_size=400), st.text(max_size=2_000), st.sampled_from(["conversation", "outil"]), st.booleans()
        ),
        max_size=12,
    ),
    budgets=st.tuples(*[st.sampled_from([0, 1, 7, 60, 300, 2_000, 12_000])] * 3),
    upkeep=st.booleans(),
)
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_the_budget_holds_for_any_journal_any_flags_and_any_settings(tmp_path_factory, exchanges, budgets, upkeep):
    path = tmp_path_factory.mktemp("b") / "ruche"
    path.mkdir()
    net, condense, recit = budgets
    (path / "horizon.toml").write_text(
        f"[horizon]\nactif = true\nbudget_net = {net}\nbudget_condense = {condense}\nbudget_recit = {recit}\n"
    )
    bee = open_hive(path).bee("mia")
    for n, (question, answer, kind, flagged) in enumerate(exchanges):
        made = bee.append(question, answer, kind=kind, at=AT + timedelta(minutes=n))
        assert bee.exchange(made.id).answer == made.answer
        if flagged:
            bee.flag(made.id)
    if upkeep:
        wiring.maintain(path, "mia")
    view = bee.read()
    assert len(view.text) <= view.budget == sum(budgets)
    assert sum(part.chars for part in view.receipt) == len(view.text)
    assert open_hive(path).bee("mia").read() == view


def test_switched_off_the_last_three_are_shown_also_when_they_have_melted(tmp_path):
    hive = tmp_path / "ruche"
    settings = '[horizon]\nactif = {}\nbudget_net = 300\nbudget_condense = 0\nresumeur = "troncature"\nfuseau = "UTC"\n'
    hive.mkdir()
    (hive / "horizon.toml").write_text(settings.format("true"))
    bee = open_hive(hive).bee("mia")
    for number in range(6):
        bee.append(f"question {number}", "long answer " * 20, at=datetime(2026, 7, 10, 8, number, tzinfo=UTC))
    wiring.maintain(hive, "mia")
    assert bee.read().gauge.melted == 5
    before = {path: path.read_bytes() for path in hive.rglob("*") if path.is_file()}

    off = bee.settings().settings
    shown = bee.read(trying=replace(off, actif=False))
    assert [part.body for part in shown.receipt if part.role == "question"] == [
        "question 3",
        "question 4",
        "question 5",
    ]
    assert "long answer" in shown.text
    past = bee.read(at=datetime(2026, 7, 10, 8, 3, tzinfo=UTC), trying=replace(off, actif=False))
    assert [part.body for part in past.receipt if part.role == "question"] == ["question 1", "question 2", "question 3"]
    assert {path: path.read_bytes() for path in hive.rglob("*") if path.is_file()} == before

    (hive / "horizon.toml").write_text(settings.format("false"))
    assert bee.read().text == shown.text
    bee.append("question 6", "short", at=datetime(2026, 7, 10, 9, 0, tzinfo=UTC))
    questions = [part.body for part in bee.read().receipt if part.role == "question"]
    assert questions == ["question 4", "question 5", "question 6"]


def test_a_word_that_was_counted_among_the_older_ones_is_shown_once_flagged_and_counted_no_more(tmp_path):
    hive = tmp_path / "ruche"
    hive.mkdir()
    (hive / "horizon.toml").write_text(
        '[horizon]\nactif = true\nbudget_net = 300\nbudget_condense = 300\nbudget_recit = 60000\nresumeur = "troncature"\n'
    )
    bee = open_hive(hive).bee("mia")
    ids = [
        bee.append(f"Word {number}. " + "x" * 6_000, "ok", at=datetime(2026, 7, 10, 8, number, tzinfo=UTC)).id
        for number in range(10)
    ]
    wiring.maintain(hive, "mia")
    state = bee._store.load().state
    assert state.older_words is not None
    counted = state.older_words.count
    assert ids[0] not in {word.id for word in state.words}

    bee.flag(ids[0])
    live = bee._store.load().state
    assert live.older_words.count == counted - 1
    assert "Word 0." in bee.read().text
    assert open_hive(hive).bee("mia")._store.load().state == live

    bee.unflag(ids[1])
    assert bee._store.load().state.older_words.count == counted - 2
    assert open_hive(hive).bee("mia")._store.load().state == bee._store.load().state
