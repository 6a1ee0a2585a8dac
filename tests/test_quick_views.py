"""Views that need not be made: prepared by the append, or left by upkeep for other processes (spec 1-horizon §3)."""

from __future__ import annotations

import os
import pickle
from datetime import UTC, datetime, timedelta
from unittest import mock

import pytest

from horizon import open_hive, wiring
from horizon.adapters import settings_files, view_file
from horizon.adapters.journal_jsonl import JournalStore
from horizon.adapters.journal_reader import JournalReader
from horizon.doctor import examine

AT = datetime(2026, 7, 10, 12, 3, 22, tzinfo=UTC)
SETTINGS = '[horizon]\nactif = true\nresumeur = "troncature"\nfuseau = "Europe/Paris"\n'


@pytest.fixture
def hive(tmp_path):
    """A maintained hive with twenty exchanges, some of them condensed."""
    path = tmp_path / "ruche"
    path.mkdir()
    (path / "horizon.toml").write_text(SETTINGS, encoding="utf-8")
    bee = open_hive(path).bee("mia")
    for n in range(20):
        bee.append(f"question {n}", f"réponse {n} " * 60, at=AT + timedelta(minutes=n))
    wiring.maintain(path, "mia")
    return open_hive(path)


def from_nothing(hive):
    """Return the view that a fold of the journals from their first byte gives."""
    window = hive.path / "window"
    for name in ("snapshot", "view"):
        (window / f"mia-horizon.{name}").unlink(missing_ok=True)
    return hive.bee("mia").read()


def nothing_is_loaded():
    """No settings are parsed, no state is loaded, no journal is read."""
    told = AssertionError("this should not have been needed")
    return (
        mock.patch.object(JournalStore, "load", side_effect=told),
        mock.patch.object(settings_files.SettingsFiles, "_read", side_effect=told),
        mock.patch.object(JournalReader, "new", side_effect=told),
    )


def read_without_loading(bee):
    load, parse, new = nothing_is_loaded()
    with load, parse, new:
        return bee.read()


def test_what_was_appended_in_this_process_is_read_without_reading_the_journal(hive):
    bee = hive.bee("mia")
    bee.read()
    bee.append("first", "one", at=AT + timedelta(hours=1))
    bee.read()
    bee.append("second", "two", at=AT + timedelta(hours=2))
    view = read_without_loading(bee)
    assert view.text.endswith("second\n[horizon] Toi :\ntwo\n\n")
    assert view == from_nothing(hive)


def test_only_the_first_of_several_appends_prepares_a_view(hive):
    bee = hive.bee("mia")
    for hour in (1, 2):
        bee.keep()
        bee.read()
        for minute in range(3):
            with mock.patch("horizon.memory.extended", return_value=None) as prepared:
                bee.append(f"question {hour}", "a", at=AT + timedelta(hours=hour, minutes=minute))
            assert prepared.call_count == (minute == 0)
    assert bee.read() == from_nothing(hive)


def test_an_append_after_something_was_forgotten_brings_nothing_of_it_back(hive):
    bee = hive.bee("mia")
    bee.keep()
    secret = bee.append("the safe opens with 4711", "noted: 4711", at=AT + timedelta(hours=1))
    assert "4711" in bee.read().text
    wiring.forgetting(hive.path, "mia").forget(id_=secret.id)
    bee.append("and now?", "nothing", at=AT + timedelta(hours=2))
    assert "4711" not in bee.read().text
    assert bee.read() == from_nothing(hive)


def test_a_date_that_comes_after_undated_exchanges_dates_them_too(tmp_path):
    window = tmp_path / "window"
    window.mkdir()
    (tmp_path / "horizon.toml").write_text(SETTINGS, encoding="utf-8")
    (window / "mia-messages.jsonl").write_text('{"query": "undated", "response": "r"}\n', encoding="utf-8")
    hive = open_hive(tmp_path)
    bee = hive.bee("mia")
    assert "1970-01-01" in bee.read().text
    bee.append("dated", "a", at=AT)
    assert "1970-01-01" not in bee.read().text
    assert bee.read() == from_nothing(hive)


