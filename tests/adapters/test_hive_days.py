"""Days of a hive's journals: whatever stands in them, what is read quickly is what the plain loop over all lines gives."""

import gzip
import os
import sqlite3
import sys
import time
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from horizon.adapters import day_runs, segments
from horizon.adapters.clock import SystemClock
from horizon.adapters.days_index import FILE_NAME
from horizon.adapters.hive_days import HiveDays
from horizon.adapters.journal_jsonl import JournalStore, bees_of
from horizon.adapters.journal_lines import line_of
from horizon.core.exchange import Exchange
from horizon.errors import Unavailable

START = datetime(2026, 3, 28, 22, 0, tzinfo=UTC)
"""Some hours before the clocks go forward in Europe."""
DAY = timedelta(days=1)
ALWAYS = (datetime(1, 1, 3, tzinfo=UTC), datetime(9999, 12, 30, tzinfo=UTC))


def days(hive, start, end):
    return [lived.exchange for lived in HiveDays(hive).between(start, end)]


def plainly(hive, start, end):
    """Read all lines of all journals, and keep those of the span."""
    return [
        entry.exchange
        for bee in bees_of(hive)
        for entry in JournalStore(hive, bee, SystemClock()).entries()
        if start <= entry.exchange.at < end
    ]


def ours(id_, written, rest='"type": "conversation", "outil": null, "question": "q", "reponse": "r", "modele": null}'):
    return f'{{"id": "{id_}", "quand": "{written}", {rest}'.encode()


def put(hive, name, data):
    path = hive / "window" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


@contextmanager
def machine_in(zone):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TZ", zone)
        time.tzset()
        try:
            yield patch
        finally:
            patch.undo()
            time.tzset()


# -- journals of every kind --------------------------------------------------------------------------------

instants = st.one_of(
    st.integers(-3 * 86_400, 3 * 86_400).map(lambda seconds: START + timedelta(seconds=seconds)),
    st.integers(-12, 12).map(lambda quarters: START + timedelta(minutes=15 * quarters)),
    st.integers(0, 3 * 86_400 * 10**6).map(lambda micros: START - DAY + timedelta(microseconds=micros)),
)  # fmt: skip
offsets = st.sampled_from([0, 60, 120, 345, -210, 840, -720, 899, -1439, 1439]).map(
    lambda minutes: timezone(timedelta(minutes=minutes))
)
ids = st.sampled_from(["a", "b", "2cc1caca22dafdec", "", "é", "a\\nb", 'a\\"b'])


@st.composite
def dates(draw):
    """A date as some engine writes it, or something that is none."""
    at = draw(instants).astimezone(draw(offsets))
    seconds = at.timestamp()
    if draw(st.integers(0, 2)):
        return at.isoformat()
    return draw(
        st.sampled_from(
            [
                at.isoformat(timespec="milliseconds"),
                at.isoformat(timespec="seconds"),
                at.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
                at.replace(tzinfo=None).isoformat(),
                at.isoformat(sep=" "),
                at.date().isoformat(),
                at.strftime("%Y%m%d"),
                f"{at.isoformat()}:30",
                str(int(seconds)),
                str(int(seconds * 1000)),
                "1201011512345",
                "2026-02-30T10:00:00+01:00",
                "2026-03-28T24:00:00+01:00",
                "2026-03-28T23:61:00+01:00",
                "0001-01-01T00:00:00+14:00",
                "9999-12-31T23:59:59-10:00",
                "2026-03-28T10:00:00\\u002b01:00",
                "hier",
                "",
            ]
        )
    )


@st.composite
def records(draw):
    """One JSON object, ours or another engine's."""
    written = draw(dates())
    kind = draw(st.integers(0, 8))
    if kind < 4:
        return ours(draw(ids), written)
    text = draw(st.sampled_from(["q", "if (a) { b }", 'f({\\"id\\": 1})', "é { «", "{", "\\u007b", "x" * 300]))
    if kind == 4:
        return ours(draw(ids), written, f'"question": "{text}", "reponse": "{text}"}}')
    if kind == 5:
        return ours("n", written, f'"question": "{text}", "meta": {{ "quand": "2020-01-01" }}}}')
    if kind == 6:
        return f'{{"question": "{text}", "answer": "{written}"}}'.encode()
    key = draw(st.sampled_from(["timestamp", "date", "ts", "created_at", "time"]))
    value = written if written.isdigit() and draw(st.booleans()) else f'"{written}"'
    return f'{{"prompt": "{text}", "{key}": {value}, "response": "r"}}'.encode()


