"""Settings from three layers of real files: precedence, hot reload, and what a broken file does (nothing to a read)."""

from __future__ import annotations

import json
import os
import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from horizon.adapters import settings_files
from horizon.adapters.settings_files import SettingsFiles
from horizon.core.beacon import Floor
from horizon.settings import (
    HorizonSettings,
    Layer,
    keys_of,
    merge_horizon,
    refused_summarizers,
    summarizers,
    timeout_of,
)


@pytest.fixture
def root(tmp_path):
    (tmp_path / "ruche" / "bees").mkdir(parents=True)
    return tmp_path


def put(path, text):
    """Write a file with a modification time of its own, whatever the clock's grain."""
    path.write_text(text, encoding="utf-8")
    put.tick += 1
    os.utime(path, ns=(put.tick * 10**9, put.tick * 10**9))


put.tick = 1_700_000_000


def test_without_any_file_the_documented_defaults_hold(root):
    resolved = SettingsFiles(root / "ruche").horizon("mia")
    found = resolved.settings
    assert (found.actif, found.budget_net, found.budget_condense, found.budget_recit) == (False, 12_000, 6_000, 3_000)
    assert (found.age_net_heures, found.resumeur, found.phares) == (24, "abeille", ("apicultrice",))
    assert found.plancher_phare is Floor.CONDENSED
    assert (found.langue, found.budget) == ("fr", 21_000)
    assert set(resolved.origins.values()) == {"default"}


def test_the_most_specific_layer_wins_and_each_value_remembers_its_own(root):
    put(root / "config.json", json.dumps({"horizon": {"budget_net": 1_000, "budget_condense": 900, "langue": "en"}}))
    put(root / "ruche" / "horizon.toml", "[horizon]\nactif = true\nbudget_net = 2000\n")
    put(root / "ruche" / "bees" / "mia.toml", 'modele = "ollama/qwen3"\n\n[horizon]\nbudget_net = 3000\n')
    files = SettingsFiles(root / "ruche")
    mia, leo = files.horizon("mia"), files.horizon("leo")
    assert (mia.settings.budget_net, leo.settings.budget_net) == (3_000, 2_000)
    assert (mia.settings.budget_condense, mia.settings.langue, mia.settings.actif) == (900, "en", True)
    assert mia.origins["budget_net"].endswith("mia.toml")
    assert leo.origins["budget_net"].endswith("horizon.toml")
    assert mia.origins["budget_condense"].endswith("config.json")
    assert mia.origins["budget_recit"] == "default"
    assert summarizers(mia.settings) == ("ollama/qwen3",)
    assert summarizers(leo.settings) == ()


def test_each_step_of_the_cascade_may_have_a_time_of_its_own(root):
    put(root / "config.json", json.dumps({"horizon": {"delai_secondes": 90, "delai_abeille_secondes": 240}}))
    put(
        root / "ruche" / "horizon.toml",
        '[horizon]\nresumeur = "ollama/small"\ndelai_dedie_secondes = 20\n\n[consolidation]\nmodele = "ollama/own"\n',
    )
    put(root / "ruche" / "bees" / "mia.toml", 'modele = "ollama/own"\n\n[horizon]\ndelai_secondes = 30\n')
    files = SettingsFiles(root / "ruche")
    mia = files.horizon("mia")
    assert [timeout_of(model, mia.settings) for model in ("ollama/small", "ollama/own")] == [20, 240]
    assert mia.origins["delai_dedie_secondes"].endswith("horizon.toml")
    assert mia.origins["delai_abeille_secondes"].endswith("config.json")
    home = files.consolidation().settings
    assert timeout_of("ollama/own", home) == home.delai_secondes == 600


def test_one_time_serves_all_steps_where_none_is_named(root):
    put(root / "ruche" / "horizon.toml", '[horizon]\nresumeur = "ollama/small"\ndelai_secondes = 30\n')
    found = SettingsFiles(root / "ruche").horizon("mia").settings
    assert {timeout_of(model, found) for model in ("ollama/small", "ollama/own")} == {30}


