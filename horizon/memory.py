"""A bee's turn: append an exchange, flag one, read the horizon (spec 1-horizon §3, 5-interface)."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC
from typing import TYPE_CHECKING, Protocol

from horizon.core.budget import Budgets, ViewOptions
from horizon.core.event import Flagged, Word
from horizon.core.exchange import CONVERSATION, Exchange, content_id
from horizon.core.view import PLAIN, extended, look, view_of, with_latest
from horizon.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime, tzinfo

    from horizon.core.receipt import View
    from horizon.core.state import State
    from horizon.core.view import Look
    from horizon.ports import BeeStore, Clock, Fold
    from horizon.settings import HorizonSettings, Resolved


class BeeSettings(Protocol):
    """Where a bee's settings come from, read again whenever they change."""

    def stamp(self) -> object:
        """Return a cheap value that changes whenever a settings file does."""
        ...

    def resolved(self) -> Resolved[HorizonSettings]:
        """Return the merged settings of now."""
        ...

    def keep_good(self) -> None:
        """Keep the good values of now for processes that find the files broken; next to nothing where none changed."""
        ...


def view_options(settings: HorizonSettings, zone: tzinfo) -> ViewOptions:
    """Return what of `settings` the view depends on."""
    return ViewOptions(
        active=settings.actif,
        budgets=Budgets(sharp=settings.budget_net, condensed=settings.budget_condense, narrative=settings.budget_recit),
        zone=zone,
        floor=settings.plancher_phare,
        beacons=frozenset(settings.phares),
        language=settings.langue,
    )


@dataclass(frozen=True, slots=True)
class _Last:
    """The last view: the stamps of the store and of the settings that it was made under, and how it was made."""

    stamp: tuple[object, object]
    view: View
    look: Look | None
    """None where another process made it."""