@st.composite
def lines(draw):
    """A line without its newline, in every state that a journal's line can be in."""
    line = draw(records())
    match draw(st.integers(0, 20)):
        case 0:
            return line[: draw(st.integers(0, len(line)))]
        case 1:
            return line[: draw(st.integers(0, len(line)))] + draw(records())
        case 2:
            return line + draw(st.sampled_from([b"", b" ", b"\0"])) + draw(records())
        case 3:
            return line.replace(b'"question": "', b'"question": "\xff')
        case 4:
            return line.replace(b'"question": "', b'"question": "\\x')
        case 5:
            return draw(st.sampled_from([b"", b"  ", b"\0" * 5, b"[1]", b"[" * 3_000, b"\xef\xbb\xbf", b"null", b"{}", b'{"id'])) + draw(st.sampled_from([b"", line]))  # fmt: skip
        case 6:
            return ours("x", "2026-03-28T10:00:00+01:00", '"type": "conversation"}')
        case _:
            return line


journals = st.lists(st.lists(lines(), max_size=8), min_size=1, max_size=4)


def write(hive, bee, segments, forms):
    """Write the segments of a bee, the last one as its active file."""
    for number, (segment, form) in enumerate(zip(segments, forms, strict=False)):
        data = b"".join(line + b"\n" for line in segment)
        if number == len(segments) - 1:
            put(hive, f"{bee}-messages.jsonl", data[:-1] if form == "unended" else data)
        elif form in {"gzip", "damaged"}:
            packed = gzip.compress(data)
            put(hive, f"archive/{bee}-messages.{number:06d}.jsonl.gz", packed[: -9 if form == "damaged" else None])
        else:
            put(hive, f"archive/{bee}-messages.{number:06d}.jsonl", data[:-1] if form == "unended" else data)


forms = st.lists(st.sampled_from(["plain", "plain", "unended", "gzip", "damaged"]), min_size=4, max_size=4)


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.tuples(journals, forms), min_size=1, max_size=2),
    instants,
    st.sampled_from(
        [
            timedelta(0),
            timedelta(microseconds=1),
            timedelta(hours=1),
            timedelta(hours=6),
            timedelta(hours=23),
            DAY,
            timedelta(hours=25),
            4 * DAY,
        ]
    ),
    st.lists(lines(), max_size=3),
    st.sampled_from(["UTC", "Europe/Paris", "Asia/Kathmandu", "America/St_Johns", "Pacific/Kiritimati"]),
    st.sampled_from([1, 150, 1 << 18]),
)
def test_a_days_exchanges_are_those_of_the_plain_loop(tmp_path_factory, bees, start, length, more, zone, chunk):
    hive = tmp_path_factory.mktemp("hive")
    end = start + length
    with machine_in(zone) as patch:
        patch.setattr(day_runs, "_CHUNK", chunk)
        for number, (segments, form) in enumerate(bees):
            write(hive, f"bee{number}", segments, form)
        assert days(hive, start, end) == plainly(hive, start, end), "at first sight"
        assert days(hive, start, end) == plainly(hive, start, end), "with what is known"
        assert days(hive, *ALWAYS) == plainly(hive, *ALWAYS), "of all times"
        active = hive / "window" / "bee0-messages.jsonl"
        for line in more:
            with active.open("ab") as file:
                file.write(line)
            assert days(hive, start, end) == plainly(hive, start, end), "while a line is written"
            with active.open("ab") as file:
                file.write(b"\n")
            assert days(hive, start, end) == plainly(hive, start, end), "once it is written"
        active.rename(put(hive, "archive/bee0-messages.000009.jsonl", b""))
        put(hive, "bee0-messages.jsonl", b"".join(line + b"\n" for line in more))
        assert days(hive, start, end) == plainly(hive, start, end), "after a rotation"


# -- by hand -----------------------------------------------------------------------------------------------


def test_a_day_is_told_by_the_instant_whatever_date_is_written(tmp_path):
    written = ["2026-03-27T23:59:59-23:59", "2026-03-28T12:00:00+00:00", "2026-03-29T23:00:00+23:59"]
    put(tmp_path, "mia-messages.jsonl", b"".join(ours(f"e{n}", each) + b"\n" for n, each in enumerate(written)))
    found = days(tmp_path, datetime(2026, 3, 28, 23, 58, tzinfo=UTC), datetime(2026, 3, 28, 23, 59, tzinfo=UTC))
    assert [each.id for each in found] == ["e0"]
    found = days(tmp_path, datetime(2026, 3, 28, tzinfo=UTC), datetime(2026, 3, 29, tzinfo=UTC))
    assert [each.id for each in found] == ["e0", "e1", "e2"]
    assert [each.at.isoformat() for each in found] == [
        "2026-03-28T23:58:59+00:00",
        "2026-03-28T12:00:00+00:00",
        "2026-03-28T23:01:00+00:00",
    ]


