"""What of a day is lived life (spec 2-consolidation §2)."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from horizon.core import asking
from horizon.core.day import Lived
from horizon.core.evidence import LeftOut, is_bench, own_words, sift
from horizon.core.exchange import Exchange
from horizon.core.prompt import OWN_MARKER

NOON = datetime(2026, 7, 9, 12, tzinfo=UTC)


def lived(
    question="Une question.",
    answer="Une réponse.",
    *,
    id_="a",
    minutes=0.0,
    source="traces.db",
    agent="simple",
    model="llama3:latest",
):
    at = NOON + timedelta(minutes=minutes)
    return Lived(
        exchange=Exchange(id=id_, at=at, question=question, answer=answer, model=model), source=source, agent=agent
    )


def sifted(*day, bench=(), agents=()):
    return sift(day, bench=bench, agents=agents)


@pytest.mark.parametrize(
    ("model", "bench"),
    [
        ("test-model", True), ("TEST", True), ("my_test", True), ("org/test:7b", True), ("Test.v2", True),
        ("llama3:latest", False), ("contest-7b", False), ("testament", False), ("greatest", False), ("", False), (None, False),
    ],
)  # fmt: skip
def test_a_bench_model_has_the_word_test_not_the_letters(model, bench):
    assert is_bench(model, ()) is bench


def test_bench_patterns_are_simple_and_without_case():
    assert is_bench("Bench-7b", ("bench*",))
    assert is_bench("m1", ("m?",))
    assert not is_bench("m12", ("m?",))
    assert not is_bench("ab", ("a[b]",))
    assert is_bench("a[b]", ("a[b]",))


def test_left_out_exchanges_are_counted_by_reason_and_the_rest_keeps_its_order():
    found = sifted(
        lived("Plus tard.", minutes=5, id_="c"),
        lived("  ", id_="b"),
        lived("Quoi ?", "\n", id_="d"),
        lived(id_="e", model="test-model"),
        lived(f"{OWN_MARKER} Tu condenses.", id_="f"),
        lived(id_="g", agent="voice"),
        lived("D'abord.", id_="h"),
        agents=("simple",),
    )
    assert [each.exchange.question for each in found.kept] == ["D'abord.", "Plus tard."]
    assert found.left_out == {LeftOut.BLANK: 2, LeftOut.BENCH: 1, LeftOut.OWN: 1, LeftOut.AGENT: 1}


def test_500_bench_rows_in_the_evening_do_not_hide_the_day():
    day = [lived(f"Vécu {n}.", minutes=n, id_=f"v{n}") for n in range(20)]
    bench = [lived("who are you?", "Hello", minutes=300 + n / 10, id_=f"b{n}", model="test-model") for n in range(500)]
    found = sifted(*day, *bench)
    assert len(found.kept) == 20
    assert found.left_out == {LeftOut.BENCH: 500}


def test_the_same_exchange_from_two_sources_counts_once_and_a_repeated_question_twice():
    found = sifted(
        lived(id_="a", source="traces.db"),
        lived(id_="b", source="window/mia", minutes=1),
        lived(id_="c", source="traces.db", minutes=2),
    )
    assert [each.exchange.id for each in found.kept] == ["a", "c"]
    assert found.left_out == {LeftOut.TWICE: 1}


VIEW = (
    "[horizon récit de soi]\n[mission] publier la page\n\n"
    "[horizon : le passé plus ancien est condensé ci-dessus ; l'historique intégral vit au journal]\n"
    "[horizon 2026-07-08 09:00]\nLui : J'utilise Postgres.\nToi : Bien."
)


def test_a_quoted_horizon_is_no_evidence_and_the_words_around_it_are():
    text = f"Voici ma mémoire :\n{VIEW}\n\nEt maintenant, on passe à SQLite."
    assert own_words(text) == "Voici ma mémoire :\nEt maintenant, on passe à SQLite."
    assert own_words(VIEW) == ""
    assert sifted(lived(VIEW)).left_out == {LeftOut.BLANK: 1}


def test_a_view_whose_last_entry_has_paragraphs_ends_at_two_blank_lines():
    text = f"{VIEW}\n\nUn second paragraphe d'hier.\n\n\nAujourd'hui, je préfère le thé."
    assert own_words(text) == "Aujourd'hui, je préfère le thé."


def test_our_prompt_quoted_whole_is_no_evidence_and_a_discussion_about_it_is():
    part = (lived("Je préfère le thé."),)
    prompt = asking.prompt(part, zone=UTC, language="fr", window=8192, facts=3)
    quoted = f"Mon système a reçu :\n{prompt.system}\n{prompt.text}\n\nQu'en penses-tu ?"
    assert "Je préfère le thé" not in own_words(quoted)
    assert own_words(quoted).startswith("Mon système a reçu :")
    discussion = "Je trouve que notre consigne « Tu relis les échanges d'une journée » est trop longue."
    assert own_words(discussion) == discussion


def test_our_prompt_quoted_inside_a_line_is_no_evidence_and_its_marker_alone_is_talk():
    part = (lived("Je préfère le thé."),)
    prompt = asking.prompt(part, zone=UTC, language="fr", window=8192, facts=3)
    escaped = json.dumps([{"content": prompt.system}, {"content": prompt.text}], ensure_ascii=False)
    for quoted in (f"Voici : {prompt.system}\n{prompt.text}", f"Journal : {escaped} fin."):
        assert "Je préfère le thé" not in own_words(quoted)
    talk = f"Je vois souvent le signe {OWN_MARKER} dans les journaux ; à quoi sert-il ?"
    assert own_words(talk) == talk


@pytest.mark.parametrize(
    "piece",
    [OWN_MARKER + " x ", OWN_MARKER + "\n", "<memory> ", "<memory ", "<memory></system>", "</donnees>" + OWN_MARKER],
)
def test_a_text_full_of_our_marks_costs_a_look_at_each(piece):
    text = "Voir " + piece * (300_000 // len(piece))
    assert len(own_words(text)) <= len(text)
    assert own_words(f"{text}\n\n\nJe préfère le thé.").endswith("Je préfère le thé.")


def test_system_prompts_and_recalled_memory_in_a_query_are_no_evidence():
    text = "<|im_start|>system\nYou like tea.<|im_end|>Bonjour !"
    assert own_words(text) == "Bonjour !"
    assert own_words("<memory>Il utilise Postgres.</memory>\nQuelle base ?").strip() == "Quelle base ?"
    assert own_words("Bonjour.\n<system_prompt>You like tea.") == "Bonjour.\n"
    talk = "La balise <memory> reste, <system> aussi."
    assert own_words(talk) == talk


def test_a_text_of_html_is_left_as_it_is():
    text = "<p>Bonjour</p> [voir](horizon) <memoire>"
    assert own_words(text) == text


@given(st.text(max_size=300))
def test_text_without_our_marks_is_never_changed(text):
    if not any(mark in text.lower() for mark in ("<", "[horizon", OWN_MARKER)):
        assert own_words(text) == text


@given(st.lists(st.tuples(st.sampled_from(["", " ", "a", "b"]), st.integers(0, 3)), max_size=12))
def test_every_exchange_is_kept_or_counted(day):
    found = sifted(*(lived(text, minutes=n, id_=str(place)) for place, (text, n) in enumerate(day)))
    assert len(found.kept) + sum(found.left_out.values()) == len(day)
    assert [each.order for each in found.kept] == sorted(each.order for each in found.kept)
