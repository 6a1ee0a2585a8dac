"""What is no summary at all, whatever it says: the ways in which small models fail, and sentences that look like them."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from horizon.core import condensation, narrative
from horizon.core.exchange import Exchange
from horizon.core.extraction import summary_of
from horizon.core.narrative import Melting
from horizon.core.prose import fault_of, no_sentence
from horizon.core.verdict import Rejected
from tests.strategies import START

FRENCH = "La colonie N5 pèse 27 kg ; le fichier /srv/ruche/bilan.csv est à jour."
ENGLISH = "The colony weighs 27 kg and the file /srv/hive/report.csv is up to date."
CHINESE = "蜂群重27公斤，文件已经更新，下周再检查一次。"

STUCK = [
    "G" * 400,
    "!" * 400,
    "[" * 10_000,
    '{"faits":' + "[" * 300,
    "G G G G G " * 30,
    "🙂" * 200,
    "a" * 2_000,
    "la " * 15,
    "the the the the the",
    "\u200b" * 300 + "x" * 13,
    "La ruche est saine.\n" + "la la la la la la la la la la la la la la la la la\n" * 3,
    "<|im_end|>",
    "<|im_start|>assistant The colony is fine.",
    "I cannot help with that request.",
    "I'm sorry, but I can't summarise this text.",
    "As an AI language model, I am unable to summarise this.",
    "Je suis désolé, mais je ne peux pas répondre.",
    "En tant qu'IA, je ne peux pas résumer ce texte.",
    "« Je ne peux pas résumer ce texte. »",
    "La ruche est saine.\nJe suis désolé, je ne peux pas résumer le reste.",
    "抱歉，我无法总结这段文字。",
    "作为一个人工智能语言模型，我不能回答。",
]
TOO_LITTLE = [
    "@ @ @ @ " * 80,
    ". . . . " * 50,
    "\u200b" * 300,
    "ok",
    ".",
    "null",
    "{}",
    "[]",
    "N/A",
    "12 12 14",
    "none",
    "assistant",
    "好的",
    '{"summary": "La colonie pèse 27 kg."}',
]
TOLD = [
    FRENCH,
    ENGLISH,
    CHINESE,
    "La colonie pèse 27 kg.",
    "The colony weighs 27 kg.",
    "蜂群重27公斤，已更新。",
    "Rien n'a changé.",
    "It was done and it was good, and it was done again as it was asked.",
    "Désormais la colonie pèse 27 kg.",
    "[27 kg] La colonie est pesée (bilan.csv).",
    "The assistant is sorry that the report came late.",
]


@pytest.mark.parametrize("text", STUCK, ids=lambda text: text[:24])
def test_what_a_model_that_is_stuck_gives_is_no_prose(text):
    assert fault_of(text, (FRENCH, ENGLISH, CHINESE)) is not None


@pytest.mark.parametrize("text", TOO_LITTLE, ids=lambda text: text[:24])
def test_a_word_or_two_and_data_are_no_summary(text):
    assert no_sentence(text) is not None


@pytest.mark.parametrize("bad", ["G" * 40, "ok", "Je suis désolé, je ne peux pas résumer ce texte."])
def test_none_of_it_becomes_a_condensate_a_narrative_or_a_day_s_summary(bad):
    exchange = Exchange(id="e", at=START, kind="outil", question="Combien ?", answer=f"{FRENCH} " * 8)
    melting = [Melting(when="2026-08-23", question="Combien ?", text=FRENCH)]
    assert isinstance(condensation.judge(bad, exchange, language="fr"), Rejected)
    assert isinstance(narrative.judge(json.dumps({"mission": bad}), {}, melting, most=900, language="fr"), Rejected)
    assert summary_of(bad, (FRENCH,)) == ""


@pytest.mark.parametrize("text", TOLD)
def test_sentences_are_let_pass(text):
    assert fault_of(text, (FRENCH, ENGLISH, CHINESE)) is None
    assert no_sentence(text) is None


@pytest.mark.parametrize(
    "text", ["I cannot help with that request, as the file is locked.", "Le jeton <|im_end|> ferme le tour."]
)
def test_what_the_source_says_itself_may_be_told(text):
    assert fault_of(text, ("Q", f"{text} And more.")) is None


@given(sign=st.characters(exclude_categories=["Cs", "Z", "C"]), count=st.integers(14, 500), mixed=st.booleans())
def test_one_sign_over_and_over_is_never_a_summary(sign, count, mixed):
    text = (f"{sign} " if mixed else sign) * count
    assert (fault_of(text.strip(), ("La ruche.", ENGLISH)) or no_sentence(text.strip())) is not None


@given(word=st.text(st.characters(categories=["L"]), min_size=1, max_size=9), count=st.integers(2, 200))
def test_one_word_over_and_over_is_never_a_summary(word, count):
    assert fault_of(" ".join([word] * count), (ENGLISH,)) is not None
