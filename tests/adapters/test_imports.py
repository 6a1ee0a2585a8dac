"""Files of other programs into a real journal: every format, odd ones, and the same file twice."""

from __future__ import annotations

import json
import os
import sqlite3
import tempfile
import zipfile
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from horizon.adapters.imports import read_import
from horizon.adapters.journal_jsonl import JournalStore
from horizon.errors import InvalidInput, StoreBusy, Unavailable
from horizon.importing import import_exchanges
from horizon.testing import FixedClock

SAVED = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


def written(folder, name, content):
    path = Path(folder) / name
    if isinstance(content, bytes):
        path.write_bytes(content)
    elif isinstance(content, str):
        path.write_text(content, "utf-8")
    else:
        path.write_text(json.dumps(content), "utf-8")
    os.utime(path, (SAVED.timestamp(), SAVED.timestamp()))
    return path


def lines(*records):
    return "".join(json.dumps(each) + "\n" for each in records)


def said(found):
    return [(each.question, each.answer) for each in found.exchanges]


def node(id_, parent, children, role, text, at, **more):
    message = {
        "id": id_,
        "author": {"role": role, "name": more.pop("name", None)},
        "create_time": at,
        "content": {"content_type": more.pop("kind", "text"), "parts": [text]},
        "recipient": more.pop("recipient", "all"),
        "metadata": more,
    }
    return {"id": id_, "message": message, "parent": parent, "children": children}


CHATGPT = [
    {
        "title": "Rename files",
        "create_time": 1_700_000_000.5,
        "current_node": "f",
        "mapping": {
            "root": {"id": "root", "message": None, "parent": None, "children": ["s"]},
            "s": node("s", "root", ["a"], "system", "You are", None, is_visually_hidden_from_conversation=True),
            "a": node("a", "s", ["b0", "b"], "user", "How do I rename many files?", 1_700_000_001.0),
            "b0": node("b0", "a", [], "assistant", "An answer that was regenerated", 1_700_000_002.0),
            "b": node(
                "b", "a", ["t"], "assistant", "ls", 1_700_000_003.0, recipient="python", kind="code", model_slug="gpt-4"
            ),
            "t": node("t", "b", ["c"], "tool", "a.txt b.txt", 1_700_000_004.0, name="python"),
            "c": node("c", "t", ["d"], "assistant", "Use `rename`.", 1_700_000_005.0, model_slug="gpt-4"),
            "d": node("d", "c", ["e"], "user", "And back?", 1_700_000_100.0),
            "e": node("e", "d", ["f"], "assistant", "hm", 1_700_000_101.0, kind="thoughts"),
            "f": node("f", "e", [], "assistant", "With `rename` again.", 1_700_000_102.0, model_slug="gpt-4"),
        },
    }
]


def test_a_chatgpt_export_gives_the_branch_that_was_seen_last(tmp_path):
    found = read_import(written(tmp_path, "conversations.json", CHATGPT))
    assert found.form == "a ChatGPT export"
    assert said(found) == [
        ("How do I rename many files?", "Use `rename`."),
        ("ls", "a.txt b.txt"),
        ("And back?", "With `rename` again."),
    ]
    first, tool, _ = found.exchanges
    assert (first.model, first.at, first.kind) == (
        "gpt-4",
        datetime(2023, 11, 14, 22, 13, 21, tzinfo=UTC),
        "conversation",
    )
    assert (tool.kind, tool.tool) == ("outil", "python")
    assert found.left_out == {"a system prompt or a hidden message": 1, "on a branch that was left": 1, "reasoning": 1}


def test_a_chatgpt_export_without_its_leaf_and_with_a_ring_in_its_tree_ends(tmp_path):
    tree = {
        "a": node("a", None, ["b"], "user", "hello", 1.7e9),
        "b": node("b", "a", ["a"], "assistant", "hi", 1.7e9 + 1),
    }
    assert said(read_import(written(tmp_path, "x", [{"mapping": tree}]))) == [("hello", "hi")]


CLAUDE = [
    {
        "uuid": "c1",
        "name": "Sea bass",
        "created_at": "2026-01-05T10:00:00.000000Z",
        "chat_messages": [
            {
                "uuid": "m1",
                "sender": "human",
                "text": "Recipe?",
                "content": [{"type": "text", "text": "Recipe?"}],
                "created_at": "2026-01-05T10:00:01.000000Z",
                "attachments": [{"file_name": "notes.txt", "extracted_content": "ginger, scallions"}],
                "files": [{"file_name": "fish.png"}],
            },
            {
                "uuid": "m2",
                "sender": "assistant",
                "text": "Steam it.",
                "content": [
                    {"type": "thinking", "thinking": "hm"},
                    {"type": "tool_use", "id": "t1", "name": "search", "input": {"q": "bass"}},
                    {"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": "10 minutes"}]},
                    {"type": "text", "text": "Steam it."},
                ],
                "created_at": "2026-01-05T10:00:09Z",
            },
        ],
    },
    {"uuid": "c2", "name": "", "chat_messages": []},
]


