"""What each zone holds, as rendered: its entries, its size, and the narrative composed to its room (spec 1-horizon §2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from horizon.core.beacon import is_beacon
from horizon.core.event import Section
from horizon.core.receipt import Cut, Role, Rule
from horizon.core.render import (
    NOTICE_PART,
    narrative_heading,
    only_marked,
    render_entry,
    render_older,
    render_question,
    render_section,
    render_word,
    shorten_end,
    words_heading,
)
from horizon.core.state import Zone, in_lived_order
from horizon.core.words import by_worth, visible_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

    from horizon.core.budget import Budgets, ViewOptions
    from horizon.core.event import Condensed, Narrated, Word
    from horizon.core.exchange import Exchange, Position
    from horizon.core.receipt import Part
    from horizon.core.state import State

NOTICE_CHARS: Final = NOTICE_PART.chars


class Item:
    """An exchange in view, in its zone. Rendered when first looked at, so that what is not shown costs nothing."""

    __slots__ = ("_chars", "_condensate", "_least", "_options", "_parts", "beacon", "exchange", "order", "zone")

    def __init__(self, position: Position, exchange: Exchange, zone: Zone, options: ViewOptions, state: State) -> None:
        self.order: tuple[datetime, Position] = (exchange.at, position)
        self.exchange = exchange
        self.zone = zone
        self.beacon: bool = is_beacon(exchange, state.flags, options.beacons)
        self._options = options
        self._condensate: Condensed | None = state.condensates.get(exchange.id) if zone is Zone.CONDENSED else None
        self._parts: tuple[Part, ...] | None = None
        self._least: tuple[Part, ...] | None = None
        self._chars = -1

    def is_of(self, exchange: Exchange, zone: Zone, state: State) -> bool:
        """Tell whether making this item anew from `exchange` in `zone` of `state` would give the same."""
        condensate = state.condensates.get(exchange.id) if zone is Zone.CONDENSED else None
        return (
            self.exchange is exchange
            and self.zone is zone
            and self._condensate is condensate
            and self.beacon == is_beacon(exchange, state.flags, self._options.beacons)
        )

    @property
    def parts(self) -> tuple[Part, ...]:
        """The whole entry."""
        if self._parts is None:
            self._parts = render_entry(
                self.exchange, self.zone, self._options, beacon=self.beacon, condensate=self._condensate
            )
        return self._parts

    @property
    def chars(self) -> int:
        """Length of the whole entry."""
        if self._chars < 0:
            self._chars = chars_of(self.parts)
        return self._chars

    @property
    def question_alone(self) -> Part:
        """The entry's question, where nothing is left of its answer."""
        return render_question(self.exchange, self.zone, self._options, beacon=self.beacon, alone=True)

    @property
    def least(self) -> tuple[Part, ...]:
        """The least that a beacon is shortened to: its question, and where it is sharp the marker of its answer."""
        if self._least is None:
            self._least = self.parts
            if len(self.parts) > 1 and self.zone is Zone.CONDENSED:
                self._least = (self.question_alone,)
            elif len(self.parts) > 1:
                marker = only_marked(self.parts[1], Rule.BEACON_ANSWER, self._options)
                if marker.chars < self.parts[1].chars:
                    self._least = (self.parts[0], marker)
        return self._least

    @property
    def own_chars(self) -> int:
        """Characters of the exchange's own texts that the whole entry shows."""
        return len(self.exchange.question) + self.answer_chars

    @property
    def answer_chars(self) -> int:
        """Characters of the answer, or of the condensate, that the whole entry shows."""
        if self.zone is Zone.CONDENSED:
            return len(self._condensate.text) if self._condensate is not None else 0
        return len(self.exchange.answer)


def chars_of(parts: Iterable[Part]) -> int:
    """Return the length of `parts` in the view."""
    return sum(part.chars for part in parts)


def entries(state: State, zone: Zone, options: ViewOptions, known: Mapping[Position, Item] | None = None) -> list[Item]:
    """Return the entries of the sharp or the condensed zone, oldest first.

    Those in `known`, made under the same options, are taken again, with what was rendered of them, where they would
    be the same.
    """
    held = in_lived_order(state.sharp if zone is Zone.SHARP else state.condensed)
    if not known:
        return [Item(position, exchange, zone, options, state) for position, exchange in held]
    found: list[Item] = []
    for position, exchange in held:
        item = known.get(position)
        if item is None or not item.is_of(exchange, zone, state):
            item = Item(position, exchange, zone, options, state)
        found.append(item)
    return found


def bounded_chars(items: Sequence[Item], most: int) -> int:
    """Return the size of `items`, or the size of enough of the newest to exceed `most`, without looking at the rest."""
    total = 0
    for item in reversed(items):
        total += item.chars
        if total > most:
            break
    return total


