"""What can be saved of a model's reply."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from horizon.core.salvage import best_object, objects, texts, without_fences, without_thoughts


@pytest.mark.parametrize(
    ("reply", "found"),
    [
        ('{"a": 1}', [{"a": 1}]),
        ('Voici :\n```json\n{"a": 1}\n```\nBonne journée {sourire}.', [{"a": 1}]),
        ('{"a": 1} puis {"b": 2}', [{"a": 1}, {"b": 2}]),
        ('[{"a": 1}, {"a": 2}]', [{"a": 1}, {"a": 2}]),
        ('{"a": [1, 2, ], }', [{"a": [1, 2]}]),
        ('{"a": ", ]", }', [{"a": ", ]"}]),
        ('{x} {"a": 1}', [{"a": 1}]),
        ('{"a": "l\'une\nl\'autre"}', [{"a": "l'une\nl'autre"}]),
        ('{"a": "coup', [{"a": "coup"}]),
        ('{"a": ["x", "y', [{"a": ["x", "y"]}]),
        ('{"a": ["x"], "b": ', [{"a": ["x"]}]),
        ('{"a": ["x"], "b', [{"a": ["x"]}]),
        ('{"a": 1, "b": tru', [{"a": 1}]),
        ('{"a": {"b": [1, {"c": "d"}]}}', [{"a": {"b": [1, {"c": "d"}]}}]),
        ('{"a": "\\"}"}', [{"a": '"}'}]),
        ('{"a": "\\\\", "b": "}"}', [{"a": "\\", "b": "}"}]),
        ('{"a": ["x" , ] , }', [{"a": ["x"]}]),
        ("[1, 2]", []),
        ("", []),
        ("rien ici", []),
        ("{" * 10_000, []),
        ("[" * 10_000 + "]" * 10_000, []),
        ('{"a":' * 10_000, []),
        ('{"a": ' + "[" * 10_000 + "]" * 10_000 + "}", []),
        ("}{" * 5_000, [{}] * 64),
    ],
)
def test_objects_are_found_whatever_stands_around_them(reply, found):
    assert objects(reply) == found


def test_the_object_with_the_keys_that_were_asked_for_is_taken():
    reply = '{"faits": [], "resume": "a"} {"x": 1} {"resume": "b"}'
    assert best_object(reply, ["faits", "resume"]) == {"faits": [], "resume": "a"}
    assert best_object('{"resume": "a"} {"resume": "b"}', ["resume"]) == {"resume": "b"}
    assert best_object('{"x": 1}', ["resume"]) is None


@pytest.mark.parametrize(
    ("value", "lines"),
    [
        (["a", " b  c ", "", None, 3, ["d"], "e\nf"], ["a", "b c", "e f"]),
        ("- a\n\n* b\n• c", ["a", "b", "c"]),
        ("a", ["a"]),
        (None, []),
        ({"a": 1}, []),
        (3, []),
    ],
)
def test_texts_are_taken_from_lists_and_from_lines(value, lines):
    assert texts(value) == lines


@pytest.mark.parametrize(
    ("reply", "rest"),
    [
        ("<think>a</think>b", "b"),
        ("<THINK>a</THINK>\n b ", "b"),
        ("a</think>b</think>c", "c"),
        ("<thinking>a</thinking>b", "b"),
        ("b", "b"),
        ("<think>a", None),
        ("<think>a</think>b<think>", None),
    ],
)
def test_reasoning_is_taken_away_to_its_last_end(reply, rest):
    assert without_thoughts(reply) == rest


def test_fences_go_and_what_they_hold_stays():
    assert without_fences("Voici\n```python\nx = 1\n```\nfin") == "Voici\nx = 1\nfin"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-99, 99) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=100, deadline=None)
@given(st.dictionaries(st.text(max_size=5), JSON, min_size=1, max_size=4))
def test_any_object_is_read_as_it_was_written(value):
    assert objects(f"Voici : {json.dumps(value, ensure_ascii=False)} fin") == [value]


@settings(max_examples=100, deadline=None)
@given(st.dictionaries(st.sampled_from("abc"), JSON, min_size=1), st.integers(0, 200))
def test_a_reply_cut_anywhere_is_survived(value, at):
    for found in objects(json.dumps(value)[:at]):
        assert set(found) <= set(value)


@settings(max_examples=150, deadline=None)
@given(st.text(alphabet='{}[]",:\\ ab1\n<>/thinkTHINK`~', max_size=200) | st.text(max_size=200))
def test_reading_never_fails(reply):
    objects(reply)
    without_fences(reply)
    without_thoughts(reply)
