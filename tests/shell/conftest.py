"""The command line in this process, and a hive to use it on."""

from __future__ import annotations

import io
import json

import pytest

from horizon.cli import main


class Run:
    def __init__(self, capsys, monkeypatch):
        self.capsys = capsys
        self.monkeypatch = monkeypatch

    def __call__(self, *words, stdin=b""):
        self.monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8"))
        self.capsys.readouterr()
        self.status = main([str(word) for word in words])
        captured = self.capsys.readouterr()
        self.out, self.err = captured.out, captured.err
        return self.status

    @property
    def json(self):
        return json.loads(self.out)


@pytest.fixture
def run(capsys, monkeypatch):
    return Run(capsys, monkeypatch)


@pytest.fixture
def hive(run, tmp_path):
    path = tmp_path / "ruche"
    assert run("init", path, "--bee", "mia") == 0
    return path