def rooms(budgets: Budgets) -> Budgets:
    """Return what the zones may fill so that, the notice paid, the view needs no hard cut."""
    return budgets.less(NOTICE_CHARS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Unshown:
    """Words that are counted and not shown: how many, and the instants they span."""

    count: int
    first: datetime
    last: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Narrative:
    """The narrative as composed: sections in the template's order, words oldest first."""

    options: ViewOptions
    sections: tuple[tuple[Section, Part], ...] = ()
    words: tuple[tuple[Word, Part], ...] = ()
    unshown: Unshown | None = None
    cuts: tuple[Cut, ...] = ()

    def section_parts(self, without: frozenset[Section] = frozenset()) -> list[Part]:
        """Return the heading and the sections but those in `without`; nothing where none is left."""
        parts = [part for section, part in self.sections if section not in without]
        return [narrative_heading(self.options), *parts] if parts else []

    def word_parts(self, dropped: int = 0) -> list[Part]:
        """Return the keeper's words without the `dropped` oldest, which are counted with those not shown."""
        unshown = _span(self.unshown, [word for word, _ in self.words[:dropped]])
        shown = [part for _, part in self.words[dropped:]]
        if not shown and unshown is None:
            return []
        parts = [words_heading(self.options)]
        if unshown is not None:
            parts.append(render_older(unshown.count, unshown.first, unshown.last, self.options))
        return parts + shown

    @property
    def parts(self) -> list[Part]:
        """The whole narrative."""
        return self.section_parts() + self.word_parts()


def compose_narrative(state: State, options: ViewOptions, room: int) -> Narrative:
    """Return the narrative in at most `room` characters; what does not go in is declared in its `cuts`.

    Words may take half of the room, or all that the sections leave free where that is more: flagged ones first,
    then standing orders, then the rest, newest first; a word is shown whole or counted. Sections share
    what the words leave; one that is over its share is cut at a sentence.
    """
    version = state.narrative
    whole = _sections(version, options)
    needed = chars_of(part for _, part in whole) + (narrative_heading(options).chars if whole else 0)
    words, unshown, cuts = _choose_words(state, options, min(max(room // 2, room - needed), room))
    chosen = Narrative(options=options, words=words, unshown=unshown)
    free = room - chars_of(chosen.word_parts())
    if needed <= free:
        sections = whole
    else:
        sections, section_cuts = _share(whole, free - narrative_heading(options).chars, options)
        cuts = [*section_cuts, *cuts]
    return Narrative(options=options, sections=tuple(sections), words=words, unshown=unshown, cuts=tuple(cuts))


def _sections(version: Narrated | None, options: ViewOptions) -> list[tuple[Section, Part]]:
    if version is None:
        return []
    return [
        (section, render_section(section, text, version.ids, version.by, options))
        for section in Section
        if (text := version.sections.get(section, "").strip())
    ]


def _share(
    sections: list[tuple[Section, Part]], room: int, options: ViewOptions
) -> tuple[list[tuple[Section, Part]], list[Cut]]:
    """Cut sections so that they fit together: each keeps an equal share, and what short ones leave goes to the others."""
    shares: dict[Section, int] = {}
    left, open_ = max(room, 0), len(sections)
    for section, part in sorted(sections, key=lambda item: item[1].chars):
        shares[section] = min(part.chars, left // open_)
        left -= shares[section]
        open_ -= 1
    kept: list[tuple[Section, Part]] = []
    cuts: list[Cut] = []
    for section, part in sections:
        fitting = (
            part
            if part.chars <= shares[section]
            else shorten_end(part, shares[section], Rule.ROOM, options, sentence=True)
        )
        if fitting is not None:
            kept.append((section, fitting))
        if fitting is not part:
            lost = len(part.body) - (len(fitting.body) if fitting is not None else 0)
            cuts.append(Cut(rule=Rule.ROOM, zone=Zone.MELTED, ids=part.ids, chars=lost, what=section))
    return kept, cuts


def _choose_words(
    state: State, options: ViewOptions, most: int
) -> tuple[tuple[tuple[Word, Part], ...], Unshown | None, list[Cut]]:
    """Return the words that fit in `most`, heading and counting line included, oldest first, and what is not shown."""
    candidates = visible_words(state)
    older = state.older_words
    beyond = Unshown(count=older.count, first=older.first, last=older.last) if older is not None else None
    if not candidates and beyond is None:
        return (), None, []
    frame = words_heading(options).chars
    if beyond is None and frame + sum(len(word.text) for word in candidates) <= most:
        rendered = [(word, render_word(word, options)) for word in candidates]
        if frame + chars_of(part for _, part in rendered) <= most:
            return tuple(rendered), None, []
    counted = _span(beyond, candidates)
    line = render_older(counted.count, counted.first, counted.last, options).chars if counted is not None else 0
    room = left = most - frame - line
    shown: dict[int, Part] = {}
    for words in by_worth(candidates, state) if left > 0 else ():
        for word in words:
            # An older word does not take the place of a newer one; one too long for any place is passed over.
            if len(word.text) > room:
                continue
            part = render_word(word, options)
            if part.chars <= left:
                shown[id(word)] = part
                left -= part.chars
            elif part.chars <= room:
                break
    hidden = [word for word in candidates if id(word) not in shown]
    cuts = (
        [
            Cut(
                rule=Rule.ROOM,
                zone=Zone.MELTED,
                ids=tuple(word.id for word in hidden),
                chars=sum(len(word.text) for word in hidden),
                what=Role.WORD,
            )
        ]
        if hidden
        else []
    )
    unshown = _span(beyond, hidden)
    if left < 0:
        unshown = None  # not even the counting line has room: the cut above still declares the words
    kept = tuple((word, shown[id(word)]) for word in candidates if id(word) in shown)
    return kept, unshown, cuts


def _span(unshown: Unshown | None, words: Sequence[Word]) -> Unshown | None:
    """Return `unshown` with `words` counted too."""
    instants = [word.at for word in words]
    count = len(words)
    if unshown is not None:
        instants += (unshown.first, unshown.last)
        count += unshown.count
    return Unshown(count=count, first=min(instants), last=max(instants)) if instants else None