def test_a_change_is_seen_without_a_restart(root):
    files = SettingsFiles(root / "ruche")
    before = files.stamp("mia")
    put(root / "ruche" / "horizon.toml", "[horizon]\nbudget_net = 5\n")
    assert files.stamp("mia") != before
    assert files.horizon("mia").settings.budget_net == 5
    put(root / "ruche" / "horizon.toml", "[horizon]\nbudget_net = 7\n")
    assert files.horizon("mia").settings.budget_net == 7
    (root / "ruche" / "horizon.toml").unlink()
    assert files.horizon("mia").settings.budget_net == 12_000


def test_a_file_that_stops_parsing_keeps_its_last_good_values_and_says_where(root):
    files = SettingsFiles(root / "ruche")
    path = root / "ruche" / "horizon.toml"
    put(path, "[horizon]\nactif = true\nbudget_net = 5000\n")
    files.horizon("mia")
    put(path, "[horizon]\nactif = true\nbudget_net = = 3\n")
    resolved = files.horizon("mia")
    assert (resolved.settings.actif, resolved.settings.budget_net) == (True, 5_000)
    (problem,) = resolved.problems
    assert (problem.layer, problem.line) == (str(path), 3)
    assert "last good values hold" in str(problem)


def test_another_process_finds_the_last_good_values_that_were_kept(root):
    path = root / "ruche" / "horizon.toml"
    put(path, "[horizon]\nactif = true\nbudget_net = 5000\n")
    SettingsFiles(root / "ruche").keep_good("mia")
    put(path, "[horizon\n")
    assert SettingsFiles(root / "ruche").horizon("mia").settings.budget_net == 5_000


def parsed(monkeypatch):
    """Return a list that grows by each text of a TOML file that is parsed."""
    texts = []
    monkeypatch.setattr(settings_files, "_toml", lambda text: texts.append(text) or tomllib.loads(text))
    return texts


def test_keeping_parses_and_writes_only_what_changed_also_in_another_process(root, monkeypatch):
    texts, kept = parsed(monkeypatch), root / "ruche" / "settings.last-good.json"
    put(root / "ruche" / "horizon.toml", "[horizon]\nbudget_net = 5\n")
    put(root / "ruche" / "bees" / "mia.toml", "[horizon]\nbudget_recit = 6\n")
    files = SettingsFiles(root / "ruche")
    for _ in range(3):
        files.keep_good("mia")
    assert len(texts) == 2
    written = kept.stat().st_ino
    SettingsFiles(root / "ruche").keep_good("mia")
    SettingsFiles(root / "ruche").keep_good()
    assert (len(texts), kept.stat().st_ino) == (2, written)
    put(root / "ruche" / "bees" / "mia.toml", "[horizon]\nbudget_recit = 7\n")
    files.keep_good("mia")
    assert (len(texts), kept.stat().st_ino != written) == (3, True)


def test_what_others_kept_meanwhile_stays_kept(root):
    first, second = SettingsFiles(root / "ruche"), SettingsFiles(root / "ruche")
    for bee in ("mia", "zoe"):
        put(root / "ruche" / "bees" / f"{bee}.toml", "[horizon]\nbudget_net = 5\n")
    first.keep_good()
    second.keep_good("mia")
    first.keep_good("zoe")
    for bee in ("mia", "zoe"):
        put(root / "ruche" / "bees" / f"{bee}.toml", "[horizon\n")
        assert SettingsFiles(root / "ruche").horizon(bee).settings.budget_net == 5


@pytest.mark.parametrize("text", ["", "[]", "3", '{"a": 3}', '{"a": {"stamp": 3, "tables": 4}}', "[" * 100_000])
def test_what_was_kept_and_damaged_is_passed_over_and_written_again(root, text):
    (root / "ruche" / "settings.last-good.json").write_text(text)
    path = root / "ruche" / "horizon.toml"
    put(path, "[horizon\n")
    assert SettingsFiles(root / "ruche").horizon("mia").settings.budget_net == 12_000
    put(path, "[horizon]\nbudget_net = 5\n")
    SettingsFiles(root / "ruche").keep_good("mia")
    put(path, "[horizon\n")
    assert SettingsFiles(root / "ruche").horizon("mia").settings.budget_net == 5


