"""Commands that load Prefect come from outside this package, by the entry points of the group `horizon.commands`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from horizon.errors import Unavailable

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable

    from horizon.cli.output import Output

GROUP: Final = "horizon.commands"


def plugged(name: str) -> Callable[[Namespace, Output], int]:
    """Return a command that is looked up and loaded only when it runs."""

    def run(args: Namespace, out: Output) -> int:
        from importlib.metadata import entry_points  # noqa: PLC0415  # takes longer than a whole light command

        found = next(iter(entry_points(group=GROUP, name=name)), None)
        if found is None:
            raise Unavailable(
                f"`horizon {name}` needs the flows, and they are not installed; install the package again"
            )
        command: Callable[[Namespace, Output], int] = found.load()
        return command(args, out)

    return run
