"""`maintain-horizon`, `repair-degraded` and `rebuild-horizon`, called as they are, on real hives."""

from __future__ import annotations

import threading
import time

import pytest

from flows.maintain_horizon import maintain_horizon
from flows.parameters import How
from flows.places import homes_of
from flows.rebuild_horizon import rebuild_horizon
from flows.repair_degraded import repair_degraded
from horizon import open_hive, wiring
from horizon.adapters.clock import SystemClock
from horizon.adapters.journal_jsonl import JournalStore
from horizon.wiring import open_home
from tests.deterministic_model import reply_to
from tests.flows import homes
from tests.flows.hives import hive
from tests.flows.real_prefect import free_port
from tests.flows.runs import artifact, called, task_runs
from tests.ollama_behaviour import Behaviour

pytestmark = [pytest.mark.engine, pytest.mark.usefixtures("engine")]


def test_every_bee_with_something_to_do_is_looked_after_and_idle_ones_cost_no_task(tmp_path):
    hive(tmp_path / "ruche", "mia", "zoe")
    hive(tmp_path / "verger", "ada")

    first = maintain_horizon(hives=[tmp_path], return_state=True)

    assert (first.name, first.message) == ("Completed", "bees: 3 done; 0 idle in 2 hives")
    assert called(first) == f"maintain {tmp_path.name}"
    assert sorted(task_runs(first, 3)) == ["evict ada", "evict mia", "evict zoe"]
    table = artifact(first, "bees")
    assert '"bee": "ruche/zoe"' in table
    assert "Sèvres" not in table
    for name in ("mia", "zoe"):
        assert not open_hive(tmp_path / "ruche").bee(name).read().gauge.late

    second = maintain_horizon(hives=[tmp_path], return_state=True)

    assert (second.name, second.message) == ("NothingToDo", "bees: none; 3 idle in 2 hives")
    assert not task_runs(second, 0)


def test_the_root_folder_is_meant_where_none_is_given(tmp_path, monkeypatch):
    hive(tmp_path / "ruche", "mia")
    monkeypatch.setenv("HORIZON_ROOT", str(tmp_path / "ruche"))

    state = maintain_horizon(return_state=True)

    assert (state.name, called(state)) == ("Completed", "maintain ruche")


def test_links_in_the_root_folder_stand_for_what_they_point_to(tmp_path, monkeypatch):
    hive(tmp_path / "ruche", "mia")
    host = homes.home(tmp_path / ".openjarvis", homes.yesterday())
    root = tmp_path / "homes"
    root.mkdir()
    (root / "ruche").symlink_to(tmp_path / "ruche")
    (root / "openjarvis").symlink_to(host)
    monkeypatch.setenv("HORIZON_ROOT", str(root))

    assert [home.name for home in homes_of(())] == ["openjarvis", "ruche"]
    assert maintain_horizon(return_state=True).message == "bees: 1 done; 0 idle in 2 hives"
    assert open_home(root / "openjarvis").nights(homes.yesterday(), homes.yesterday())[0].exchanges == 3


def test_a_folder_that_is_not_there_fails_by_name(tmp_path):
    state = maintain_horizon(hives=[tmp_path / "nowhere"], return_state=True)

    assert state.is_failed()
    assert str(tmp_path / "nowhere") in state.message


def test_a_hive_that_disappeared_stops_no_other(tmp_path):
    hive(tmp_path / "ruche", "mia")

    state = maintain_horizon(hives=[tmp_path / "gone", tmp_path / "ruche"], return_state=True)

    assert (state.name, state.message) == ("SourceMissing", "bees: 1 source missing, 1 done; 0 idle in 2 hives")


def test_a_dry_run_says_what_it_would_do_and_writes_nothing(tmp_path):
    folder = hive(tmp_path / "ruche", "mia")
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}

    state = maintain_horizon(hives=[folder], dry_run=True, return_state=True)

    assert state.name == "DryRun"
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


def test_one_bee_that_cannot_be_read_stops_no_other(tmp_path):
    folder = hive(tmp_path / "ruche", "mia", "zoe")
    (folder / "window" / "mia-messages.jsonl").unlink()
    (folder / "window" / "mia-messages.jsonl").mkdir()

    state = maintain_horizon(hives=[folder], return_state=True)

    assert state.name == "SourceMissing"
    assert "1 source missing, 1 done" in state.message
    assert not open_hive(folder).bee("zoe").read().gauge.late


