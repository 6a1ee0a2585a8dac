"""Hives for the flow tests: bees with more than their budgets hold."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from horizon import open_hive

BUDGETS = "budget_net = 450\nbudget_condense = 500\nbudget_recit = 3000\n"
ANSWERS = (
    "Nadia a relu le plan du pont de Sèvres ce matin. Elle a trouvé une cote fausse sur la culée nord, déjà corrigée.",
    "Le devis de la société Durand arrive à 12 400 euros. Il comprend le coffrage mais pas la location de la grue.",
    "La note de calcul des appuis manque encore. Le bureau de Lyon promet de l'envoyer avant la fin de la semaine.",
    "Oumar viendra mesurer les fissures avec un laser. Il faudra lui ouvrir le portail et couper l'éclairage du tablier.",
    "La réunion de chantier a été avancée d'un jour. Le compte rendu sera tenu par Inès, qui remplace Paul en congé.",
    "Personne n'a choisi la teinte du garde-corps. Les échantillons vert sapin et gris ardoise sont dans la baraque.",
    "Le contrôle des soudures est terminé. Trois cordons sur quarante demandent une reprise avant la mise en peinture.",
    "Le fichier plans/tablier_v7.dwg remplace le précédent. L'ancien reste consultable dans le dossier des archives.",
)


def hive(path, *bees, summarizer="troncature", exchanges=8, seconds=180):
    """Make a hive whose bees have more than their budgets hold."""
    path.mkdir(parents=True)
    (path / "horizon.toml").write_text(
        f'[horizon]\nactif = true\nresumeur = "{summarizer}"\n{BUDGETS}delai_secondes = {seconds}\n', "utf-8"
    )
    now = datetime.now(UTC)
    for name in bees:
        bee = open_hive(path).bee(name)
        for number in range(exchanges):
            bee.append(f"Question {number} ?", ANSWERS[number], at=now - timedelta(hours=exchanges - number))
    return path
