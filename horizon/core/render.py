"""How exchanges and the narrative are written into a view; what is written here is what every budget counts.

A view is a sequence of parts, each with its own separators, so that its length is the sum of theirs and a zone's size is
the sum of its parts. Lines of ours begin with `[horizon`, which no text from others can (`escape`). Dates are absolute and
local; nothing depends on the present instant, so a text keeps its beginning for as long as its exchanges stay.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from horizon.core.escape import MARK, escape, unescape
from horizon.core.event import VERBATIM, Section
from horizon.core.grapheme import head_end, tail_start
from horizon.core.receipt import Part, Role
from horizon.core.state import Zone

if TYPE_CHECKING:
    from datetime import datetime, tzinfo

    from horizon.core.budget import ViewOptions
    from horizon.core.event import Condensed, Word
    from horizon.core.exchange import Exchange
    from horizon.core.receipt import Rule

NOTICE: Final = "[horizon : le passé plus ancien est condensé ci-dessus ; l'historique intégral vit au journal]"
"""Tells the agent that volume is missing and where it lives; word for word as specified, in every language."""
NOTICE_PART: Final = Part(role=Role.NOTICE, zone=None, body=NOTICE, trail="\n")


@dataclass(frozen=True, slots=True, kw_only=True)
class Labels:
    """The words of our own lines in one language."""

    keeper: str
    bee: str
    condensed: str
    beacon: str
    narrative: str
    words: str
    word: str
    sections: dict[Section, str]
    cut: str
    whole: str
    older: str
    one_older: str


LABELS: Final = {
    "fr": Labels(
        keeper="Lui :",
        bee="Toi :",
        condensed="condensé",
        beacon="phare",
        narrative="récit de soi",
        words="paroles de l'apicultrice",
        word="parole",
        sections={
            Section.MISSION: "mission",
            Section.DECISIONS: "décisions",
            Section.FILES: "fichiers",
            Section.ERRORS: "erreurs",
            Section.IN_PROGRESS: "en cours",
            Section.NEXT_STEP: "prochaine étape",
        },
        cut="caractères coupés",
        whole="en entier au journal :",
        older="{count} autres paroles, du {first} au {last}, vivent au journal",
        one_older="1 autre parole, du {first}, vit au journal",
    ),
    "en": Labels(
        keeper="Keeper:",
        bee="You:",
        condensed="condensed",
        beacon="beacon",
        narrative="story of self",
        words="the keeper's words",
        word="word",
        sections={
            Section.MISSION: "mission",
            Section.DECISIONS: "decisions",
            Section.FILES: "files",
            Section.ERRORS: "errors",
            Section.IN_PROGRESS: "in progress",
            Section.NEXT_STEP: "next step",
        },
        cut="characters cut",
        whole="whole in the journal:",
        older="{count} other words, from {first} to {last}, live in the journal",
        one_older="1 other word, of {first}, lives in the journal",
    ),
}
"""By `langue`. The headings of the sections are those of the narrative's template."""

_ELLIPSIS: Final = "…"
_FIELD_MOST: Final = 80
"""Most characters of a kind's or a tool's name in a header: names are short, and a header spends budget."""
_PLAIN: Final = re.compile(r"[\w.:+/-]{1,80}")
"""Names that are what they are in a header too: nearly all."""
_UNPRINTABLE: Final = re.compile(r"[\s\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]+")
_SENTENCE_END: Final = re.compile(r"[.!?…][\"'»”)\]]*(?=\s)|[。！？]|\n")


def day(at: datetime, zone: tzinfo) -> str:
    """Return the local date of `at` as YYYY-MM-DD."""
    return minute(at, zone)[:10]


def minute(at: datetime, zone: tzinfo) -> str:
    """Return `at` as a local YYYY-MM-DD HH:MM; in UTC where the calendar ends before the zone's date."""
    try:
        local = at.astimezone(zone)
    except OverflowError:
        local = at
    return local.isoformat(" ", "minutes")[:16]


