"""The commands and their arguments; each is bound to the function that runs it."""

from __future__ import annotations

import argparse
from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final, NoReturn

from horizon.cli import bees, doctor, find, forget, homes, narrative, repair, upkeep
from horizon.cli.plugged import plugged
from horizon.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Callable

    from horizon.cli.output import Output

    Run = Callable[[argparse.Namespace, Output], int]
    Adder = Callable[..., argparse.ArgumentParser]

_STATUSES: Final = """\
exit status: 0 done; 1 done, but degraded, owed or something needs a look; 2 wrong use or settings;
3 a needed thing is unavailable
"""


class _Parser(argparse.ArgumentParser):
    """Says what is wrong with the arguments by an error, so that it is told as every other one is."""

    def error(self, message: str) -> NoReturn:
        raise InvalidInput(f"{message}\n{self.format_usage().rstrip()}")


def parser() -> argparse.ArgumentParser:
    """Return the parser of the whole command line; what it parses carries `run` and `json`.

    Parsing raises InvalidInput where the arguments are wrong.
    """
    whole = _Parser(
        prog="horizon",
        description="A past that local agents can carry: near stays sharp, far fades, nothing is lost.",
        epilog=_STATUSES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = whole.add_subparsers(metavar="COMMAND", required=True)
    _command(commands.add_parser, "demo", plugged("demo"), "show the main job on sample data in a temporary hive")
    _hive_commands(commands.add_parser)
    _home_commands(commands.add_parser)
    _prefect_commands(commands.add_parser)
    return whole


def _command(add: Adder, name: str, run: Run, what: str) -> argparse.ArgumentParser:
    made = add(name, help=what, description=what[0].upper() + what[1:] + ".")
    made.add_argument("--json", action="store_true", help="one JSON document on stdout, talk on stderr")
    made.set_defaults(run=run)
    return made


def _bee(made: argparse.ArgumentParser) -> None:
    made.add_argument("hive", type=_path, metavar="HIVE", help="the hive's folder")
    made.add_argument("bee", metavar="BEE", help="the bee's name")


def _hive_commands(add: Adder) -> None:
    made = _command(add, "init", bees.init, "make a hive with commented settings, switched on")
    made.add_argument("hive", type=_path, metavar="HIVE", help="the folder to make it in")
    made.add_argument("--bee", action="append", default=[], metavar="NAME", help="a bee of it; may be repeated")

    made = _command(add, "append", bees.append, "append one exchange to a bee's integral journal")
    _bee(made)
    made.add_argument("--question", required=True, metavar="T", help='what was asked; "-" reads standard input')
    made.add_argument("--answer", required=True, metavar="T", help='what was answered; "-" reads standard input')
    made.add_argument("--kind", default="conversation", metavar="K", help='default "conversation"')
    made.add_argument("--tool", metavar="T", help="the tool that was used")
    made.add_argument("--at", type=_instant, metavar="INSTANT", help="when it happened, ISO 8601; default now")
    made.add_argument("--model", metavar="M", help='the model that answered, such as "ollama/qwen3"')

    made = _command(add, "import", bees.import_, "bring exchanges of another program's file into the integral journal")
    _bee(made)
    made.add_argument(
        "file",
        type=_path,
        metavar="FILE",
        help="chat messages, a ChatGPT, Claude or Claude Code export, a host's traces.db, a journal",
    )

    made = _command(add, "read", bees.read, "print what the bee's engine puts into the prompt, exactly")
    _bee(made)
    made.add_argument("--at", type=_instant, metavar="INSTANT", help="the view of that instant, ISO 8601")
    made.add_argument("--receipt", action="store_true", help="instead, where each part of it comes from")
    made.add_argument(
        "--with",
        action="append",
        default=[],
        dest="trying",
        metavar="KEY=VALUE",
        help="show it under another setting, writing nothing; may be repeated",
    )

    made = _command(add, "flag", bees.flag, "flag an exchange as a beacon, seen from afar")
    _bee(made)
    made.add_argument("id", metavar="ID", help="the exchange's id, as `horizon read --receipt` shows it")
    made.add_argument("--off", action="store_true", help="make it no beacon")

    made = _command(add, "narrative", narrative.narrative, "list the narrative's versions, show one, or restore one")
    _bee(made)
    made.add_argument("--show", type=_count, metavar="N", help="print the text of version N")
    made.add_argument(
        "--restore", type=_count, metavar="N", help="make version N the one that is shown, as a new version"
    )

    made = _command(
        add, "forget", forget.forget, "blank exchanges in the journal and in all that came of them, for good"
    )
    _bee(made)
    made.add_argument("id", nargs="?", default="", metavar="ID", help="the exchange's id")
    made.add_argument("--matching", default="", metavar="TEXT", help="instead, every exchange that holds this text")
    made.add_argument("--yes", action="store_true", help="do not ask")

    made = _command(add, "settings", bees.settings, "show every setting of a bee and the layer it comes from")
    _bee(made)

    made = _command(add, "maintain", upkeep.maintain, "evict and melt now")
    made.add_argument("hive", type=_path, metavar="HIVE", help="the hive's folder")
    made.add_argument("bee", nargs="?", metavar="BEE", help="only this bee; default all of the hive's")
    made.add_argument("--dry-run", action="store_true", help="only say what would be done")

    made = _command(add, "repair", repair.repair, "make again what an outage left degraded or owed")
    made.add_argument("path", type=_path, metavar="PATH", help="a hive or home, or a folder of hives")

    made = _command(add, "doctor", doctor.doctor, "tell what is wrong or odd, where, and what to do")
    made.add_argument("path", type=_path, metavar="PATH", help="a hive, or a folder of hives")

    made = _command(add, "rebuild", upkeep.rebuild, "fold a bee's journals again from their first byte")
    _bee(made)
    made.add_argument("--fresh", action="store_true", help="also ask the models again for every text")


def _home_commands(add: Adder) -> None:
    made = _command(add, "consolidate", homes.consolidate, "consolidate one day of a home into facts and a summary")
    _home(made)
    made.add_argument("--day", type=_day, metavar="D", help="default yesterday in the home's zone")
    made.add_argument("--force", action="store_true", help="also where it is done with the same exchanges")
    made.add_argument("--dry-run", action="store_true", help="only say what would be done, and with how many calls")

    made = _command(add, "backfill", homes.backfill, "consolidate the days of a span, oldest first")
    _home(made)
    made.add_argument("--from", type=_day, required=True, dest="first", metavar="D", help="the oldest day")
    made.add_argument("--to", type=_day, required=True, dest="last", metavar="D", help="the newest day, included")
    made.add_argument("--force", action="store_true", help="also days that are done with the same exchanges")
    made.add_argument("--dry-run", action="store_true", help="only say what would be done, and with how many calls")

    made = _command(add, "nights", homes.nights, "show the ledger as a calendar, one mark per day")
    _home(made)
    made.add_argument("--from", type=_day, dest="first", metavar="D", help="default six weeks before the last day")
    made.add_argument("--to", type=_day, dest="last", metavar="D", help="default yesterday")

    made = _command(add, "recall", find.recall, "find facts, days and exchanges, each with its date and address")
    _home(made)
    made.add_argument("query", metavar="QUERY", help='any text; dates in it filter: "the invoice in May"')
    made.add_argument("--as-of", type=_day, metavar="D", help="what held on that day")
    made.add_argument("--limit", type=_count, default=10, metavar="N", help="at most so many; default 10")

    made = _command(add, "why", find.why, "show a fact's quoted words and the exchanges they come from")
    _home(made)
    made.add_argument("fact", metavar="FACT", help="the fact's text, or its id as `horizon recall --json` shows it")


def _home(made: argparse.ArgumentParser) -> None:
    made.add_argument("home", type=_path, metavar="HOME", help="a hive, or a folder with a traces.db")


def _prefect_commands(add: Adder) -> None:
    made = _command(add, "serve", plugged("serve"), "run all schedules in this process until interrupted")
    made.add_argument("--port", type=int, default=4200, metavar="N", help="where to start a server if none is set")

    parts = add("prefect", help="commands for a Prefect server").add_subparsers(metavar="COMMAND", required=True)
    _command(parts.add_parser, "setup", plugged("prefect setup"), "make what the deployments need on a Prefect server")


def _path(text: str) -> Path:
    return Path(text).expanduser()


def _instant(text: str) -> datetime:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"{text!r} is no instant; write it like 2026-07-10T14:03 or 2026-07-10T14:03:22+02:00"
        ) from None


def _day(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no day; write it like 2026-07-10") from None


def _count(text: str) -> int:
    if text.isdecimal() and int(text) > 0:
        return int(text)
    raise argparse.ArgumentTypeError(f"{text!r} is no count; write a whole number from 1")
