"""Tables and progress bars for people; the only module of the command line that loads rich."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

from rich.box import SIMPLE
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import TypeVar

    Item = TypeVar("Item")

PIPE_WIDTH: Final = 200
"""Columns of a table that goes to a pipe or a file: wide enough that a program finds a row on one line."""

NAME_WIDTH: Final = 24
"""Columns that the first column of a table keeps on a narrow terminal: a date, a name, a setting's key."""
WORD_WIDTH: Final = 12
"""Columns that the other ones keep for their longest word: headings and states, which are read as words."""


def console(*, stderr: bool = False) -> Console:
    """Return a rich console on stdout or stderr; it honours NO_COLOR and writes no colour to a pipe."""
    stream = sys.stderr if stderr else sys.stdout
    return Console(file=stream, width=None if stream.isatty() else PIPE_WIDTH, highlight=False, emoji=False)


def table(title: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> Table:
    """Return a table of plain text; a column whose heading ends in "#" holds numbers and is set right.

    On a narrow terminal cells go on in the next line, and nothing is cut; the first column, which names the row, stays whole.
    """
    made = Table(title=Text(title), title_justify="left", box=SIMPLE, pad_edge=False, padding=(0, 1, 0, 0))
    cells = [tuple(row) for row in rows]
    for number, column in enumerate(columns):
        heading = column.removesuffix("#")
        texts = [heading, *(row[number] for row in cells)]
        words = texts if number == 0 else [word for text in texts for word in text.split()]
        made.add_column(
            heading,
            justify="right" if column.endswith("#") else "left",
            overflow="fold",
            min_width=min(max(map(len, words), default=0), NAME_WIDTH if number == 0 else WORD_WIDTH),
        )
    for row in cells:
        # Text takes a cell as it is: brackets in it are no markup.
        made.add_row(*(Text(cell) for cell in row))
    return made


def progressing(items: Iterable[Item], what: str, *, total: int) -> Iterator[Item]:
    """Yield the `total` items in order under a progress bar on stderr; only a terminal sees it."""
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=Console(stderr=True),
        transient=True,
        disable=not sys.stderr.isatty(),
    )
    with bar:
        yield from bar.track(items, total=total, description=what)
