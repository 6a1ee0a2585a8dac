"""Commands that find again: recall, why."""

from __future__ import annotations

from dataclasses import asdict
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from horizon import wiring
from horizon.cli.output import DONE
from horizon.core.event import TRUNCATION
from horizon.core.fact import Trust
from horizon.errors import InvalidInput

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Mapping, Sequence

    from horizon.cli.output import Output
    from horizon.recall import Hit, Why

ANSWER_SHOWN: Final = 400
"""Characters of an exchange's answer that `why` shows people; `--json` has the whole."""


def recall(args: Namespace, out: Output) -> int:
    """Print what is found, best first, each with its date and address."""
    today = wiring.open_home(args.home).yesterday() + timedelta(days=1)
    out.settings(wiring.passed_over(args.home))
    query: str = args.query or ""  # argparse gives a list where "--" is all that was asked
    hits = wiring.open_recall(args.home).recall(query, today=today, as_of=args.as_of, limit=args.limit)
    out.result(
        {"home": str(args.home), "query": query, "hits": [_hit(hit) for hit in hits]},
        lambda: _show_hits(hits, out),
    )
    return DONE


def _hit(hit: Hit) -> Mapping[str, object]:
    return {
        **asdict(hit),
        "day": hit.day.isoformat(),
        "at": hit.at.isoformat(),
        "until": None if hit.until is None else hit.until.isoformat(),
    }


def _show_hits(hits: Sequence[Hit], out: Output) -> None:
    if not hits:
        out.line("nothing found")
    for hit in hits:
        until = f" (held until {hit.until})" if hit.until else ""
        review = " (kept for review)" if hit.quarantined else ""
        out.line(f"{hit.day}  {hit.kind}  {hit.snippet}{until}{review}")
        out.line(f"            {hit.address}")


def why(args: Namespace, out: Output) -> int:
    """Print a fact's quoted words and the exchanges that they come from.

    Raises:
        InvalidInput: the home knows of no such fact.
    """
    found = wiring.open_recall(args.home).why(args.fact)
    out.settings(wiring.passed_over(args.home))
    if found is None:
        raise InvalidInput(f"no fact {args.fact!r} in {args.home}; `horizon recall` shows facts with their ids")
    out.result(_why(found), lambda: _show_why(found, out))
    return DONE


def _why(found: Why) -> Mapping[str, object]:
    fact = found.fact
    return {
        "id": fact.id,
        "text": fact.text,
        "trust": str(fact.trust),
        "held": [
            {"since": span.since.isoformat(), "until": None if span.until is None else span.until.isoformat()}
            for span in fact.spans
        ],
        "superseded_by": None
        if found.superseded_by is None
        else {"id": found.superseded_by.id, "text": found.superseded_by.text},
        "cites": [
            {
                "address": cited.address,
                "day": cited.day.isoformat(),
                "by": cited.by,
                "quotes": list(cited.quotes),
                "exchange": None
                if cited.exchange is None
                else {**asdict(cited.exchange), "at": cited.exchange.at.isoformat()},
            }
            for cited in found.cited
        ],
    }


def _show_why(found: Why, out: Output) -> None:
    out.line(found.fact.text)
    for span in found.fact.spans:
        out.line(f"  held from {span.since}" + (f" until {span.until}" if span.until else ", and still does"))
    if found.fact.trust is Trust.UNTRUSTED:
        out.line("  kept for review: it reads like an instruction, and is never injected")
    if found.superseded_by is not None:
        out.line(f"  since then: {found.superseded_by.text}")
    for cited in found.cited:
        out.line()
        out.line(f"{cited.day}  {cited.address}  {_reader(cited.by)}")
        for quote in cited.quotes:
            out.line(f"  « {quote} »")
        if cited.exchange is None:
            out.line("  the exchange is no longer in its source")
        else:
            answer = cited.exchange.answer
            left = len(answer) - ANSWER_SHOWN
            out.line(f"  {cited.exchange.question}")
            out.line(f"  {answer[:ANSWER_SHOWN]}{f'… ({left} more characters)' if left > 0 else ''}")


def _reader(by: str) -> str:
    return f"read by {by}" if by not in {"", TRUNCATION} else "word for word, as the keeper asked"
