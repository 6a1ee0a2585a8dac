"""The names that users script against: more may come, none may go (spec 5-interface)."""

from __future__ import annotations

import inspect

import horizon
from horizon.cli.parser import parser

PUBLIC = {
    "Bee": {"append", "exchange", "flag", "instant", "name", "read", "settings", "unflag"},
    "CorruptData": set(),
    "Cut": {"chars", "ids", "rule", "to_json", "what", "zone"},
    "Exchange": {"answer", "at", "id", "kind", "model", "question", "tool"},
    "Floor": set(),
    "Gauge": {"appended", "condensed", "late", "melted", "narrative", "sharp", "to_json"},
    "Hive": {"bee", "bees", "path"},
    "HorizonError": set(),
    "InvalidInput": set(),
    "InvalidSettings": set(),
    "Level": {"budget", "chars", "count", "exact", "to_json"},
    "ModelUnavailable": set(),
    "Part": {"body", "by", "chars", "cut", "ids", "lead", "role", "text", "to_json", "trail", "zone"},
    "Role": set(),
    "Rule": set(),
    "StoreBusy": set(),
    "TransientError": set(),
    "Unavailable": set(),
    "View": {"budget", "chars", "cuts", "gauge", "messages", "receipt", "text", "to_json"},
    "open_hive": set(),
}
COMMANDS = {
    "demo": {"--json"},
    "init": {"--bee", "--json"},
    "append": {"--answer", "--at", "--json", "--kind", "--model", "--question", "--tool"},
    "read": {"--at", "--json", "--receipt", "--with"},
    "flag": {"--json", "--off"},
    "settings": {"--json"},
    "maintain": {"--dry-run", "--json"},
    "repair": {"--json"},
    "rebuild": {"--fresh", "--json"},
    "doctor": {"--json"},
    "consolidate": {"--day", "--dry-run", "--force", "--json"},
    "backfill": {"--dry-run", "--force", "--from", "--json", "--to"},
    "nights": {"--from", "--json", "--to"},
    "recall": {"--as-of", "--json", "--limit"},
    "why": {"--json"},
    "import": {"--json"},
    "serve": {"--json", "--port"},
    "prefect": set(),
}


def test_no_public_name_is_gone():
    assert set(PUBLIC) <= set(horizon.__all__)
    for name, members in PUBLIC.items():
        assert members <= set(dir(getattr(horizon, name))), name


def test_the_calls_keep_their_parameters():
    assert list(inspect.signature(horizon.Bee.append).parameters) == [
        "self",
        "question",
        "answer",
        "kind",
        "tool",
        "at",
        "model",
    ]
    assert "at" in inspect.signature(horizon.Bee.read).parameters
    assert list(inspect.signature(horizon.open_hive).parameters) == ["path"]


def test_no_command_or_option_is_gone():
    (commands,) = (action for action in parser()._actions if action.choices)

    assert set(COMMANDS) <= set(commands.choices)
    for name, options in COMMANDS.items():
        there = {option for action in commands.choices[name]._actions for option in action.option_strings}
        assert options <= there, name