def test_an_old_chat_imported_late_is_in_its_own_day(tmp_path):
    written = ["2026-03-28T09:00:00+01:00", "2025-01-01T09:00:00+01:00", "2026-03-28T10:00:00+01:00"]
    data = b"".join(ours(f"e{n}", each) + b"\n" for n, each in enumerate(written))
    put(tmp_path, "archive/mia-messages.000001.jsonl", data)
    put(tmp_path, "mia-messages.jsonl", b"")
    for _ in range(2):
        assert [e.id for e in days(tmp_path, datetime(2025, 1, 1, tzinfo=UTC), datetime(2025, 1, 2, tzinfo=UTC))] == [
            "e1"
        ]
        assert [e.id for e in days(tmp_path, START - DAY, START)] == ["e0", "e2"]


def test_undated_exchanges_take_the_date_before_also_across_segments_and_looks(tmp_path):
    put(
        tmp_path,
        "archive/mia-messages.000001.jsonl",
        b'{"question": "head"}\n' + ours("e1", "2026-03-28T10:00:00Z") + b"\n",
    )
    put(tmp_path, "archive/mia-messages.000002.jsonl", b'{"question": "across"}\n')
    active = put(
        tmp_path, "mia-messages.jsonl", b'{"question": "on"}\n' + ours("torn", "2026-01-01T10:00:00Z")[:-5] + b"\n"
    )
    span = (datetime(2026, 3, 28, 10, tzinfo=UTC), datetime(2026, 3, 28, 10, 1, tzinfo=UTC))
    assert [each.question for each in days(tmp_path, *span)] == ["head", "q", "across", "on"]
    with active.open("ab") as file:
        file.write(b'{"question": "late"}\n{"question": "being written"}')
    assert [each.question for each in days(tmp_path, *span)] == ["head", "q", "across", "on", "late", "being written"]
    assert [each.at for each in days(tmp_path, *span)] == [span[0]] * 6


def test_nothing_dated_is_of_1970(tmp_path):
    put(tmp_path, "archive/mia-messages.000001.jsonl", b'{"question": "a"}\n')
    active = put(tmp_path, "mia-messages.jsonl", b'{"question": "b"}')
    span = (datetime(1970, 1, 1, tzinfo=UTC), datetime(1970, 1, 2, tzinfo=UTC))
    assert [each.question for each in days(tmp_path, *span)] == ["a", "b"]
    active.write_bytes(b'{"question": "b"}\n' + ours("e1", "2026-03-28T10:00:00Z"))
    assert days(tmp_path, *span) == []
    assert [each.question for each in days(tmp_path, START - DAY, START)] == ["a", "b", "q"]


def test_a_line_that_says_its_date_twice_is_in_one_day_that_of_the_first(tmp_path):
    line = ours("e1", "2026-03-28T10:00:00Z", '"question": "q", "quand": "2026-05-01T10:00:00Z"}')
    put(tmp_path, "mia-messages.jsonl", line + b"\n")
    assert [each.id for each in days(tmp_path, *ALWAYS)] == ["e1"]
    assert [each.id for each in days(tmp_path, START - DAY, START)] == ["e1"]


def many(hive, count=60):
    """Two bees with exchanges an hour apart, in segments of 20; the active file of each is empty."""
    for bee in ("ada", "mia"):
        for number in range(0, count, 20):
            data = b"".join(
                line_of(Exchange(id=f"{bee}{n}", at=START + timedelta(hours=n), question="q", answer="r"))
                for n in range(number, number + 20)
            )
            put(hive, f"archive/{bee}-messages.{number // 20:06d}.jsonl", data)
        put(hive, f"{bee}-messages.jsonl", b"")


def reads(monkeypatch):
    """Count what is told line by line from now on."""
    told = []
    real = day_runs._told
    monkeypatch.setattr(day_runs, "_told", lambda lines: told.append(len(lines)) or real(lines))
    return told


