"""How text becomes part of a prompt: marked as ours, fenced as data, and never larger than the window.

Rules:

- A prompt is the text first, fenced, then the instruction: small models follow what they read last.
- What stands inside a fence is data. It cannot close the fence: the fence's tag is broken wherever it occurs inside.
- A text that is too long is shortened visibly, never silently (a server would cut it without a word).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from horizon.core.grapheme import head_end, tail_start
from horizon.core.look_alike import GAP, spelled

if TYPE_CHECKING:
    from collections.abc import Mapping

OWN_MARKER: Final = "⟦horizon-memory⟧"
"""Begins the system text of each of our own calls, so that a host's traces of them are known as ours."""

FENCE: Final = "donnees"
"""The tag around data in our prompts; an ASCII word, so that every tokenizer reads it alike."""

_TAG_IN_ASCII: Final = re.compile(rf"<(\s*/?\s*{FENCE})", re.IGNORECASE)
_TAG: Final = re.compile(rf"[<\ufe64\uff1c]({GAP}\s*{GAP}[/\u2044\u2215\uff0f]?{GAP}\s*{GAP}{spelled(FENCE)})")
"""Our fence in any letters that look like it."""
_TURN: Final = re.compile(
    r"<(?=[|\uff5c])|<(?=/?(?:s|bos|eos|pad|unk|mask|think|tool_call|tool_response|start_of_turn|end_of_turn|start_header_id)>)"
    r"|<(?=</?SYS>>)|\[(?=/?(?:INST|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS|SYSTEM_PROMPT)\])"
)
"""Where a model's own marks of a turn begin: a server that reads them in a text would end ours there."""
CUT: Final[Mapping[str, str]] = {"fr": "(… {} caractères omis …)", "en": "(… {} characters left out …)"}
"""What stands, by language, where a text was shortened, with how many characters are missing."""
_NOTE: Final = re.compile("|".join([r"\(×\d+\)", *(re.escape(cut).replace(r"\{\}", r"\d+") for cut in CUT.values())]))
_RUN = re.compile(r"(.)\1{39,}", re.DOTALL)
"""A character repeated 40 times or more: rules and padding, never words; 40 spares any real indentation."""
_LINES_RUN = re.compile(r"^(.+)\n(?:\1\n){4,}", re.MULTILINE)
"""A line that repeats five times or more: logs and progress bars."""
_LINES_LEAST: Final = 5
_CJK = re.compile("[⺀-鿿가-힯豈-﫿！-￯\U00020000-\U0003ffff]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """What to send: `system` and `text`, the most tokens of the reply, and the schema for it (None: prose)."""

    system: str
    text: str
    reply_tokens: int
    schema: Mapping[str, object] | None = None


def clean(text: str) -> str:
    """Return `text` without what no wire format carries: lone surrogates and NUL."""
    if "\0" in text:
        text = text.replace("\0", "")
    if text.isascii():
        return text
    return text.encode("utf-8", "replace").decode("utf-8")


def fenced(text: str) -> str:
    """Return `text` between fence tags on lines of their own; it holds no such tag itself, nor a mark of a model's turn."""
    inside = clean(text)
    inside = (_TAG_IN_ASCII if inside.isascii() else _TAG).sub(r"‹\1", inside)
    inside = _TURN.sub("‹", inside)
    return f"<{FENCE}>\n{inside}\n</{FENCE}>"


def most_tokens(text: str) -> int:
    """Return an upper estimate of the tokens in `text`: a third of its characters, one for each that is CJK.

    Characters outside the BMP (emoji) may take three tokens each. Measured on French and code.
    """
    if text.isascii():
        return -(-len(text) // 3)
    wide = len(_CJK.findall(text))
    astral = len(text.encode("utf-16-le", "surrogatepass")) // 2 - len(text)
    return -(-(len(text) - wide - astral) // 3) + wide + 3 * astral


def least_tokens(text: str) -> int:
    """Return a lower estimate of the tokens in `text`: one for each word, one for each three CJK characters."""
    wide = len(_CJK.findall(text)) if not text.isascii() else 0
    return len(text.split()) * 9 // 10 + wide // 3


def collapsed(text: str) -> str:
    """Return `text` with long runs of one character or one line shortened, each with how many there were."""
    if _may_run(text):
        text = _RUN.sub(lambda run: f"{run[1] * 3}(×{len(run[0])})", text)
    if text.count("\n") >= _LINES_LEAST:
        text = _LINES_RUN.sub(lambda run: f"{run[1]}\n(×{run[0].count(chr(10))})\n", text)
    return text


def without_notes(text: str) -> str:
    """Return a reply without the notes of ours that it copied: how often something is repeated, how much was left out."""
    return _NOTE.sub("", text)


def _may_run(text: str) -> bool:
    """Tell whether a character may be repeated 40 times: then four that are looked at of some twenty are alike."""
    for first, second, third, fourth in zip(text[::20], text[6::20], text[13::20], text[19::20], strict=False):
        if first == second == third == fourth:
            return True
    return False


def shortened(text: str, most: int, note: str = "… {} …") -> str:
    """Return `text`, or its head and its tail with `note` (how many characters are missing) between, ≤ `most`.

    The head keeps two thirds: what a text is about stands at its beginning, what came of it at its end.
    """
    if len(text) <= most:
        return text
    gap = f"\n{note.format(len(text))}\n"
    if most <= len(gap):
        return text[: head_end(text, max(most, 0))]
    room = most - len(gap)
    head = text[: head_end(text, room - room // 3)]
    tail = text[tail_start(text, len(text) - room // 3) :]
    return f"{head}\n{note.format(len(text) - len(head) - len(tail))}\n{tail}"


def within(text: str, tokens: int, note: str = "… {} …") -> str:
    """Return `text` with runs collapsed, shortened visibly so that its upper estimate is at most `tokens`."""
    text = collapsed(text)
    if most_tokens(text) <= tokens:
        return text
    low, high = 0, len(text)
    while low < high:  # the longest that fits; the estimate grows with the length but for where the cut falls
        middle = (low + high + 1) // 2
        if most_tokens(shortened(text, middle, note)) <= tokens:
            low = middle
        else:
            high = middle - 1
    return shortened(text, low, note)
