"""The commented settings of a new hive: what they say is the default is the default."""

from __future__ import annotations

import re
import tomllib

import pytest

from horizon.adapters.new_hive import BEE, HIVE, make_hive
from horizon.errors import InvalidInput
from horizon.settings import (
    ConsolidationSettings,
    HorizonSettings,
    Layer,
    keys_of,
    merge_consolidation,
    merge_horizon,
)

PLACEHOLDERS = {"fuseau", "modele", "sources", "agents", "bancs", "delai_dedie_secondes", "delai_abeille_secondes"}


def uncommented(text):
    """Return the template with its commented settings in force."""
    lines = (re.sub(r"^# (?=\w+ = )", "", line) for line in text.splitlines())
    return tomllib.loads("\n".join(lines).replace("<model>", "m"))


def test_the_template_switches_the_hive_on_and_sets_nothing_else():
    assert tomllib.loads(HIVE) == {"horizon": {"actif": True}, "consolidation": {}}
    assert tomllib.loads(BEE) == {"horizon": {}}


def test_what_it_comments_out_is_allowed_and_is_the_default():
    tables = uncommented(HIVE)
    horizon = merge_horizon([Layer(name="template", values=tables["horizon"])])
    consolidation = merge_consolidation([Layer(name="template", values=tables["consolidation"])])

    assert horizon.problems == consolidation.problems == ()
    for settings, default, named in (
        (horizon.settings, HorizonSettings(actif=True), tables["horizon"]),
        (consolidation.settings, ConsolidationSettings(), tables["consolidation"]),
    ):
        assert {key: getattr(settings, key) for key in named if key not in PLACEHOLDERS} == {
            key: getattr(default, key) for key in named if key not in PLACEHOLDERS
        }


def test_it_names_every_key_of_a_bee():
    assert set(keys_of(HorizonSettings())) <= set(uncommented(HIVE)["horizon"])


def test_a_hive_is_made_for_its_user_only(tmp_path):
    made = make_hive(tmp_path / "ruche", ("mia",))

    assert made == (tmp_path / "ruche" / "horizon.toml", tmp_path / "ruche" / "bees" / "mia.toml")
    assert {path.stat().st_mode & 0o077 for path in (*made, tmp_path / "ruche", tmp_path / "ruche" / "window")} == {0}


def test_a_bad_name_makes_nothing(tmp_path):
    with pytest.raises(InvalidInput):
        make_hive(tmp_path / "ruche", ("mia", "../evil"))

    assert not (tmp_path / "ruche").exists()
