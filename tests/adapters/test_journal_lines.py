"""Journal lines as other engines and accidents leave them: what is read, where it stands, what is said of it."""

import json
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from horizon.adapters.journal_lines import (
    EPOCH,
    cleaned,
    exchange_of,
    id_and_date,
    instant_at,
    instant_of,
    leniencies,
    line_of,
    read_line,
)
from horizon.adapters.outcome_lines import condensed_id, fields_line, outcome_fields
from horizon.core.event import Condensed, Step
from horizon.core.exchange import Exchange

A = b'{"id": "a", "question": "q", "reponse": "r"}'
B = b'{"id": "b", "question": "q", "reponse": "r"}'
NOON = datetime(2026, 7, 10, 12, 3, 22, tzinfo=UTC)


def ids(found):
    return [record.fields.get("id") for record in found.records]


@pytest.mark.parametrize(
    ("line", "taken", "said"),
    [
        (A, ["a"], []),
        (A + b"\r", ["a"], []),
        (b"  " + A, ["a"], []),
        (A + B, ["a", "b"], ["more than one record"]),
        (A + b" , " + B, ["a", "b"], ["more than one record", "not JSON", "a whole record after a torn one"]),
        (b"\xef\xbb\xbf" + A, ["a"], ["byte order mark"]),
        (b"\0\0\0" + A, ["a"], ["NUL bytes"]),
        (A + b"\0\0", ["a"], []),
        (b"\0\0\0\0", [], ["byte order mark or NUL"]),
        (b'{"id": "c", "question": "a\tb\0c", "reponse": "r"}', ["c"], ["control characters"]),
        (b'{"id": "t", "question": "cut in the mid', [], ["not JSON"]),
        (b'{"id": "t", "question": "cut in the mid' + A, ["a"], ["not JSON", "a whole record after a torn one"]),
        (b'{"tool": "x", "input": {"query": "inner"}', [], ["not JSON"]),
        (b'{"id": "u", "question": "\xff\xfe"}', [], ["invalid UTF-8 at byte 25"]),
        (b"[1, 2]", [], ["a JSON array"]),
        (b"3.5", [], ["a JSON number"]),
        (b'"text"', [], ["a JSON string"]),
        (b"null", [], ["a JSON constant"]),
        (b'{"event": "start", "pid": 3}', [], ["neither a question nor an answer (keys: event, pid)"]),
        (b"[" * 100_000, [], ["nested too deeply"]),
        (b'{"question": ' + b"[" * 100_000, [], ["nested too deeply"]),
        (b'{"id": "u", "question": "a\xe2\x80\xa8b\xc2\x85c", "reponse": "r"}', ["u"], []),
        (b'{"answer": "only an answer"}', [None], []),
    ],
)
def test_what_a_line_holds_and_what_is_said_of_it(line, taken, said):
    found = read_line(line, 100, ended=True)
    assert ids(found) == taken
    assert len(found.notes) == len(said), found.notes
    for (_, reason), expected in zip(found.notes, said, strict=True):
        assert expected in reason


def test_each_record_of_a_line_has_its_own_place():
    found = read_line("é".encode() * 0 + A + b"  " + B, 1_000, ended=True)
    assert [(record.offset, record.end) for record in found.records] == [
        (1_000, 1_000 + len(A)),
        (1_000 + len(A) + 2, 1_000 + len(A) + 2 + len(B)),
    ]


def test_places_are_in_bytes_also_after_text_that_is_not_ascii():
    first = '{"id": "é", "question": "ça", "reponse": "小"}'.encode()
    found = read_line(first + B, 0, ended=True)
    assert [record.offset for record in found.records] == [0, len(first)]
    torn = '{"id": "é", "question": "ça'.encode()
    found = read_line(torn + B, 7, ended=True)
    assert [record.offset for record in found.records] == [7 + len(torn)]


@given(st.binary(max_size=300), st.booleans())
@example(A[:-1], False)
def test_no_bytes_break_the_reading_of_a_line(line, ended):
    found = read_line(line.replace(b"\n", b""), 0, ended=ended)
    for record in found.records:
        assert 0 <= record.offset < record.end <= len(line)
        exchange_of(record, EPOCH, dated=False)


@given(st.integers(0, len(A + B)))
def test_of_a_line_that_is_being_written_only_whole_records_are_taken(cut):
    found = read_line((A + B)[:cut], 0, ended=False)
    assert ids(found) == ["a", "b"][: (cut >= len(A)) + (cut >= len(A + B))]


@pytest.mark.parametrize(
    "fields",
    [
        {"quand": "2026-07-10T14:03:22+02:00"},
        {"timestamp": "2026-07-10T12:03:22Z"},
        {"date": "2026-07-10 12:03:22+00:00"},
        {"ts": 1783685002},
        {"ts": 1783685002.0},
        {"timestamp": 1783685002000},
        {"ts": 1783685002000000},
        {"ts": 1783685002000000000},
        {"ts": "1783685002"},
        {"quand": "1783685002000"},
        {"quand": "not a date", "timestamp": "2026-07-10T12:03:22Z"},
        {"quand": None, "ts": 1783685002},
    ],
)
def test_dates_as_engines_write_them_are_one_instant(fields):
    assert instant_of(fields) == NOON


