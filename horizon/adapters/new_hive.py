"""A new hive's folder and its commented settings (spec 1-horizon §5, §9)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from horizon.adapters.bee_files import check_name
from horizon.adapters.files import make_folder, replace_file

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

HIVE: Final = """\
# Settings of this hive. They are read again whenever this file changes; what is commented out is the default.
# config.json in the folder above holds defaults for all hives; bees/<bee>.toml has the last word for one bee.

[horizon]
actif = true                     # the switch; off, an agent reads its last three exchanges
# budget_net = 12000             # characters of recent exchanges, whole
# budget_condense = 6000         # characters of older exchanges, condensed
# budget_recit = 3000            # characters of the narrative, into which the far past melts
# age_net_heures = 24            # older exchanges leave the sharp zone
# resumeur = "abeille"           # who condenses: "abeille" (the bee's own model), "ollama/<model>", "troncature" (none)
# phares = ["apicultrice"]       # beacons: what the keeper says to the bee ("apicultrice"), further kinds of exchange
# plancher_phare = "condense"    # how far beacons may sink while there is anything else: "net", "condense", "recit"
# langue = "fr"                  # of prompts and headings: "fr", "en"
# fuseau = "Europe/Paris"        # default: the machine's time zone
# delai_secondes = 180           # how long one call of a model may take
# delai_dedie_secondes = 60      # of the dedicated model (resumeur = "ollama/<model>") alone; default: delai_secondes
# delai_abeille_secondes = 180   # of the bee's own model alone; default: delai_secondes
# contexte = 8192                # the model's window, in tokens

[consolidation]
# modele = "ollama/<model>"      # who reads the day at night; none: an excerpt of the day, no facts
# resumeur = "abeille"           # "abeille" (the model above), "ollama/<model>", "troncature" (none)
# langue = "fr"
# fuseau = "Europe/Paris"        # where a day begins at midnight; default: the machine's time zone
# sources = ["traces.db", "window"]  # default: what the home holds of these
# agents = ["mia"]               # only these agents' exchanges; default: all
# bancs = ["bench-*"]            # further names of test-bench models, left out
# faits_max = 12                 # most facts of a day
# partie_echanges = 5            # exchanges read by one call
# retour_jours = 14              # how far back a night looks for days still owed
# jours_par_nuit = 7             # most days that one night takes
"""
BEE: Final = """\
# Settings of this bee, over those of horizon.toml in the folder above.

# modele = "ollama/qwen3"        # the model that this bee answers with; it also condenses, unless resumeur says else

[horizon]
"""


def make_hive(hive: Path, bees: Sequence[str]) -> tuple[Path, ...]:
    """Make the hive's folder and settings files where they are missing; return what was made, in order.

    What is there already is left as it is.

    Raises:
        InvalidInput: a bee's name could not be a file's name on every system.
    """
    files = {hive / "horizon.toml": HIVE} | {hive / "bees" / f"{check_name(bee)}.toml": BEE for bee in bees}
    make_folder(hive / "window")
    make_folder(hive / "bees")
    made = [path for path in files if not path.exists()]
    for path in made:
        replace_file(path, files[path].encode())
    return tuple(made)
