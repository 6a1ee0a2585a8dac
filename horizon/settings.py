"""Settings: layers merged by one pure function; each value remembers the layer it comes from.

Defaults < `config.json` < the hive's `horizon.toml` < the bee's `<bee>.toml` (spec 1-horizon §5, 5-interface).
This module reads no file: an adapter hands it `Layer`s, read again whenever a file changes.

A value that is unknown or out of range never breaks a read: it is reported as a `Problem` and the value
of the layer below holds.
"""

from __future__ import annotations

import math
import re
import zoneinfo
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Final, Generic, Literal, TypeVar, cast

from horizon.core.beacon import KEEPER, Floor
from horizon.core.event import TRUNCATION

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

Language = Literal["fr", "en"]

OWN_MODEL: Final = "abeille"
"""As `resumeur`: the bee's own model."""
ALL_MODELS: Final = "tous"
"""In `interrupteurs`: the switch of every model at once."""
MODEL_PREFIX: Final = "ollama/"
BUDGET_MOST: Final = 1_000_000
"""Largest zone budget, in characters: beyond any model's window, and it keeps views bounded."""


def is_cloud(model: str) -> bool:
    """Tell whether Ollama would send this model's prompts to a company's servers."""
    return model.lower().endswith((":cloud", "-cloud"))


def _nowhere(_key: str) -> None:
    """Tell that a key stands in no file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Layer:
    """One source of settings as read: its name for people (a path), its values, and how to find the line of a key."""

    name: str
    values: Mapping[str, object]
    line_of: Callable[[str], int | None] = _nowhere


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """A setting that was passed over: where, which key, what was found, what is allowed."""

    layer: str
    line: int | None
    key: str
    found: str
    allowed: str

    def __str__(self) -> str:
        place = self.layer if self.line is None else f"{self.layer}, line {self.line}"
        what = f"{self.key} = {self.found}" if self.key else self.found
        return f"{place}: {what}: {self.allowed}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Switches:
    """`interrupteurs`: which models may be called. A model that is not named is on, unless it runs elsewhere."""

    off: frozenset[str] = frozenset()
    on: frozenset[str] = frozenset()
    """Switched on by name: what it takes for a model that runs on a company's servers."""

    def refusal(self, model: str) -> str | None:
        """Return why `model` ("ollama/qwen3") may not be called, for people; None where it may."""
        if ALL_MODELS in self.off:
            return "all models are switched off"
        if model in self.off:
            return "switched off"
        if is_cloud(model) and model not in self.on:
            return f'it runs on a company\'s servers: only {{"interrupteurs": {{"{model}": true}}}} in config.json lets it be asked'
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class HorizonSettings:
    """The `[horizon]` settings of one bee, all layers merged. Budgets are in characters as injected."""

    actif: bool = False
    budget_net: int = 12_000
    budget_condense: int = 6_000
    budget_recit: int = 3_000
    age_net_heures: float = 24.0
    resumeur: str = OWN_MODEL
    phares: tuple[str, ...] = (KEEPER,)
    plancher_phare: Floor = Floor.CONDENSED
    langue: Language = "fr"
    fuseau: str = ""
    """IANA name; empty for the machine's zone."""
    delai_secondes: float = 180.0
    """How long one call of a model may take, whichever step of the cascade makes it."""
    delai_dedie_secondes: float | None = None
    """The same for the dedicated model (`resumeur = "ollama/…"`) alone; None: `delai_secondes`."""
    delai_abeille_secondes: float | None = None
    """The same for the bee's own model alone; None: `delai_secondes`."""
    contexte: int = 8_192
    """The model's window in tokens that calls ask for (`num_ctx`)."""
    modele: str = ""
    """The bee's own model, from the top level of its file ("ollama/…"); empty where none is set."""
    switches: Switches = Switches()

    @property
    def budget(self) -> int:
        """The view's hard budget: the sum of the three zones'."""
        return self.budget_net + self.budget_condense + self.budget_recit


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsolidationSettings:
    """The `[consolidation]` settings of a home, all layers merged (spec 2-consolidation, 5-interface)."""

    sources: tuple[str, ...] = ()
    """Paths relative to the home; empty: what the home holds (`traces.db`, `window/`)."""
    fuseau: str = ""
    langue: Language = "fr"
    resumeur: str = OWN_MODEL
    """`"ollama/…"`, `"troncature"`, or `"abeille"`: the home's `modele`."""
    modele: str = ""
    faits_max: int = 12
    """Most facts asked for and kept per day."""
    bancs: tuple[str, ...] = ()
    """Further names of test-bench models: patterns with `*` and `?`, without case."""
    agents: tuple[str, ...] = ()
    """Only these agents' exchanges; empty: every agent's."""
    delai_secondes: float = 600.0
    delai_dedie_secondes: float | None = None
    delai_abeille_secondes: float | None = None
    """As a bee's; its own model is here the home's `modele`."""
    contexte: int = 8_192
    partie_echanges: int = 5
    """Exchanges read by one call: five at a time found 62 % of the facts where one long prompt found 8 %."""
    parties_max: int = 40
    """Most calls for one day, the summary's aside."""
    retour_jours: int = 14
    """How many past days a scheduled night looks back for owed ones."""
    jours_par_nuit: int = 7
    """Most days that one scheduled night takes."""
    rapport_resume: bool = False
    """Whether the night's report may show the day's summary in the Prefect UI."""
    switches: Switches = Switches()


