"""Runs of one thing, as broken tools and pasted data give them: whatever reads a text reads these to their end."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest

from horizon.core import condensation, narrative
from horizon.core.exchange import Exchange
from horizon.core.fact import content, is_instruction, near_key, wishes
from horizon.core.query import QUERY_MOST, tokens, understand
from horizon.core.salvage import best_object, without_fences, without_thoughts
from horizon.core.words import is_standing_order

CHARS = 20_000
PIECES = [
    "a", "1", ".", "-", "_", "/", "\\", " ", "\n", " \n", '"', "(", "[", "{", "<", "«", "`", "é", "\u0301", "一", "。", "a.", "a-", "a@",
    "a/", "a1", "aA", "a_", "1 ", "123 ", "12:", "« ", "a ", "le ", "http://", "key=", '{"a":', "```\n", "$ a\n", "1) a\n", "toujours ",
]  # fmt: skip


@pytest.mark.parametrize("piece", PIECES)
def test_a_run_of_one_thing_is_read_to_its_end(piece):
    text = piece * (CHARS // len(piece))
    told = Exchange(id="e1", at=datetime(2026, 8, 23, tzinfo=UTC), question=text, answer=text)
    condensed = condensation.truncate(told)
    assert len(condensed) <= condensation.CONDENSED_MOST
    melted = narrative.truncate(
        {}, [narrative.Melting(when="2026-08-23", question=text, text=text)], most=3_000, language="fr"
    )
    limits = narrative.caps(3_000)
    assert all(len(lines) <= limits[section] for section, lines in melted.items())
    assert is_standing_order(text) == is_instruction(text) == ("toujours" in text)
    assert not list(wishes(text))
    assert sorted(near_key(text)) == sorted(near_key(f"{text} "))
    assert len(content(text)) <= len(text)
    assert len(tokens(text)) <= len(text)
    assert understand(text, today=date(2026, 8, 23)) == understand(text[:QUERY_MOST], today=date(2026, 8, 23))
    assert without_thoughts(text) == text.strip()
    assert len(without_fences(text)) <= len(text)
    assert best_object(text, ["mission"]) is None