def test_a_broken_file_that_never_was_good_is_passed_over(root):
    put(root / "config.json", '{"horizon": {"budget_net": 9}')
    put(root / "ruche" / "horizon.toml", "[horizon]\nbudget_condense = 8\n")
    resolved = SettingsFiles(root / "ruche").horizon("mia")
    assert (resolved.settings.budget_net, resolved.settings.budget_condense) == (12_000, 8)
    assert "passed over" in str(resolved.problems[0])


@pytest.mark.parametrize(
    ("line", "key", "allowed"),
    [
        ("budget_net = -1", "budget_net", "from 0 to 1000000"),
        ("budget_net = true", "budget_net", "from 0 to 1000000"),
        ("budget_net = 12.5", "budget_net", "from 0 to 1000000"),
        ("age_net_heures = nan", "age_net_heures", "a number from 0"),
        ('actif = "oui"', "actif", "true or false"),
        ('resumeur = "gpt"', "resumeur", '"ollama/<model>"'),
        ('plancher_phare = "sol"', "plancher_phare", '"net", "condense", "recit"'),
        ("phares = [1]", "phares", "a list of names"),
        ('fuseau = "Europe/Pariss"', "fuseau", "IANA"),
        ('fuseau = "../../etc/passwd"', "fuseau", "IANA"),
        ("budget_nett = 3", "budget_nett", 'did you mean "budget_net"?'),
        ("actiff = true", "actiff", 'did you mean "actif"?'),
    ],
)
def test_a_bad_value_names_file_line_key_what_was_found_and_what_is_allowed(root, line, key, allowed):
    path = root / "ruche" / "horizon.toml"
    put(path, f"# a remark\n\n[horizon]\nbudget_recit = 100\n{line}\n")
    resolved = SettingsFiles(root / "ruche").horizon("mia")
    assert resolved.settings.budget_recit == 100
    assert resolved.settings == HorizonSettings(budget_recit=100)
    (problem,) = resolved.problems
    assert problem.layer == str(path)
    assert problem.line == 5
    assert key in problem.key
    assert allowed in problem.allowed


def test_the_line_in_json_is_found_too(root):
    put(root / "config.json", '{\n "horizon": {\n  "budget_net": -3\n }\n}')
    (problem,) = SettingsFiles(root / "ruche").horizon("mia").problems
    assert problem.line == 3


@pytest.mark.parametrize("make", [os.mkfifo, lambda path: path.symlink_to("/dev/zero")], ids=["pipe", "device"])
def test_what_may_have_no_end_is_not_read_as_settings(root, make):
    make(root / "ruche" / "horizon.toml")
    resolved = SettingsFiles(root / "ruche").horizon("mia")
    assert "device or a pipe" in str(resolved.problems[0])
    assert resolved.settings.budget == 21_000


def test_a_table_that_is_none_is_said(root):
    put(root / "ruche" / "horizon.toml", "horizon = 3\n")
    (problem,) = SettingsFiles(root / "ruche").horizon("mia").problems
    assert "a table is expected" in str(problem)


def test_switches_close_one_model_or_all(root):
    put(root / "ruche" / "bees" / "mia.toml", 'modele = "ollama/a"\n[horizon]\nresumeur = "ollama/b"\n')
    files = SettingsFiles(root / "ruche")
    assert summarizers(files.horizon("mia").settings) == ("ollama/b", "ollama/a")
    put(root / "config.json", '{"interrupteurs": {"ollama/b": false}}')
    assert summarizers(files.horizon("mia").settings) == ("ollama/a",)
    put(root / "config.json", '{"interrupteurs": {"tous": false}}')
    assert summarizers(files.horizon("mia").settings) == ()
    put(root / "config.json", '{"interrupteurs": {"tous": "non"}}')
    assert "true (may be called)" in str(files.horizon("mia").problems[0])


