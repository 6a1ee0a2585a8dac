"""The hard cut: what is sacrificed so that a view is never longer than its budget (spec 1-horizon §3).

Nine classes, sacrificed in this order, each only once nothing is left in the one before:

1   condensed entries that are not beacons, oldest first
2   the narrative's sections, by worth (`SECTIONS_BY_WORTH`)
3   sharp entries that are not beacons, oldest first
4a  the condensates of condensed beacons, oldest first: the question stays
4b  the answers of sharp beacons, oldest first: shortened, with a marker and an address
4c  the keeper's words, oldest first
4d  beacon entries, oldest first
4e  the latest exchange's answer
4f  its question, from the middle
4g  the notice

The latest exchange is untouched before 4e. Within a class the cut stops as soon as the view fits; what it has shortened
stays shortened, so the result depends on the state and the budget alone. Entries are looked at from the
newest and only as far as they can fit, so that a zone that was never maintained costs no more than a full view.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from horizon.core.event import Section
from horizon.core.receipt import Cut, Rule
from horizon.core.render import NOTICE_PART, bare_middle, only_marked, shorten_end, shorten_middle
from horizon.core.state import Zone
from horizon.core.zone import bounded_chars, chars_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from horizon.core.budget import ViewOptions
    from horizon.core.exchange import Position
    from horizon.core.receipt import Part
    from horizon.core.zone import Item, Narrative

SECTIONS_BY_WORTH: Final = (
    Section.ERRORS,
    Section.FILES,
    Section.DECISIONS,
    Section.NEXT_STEP,
    Section.IN_PROGRESS,
    Section.MISSION,
)
"""In which order rule 2 drops sections: what the agent can find again first, what it is there for last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fitted:
    """The parts that are shown, in the view's order, and what was cut, in the order of the rules."""

    parts: tuple[Part, ...]
    cuts: tuple[Cut, ...]


def fit(
    condensed: Sequence[Item],
    sharp: Sequence[Item],
    narrative: Narrative,
    options: ViewOptions,
    *,
    most: int,
    notice: bool,
) -> Fitted:
    """Return what of a view fits in `most` characters, by the rules above.

    `condensed` and `sharp` are oldest first; `notice` tells whether the notice is there even if nothing is cut. The parts
    together are never longer than `most`, whatever it is.
    """
    above = chars_of(narrative.parts)
    size = above + (NOTICE_PART.chars if notice else 0)
    size += bounded_chars(sharp, most - size)
    if size <= most:
        size += bounded_chars(condensed, most - size)
    if size <= most:
        return _whole(condensed, sharp, narrative, notice=notice)
    return _Cutting(condensed, sharp, narrative, options, most).run()


def _whole(condensed: Sequence[Item], sharp: Sequence[Item], narrative: Narrative, *, notice: bool) -> Fitted:
    parts = narrative.parts
    for item in condensed:
        parts += item.parts
    if notice:
        parts.append(NOTICE_PART)
    for item in sharp:
        parts += item.parts
    return Fitted(parts=tuple(parts), cuts=())


