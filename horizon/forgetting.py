"""Forgetting: the one use case that may blank text in an integral journal (spec 1-horizon §1, §9).

Rules:

- Only what the keeper names is forgotten: an exchange by its id, or every exchange that holds a text.
- First what was derived is cleaned, then the journal is blanked, then caches are deleted: as long as the journal holds
  the text it can be looked for, so a run that was killed is made again by the same command and ends the same.
- What was forgotten is recorded by id and date, without its content.
- What remains is not guessed: the bytes of every file of the hive are searched, and files that hold any of it are named.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Protocol

from horizon.core.claims import folded
from horizon.core.oblivion import TEXT_LEAST, oblivion_of
from horizon.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from contextlib import AbstractContextManager
    from datetime import datetime

    from horizon.core.exchange import Exchange
    from horizon.core.oblivion import Oblivion, Place
    from horizon.ports import BeeStore, Clock


class Blankable(Protocol):
    """A bee's integral journal, for blanking in it."""

    def find(self, *, id_: str = "", named: str = "") -> Sequence[tuple[Exchange, Place]]:
        """Return the exchanges called `id_`, or with `named` (folded) in any field, with their places."""
        ...

    def others(self, ids: Iterable[str]) -> Iterator[Exchange]:
        """Yield every exchange but those called `ids`."""
        ...

    def derived(self, ids: Iterable[str]) -> Sequence[str]:
        """Return the condensed texts that were ever recorded for exchanges called `ids`."""
        ...

    def unfinished(self) -> Sequence[Place]:
        """Return the places that a killed run began to blank."""
        ...

    def begin(self, places: Iterable[Place], at: datetime) -> None:
        """Record durably what is to be blanked, without its content."""
        ...

    def blank(self, places: Iterable[Place], is_told: Callable[[str], bool]) -> int:
        """Blank `places`, and stray bytes that `is_told`, durably; return how many bytes changed."""
        ...

    def finish(self, ids: Iterable[str], at: datetime) -> None:
        """Record durably that it is done."""
        ...


class Scrubber(Protocol):
    """What was derived from the forgotten exchanges."""

    def exclusive_night(self) -> AbstractContextManager[None]:
        """Exclude the nights of the hive."""
        ...

    def scrub(self) -> Sequence[str]:
        """Clean every recorded text; return the files that were changed."""
        ...

    def discard_caches(self) -> None:
        """Delete what is made again by itself."""
        ...

    def remaining(self) -> Sequence[str]:
        """Return the files whose bytes still hold something."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgetReport:
    """What was forgotten, in ids and files; nothing of its content.

    `ids` are in journal order. `cleaned` are the files of derived texts that were changed, `remaining` those that
    still hold some of the text, `said_by` the ids of other exchanges that say some of the same.
    """

    hive: str
    bee: str
    ids: tuple[str, ...]
    blanked: int = 0
    """Bytes of the journal that were changed."""
    cleaned: tuple[str, ...] = ()
    remaining: tuple[str, ...] = ()
    said_by: tuple[str, ...] = ()

    def to_json(self) -> dict[str, object]:
        """Return the report for a JSON document."""
        return asdict(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Forgetting:
    """Forgetting in one bee's memory."""

    hive: str
    bee: str
    store: BeeStore
    journal: Blankable
    scrubber: Callable[[Sequence[Exchange], Sequence[str], Oblivion], Scrubber]
    """Makes the scrubber for exchanges, the ids of them and of those a killed run had begun, and what tells of them."""
    clock: Clock

    def find(self, *, id_: str = "", text: str = "") -> tuple[Exchange, ...]:
        """Return what would be forgotten, in journal order: the exchanges called `id_`, or those that hold `text`.

        Case, accents and line breaks of `text` do not matter. Reads only.

        Raises:
            InvalidInput: neither or both are given, `text` is too short, or no exchange is called `id_`.
        """
        return tuple(exchange for exchange, _ in self._find(id_, text))

    def forget(self, *, id_: str = "", text: str = "") -> ForgetReport:
        """Forget the exchanges called `id_`, or those that hold `text`; see the rules above.

        What was forgotten before stays so; an earlier run that was killed is finished.

        Raises:
            InvalidInput: as for `find`.
            StoreBusy: a maintainer or a night is at work, or a shared file is held by its owner.
            Unavailable: a file cannot be changed; the message says which. The same command goes on from there.
            OSError: the disk refused, likewise.
        """
        with self.store.exclusive():
            begun = self.journal.unfinished()
            chosen = self._find(id_, text)
            exchanges = tuple(exchange for exchange, _ in chosen)
            ids = tuple(dict.fromkeys([*(exchange.id for exchange in exchanges), *(place.id for place in begun)]))
            derived = self.journal.derived(ids)
            oblivion, said_by = oblivion_of(exchanges, derived, text=text, others=self.journal.others(ids))
            scrubber = self.scrubber(exchanges, ids, oblivion)
            with scrubber.exclusive_night():
                places = [*begun, *(place for _, place in chosen)]
                self.journal.begin(places, self.clock.now())
                cleaned = scrubber.scrub()
                blanked = self.journal.blank(places, oblivion.finder())
                scrubber.discard_caches()
                self.journal.finish(ids, self.clock.now())
            self.store.refold()
        return ForgetReport(
            hive=self.hive,
            bee=self.bee,
            ids=ids,
            blanked=blanked,
            cleaned=tuple(cleaned),
            remaining=tuple(scrubber.remaining()),
            said_by=said_by,
        )

    def _find(self, id_: str, text: str) -> Sequence[tuple[Exchange, Place]]:
        if bool(id_) == bool(text):
            raise InvalidInput("name either the exchange's id or a text that it holds")
        named = folded(text)
        if text and len(named.replace(" ", "")) < TEXT_LEAST:
            raise InvalidInput(f"a text to forget has at least {TEXT_LEAST} characters; {text!r} stands in too much")
        found = self.journal.find(id_=id_, named=named)
        if id_ and not found:
            raise InvalidInput(
                f"{self.bee} has no exchange {id_!r}; `horizon read --receipt` lists the ids in view, "
                "`horizon recall` finds others"
            )
        return found
