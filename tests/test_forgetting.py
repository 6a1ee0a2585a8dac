"""Forgetting on real files: what is named leaves every byte of the hive, everything else stays (spec 1-horizon §1, §9)."""

from __future__ import annotations

import gzip
import json
import stat
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from horizon import InvalidInput, StoreBusy, Unavailable, open_hive, wiring
from horizon.adapters.clock import SystemClock
from horizon.adapters.journal_jsonl import JournalStore
from horizon.adapters.ledger import LedgerFile
from horizon.adapters.outcome_lines import fields_line, outcome_fields
from horizon.core.event import Cause, Narrated, Section
from horizon.core.exchange import Exchange
from horizon.core.fact import fact_id
from horizon.core.oblivion import oblivion_of
from horizon.doctor import examine
from tests import remembered_hive

AT = datetime(2026, 7, 10, 8, 0, tzinfo=UTC)


@pytest.fixture
def hive(tmp_path):
    return tmp_path / "ruche"


def test_what_is_forgotten_is_in_no_byte_of_the_hive_and_a_rebuild_does_not_bring_it_back(hive):
    id_ = remembered_hive.make(hive)
    held = remembered_hive.holding(hive)
    assert set(held) >= {
        ".horizon-recall.db",
        "consolidation.jsonl",
        "memory.db",
        "memory_facts.jsonl",
        "window/archive/mia-messages.000001.jsonl.gz",
        "window/mia-horizon.aside-001.jsonl",
        "window/mia-horizon.jsonl",
        "window/mia-horizon.snapshot",
        "window/mia-phares.jsonl",
    }  # else this test shows nothing

    report = wiring.forgetting(hive, "mia").forget(id_=id_)

    assert report.ids == (id_,)
    assert report.remaining == report.said_by == ()
    assert remembered_hive.holding(hive) == {}
    for fresh in (False, True):
        wiring.rebuild(hive, "mia", fresh=fresh)
        wiring.open_home(hive).consolidate(remembered_hive.DAY, force=True)
        wiring.open_recall(hive).recall("Hautes-Feuilles", today=remembered_hive.DAY)
        assert remembered_hive.holding(hive) == {}


def test_an_entry_keeps_its_place_its_date_and_its_id_and_all_others_stay_as_they_were(hive):
    id_ = remembered_hive.make(hive)
    store = JournalStore(hive, "mia", SystemClock())
    before = list(store.entries())
    size = len(remembered_hive.contents(hive)["window/archive/mia-messages.000001.jsonl.gz"])

    wiring.forgetting(hive, "mia").forget(id_=id_)

    after = list(JournalStore(hive, "mia", SystemClock()).entries())
    assert [(entry.position, entry.exchange.id, entry.exchange.at) for entry in after] == [
        (entry.position, entry.exchange.id, entry.exchange.at) for entry in before
    ]
    assert [entry for entry in after if entry.exchange.id != id_] == [
        entry for entry in before if entry.exchange.id != id_
    ]
    assert len(remembered_hive.contents(hive)["window/archive/mia-messages.000001.jsonl.gz"]) == size
    forgotten = open_hive(hive).bee("mia").exchange(id_)
    assert (forgotten.question, forgotten.answer, forgotten.kind) == ("", "", "conversation")
    assert not [finding for finding in examine(hive) if finding.kind in {"journal", "drift", "flag", "degraded"}]


def test_who_has_the_bee_open_no_longer_sees_it_not_even_in_the_past(hive):
    id_ = remembered_hive.make(hive, nights=False)
    bee = open_hive(hive).bee("mia")
    past = remembered_hive.START + timedelta(hours=6)
    assert "Hautes-Feuilles" in bee.read().text

    wiring.forgetting(hive, "mia").forget(id_=id_)

    assert "Hautes-Feuilles" not in bee.read().text
    assert "Hautes-Feuilles" not in bee.read(at=past).text
    assert bee.exchange(id_).question == ""
    assert bee.read().text == open_hive(hive).bee("mia").read().text


