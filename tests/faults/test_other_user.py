"""A hive is its user's: another user, even of its group, is refused by name and changes nothing; nothing waits for them."""

from __future__ import annotations

import os
import shutil
import tempfile
from datetime import UTC, datetime
from pathlib import Path

import pytest

from horizon import open_hive
from horizon.cli import main

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root can be two users")

OWNER, OTHER, GROUP = 64_001, 64_002, 64_000
TODAY = datetime.now(UTC).date().isoformat()
EXCHANGE = ("--question", "Où est la clé ?", "--answer", "Sous le paillasson.")


@pytest.fixture
def shared():
    """A folder that a whole group may write to, where users of it can go."""
    folder = Path(tempfile.mkdtemp(prefix="horizon-shared-", dir="/tmp"))
    os.chown(folder, OWNER, GROUP)
    folder.chmod(0o2770)
    yield folder
    shutil.rmtree(folder)


def as_user(user, *words):
    """Run a command of ours as `user` of the group; return its status. Its modules are loaded before: it may not read them."""
    child = os.fork()
    if child == 0:  # pragma: no cover - another process
        status = 99
        try:
            os.setgroups([GROUP])
            os.setgid(GROUP)
            os.setuid(user)
            status = main([str(word) for word in words])
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def everything(hive):
    return {path: (path.stat().st_mode, path.read_bytes() if path.is_file() else b"") for path in hive.rglob("*")}


def test_another_user_of_the_group_is_refused_and_changes_nothing(shared, tmp_path):
    commands = (
        ("init",),
        ("append", "mia", *EXCHANGE),
        ("read", "mia"),
        ("maintain",),
        ("consolidate", "--day", TODAY),
    )
    for command, *rest in commands:  # what they load
        assert main([command, str(tmp_path / "warm"), *rest]) in {0, 1}
    hive = shared / "ruche"
    for command, *rest in commands:
        assert as_user(OWNER, command, hive, *rest) in {0, 1}
    before = everything(hive)

    statuses = [as_user(OTHER, command, hive, *rest) for command, *rest in commands[1:]]

    assert statuses == [3] * 4
    assert everything(hive) == before
    assert as_user(OTHER, "init", shared / "other") == 0, "the folder itself is open to the group"
    assert as_user(OWNER, "append", hive, "mia", *EXCHANGE) == 0
    assert len(open_hive(hive).bee("mia").read().receipt) >= 2