def _name(text: str, most: int | None = None) -> str:
    """Return a name as a header's field: on one line, never taken for a field or an end of ours."""
    if _PLAIN.fullmatch(text):
        return text
    name = _UNPRINTABLE.sub(" ", text).strip()
    if most is not None and len(name) > most:
        name = f"{name[: head_end(name, most)]}…"
    return escape(name).replace("·", "\\·").replace("]", "\\]")


def header(exchange: Exchange, zone: Zone, options: ViewOptions, *, beacon: bool) -> str:
    """Return the line that opens an entry. Our own marks stand before the date, names from others after it."""
    labels = LABELS[options.language]
    fields = ["horizon"]
    if zone is Zone.CONDENSED:
        fields.append(labels.condensed)
    if beacon:
        fields.append(labels.beacon)
    fields += (minute(exchange.at, options.zone), _name(exchange.kind, _FIELD_MOST))
    if exchange.tool:
        fields.append(_name(exchange.tool, _FIELD_MOST))
    fields.append(_name(exchange.id))
    return f"[{' · '.join(fields)}] {labels.keeper}\n"


def render_entry(
    exchange: Exchange, zone: Zone, options: ViewOptions, *, beacon: bool, condensate: Condensed | None = None
) -> tuple[Part, ...]:
    """Return an entry's parts: its question, and its answer where there is one. A condensed one gives its condensate."""
    if zone is Zone.CONDENSED:
        answer, by = (condensate.text, condensate.by) if condensate is not None else ("", VERBATIM)
    else:
        answer, by = exchange.answer, VERBATIM
    question = render_question(exchange, zone, options, beacon=beacon, alone=not answer)
    if not answer:
        return (question,)
    return (
        question,
        Part(
            role=Role.ANSWER,
            zone=zone,
            lead=f"{MARK}] {LABELS[options.language].bee}\n",
            body=escape(answer),
            trail="\n\n",
            ids=(exchange.id,),
            by=by,
        ),
    )


def render_question(exchange: Exchange, zone: Zone, options: ViewOptions, *, beacon: bool, alone: bool) -> Part:
    """Return an entry's header and question; `alone` where no answer follows."""
    return Part(
        role=Role.QUESTION,
        zone=zone,
        lead=header(exchange, zone, options, beacon=beacon),
        body=escape(exchange.question),
        trail="\n\n" if alone else "\n",
        ids=(exchange.id,),
        by=VERBATIM,
    )


def render_section(section: Section, text: str, ids: tuple[str, ...], by: str, options: ViewOptions) -> Part:
    """Return one section of the narrative under its heading."""
    return Part(
        role=Role.SECTION,
        zone=Zone.MELTED,
        lead=f"{MARK} · {LABELS[options.language].sections[section]}]\n",
        body=escape(text),
        trail="\n",
        ids=ids,
        by=by,
    )


def narrative_heading(options: ViewOptions) -> Part:
    """Return the line that opens the narrative."""
    return Part(role=Role.HEADING, zone=Zone.MELTED, lead=f"{MARK} · {LABELS[options.language].narrative}]\n")


def words_heading(options: ViewOptions) -> Part:
    """Return the line that opens the keeper's words."""
    return Part(role=Role.HEADING, zone=Zone.MELTED, lead=f"{MARK} · {LABELS[options.language].words}]\n")


def render_word(word: Word, options: ViewOptions) -> Part:
    """Return the keeper's words of one exchange, exactly as typed, under their date and address."""
    return Part(
        role=Role.WORD,
        zone=Zone.MELTED,
        lead=f"{MARK} · {LABELS[options.language].word} · {minute(word.at, options.zone)} · {_name(word.id)}]\n",
        body=escape(word.text),
        trail="\n",
        ids=(word.id,),
        by=VERBATIM,
    )


def render_older(count: int, first: datetime, last: datetime, options: ViewOptions) -> Part:
    """Return the line that counts and dates the words that are not shown."""
    labels = LABELS[options.language]
    said = (labels.one_older if count == 1 else labels.older).format(
        count=count, first=day(first, options.zone), last=day(last, options.zone)
    )
    return Part(role=Role.OLDER_WORDS, zone=Zone.MELTED, lead=f"{MARK} · {said}]\n")