def test_one_in_the_active_file_is_blanked_where_it_stands(hive):
    """Who has the file open, an engine that never heard of us, goes on writing to it."""
    hive.mkdir()
    bee = open_hive(hive).bee("mia")
    bee.append("un", "1", at=AT)
    id_ = bee.append("le secret est xyzzy", "compris, xyzzy", at=AT).id
    bee.append("trois", "3", at=AT)
    journal = hive / "window" / "mia-messages.jsonl"
    inode = journal.stat().st_ino
    with journal.open("ab") as engine:
        wiring.forgetting(hive, "mia").forget(id_=id_)
        engine.write(b'{"query": "quatre", "response": "4"}\n')

    assert journal.stat().st_ino == inode
    assert b"xyzzy" not in journal.read_bytes()
    assert [entry.exchange.question for entry in JournalStore(hive, "mia", SystemClock()).entries()] == [
        "un",
        "",
        "trois",
        "quatre",
    ]


def test_matching_takes_every_exchange_that_holds_the_text_in_any_field_case_or_accent(hive):
    hive.mkdir()
    bee = open_hive(hive).bee("mia")
    bee.append("Élodie a appelé", "bien", at=AT)
    bee.append("qui ?", "c'était ELODIE,\nje crois", at=AT)
    bee.append("rien", "à voir", at=AT)
    journal = hive / "window" / "mia-messages.jsonl"
    with journal.open("ab") as file:
        file.write(b'{"prompt": "x", "output": "y", "meta": {"caller": "elodie"}}\n')
        file.write(b'{"prompt": "torn by a crash, elodie\n')
        file.write(b'[1, "elodie"]\n')
    work = wiring.forgetting(hive, "mia")

    assert len(work.find(text="élodie")) == 3
    report = work.forget(text="élodie")

    assert len(report.ids) == 3
    assert report.remaining == ()
    data = journal.read_bytes()
    assert b"lodie" not in data.lower()
    assert "à voir".encode() in data
    assert work.forget(text="élodie").ids == ()


def test_what_other_exchanges_say_too_is_told_and_left(hive):
    hive.mkdir()
    bee = open_hive(hive).bee("mia")
    said = "Bonjour à toute la maisonnée, comment va-t-elle ?"
    one = bee.append(said, "La grande horloge du salon retarde de onze minutes.", at=AT).id
    two = bee.append(said, "Elle va bien.", at=AT + timedelta(minutes=1)).id

    report = wiring.forgetting(hive, "mia").forget(id_=one)

    assert report.said_by == (two,)
    assert report.remaining == ()
    assert bee.exchange(two).question == said


def test_the_record_of_it_has_ids_and_dates_and_no_content(hive):
    id_ = remembered_hive.make(hive, nights=False)
    wiring.forgetting(hive, "mia").forget(id_=id_)

    path = hive / "window" / "mia-oublis.jsonl"
    begun, done = map(json.loads, path.read_text().splitlines())
    assert done["ids"] == [id_]
    assert begun["places"][0][0] == id_
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize(
    "line",
    [
        '{"ts": 1783670400, "query": "the xyzzy", "response": "yes"}',
        '{"query":"xyzzy xyzzy xyzzy","response":"yes, and more of it"}',
        '{"prompt":"xyzzy","id":7}',
        '{"input":"xyzzy"}',
        '{"id":"a","quand":"2026-07-10T08:00:00Z","question":["xyzzy"],"reponse":{"b":1}}',
    ],
)
def test_records_of_other_engines_are_blanked_in_their_length(hive, line):
    (hive / "window").mkdir(parents=True)
    journal = hive / "window" / "mia-messages.jsonl"
    around = (
        b'{"id": "before", "question": "b", "reponse": "", "ts": 1783670300}\n',
        b'{"id": "after", "question": "a"}\n',
    )
    journal.write_bytes(around[0] + line.encode() + b"\n" + around[1])
    before = list(JournalStore(hive, "mia", SystemClock()).entries())

    wiring.forgetting(hive, "mia").forget(text="xyzzy")

    data = journal.read_bytes()
    assert b"xyzzy" not in data
    assert len(data) == len(around[0]) + len(line) + 1 + len(around[1])
    after = list(JournalStore(hive, "mia", SystemClock()).entries())
    assert [entry.exchange for entry in after if entry.exchange.id in {"before", "after"}] == [
        before[0].exchange,
        before[2].exchange,
    ]
    if len(line) > 34:  # else there is no room for an id
        assert [(entry.exchange.id, entry.exchange.at) for entry in after] == [
            (entry.exchange.id, entry.exchange.at) for entry in before
        ]


