"""Questions: words folded and stemmed, dates understood in three languages."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from horizon.core.query import TERMS_MOST, fold, ideographs, near, stem, tokens, understand
from horizon.core.snippet import SNIPPET_CHARS, snippet
from horizon.core.when import Days, take_days

TODAY = date(2026, 8, 26)
"""A Wednesday."""


def day(year, month, number):
    return Days(date(year, month, number), date(year, month, number))


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("Été à Œuvre", "ete a oeuvre"),
        ("ＦＵＬＬ　１２", "full 12"),
        ("L’Élève", "l'eleve"),
        ("Straße", "strasse"),
        ("がぎ", "がぎ"),
        ("한국", "한국"),
        ("电影", "电影"),
    ],
)
def test_folding_by_hand(text, folded):
    assert fold(text) == folded


@given(st.text(max_size=60))
def test_folding_twice_changes_nothing(text):
    assert fold(fold(text)) == fold(text)


@pytest.mark.parametrize(
    "words",
    [
        "recommend recommends recommended recommending recommendation recommendations",
        "run runs running ran",
        "movie movies",
        "story stories",
        "paint painting painter painters paintings",
        "décision décisions",
        "décider décidé décidée décidées décidez",
        "cheval chevaux",
        "heureux heureuse heureuses",
        "manger mangé mange mangez",
        "national nationale nationaux",
        "utiliser utilisation utilise",
    ],
)
def test_forms_of_one_word_have_one_stem(words):
    assert len({stem(fold(word)) for word in words.split()}) == 1


@pytest.mark.parametrize(("one", "other"), [("Paris", "part"), ("2026", "2025"), ("v1.2", "v1"), ("note", "notre")])
def test_different_words_stay_apart(one, other):
    assert tokens(one) != tokens(other)


def test_tokens_by_hand():
    assert tokens("The dog's C++ and C# books") == ["the", "dog", "s", "c0plus", "and", "c0sharp", "book"]
    assert tokens("我看了电影 Titanic") == ["我看", "看了", "了电", "电影", "titanic"]
    assert ideographs("看 a 书") == ["看", "书"]


@given(st.text(max_size=80))
def test_tokens_are_letters_and_digits_only(text):
    assert all(token.isalnum() for token in tokens(text))


HOSTILE = [
    "", " ", "dog's", "C++", '"unbalanced', "NEAR(", "a AND OR NOT", "*", "^x", "head:x", "{a b}:c", "-x", "\0", "\ud800", "(" * 50,
    "'; DROP TABLE words; --", "🙂", "\ue0000\ue001", "from \ue0005\ue001 to x", "99999年99月99日", "31/31/2026", "0000-00-00",
    "february 30 9999", "10000 years ago", "999 years ago", "il y a 999 ans", "before 0001-01-01", "after 9999-12-31", "² ½",
]  # fmt: skip


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_texts_are_understood(text):
    understand(text, today=TODAY)


DATE_WORDS = [
    "from",
    "to",
    "between",
    "and",
    "since",
    "before",
    "2026-05-01",
    "may",
    "2nd",
    "last",
    "week",
    "3",
    "days",
    "ago",
    "hier",
    "le",
    "23",
    "août",
    "entre",
    "et",
    "五月",
    "二",
    "日",
    "去年",
    "上周四",
    "前天",
    "99",
    "年",
]


@settings(max_examples=300)
@given(
    st.one_of(st.text(max_size=60), st.lists(st.sampled_from(DATE_WORDS), max_size=8).map(" ".join)),
    st.dates(),
)
def test_any_text_on_any_day_is_understood_within_bounds(text, today):
    query = understand(text, today=today)
    assert len(query.terms) <= TERMS_MOST
    assert len(set(query.terms)) == len(query.terms)
    assert all(span.first <= span.last for span in query.days)


@pytest.mark.parametrize(
    ("text", "days", "rest"),
    [
        ("what happened on thursday", [day(2026, 8, 20)], "what happened"),
        ("wednesday", [day(2026, 8, 26)], ""),
        ("last wednesday", [day(2026, 8, 19)], ""),
        ("yesterday", [day(2026, 8, 25)], ""),
        ("the day before yesterday", [day(2026, 8, 24)], "the"),
        ("last week", [Days(date(2026, 8, 17), date(2026, 8, 23))], ""),
        ("in may", [Days(date(2026, 5, 1), date(2026, 5, 31))], ""),
        ("in december", [Days(date(2025, 12, 1), date(2025, 12, 31))], ""),
        ("on may 2nd", [day(2026, 5, 2)], ""),
        ("october 3", [day(2025, 10, 3)], ""),
        ("2nd of may 2024", [day(2024, 5, 2)], ""),
        ("2026-08-23", [day(2026, 8, 23)], ""),
        ("three days ago", [day(2026, 8, 23)], ""),
        ("from may 1 to may 3", [Days(date(2026, 5, 1), date(2026, 5, 3))], ""),
        ("monday and tuesday", [day(2026, 8, 24), day(2026, 8, 25)], "and"),
        ("since monday", [Days(date(2026, 8, 24), TODAY)], ""),
        ("in 2025", [Days(date(2025, 1, 1), date(2025, 12, 31))], ""),
        ("last weekend", [Days(date(2026, 8, 22), date(2026, 8, 23))], ""),
        ("jeudi", [day(2026, 8, 20)], ""),
        ("jeudi dernier", [day(2026, 8, 20)], ""),
        ("hier", [day(2026, 8, 25)], ""),
        ("avant-hier", [day(2026, 8, 24)], ""),
        ("le 23 aout", [day(2026, 8, 23)], ""),
        ("le 1er mai 2025", [day(2025, 5, 1)], ""),
        ("en mai", [Days(date(2026, 5, 1), date(2026, 5, 31))], ""),
        ("il y a deux semaines", [Days(date(2026, 8, 10), date(2026, 8, 16))], ""),
        ("entre lundi et mercredi", [Days(date(2026, 8, 24), date(2026, 8, 26))], ""),
        ("la semaine derniere", [Days(date(2026, 8, 17), date(2026, 8, 23))], ""),
        ("23/08/2026", [day(2026, 8, 23)], ""),
        ("5月2日", [day(2026, 5, 2)], ""),
        ("五月二日", [day(2026, 5, 2)], ""),
        ("昨天", [day(2026, 8, 25)], ""),
        ("上周四", [day(2026, 8, 20)], ""),
        ("去年五月二十三日", [day(2025, 5, 23)], ""),
        ("两天前", [day(2026, 8, 24)], ""),
        ("上个月", [Days(date(2026, 7, 1), date(2026, 7, 31))], ""),
        ("2月29日", [day(2024, 2, 29)], ""),
    ],
)
def test_dates_by_hand(text, days, rest):
    assert take_days(text, TODAY) == (rest, tuple(days))


@pytest.mark.parametrize(
    "text",
    [
        "it may be",
        "mars attacks",
        "next friday",
        "jeudi prochain",
        "every monday",
        "30 february",
        "march on",
        "three jours",
        "二月三十日",
    ],
)
def test_what_is_no_past_date_stays_text(text):
    assert take_days(text, TODAY) == (text, ())


@given(st.dates(min_value=date(1900, 1, 1), max_value=date(9000, 1, 1)), st.integers(0, 400))
def test_a_day_named_in_full_is_that_day_however_it_is_written(today, back):
    named = today - timedelta(days=back)
    months = [
        "january",
        "february",
        "march",
        "april",
        "may",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
    ]
    mois = [
        "janvier",
        "fevrier",
        "mars",
        "avril",
        "mai",
        "juin",
        "juillet",
        "aout",
        "septembre",
        "octobre",
        "novembre",
        "decembre",
    ]
    for text in (
        named.isoformat(),
        f"{named.year}年{named.month}月{named.day}日",
        f"on {months[named.month - 1]} {named.day}, {named.year}",
        f"le {named.day} {mois[named.month - 1]} {named.year}",
    ):
        assert take_days(text, today) == ("", (Days(named, named),)), text


def test_a_question_of_stop_words_asks_for_them():
    assert understand("to be or not to be", today=TODAY).terms == ("to", "be", "or", "not")
    assert understand("what did we say about the movie", today=TODAY).terms == ("movi",)


def test_a_typo_has_near_words():
    assert near("resturant", ["restaurant", "restore", "result"]) == ["restaurant"]
    assert near("pyhton", ["python", "pylon"]) == ["python"]
    assert near("config", ["configur", "cat"]) == ["configur"]
    assert near("cat", ["car"]) == []


def test_a_snippet_shows_the_words_asked_for():
    text = "padding " * 100 + "the museum of silk was closed " + "more " * 100
    shown = snippet(text, {"museum", "silk"})
    assert "museum of silk" in shown
    assert shown.startswith("…")
    assert shown.endswith("…")
    assert snippet("short text", {"text"}) == "short text"


@given(st.text(max_size=2_000), st.integers(60, 300))
def test_a_snippet_is_one_line_within_its_bound(text, most):
    shown = snippet(text, set(tokens(text)[:3]), most=most)
    assert len(shown) <= most
    assert "\n" not in shown
    assert SNIPPET_CHARS == 240
