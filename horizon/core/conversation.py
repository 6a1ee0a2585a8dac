"""Conversations of other programs, and how they become exchanges (spec 5-interface, `import`).

Rules:

- What the keeper says opens an exchange; several messages in a row are one question. All that the assistant says
  until the keeper speaks again is its answer. A tool's use is an exchange of its own: its input and its output.
- Ids come from content alone, so the same conversation gives the same ids wherever its file is and whenever it is
  read. The same words said twice at one instant, or without any date, are told apart by counting.
- What has no date takes that of what stands before it, else of what comes after, else the one given for the whole.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from enum import Enum
from typing import TYPE_CHECKING, Final

from horizon.core.exchange import CONVERSATION, Exchange, content_id

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

TOOL_KIND: Final = "outil"
"""Kind of an exchange with a tool."""
UNDATED: Final = datetime(1970, 1, 1, tzinfo=UTC)
"""Stands for the date in the id of what has none, so that the id does not depend on what is made up for it."""


class Speaker(Enum):
    """Who said something."""

    KEEPER = "keeper"
    ASSISTANT = "assistant"


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """A message; `at` is None where its file does not date it."""

    speaker: Speaker
    text: str
    at: datetime | None = None
    model: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Used:
    """A tool's use: what it was given and what it gave back."""

    tool: str
    given: str
    gave: str = ""
    at: datetime | None = None
    model: str | None = None


Turn = Said | Used


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """What a file holds: its format's name, its exchanges in date order, and what was left out, counted by reason."""

    form: str
    exchanges: tuple[Exchange, ...]
    left_out: Mapping[str, int] = field(default_factory=dict[str, int])


@dataclass(slots=True)
class _Open:
    """An exchange that is still being said."""

    asked: list[str]
    answered: list[str]
    at: datetime | None
    model: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """An exchange without its final date; `id` is "" where its file gives none."""

    question: str
    answer: str
    at: datetime | None
    id: str = ""
    kind: str = CONVERSATION
    tool: str | None = None
    model: str | None = None


def drafts(turns: Iterable[Turn]) -> list[Draft]:
    """Return one conversation's exchanges in the order in which they began; blank ones are left out."""
    found: list[Draft | _Open] = []
    current: _Open | None = None
    for turn in turns:
        match turn:
            case Used():
                found.append(
                    Draft(
                        question=turn.given,
                        answer=turn.gave,
                        at=turn.at,
                        kind=TOOL_KIND,
                        tool=turn.tool,
                        model=turn.model,
                    )
                )
            case Said(speaker=Speaker.KEEPER):
                if current is None or current.answered:
                    current = _Open([], [], turn.at)
                    found.append(current)
                current.asked.append(turn.text)
            case Said():
                if current is None:
                    current = _Open([], [], turn.at)
                    found.append(current)
                current.answered.append(turn.text)
                current.model = turn.model or current.model
    closed = (
        each
        if isinstance(each, Draft)
        else Draft(
            question="\n\n".join(filter(str.strip, each.asked)),
            answer="\n\n".join(filter(str.strip, each.answered)),
            at=each.at,
            model=each.model,
        )
        for each in found
    )
    return [draft for draft in closed if draft.question.strip() or draft.answer.strip()]


def exchanges(conversations: Iterable[Sequence[Draft]], *, saved: datetime) -> tuple[Exchange, ...]:
    """Return all exchanges of `conversations` with ids and dates, by date; those of one instant stay in order.

    `saved` (aware) is when the file was last written: a conversation without any date ended then, a second
    for each exchange.
    """
    seen: Counter[str] = Counter()
    found: list[Exchange] = []
    for conversation in conversations:
        for draft, at in zip(conversation, _dates(conversation, saved), strict=True):
            id_ = draft.id
            if not id_:
                id_ = content_id(
                    at=draft.at or UNDATED,
                    kind=draft.kind,
                    tool=draft.tool,
                    question=draft.question,
                    answer=draft.answer,
                )
                seen[id_] += 1
                if seen[id_] > 1:
                    id_ = f"{id_}-{seen[id_]}"
            found.append(
                Exchange(
                    id=id_,
                    at=at,
                    question=draft.question,
                    answer=draft.answer,
                    kind=draft.kind,
                    tool=draft.tool,
                    model=draft.model,
                )
            )
    return tuple(sorted(found, key=lambda exchange: exchange.at))


def _dates(conversation: Sequence[Draft], saved: datetime) -> list[datetime]:
    last = next((draft.at for draft in conversation if draft.at is not None), None)
    if last is None:
        return [saved - timedelta(seconds=len(conversation) - 1 - index) for index in range(len(conversation))]
    dates: list[datetime] = []
    for draft in conversation:
        last = draft.at or last
        dates.append(last)
    return dates
