"""What is shipped: the wheel holds all that runs, and runs where the checkout is not."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)],
        cwd=ROOT,
        check=True,
        capture_output=True,
    )
    (built,) = folder.glob("*.whl")
    return built


def test_it_holds_every_module_and_its_data(wheel):
    held = set(zipfile.ZipFile(wheel).namelist())

    modules = {
        path.relative_to(ROOT).as_posix()
        for package in ("horizon", "tasks", "flows")
        for path in (ROOT / package).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert {"horizon/py.typed", "horizon/data/memorybank/LICENSE", "horizon/data/french_day.json"} <= modules
    assert modules | {"flows/prefect.yaml"} <= held
    assert not {name for name in held if name.startswith(("tests/", "docs/", "benchmarks/"))}


def test_it_runs_outside_the_checkout(wheel, tmp_path):
    place = tmp_path / "site"
    zipfile.ZipFile(wheel).extractall(place)
    code = f"""
import sys
sys.path.insert(0, {str(place)!r})
import horizon, horizon.cli
assert horizon.__file__.startswith({str(place)!r}), horizon.__file__
assert horizon.cli.main(["init", "ruche", "--bee", "mia"]) == 0
assert horizon.cli.main(["append", "ruche", "mia", "--question", "où ?", "--answer", "ici"]) == 0
print("---")
assert horizon.cli.main(["read", "ruche", "mia", "--json"]) == 0
"""
    done = subprocess.run(
        [sys.executable, "-I", "-c", code], cwd=tmp_path, check=True, capture_output=True, text=True, encoding="utf-8"
    )

    assert "où ?" in json.loads(done.stdout.partition("---\n")[2])["text"]