@pytest.mark.parametrize(
    "at", [datetime(1, 1, 2, tzinfo=UTC), datetime(1890, 3, 1, tzinfo=UTC), datetime.max.replace(tzinfo=UTC)]
)
def test_any_instant_is_held_as_it_will_be_read_back(tmp_path, at):
    (tmp_path / "horizon.toml").write_text(SETTINGS, encoding="utf-8")
    hive = open_hive(tmp_path)
    bee = hive.bee("mia")
    bee.append("first", "a", at=datetime(1, 1, 1, 1, tzinfo=UTC))
    bee.read()
    bee.append("\ud83d\udc1d\udc1d \x00", "b", kind=" outil ", tool="", at=at)
    assert bee.read() == from_nothing(hive)


def test_a_fresh_process_takes_the_view_that_upkeep_left_and_makes_its_receipt_when_asked(hive):
    expected = hive.bee("mia").read(trying=hive.bee("mia").settings().settings)
    view = read_without_loading(hive.bee("mia"))
    with mock.patch.object(view_file, "_parts_of", side_effect=AssertionError("nobody has asked for the receipt")):
        assert view.text == read_without_loading(hive.bee("mia")).text
    assert view == expected
    assert view.receipt == expected.receipt
    assert view.messages() == expected.messages()
    assert pickle.loads(pickle.dumps(view)) == expected


def test_a_fresh_process_adds_what_was_appended_since_to_the_view_that_was_left(hive):
    hive.bee("mia").append("since then", "one", at=AT + timedelta(hours=1))
    hive.bee("mia").append("and then", "two", kind="outil", at=AT + timedelta(hours=2))
    load, parse, _ = nothing_is_loaded()
    with load, parse:
        view = hive.bee("mia").read()
    assert [part.body for part in view.receipt[-4:]] == ["since then", "one", "and then", "two"]
    assert view == from_nothing(hive)


def changes(hive):
    """Yield what makes a view that was left another one, by name."""
    window = hive.path / "window"

    def settings():
        (hive.path / "horizon.toml").write_text(
            SETTINGS.replace("Paris", "Madrid") + "budget_net = 900\n", encoding="utf-8"
        )

    def own_settings():
        (hive.path / "bees").mkdir()
        (hive.path / "bees" / "mia.toml").write_text('[horizon]\nlangue = "en"\n', encoding="utf-8")

    def flag():
        hive.bee("mia").unflag(hive.bee("mia").read().receipt[-1].ids[0])

    def outcome():
        wiring.restore(hive.path, "mia", 1)

    def late():
        hive.bee("mia").append("long ago", "b", at=AT - timedelta(days=1))

    def much():
        hive.bee("mia").append("much", "m" * 40_000, at=AT + timedelta(days=1))

    def replaced():
        journal = window / "mia-messages.jsonl"
        data = journal.read_bytes().replace("réponse 19 ".encode(), "réponse XX ".encode())
        journal.write_bytes(data)
        os.utime(journal, (1, 1))

    return {"settings": settings, "own": own_settings, "flag": flag, "outcome": outcome, "late": late, "much": much, "replaced": replaced}  # fmt: skip


@pytest.mark.parametrize("name", ["settings", "own", "flag", "outcome", "late", "much", "replaced"])
def test_a_view_that_was_left_is_passed_over_once_anything_else_has_changed(hive, name):
    if name == "outcome":
        for n in range(90):
            hive.bee("mia").append(f"more {n}", "m " * 300, at=AT + timedelta(hours=1, minutes=n))
        wiring.maintain(hive.path, "mia")
    kept = (hive.path / "window" / "mia-horizon.view").read_bytes()
    before = read_without_loading(hive.bee("mia"))
    changes(hive)[name]()
    (hive.path / "window" / "mia-horizon.view").write_bytes(kept)
    after = hive.bee("mia").read()
    assert after != before
    assert after == from_nothing(hive)


def test_an_exchange_that_was_flagged_before_it_came_is_a_beacon(hive):
    """Another engine writes the flag before the line; the view was left between the two."""
    with (hive.path / "window" / "mia-phares.jsonl").open("ab") as file:
        file.write(b'{"id": "x", "phare": true, "quand": "2026-07-11T08:00:00Z"}\n')
    wiring.maintain(hive.path, "mia")
    with (hive.path / "window" / "mia-messages.jsonl").open("ab") as file:
        file.write(
            b'{"id": "x", "type": "outil", "quand": "2026-07-11T08:00:00Z", "question": "flagged", "reponse": "a"}\n'
        )
    view = hive.bee("mia").read()
    assert "phare" in view.receipt[-2].lead
    assert view == from_nothing(hive)