@pytest.mark.parametrize(
    "value", ["", "soon", True, float("nan"), float("inf"), [], {}, 1e30, "99999999999999999999999"]
)
def test_what_is_no_date_is_none(value):
    assert instant_of({"quand": value}) is None


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"query": "q", "response": "r", "tool": "bash", "model": "m"}, ("q", "r", "outil", "bash", "m")),
        ({"prompt": "q", "answer": "r", "kind": "tool"}, ("q", "r", "tool", None, None)),
        ({"input": "q", "result": "r"}, ("q", "r", "conversation", None, None)),
        ({"question": None, "input": "q", "output": "r", "type": "x"}, ("q", "r", "x", None, None)),
        ({"question": "q"}, ("q", "", "conversation", None, None)),
        ({"answer": "r"}, ("", "r", "conversation", None, None)),
        ({"input": {"a": [1]}, "output": 3}, ('{"a": [1]}', "3", "conversation", None, None)),
    ],
)
def test_keys_of_other_engines_are_understood(fields, expected):
    record = read_line(json.dumps(fields).encode(), 0, ended=True).records[0]
    found = exchange_of(record, NOON, dated=True)
    assert (found.question, found.answer, found.kind, found.tool, found.model) == expected


def test_a_record_without_an_id_gets_one_of_its_content():
    def id_of(fields, at=NOON, dated=True):
        return exchange_of(read_line(json.dumps(fields).encode(), 0, ended=True).records[0], at, dated=dated).id

    assert id_of({"question": "q", "answer": "r"}) == id_of({"query": "q", "output": "r", "id": " "})
    assert id_of({"question": "q", "answer": "r"}) != id_of({"question": "q", "answer": "s"})
    assert id_of({"question": "q"}) != id_of({"question": "q"}, NOON + timedelta(seconds=1))
    assert id_of({"question": "q"}, NOON, dated=False) == id_of({"question": "q"}, EPOCH, dated=False)
    assert id_of({"question": "q", "id": 7}) == "7"


def test_what_was_made_up_is_said():
    line = b'{"id": "x", "answer": "a \\ud800 lone one"}'
    record = read_line(line, 0, ended=True).records[0]
    said = list(leniencies(record))
    assert len(said) == 3
    assert exchange_of(record, NOON, dated=False).answer == "a \ufffd lone one"


anything = st.text(st.characters(), max_size=60)
instants = st.datetimes(timezones=st.just(UTC))


@given(
    st.builds(
        Exchange,
        id=st.text(st.characters(), min_size=1, max_size=9).filter(lambda text: text.strip()),
        at=instants,
        question=anything,
        answer=anything,
        kind=anything.filter(lambda text: text.strip()),
        tool=st.none() | anything.filter(bool),
        model=st.none() | anything.filter(bool),
    )
)
@example(Exchange(id="a", at=NOON, question="\ud83d\ude00 \ud800 \0 \u2028 \x85 \n", answer="\ufeff"))
def test_what_is_written_is_what_is_read_back(exchange):
    exchange = cleaned(exchange)
    line = line_of(exchange)
    assert line.count(b"\n") == 1
    found = read_line(line[:-1], 0, ended=True)
    assert not found.notes
    (record,) = found.records
    at = instant_of(record.fields)
    assert at is not None
    assert exchange_of(record, at, dated=True) == exchange


@given(st.text(st.sampled_from('{}[]",: \\nul0é\n') | st.characters(), max_size=40), st.data())
@example('", "modele": null}', None)
@example('{"id": "b", "quand": "2026-07-10T08:00:00Z", "type": "x", "modele": null}', None)
def test_a_line_of_ours_is_known_without_parsing_only_when_it_is_whole(text, data):
    line = line_of(cleaned(Exchange(id="a1", at=NOON, question=text, answer=text)))[:-1]
    whole = id_and_date(line)
    assert whole is None or (whole[0] == "a1" and instant_at(whole[1], None) == NOON)
    for cut in range(len(line)) if data is None else [data.draw(st.integers(0, len(line) - 1))]:
        assert id_and_date(line[:cut]) is None
        assert id_and_date(line[:cut] + line) is None or cut == 0
    assert id_and_date(line + line) is None
    assert id_and_date(line.replace(b"question", b"ques\0ion")) is None


@given(st.text(st.sampled_from('{}[]",: \\nul0é\n') | st.characters(), max_size=40), st.data())
@example('"}]}', None)
@example(', "degrade": true, "etapes": []}', None)
def test_a_condensed_text_is_known_without_parsing_only_when_its_line_is_whole(text, data):
    event = Condensed(id="a1", text=text, by="m", degraded=True, at=NOON, steps=(Step(by="m", outcome=text),))
    line = fields_line(outcome_fields(event))[:-1]
    assert condensed_id(line) in {"a1", None}
    for cut in range(len(line)) if data is None else [data.draw(st.integers(0, len(line) - 1))]:
        assert condensed_id(line[:cut]) is None
        assert condensed_id(line[:cut] + line) is None or cut == 0


def test_ordinary_lines_of_ours_are_known_without_parsing():
    exchange = Exchange(id="a1", at=NOON, question="où ?", answer="là", model="ollama/qwen3")
    assert id_and_date(line_of(exchange)[:-1])[0] == "a1"
    event = Condensed(id="a1", text="court", by="m", degraded=False, at=NOON)
    assert condensed_id(fields_line(outcome_fields(event))[:-1]) == "a1"


def test_a_line_as_we_write_it():
    exchange = Exchange(id="x1", at=NOON, question="où ?", answer="là", model="ollama/qwen3")
    fields = json.loads(line_of(exchange))
    assert list(fields) == ["id", "quand", "type", "outil", "question", "reponse", "modele"]
    assert datetime.fromisoformat(fields["quand"]) == NOON
    assert fields["outil"] is None
    assert "où".encode() in line_of(exchange)
