r"""Text from others is data: nothing in it can pass for a line of ours (spec 1-horizon §3, §6).

Every structural line of a view begins with `[horizon`. Where a text has these letters itself, in any case, in
look-alike letters or with invisible characters between them, one backslash is put before the first letter
(`[\horizon`), and one more where it has backslashes already (`[\\horizon`), so that it can be taken out again.
Every other text stays exactly as it was typed.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from horizon.core.look_alike import GAP, OPENERS, spelled

MARK: Final = "[horizon"
"""How each structural line begins."""

_REST: Final = f"{GAP}(\\\\{GAP})*(?P<name>{spelled(MARK[1:])})"
_OURS_IN_ASCII: Final = re.compile(r"\[\\*(?P<name>[Hh][Oo0][Rr][Iil1][Zz][Oo0][Nn])")


def escape(text: str) -> str:
    """Return `text` with one more backslash in each place where it could pass for a line of ours."""
    for pattern in _patterns(text):
        text = pattern.sub(_with_backslash, text)
    return text


def unescape(text: str) -> str:
    """Return what `escape` was given: `unescape(escape(text)) == text` for any text."""
    for pattern in _patterns(text):
        text = pattern.sub(_without_backslash, text)
    return text


def marks(text: str) -> list[tuple[int, int]]:
    """Return the start and end of each place in `text`, escaped or not, where a cut would break a mark; in order."""
    return sorted(found.span() for pattern in _patterns(text) for found in pattern.finditer(text))


def _patterns(text: str) -> list[re.Pattern[str]]:
    """Return the patterns that can match in `text`; most texts have no bracket, or are plain ASCII."""
    if text.isascii():
        return [_OURS_IN_ASCII] if "[" in text else []
    return [_ours(opener) for opener in OPENERS if opener in text]


@cache
def _ours(opener: str) -> re.Pattern[str]:
    """Return the pattern for one opening bracket: beginning with one literal character, it is found much faster."""
    return re.compile(re.escape(opener) + _REST)


def _with_backslash(found: re.Match[str]) -> str:
    before = found.start("name") - found.start()
    return f"{found[0][:before]}\\{found[0][before:]}"


def _without_backslash(found: re.Match[str]) -> str:
    before = found.start("name") - found.start()
    if found[0][before - 1] != "\\":
        return found[0]
    return found[0][: before - 1] + found[0][before:]
