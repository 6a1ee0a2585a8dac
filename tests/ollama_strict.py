"""What a careful caller sends to Ollama: anything else is a violation, and fails the test that sent it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

Body = dict[str, Any]
CHARS_PER_TOKEN = 4
"""How the test server counts tokens: about as real ones do for English."""
FAMILY = "test"
OPTIONS: dict[str, type | tuple[type, ...]] = {
    "num_ctx": int, "num_predict": int, "num_keep": int, "seed": int, "temperature": (int, float), "top_k": int,
    "top_p": (int, float), "min_p": (int, float), "repeat_last_n": int, "repeat_penalty": (int, float), "stop": list,
}  # fmt: skip
FIELDS: dict[str, type | tuple[type, ...]] = {
    "model": str, "messages": list, "tools": list, "stream": bool, "think": (bool, str), "format": dict,
    "options": dict, "keep_alive": (int, float, str),
}  # fmt: skip
SCHEMA_WORDS = {
    "type", "properties", "required", "additionalProperties", "items", "maxItems", "minItems", "maxLength", "minLength",
    "enum", "minimum", "maximum", "description",
}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Model:
    """What `show` tells of a model."""

    window: int = 32_768
    thinking: bool = False
    family: str = FAMILY


def prompt_tokens(body: Body) -> int:
    return sum(len(message.get("content", "")) for message in body["messages"]) // CHARS_PER_TOKEN + 8


def violations_of(body: Body, model: Model) -> list[str]:
    """Return what in a chat request a careful caller would not send."""
    found = _wrong("chat", body, FIELDS)
    options = body.get("options") or {}
    found += _wrong("options", options, OPTIONS)
    for key in ("num_ctx", "num_predict"):
        if not isinstance(options.get(key), int) or options[key] <= 0:
            found.append(f"options: {key} must be positive, not {options.get(key)!r}")
    if body.get("tools"):
        found.append("chat: tools")
    found += _wrong_messages(body.get("messages") or [])
    if found:
        return found
    if options["num_ctx"] > model.window:
        found.append(f"options: num_ctx {options['num_ctx']} over the model's {model.window}")
    if prompt_tokens(body) + options["num_predict"] > options["num_ctx"]:
        found.append(
            f"chat: {prompt_tokens(body)} tokens and a reply of {options['num_predict']} in {options['num_ctx']}"
        )
    if model.thinking and "think" not in body:
        found.append("chat: a thinking model is left to think")
    if "format" in body:
        found += _wrong_schema("format", body["format"])
    return found


def _wrong_messages(messages: list[Body]) -> list[str]:
    found = [
        f"chat: a message with {sorted(message)}"
        for message in messages
        if set(message) != {"role", "content"} or not message.get("content")
    ]
    if [message.get("role") for message in messages] not in (["user"], ["system", "user"]):
        found.append("chat: messages are not one of the user's, with at most one of the system's before it")
    return found


def _wrong(place: str, value: Body, allowed: dict[str, type | tuple[type, ...]]) -> list[str]:
    found = [f"{place}: unknown {key!r}" for key in value if key not in allowed]
    for key, kind in allowed.items():
        given = value.get(key)
        if given is None and key in {"model", "messages", "options"}:
            found.append(f"{place}: no {key!r}")
        elif given is not None and (not isinstance(given, kind) or (isinstance(given, bool) and kind is int)):
            found.append(f"{place}: {key!r} is {given!r}")
    return found


def _wrong_schema(place: str, schema: Body) -> list[str]:
    """Small models keep to a closed schema with every key required and every list and text bounded."""
    found = [f"{place}: {key!r} is not supported" for key in schema if key not in SCHEMA_WORDS]
    match schema.get("type"):
        case "object":
            properties = schema.get("properties") or {}
            if sorted(schema.get("required") or ()) != sorted(properties) or not properties:
                found.append(f"{place}: not every key is required")
            if schema.get("additionalProperties") is not False:
                found.append(f"{place}: further keys are allowed")
            for key, inner in properties.items():
                found += _wrong_schema(f"{place}.{key}", inner)
        case "array":
            if not isinstance(schema.get("maxItems"), int):
                found.append(f"{place}: a list without maxItems")
            found += _wrong_schema(f"{place}[]", schema.get("items") or {})
        case "string":
            if not isinstance(schema.get("maxLength"), int) and "enum" not in schema:
                found.append(f"{place}: a text without maxLength")
        case "integer" | "number" | "boolean":
            pass
        case other:
            found.append(f"{place}: type {other!r}")
    return found
