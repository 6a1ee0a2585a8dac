"""What one process knows of a server's health is shared by all of its bees."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from horizon import open_hive, wiring

AT = datetime(2026, 7, 10, 8, tzinfo=UTC)


def test_a_server_that_is_down_costs_three_tries_whatever_the_number_of_bees(tmp_path, ollama_server, monkeypatch):
    monkeypatch.setenv("OLLAMA_HOST", ollama_server.host)
    ollama_server.switch("503")
    wiring.init_hive(tmp_path / "ruche", [f"bee{n}" for n in range(6)])
    (tmp_path / "ruche" / "horizon.toml").write_text('[horizon]\nactif = true\nresumeur = "ollama/test"\n')
    degraded = 0
    calls = 0
    for name in open_hive(tmp_path / "ruche").bees():
        bee = open_hive(tmp_path / "ruche").bee(name)
        for n in range(3):
            bee.append(f"question {n}", f"{n} is what it was. " * 40, kind="outil", at=AT + timedelta(minutes=n))
        report = wiring.maintain(tmp_path / "ruche", name)
        degraded += report.degraded
        calls += report.calls
        assert report.evicted == 2
    assert degraded == 12
    assert calls == 3
