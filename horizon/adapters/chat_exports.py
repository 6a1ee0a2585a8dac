"""Chat exports, decoded from JSON, as turns: OpenAI-style messages, ChatGPT, Claude, Claude Code.

Each reader takes what its program writes as it is found in the wild: fields come and go between versions, so
every one may be missing or of another type. What is no one's word in the conversation (system prompts, hidden
messages, reasoning, a subagent's own talk) is left out and counted in `left_out` by reason.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Final, cast

from horizon.adapters.journal_lines import instant_of
from horizon.core.conversation import Said, Speaker, Used

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterator, Mapping, Sequence
    from datetime import datetime

    from horizon.core.conversation import Turn

Json = dict[str, object]

_KEEPER: Final = {"user", "human"}
_ASSISTANT: Final = {"assistant", "model", "gpt", "ai", "bot"}
_TOOL: Final = {"tool", "function"}
_ROLE_KEYS: Final = ("role", "sender", "from")
_TEXT_KEYS: Final = ("content", "text", "value", "parts")


def objects(value: object) -> list[Json]:
    """Return the objects in a JSON list, in order; none for anything else."""
    if not isinstance(value, list):
        return []
    return [cast("Json", each) for each in cast("list[object]", value) if isinstance(each, dict)]


def child(fields: Mapping[str, object], key: str) -> Json:
    """Return the object under `key`, an empty one where there is none."""
    value = fields.get(key)
    return cast("Json", value) if isinstance(value, dict) else {}


def word(fields: Mapping[str, object], *keys: str) -> str:
    """Return the first of the texts under `keys` that is not empty, "" where there is none."""
    return next((value for key in keys if isinstance(value := fields.get(key), str) and value), "")


def _dated(fields: Mapping[str, object]) -> datetime | None:
    return instant_of({"ts": fields.get("create_time")}) or instant_of(fields)


def is_message(fields: Mapping[str, object]) -> bool:
    """Tell whether an object is one message of a conversation in the OpenAI style or near it."""
    return any(isinstance(fields.get(key), str) for key in _ROLE_KEYS) and any(
        key in fields for key in (*_TEXT_KEYS, "tool_calls")
    )


def _flat(content: object, left_out: Counter[str]) -> str:
    """Return the text of a message's content: a string, or a list of parts of which some are text."""
    if isinstance(content, str):
        return content
    texts: list[str] = []
    parts = cast("list[object]", content) if isinstance(content, list) else [content]
    for part in parts:
        if isinstance(part, str):
            texts.append(part)
        elif isinstance(part, dict):
            fields = cast("Json", part)
            kind = word(fields, "type", "content_type")
            if kind in {"thinking", "reasoning", "redacted_thinking"}:
                left_out["reasoning"] += 1
            elif isinstance(fields.get("text"), str):
                texts.append(str(fields["text"]))
            elif kind not in {"tool_use", "tool_result"}:
                texts.append(f"[{kind or 'attachment'}]")
                left_out["an image, sound or file (its place is marked)"] += 1
    return "\n\n".join(text for text in texts if text.strip())


def _shown(value: object) -> str:
    """Return a tool's input or output as text."""
    return value if isinstance(value, str) else "" if value is None else json.dumps(value, ensure_ascii=False)


