"""What tells of forgotten exchanges, and other texts without it (spec 1-horizon §1, §9).

Rules:

- The text that the keeper names is told wherever it stands, in any case and with any accents.
- A text that was made of a forgotten exchange may stay but for the sentences that tell of it: that stand in it, have
  a run of its words, one of the things (paths, numbers, names…) that only it names, or most of its telling words.
- In doubt a sentence goes: what is derived can be made again, what is forgotten must not be.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from horizon.core.claims import folded
from horizon.core.condensation import STRIP_END, STRIP_JOINT, sentences
from horizon.core.fidelity import evidence
from horizon.core.narrative import INDEX_MARK
from horizon.core.redaction import redact

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from horizon.core.exchange import Exchange, Position

TEXT_LEAST: Final = 3
"""Fewest characters, blanks aside, of a text to forget: fewer would stand in nearly every exchange."""
RUN_WORDS: Final = 5
"""Words in a row that nobody says twice by chance; fewer are turns of phrase."""
TOLD_SHARE: Final = 0.6
"""A sentence tells of an exchange where this share of its telling words are that exchange's."""
TOLD_LEAST: Final = 3
"""Fewest telling words of a sentence for which a share means anything."""
THING_LEAST: Final = 4
"""Shortest thing that tells: "12" or "ls" stand in anything."""
THINGS_MOST: Final = 200
"""Things of one exchange that are looked for, the most telling first: bounds what one huge answer costs."""
FRAGMENT_LEAST: Final = 16
"""Shortest sentence whose bytes are looked for in files: shorter ones are said by chance."""
FRAGMENTS_MOST: Final = 400
"""Sentences of one exchange that are looked for, from its beginning."""

_WORD: Final = re.compile(r"[一-鿿぀-ヿ]|[^\W_]+")
_TELLING: Final = re.compile(r"[一-鿿]{2}|[^\W_]{4,}")
_STAMP: Final = re.compile(r"^\d{4}-\d{2}-\d{2}(?: \d{2}:\d{2})? : ")
"""The date that code puts before a line of the narrative."""


def strings(value: object) -> Iterator[str]:
    """Yield every text in a JSON value, keys aside."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():  # pyright: ignore[reportUnknownVariableType]  # JSON
            yield from strings(item)  # pyright: ignore[reportUnknownArgumentType]  # JSON
    elif isinstance(value, list):
        for item in value:  # pyright: ignore[reportUnknownVariableType]  # JSON
            yield from strings(item)  # pyright: ignore[reportUnknownArgumentType]  # JSON


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where an exchange stands in the journal, in (uncompressed) bytes, and the record that takes its place."""

    id: str
    position: Position
    length: int
    record: str
    """JSON of at most `length` bytes; "" where none fits, and blanks take its place."""

    @property
    def data(self) -> bytes:
        """The bytes that take its place."""
        return self.record.encode().ljust(self.length)


