"""`horizon serve` and `horizon prefect setup` as processes, and the commands of the docs that need a Prefect server."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest

from tests.flows.real_prefect import free_port

ROOT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent
START = 240
"""Seconds that a server may take on a busy machine: its first start migrates an empty database."""
TAGGED = re.compile(r"^```sh (server|forever)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FOREVER = {"horizon serve", "prefect server start", "prefect worker start --pool horizon"}
"""What the docs say to leave running: the first is started here, the others by the tests of the flows."""


@pytest.fixture
def environment(tmp_path):
    return {
        **os.environ,
        "PATH": os.pathsep.join((str(BIN), os.environ["PATH"])),
        "HOME": str(tmp_path),
        "HORIZON_ROOT": str(tmp_path / "ruche"),
        "PREFECT_HOME": str(tmp_path / "prefect"),
        "PYTHONWARNINGS": "default",
    }


def deployments(url):
    answer = httpx.post(f"{url}/deployments/filter", json={}, timeout=30, trust_env=False)
    return {each["name"]: each for each in answer.json()} if answer.status_code == 200 else {}


@pytest.mark.engine
def test_one_process_serves_all_and_a_server_takes_what_the_docs_say(tmp_path, environment):
    (tmp_path / "ruche").mkdir()
    port = free_port()
    url = f"http://127.0.0.1:{port}/api"
    # A shell's background jobs ignore SIGINT, which this child would inherit: so it is set back here.
    code = "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
    code += "from horizon.cli import main; sys.exit(main())"
    words = [sys.executable, "-c", code, "serve", "--port", str(port)]
    with (tmp_path / "serve.log").open("wb") as log:
        process = subprocess.Popen(
            words, cwd=ROOT, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
        )
    try:
        until(lambda: len(deployments(url)) == 5, process, tmp_path)
        assert deployments(url)["nightly-consolidation"]["schedules"][0]["schedule"]["cron"] == "30 3 * * *"
        said = "".join(
            bash(commands, {**environment, "PREFECT_API_URL": url})
            for page in sorted((ROOT / "docs").glob("*.md"))
            for tag, commands in TAGGED.findall(page.read_text("utf-8"))
            if tag == "server"
        )
        assert "work pool horizon: there already" in said, "`serve` had set the server up"
        assert "machine died”: there already\n" in said, "what runs it watches is not forgotten"
        assert "Updated global concurrency limit" in said
        assert len(deployments(url)) == 5
        process.send_signal(signal.SIGINT)
        assert process.wait(60) in {0, 130}, (tmp_path / "serve.log").read_text()
    finally:
        if process.poll() is None:
            end(process)
    with pytest.raises(httpx.TransportError):
        httpx.get(f"{url}/health", timeout=5, trust_env=False)


def bash(commands, environment):
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", commands],
        cwd=ROOT,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def end(process):
    """Kill a `serve` that did not end by itself, and the server that it started, which has a session of its own."""
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    process.kill()
    process.wait()
    for child in children:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(int(child), signal.SIGKILL)


def until(ready, process, place):
    deadline = time.monotonic() + START
    while time.monotonic() < deadline:
        assert process.poll() is None, (place / "serve.log").read_text()
        try:
            if ready():
                return
        except httpx.HTTPError:
            pass
        time.sleep(0.5)
    pytest.fail((place / "serve.log").read_text())


def test_without_a_server_setup_says_how_to_have_one(environment):
    done = subprocess.run(
        [BIN / "horizon", "prefect", "setup"],
        env={**environment, "PREFECT_API_URL": "http://127.0.0.1:9/api", "PREFECT_CLIENT_MAX_RETRIES": "0"},
        capture_output=True,
        check=False,
    )

    assert done.returncode == 3
    assert b"prefect server start" in done.stderr
    assert b"Traceback" not in done.stderr


def test_what_the_docs_say_to_leave_running_is_what_is_tested():
    pages = [page.read_text("utf-8") for page in (ROOT / "README.md", *(ROOT / "docs").glob("*.md"))]
    found = {
        line
        for page in pages
        for tag, commands in TAGGED.findall(page)
        if tag == "forever"
        for line in commands.splitlines()
    }

    assert found == FOREVER


def test_the_clusters_are_installed_by_the_gate_as_the_page_says():
    page = (ROOT / "docs" / "scaling.md").read_text("utf-8")
    (command,) = re.findall(r"^```sh checkout\n(.*?)\n```$", page, re.MULTILINE | re.DOTALL)

    assert f'clusters="{command}"' in (ROOT / ".ci" / "run").read_text("utf-8")


@pytest.mark.parametrize("unit", sorted((ROOT / "docs" / "systemd").glob("*.service")), ids=lambda unit: unit.name)
def test_a_unit_starts_a_command_that_is_there(unit):
    (command,) = re.findall(r"^ExecStart=%h/horizon/\.venv/bin/(.+)$", unit.read_text("utf-8"), re.MULTILINE)

    assert any(command.startswith(known) for known in FOREVER)
    assert (BIN / command.split()[0]).exists()


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="there is no systemd-analyze here")
def test_systemd_finds_nothing_to_say_of_the_units(tmp_path):
    (tmp_path / "horizon" / ".venv").mkdir(parents=True)
    (tmp_path / "horizon" / ".venv" / "bin").symlink_to(BIN)
    units = []
    for unit in (ROOT / "docs" / "systemd").glob("*.service"):
        units.append(tmp_path / unit.name)
        units[-1].write_text(unit.read_text("utf-8").replace("%h", str(tmp_path)), "utf-8")
    assert units

    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", *map(str, units)], capture_output=True, text=True, check=False
    )

    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