AnySettings = TypeVar("AnySettings", HorizonSettings, ConsolidationSettings)


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolved(Generic[AnySettings]):
    """Merged settings, the layer that each value comes from ("default" where none), and what was passed over."""

    settings: AnySettings
    origins: Mapping[str, str]
    problems: tuple[Problem, ...]


class _NotAllowed(Exception):
    """Raised by a check; its text says what is allowed."""


def _boolean(value: object) -> bool:
    if isinstance(value, bool):
        return value
    raise _NotAllowed("true or false is allowed")


def _whole(least: int, most: int) -> Callable[[object], int]:
    def check(value: object) -> int:
        if isinstance(value, int) and not isinstance(value, bool) and least <= value <= most:
            return value
        raise _NotAllowed(f"a whole number from {least} to {most} is allowed")

    return check


def _number(least: float, most: float) -> Callable[[object], float]:
    def check(value: object) -> float:
        if (
            isinstance(value, int | float)
            and not isinstance(value, bool)
            and math.isfinite(value)
            and least <= value <= most
        ):
            return float(value)
        raise _NotAllowed(f"a number from {least:g} to {most:g} is allowed")

    return check


def _one_of(*allowed: str) -> Callable[[object], str]:
    def check(value: object) -> str:
        if isinstance(value, str) and value in allowed:
            return value
        raise _NotAllowed("one of " + ", ".join(f'"{name}"' for name in allowed) + " is allowed")

    return check


def _floor(value: object) -> Floor:
    return Floor(_one_of(*Floor)(value))


def _names(value: object) -> tuple[str, ...]:
    if isinstance(value, list | tuple):
        items = cast("Sequence[object]", value)
        if all(isinstance(item, str) and item.strip() for item in items):
            return tuple(cast("Sequence[str]", items))
    raise _NotAllowed('a list of names is allowed, such as ["apicultrice"]')


def _zone(value: object) -> str:
    if isinstance(value, str):
        try:
            zoneinfo.ZoneInfo(value)
        except (ValueError, OSError, zoneinfo.ZoneInfoNotFoundError):
            pass
        else:
            return value
    raise _NotAllowed('an IANA time zone is allowed, such as "Europe/Paris"')


_MODEL = re.compile(r"ollama/[^\s/][^\s]*")


def _summarizer(value: object) -> str:
    if isinstance(value, str) and (value in {OWN_MODEL, TRUNCATION} or _MODEL.fullmatch(value)):
        return value
    raise _NotAllowed(f'"{OWN_MODEL}", "{TRUNCATION}" or "ollama/<model>" is allowed')


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    raise _NotAllowed("a text is allowed")


_COMMON: Final[Mapping[str, Callable[[object], object]]] = {
    "resumeur": _summarizer,
    "langue": _one_of("fr", "en"),
    "fuseau": _zone,
    "delai_secondes": _number(0.1, 86_400),
    "delai_dedie_secondes": _number(0.1, 86_400),
    "delai_abeille_secondes": _number(0.1, 86_400),
    "contexte": _whole(2_048, 1_048_576),
}
_HORIZON: Final[Mapping[str, Callable[[object], object]]] = _COMMON | {
    "actif": _boolean,
    "budget_net": _whole(0, BUDGET_MOST),
    "budget_condense": _whole(0, BUDGET_MOST),
    "budget_recit": _whole(0, BUDGET_MOST),
    "age_net_heures": _number(0, 1_000_000),
    "phares": _names,
    "plancher_phare": _floor,
}
_CONSOLIDATION: Final[Mapping[str, Callable[[object], object]]] = _COMMON | {
    "sources": _names,
    "modele": _text,
    "faits_max": _whole(0, 100),
    "bancs": _names,
    "agents": _names,
    "partie_echanges": _whole(1, 1_000),
    "parties_max": _whole(1, 10_000),
    "retour_jours": _whole(0, 3_650),
    "jours_par_nuit": _whole(1, 3_650),
    "rapport_resume": _boolean,
}


