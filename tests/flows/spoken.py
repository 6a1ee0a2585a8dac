"""Whether what was said in the tests' homes and hives stands in a database's bytes: any five words of it in a row."""

from __future__ import annotations

import json
import re
from importlib import resources
from typing import TYPE_CHECKING

from tests.flows.hives import ANSWERS
from tests.flows.homes import SAID

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

WORD = re.compile(rb"[a-z0-9]+")
IN_A_ROW = 5
"""Words in a row that no log line of ours or of Prefect's shares with a conversation."""


def spoken() -> Iterator[str]:
    """Yield every text that the homes and hives of these tests hold."""
    for said in SAID:
        yield from said
    yield from ANSWERS
    people = json.loads(resources.files("horizon").joinpath("data", "memorybank", "en.json").read_text("utf-8"))
    for person in people.values():
        for talk in person["history"].values():
            for turn in talk:
                yield from (turn["query"], turn["response"])


def rows(text: bytes) -> Iterator[tuple[bytes, ...]]:
    """Yield each `IN_A_ROW` words in a row of `text`, whatever stands between them."""
    words = WORD.findall(text.lower())
    yield from zip(*(words[start:] for start in range(IN_A_ROW)), strict=False)


def quoted(folder: Path) -> set[str]:
    """Return what of the conversations the SQLite files in `folder` quote, write-ahead logs included."""
    wanted = {row for text in spoken() for row in rows(text.encode())}
    found = (row for path in folder.rglob("*.db*") if path.is_file() for row in rows(path.read_bytes()))
    return {b" ".join(row).decode() for row in found if row in wanted}
