"""Commands on a hive and its bees: init, append, import, read, flag, settings."""

from __future__ import annotations

import sys
import tomllib
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, cast

from horizon.cli.output import DONE, WRONG_USE
from horizon.errors import InvalidInput, Unavailable
from horizon.settings import Layer, keys_of, merge_horizon, refused_summarizers
from horizon.wiring import import_file, init_hive, open_hive

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Sequence
    from pathlib import Path

    from horizon.cli.output import Output
    from horizon.core.receipt import View
    from horizon.memory import Bee
    from horizon.settings import HorizonSettings


def known_bee(path: Path, name: str) -> Bee:
    """Return a bee that has a journal or settings.

    Raises:
        Unavailable: there is no folder at `path`.
        InvalidInput: the hive has no such bee; the message names those it has.
    """
    hive = open_hive(existing(path))
    bee = hive.bee(name)
    names = hive.bees()
    if bee.name not in names:
        has = f"its bees: {', '.join(names)}" if names else "it has none yet"
        raise InvalidInput(f"no bee {name!r} in {path}; {has}")
    return bee


def existing(path: Path) -> Path:
    """Return `path`, a folder.

    Raises:
        Unavailable: nothing is there.
    """
    if not path.exists():
        raise Unavailable(f"no folder at {path}; `horizon init {path}` makes a hive there")
    return path


def init(args: Namespace, out: Output) -> int:
    """Make a hive; what is already there is left as it is."""
    made = init_hive(args.hive, tuple(args.bee))

    def people() -> None:
        for path in made:
            out.line(f"made {path}")
        out.line(f"{args.hive} is a hive, switched on" if made else f"{args.hive} was a hive already; nothing changed")

    out.result({"hive": str(args.hive), "made": [str(path) for path in made]}, people)
    return DONE


def append(args: Namespace, out: Output) -> int:
    """Append one exchange, durably."""
    if args.question == "-" and args.answer == "-":
        raise InvalidInput('only one of --question and --answer can be "-": there is one standard input')
    bee = open_hive(existing(args.hive)).bee(args.bee)
    exchange = bee.append(
        _given(args.question), _given(args.answer), kind=args.kind, tool=args.tool, at=args.at, model=args.model
    )
    out.result(
        {"id": exchange.id, "quand": exchange.at.isoformat(), "type": exchange.kind, "abeille": bee.name},
        lambda: out.line(exchange.id),
    )
    return DONE


def _given(text: str) -> str:
    """Return `text`, or standard input for "-", its last line break left out: `echo` adds one that nobody typed."""
    if text != "-":
        return text
    return sys.stdin.buffer.read().decode("utf-8", "replace").removesuffix("\n").removesuffix("\r")


def import_(args: Namespace, out: Output) -> int:
    """Bring the exchanges of another program's file into the integral journal; the same file twice changes nothing."""
    report = import_file(existing(args.hive), args.bee, args.file)

    def people() -> None:
        out.line(f"{args.file}: {report.form}")
        out.line(f"{report.read} exchanges read: {report.appended} appended, {report.already} there already")
        for reason, count in sorted(report.left_out.items()):
            out.line(f"left out: {count} {reason}")

    out.result({"file": str(args.file), "abeille": args.bee, **asdict(report)}, people)
    return DONE


def read(args: Namespace, out: Output) -> int:
    """Print the view; broken settings are told, never stop a read, and leave its status as it is."""
    bee = known_bee(args.hive, args.bee)
    resolved = bee.settings()
    out.settings(resolved.problems, harmless=True)
    view = bee.read(at=args.at, trying=_trying(args.trying, resolved.settings))

    def people() -> None:
        if args.receipt:
            show_receipt(view, out)
        else:
            out.text(view.text)

    out.result(view.to_json(), people)
    return DONE


def _trying(pairs: Sequence[str], settings: HorizonSettings) -> HorizonSettings | None:
    """Return `settings` with the values of "key=value" pairs in place; None where there are none."""
    if not pairs:
        return None
    values: dict[str, object] = {}
    for pair in pairs:
        key, equals, text = pair.partition("=")
        if not equals:
            raise InvalidInput(f"--with takes KEY=VALUE, such as budget_net=8000; found {pair!r}")
        try:
            values[key.strip()] = tomllib.loads(f"value = {text}")["value"]
        except tomllib.TOMLDecodeError:
            values[key.strip()] = text.strip()
    merged = merge_horizon([Layer(name="--with", values=values)])
    if merged.problems:
        raise InvalidInput("\n".join(str(problem) for problem in merged.problems))
    return replace(settings, **{key: getattr(merged.settings, key) for key in values})


def show_receipt(view: View, out: Output) -> None:
    """Print where each part of the view comes from, and what was cut."""
    out.table(
        f"{view.chars} characters of {view.budget}",
        ("zone", "part", "chars#", "by", "cut by", "exchanges"),
        (
            (part.zone or "–", part.role, str(part.chars), part.by, part.cut or "", " ".join(part.ids))
            for part in view.receipt
        ),
    )
    if view.cuts:
        out.table(
            "what was cut",
            ("rule", "zone", "chars#", "what", "exchanges"),
            ((cut.rule, cut.zone or "–", str(cut.chars), cut.what, " ".join(cut.ids)) for cut in view.cuts),
        )


def flag(args: Namespace, out: Output) -> int:
    """Flag or unflag an exchange, for good."""
    bee = known_bee(args.hive, args.bee)
    if args.off:
        bee.unflag(args.id)
    else:
        bee.flag(args.id)
    out.result(
        {"id": args.id, "phare": not args.off},
        lambda: out.line(f"{args.id} is {'no beacon' if args.off else 'a beacon'} now"),
    )
    return DONE


def settings(args: Namespace, out: Output) -> int:
    """Show each setting with its layer; status 2 where a file or value was passed over."""
    resolved = known_bee(args.hive, args.bee).settings()
    out.settings(resolved.problems)
    values: dict[str, object] = {
        key: getattr(resolved.settings, key) for key in (*keys_of(resolved.settings), "modele")
    }
    origins = {key: resolved.origins.get(key, f"{args.bee}.toml" if values[key] else "default") for key in values}
    off = sorted(resolved.settings.switches.off)
    refused = refused_summarizers(resolved.settings)

    def people() -> None:
        rows = [(key, _written(value), origins[key]) for key, value in values.items()]
        out.table(f"settings of {args.bee}", ("key", "value", "layer"), rows)
        if off:
            out.line("switched off: " + ", ".join(off))
        for model, reason in refused.items():
            out.line(f"{model} is not asked: {reason}")

    out.result(
        {
            "settings": {key: {"value": value, "layer": origins[key]} for key, value in values.items()},
            "off": off,
            "refused": refused,
            "problems": out.problems,
        },
        people,
    )
    return WRONG_USE if resolved.problems else DONE


def _written(value: object) -> str:
    """Return a setting's value as its file would have it."""
    match value:
        case bool():
            return "true" if value else "false"
        case tuple():
            items = cast("tuple[object, ...]", value)
            return "[" + ", ".join(f'"{item}"' for item in items) + "]"
        case int() | float():
            return str(value)
        case None:
            return "as delai_secondes"
        case _:
            return f'"{value}"'
