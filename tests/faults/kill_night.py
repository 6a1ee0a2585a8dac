"""Run as a program: kills a night at each of its writes in turn, reruns it, and prints what stands afterwards.

Prints one JSON document: the files of an undisturbed night, and for each kill point those after the rerun. It forks
from a process of one thread, so that each trial costs milliseconds. Every write, rename, truncation and SQLite
statement counts as a write; a torn one writes half its bytes first.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sqlite3
import sys
from pathlib import Path
from typing import Any

from tests.night_home import DAY, Home, local, reply

FACTS = (
    ("La personne préfère le thé vert le matin.", [1], "Je préfère le thé vert"),
    ("Atlas est livré le 12 septembre.", [2]),
)


def live(home: Home) -> Home:
    home.make()
    home.live("Je préfère le thé vert le matin.", "Entendu, du thé vert.", at=local(9))
    home.live("On livre Atlas le 12 septembre. Retiens que Marie relit tout.", "Atlas, le 12 septembre.", at=local(10))
    (home.path / "journal.md").write_text("# Mon journal\n\n## 2026-07-01\n\nRien.\n\n## 2026-08-01\n\nPlus tard.\n")
    (home.path / "memory_facts.jsonl").write_text(
        '{"text": "Un fait.", "source": "tool", "created_at": 1.5, "trust": ""}\n'
    )
    return home


def run(home: Home) -> None:
    home.model.then = lambda _request: reply(*FACTS, resume="Thé vert. Atlas est livré le 12 septembre.")
    home.night().consolidate(DAY)


def left(home: Home) -> dict[str, str]:
    found = {name: data.decode() for name, data in home.bytes().items() if name != "consolidation.jsonl"}
    row = home.night().ledger.load().row(DAY)
    found["state"] = str(row.state)
    found["odd"] = ", ".join(sorted(path.name for path in home.path.iterdir() if path.suffix == ".tmp"))
    return found


class Killer:
    """Counts writes and ends the process at the chosen one."""

    def __init__(self, point: int, *, torn: bool) -> None:
        self.left = point
        self.torn = torn
        self.write = os.write
        self.pwrite = os.pwrite

    def strike(self) -> None:
        self.left -= 1
        if self.left == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    def install(self) -> None:
        killer = self

        def write(fd: int, data: bytes) -> int:
            if killer.torn and killer.left == 1:
                killer.write(fd, bytes(data)[: len(data) // 2])
            killer.strike()
            return killer.write(fd, data)

        def pwrite(fd: int, data: bytes, offset: int) -> int:
            if killer.torn and killer.left == 1:
                killer.pwrite(fd, bytes(data)[: len(data) // 2], offset)
            killer.strike()
            return killer.pwrite(fd, data, offset)

        def counted(real: Any) -> Any:
            def call(*args: Any, **named: Any) -> Any:
                killer.strike()
                return real(*args, **named)

            return call

        class Connection(sqlite3.Connection):
            def execute(self, *args: Any) -> Any:
                killer.strike()
                return super().execute(*args)

        real_connect = sqlite3.connect

        def connect(*args: Any, **named: Any) -> Any:
            return real_connect(*args, factory=Connection, **named)

        os.write = write
        os.pwrite = pwrite
        for name in ("rename", "replace", "ftruncate", "fsync", "fdatasync", "unlink"):
            setattr(os, name, counted(getattr(os, name)))
        sqlite3.connect = connect


def forked(work: Any) -> bool:
    """Do `work` in a process of its own; tell whether it ended by itself."""
    child = os.fork()
    if child == 0:
        try:
            work()
        except BaseException as error:  # noqa: BLE001 - whatever it is, the parent shall know
            sys.stderr.write(repr(error))
            sys.stderr.flush()
            os._exit(1)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status) or os.waitstatus_to_exitcode(status) == 0, "the night failed"
    return os.WIFEXITED(status)


def main(folder: Path) -> None:
    live(Home(folder / "origin"))
    calm = Home(folder / "calm")
    shutil.copytree(folder / "origin", calm.path)
    assert forked(lambda: run(calm))
    found = {"calm": left(calm), "killed": []}
    for torn in (False, True):
        point = 0
        ended = False
        while not ended:
            point += 1
            home = Home(folder / "trial")
            shutil.copytree(folder / "origin", home.path)

            def work(point: int = point, torn: bool = torn, home: Home = home) -> None:
                Killer(point, torn=torn).install()
                run(home)

            ended = forked(work)
            assert forked(lambda home=home: run(home))
            found["killed"].append({"point": point, "torn": torn, **left(home)})
            shutil.rmtree(home.path)
    sys.stdout.write(json.dumps(found))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