def test_a_claude_export_gives_what_was_said_pasted_and_used(tmp_path):
    found = read_import(written(tmp_path, "conversations.json", CLAUDE))
    assert found.form == "a Claude export"
    assert said(found) == [
        ("Recipe?\n\n[notes.txt]\nginger, scallions\n\n[fish.png]", "Steam it."),
        ('{"q": "bass"}', "10 minutes"),
    ]
    assert found.left_out == {"reasoning": 1}


@pytest.mark.parametrize("export", [CHATGPT, CLAUDE])
def test_a_zip_is_read_as_the_export_in_it(tmp_path, export):
    plain = read_import(written(tmp_path, "conversations.json", export))
    with zipfile.ZipFile(tmp_path / "export.zip", "w") as archive:
        archive.writestr("account/conversations.json", json.dumps(export))
        archive.writestr("user.json", "{}")
    assert read_import(tmp_path / "export.zip").exchanges == plain.exchanges


def entry(kind, uuid, second, content, **more):
    message = {"role": kind, "content": content} | ({"model": "claude-x"} if kind == "assistant" else {})
    stamp = f"2026-02-03T04:05:{second:02d}.000Z"
    return {"type": kind, "uuid": uuid, "sessionId": "s", "timestamp": stamp, "message": message} | more


CLAUDE_CODE = [
    {"type": "summary", "summary": "Fixing", "leafUuid": "u9"},
    entry("user", "u0", 0, "<command-name>/clear</command-name>"),
    entry("user", "u1", 1, "Fix the login bug"),
    entry("assistant", "u2", 2, [{"type": "thinking", "thinking": "…"}, {"type": "text", "text": "I look."}]),
    entry("assistant", "u3", 3, [{"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "grep login"}}]),
    entry("user", "u4", 4, [{"type": "tool_result", "tool_use_id": "t1", "content": "login.py:3"}]),
    entry("user", "u5", 5, "sub task", isSidechain=True),
    entry("assistant", "u6", 6, [{"type": "text", "text": "Fixed."}]),
    entry("assistant", "u6", 6, [{"type": "text", "text": "Fixed."}]),
    entry("user", "u7", 7, [{"type": "text", "text": "Thanks"}, {"type": "image", "source": {}}]),
    entry("user", "u8", 8, "This session is being continued", isCompactSummary=True),
    {"type": "system", "sessionId": "s", "content": "compacted"},
]


def test_a_claude_code_session_gives_typed_words_answers_and_each_tools_use(tmp_path):
    found = read_import(written(tmp_path, "abc.jsonl", lines(*CLAUDE_CODE)))
    assert found.form == "a Claude Code session"
    assert said(found) == [
        ("Fix the login bug", "I look.\n\nFixed."),
        ('{"command": "grep login"}', "login.py:3"),
        ("Thanks\n\n[image]", ""),
    ]
    assert found.exchanges[1].tool == "Bash"
    assert found.exchanges[0].model == "claude-x"
    assert found.left_out["a subagent's own talk"] == 1
    assert found.left_out["a line that stands twice"] == 1
    assert found.left_out["a summary made by compaction"] == 1
    assert found.left_out["a local command"] == 1


MESSAGES = [
    {"role": "system", "content": "You are kind."},
    {"role": "user", "content": "Weather?"},
    {"role": "user", "content": [{"type": "text", "text": "In Paris."}, {"type": "image_url", "image_url": {}}]},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": '{"city":"Paris"}'}}
        ],
    },
    {"role": "tool", "tool_call_id": "c1", "content": "18 °C"},
    {"role": "assistant", "content": "18 degrees."},
    {"role": "user", "content": "ok"},
    {"role": "assistant", "content": "Anything else?"},
    {"role": "user", "content": "ok"},
    {"role": "assistant", "content": "Anything else?"},
]


@pytest.mark.parametrize(
    "content",
    [
        MESSAGES,
        {"messages": MESSAGES},
        [MESSAGES],
        lines(*MESSAGES),
        lines({"messages": MESSAGES}),
        b"\xef\xbb\xbf" + json.dumps(MESSAGES).encode(),
    ],
)
def test_openai_style_messages_in_every_wrapping(tmp_path, content):
    found = read_import(written(tmp_path, "chat.json", content))
    assert found.form == "OpenAI-style messages"
    assert said(found) == [
        ("Weather?\n\nIn Paris.\n\n[image_url]", "18 degrees."),
        ('{"city":"Paris"}', "18 °C"),
        ("ok", "Anything else?"),
        ("ok", "Anything else?"),
    ]
    assert found.left_out["a system prompt"] == 1
    assert len({each.id for each in found.exchanges}) == 4
    assert found.exchanges[-1].at == SAVED, "an undated conversation ended when its file was saved"


def test_ids_do_not_depend_on_where_and_when_the_file_is(tmp_path):
    first = written(tmp_path, "a.json", MESSAGES)
    second = tmp_path / "b.json"
    second.write_bytes(first.read_bytes())
    os.utime(second, (0, 0))
    assert [each.id for each in read_import(first).exchanges] == [each.id for each in read_import(second).exchanges]


def test_other_engines_journals_keep_their_ids_and_dates(tmp_path):
    content = lines(
        {"id": "x1", "timestamp": "2026-01-01T00:00:00Z", "prompt": "one?", "output": "1", "kind": "task"},
        {"query": "two?", "result": "2"},
        {"id": "x3", "ts": 1_767_225_700_000, "query": "three?", "result": "3"},
    )
    found = read_import(written(tmp_path, "old.jsonl", content + '{"query": "torn'))
    assert found.form == "a journal"
    assert [(each.id, each.at.isoformat()) for each in found.exchanges if each.id.startswith("x")] == [
        ("x1", "2026-01-01T00:00:00+00:00"),
        ("x3", "2026-01-01T00:01:40+00:00"),
    ]
    assert said(found)[1] == ("two?", "2")
    assert sum(found.left_out.values()) == 1


def traces(
    path,
    rows,
    columns="id INTEGER PRIMARY KEY AUTOINCREMENT, trace_id TEXT, query TEXT, result TEXT, started_at REAL, model TEXT",
):
    database = sqlite3.connect(path)
    database.execute(f"CREATE TABLE traces({columns})")
    for row in rows:
        database.execute(
            f"INSERT INTO traces({', '.join(row)}) VALUES ({', '.join('?' * len(row))})", list(row.values())
        )
    database.commit()
    database.close()
    return path


def test_an_agent_hosts_traces_are_read_whole_and_left_as_they_are(tmp_path):
    path = traces(
        tmp_path / "traces.db",
        [
            {"trace_id": "t2", "query": "later?", "result": "2", "started_at": 1_700_000_100.0, "model": "qwen3"},
            {"trace_id": "t1", "query": "first?", "result": "1", "started_at": 1_700_000_000.0, "model": None},
            {"trace_id": "t3", "query": "  ", "result": "3", "started_at": 1_700_000_200.0, "model": "qwen3"},
            {"trace_id": "t4", "query": "bench?", "result": "4", "started_at": 1_700_000_300.0, "model": "test-model"},
        ],
    )
    before = path.read_bytes()
    found = read_import(path)
    assert [(each.id, each.model) for each in found.exchanges] == [("t1", None), ("t2", "qwen3")]
    assert found.left_out == {"blank": 1, "test-bench": 1}
    assert path.read_bytes() == before


def test_traces_of_an_older_version_lack_columns(tmp_path):
    path = traces(
        tmp_path / "t",
        [{"query": "q?", "result": "a", "started_at": 1.7e9}],
        "query TEXT, result TEXT, started_at REAL",
    )
    assert said(read_import(path)) == [("q?", "a")]


@pytest.mark.parametrize(
    "content", [b"", b"\x00\xff\xfe", "hello there", "[]", "{}", "3", "null", '{"a": 1}', "[" * 100_000, [1, "x"]]
)
def test_what_is_no_conversation_is_refused_with_what_can_be_read(tmp_path, content):
    with pytest.raises(InvalidInput, match="a ChatGPT export"):
        read_import(written(tmp_path, "odd", content))


@pytest.mark.parametrize(
    "content", [[[]], [{"mapping": 3}], [{"chat_messages": "x"}], {"mapping": {"a": {"message": 3}}}]
)
def test_an_export_without_a_message_is_empty(tmp_path, content):
    assert read_import(written(tmp_path, "odd", content)).exchanges == ()


def test_a_missing_file_a_folder_and_a_foreign_database_are_named(tmp_path):
    for path in (tmp_path / "absent.json", tmp_path):
        with pytest.raises(Unavailable, match=path.name):
            read_import(path)
    with sqlite3.connect(tmp_path / "other.db") as database:
        database.execute("CREATE TABLE other(x)")
    database.close()
    with pytest.raises(Unavailable, match="traces"):
        read_import(tmp_path / "other.db")


ANY = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(
        st.sampled_from(
            ["role", "content", "mapping", "message", "author", "parts", "chat_messages", "sender", "text", "type", "sessionId",
             "messages", "tool_calls", "function", "parent", "children", "current_node", "create_time", "question", "id"]
        ),
        inner | st.sampled_from(["user", "assistant", "tool", "human"]),
        max_size=4,
    ),
    max_leaves=15,
)  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(st.one_of(ANY, st.lists(ANY, max_size=3)))
def test_any_json_is_taken_or_refused(value):
    with tempfile.TemporaryDirectory() as folder:
        path = written(folder, "any.json", value)
        try:
            found = read_import(path)
        except InvalidInput:
            return
    assert list(found.exchanges) == sorted(found.exchanges, key=lambda each: each.at)


