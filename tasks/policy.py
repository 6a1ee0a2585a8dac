"""What is retried, how often, how long: the one place where a use case becomes a Prefect task (spec 3-orchestration).

Rules:

- Only `TransientError` is retried (unavailable, timeout, busy). Wrong settings and useless replies are not:
  asking again changes nothing.
- Only this layer retries. `horizon` asks each thing once, so a call is never retried by two.
- Prefect's database gets no memory text, and a run's errors are logged there, in tasks and flows: one of ours is
  written for people and passes, without the errors that led to it; of an unforeseen one only its kind and place are
  told, since its message may quote what it choked on.
- Nothing is cached or persisted: whether work is done is read from the journals and ledgers, not from Prefect.
"""

from __future__ import annotations

import os
import traceback
from contextlib import contextmanager
from functools import wraps
from typing import TYPE_CHECKING, Any, Final, ParamSpec, TypeVar, cast

from prefect import Task, task
from prefect.cache_policies import NO_CACHE
from prefect.tasks import exponential_backoff

from horizon.errors import HorizonError, TransientError
from tasks.outcome import Unforeseen

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable

    from prefect.client.schemas.objects import State, TaskRun

P = ParamSpec("P")
R = TypeVar("R")

RETRIES: Final = 3
"""Tries after the first. What is still out of reach after them is an outage, left to the next scheduled run."""
BACKOFF_SECONDS: Final = 2
"""First wait; then 4 and 8. A lock held by another maintainer is mostly given back within them."""
JITTER: Final = 0.5
"""Share by which each wait may be longer, so that waiting runs do not knock all at once."""


def unforeseen(error: Exception) -> Unforeseen:
    """Return what may be told of `error`: its class, what the system says of a refused file, the innermost place in the code."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f" at {frames[-1].filename}:{frames[-1].lineno} in {frames[-1].name}" if frames else ""
    said = f" ({os.strerror(error.errno)})" if isinstance(error, OSError) and error.errno else ""
    return Unforeseen(f"{type(error).__name__}{said}{place}")


def worth_a_retry(_task: Task[..., Any], _run: TaskRun, state: State[Any]) -> bool:
    """Tell whether a failed task run may work in a moment."""
    return isinstance(state.result(raise_on_failure=False), TransientError)


@contextmanager
def discreetly() -> Generator[None]:
    """Let out of the block only errors that may be told to Prefect, which logs them with all that led to them."""
    try:
        yield
    except HorizonError as error:
        raise error from None
    except Exception as error:  # noqa: BLE001 - whatever it is, its message must not reach Prefect
        raise unforeseen(error) from None


def use_case(*, run_name: str, tags: Iterable[str]) -> Callable[[Callable[P, R]], Task[P, R]]:
    """Make a function a task of this project: retried by this policy, named for what it does, leaking nothing.

    `run_name` is a template over the function's parameters, such as "evict {bee}".
    """

    def decorate(function: Callable[P, R]) -> Task[P, R]:
        @wraps(function)
        def discreet(*args: P.args, **kwargs: P.kwargs) -> R:
            with discreetly():
                return function(*args, **kwargs)

        return task(
            name=function.__name__.replace("_", "-"),
            task_run_name=run_name,
            tags=tags,
            retries=RETRIES,
            retry_delay_seconds=exponential_backoff(backoff_factor=BACKOFF_SECONDS),
            retry_jitter_factor=JITTER,
            retry_condition_fn=worth_a_retry,
            cache_policy=NO_CACHE,
            persist_result=False,
        )(discreet)

    return decorate


def attempt(work: Task[..., R], **call: object) -> R | BaseException:
    """Run `work` here and now and return its value, or the error it ended with after its retries."""
    state = cast("State[R]", work(**call, return_state=True))
    return state.result(raise_on_failure=False)
