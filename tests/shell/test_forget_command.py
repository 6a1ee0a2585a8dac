"""`horizon forget` from the command line."""

from __future__ import annotations

import io
from datetime import UTC, datetime

import pytest

from horizon import open_hive
from horizon.cli import main
from tests import remembered_hive

AT = datetime(2026, 7, 10, 8, 0, tzinfo=UTC)


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def hive(tmp_path):
    return tmp_path / "ruche"


def test_a_file_of_others_that_still_holds_it_is_named(hive, run):
    hive.mkdir()
    bee = open_hive(hive).bee("mia")
    id_ = bee.append("q", "La grande horloge du salon retarde de onze minutes.", at=AT).id
    (hive / "notes.txt").write_text("la grande horloge du salon retarde de onze minutes. Voilà.")
    (hive / "journal.md").write_text("## 2026-07-10\n\nLa grande horloge du salon retarde de onze minutes.\n")

    assert run("forget", hive, "mia", id_, "--yes", "--json") == 1
    assert run.json["remaining"] == [str(hive / "journal.md"), str(hive / "notes.txt")]


def test_the_command_asks_first_and_needs_yes_where_nobody_can_be_asked(hive, run, monkeypatch, capsys):
    id_ = remembered_hive.make(hive, nights=False)
    assert run("forget", hive, "mia", id_) == 2
    assert "--yes" in run.err
    assert "Hautes-Feuilles" in open_hive(hive).bee("mia").exchange(id_).question

    for answer, told in (("no\n", "nothing was forgotten"), ("oui\n", "no file of the hive holds any of it now")):
        monkeypatch.setattr("sys.stdin", Terminal(answer))
        assert main(["forget", str(hive), "mia", "--matching", "hautes-feuilles"]) == 0
        said = capsys.readouterr().out
        assert id_ in said
        assert told in said
    assert remembered_hive.holding(hive) == {}
