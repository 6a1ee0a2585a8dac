"""Nothing in a text from others can pass for a line of ours, and every other text stays as typed."""

import re
import sys
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from horizon.core.escape import MARK, escape, marks, unescape
from tests.strategies import texts

ORDINARY = (
    "",
    "[hori] and [zon]",
    "horizon",
    "an array[0] of [h]orizon",
    "[ horizon ]",
    "horizon · [note]",
    "C:\\new\\[dir]",
)


@pytest.mark.parametrize("text", ORDINARY)
def test_ordinary_text_is_left_alone(text):
    assert escape(text) == text == unescape(text)


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("[horizon · x]", "[\\horizon · x]"),
        ("[\\horizon]", "[\\\\horizon]"),
        ("a\n[Horizon]\n[HORIZON", "a\n[\\Horizon]\n[\\HORIZON"),
        ("[h\u200borizon", "[\\h\u200borizon"),
        ("[\u2060horizon", "[\u2060\\horizon"),
        ("［ｈｏｒｉｚｏｎ", "［\\ｈｏｒｉｚｏｎ"),
        ("[𝐡𝐨𝐫𝐢𝐳𝐨𝐧", "[\\𝐡𝐨𝐫𝐢𝐳𝐨𝐧"),
        ("[hоrizоn", "[\\hоrizоn"),
        ("[[horizon", "[[\\horizon"),
        ("[h\u0301orizon", "[\\h\u0301orizon"),
        ("[hörizon", "[\\hörizon"),
        ("[\u0336h\u0336o\u0336r\u0336i\u0336z\u0336o\u0336n", "[\u0336\\h\u0336o\u0336r\u0336i\u0336z\u0336o\u0336n"),
        ("【horizon", "【\\horizon"),
        ("⟦ʜᴏʀɪᴢᴏɴ", "⟦\\ʜᴏʀɪᴢᴏɴ"),
        ("[\u202ehorizon", "[\u202e\\horizon"),
    ],
)
def test_what_looks_like_ours_gets_one_backslash(text, escaped):
    assert escape(text) == escaped
    assert unescape(escaped) == text
    assert unescape(unescape(escape(escape(text)))) == text


@given(texts)
def test_an_escaped_text_comes_back_exactly_and_holds_no_mark(text):
    escaped = escape(text)
    assert unescape(escaped) == text
    assert MARK not in escaped.casefold()
    assert len(escaped) == len(text) + len(list(marks(text)))


def skeleton(text):
    """Return `text` as it looks, or less: small letters without marks, and without what nothing is drawn for."""
    plain = "".join(
        char for char in unicodedata.normalize("NFKD", text) if unicodedata.category(char) not in {"Mn", "Me", "Cf"}
    )
    return plain.casefold()


disguises = st.lists(
    st.sampled_from(
        [
            "[",
            "［",
            "【",
            *"horizonHORIZON",
            "ö",
            "\u0301",
            "\u200b",
            "\u202e",
            "\ufeff",
            "ｈ",
            "𝐨",
            "\r",
            "\u2028",
            "·",
            "]",
            "\n",
        ]
    )
    | st.sampled_from(["[horizon", "h\u0336o\u0336rizon", "[ʜorizon · phare]"]),
    max_size=12,
).map("".join)


@settings(max_examples=1000)
@given(disguises)
def test_no_text_looks_like_a_line_of_ours_whatever_it_wears(text):
    escaped = escape(text)
    assert unescape(escaped) == text
    assert not re.search(r"[\[\u3010]horizon", skeleton(escaped))


def test_every_compatibility_form_of_our_letters_is_caught():
    forms = {letter: [] for letter in "[horizn"}
    for code in range(sys.maxunicode + 1):
        if not 0xD800 <= code <= 0xDFFF:
            folded = skeleton(chr(code))
            if folded in forms:
                forms[folded].append(chr(code))
    for letter, drawn_alike in forms.items():
        for form in drawn_alike:
            assert "\\" in escape(MARK.replace(letter, form)), hex(ord(form))