class _Cutting:
    """One run of the hard cut over a view that does not fit."""

    def __init__(
        self, condensed: Sequence[Item], sharp: Sequence[Item], narrative: Narrative, options: ViewOptions, most: int
    ) -> None:
        self.options = options
        self.most = most
        self.narrative = narrative
        self.latest = sharp[-1] if sharp else None
        self.plain_condensed = [item for item in condensed if not item.beacon]
        self.plain_sharp = [item for item in sharp[:-1] if not item.beacon]
        self.condensed_beacons = [item for item in condensed if item.beacon]
        self.sharp_beacons = [item for item in sharp[:-1] if item.beacon]
        self.cuts: list[Cut] = []
        self.sections: list[Part] = []
        self.words: list[Part] = narrative.word_parts()
        self.shown: list[tuple[Item, tuple[Part, ...]]] = []
        self.notice: list[Part] = [NOTICE_PART]
        self.latest_parts: tuple[Part, ...] = self.latest.parts if self.latest is not None else ()

    def run(self) -> Fitted:
        room = self.most - NOTICE_PART.chars - chars_of(self.latest_parts)
        beacons = sorted(self.condensed_beacons + self.sharp_beacons, key=_order)
        free = room - chars_of(self.words)
        held = bounded_chars(beacons, free)
        if held <= free:
            self.shown += [(item, item.parts) for item in beacons]
            self._cut_plain(free - held)
        else:
            self._drop(self.plain_condensed, Rule.CONDENSED)
            self._drop_sections(len(SECTIONS_BY_WORTH))
            self._drop(self.plain_sharp, Rule.SHARP)
            self._cut_protected(beacons, room)
            if room < 0:
                self._cut_latest()
        return self._fitted()

    def _cut_plain(self, room: int) -> None:
        """Rules 1 to 3: `room` is what beacons, words, the latest exchange and the notice leave."""
        sharp = bounded_chars(self.plain_sharp, room)
        sections = self.narrative.section_parts()
        if sharp + chars_of(sections) <= room:
            self.sections = sections
            self.shown += [(item, item.parts) for item in self.plain_sharp]
            self._keep_newest(self.plain_condensed, room - sharp - chars_of(sections), Rule.CONDENSED)
            return
        self._drop(self.plain_condensed, Rule.CONDENSED)
        for count in range(1, len(SECTIONS_BY_WORTH) + 1):
            left = self.narrative.section_parts(frozenset(SECTIONS_BY_WORTH[:count]))
            if sharp + chars_of(left) <= room:
                self.sections = left
                self._drop_sections(count)
                break
        else:
            self._drop_sections(len(SECTIONS_BY_WORTH))
        self._keep_newest(self.plain_sharp, room, Rule.SHARP)

    def _cut_protected(self, beacons: list[Item], room: int) -> None:
        """Rules 4a to 4d: `room` is what the latest exchange and the notice leave."""
        least: list[tuple[Item, tuple[Part, ...]]] = []
        size = 0
        for item in reversed(beacons):
            parts = item.least
            size += chars_of(parts)
            if size > room:
                break
            least.append((item, parts))
        least.reverse()
        if size + chars_of(self.words) <= room:
            self._shorten_beacons(beacons, room - chars_of(self.words))
            return
        self.shown = least
        self._declare_shortened()
        self._drop_words(room - size)
        self._drop(beacons[: len(beacons) - len(least)], Rule.BEACON)

    def _shorten_beacons(self, beacons: list[Item], room: int) -> None:
        """Rules 4a and 4b, as far as needed; they are known to be enough."""
        excess = sum(item.chars for item in beacons) - room
        for zone in (Zone.CONDENSED, Zone.SHARP):
            for item in beacons:
                if item.zone is not zone:
                    continue
                parts = item.parts
                if excess > 0:
                    parts = self._less(item, excess)
                    excess -= item.chars - chars_of(parts)
                self.shown.append((item, parts))
        self._declare_shortened()

    def _less(self, item: Item, excess: int) -> tuple[Part, ...]:
        """Return a beacon shortened by `excess` characters where it can be, else the least that it sinks to."""
        least = item.least
        if item.zone is Zone.CONDENSED or item.chars - chars_of(least) <= excess:
            return least
        question, answer = item.parts
        shortened = shorten_end(answer, answer.chars - excess, Rule.BEACON_ANSWER, self.options)
        assert shortened is not None, "there is room for more than the marker"
        return (question, shortened)

    def _declare_shortened(self) -> None:
        for rule, zone in ((Rule.BEACON_CONDENSATE, Zone.CONDENSED), (Rule.BEACON_ANSWER, Zone.SHARP)):
            touched = [(item, parts) for item, parts in self.shown if item.zone is zone and parts is not item.parts]
            if touched:
                hidden = [item.answer_chars if len(parts) == 1 else parts[1].hidden for item, parts in touched]
                ids = tuple(item.exchange.id for item, _ in touched)
                self.cuts.append(Cut(rule=rule, zone=zone, ids=ids, chars=sum(hidden)))

    def _drop_words(self, room: int) -> None:
        """Rule 4c."""
        words = self.narrative.words
        dropped = 0
        while self.words and chars_of(self.words) > room:
            dropped += 1
            self.words = self.narrative.word_parts(dropped) if dropped <= len(words) else []
        gone = [word for word, _ in words[:dropped]]
        if dropped:
            self.cuts.append(
                Cut(
                    rule=Rule.WORDS,
                    zone=Zone.MELTED,
                    ids=tuple(word.id for word in gone),
                    chars=sum(len(word.text) for word in gone),
                )
            )

    def _drop_sections(self, count: int) -> None:
        """Rule 2 for the `count` least worthy sections."""
        parts = dict(self.narrative.sections)
        for section in SECTIONS_BY_WORTH[:count]:
            if section in parts:
                part = parts[section]
                self.cuts.append(
                    Cut(rule=Rule.NARRATIVE, zone=Zone.MELTED, ids=part.ids, chars=len(part.body), what=section)
                )

    def _keep_newest(self, items: list[Item], room: int, rule: Rule) -> None:
        """Show the newest of `items` that fit in `room` and drop the others."""
        first = len(items)
        while first > 0 and items[first - 1].chars <= room:
            first -= 1
            room -= items[first].chars
        self.shown += [(item, item.parts) for item in items[first:]]
        self._drop(items[:first], rule)

    def _drop(self, items: list[Item], rule: Rule) -> None:
        for zone in (Zone.CONDENSED, Zone.SHARP):
            gone = [item for item in items if item.zone is zone]
            if gone:
                self.cuts.append(
                    Cut(
                        rule=rule,
                        zone=zone,
                        ids=tuple(item.exchange.id for item in gone),
                        chars=sum(item.own_chars for item in gone),
                    )
                )

    def _cut_latest(self) -> None:
        """Rules 4e to 4g: nothing else is left but the notice."""
        if self.latest is None:
            self._drop_notice()
            return
        question, *answers = self.latest.parts
        room = self.most - NOTICE_PART.chars
        if answers:
            shortened = shorten_end(answers[0], room - question.chars, Rule.LATEST_ANSWER, self.options)
            hidden = shortened.hidden if shortened is not None else self.latest.answer_chars
            self._declare_latest(Rule.LATEST_ANSWER, hidden)
            if shortened is not None:
                self.latest_parts = (question, shortened)
                return
            question = self.latest.question_alone
        cut = self._fit_question(question, room)
        if cut is None:
            self._drop_notice()
            cut = self._fit_question(question, self.most)
        if cut is None or cut.cut is not None:
            hidden = cut.hidden if cut is not None else len(self.latest.exchange.question)
            self._declare_latest(Rule.LATEST_QUESTION, hidden)
        self.latest_parts = (cut,) if cut is not None else ()

    def _fit_question(self, question: Part, room: int) -> Part | None:
        """Return as much of the latest question as `room` holds, at least where it is found; None where not even that fits.

        Of a first character that is longer than the room, as combining marks can make one, only the marker stands.
        """
        if question.chars <= room:
            return question
        shortened = shorten_middle(question, room, Rule.LATEST_QUESTION, self.options)
        shortened = shortened or bare_middle(question, room, Rule.LATEST_QUESTION)
        marked = only_marked(question, Rule.LATEST_QUESTION, self.options)
        return shortened or (marked if marked.chars <= room else None)

    def _declare_latest(self, rule: Rule, chars: int) -> None:
        assert self.latest is not None
        self.cuts.append(Cut(rule=rule, zone=Zone.SHARP, ids=(self.latest.exchange.id,), chars=chars))

    def _drop_notice(self) -> None:
        self.notice = []
        self.cuts.append(Cut(rule=Rule.NOTICE, zone=None, ids=(), chars=len(NOTICE_PART.body)))

    def _fitted(self) -> Fitted:
        parts = self.sections + self.words
        shown = sorted(self.shown, key=lambda shown: shown[0].order)
        for item, rendered in shown:
            if item.zone is Zone.CONDENSED:
                parts += rendered
        parts += self.notice
        for item, rendered in shown:
            if item.zone is Zone.SHARP:
                parts += rendered
        parts += self.latest_parts
        self.cuts.sort(key=lambda cut: cut.rule)
        return Fitted(parts=tuple(parts), cuts=tuple(self.cuts))


def _order(item: Item) -> tuple[datetime, Position]:
    return item.order
