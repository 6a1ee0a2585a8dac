"""What a command prints: for people, or one JSON document (spec 5-interface).

With `--json`, stdout carries one JSON document and nothing else; talk goes to stderr. Without it, stdout carries
what was asked for. Rich is loaded only where a table or a panel is shown.
"""

from __future__ import annotations

import json
import re
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, cast

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from horizon.settings import Problem

DONE: Final = 0
NEEDS_A_LOOK: Final = 1
"""Done, but degraded or owed, or something was found that a person should see."""
WRONG_USE: Final = 2
UNAVAILABLE: Final = 3
INTERRUPTED: Final = 130
"""128 + SIGINT, as shells report it."""

_CONTROLS: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
"""Controls of the terminal, line ends that only some know, and what sets text from right to left."""


def shown(text: str) -> str:
    """Return `text` with its control characters made visible, so that it cannot steer a terminal."""
    return _CONTROLS.sub(lambda found: ascii(found[0])[1:-1], text)


def one_line(text: str, *, most: int) -> str:
    """Return `text` on one line, at most `most` characters long, an ellipsis included."""
    line = shown(" ".join(text.split()))
    return line if len(line) <= most else line[: most - 1] + "…"


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """Where a command's result and talk go."""

    json: bool
    problems: list[str] = field(default_factory=list[str])
    """What of the settings was passed over, as told so far."""
    to_look_at: list[str] = field(default_factory=list[str])
    """Those of them that make a command that is done end as one that needs a look."""

    def settings(self, problems: Iterable[Problem], *, harmless: bool = False) -> None:
        """Tell on stderr what of the settings was passed over, each once; the result tells it too, and the status unless `harmless`."""
        for told in map(str, problems):
            if told not in self.problems:
                self.problems.append(told)
                self.say(f"settings: {told}")
                if not harmless:
                    self.to_look_at.append(told)

    def result(self, document: object, people: Callable[[], None]) -> None:
        """Print `document` as JSON where that was asked for, else let `people` print.

        A document that is an object says under "problems" what of the settings was passed over, if anything.
        """
        if self.json:
            if self.problems and isinstance(document, dict):
                document = {**cast("dict[str, object]", document), "problems": self.problems}
            self.document(document)
        else:
            people()

    def document(self, document: object) -> None:
        """Print one JSON document on stdout, in ASCII where stdout's encoding cannot hold its text."""
        text = json.dumps(document, ensure_ascii=False, indent=2)
        try:
            text.encode(sys.stdout.encoding or "utf-8")
        except UnicodeEncodeError:
            text = json.dumps(document, indent=2)
        sys.stdout.write(text + "\n")

    def text(self, text: str) -> None:
        """Print `text` exactly to a pipe or a file; to a terminal, with control characters made visible."""
        sys.stdout.write(shown(text) if sys.stdout.isatty() else text)

    def line(self, text: str = "") -> None:
        """Print one line for people on stdout."""
        sys.stdout.write(shown(text) + "\n")

    def say(self, text: str) -> None:
        """Print one line of talk on stderr."""
        sys.stderr.write(shown(text) + "\n")

    def table(self, title: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
        """Print a table on stdout; columns whose heading ends in "#" hold numbers and are set right."""
        from horizon.cli import tables  # noqa: PLC0415  # rich is loaded only where it shows something

        cells = ([shown(cell) for cell in row] for row in rows)
        tables.console().print(tables.table(shown(title), columns, cells))