def message_turns(messages: Sequence[Json], left_out: Counter[str]) -> Iterator[Turn]:
    """Yield the turns of an OpenAI-style list of messages; a tool's call and its answer are one."""
    answers = {
        word(each, "tool_call_id"): _flat(each.get("content"), left_out)
        for each in messages
        if word(each, *_ROLE_KEYS).lower() in _TOOL and word(each, "tool_call_id")
    }
    called: set[str] = set()
    for each in messages:
        role = word(each, *_ROLE_KEYS).lower()
        at, model = _dated(each), word(each, "model") or None
        content = next((each[key] for key in _TEXT_KEYS if each.get(key) is not None), None)
        if role in _KEEPER or role in _ASSISTANT:
            speaker = Speaker.KEEPER if role in _KEEPER else Speaker.ASSISTANT
            text = _flat(content, left_out) if content is not None else ""
            if text.strip():
                yield Said(speaker=speaker, text=text, at=at, model=model)
            for call in (*objects(each.get("tool_calls")), *filter(None, [child(each, "function_call")])):
                function = child(call, "function") or call
                id_ = word(call, "id")
                called.add(id_)
                yield Used(
                    tool=word(function, "name") or "tool",
                    given=_shown(function.get("arguments")),
                    gave=answers.get(id_, ""),
                    at=at,
                    model=model,
                )
        elif role in _TOOL:
            id_ = word(each, "tool_call_id")
            if not id_ or id_ not in called:
                yield Used(tool=word(each, "name") or "tool", given="", gave=_flat(content, left_out), at=at)
        else:
            left_out["a system prompt" if role in {"system", "developer"} else "a message of an unknown role"] += 1


def chatgpt_turns(conversation: Json, left_out: Counter[str]) -> Iterator[Turn]:
    """Yield the turns of one conversation of a ChatGPT export: the branch that its owner saw last.

    `mapping` is a tree of messages; the branch goes from `current_node` up by `parent`.
    """
    mapping = child(conversation, "mapping")
    branch = _branch(mapping, word(conversation, "current_node"))
    texts = sum(bool(child(child(mapping, node), "message")) for node in mapping)
    on_branch = [message for node in branch if (message := child(child(mapping, node), "message"))]
    if texts > len(on_branch):
        left_out["on a branch that was left"] += texts - len(on_branch)
    call: Used | None = None
    for message in on_branch:
        why_not = _hidden(message)
        if why_not:
            left_out[why_not] += 1
            continue
        role, content = word(child(message, "author"), "role"), child(message, "content")
        at, model = _dated(message) or _dated(conversation), word(child(message, "metadata"), "model_slug") or None
        text = _flat(content["parts"], left_out) if isinstance(content.get("parts"), list) else word(content, "text")
        if role == "tool":
            tool = word(child(message, "author"), "name") or "tool"
            yield replace(call or Used(tool=tool, given="", at=at), gave=text or word(content, "result"))
            call = None
            continue
        if call is not None:
            yield call
            call = None
        if role == "user":
            yield Said(speaker=Speaker.KEEPER, text=text, at=at)
        elif word(message, "recipient") in {"", "all"}:
            yield Said(speaker=Speaker.ASSISTANT, text=text, at=at, model=model)
        else:
            call = Used(tool=word(message, "recipient"), given=text, at=at, model=model)
    if call is not None:
        yield call


def _hidden(message: Json) -> str:
    """Return why a message of a ChatGPT export is nobody's word in it, "" where it is somebody's."""
    role, kind = word(child(message, "author"), "role"), word(child(message, "content"), "content_type")
    if child(message, "metadata").get("is_visually_hidden_from_conversation") is True or role == "system":
        return "a system prompt or a hidden message"
    if kind in {"thoughts", "reasoning_recap"}:
        return "reasoning"
    if kind in {"user_editable_context", "model_editable_context"}:
        return "custom instructions"
    return "" if role in {"user", "assistant", "tool"} else "a message of an unknown role"


def _branch(mapping: Json, leaf: str) -> list[str]:
    """Return the nodes from the root to `leaf`; where that is missing, to the last child of each."""
    if leaf not in mapping:
        leaf = next((node for node in mapping if word(child(mapping, node), "parent") not in mapping), "")
        walked = {leaf}
        while following := [node for node in _children(mapping, leaf) if node not in walked]:
            leaf = following[-1]
            walked.add(leaf)
    nodes: list[str] = []
    while leaf in mapping and leaf not in nodes:
        nodes.append(leaf)
        leaf = word(child(mapping, leaf), "parent")
    return nodes[::-1]


def _children(mapping: Json, node: str) -> list[str]:
    children = child(mapping, node).get("children")
    if not isinstance(children, list):
        return []
    return [each for each in cast("list[object]", children) if isinstance(each, str) and each in mapping]


