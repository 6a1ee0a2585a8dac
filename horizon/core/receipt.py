"""What a reader gets: the view, and where each character of it comes from (spec 1-horizon §3, 5-interface)."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from horizon.core.state import Zone

HORIZON: Final = "horizon"
"""In a receipt: the author of our own lines."""


class Role(StrEnum):
    """What a part of the view is."""

    HEADING = "titre"
    SECTION = "section"
    WORD = "parole"
    OLDER_WORDS = "paroles_anciennes"
    QUESTION = "question"
    ANSWER = "reponse"
    NOTICE = "mention"


class Rule(StrEnum):
    """What cut something, in the order in which the hard cut goes; `ROOM` comes first and is no sacrifice.

    `ROOM` is the narrative's own budget: a section cut at a sentence, a word counted and not shown.
    """

    ROOM = "0"
    CONDENSED = "1"
    NARRATIVE = "2"
    SHARP = "3"
    BEACON_CONDENSATE = "4a"
    BEACON_ANSWER = "4b"
    WORDS = "4c"
    BEACON = "4d"
    LATEST_ANSWER = "4e"
    LATEST_QUESTION = "4f"
    NOTICE = "4g"


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A stretch of the view: our own `lead` and `trail` around the `body` of somebody's text.

    `ids` are the exchanges it comes from, oldest first; `by` wrote the body (`verbatim`, a model, `troncature`, or
    `horizon` for our own lines); `cut` is the rule that shortened it, None where it is whole.
    """

    role: Role
    zone: Zone | None
    """None for the notice, which belongs to no zone."""
    lead: str = ""
    body: str = ""
    trail: str = ""
    ids: tuple[str, ...] = ()
    by: str = HORIZON
    cut: Rule | None = None
    hidden: int = 0
    """Characters of the text, as it was typed, that the cut took out of the body."""

    @property
    def text(self) -> str:
        """The part as it stands in the view."""
        return self.lead + self.body + self.trail

    @property
    def chars(self) -> int:
        """Length of `text`, in code points."""
        return len(self.lead) + len(self.body) + len(self.trail)

    def to_json(self) -> dict[str, object]:
        """Return the part for a JSON document, its text left out: it stands in the view."""
        return {
            "role": self.role,
            "zone": self.zone,
            "ids": list(self.ids),
            "chars": self.chars,
            "by": self.by,
            "cut": self.cut,
            "hidden": self.hidden,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """What one rule took out of one zone.

    `ids` are the exchanges concerned, oldest first; `chars` is how many characters of their own text (or of a
    section's, or of the notice) are not shown. `what` names the section, or is empty.
    """

    rule: Rule
    zone: Zone | None
    ids: tuple[str, ...]
    chars: int
    what: str = ""

    def to_json(self) -> dict[str, object]:
        """Return the cut for a JSON document."""
        return {
            "rule": self.rule,
            "zone": self.zone,
            "ids": list(self.ids),
            "chars": self.chars,
            "what": self.what,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Level:
    """How full a zone is: `chars` as it would be rendered without the hard cut, of `budget`; `count` of entries."""

    chars: int
    budget: int
    count: int
    exact: bool = True
    """False where measuring stopped once the zone was beyond the whole view's budget: `chars` is then a lower bound."""

    def to_json(self) -> dict[str, object]:
        """Return the level for a JSON document."""
        return {"chars": self.chars, "budget": self.budget, "count": self.count, "exact": self.exact}


@dataclass(frozen=True, slots=True, kw_only=True)
class Gauge:
    """How full each zone is; `melted` and `appended` count exchanges. `late`: maintenance has something to shed."""

    sharp: Level
    condensed: Level
    narrative: Level
    appended: int
    melted: int

    @property
    def late(self) -> bool:
        """Whether the sharp or the condensed zone is over its budget."""
        return self.sharp.chars > self.sharp.budget or self.condensed.chars > self.condensed.budget

    def to_json(self) -> dict[str, object]:
        """Return the gauge for a JSON document, zones by their French names."""
        return {
            "nette": self.sharp.to_json(),
            "condensee": self.condensed.to_json(),
            "recit": self.narrative.to_json(),
            "appended": self.appended,
            "melted": self.melted,
            "late": self.late,
        }


class Parts:
    """A view's parts in order, from frozen values of the same instant as its text; made once somebody asks for them."""

    __slots__ = ("_made", "_make")

    def __init__(self, make: Callable[[], tuple[Part, ...]]) -> None:
        self._make = make
        self._made: tuple[Part, ...] | None = None

    @classmethod
    def of(cls, parts: Iterable[Part]) -> Parts:
        """Return parts that are made already."""
        made = cls(tuple)
        made._made = tuple(parts)
        return made

    def made(self) -> tuple[Part, ...]:
        """Return the parts, the same ones each time."""
        if self._made is None:
            self._made = self._make()
        return self._made

    def followed_by(self, parts: Iterable[Part]) -> Parts:
        """Return these parts and `parts` after them; what is not made yet is still not."""
        if self._made is not None:
            return Parts.of((*self._made, *parts))
        return Parts(lambda: (*self.made(), *parts))

    def __eq__(self, other: object) -> bool:
        return self.made() == other.made() if isinstance(other, Parts) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.made())

    def __reduce__(self) -> tuple[Callable[..., Parts], tuple[tuple[Part, ...]]]:
        return Parts.of, (self.made(),)


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """What an agent reads: `text` is never longer than `budget`."""

    text: str
    budget: int
    gauge: Gauge
    cuts: tuple[Cut, ...]
    parts: Parts = field(repr=False)

    @property
    def receipt(self) -> tuple[Part, ...]:
        """Where each character comes from: parts that, in order, are the text."""
        return self.parts.made()

    @property
    def chars(self) -> int:
        """Length of `text`, in code points."""
        return len(self.text)

    def messages(self) -> list[dict[str, str]]:
        """Return the same content as chat messages, oldest first; their contents together keep within the budget.

        One system message holds everything above the sharp zone, the notice included (left out where there is
        nothing); then each sharp exchange is a user turn, its header and its question, and an assistant turn.
        """
        system: list[str] = []
        turns: list[dict[str, str]] = []
        for part in self.receipt:
            if part.zone != "nette":
                system.append(part.text)
            elif part.role is Role.ANSWER:
                if part.body:
                    turns.append({"role": "assistant", "content": part.body})
            else:
                turns.append({"role": "user", "content": part.lead + part.body})
        above = "".join(system)
        return [{"role": "system", "content": above}, *turns] if above else turns

    def to_json(self) -> Mapping[str, object]:
        """Return the view for a JSON document."""
        return {
            "text": self.text,
            "chars": self.chars,
            "budget": self.budget,
            "gauge": self.gauge.to_json(),
            "cuts": [cut.to_json() for cut in self.cuts],
            "receipt": [part.to_json() for part in self.receipt],
        }
