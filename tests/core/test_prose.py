"""What is no summary at all, whatever it says: the ways in which small models fail, and sentences that look like them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from horizon.core.prose import fault_of

FRENCH = "La colonie N5 pèse 27 kg ; le fichier /srv/ruche/bilan.csv est à jour."
ENGLISH = "The colony weighs 27 kg and the file /srv/hive/report.csv is up to date."
CHINESE = "蜂群重27公斤，文件已经更新，下周再检查一次。"

REFUSED = [
    "G" * 400,
    "!" * 400,
    "[" * 10_000,
    '{"faits":' + "[" * 300,
    "@ @ @ @ " * 80,
    ". . . . " * 50,
    "ok",
    ".",
    "null",
    "{}",
    "[]",
    "N/A",
    "none",
    "G G G G G " * 30,
    "\u200b" * 300,
    "🙂" * 200,
    "a" * 2_000,
    "la " * 15,
    "the the the the the",
    "assistant",
    "<|im_end|>",
    "<|im_start|>assistant The colony is fine.",
    '{"summary": "La colonie pèse 27 kg."}',
    "I cannot help with that request.",
    "I'm sorry, but I can't summarise this text.",
    "As an AI language model, I am unable to summarise this.",
    "Je suis désolé, mais je ne peux pas répondre.",
    "En tant qu'IA, je ne peux pas résumer ce texte.",
    "Je ne peux pas résumer ce texte.",
    "抱歉，我无法总结这段文字。",
    "作为一个人工智能语言模型，我不能回答。",
    "好的",
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


@pytest.mark.parametrize("text", REFUSED, ids=lambda text: text[:24])
def test_what_a_failing_model_gives_is_no_summary(text):
    assert fault_of(text, (FRENCH, ENGLISH, CHINESE)) is not None


@pytest.mark.parametrize("text", TOLD)
def test_sentences_are_let_pass(text):
    assert fault_of(text, (FRENCH, ENGLISH, CHINESE)) is None


@pytest.mark.parametrize(
    "text", ["I cannot help with that request, as the file is locked.", "Le jeton <|im_end|> ferme le tour."]
)
def test_what_the_source_says_itself_may_be_told(text):
    assert fault_of(text, ("Q", f"{text} And more.")) is None


@given(sign=st.characters(exclude_categories=["Cs", "Z", "C"]), count=st.integers(14, 500), mixed=st.booleans())
def test_one_sign_over_and_over_is_never_a_summary(sign, count, mixed):
    text = (f"{sign} " if mixed else sign) * count
    assert fault_of(text.strip(), ("La ruche.", ENGLISH)) is not None


@given(word=st.text(st.characters(categories=["L"]), min_size=1, max_size=9), count=st.integers(2, 200))
def test_one_word_over_and_over_is_never_a_summary(word, count):
    assert fault_of(" ".join([word] * count), (ENGLISH,)) is not None