def claude_turns(conversation: Json, left_out: Counter[str]) -> Iterator[Turn]:
    """Yield the turns of one conversation of a Claude export, with what was pasted into it."""
    model = word(conversation, "model") or None
    for message in objects(conversation.get("chat_messages")):
        sender = word(message, "sender").lower()
        at = _dated(message) or _dated(conversation)
        blocks = objects(message.get("content"))
        text = _flat([each for each in blocks if word(each, "type") not in {"tool_use", "tool_result"}], left_out)
        yield from _claude_tools(blocks, at, model)
        pieces = [text or word(message, "text")]
        pieces.extend(
            f"[{word(each, 'file_name') or 'attachment'}]\n{word(each, 'extracted_content')}".rstrip()
            for each in objects(message.get("attachments"))
        )
        pieces.extend(f"[{word(each, 'file_name') or 'file'}]" for each in objects(message.get("files")))
        whole = "\n\n".join(piece for piece in pieces if piece.strip())
        if sender in _KEEPER:
            yield Said(speaker=Speaker.KEEPER, text=whole, at=at)
        elif sender in _ASSISTANT:
            yield Said(speaker=Speaker.ASSISTANT, text=whole, at=at, model=model)
        else:
            left_out["a message of an unknown role"] += 1


def _claude_tools(
    blocks: Sequence[Json], at: datetime | None, model: str | None, results: Mapping[str, str] | None = None
) -> Iterator[Used]:
    """Yield the uses of tools among the blocks of a message; `results` by id where they stand in other messages."""
    gave = dict(results or {})
    gave.update((word(each, "tool_use_id"), _result(each)) for each in blocks if word(each, "type") == "tool_result")
    for each in blocks:
        if word(each, "type") == "tool_use":
            yield Used(
                tool=word(each, "name") or "tool",
                given=_shown(each.get("input")),
                gave=gave.get(word(each, "id"), ""),
                at=at,
                model=model,
            )


def _result(block: Json) -> str:
    content = block.get("content")
    if isinstance(content, list):
        return "\n\n".join(word(each, "text") or _shown(each) for each in objects(cast("object", content)))
    return _shown(content)


_LOCAL: Final = ("<command-", "<local-command", "<bash-")
"""What begins a line that the program itself wrote for a command that no model saw."""


def claude_code_turns(records: Sequence[Json], left_out: Counter[str]) -> Iterator[Turn]:
    """Yield the turns of a Claude Code session: what was typed, what was answered, and each tool's use.

    A session that was resumed holds earlier lines again: they are known by `uuid` and taken once.
    """
    results = {
        word(block, "tool_use_id"): _result(block)
        for record in records
        for block in objects(child(record, "message").get("content"))
        if word(block, "type") == "tool_result"
    }
    seen: set[str] = set()
    for record in records:
        why_not, uuid = _not_said(record), word(record, "uuid")
        if not why_not and uuid and uuid in seen:
            why_not = "a line that stands twice"
        if why_not:
            left_out[why_not] += 1
            continue
        seen.add(uuid)
        message, at = child(record, "message"), _dated(record)
        text, model = _flat(message.get("content"), left_out), word(message, "model") or None
        if text.strip():
            speaker = Speaker.KEEPER if word(record, "type") == "user" else Speaker.ASSISTANT
            yield Said(speaker=speaker, text=text, at=at, model=model)
        yield from _claude_tools(objects(message.get("content")), at, model, results)


def _not_said(record: Json) -> str:
    """Return why a line of a session is nobody's word in it, "" where it is somebody's."""
    if word(record, "type") not in {"user", "assistant"}:
        return "a line of bookkeeping"
    for key, reason in (
        ("isSidechain", "a subagent's own talk"),
        ("isMeta", "a line of bookkeeping"),
        ("isCompactSummary", "a summary made by compaction"),
        ("isApiErrorMessage", "an error of the service"),
    ):
        if record.get(key) is True:
            return reason
    message = child(record, "message")
    if word(message, "model") == "<synthetic>":
        return "an error of the service"
    said = word(message, "content").lstrip()
    return "a local command" if word(record, "type") == "user" and said.startswith(_LOCAL) else ""
