"""journal.md: a section a day, in order; a person's text is never touched (spec 2-consolidation §4)."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from horizon.adapters.day_journal import KEPT, UNCHANGED, WRITTEN, DayJournal

DAY = date(2026, 7, 9)


@pytest.fixture
def journal(tmp_path):
    return DayJournal(tmp_path / "journal.md")


def test_sections_are_in_order_of_date_whatever_the_order_of_writing(journal):
    for back in (3, 1, 2):
        assert journal.write(DAY - timedelta(days=back), f"Il y a {back} jours.", set()) == WRITTEN
    assert journal.path.read_text() == (
        "\n## 2026-07-06\n\nIl y a 3 jours.\n\n## 2026-07-07\n\nIl y a 2 jours.\n\n## 2026-07-08\n\nIl y a 1 jours.\n"
    )


def test_what_we_wrote_is_replaced_and_what_a_person_wrote_is_not(journal):
    journal.write(DAY, "Un.", set())
    assert journal.write(DAY, "Un.", {"Un."}) == UNCHANGED
    assert journal.write(DAY, "Deux.", {"Un."}) == WRITTEN
    assert journal.section(DAY) == "Deux."
    text = journal.path.read_text().replace("Deux.", "Deux, et une remarque.")
    journal.path.write_text(text)
    assert journal.write(DAY, "Trois.", {"Un.", "Deux."}) == KEPT
    assert journal.path.read_text() == text


def test_a_section_left_blank_by_a_person_is_filled(journal):
    journal.path.write_text("## 2026-07-09\n\n## 2026-07-10\n\nDemain.\n")
    assert journal.write(DAY, "Un.", set()) == WRITTEN
    assert journal.path.read_text() == "## 2026-07-09\n\nUn.\n\n## 2026-07-10\n\nDemain.\n"


OTHERS = st.lists(
    st.sampled_from(
        [
            "# Titre", "", "Texte libre.", "## Notes", "### 2026-07-09", "```", "## 2026-07-09 dans un bloc", "~~~", "- liste",
            "## 2026-06-01", "Vieux.", "## 2026-12-01 (jeudi)", "Futur.", "\u2028", "## 2026-13-45", "##2026-07-09",
        ]
    ),
    max_size=12,
)  # fmt: skip


@given(lines=OTHERS, newline=st.sampled_from(["\n", "\r\n"]), end=st.booleans())
def test_everything_else_in_the_file_stays(lines, newline, end, tmp_path_factory):
    journal = DayJournal(tmp_path_factory.mktemp("journal") / "journal.md")
    before = newline.join(lines) + (newline if end and lines else "")
    journal.path.write_bytes(before.encode())
    fate = journal.write(DAY, "Notre texte.", set())
    after = journal.path.read_bytes().decode()
    if fate == KEPT:
        assert after == before
        return
    assert journal.section(DAY) == "Notre texte."
    kept = [line for line in lines if line]
    found = [line for line in after.replace("\r\n", "\n").split("\n") if line]
    remaining = iter(found)
    assert all(line in remaining for line in kept), "a line of others is gone or has moved"
    assert len(found) - len(kept) in {1, 2}
    assert ("\n" not in after.replace("\r\n", "")) or newline == "\n" or before.count("\r\n") == 0
    assert journal.write(DAY, "Notre texte.", set()) == UNCHANGED
    assert journal.path.read_bytes().decode() == after


def test_windows_line_ends_are_kept(journal):
    journal.path.write_bytes(b"# Journal\r\n\r\n## 2026-07-01\r\n\r\nVieux.\r\n")
    journal.write(DAY, "Un.", set())
    assert (
        journal.path.read_bytes() == b"# Journal\r\n\r\n## 2026-07-01\r\n\r\nVieux.\r\n\r\n## 2026-07-09\r\n\r\nUn.\r\n"
    )
    assert journal.section(DAY) == "Un."


def test_a_heading_in_a_code_fence_is_none(journal):
    text = "```\n## 2026-07-09\n\nexemple\n```\n"
    journal.path.write_text(text)
    assert journal.section(DAY) is None
    assert journal.write(DAY, "Un.", set()) == WRITTEN
    assert journal.path.read_text() == text + "\n## 2026-07-09\n\nUn.\n"


def test_reading_makes_no_file(journal):
    assert journal.section(DAY) is None
    assert not journal.path.exists()
