"""The installed command as a process: streams, encodings, signals, closed pipes."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import struct
import subprocess
import sys
import termios
import time
from pathlib import Path

import pytest

HORIZON = str(Path(sys.executable).parent / "horizon")


def horizon(*words, **options):
    return subprocess.run([HORIZON, *map(str, words)], capture_output=True, check=False, timeout=60, **options)


@pytest.fixture
def hive(tmp_path):
    path = tmp_path / "ruche"
    assert horizon("init", path, "--bee", "mia").returncode == 0
    return path


def test_help_names_the_statuses_and_the_commands():
    done = horizon("--help")

    assert done.returncode == 0
    for word in (b"init", b"append", b"read", b"maintain", b"exit status"):
        assert word in done.stdout


def test_no_command_is_wrong_use():
    assert horizon().returncode == 2


def test_json_stands_alone_on_stdout_and_talk_goes_to_stderr(hive):
    (hive / "bees" / "mia.toml").write_text("[horizon]\nbudget_net = -1\n", "utf-8")

    done = horizon("settings", hive, "mia", "--json")

    assert done.returncode == 2
    assert json.loads(done.stdout)["problems"]
    assert b"budget_net" in done.stderr


def test_an_ascii_terminal_and_bytes_that_are_no_text_are_survived(hive):
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    words = ["append", str(hive), "mia", "--question", b"\xff \xc3\xa9", "--answer", "漢字 é"]
    done = subprocess.run([HORIZON, *words], capture_output=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr

    done = horizon("read", hive, "mia", env=environment)
    assert done.returncode == 0, done.stderr
    assert b"\\u6f22" in done.stdout
    assert json.loads(horizon("read", hive, "mia", "--json", env=environment).stdout)


def test_a_pipe_gets_no_colour(hive):
    done = horizon("settings", hive, "mia", env={**os.environ, "FORCE_COLOR": ""})

    assert done.returncode == 0
    assert b"\x1b" not in done.stdout


def test_a_closed_pipe_is_no_traceback(hive):
    horizon("append", hive, "mia", "--question", "q", "--answer", "-", input=b"mot " * 50_000)
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = subprocess.run([HORIZON, "read", str(hive), "mia"], stdout=writing, stderr=subprocess.PIPE, check=False)
    finally:
        os.close(writing)

    assert done.stderr == b""
    assert done.returncode == 0


def test_an_interrupt_ends_with_130_and_no_traceback(hive):
    # A shell's background jobs ignore SIGINT, which this child would inherit: so it is set back here.
    code = "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
    code += "from horizon.cli import main; sys.exit(main())"
    words = [sys.executable, "-c", code, "append", str(hive), "mia", "--question", "q", "--answer", "-"]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdin.write(b"begun")
        process.stdin.flush()
        while unread(process.stdin) and process.poll() is None:
            time.sleep(0.02)  # until it reads its standard input, and waits for the rest
        process.send_signal(signal.SIGINT)
        _, talk = process.communicate(timeout=30)

    assert process.returncode == 130
    assert b"Traceback" not in talk
    assert b"interrupted" in talk


def unread(pipe):
    return struct.unpack("i", fcntl.ioctl(pipe, termios.FIONREAD, struct.pack("i", 0)))[0]


@pytest.mark.parametrize("words", [["read"], ["settings"]])
def test_a_file_in_place_of_a_hive_is_wrong_use(tmp_path, words):
    file = tmp_path / "ruche"
    file.write_text("x")

    assert horizon(*words, file, "mia").returncode == 2