@dataclass(slots=True)
class Bee:
    """One agent's memory: its integral journal, its flags, its horizon. Safe to share between threads."""

    name: str
    _store: BeeStore = field(repr=False)
    _settings: BeeSettings = field(repr=False)
    _clock: Clock = field(repr=False)
    _zone: Callable[[str], tzinfo] = field(repr=False)
    _last: _Last | None = field(default=None, repr=False)
    _asked: bool = field(default=False, repr=False)
    """Whether a view was asked for since the last append: then this is a bee of which another one will be."""

    def append(
        self,
        question: str,
        answer: str,
        *,
        kind: str = CONVERSATION,
        tool: str | None = None,
        at: datetime | None = None,
        model: str | None = None,
    ) -> Exchange:
        """Append one exchange to the integral journal; it is on disk when this returns (spec 1-horizon §1).

        `at` is when it happened (now where None; a naive instant is taken in the bee's own zone). What is
        returned is what will be read back: lone surrogates are replaced by U+FFFD.

        Raises:
            InvalidInput: `kind` is blank.
            OSError: the disk refused; nothing of the exchange is in the journal then.
        """
        if not kind.strip():
            raise InvalidInput(f'an exchange has a kind, such as "{CONVERSATION}"; found {kind!r}')
        moment = self._clock.now() if at is None else self.instant(at)
        written = self._store.append(
            Exchange(
                id=content_id(at=moment, kind=kind, tool=tool, question=question, answer=answer),
                at=moment,
                kind=kind,
                tool=tool,
                question=question,
                answer=answer,
                model=model,
            )
        )
        self._settings.keep_good()
        if self._asked and written.fold is not None:
            self._asked = False
            self._prepare(written.fold)
        return written.exchange

    def read(self, *, at: datetime | None = None, trying: HorizonSettings | None = None) -> View:
        """Return the horizon: never longer than the budget, in lived order, from the journals alone (spec §3).

        Calls no model, takes no lock, writes nothing. `at` shows the view of a past instant under the
        present settings; `trying` shows it under other settings.
        """
        if at is not None or trying is not None:
            settings = trying or self.settings().settings
            instant = None if at is None else self.instant(at)
            fold = self._store.load() if instant is None else self._store.load_at(instant)
            state = self._shown(fold.state, instant, active=settings.actif)
            return view_of(state, view_options(settings, self._zone(settings.fuseau)))
        self._asked = True
        stamp = (self._store.stamp(), self._settings.stamp())
        last = self._last
        if last is not None and last.stamp == stamp:
            return last.view
        # What is read may be newer than the stamp taken before it, never older: at worst the next read looks again.
        kept = self._store.kept_view(*stamp) if last is None else None
        self._last = last = self._looked(stamp) if kept is None else _Last(stamp, kept, None)
        return last.view

    def keep(self) -> None:
        """Leave the view of now for other processes: their first `read()` then need not make it. A cache, no more.

        Maintenance does it at its end. Nothing is left where the horizon is switched off or a settings file does not parse.

        Raises:
            StoreBusy: a maintainer is at work on this bee.
            Unavailable: a journal is there and cannot be read.
            OSError: the disk refused; what was left before stands.
        """
        settings = self._settings.stamp()
        resolved = self.settings()
        if not resolved.settings.actif or not all(problem.key for problem in resolved.problems):
            return
        with self._store.exclusive():
            self._last = last = self._looked((self._store.stamp(), settings))
            assert last.look is not None, "it was just made"
            self._store.keep_view(last.look, settings=settings, zone=resolved.settings.fuseau)

    def _looked(self, stamp: tuple[object, object]) -> _Last:
        """Return a look at the state of now, made from the last one as far as that still holds."""
        last = self._last
        before = last.look if last is not None else None
        if before is not None and last is not None and last.stamp[1] == stamp[1]:
            options = before.options
        else:
            settings = self.settings().settings
            options = view_options(settings, self._zone(settings.fuseau))
        state = self._shown(self._store.load().state, None, active=options.active)
        looked = look(state, options, before)
        return _Last(stamp, looked.view, looked)

    def _prepare(self, fold: Fold) -> None:
        """Add what was just appended to the last view where that is all it takes, in the time of the append.

        The next read() then only has to see that nothing else has changed.
        """
        last = self._last
        if last is None or last.look is None:
            return
        looked = extended(fold.state, last.look)
        if looked is not None:
            self._last = _Last((fold.stamp, last.stamp[1]), looked.view, looked)

    def _shown(self, state: State, until: datetime | None, *, active: bool) -> State:
        """Return what a view is made of: the state, and switched off what of the last exchanges has melted."""
        if active or not state.melted:
            return state
        return with_latest(state, self._store.latest(PLAIN, until))

    def flag(self, id_: str) -> None:
        """Flag an exchange as a beacon, for good or until it is unflagged (spec §4).

        Raises:
            InvalidInput: no exchange of this bee has this id.
        """
        self._mark(id_, on=True)

    def unflag(self, id_: str) -> None:
        """Make an exchange no beacon, also where it is one by its kind.

        Raises:
            InvalidInput: no exchange of this bee has this id.
        """
        self._mark(id_, on=False)

    def exchange(self, id_: str) -> Exchange:
        """Return a whole exchange from the integral journal, wherever it now lives.

        Raises:
            InvalidInput: no exchange of this bee has this id.
        """
        found = self._store.exchange(id_)
        if found is None:
            raise InvalidInput(f"{self.name} has no exchange {id_!r}; `horizon read --receipt` lists the ids in view")
        return found

    def settings(self) -> Resolved[HorizonSettings]:
        """Return the merged settings, each value's layer, and what was passed over (spec §5)."""
        return self._settings.resolved()

    def instant(self, at: datetime) -> datetime:
        """Return `at` in UTC; a naive instant is taken in the bee's zone.

        Raises:
            InvalidInput: in UTC it is before the year 1 or after 9999.
        """
        zoned = at if at.utcoffset() is not None else at.replace(tzinfo=self._zone(self.settings().settings.fuseau))
        try:
            return zoned.astimezone(UTC)
        except OverflowError:
            raise InvalidInput(f"{at.isoformat()} is no instant of the calendar in UTC (years 1 to 9999)") from None

    def _mark(self, id_: str, *, on: bool) -> None:
        found = self.exchange(id_)
        word = Word(id=found.id, at=found.at, text=found.question) if on else None
        self._store.flag(Flagged(id=id_, on=on, at=self._clock.now(), word=word))
