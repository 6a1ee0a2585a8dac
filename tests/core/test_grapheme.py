"""Cuts never fall inside a grapheme cluster, nor inside a mark of ours."""

import regex
from hypothesis import example, given
from hypothesis import strategies as st

from horizon.core.escape import MARK, escape, marks
from horizon.core.grapheme import head_end, may_cut, tail_start
from tests.strategies import texts

FAMILY = "👩‍👩‍👧‍👦"
TRICKY = (
    "\u0300\u0301\u200d\ufe0f\u20e3\u0e33\u0600\u0d4e\u094d\u0915\u0937\u1100\u1161\u11a8\uac00\uac01"
    "🇫👍🏽👩❤\r\n\u00ad\u200ba\U000e0067\U0001f3f4\u1039\u1000\u17d2\u1780\u0f0b©™"
)
tricky = st.text(st.one_of(st.sampled_from(TRICKY), st.characters(exclude_categories=("Cs",))), max_size=30)


def boundaries(text):
    ends = [0]
    for cluster in regex.findall(r"\X", text):
        ends.append(ends[-1] + len(cluster))
    return set(ends)


@given(tricky)
@example("🇫🇷🇨🇦🇫")
@example("क्षि")
@example("a\u200d👩")
def test_a_cut_is_never_inside_a_cluster(text):
    whole = boundaries(text)
    assert {place for place in range(len(text) + 1) if may_cut(text, place)} <= whole


def test_ordinary_text_may_be_cut_between_any_two_characters():
    for text in ("plain text, été", "日本語以后", "안녕하세요", "Привет", "שלום"):
        assert all(may_cut(text, place) for place in range(len(text) + 1))


def test_a_family_is_kept_whole_by_hand():
    text = f"ab{FAMILY}cd"
    assert head_end(text, 5) == 2
    assert tail_start(text, 5) == 2 + len(FAMILY)
    assert [head_end(text, most) for most in (0, 1, 2, 100)] == [0, 1, 2, len(text)]
    assert head_end("🇫🇷🇨🇦", 3) == 2
    assert head_end("a\r\nb", 2) == 1
    assert head_end(f"a {MARK} b", 5) == 2
    assert tail_start("a [\\horizon b", 4) == len("a [\\horizon")


@given(texts, st.integers(0, 60))
def test_head_and_tail_are_the_nearest_places_that_break_nothing(text, place):
    escaped = escape(text)
    end, start = head_end(escaped, place), tail_start(escaped, place)
    assert 0 <= end <= place or end == len(escaped)
    assert start >= min(place, len(escaped))
    for cut in (end, start):
        assert may_cut(escaped, cut)
        assert not any(left < cut < right for left, right in marks(escaped))