def cut_mark(chars: int, id_: str | None, options: ViewOptions) -> str:
    """Return the marker that says how many characters were cut and under which address the whole is found."""
    labels = LABELS[options.language]
    where = f" ; {labels.whole} {_name(id_)}" if id_ is not None else ""
    return f"{MARK} · {chars} {labels.cut}{where}]"


def shorten_end(part: Part, most: int, rule: Rule, options: ViewOptions, *, sentence: bool = False) -> Part | None:
    """Return `part` cut at its end to at most `most` characters, with a marker; None where not even the marker fits.

    With `sentence`, the cut falls at the end of a sentence where one stands in the second half of what fits.
    """
    room = most - len(only_marked(part, rule, options).text) - 1
    if room < -1:
        return None
    end = head_end(part.body, max(room, 0))
    if sentence:
        end = head_end(part.body, len(part.body[: _sentence_end(part.body, end)].rstrip()))
    return _marked(part, end, rule, options)


def only_marked(part: Part, rule: Rule, options: ViewOptions) -> Part:
    """Return `part` with nothing but the marker in place of its body: the least that it can be shortened to."""
    return _marked(part, 0, rule, options)


def _marked(part: Part, end: int, rule: Rule, options: ViewOptions) -> Part:
    id_ = None if part.role is Role.SECTION else part.ids[-1]
    mark = cut_mark(len(unescape(part.body[end:])), id_, options)
    return _replaced(part, part.body[:end], mark, "", rule)


def shorten_middle(part: Part, most: int, rule: Rule, options: ViewOptions) -> Part | None:
    """Return `part` cut in its middle to at most `most` characters, with a marker; None where nothing of it fits."""
    frame = len(part.lead) + len(part.trail) + 2 + len(cut_mark(len(part.body), part.ids[-1], options))
    end, start = _middle(part.body, most - frame)
    if end == 0 and start == len(part.body):
        return None
    mark = cut_mark(len(unescape(part.body[end:start])), part.ids[-1], options)
    return _replaced(part, part.body[:end], mark, part.body[start:], rule)


def bare_middle(part: Part, most: int, rule: Rule) -> Part | None:
    """Return what fits of the body alone, without its header, an ellipsis in its middle; None where nothing fits."""
    mark = ""
    if len(part.body) <= most:
        end = start = len(part.body)
    else:
        end, start = _middle(part.body, most - len(_ELLIPSIS))
        mark = _ELLIPSIS
        if end == 0 and start == len(part.body):
            end, mark = head_end(part.body, max(most, 0)), ""
    if end == 0 and start == len(part.body):
        return None
    return Part(
        role=part.role,
        zone=part.zone,
        body=f"{part.body[:end]}{mark}{part.body[start:]}",
        ids=part.ids,
        by=part.by,
        cut=rule,
        hidden=len(unescape(part.body[end:start])),
    )


def _middle(text: str, most: int) -> tuple[int, int]:
    """Return where the middle to take out of `text` starts and ends so that at most `most` characters are left."""
    if most <= 0:
        return 0, len(text)
    end = head_end(text, (most + 1) // 2)
    return end, tail_start(text, max(end, len(text) - (most - end)))


def _replaced(part: Part, head: str, mark: str, tail: str, rule: Rule) -> Part:
    """Return `part` with `mark`, on a line of its own, in place of what stood between `head` and `tail`."""
    body = "\n".join(piece for piece in (head, mark, tail) if piece)
    hidden = len(unescape(part.body)) - len(unescape(head)) - len(unescape(tail))
    return Part(
        role=part.role,
        zone=part.zone,
        lead=part.lead,
        body=body,
        trail=part.trail,
        ids=part.ids,
        by=part.by,
        cut=rule,
        hidden=hidden,
    )


def _sentence_end(text: str, most: int) -> int:
    """Return where the last sentence that ends by `most` ends, if that is not before its half; else `most`."""
    found = most
    for end in _SENTENCE_END.finditer(text, most // 2, most + 1):
        if end.end() <= most:
            found = end.end()
    return found
