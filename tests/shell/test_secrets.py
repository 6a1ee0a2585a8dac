"""No secret of any kind that we know reaches a model or what is derived, over real HTTP and through every file of a home."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

from horizon import open_hive
from tests.core.secret_table import SECRETS

START = datetime(2026, 7, 10, 8, tzinfo=UTC)
CACHES = {".snapshot", ".view"}
"""They hold the sharp zone as the journal has it, and may be deleted at any time."""


def test_secrets_reach_no_model_and_no_derived_byte(run, hive, ollama_server, monkeypatch):
    monkeypatch.setenv("OLLAMA_HOST", ollama_server.host)
    toml = hive / "horizon.toml"
    text = toml.read_text("utf-8").replace('# modele = "ollama/<model>"', 'modele = "ollama/qwen3"')
    for key, value in {"budget_net": 1200, "budget_condense": 900, "fuseau": '"UTC"'}.items():
        text = text.replace(f"# {key} =", f"{key} = {value} #")
    toml.write_text(text, "utf-8")
    bee_file = hive / "bees" / "mia.toml"
    bee_file.write_text('modele = "ollama/qwen3"\n' + bee_file.read_text("utf-8"), "utf-8")
    bee = open_hive(hive).bee("mia")
    texts = [text for _, text in SECRETS.values()]
    for place, told in enumerate("\n".join(texts[at : at + 5]) for at in range(0, len(texts), 5)):
        prose = f"Le service {place} est prêt, son dossier est /srv/app{place}. "
        answer, question = f"{prose * 6}\n{told}\n{prose * 6}", f"Service {place} ?"
        if place % 2:
            question, answer = f"Regarde :\n{told}\nfin {place}", prose * 12
        bee.append(question, answer, kind="outil", at=START + timedelta(minutes=place))

    for _ in range(3):
        run("maintain", hive)
    assert run("consolidate", hive, "--day", "2026-07-10", "--json") == 0
    assert run("recall", hive, "service") == 0

    sent = "\n".join(json.dumps(body, ensure_ascii=False) for body in ollama_server.requests)
    assert len(ollama_server.requests) > len(texts) // 5
    derived = {
        path.name: path.read_bytes().decode("utf-8", "replace")
        for path in hive.rglob("*")
        if path.is_file() and "messages" not in path.name and path.suffix not in CACHES
    }
    assert {"mia-horizon.jsonl", "journal.md", "memory_facts.jsonl", ".horizon-recall.db"} <= set(derived)
    for kind, (secret, _) in SECRETS.items():
        size = min(len(secret), 10)
        written = json.dumps(secret, ensure_ascii=False)[1:-1]
        for form in {secret, written} if size > 6 else ():
            parts = [form[at : at + size] for at in range(len(form) - size + 1)]
            assert not any(part in sent for part in parts), kind
            assert not [name for name, text in derived.items() if any(part in text for part in parts)], kind