def test_a_narrative_in_a_models_own_words_loses_what_tells_of_it_and_keeps_the_rest(hive):
    hive.mkdir()
    id_ = open_hive(hive).bee("mia").append(remembered_hive.QUESTION, remembered_hive.ANSWER, at=AT).id
    told = Narrated(
        version=1,
        base=0,
        cause=Cause.MELTING,
        sections={
            Section.FILES: "Le carnet est celimene_hautes_feuilles.md.\nLes bassins sont dans relais.csv.",
            Section.IN_PROGRESS: "La clé de Célimène est cachée sous le pot. Le bassin 44 chauffe encore.",
        },
        by="ollama/qwen3",
        degraded=False,
        at=AT,
        ids=(id_,),
    )
    outcomes = hive / "window" / "mia-horizon.jsonl"
    outcomes.write_bytes(fields_line(outcome_fields(told)))

    wiring.forgetting(hive, "mia").forget(id_=id_)

    assert json.loads(outcomes.read_text())["sections"] == {
        "fichiers": "Les bassins sont dans relais.csv.",
        "en_cours": "Le bassin 44 chauffe encore.",
    }


def test_a_fact_that_another_exchange_proves_too_stays(hive):
    hive.mkdir()
    (hive / "horizon.toml").write_text(remembered_hive.SETTINGS)
    bee = open_hive(hive).bee("mia")
    said = "Retiens que Célimène préfère le thé fumé."
    one = bee.append(said, "Noté.", at=remembered_hive.START).id
    bee.append(said, "Encore noté.", at=remembered_hive.START + timedelta(days=1))
    home = wiring.open_home(hive)
    for day in (0, 1):
        home.consolidate(remembered_hive.DAY + timedelta(days=day))
    facts = (hive / "memory_facts.jsonl").read_text()
    assert "thé fumé" in facts

    wiring.forgetting(hive, "mia").forget(id_=one)

    assert (hive / "memory_facts.jsonl").read_text() == facts
    (known,) = LedgerFile(hive / "consolidation.jsonl").load().facts.values()
    assert len(known.evidence) == 1


def test_what_a_forgotten_fact_took_the_place_of_does_not_hold_again(hive):
    hive.mkdir()
    (hive / "horizon.toml").write_text(remembered_hive.SETTINGS)
    bee = open_hive(hive).bee("mia")
    bee.append("Retiens que Célimène habite à Lyon.", "Noté.", at=remembered_hive.START)
    moved = bee.append(
        "Retiens que Célimène habite à Vaucresson.", "Noté.", at=remembered_hive.START + timedelta(days=1)
    ).id
    home = wiring.open_home(hive)
    for day in (0, 1):
        home.consolidate(remembered_hive.DAY + timedelta(days=day))

    for _ in range(2):
        wiring.forgetting(hive, "mia").forget(id_=moved)
        (known,) = LedgerFile(hive / "consolidation.jsonl").load().facts.values()
        (span,) = known.spans
        assert (span.since, span.until, span.by) == (remembered_hive.DAY, remembered_hive.DAY + timedelta(days=1), "")
        assert b"Vaucresson" not in (hive / "consolidation.jsonl").read_bytes()
        assert fact_id("Célimène habite à Vaucresson").encode() not in (hive / "consolidation.jsonl").read_bytes()
    assert wiring.open_home(hive).consolidate(remembered_hive.DAY + timedelta(days=1)).new == 0


def test_while_a_maintainer_or_a_night_is_at_work_nothing_is_touched(hive):
    id_ = remembered_hive.make(hive)
    before = remembered_hive.contents(hive)
    with JournalStore(hive, "mia", SystemClock()).exclusive(), pytest.raises(StoreBusy):
        wiring.forgetting(hive, "mia").forget(id_=id_)
    with LedgerFile(hive / "consolidation.jsonl").exclusive(), pytest.raises(StoreBusy):
        wiring.forgetting(hive, "mia").forget(id_=id_)
    left = remembered_hive.contents(hive)
    assert {name: data for name, data in left.items() if not name.endswith(("lock", ".index"))} == {
        name: data for name, data in before.items() if not name.endswith(("lock", ".index"))
    }