def test_a_busy_bee_is_tried_again_until_its_lock_is_given_back(tmp_path):
    folder = hive(tmp_path / "ruche", "mia")
    taken, end = threading.Event(), threading.Event()

    def hold():
        with JournalStore(folder, "mia", SystemClock()).exclusive():
            taken.set()
            end.wait(60)

    holder = threading.Thread(target=hold)
    holder.start()
    taken.wait(60)
    threading.Timer(1.0, end.set).start()

    state = maintain_horizon(hives=[folder], return_state=True)

    holder.join()
    assert state.name == "Completed"
    assert task_runs(state, 1)["evict mia"]["run_count"] >= 2


def test_an_outage_shows_in_the_state_and_repair_makes_good(tmp_path, monkeypatch, ollama_server):
    folder = hive(tmp_path / "ruche", "mia", summarizer="ollama/qwen3")
    monkeypatch.setenv("OLLAMA_HOST", f"http://127.0.0.1:{free_port()}")

    during = maintain_horizon(hives=[folder], return_state=True)
    away = repair_degraded(homes=[folder], return_state=True)

    assert during.name == "Degraded"
    assert "1 degraded" in during.message
    assert away.name == "Unavailable"
    assert not task_runs(away, 0)

    monkeypatch.setenv("OLLAMA_HOST", f"http://127.0.0.1:{ollama_server.port}")
    repaired = repair_degraded(homes=[folder], return_state=True)

    assert repaired.name == "Completed", repaired.message
    assert list(task_runs(repaired, 1)) == ["repair mia"]
    assert repair_degraded(homes=[folder], return_state=True).name == "NothingToDo"


def test_one_request_at_a_time_reaches_the_summarizer(tmp_path, monkeypatch, ollama_server):
    folder = hive(tmp_path / "ruche", *(f"bee{n}" for n in range(6)), summarizer="ollama/qwen3", exchanges=5)
    monkeypatch.setenv("OLLAMA_HOST", f"http://127.0.0.1:{ollama_server.port}")
    ollama_server.answer(Behaviour(text=reply_to, delay=0.05))

    state = maintain_horizon(hives=[folder], return_state=True)

    assert state.name == "Completed", state.message
    assert len(ollama_server.requests) >= 6
    assert ollama_server.max_concurrent == 1


@pytest.mark.parametrize("width", ["1", "4"])
def test_a_bee_whose_model_is_slow_holds_up_no_other(tmp_path, monkeypatch, ollama_server, width):
    folder = hive(tmp_path / "ruche", "ada", "mia", "zoe")
    (folder / "bees").mkdir(exist_ok=True)
    (folder / "bees" / "ada.toml").write_text('[horizon]\nresumeur = "ollama/qwen3"\n', "utf-8")
    monkeypatch.setenv("OLLAMA_HOST", ollama_server.host)
    monkeypatch.setenv("HORIZON_WIDTH", width)
    late_others = []

    def answers_when_the_others_are_done(body):
        deadline = time.monotonic() + 15
        others = [open_hive(folder).bee(name) for name in ("mia", "zoe")]
        while any(bee.read().gauge.late for bee in others) and time.monotonic() < deadline:
            time.sleep(0.05)
        late_others.append(any(bee.read().gauge.late for bee in others))
        return reply_to(body)

    ollama_server.answer(answers_when_the_others_are_done)
    state = maintain_horizon(hives=[folder], return_state=True)

    assert (state.name, state.message) == ("Completed", "bees: 3 done; 0 idle in 1 hives")
    assert late_others
    assert not any(late_others)


def test_an_error_that_nobody_foresaw_tells_prefect_its_kind_and_place_only(tmp_path, monkeypatch, caplog):
    folder = hive(tmp_path / "ruche", "mia")

    def quoting(_hive, bee):
        raise ValueError(f"{bee} said: le code de la porte est B4471")

    monkeypatch.setattr(wiring, "pending", quoting)
    state = maintain_horizon(hives=[folder], return_state=True)

    assert state.name == "Failed"
    assert "ValueError at " in state.message
    assert "B4471" not in state.message + caplog.text
    assert "Unforeseen" in caplog.text, "Prefect logs it with what led to it"


def test_a_hive_is_folded_again_from_its_journals(tmp_path):
    folder = hive(tmp_path / "ruche", "mia", "zoe")
    maintain_horizon(hives=[folder], return_state=True)
    before = open_hive(folder).bee("mia").read().text
    for snapshot in (folder / "window").glob("*.snapshot"):
        snapshot.unlink()

    state = rebuild_horizon(hive=folder, bees=["mia"], how=How.FOLD, return_state=True)

    assert not state.is_failed(), state.message
    assert called(state) == "rebuild mia · ruche"
    assert open_hive(folder).bee("mia").read().text == before
