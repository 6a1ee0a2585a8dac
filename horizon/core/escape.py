r"""Text from others is data: nothing in it can pass for a line of ours (spec 1-horizon §3, §6).

Every structural line of a view begins with `[horizon`. Where a text has these letters itself, in any case, in
look-alike letters or with invisible characters between them, one backslash is put before the first letter
(`[\horizon`), and one more where it has backslashes already (`[\\horizon`), so that it can be taken out again.
Every other text stays exactly as it was typed.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final

MARK: Final = "[horizon"
"""How each structural line begins."""

_OPENERS: Final = "[\ufe47\uff3b"
_INVISIBLE: Final = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f"
    "\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
"""Unicode's default ignorable characters and format controls: nothing is drawn for them."""
_LETTERS: Final = (
    # The letter in both cases; then what compatibility folding (NFKC) makes it; then letters of other scripts drawn alike.
    "Hhʰᴴₕℋℌℍℎ\u24bd\u24d7Ｈｈ𝐇𝐡𝐻𝑯𝒉𝒽𝓗𝓱𝔥𝕙𝕳𝖍𝖧𝗁𝗛𝗵𝘏𝘩𝙃𝙝𝙷𝚑\U0001f137НһҺΗ",
    "Ooºᴼᵒₒℴ\u24c4\u24deＯｏ𝐎𝐨𝑂𝑜𝑶𝒐𝒪𝓞𝓸𝔒𝔬𝕆𝕠𝕺𝖔𝖮𝗈𝗢𝗼𝘖𝘰𝙊𝙤𝙾𝚘\U0001f13eОоΟοՕօ0",
    "Rrʳᴿᵣℛℜℝ\u24c7\u24e1Ｒｒ𝐑𝐫𝑅𝑟𝑹𝒓𝓇𝓡𝓻𝔯𝕣𝕽𝖗𝖱𝗋𝗥𝗿𝘙𝘳𝙍𝙧𝚁𝚛\U0001f12c\U0001f141г",
    "IiᴵᵢⁱℐℑℹⅈⅠⅰ\u24be\u24d8Ｉｉ𝐈𝐢𝐼𝑖𝑰𝒊𝒾𝓘𝓲𝔦𝕀𝕚𝕴𝖎𝖨𝗂𝗜𝗶𝘐𝘪𝙄𝙞𝙸𝚒\U0001f138ІіΙιıİӀӏl1",
    "Zzᶻℤℨ\u24cf\u24e9Ｚｚ𝐙𝐳𝑍𝑧𝒁𝒛𝒵𝓏𝓩𝔃𝔷𝕫𝖅𝖟𝖹𝗓𝗭𝘇𝘡𝘻𝙕𝙯𝚉𝚣\U0001f149Ζᴢ",
    "Ooºᴼᵒₒℴ\u24c4\u24deＯｏ𝐎𝐨𝑂𝑜𝑶𝒐𝒪𝓞𝓸𝔒𝔬𝕆𝕠𝕺𝖔𝖮𝗈𝗢𝗼𝘖𝘰𝙊𝙤𝙾𝚘\U0001f13eОоΟοՕօ0",
    "Nnᴺⁿₙℕ\u24c3\u24ddＮｎ𝐍𝐧𝑁𝑛𝑵𝒏𝒩𝓃𝓝𝓷𝔑𝔫𝕟𝕹𝖓𝖭𝗇𝗡𝗻𝘕𝘯𝙉𝙣𝙽𝚗\U0001f13dΝпո",
)
_GAP: Final = f"[{_INVISIBLE}]*"
_REST: Final = f"{_GAP}(\\\\{_GAP})*(?P<name>{_GAP.join(f'[{letters}]' for letters in _LETTERS)})"
_OURS_IN_ASCII: Final = re.compile(r"\[\\*(?P<name>[Hh][Oo0][Rr][Iil1][Zz][Oo0][Nn])")


def escape(text: str) -> str:
    """Return `text` with one more backslash in each place where it could pass for a line of ours."""
    for pattern in _patterns(text):
        text = pattern.sub(_with_backslash, text)
    return text


def unescape(text: str) -> str:
    """Return what `escape` was given: `unescape(escape(text)) == text` for any text."""
    for pattern in _patterns(text):
        text = pattern.sub(_without_backslash, text)
    return text


def marks(text: str) -> list[tuple[int, int]]:
    """Return the start and end of each place in `text`, escaped or not, where a cut would break a mark; in order."""
    return sorted(found.span() for pattern in _patterns(text) for found in pattern.finditer(text))


def _patterns(text: str) -> list[re.Pattern[str]]:
    """Return the patterns that can match in `text`; most texts have no bracket, or are plain ASCII."""
    if text.isascii():
        return [_OURS_IN_ASCII] if "[" in text else []
    return [_ours(opener) for opener in _OPENERS if opener in text]


@cache
def _ours(opener: str) -> re.Pattern[str]:
    """Return the pattern for one opening bracket: beginning with one literal character, it is found much faster."""
    return re.compile(re.escape(opener) + _REST)


def _with_backslash(found: re.Match[str]) -> str:
    before = found.start("name") - found.start()
    return f"{found[0][:before]}\\{found[0][before:]}"


def _without_backslash(found: re.Match[str]) -> str:
    before = found.start("name") - found.start()
    if found[0][before - 1] != "\\":
        return found[0]
    return found[0][: before - 1] + found[0][before:]