def test_a_second_look_goes_through_nothing_again_and_a_grown_file_only_through_what_is_new(tmp_path, monkeypatch):
    many(tmp_path)
    told = reads(monkeypatch)
    first = days(tmp_path, START, START + DAY)
    assert sum(told) == 120
    told.clear()
    assert days(tmp_path, START, START + DAY) == first
    assert len(days(tmp_path, START + DAY, START + 2 * DAY)) == 48
    assert told == []
    for number in range(3):
        with (tmp_path / "window" / "mia-messages.jsonl").open("ab") as file:
            file.write(ours("new", "2026-03-29T10:00:00Z") + b"\n")
        assert len(days(tmp_path, START, START + DAY)) == len(first) + number + 1
    assert told == [1, 1, 1]


@pytest.mark.parametrize("damage", ["deleted", "garbage", "empty", "another version", "a folder", "of another zone"])
def test_what_is_known_may_be_lost_at_any_time(tmp_path, damage):
    many(tmp_path)
    expected = days(tmp_path, START, START + DAY)
    index = tmp_path / "window" / FILE_NAME
    match damage:
        case "deleted":
            index.unlink()
        case "garbage":
            index.write_bytes(b"garbage" * 1_000)
        case "empty":
            index.write_bytes(b"")
        case "a folder":
            index.unlink()
            index.mkdir()
        case _:
            with sqlite3.connect(index) as database:
                database.execute(
                    "PRAGMA user_version = 99" if damage == "another version" else "UPDATE written SET zone = 'x'"
                )
            database.close()
    assert len(expected) == 48
    for _ in range(2):
        assert days(tmp_path, START, START + DAY) == expected
    assert (damage == "a folder") or index.stat().st_mode & 0o077 == 0


def test_a_journal_that_was_replaced_is_gone_through_again(tmp_path):
    put(tmp_path, "archive/mia-messages.000001.jsonl", ours("e1", "2026-03-28T10:00:00Z") + b"\n")
    active = put(tmp_path, "mia-messages.jsonl", ours("e2", "2026-03-28T11:00:00Z") + b"\n")
    assert [each.id for each in days(tmp_path, START - DAY, START)] == ["e1", "e2"]
    put(tmp_path, "archive/mia-messages.000001.jsonl", b"\n" + ours("e3", "2026-03-28T10:00:00Z") + b"\n")
    put(tmp_path, "other", b"\n\n" + ours("e4", "2026-03-28T11:00:00Z") + b"\n").replace(active)
    assert [each.id for each in days(tmp_path, START - DAY, START)] == ["e3", "e4"]
    status = active.stat()
    active.write_bytes(active.read_bytes().replace(b"e4", b"e5").replace(b"T11", b"T12"))
    os.utime(active, ns=(status.st_atime_ns, status.st_mtime_ns + 1))
    assert [each.id for each in days(tmp_path, START - DAY, START)] == ["e3", "e5"]
    active.write_bytes(b"\n\n\n" + active.read_bytes() + ours("e6", "2026-03-28T13:00:00Z") + b"\n")
    assert [each.id for each in days(tmp_path, START - DAY, START)] == ["e3", "e5", "e6"]


def test_segments_that_an_archiver_compresses_or_takes_away_are_followed(tmp_path):
    many(tmp_path)
    expected = days(tmp_path, START, START + DAY)
    for path in (tmp_path / "window" / "archive").glob("mia*000000.jsonl"):
        path.with_suffix(".jsonl.gz").write_bytes(gzip.compress(path.read_bytes()))
        path.unlink()
    assert days(tmp_path, START, START + DAY) == expected
    (tmp_path / "window" / "archive" / "ada-messages.000000.jsonl").unlink()
    assert days(tmp_path, START, START + DAY) == [
        each for each in expected if not each.id.startswith("ada") or int(each.id[3:]) >= 20
    ]
    with closing(sqlite3.connect(tmp_path / "window" / FILE_NAME)) as database:
        names = {name for (name,) in database.execute("SELECT name FROM files")}
    assert names == {
        str(path.relative_to(tmp_path / "window")) for path in (tmp_path / "window").rglob("*-messages*.jsonl*")
    }


def test_the_hive_is_listed_anew_when_a_segment_comes_while_it_is_read(tmp_path):
    many(tmp_path, count=20)
    reading = HiveDays(tmp_path).between(*ALWAYS)
    found = [next(reading)]
    (tmp_path / "window" / "mia-messages.jsonl").write_bytes(ours("new", "2026-03-29T10:00:00Z") + b"\n")
    (tmp_path / "window" / "mia-messages.jsonl").rename(tmp_path / "window" / "archive" / "mia-messages.000009.jsonl")
    found += reading
    assert [lived.exchange.id for lived in found][-1] == "new"
    assert len(found) == 41
    assert [lived.place for lived in found] == [*range(20), *range(21)]
    assert {(lived.source, lived.agent) for lived in found} == {("window/ada", "ada"), ("window/mia", "mia")}