@pytest.mark.parametrize("content", [CHATGPT, CLAUDE, MESSAGES, lines(*CLAUDE_CODE)])
def test_the_same_file_twice_changes_nothing(tmp_path, content):
    found = read_import(written(tmp_path, "file", content))
    store = JournalStore(tmp_path / "hive", "mia", FixedClock())
    first = import_exchanges(store, found)
    assert (first.appended, first.already) == (len(found.exchanges), 0)
    journal = (tmp_path / "hive" / "window" / "mia-messages.jsonl").read_bytes()
    again = import_exchanges(JournalStore(tmp_path / "hive", "mia", FixedClock()), found)
    assert (again.appended, again.already, again.read) == (0, first.read, first.read)
    assert (tmp_path / "hive" / "window" / "mia-messages.jsonl").read_bytes() == journal
    back = [entry.exchange for entry in store.entries()]
    assert back == list(found.exchanges)


def test_an_import_cut_off_goes_on_where_it_stopped(tmp_path):
    found = read_import(written(tmp_path, "file", MESSAGES))
    store = JournalStore(tmp_path / "hive", "mia", FixedClock())

    def two(exchanges):
        yield from exchanges[:2]
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        import_exchanges(store, found, watch=two)
    assert import_exchanges(store, found).appended == 2
    assert [entry.exchange for entry in store.entries()] == list(found.exchanges)


