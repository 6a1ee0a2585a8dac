"""The journal under many processes, kill -9 and a full disk: nothing lost, torn, doubled or half read."""

import random
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime

import pytest

from horizon.adapters.clock import SystemClock
from horizon.adapters.files import append_lines, replace_file
from horizon.adapters.journal_jsonl import JournalStore
from horizon.core.exchange import Exchange

START = datetime(2026, 7, 10, 8, 0, tzinfo=UTC)

HEAD = """
import resource, sys
from datetime import UTC, datetime
from pathlib import Path
from horizon.adapters.clock import SystemClock
from horizon.adapters.files import append_lines, replace_file
from horizon.adapters.journal_jsonl import JournalStore
from horizon.core.exchange import Exchange
store = JournalStore(Path(sys.argv[1]), "mia", SystemClock())
def append(id_, answer):
    store.append(Exchange(id=id_, at=datetime(2026, 7, 10, 8, 0, tzinfo=UTC), question="q", answer=answer))
"""
WRITER = """
print("ready", flush=True)
sys.stdin.readline()
for number in range(int(sys.argv[3])):
    append(f"{sys.argv[2]}-{number}", "x" * (number * 397 % 6_000))
    print(number, flush=True)
"""


def start(body, *arguments):
    return subprocess.Popen(
        [sys.executable, "-c", HEAD + body, *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def store_in(hive):
    return JournalStore(hive, "mia", SystemClock())


def ids(store):
    return [entry.exchange.id for entry in store.entries()]


def test_eight_processes_append_at_once_and_a_reader_sees_only_whole_exchanges(tmp_path):
    each = 130  # 8 times that is two rotations
    writers = [start(WRITER, tmp_path, name, each) for name in "abcdefgh"]
    try:
        for writer in writers:
            assert writer.stdout.readline() == "ready\n"
        for writer in writers:
            writer.stdin.write("go\n")
            writer.stdin.flush()
        reader = store_in(tmp_path)
        seen = set()
        looks = 0
        while any(writer.poll() is None for writer in writers):
            state = reader.load().state
            held = [found.id for found in state.sharp.values()]
            assert len(held) == len(set(held)) == state.appended
            assert seen <= set(held), "an exchange was lost between two looks"
            for found in state.sharp.values():
                number = int(found.id.partition("-")[2])
                assert found.answer == "x" * (number * 397 % 6_000)
            seen = set(held)
            every = ids(store_in(tmp_path))
            assert len(every) == len(set(every))
            assert seen <= set(every)
            looks += 1
        assert looks > 1
        assert [writer.wait() for writer in writers] == [0] * 8
    finally:
        for writer in writers:
            writer.kill()
            writer.communicate()
    expected = {f"{name}-{number}" for name in "abcdefgh" for number in range(each)}
    every = ids(store_in(tmp_path))
    assert sorted(every) == sorted(expected)
    for name in "abcdefgh":
        own = [id_ for id_ in every if id_.startswith(name)]
        assert own == [f"{name}-{number}" for number in range(each)], "in the order in which each appended"
    state = store_in(tmp_path).load().state
    assert reader.load().state == state
    assert {found.id for found in state.sharp.values()} == expected
    assert store_in(tmp_path).oddities() == ()
    archive = tmp_path / "window" / "archive"
    assert [path.read_bytes().count(b"\n") for path in sorted(archive.iterdir())] == [500, 500]


def test_a_writer_killed_at_any_instant_loses_nothing_that_it_was_told_is_stored(tmp_path):
    chance = random.Random(7)
    promised = set()
    for run in range(5):
        writer = start(WRITER, tmp_path, f"r{run}", 100_000)
        try:
            writer.stdout.readline()
            writer.stdin.write("go\n")
            writer.stdin.flush()
            writer.stdout.readline()
            time.sleep(chance.random() / 20)
            writer.send_signal(signal.SIGKILL)
            told = writer.stdout.read().split("\n")[:-1]
        finally:
            writer.kill()
            writer.communicate()
        promised |= {f"r{run}-{number}" for number in range(len(told) + 1)}
        store = store_in(tmp_path)
        store.append(Exchange(id=f"after-{run}", at=START, question="q", answer="r"))
        promised.add(f"after-{run}")
        found = ids(store)
        assert promised <= set(found)
        assert len(found) == len(set(found))
        assert store.load().state.appended == len(found)


@pytest.mark.parametrize("room", [0, 1, 57, 200, 399])
def test_a_full_disk_while_appending_leaves_nothing_half(tmp_path, room):
    store = store_in(tmp_path)
    store.append(Exchange(id="before", at=START, question="q", answer="r"))
    journal = tmp_path / "window" / "mia-messages.jsonl"
    before = journal.read_bytes()
    done = start(
        """
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), resource.RLIM_INFINITY))
try:
    append("refused", "x" * 400)
except OSError as error:
    sys.exit(3)
""",
        tmp_path,
        len(before) + room,
    )
    done.communicate()
    assert done.returncode == 3
    assert journal.read_bytes() == before
    store.append(Exchange(id="after", at=START, question="q", answer="r"))
    assert ids(store) == ["before", "after"]
    assert store.oddities() == ()


def test_a_full_disk_while_replacing_leaves_the_old_file_and_nothing_beside_it(tmp_path):
    path = tmp_path / "file"
    replace_file(path, b"old")
    done = start(
        """
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, resource.RLIM_INFINITY))
try:
    replace_file(Path(sys.argv[1]) / "file", b"x" * 5000)
except OSError:
    sys.exit(3)
""",
        tmp_path,
    )
    done.communicate()
    assert done.returncode == 3
    assert path.read_bytes() == b"old"
    assert [found.name for found in tmp_path.iterdir()] == ["file"]


def test_a_file_replaced_under_kill_is_always_whole(tmp_path):
    path = tmp_path / "file"
    replace_file(path, b"0" * 200_000)
    writer = start(
        """
print("ready", flush=True)
while True:
    for digit in b"123456789":
        replace_file(Path(sys.argv[1]) / "file", bytes([digit]) * 200_000)
""",
        tmp_path,
    )
    try:
        writer.stdout.readline()
        for _ in range(200):
            data = path.read_bytes()
            assert len(data) == 200_000
            assert len(set(data)) == 1
        writer.send_signal(signal.SIGKILL)
    finally:
        writer.kill()
        writer.communicate()
    data = path.read_bytes()
    assert (len(data), len(set(data))) == (200_000, 1)


def test_a_reader_never_loses_or_doubles_while_another_engine_rotates(tmp_path):
    rotator = start(
        """
import os
journal = Path(sys.argv[1]) / "window" / "mia-messages.jsonl"
archive = journal.parent / "archive"
archive.mkdir(parents=True)
print("ready", flush=True)
sys.stdin.readline()
for number in range(160):
    with journal.open("ab", buffering=0) as file:
        file.write(b'{"id": "%d", "ts": 1783685002, "question": "q"}\\n' % number)
    if number % 3 == 0:
        os.rename(journal, archive / f"mia-messages-{number}.jsonl")
    print(number, flush=True)
sys.stdin.readline()
""",
        tmp_path,
    )
    try:
        rotator.stdout.readline()
        rotator.stdin.write("go\n")
        rotator.stdin.flush()
        follower = store_in(tmp_path)
        written = 0
        while written < 160:
            written = int(rotator.stdout.readline()) + 1
            expected = [str(number) for number in range(written)]
            assert ids(store_in(tmp_path))[:written] == expected
            state = follower.load().state
            held = [state.sharp[place].id for place in sorted(state.sharp)]
            assert held[:written] == expected
            assert held == [str(number) for number in range(len(held))]
    finally:
        rotator.kill()
        rotator.communicate()


def test_lines_of_many_processes_are_each_whole(tmp_path):
    body = """
for number in range(60):
    append_lines(Path(sys.argv[1]) / "f", b"%s-%d\\n" % (sys.argv[2].encode() * 50, number), lock=Path(sys.argv[1]) / "l")
"""
    writers = [start(body, tmp_path, name) for name in "abcd"]
    assert [writer.communicate() and writer.returncode for writer in writers] == [0] * 4
    append_lines(tmp_path / "f", b"end\n", lock=tmp_path / "l")
    found = (tmp_path / "f").read_bytes().split(b"\n")
    assert found.pop() == b""
    assert found.pop() == b"end"
    assert sorted(found) == sorted(f"{name * 50}-{number}".encode() for name in "abcd" for number in range(60))
