"""Payment cards' numbers: their issuers' ranges, the ways they are grouped, and their check digit (spec 1-horizon §7)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

_GAP: Final = r"[ .\u00a0\u2009\u202f-]"
SIGN: Final = re.compile(r"\d{14}|\d{4}[ .\u00a0\u2009\u202f-]\d{4}")
"""What stands in every card's number."""
_CARD: Final = re.compile(
    rf"(?<![\d,-])(?<!\d\.)(?<![A-Z]{{2}}\d\d )(?P<number>\d{{4}}(?P<gap>{_GAP})\d{{4}}(?P=gap)\d{{4}}(?P=gap)\d{{4}}(?P<more>(?P=gap)\d{{3}})?"
    rf"|\d{{4}}(?P<odd>{_GAP})\d{{6}}(?P=odd)\d{{4,5}}|\d{{13,19}})(?![\d]|[.,-]\d|(?P=gap)\d{{4}})"
)
"""Not within an IBAN, a decimal, nor a longer row of groups."""
_ISSUERS: Final = tuple(
    (re.compile(prefix), lengths)
    for prefix, lengths in (
        ("4", (16, 19)),
        ("5[1-5]|222[1-9]|22[3-9]|2[3-6]|27[01]|2720", (16,)),
        ("3[47]", (15,)),
        ("3(?:0[0-5]|[689])", (14, 16, 17, 18, 19)),
        ("6011|64[4-9]|65", (16, 19)),
        ("62|8[12]", (16, 17, 18, 19)),
        ("352[89]|35[3-8]", (16, 17, 18, 19)),
        ("220[0-4]", (16, 17, 18, 19)),
        ("50|5[6-8]|6[37]", (16, 18, 19)),
    )
)
"""How the numbers of each kind of card begin, and how many digits they have (ISO/IEC 7812)."""
TEST_NUMBERS: Final = frozenset(
    {
        "4242424242424242",
        "4111111111111111",
        "5555555555554444",
        "378282246310005",
        "6011111111111117",
        "4000000000000002",
    }
)
"""Numbers that payment companies publish for tests."""


def without_cards(text: str, mask: str) -> str:
    """Return `text` with `mask` in the place of every number that a card may have; test numbers stay."""
    return _CARD.sub(_masked_by(mask), text)


def _masked_by(mask: str) -> Callable[[re.Match[str]], str]:
    def one(found: re.Match[str]) -> str:
        written, more = found["number"], found["more"] or ""
        if _is_card(written):
            return mask
        # the three digits behind sixteen are the card's second secret
        return mask if more and _is_card(written.removesuffix(more)) else written

    return one


def _is_card(written: str) -> bool:
    digits = [int(char) for char in written if char.isdecimal()]
    number = "".join(map(str, digits))
    if number in TEST_NUMBERS or len(set(digits)) < 4:
        return False
    if not any(prefix.match(number) and len(number) in lengths for prefix, lengths in _ISSUERS):
        return False
    doubled = [digit * 2 - 9 * (digit > 4) if place % 2 else digit for place, digit in enumerate(reversed(digits))]
    return sum(doubled) % 10 == 0
