"""How one call to the test server goes: a reply, or each of the ways to fail; and how a whole server behaves."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tests.deterministic_model import reply_to

if TYPE_CHECKING:
    from collections.abc import Callable

Body = dict[str, Any]
CREATED = "2026-01-01T00:00:00Z"


@dataclass(frozen=True, kw_only=True)
class Behaviour:
    """How one chat call goes: a reply in parts, or one of the ways to fail."""

    text: str | Callable[[Body], str] = ""
    thinking: str = ""
    done: bool = True
    done_reason: str | None = "stop"
    prompt_eval_count: int | None = None
    null: bool = False
    delay: float = 0.0
    """Seconds before the first part."""
    pace: float = 0.0
    """Seconds between parts."""
    hang: str = ""
    """"start": no answer at all; "middle": none after the first part."""
    status: int = 200
    error: str = ""
    raw: bytes | None = None
    """The whole body of the answer, as it is."""
    content_type: str = "application/json"
    end: str = ""
    """"reset": the connection is reset before any answer; "cut": in the middle; "half line": within a line."""
    mid_error: str = ""
    """An error line after the first part."""


def text(value: str | Callable[[Body], str], **more: Any) -> Behaviour:
    return Behaviour(text=value, **more)


def slow(value: str, *, delay: float = 0.0, pace: float = 0.0) -> Behaviour:
    return Behaviour(text=value, delay=delay, pace=pace)


def hang(where: str = "start") -> Behaviour:
    return Behaviour(text="begun and never", hang=where)


def reset() -> Behaviour:
    return Behaviour(end="reset")


def status(code: int, error: str = "") -> Behaviour:
    return Behaviour(status=code, error=error or f"status {code}")


def exceed_context() -> Behaviour:
    inner = {
        "error": {
            "code": 400,
            "type": "exceed_context_size_error",
            "message": "the request exceeds the available context size",
        }
    }
    return Behaviour(status=400, error=json.dumps(inner))


def html(code: int = 200) -> Behaviour:
    return Behaviour(
        status=code, raw=b"<!doctype html><html><body>Sign in to the network</body></html>", content_type="text/html"
    )


def deep() -> Behaviour:
    """JSON nested deeper than a parser goes."""
    return Behaviour(raw=b"[" * 100_000 + b"]" * 100_000 + b"\n")


def empty() -> Behaviour:
    return Behaviour(text="")


def null() -> Behaviour:
    return Behaviour(null=True)


def no_message() -> Behaviour:
    return Behaviour(
        raw=json.dumps({"model": "m", "created_at": CREATED, "done": True, "done_reason": "stop"}).encode() + b"\n"
    )


def thinking(value: str, thoughts: str = "Let me see.") -> Behaviour:
    """Thoughts left inside the content, as models do whose template is not known."""
    return Behaviour(text=f"<think>\n{thoughts}\n</think>\n{value}")


def only_thinking() -> Behaviour:
    return Behaviour(text="", thinking="Hmm, let me see. " * 5)


def prose(value: str) -> Behaviour:
    return Behaviour(
        text=f"Sure! Here is the JSON that you asked for:\n```json\n{value}\n```\nI hope this helps {{smile}}."
    )


def cut(value: str) -> Behaviour:
    return Behaviour(text=value, end="cut")


def no_done(value: str) -> Behaviour:
    """The stream ends in good order, but for its last part."""
    return Behaviour(text=value, done=False)


def half_line(value: str) -> Behaviour:
    return Behaviour(text=value, end="half line")


def wrong_schema() -> Behaviour:
    return Behaviour(text=json.dumps({"answer": {"unexpected": [1, None]}}))


def length(value: str) -> Behaviour:
    return Behaviour(text=value, done_reason="length")


def cut_prompt(value: str) -> Behaviour:
    """As a server does that cut the prompt silently: it counts half the window and two tokens."""
    return Behaviour(text=value, prompt_eval_count=-1)


def mid_error(error: str = "model runner has unexpectedly stopped") -> Behaviour:
    return Behaviour(text="begun, and", mid_error=error)


MODES: dict[str, Callable[[], Behaviour]] = {
    "deterministic": lambda: Behaviour(text=reply_to),
    "404": lambda: status(404, "model not found"),
    "429": lambda: status(429, "too many requests"),
    "500": lambda: status(500, "llama runner process has terminated"),
    "503": lambda: status(503, "server busy, please try again. maximum pending requests exceeded"),
    "hang": hang,
    "html": html,
    "deep": deep,
    "reset": reset,
    "empty": empty,
}
BROKEN_AT_THE_DOOR = {"html", "deep", "reset", "hang", "503"}
"""Modes in which the whole server is like that, its list of models too."""