@dataclass(frozen=True, slots=True, kw_only=True)
class Oblivion:
    """What is to be forgotten, ready to be looked for. `oblivion_of` makes it."""

    named: str = ""
    """The keeper's text, folded; "" where she named exchanges by their id."""
    own: str = ""
    """All that the exchanges say, folded, in one text."""
    runs: frozenset[tuple[str, ...]] = frozenset()
    things: frozenset[str] = frozenset()
    words: frozenset[str] = frozenset()
    fragments: frozenset[str] = frozenset()
    """What may stand in no file any more, as it was written; the keeper's text among it, folded only in case."""

    def names(self, text: str) -> bool:
        """Tell whether `text` holds the keeper's text."""
        return bool(self.named) and self.named in folded(text)

    def tells(self, sentence: str) -> bool:
        """Tell whether a sentence of a text that was made of a forgotten exchange tells of it."""
        said = folded(_STAMP.sub("", sentence)).strip(" .…⟨⟩·")
        if not _WORD.search(said):
            return False
        if (self.named and self.named in said) or said in self.own:
            return True
        found = _WORD.findall(said)
        if any(tuple(found[at : at + RUN_WORDS]) in self.runs for at in range(len(found) - RUN_WORDS + 1)):
            return True
        if any(thing in said for thing in self.things):
            return True
        telling = set(_TELLING.findall(said))
        return len(telling) >= TOLD_LEAST and len(telling & self.words) >= TOLD_SHARE * len(telling)

    def without(self, text: str, is_told: Callable[[str], bool]) -> str:
        """Return `text` without the sentences that `is_told`; a line of which none does stays as it is.

        Of a line of bare things only those go that do.
        """
        lines: list[str] = []
        for line in text.split("\n"):
            bare = line.startswith(INDEX_MARK) and line.endswith(STRIP_END)
            pieces = line[len(INDEX_MARK) : -len(STRIP_END)].split(STRIP_JOINT) if bare else sentences(line)
            kept = [piece for piece in pieces if not is_told(piece)]
            whole = len(kept) == len(pieces) and not is_told(line)
            if whole or not pieces:
                lines.append(line)
                continue
            left = f"{INDEX_MARK}{STRIP_JOINT.join(kept)}{STRIP_END}" if bare else " ".join(kept)
            if kept and not is_told(left) and not _STAMP.fullmatch(left + " "):
                lines.append(left)
        return "\n".join(lines)

    def finder(self) -> Callable[[str], bool]:
        """Return what tells whether a text, as a file has it, holds a fragment or the keeper's text; case does not matter."""
        forms = self.forms()

        def stands_in(text: str) -> bool:
            said = text.casefold()
            return any(form in said for form in forms) or self.names(text)

        return stands_in

    def forms(self) -> tuple[str, ...]:
        """Return the fragments as files may have them, JSON's escapes included, case folded, each once."""
        found: dict[str, None] = {}
        for fragment in sorted(self.fragments):
            for form in (fragment, json.dumps(fragment, ensure_ascii=False)[1:-1], json.dumps(fragment)[1:-1]):
                found[form.casefold()] = None
        return tuple(found)


def is_named(named: str, texts: Iterable[str]) -> bool:
    """Tell whether one of `texts` holds `named`, which is folded."""
    return any(named in folded(text) for text in texts)


def oblivion_of(
    exchanges: Sequence[Exchange], derived: Sequence[str], *, text: str = "", others: Iterable[Exchange] = ()
) -> tuple[Oblivion, tuple[str, ...]]:
    """Return what is to be looked for once `exchanges` are forgotten, and the ids of other exchanges that say the same.

    `derived` are texts made of them (condensed answers), `text` what the keeper named. What `others` say too does
    not tell of the forgotten ones alone, and is left out.
    """
    own: list[str] = []
    told: list[str] = [*derived]
    things: dict[str, None] = {}
    fragments: dict[str, None] = {}
    for exchange in exchanges:
        said = (exchange.question, exchange.answer)
        own += [*said, *map(redact, said)]
        told += [exchange.question[:2_000], exchange.answer[:2_000]]
        named = [folded(thing) for thing in evidence("", said)]
        things |= dict.fromkeys([thing for thing in named if len(thing) >= THING_LEAST][:THINGS_MOST])
        pieces = [piece for part in said for piece in (part, *part.split("\n"), *sentences(part))]
        fragments |= dict.fromkeys(
            [piece for piece in map(str.strip, pieces) if len(piece) >= FRAGMENT_LEAST][:FRAGMENTS_MOST]
        )
    shared: dict[str, None] = {}
    if things or fragments:
        for other in others:
            said = f"{other.question}\n{other.answer}"
            known = folded(said)
            for thing in [thing for thing in things if thing in known]:
                del things[thing]
            for fragment in [fragment for fragment in fragments if fragment in said]:
                shared[other.id] = None
                del fragments[fragment]
    if text:
        fragments[text.strip()] = None
    words = [_WORD.findall(folded(part)) for part in (*own, *derived)]
    oblivion = Oblivion(
        named=folded(text),
        own="\n".join(folded(part) for part in (*own, *derived)),
        runs=frozenset(
            tuple(found[at : at + RUN_WORDS]) for found in words for at in range(len(found) - RUN_WORDS + 1)
        ),
        things=frozenset(things),
        words=frozenset(word for part in told for word in _TELLING.findall(folded(part))),
        fragments=frozenset(fragments),
    )
    return oblivion, tuple(shared)