def merge_horizon(
    layers: Sequence[Layer], *, modele: object = "", switches: Layer | None = None
) -> Resolved[HorizonSettings]:
    """Merge the `[horizon]` tables of `layers`, the most general first; `modele` is the bee's own model."""
    values, origins, problems = _merge(layers, _HORIZON, "horizon")
    off, more = _switches(switches)
    settings = HorizonSettings(**values, modele=modele if isinstance(modele, str) else "", switches=off)
    return Resolved(settings=settings, origins=origins, problems=(*problems, *more))


def merge_consolidation(layers: Sequence[Layer], *, switches: Layer | None = None) -> Resolved[ConsolidationSettings]:
    """Merge the `[consolidation]` tables of `layers`, the most general first."""
    values, origins, problems = _merge(layers, _CONSOLIDATION, "consolidation")
    off, more = _switches(switches)
    return Resolved(
        settings=ConsolidationSettings(**values, switches=off), origins=origins, problems=(*problems, *more)
    )


def _merge(
    layers: Sequence[Layer], checks: Mapping[str, Callable[[object], object]], table: str
) -> tuple[dict[str, Any], dict[str, str], list[Problem]]:
    values: dict[str, Any] = {}
    origins = dict.fromkeys(checks, "default")
    problems: list[Problem] = []
    for layer in layers:
        for key, value in layer.values.items():
            check = checks.get(key)
            if check is None:
                problems.append(
                    Problem(
                        layer=layer.name,
                        line=layer.line_of(key),
                        key=f"[{table}] {key}",
                        found=repr(value),
                        allowed=f"unknown key; {_nearest(key, checks)}",
                    )
                )
                continue
            try:
                values[key] = check(value)
            except _NotAllowed as error:
                problems.append(
                    Problem(
                        layer=layer.name,
                        line=layer.line_of(key),
                        key=f"[{table}] {key}",
                        found=repr(value),
                        allowed=str(error),
                    )
                )
            else:
                origins[key] = layer.name
    return values, origins, problems


def _nearest(key: str, known: Mapping[str, object]) -> str:
    import difflib  # noqa: PLC0415 - only a mistyped key needs it

    near = difflib.get_close_matches(key, known, n=1, cutoff=0.0)
    return f'did you mean "{near[0]}"?'


def _switches(layer: Layer | None) -> tuple[Switches, list[Problem]]:
    on: set[str] = set()
    off: set[str] = set()
    problems: list[Problem] = []
    if layer is None:
        return Switches(), problems
    for name, switched in layer.values.items():
        if not isinstance(switched, bool):
            problems.append(
                Problem(
                    layer=layer.name,
                    line=None,
                    key=f"interrupteurs {name}",
                    found=repr(switched),
                    allowed="true (may be called) or false (switched off) is allowed",
                )
            )
        else:
            (on if switched else off).add(name)
    return Switches(off=frozenset(off), on=frozenset(on)), problems


def summarizers(settings: HorizonSettings | ConsolidationSettings) -> tuple[str, ...]:
    """Return the models to ask, in order, before truncation; empty where none is configured or switched on.

    A dedicated model first, then the bee's (or home's) own (spec 1-horizon §5). A model that cannot be
    asked here (another provider's) is nobody's choice as a summarizer, and passed over.
    """
    return tuple(model for model in _wanted(settings) if settings.switches.refusal(model) is None)


def refused_summarizers(settings: HorizonSettings | ConsolidationSettings) -> dict[str, str]:
    """Return the models that are configured as summarizers and may not be called, each with why, for people."""
    reasons = {model: settings.switches.refusal(model) for model in _wanted(settings)}
    return {model: reason for model, reason in reasons.items() if reason is not None}


def _wanted(settings: HorizonSettings | ConsolidationSettings) -> tuple[str, ...]:
    wanted: list[str] = []
    if settings.resumeur.startswith(MODEL_PREFIX):
        wanted.append(settings.resumeur)
    if settings.resumeur != TRUNCATION and settings.modele.startswith(MODEL_PREFIX):
        wanted.append(settings.modele)
    return tuple(dict.fromkeys(wanted))


def timeout_of(model: str, settings: HorizonSettings | ConsolidationSettings) -> float:
    """Return the seconds that one call of `model` may take at its step of the cascade (spec 1-horizon §5).

    A model that is both the dedicated one and the bee's own is asked at the dedicated one's step.
    """
    own = settings.delai_dedie_secondes if model == settings.resumeur else settings.delai_abeille_secondes
    return settings.delai_secondes if own is None else own


def keys_of(settings: HorizonSettings | ConsolidationSettings) -> tuple[str, ...]:
    """Return the names of the keys that files may set, in the order in which they are documented."""
    checks = _HORIZON if isinstance(settings, HorizonSettings) else _CONSOLIDATION
    return tuple(item.name for item in fields(settings) if item.name in checks)