def test_an_import_waits_for_nobody(tmp_path):
    found = read_import(written(tmp_path, "file", MESSAGES))
    store = JournalStore(tmp_path / "hive", "mia", FixedClock())
    with store.exclusive(), pytest.raises(StoreBusy):
        import_exchanges(JournalStore(tmp_path / "hive", "mia", FixedClock()), found)
    assert list(store.entries()) == []


def test_two_files_that_count_from_one_lose_nothing_and_twice_changes_nothing(tmp_path):
    files = [
        written(
            tmp_path,
            f"{name}.jsonl",
            lines(*({"id": n, "ts": at + n, "query": f"{name} {n}?", "result": "a"} for n in (1, 2))),
        )
        for name, at in (("first", 1_700_000_000), ("second", 1_710_000_000))
    ]
    store = JournalStore(tmp_path / "hive", "mia", FixedClock())
    assert [import_exchanges(store, read_import(file)).appended for file in (*files, *files)] == [2, 2, 0, 0]
    assert [entry.exchange.question for entry in store.entries()] == ["first 1?", "first 2?", "second 1?", "second 2?"]
    assert len({entry.exchange.id for entry in store.entries()}) == 4


TALK = st.lists(
    st.tuples(st.sampled_from(["user", "assistant"]), st.text(st.characters(exclude_categories=["Cs"]), max_size=12)),
    max_size=12,
)


@settings(max_examples=30, deadline=None)
@given(TALK, st.booleans())
def test_no_word_of_a_conversation_is_lost_whatever_its_order(talk, dated):
    messages = [
        {"role": role, "content": text} | ({"timestamp": 1_700_000_000 + at} if dated else {})
        for at, (role, text) in enumerate(talk)
    ]
    with tempfile.TemporaryDirectory() as folder:
        path = written(folder, "talk.json", messages)
        if not messages:
            return
        found = read_import(path)
        store = JournalStore(Path(folder) / "hive", "mia", FixedClock())
        import_exchanges(store, found)
        assert import_exchanges(store, found).appended == 0
        kept = [entry.exchange for entry in store.entries()]
    for role, text in talk:
        if text.strip():
            assert any(text in (each.question if role == "user" else each.answer) for each in kept)
    assert [each.at for each in kept] == sorted(each.at for each in kept)
