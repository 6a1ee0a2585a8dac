"""`horizon serve` and `horizon prefect setup`: plugged into the command line by their entry points.

`horizon` imports nothing of this package; the entry points of the group `horizon.commands` name these functions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import httpx
from prefect.exceptions import PrefectException

from flows.serve import serve_all
from flows.setup import setup
from horizon.errors import Unavailable

if TYPE_CHECKING:
    from argparse import Namespace

    from horizon.cli.output import Output


def serve(args: Namespace, out: Output) -> int:
    """Serve all deployments until interrupted."""
    serve_all(out.say, port=args.port)
    return 0


def prefect_setup(_args: Namespace, out: Output) -> int:
    """Make what the deployments need on the Prefect server.

    Raises:
        Unavailable: no server answers.
    """
    try:
        lines = setup()
    except (PrefectException, httpx.HTTPError, RuntimeError, ValueError) as error:
        # Prefect says "no server" in all of these, depending on where it is noticed.
        raise Unavailable(
            f"no Prefect server could be set up ({error}); start one with `prefect server start` and set PREFECT_API_URL"
        ) from error
    out.result({"setup": list(lines)}, lambda: out.line("\n".join(lines)))
    return 0
