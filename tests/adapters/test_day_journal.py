"""journal.md: a section a day, in order; a person's text is never touched (spec 2-consolidation §4)."""

from __future__ import annotations

from datetime import date, timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

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
            "````", "   ## 2026-07-01", "    ## 2026-07-09", "``` `x` ```",
            "## 2026-06-01", "Vieux.", "## 2026-12-01 (jeudi)", "Futur.", "\u2028", "## 2026-13-45", "##2026-07-09",
            "<!--", "-->", "<!-- un mot -->", "<!-->", "fin -->",
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


def test_a_heading_in_a_comment_is_none(journal):
    text = "# Moi\n\n<!-- à relire\n## 2026-07-09\n\nexemple -->\n"
    journal.path.write_text(text)
    assert journal.section(DAY) is None
    assert journal.write(DAY, "Un.", set()) == WRITTEN
    assert journal.path.read_text() == text + "\n## 2026-07-09\n\nUn.\n"


@pytest.mark.parametrize("left_open", ["```sh\nls", "~~~~\n~~~", "<!-- à relire"])
def test_a_new_section_goes_before_the_one_that_leaves_a_fence_or_comment_open(journal, left_open):
    before = "# Moi\n\n## 2026-07-01\n\nVieux.\n\n"
    text = f"## 2026-07-02\n\n{left_open}\n"
    journal.path.write_text(before + text)
    assert journal.write(DAY + timedelta(days=1), "Deux.", set()) == WRITTEN
    assert journal.write(DAY, "Un.", set()) == WRITTEN
    ours = "## 2026-07-09\n\nUn.\n\n## 2026-07-10\n\nDeux.\n\n"
    assert journal.path.read_text() == before + ours + text


PLAIN = st.lists(
    st.sampled_from(
        [
            "# Titre", "", "Texte libre.", "## Notes", "```", "~~~", "````", "``` sh", "<!--", "-->", "<!-- un mot -->", "<!-->",
            "## 2026-07-01", "## 2026-12-01",
        ]
    ),
    max_size=12,
)  # fmt: skip


def headings(text):
    tokens = MarkdownIt().parse(text)
    return [
        following.content
        for token, following in pairwise(tokens)
        if token.type == "heading_open" and token.tag in {"h1", "h2"}
    ]


@given(lines=PLAIN)
def test_markdown_shows_a_new_section_unless_all_is_hidden_from_before_the_first_heading(lines, tmp_path_factory):
    journal = DayJournal(tmp_path_factory.mktemp("journal") / "journal.md")
    before = "\n".join(lines)
    journal.path.write_text(before)
    assert journal.write(DAY, "Notre texte.", set()) == WRITTEN
    there = headings(before)
    open_at_end = "2026-07-09" not in headings(before + "\n\n## 2026-07-09\n")
    shown = headings(journal.path.read_text())
    assert [each for each in shown if each != "2026-07-09"] == there
    assert ("2026-07-09" in shown) or (open_at_end and not there)


def test_a_file_that_is_gone_is_made_again_with_every_section_and_one_that_is_there_is_left(journal):
    sections = {DAY: "Deux.", DAY - timedelta(days=1): "Un.\n"}
    assert journal.remake(sections)
    assert journal.path.read_text() == "\n## 2026-07-08\n\nUn.\n\n## 2026-07-09\n\nDeux.\n"
    journal.path.write_text("")
    assert not journal.remake(sections)
    assert journal.path.read_text() == ""


def test_a_fence_ends_at_one_as_long_as_it_and_of_its_kind(journal):
    text = "````\n```\n## 2026-07-09\n```\n~~~~\n## 2026-07-09\n````\n"
    journal.path.write_text(text)
    assert journal.section(DAY) is None
    assert journal.write(DAY, "Un.", set()) == WRITTEN
    assert journal.path.read_text() == text + "\n## 2026-07-09\n\nUn.\n"


@pytest.mark.parametrize("before", ["\ufeff## 2026-07-09\n\nÀ moi.\n", "   ## 2026-07-09 (jeudi)\n\nÀ moi.\n"])
def test_a_persons_heading_is_seen_behind_a_byte_order_mark_and_indented(journal, before):
    journal.path.write_text(before, encoding="utf-8")
    assert journal.section(DAY) == "À moi."
    assert journal.write(DAY, "Un.", set()) == KEPT
    assert journal.path.read_text(encoding="utf-8") == before


def test_a_file_that_is_no_utf_8_is_refused_and_stands(journal):
    journal.path.write_text("Mon journal", encoding="utf-16")
    before = journal.path.read_bytes()
    with pytest.raises(OSError, match="UTF-16"):
        journal.write(DAY, "Un.", set())
    assert journal.path.read_bytes() == before


def test_ten_years_of_sections_are_kept_and_found(journal):
    first = date(2016, 1, 1)
    every = [first + timedelta(days=ahead) for ahead in range(3_653)]
    journal.path.write_text(
        "# Dix ans\n" + "".join(f"\n## {day}\n\nLe {day}.\n" for day in every if day.day != 9), encoding="utf-8"
    )
    before = journal.path.read_text()
    absent = [day for day in every if day.day == 9]
    for day in absent[::13]:
        assert journal.write(day, f"Le {day}.", set()) == WRITTEN
    found = journal.sections()
    assert [day for day, _ in found] == sorted({day for day in every if day.day != 9} | set(absent[::13]))
    assert all(text == f"Le {day}." for day, text in found)
    after = journal.path.read_text()
    for day in absent[::13]:
        after = after.replace(f"## {day}\n\nLe {day}.\n\n", "")
    assert after == before


def test_many_fences_left_open_cost_no_more_than_a_look_each(journal):
    text = "".join(f"{'`' * (3 + n % 5)} {n}\n" for n in range(20_000))
    journal.path.write_text(text)
    assert journal.write(DAY, "Un.", set()) == WRITTEN
    assert journal.section(DAY) == "Un."
    assert journal.path.read_text() == text + "\n## 2026-07-09\n\nUn.\n"


def test_what_a_killed_write_left_beside_it_is_swept(journal):
    ours = journal.path.with_name(".journal.md.123-0a1b2c3d.tmp")
    others = [journal.path.with_name(name) for name in ("journal.md.tmp", ".journal.md.swp", ".autre.md.1-a.tmp")]
    for path in (ours, *others):
        path.write_text("x")
    journal.write(DAY, "Un.", set())
    assert not ours.exists()
    assert all(path.exists() for path in others)


def test_reading_makes_no_file(journal):
    assert journal.section(DAY) is None
    assert not journal.path.exists()