@pytest.mark.parametrize("name", ["ollama/gpt-oss:120b-cloud", "ollama/qwen3-coder:480b-CLOUD", "ollama/glm:cloud"])
def test_a_model_on_a_companys_servers_is_asked_only_where_it_is_switched_on_by_name(root, name):
    put(root / "ruche" / "bees" / "mia.toml", f'modele = "{name}"\n[horizon]\nresumeur = "ollama/cloud"\n')
    files = SettingsFiles(root / "ruche")
    assert summarizers(files.horizon("mia").settings) == ("ollama/cloud",)
    assert "company" in refused_summarizers(files.horizon("mia").settings)[name]
    put(root / "config.json", json.dumps({"interrupteurs": {name: True}}))
    assert summarizers(files.horizon("mia").settings) == ("ollama/cloud", name)
    assert refused_summarizers(files.horizon("mia").settings) == {}
    put(root / "config.json", json.dumps({"interrupteurs": {name: True, "tous": False}}))
    assert summarizers(files.horizon("mia").settings) == ()


def test_truncation_asked_for_asks_no_model(root):
    put(root / "ruche" / "bees" / "mia.toml", 'modele = "ollama/a"\n[horizon]\nresumeur = "troncature"\n')
    assert summarizers(SettingsFiles(root / "ruche").horizon("mia").settings) == ()


def test_another_providers_model_is_nobodys_summarizer(root):
    put(root / "ruche" / "bees" / "mia.toml", 'modele = "openai/gpt-5"\n')
    assert summarizers(SettingsFiles(root / "ruche").horizon("mia").settings) == ()


def test_a_homes_settings_are_its_own_over_the_config(root):
    put(root / "config.json", '{"consolidation": {"faits_max": 5, "langue": "en"}}')
    put(root / "ruche" / "horizon.toml", '[horizon]\n[consolidation]\nfaits_max = 9\nbancs = ["bench-*"]\nfaits = 1\n')
    resolved = SettingsFiles(root / "ruche").consolidation()
    assert (resolved.settings.faits_max, resolved.settings.langue, resolved.settings.bancs) == (9, "en", ("bench-*",))
    assert 'did you mean "faits_max"?' in str(resolved.problems[0])


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=5,
)


@given(st.lists(st.dictionaries(st.sampled_from(keys_of(HorizonSettings())) | st.text(max_size=6), VALUES), max_size=3))
def test_whatever_stands_in_the_files_valid_settings_come_out(layers):
    resolved = merge_horizon([Layer(name=str(n), values=values) for n, values in enumerate(layers)])
    found = resolved.settings
    assert found.budget == found.budget_net + found.budget_condense + found.budget_recit
    assert all(0 <= zone <= 1_000_000 for zone in (found.budget_net, found.budget_condense, found.budget_recit))
    assert 0 <= found.age_net_heures <= 1_000_000
    taken = sum(1 for layer in resolved.origins.values() if layer != "default")
    assert taken + len(resolved.problems) <= sum(len(values) for values in layers)
    assert taken + len(resolved.problems) >= len({key for values in layers for key in values})


@pytest.mark.parametrize("leads_to", ["/nowhere/horizon.toml", "horizon.toml"], ids=["nothing", "itself"])
def test_a_link_that_leads_to_no_file_is_told_and_the_last_good_values_hold(root, leads_to):
    path = root / "ruche" / "horizon.toml"
    put(path, "[horizon]\nactif = true\n")
    SettingsFiles(root / "ruche").keep_good("mia")
    path.unlink()
    path.symlink_to(leads_to)

    files = SettingsFiles(root / "ruche")
    resolved = files.horizon("mia")
    (problem,) = resolved.problems
    assert problem.layer == str(path)
    assert "cannot be read" in problem.found
    assert resolved.settings.actif

    path.unlink()
    assert files.horizon("mia").problems == ()
    assert not files.horizon("mia").settings.actif
