"""`horizon demo`: the main job on sample data in a temporary hive, with what to look at next (spec 5-interface).

The flows run here, in this process, on Prefect's own ephemeral server; the keeper's Prefect is not touched.
"""

from __future__ import annotations

import os
import shlex
import shutil
import sys
import tempfile
import time
from collections import Counter
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from rich.columns import Columns
from rich.console import Group
from rich.markdown import Markdown
from rich.panel import Panel
from rich.text import Text

from horizon import wiring
from horizon.cli import sample, tables
from horizon.cli.nights import calendar_of, mark_legend
from horizon.cli.output import DONE, shown

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterator

    from prefect.states import State
    from rich.console import Console

    from horizon.cli.output import Output

ENGINE: Final = {
    "PREFECT_SERVER_EPHEMERAL_ENABLED": "true",
    "PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS": "180",
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    "PREFECT_LOGGING_LEVEL": "CRITICAL",
    "PREFECT_LOGGING_TO_API_ENABLED": "false",
    "DO_NOT_TRACK": "1",
}
"""Prefect's settings for the demonstration. A busy laptop starts the ephemeral server in 15 to 45 s, at first in more."""
VIEW_LINES: Final = 40
"""Lines of a view that are shown: its beginning and its end."""