def test_the_doctor_tells_of_one_that_was_cut_off_and_any_next_one_finishes_it(hive):
    id_ = remembered_hive.make(hive, nights=False)
    journal = wiring.forgetting(hive, "mia").journal
    journal.begin([place for _, place in journal.find(id_=id_)], AT)
    (finding,) = [each for each in examine(hive) if "cut off" in each.message]
    assert id_ in finding.remedy

    wiring.forgetting(hive, "mia").forget(text="nobody ever said this")
    assert open_hive(hive).bee("mia").exchange(id_).question == ""
    assert not [each for each in examine(hive) if "cut off" in each.message]


def test_where_another_exchange_stands_meanwhile_nothing_is_blanked(hive):
    """A killed run's places are not trusted blindly: somebody may have put other files there."""
    id_ = remembered_hive.make(hive, nights=False)
    journal = wiring.forgetting(hive, "mia").journal
    journal.begin([place for _, place in journal.find(id_=id_)], AT)
    segment = hive / "window" / "archive" / "mia-messages.000001.jsonl.gz"
    lines = gzip.decompress(segment.read_bytes()).splitlines(keepends=True)
    first, wanted = lines[0], next(line for line in lines if b"Hautes-Feuilles" in line)
    segment.write_bytes(gzip.compress(b"".join([wanted, *lines[1:4], first, *lines[5:]])))
    before = segment.read_bytes()

    with pytest.raises(Unavailable, match="another exchange"):
        wiring.forgetting(hive, "mia").forget(id_=id_)
    assert segment.read_bytes() == before


@pytest.mark.parametrize(
    ("named", "why"), [({}, "name either"), ({"text": "a "}, "characters"), ({"id_": "nobody"}, "no exchange")]
)
def test_what_cannot_be_meant_is_refused(hive, named, why):
    remembered_hive.make(hive, nights=False)
    with pytest.raises(InvalidInput, match=why):
        wiring.forgetting(hive, "mia").forget(**named)


words = st.lists(
    st.sampled_from(["le", "chat", "dort", "sous", "la", "table", "12", "rue", "a/b.py", "Marie", "jeudi", "porte"]),
    min_size=1,
    max_size=12,
)


@settings(max_examples=60)
@given(forgotten=words, others=st.lists(words, max_size=3))
def test_no_sentence_of_the_forgotten_stays_in_what_was_made_of_it(forgotten, others):
    answer = " ".join(forgotten).capitalize() + " parti."
    rest = [f"Ailleurs {number} " + " ".join(other) + "." for number, other in enumerate(others)]
    exchange = Exchange(id="e", at=AT, question="", answer=answer)
    oblivion, _ = oblivion_of([exchange], [])

    text = "\n".join([*rest, f"2026-07-10 08:00 : {answer}", answer])
    assert answer not in oblivion.without(text, oblivion.tells)
    assert oblivion.without(text, lambda _sentence: False) == text


def test_of_a_line_of_bare_things_only_the_forgotten_ones_go():
    told = Exchange(
        id="x",
        at=AT,
        kind="outil",
        question="Et la page ?",
        answer="J'ai lancé :\n$ make page\npuis lu src/page.css.",
    )
    oblivion, _ = oblivion_of([told], [])
    text = "… 3 plus anciens, au journal\n⟨git push · make page · src/a.py · src/page.css⟩\n2026-08-23 : docs/a.md"
    assert oblivion.without(text, oblivion.tells).split("\n")[1] == "⟨git push · src/a.py⟩"
    assert "⟨" not in oblivion.without("⟨make page · src/page.css⟩", oblivion.tells)


def test_forgetting_leaves_no_file_that_others_may_read(hive):
    id_ = remembered_hive.make(hive)
    wiring.forgetting(hive, "mia").forget(id_=id_)
    ours = [path for path in hive.rglob("*") if path.is_file() and path.name != "horizon.toml"]
    assert [path for path in ours if path.stat().st_mode & 0o077 and path.suffix != ".gz"] == []