def test_a_line_of_many_blocks_and_one_too_long_are_passed_by_like_any_other(tmp_path, monkeypatch):
    monkeypatch.setattr(day_runs, "LINE_LONGEST", 1_000_000)
    monkeypatch.setattr(segments, "LINE_LONGEST", 1_000_000)
    big = ours("big", "2026-03-28T10:00:00Z", '"question": "' + "x" * 900_000 + '"}')
    long = ours("long", "2026-03-28T10:00:00Z", '"question": "' + "x" * 3_000_000 + '"}')
    last = ours("last", "2026-03-28T10:00:00Z")
    put(tmp_path, "archive/mia-messages.000001.jsonl", b"\n".join([big, long, last, b'{"question": "undated"}', long]))
    put(tmp_path, "mia-messages.jsonl", b"\n".join([long, big, last]))
    for _ in range(2):
        found = days(tmp_path, START - DAY, START)
        assert [each.id for each in found][:2] == ["big", "last"]
        assert [each.id for each in found][3:] == ["big", "last"]
        assert found == plainly(tmp_path, START - DAY, START)


def test_a_journal_that_cannot_be_read_is_never_taken_for_an_empty_one(tmp_path):
    many(tmp_path)
    (tmp_path / "window" / "zoe-messages.jsonl").mkdir()
    with pytest.raises(Unavailable, match="zoe-messages"):
        days(tmp_path, START, START + DAY)
    with pytest.raises(Unavailable, match="does not exist"):
        days(tmp_path / "nowhere", START, START + DAY)


@pytest.mark.parametrize("end", ["whole", "cut", "two frames"])
def test_segments_compressed_with_zstd_are_read(tmp_path, end):
    zstandard = pytest.importorskip("zstandard")
    many(tmp_path)
    expected = days(tmp_path, *ALWAYS)
    assert len(expected) == 120
    big = ours("big", "2026-03-28T10:00:00Z", '"question": "' + "y" * 3_000_000 + '"}') + b"\n"
    for path in sorted((tmp_path / "window" / "archive").iterdir()):
        data = path.read_bytes() + big
        packed = zstandard.compress(data)
        if end == "two frames":
            packed = zstandard.compress(data[:100]) + zstandard.compress(data[100:])
        path.with_suffix(".jsonl.zst").write_bytes(packed[:-20] if end == "cut" else packed)
        path.unlink()
    found = days(tmp_path, *ALWAYS)
    assert found == plainly(tmp_path, *ALWAYS) == days(tmp_path, *ALWAYS)
    store = JournalStore(tmp_path, "mia", SystemClock())
    if end == "cut":
        assert {oddity.reason for oddity in store.oddities()} >= {
            "cannot be uncompressed from here on: the file ends before its last frame does"
        }
    else:
        assert [each for each in found if each.id != "big"] == expected
        assert len(found) == 126
        assert store.exchange("mia7") is not None


def test_a_segment_that_cannot_be_read_here_is_never_taken_for_an_empty_one(tmp_path, monkeypatch):
    many(tmp_path)
    put(tmp_path, "archive/mia-messages.000009.jsonl.zst", b"\x28\xb5\x2f\xfd")
    monkeypatch.setitem(sys.modules, "compression.zstd", None)
    monkeypatch.setitem(sys.modules, "zstandard", None)
    with pytest.raises(Unavailable, match="pip install zstandard"):
        days(tmp_path, START, START + DAY)


def test_dates_without_an_offset_are_of_the_machines_zone_also_when_that_changes(tmp_path):
    undated = b'{"question": "undated"}'
    put(tmp_path, "mia-messages.jsonl", ours("e1", "2026-03-28T10:00:00") + b"\n" + undated + b"\n")
    for zone, hour in (("UTC", 10), ("Asia/Tokyo", 1), ("America/New_York", 14)):
        with machine_in(zone):
            at = datetime(2026, 3, 28, hour, tzinfo=UTC)
            assert [each.at for each in days(tmp_path, at, at + timedelta(minutes=1))] == [at, at]
            assert days(tmp_path, *ALWAYS) == plainly(tmp_path, *ALWAYS)