def test_a_view_from_before_something_was_forgotten_is_passed_over_wherever_it_comes_from(hive):
    bee = hive.bee("mia")
    secret = bee.append("the safe opens with 4711", "noted", at=AT + timedelta(hours=1))
    bee.append("something long", "else " * 200, at=AT + timedelta(hours=2))
    bee.keep()
    kept = (hive.path / "window" / "mia-horizon.view").read_bytes()
    assert b"4711" in kept
    wiring.forgetting(hive.path, "mia").forget(id_=secret.id)
    assert not (hive.path / "window" / "mia-horizon.view").exists()
    (hive.path / "window" / "mia-horizon.view").write_bytes(kept)  # as out of a backup
    hive.bee("mia").append("and now?", "nothing", at=AT + timedelta(hours=3))
    assert "4711" not in hive.bee("mia").read().text


def test_other_rules_for_the_zone_are_another_view(hive):
    """A view of the machine's own zone, read where the machine is said to be elsewhere."""
    (hive.path / "horizon.toml").write_text(SETTINGS.replace("Europe/Paris", ""), encoding="utf-8")
    wiring.maintain(hive.path, "mia")
    with mock.patch.dict(os.environ, {"TZ": "Asia/Tokyo"}):
        there = hive.bee("mia").read()
        assert "2026-07-10 21:03" in there.text
        assert there == from_nothing(hive)


@pytest.mark.parametrize("version", ["VERSION", "RENDERING"])
def test_a_view_of_another_version_is_passed_over(hive, version):
    with (
        mock.patch.object(view_file, version, getattr(view_file, version) + 1),
        mock.patch.object(view_file, "_view_of") as made,
    ):
        hive.bee("mia").read()
    assert not made.called


def test_a_damaged_view_is_passed_over_and_replaced_by_the_next_upkeep(hive):
    path = hive.path / "window" / "mia-horizon.view"
    whole = path.read_bytes()
    expected = hive.bee("mia").read()
    for damaged in (
        b"",
        whole[:-1],
        whole.replace(b"question 19", b"question 91"),
        b"\xff" * 40,
        whole[:9] + b"{}\n[]\n",
    ):
        path.write_bytes(damaged)
        assert hive.bee("mia").read() == expected
    wiring.maintain(hive.path, "mia")
    assert path.read_bytes() == whole


def test_upkeep_that_changes_nothing_leaves_the_file_alone(hive):
    path = hive.path / "window" / "mia-horizon.view"
    before = path.stat()
    wiring.maintain(hive.path, "mia")
    assert (path.stat().st_ino, path.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    assert path.stat().st_mode & 0o777 == 0o600


def test_nothing_is_left_while_a_settings_file_does_not_parse(hive):
    """Which of its last good values hold is not the same for every process."""
    path = hive.path / "window" / "mia-horizon.view"
    path.unlink()
    good = (hive.path / "horizon.toml").read_text(encoding="utf-8")
    (hive.path / "horizon.toml").write_text("[horizon\n", encoding="utf-8")
    hive.bee("mia").keep()
    assert not path.exists()
    (hive.path / "horizon.toml").write_text(good + "\nunknown = 1\n", encoding="utf-8")
    hive.bee("mia").keep()
    assert path.exists()


def test_nothing_is_left_where_the_horizon_is_switched_off(tmp_path):
    bee = open_hive(tmp_path).bee("mia")
    bee.keep()
    assert not [*tmp_path.iterdir()]
    bee.append("q", "a", at=AT)
    bee.keep()
    assert not (tmp_path / "window" / "mia-horizon.view").exists()


def test_the_doctor_tells_of_a_view_that_is_not_what_the_journals_give(hive):
    path = hive.path / "window" / "mia-horizon.view"
    assert not [found for found in examine(hive.path) if found.kind == "drift"]
    head, parts, text = path.read_bytes()[9:].split(b"\n", 2)
    rest = b"\n".join((head, parts, text.replace(b"question 19", b"question 91")))
    path.write_bytes(b"%08x\n" % view_file.zlib.crc32(rest) + rest)
    found = [found for found in examine(hive.path) if found.kind == "drift"]
    assert [each.path for each in found] == [str(path)]
    assert "horizon rebuild" in found[0].remedy
    wiring.rebuild(hive.path, "mia")
    assert not [found for found in examine(hive.path) if found.kind == "drift"]
