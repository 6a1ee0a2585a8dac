"""What no tracked file may say, and what every exception to a rule must."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TEXTS = {".py", ".md", ".toml", ".yaml", ".yml", ".json", ".lock", ".service", ".timer", ".sh", ""}
# Put together here, so that this file does not say them itself.
REGISTRIES = tuple(".".join(parts) for parts in (("pypi", "org"), ("pythonhosted", "org"), ("npmjs", "com")))
UNFINISHED = re.compile("|".join((r"\b" + "TO" + r"DO\b", r"\b" + "FIX" + r"ME\b", "NotImplemented" + "Error")))
EXCEPTION = re.compile(r"#\s*(?:noqa|type:\s*ignore|pyright:\s*ignore)")
REASONED = re.compile(
    r"#\s*(?:noqa:\s*[A-Z]+\d+(?:,\s*[A-Z]+\d+)*|type:\s*ignore\[[\w, -]+\]|pyright:\s*ignore\[\w+(?:, ?\w+)*\])"
    r"\s+(?:#|–|-)\s*\S"
)


def tracked() -> list[Path]:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True).stdout
    paths = [ROOT / name for name in listed.decode().split("\0") if name]
    return [path for path in paths if path.suffix in TEXTS and path.is_file()]


def lines_with(pattern: re.Pattern[str], paths: list[Path]) -> list[str]:
    return [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for path in paths
        for number, line in enumerate(path.read_text("utf-8", errors="replace").splitlines(), start=1)
        if pattern.search(line)
    ]


def test_no_registry_is_named():
    assert len(tracked()) > 20
    assert not lines_with(re.compile("|".join(map(re.escape, REGISTRIES))), tracked())


def test_nothing_is_left_unfinished():
    assert not lines_with(UNFINISHED, [path for path in tracked() if path.suffix == ".py"])


def test_the_lock_names_no_host():
    assert "://" not in (ROOT / "requirements.lock").read_text()


@pytest.mark.parametrize("folder", ["horizon", "tasks", "flows", "tests", "benchmarks"])
def test_every_exception_to_a_rule_carries_its_reason(folder):
    files = [path for path in tracked() if path.suffix == ".py" and path.is_relative_to(ROOT / folder)]

    bare = [line for line in lines_with(EXCEPTION, files) if not REASONED.search(line)]

    assert not bare
