"""`horizon narrative`: versions are kept, listed, shown and restored."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from horizon import open_hive, wiring

SETTINGS = """
[horizon]
actif = true
budget_net = 400
budget_condense = 300
resumeur = "troncature"
fuseau = "UTC"
"""


@pytest.fixture
def hive(tmp_path):
    path = tmp_path / "ruche"
    path.mkdir()
    (path / "horizon.toml").write_text(SETTINGS)
    bee = open_hive(path).bee("mia")
    for number in range(9):
        at = datetime(2026, 7, 10, 8, number, tzinfo=UTC)
        bee.append(f"What of relay {number}?", f"Relay {number} heats basin {number + 40}. It is well. " * 4, at=at)
        wiring.maintain(path, "mia")
    return path


def test_versions_are_listed_in_order_and_any_is_shown(run, hive):
    assert run("narrative", hive, "mia", "--json") == 0
    versions = run.json["versions"]
    assert [each["version"] for each in versions] == list(range(1, len(versions) + 1))
    assert len(versions) > 3
    assert [each["base"] for each in versions] == list(range(len(versions)))
    assert {each["par"] for each in versions} == {"troncature"}
    assert run("narrative", hive, "mia", "--show", "1") == 0
    assert "Relay 0 heats basin 40." in run.out
    assert "Relay 3" not in run.out


def test_a_restored_version_is_what_is_read_and_all_others_are_kept(run, hive):
    bee = open_hive(hive).bee("mia")
    words = [part.body for part in bee.read().receipt if part.role == "parole"]
    before = len(wiring.narratives(hive, "mia"))
    assert "Relay 3 heats" in bee.read().text
    instant = datetime.now(UTC)

    assert run("narrative", hive, "mia", "--restore", "1") == 0

    text = bee.read().text
    assert "Relay 0 heats" in text
    assert "Relay 3 heats" not in text
    assert [part.body for part in bee.read().receipt if part.role == "parole"] == words
    assert "Relay 3 heats" in bee.read(at=instant).text
    assert open_hive(hive).bee("mia").read().text == text
    newest = wiring.narratives(hive, "mia")[-1]
    assert (newest.version, newest.base, newest.cause) == (before + 1, 1, "restauration")

    for number in (97, 98, 99):
        at = instant + timedelta(minutes=number)
        bee.append(f"What of relay {number}?", f"Relay {number} heats basin {number + 40}. It is well. " * 4, at=at)
    wiring.maintain(hive, "mia")
    assert wiring.narratives(hive, "mia")[newest.version].base == newest.version
    assert "Relay 0 heats" in bee.read().text


@pytest.mark.parametrize("what", ["--show", "--restore"])
def test_a_version_that_is_not_there_is_refused(run, hive, what):
    assert run("narrative", hive, "mia", what, "4000") == 2
    assert "4000" in run.err
