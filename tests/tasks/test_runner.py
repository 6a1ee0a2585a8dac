"""Which task runner the environment asks for, and what it says of a wrong one."""

from __future__ import annotations

import pytest
from prefect.task_runners import ThreadPoolTaskRunner

from horizon.errors import InvalidInput
from tasks.runner import WIDTH, task_runner, width


def test_threads_unless_asked_otherwise(monkeypatch):
    monkeypatch.delenv("HORIZON_RUNNER", raising=False)
    monkeypatch.setenv("HORIZON_WIDTH", "3")

    assert task_runner() == ThreadPoolTaskRunner(max_workers=3)


@pytest.mark.parametrize("found", ["0", "-1", "two", "1.5", "²"])
def test_a_width_that_is_none_is_refused(monkeypatch, found):
    monkeypatch.setenv("HORIZON_WIDTH", found)

    with pytest.raises(InvalidInput, match="a whole number from 1 is allowed"):
        width()


def test_the_width_has_a_default(monkeypatch):
    monkeypatch.setenv("HORIZON_WIDTH", "")

    assert width() == WIDTH


def test_an_unknown_runner_is_refused_with_those_allowed(monkeypatch):
    monkeypatch.setenv("HORIZON_RUNNER", "celery")

    with pytest.raises(InvalidInput, match='"threads", "dask" or "ray" is allowed'):
        task_runner()


@pytest.mark.parametrize("name", ["dask", "ray"])
def test_a_runner_without_its_extra_says_what_to_install(monkeypatch, name):
    monkeypatch.setenv("HORIZON_RUNNER", name)
    monkeypatch.setitem(__import__("sys").modules, f"prefect_{name}", None)

    with pytest.raises(InvalidInput, match=rf"pip install 'horizon-memory\[{name}\]'"):
        task_runner()
