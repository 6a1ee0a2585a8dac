r"""Text from others is data: nothing in it can pass for a line of ours (spec 1-horizon §3, §6).

Every structural line of a view begins with `[horizon`. Where a text has these letters itself, in any case, in
look-alike letters or with invisible characters between them, one backslash is put before the first letter
(`[\horizon`), and one more where it has backslashes already (`[\\horizon`), so that it can be taken out again.
Every other text stays exactly as it was typed.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

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
_OURS: Final = re.compile(
    f"[{re.escape(_OPENERS)}]{_GAP}(\\\\{_GAP})*(?P<name>{_GAP.join(f'[{letters}]' for letters in _LETTERS)})"
)


def escape(text: str) -> str:
    """Return `text` with one more backslash in each place where it could pass for a line of ours."""
    if not any(opener in text for opener in _OPENERS):
        return text
    return _OURS.sub(_with_backslash, text)


def unescape(text: str) -> str:
    """Return what `escape` was given: `unescape(escape(text)) == text` for any text."""
    return _OURS.sub(_without_backslash, text)


def marks(text: str) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each place in `text`, escaped or not, where a cut would break a mark; in order."""
    for found in _OURS.finditer(text):
        yield found.span()


def _with_backslash(found: re.Match[str]) -> str:
    before = found.start("name") - found.start()
    return f"{found[0][:before]}\\{found[0][before:]}"


def _without_backslash(found: re.Match[str]) -> str:
    before = found.start("name") - found.start()
    if found[0][before - 1] != "\\":
        return found[0]
    return found[0][: before - 1] + found[0][before:]
