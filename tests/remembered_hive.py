"""A hive in which one bee's secret outing has left traces everywhere: journal, archive, flags, outcomes, nights, indexes."""

from __future__ import annotations

import gzip
import json
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING

from horizon import open_hive, wiring

if TYPE_CHECKING:
    from pathlib import Path

START = datetime(2026, 7, 9, 8, 0, tzinfo=UTC)
DAY = date(2026, 7, 9)
QUESTION = "Retiens que Célimène loge au 14 rue des Hautes-Feuilles. Est-ce noté ?"
ANSWER = (
    "C'est noté : Célimène loge au 14 rue des Hautes-Feuilles. Le code de sa porte est B4471-K et sa clé est sous le pot bleu. "
    "J'ai écrit cela dans carnets/celimene_hautes_feuilles.md pour la visite de jeudi. "
    "Le serrurier viendra mercredi pour refaire un double de cette clé, à sa demande expresse. "
    "Rien d'autre n'a été changé dans le carnet de la maison cette fois-ci."
)
SECRETS = ("Hautes-Feuilles", "celimene_hautes_feuilles", "B4471-K", "sous le pot bleu", "serrurier viendra mercredi")
"""What must be in no byte of the hive any more."""
SETTINGS = """
[horizon]
actif = true
budget_net = 900
budget_condense = 900
budget_recit = 3000
resumeur = "troncature"
fuseau = "UTC"
[consolidation]
resumeur = "troncature"
fuseau = "UTC"
"""


def other(number: int) -> tuple[str, str]:
    return (
        f"Que fait le relais {number} ?",
        f"Le relais {number} chauffe le bassin {number + 40} jusqu'au soir, puis il s'arrête. "
        f"Sa sonde écrit dans sondes/relais_{number}.csv toutes les minutes. Le seuil est de {number + 300} degrés. "
        + f"La pompe du bassin {number + 40} a tourné sans faute pendant toute la journée, et sa courroie est neuve. "
        * 2,
    )


def make(hive: Path, *, nights: bool = True) -> str:
    """Make the hive; return the id of the exchange that is to be forgotten."""
    hive.mkdir()
    (hive / "horizon.toml").write_text(SETTINGS)
    bee = open_hive(hive).bee("mia")
    wanted = ""
    for number in range(12):
        at = START + timedelta(minutes=10 * number)
        if number == 4:
            wanted = bee.append(QUESTION, ANSWER, at=at).id
        else:
            bee.append(*other(number), kind="outil" if number % 2 else "conversation", at=at)
    bee.flag(wanted)
    wiring.maintain(hive, "mia")
    wiring.rebuild(hive, "mia", fresh=True)  # the outcomes so far are set aside
    window = hive / "window"
    archive = window / "archive"
    archive.mkdir()
    (archive / "mia-messages.000001.jsonl.gz").write_bytes(gzip.compress((window / "mia-messages.jsonl").read_bytes()))
    (window / "mia-messages.jsonl").unlink()
    for number in range(12, 16):
        bee.append(*other(number), at=START + timedelta(minutes=10 * number))
    wiring.maintain(hive, "mia")
    bee.exchange(wanted)  # the index of the journal
    if nights:
        wiring.open_home(hive).consolidate(DAY)
        wiring.open_recall(hive).recall("Hautes-Feuilles", today=DAY + timedelta(days=1))
    return wanted


def contents(hive: Path) -> dict[str, bytes]:
    """The bytes of every file of the hive, uncompressed."""
    return {
        str(path.relative_to(hive)): gzip.decompress(data) if path.suffix == ".gz" else data
        for path in sorted(hive.rglob("*"))
        if path.is_file()
        for data in [path.read_bytes()]
    }


def holding(hive: Path, secrets: tuple[str, ...] = SECRETS) -> dict[str, list[str]]:
    """By file: which of `secrets` its bytes hold, as written or as JSON escapes them."""
    found: dict[str, list[str]] = {}
    for name, data in contents(hive).items():
        told = [each for each in secrets if each.encode() in data or json.dumps(each)[1:-1].encode() in data]
        if told:
            found[name] = told
    return found
