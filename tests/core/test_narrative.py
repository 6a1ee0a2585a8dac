"""The rolling narrative: its template, its shares, what a model's melting must keep, and melting by code."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from horizon.core.event import Section
from horizon.core.narrative import (
    HEADINGS,
    SHARES,
    Melting,
    caps,
    judge,
    lost_share,
    prompt,
    schema,
    truncate,
)
from horizon.core.prompt import OWN_MARKER, most_tokens
from horizon.core.verdict import Rejected

MOST = 1_800
PREVIOUS = {
    Section.MISSION: "Refaire le site de la ruche.",
    Section.DECISIONS: "On garde SQLite.\nLe site reste en français.\nPas de cookies.",
    Section.FILES: "src/page.css : la mise en page.\nsrc/menu.js : le menu.",
    Section.IN_PROGRESS: "Le menu est à moitié traduit.",
}
BATCH = [
    Melting(when="2026-08-23", question="Et la page ?", text="Le titre débordait ; src/page.css est corrigé."),
    Melting(when="2026-08-24", question="On publie quand ?", text="Décidé : publication jeudi 27 août 2026."),
]


def reply(**sections):
    return json.dumps(
        {section.value: sections.get(section.name.lower(), []) for section in Section}, ensure_ascii=False
    )


GOOD = reply(
    mission=["Refaire le site de la ruche."],
    decisions=["On garde SQLite.", "Le site reste en français.", "Pas de cookies.", "Publication le 27 août 2026."],
    files=["src/page.css : la mise en page, titre corrigé.", "src/menu.js : le menu."],
    in_progress=["Le menu est à moitié traduit."],
)


def melted(text):
    return judge(text, PREVIOUS, BATCH, most=MOST, language="fr")


def test_a_good_melting_is_taken():
    sections = melted(GOOD)
    assert sections[Section.DECISIONS].split("\n")[-1] == "Publication le 27 août 2026."
    assert Section.ERRORS not in sections


@pytest.mark.parametrize("around", ["<think>hum</think>{}", "Voici :\n```json\n{}\n```", "{} Voilà {{sourire}}."])
def test_what_stands_around_the_json_is_survived(around):
    assert melted(around.replace("{}", GOOD, 1)) == melted(GOOD)


def test_a_text_instead_of_a_list_is_read_by_lines():
    value = json.loads(GOOD)
    value["decisions"] = "- " + "\n- ".join(value["decisions"])
    assert melted(json.dumps(value)) == melted(GOOD)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "rien",
        "[]",
        '{"autre": []}',
        "<think>hum",
        reply(mission=["Refaire le site."]),
        GOOD.replace("27 août", "28 août"),
        GOOD.replace("src/menu.js", "src/menu.ts"),
        GOOD.replace("On garde SQLite", "Marie garde SQLite"),
        reply(),
    ],
)
def test_a_melting_that_loses_or_invents_is_rejected(text):
    found = melted(text)
    assert isinstance(found, Rejected)
    assert found.reason


def test_our_own_notes_in_a_prompt_are_no_part_of_what_a_model_says():
    batch = [Melting(when="2026-08-23", question="q", text="Le menu est traduit.\n" + "fait\n" * 9)]
    said = ["Le menu est traduit.", "fait (×9)", "(×9)", "(… 120 caractères omis …)"]
    made = judge(reply(decisions=said), {}, batch, most=MOST, language="fr")
    assert made[Section.DECISIONS] == "Le menu est traduit.\nfait"


def test_what_several_exchanges_say_alike_is_said_once_and_is_no_loop():
    line = "2026-08-23 : Le service est prêt et tourne comme hier."
    batch = [Melting(when="2026-08-23", question="q", text="Le service est prêt et tourne comme hier.")] * 5
    assert judge(reply(decisions=[line] * 5), {}, batch, most=MOST, language="fr")[Section.DECISIONS] == line
    assert isinstance(judge(reply(decisions=["le service " * 40]), {}, batch, most=MOST, language="fr"), Rejected)


def test_how_much_is_lost_is_measured_by_lines():
    assert lost_share(PREVIOUS, PREVIOUS) == 0
    assert lost_share(PREVIOUS, {}) == 1
    assert lost_share({Section.MISSION: "Peu."}, {}) == 0
    without = {**PREVIOUS, Section.FILES: ""}
    assert lost_share(PREVIOUS, without) == pytest.approx(1 / 7)


def test_a_section_that_is_too_long_keeps_its_newest_lines_and_counts_the_others():
    many = [f"Décision numéro {number} de la ruche" for number in range(100)]
    batch = [Melting(when="2026-08-23", question="q", text=". ".join(many))]
    made = judge(reply(decisions=many), {}, batch, most=MOST, language="fr")
    lines = made[Section.DECISIONS].split("\n")
    assert lines[-1] == many[-1]
    assert lines[0] == f"… {100 - (len(lines) - 1)} plus anciens, au journal"
    assert len(made[Section.DECISIONS]) <= caps(MOST)[Section.DECISIONS]


def test_melting_by_code_carries_sorts_and_dates():
    sections = truncate(PREVIOUS, BATCH, most=MOST, language="fr")
    assert sections[Section.MISSION] == PREVIOUS[Section.MISSION]
    assert sections[Section.DECISIONS].endswith("2026-08-24 : Décidé : publication jeudi 27 août 2026.")
    assert sections[Section.FILES].endswith("2026-08-23 : Le titre débordait ; src/page.css est corrigé.")


def test_melting_by_code_takes_the_first_question_as_the_mission():
    assert truncate({}, BATCH, most=MOST, language="fr")[Section.MISSION] == "2026-08-23 : Et la page ?"


def test_the_strip_goes_with_the_files():
    batch = [Melting(when="2026-08-23", question="q", text="Fait. ⟨git push · src/a.py⟩")]
    assert truncate({}, batch, most=MOST, language="fr")[Section.FILES] == "2026-08-23 : git push · src/a.py"


def test_what_dropped_lines_had_of_commands_and_paths_stays_compactly_with_the_files():
    sections = {}
    told = "Erreur : la page était lente depuis la mise à jour et personne ne savait pourquoi, ni depuis quand au juste"
    for number in range(12):
        text = f"{told} ({number}), vu par `make page{number}` et src/page{number}.css."
        batch = [Melting(when=f"2026-08-{number + 1:02}", question="q", text=text)]
        sections = truncate(sections, batch, most=1_000, language="fr")
    assert "(0)" not in sections[Section.ERRORS]
    assert all(f"make page{number}" in "".join(sections.values()) for number in range(12))
    assert all(f"src/page{number}.css" in "".join(sections.values()) for number in range(12))
    assert sections[Section.FILES].startswith("⟨make page0 · src/page0.css · make page1 · ")
    assert sum(map(len, sections.values())) <= 1_000


def test_the_least_telling_things_go_first_when_even_they_are_too_many():
    sections = {}
    for number in range(40):
        text = f"Vu : `make page{number}`. ⟨https://exemple.fr/{number} · RUCHE-{number}⟩"
        sections = truncate(sections, [Melting(when="2026-08-01", question="q", text=text)], most=1_200, language="fr")
    whole = "".join(sections.values())
    assert "make page39" in whole
    assert whole.count("make page") > 3 * whole.count("https://")
    assert "RUCHE-0 " not in whole


def test_what_is_dropped_is_counted_over_sixty_meltings():
    sections = {}
    for number in range(60):
        batch = [
            Melting(when=f"2026-08-{number % 28 + 1:02}", question="q", text=f"Décidé : point {number} de la liste.")
        ]
        sections = truncate(sections, batch, most=MOST, language="en")
    lines = sections[Section.DECISIONS].split("\n")
    older = int(lines[0].removeprefix("… ").split()[0])
    assert lines[0].endswith("older ones, in the journal")
    assert older + len(lines) - 1 == 60


@pytest.mark.parametrize("language", ["fr", "en"])
def test_the_prompt_fits_and_asks_for_a_closed_schema(language):
    batch = [Melting(when="2026-08-23", question="q" * 20_000, text="记" * 480)] * 12
    asked = prompt(PREVIOUS, batch, most=MOST, language=language, window=8192, reason="il manque")
    assert asked.system.startswith(OWN_MARKER)
    assert most_tokens(asked.system) + most_tokens(asked.text) + asked.reply_tokens <= 8192
    assert asked.text.count("</donnees>") == 1
    assert HEADINGS[language][Section.DECISIONS] in asked.text
    assert asked.schema == schema(MOST)
    assert asked.schema["required"] == [section.value for section in Section]


def test_a_window_too_small_for_the_batch_is_refused():
    assert isinstance(prompt(PREVIOUS, BATCH * 40, most=MOST, language="fr", window=2048), Rejected)


def test_the_shares_are_a_whole():
    assert sum(SHARES.values()) == pytest.approx(1)
    assert sum(caps(1_000).values()) <= 1_000


LINES = st.lists(
    st.text(max_size=60)
    | st.sampled_from(["src/a.py est prêt", "erreur 404", "Demain, la suite.", "… 3 plus anciens, au journal"]),
    max_size=12,
).map("\n".join)


@settings(max_examples=80, deadline=None)
@given(
    st.dictionaries(st.sampled_from(list(Section)), LINES),
    st.lists(st.builds(Melting, when=st.just("2026-08-23"), question=st.text(max_size=300), text=LINES), max_size=6),
    st.integers(0, 2_000),
    st.sampled_from(["fr", "en"]),
)
def test_no_section_of_a_melting_by_code_is_over_its_share_but_files_that_have_what_others_leave(
    previous, batch, most, language
):
    sections = truncate(previous, batch, most=most, language=language)
    assert all(
        0 < len(text) <= caps(most)[section] for section, text in sections.items() if section is not Section.FILES
    )
    assert sum(map(len, sections.values())) <= sum(caps(most).values())
    assert sections == truncate(previous, batch, most=most, language=language)


@settings(max_examples=80, deadline=None)
@given(
    st.dictionaries(
        st.sampled_from([section.value for section in Section]), st.lists(st.text(max_size=90), max_size=9) | LINES
    ),
    st.integers(0, 900),
)
def test_no_section_of_a_judged_melting_is_over_its_share(value, most):
    batch = [Melting(when="2026-08-23", question="q", text=json.dumps(value, ensure_ascii=False))]
    sections = judge(json.dumps(value), {}, batch, most=most, language="fr")
    if not isinstance(sections, Rejected):
        assert all(0 < len(text) <= caps(most)[section] for section, text in sections.items())
