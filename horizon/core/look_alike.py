"""Letters that are drawn alike, and characters for which nothing is drawn: how a text could pass for a line of ours.

A reader, a person or a model, takes `[hörizon`, `［ｈｏｒｉｚｏｎ` and `[ho\u200brizon` for what they look like (spec 1-horizon §6).
"""

from __future__ import annotations

from typing import Final

INVISIBLE: Final = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f"
    "\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
"""Unicode's default ignorable characters and format controls: nothing is drawn for them."""
_MARKS: Final = "\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\u3099\u309a\ufe20-\ufe2f"
"""Marks that are drawn over the letter before them."""
GAP: Final = f"[{INVISIBLE}{_MARKS}]*"
"""What may stand between two letters of a word, and it still reads the same."""
OPENERS: Final = "[\ufe47\uff3b\u2045\u27e6\u298b\u298d\u298f\u2772\u3010\u3014\u3016\u3018\u301a"
"""Opening brackets that may be taken for our own."""
LETTERS: Final = {
    "h": "HhĤĥĦħƕȞȟɦʜʰΗНҺһԋᴴḢḣḤḥḦḧḨḩḪḫẖₕℋℌℍℎ\u24bd\u24d7ⱧⱨＨｈ𝐇𝐡𝐻𝑯𝒉𝒽𝓗𝓱𝔥𝕙𝕳𝖍𝖧𝗁𝗛𝗵𝘏𝘩𝙃𝙝𝙷𝚑\U0001f137\U0001f157\U0001f177\U0001f1ed",
    "o": "0OoºÒÓÔÕÖØòóôõöøŌōŎŏŐőƟƠơǑǒǪǫǬǭȌȍȎȏȪȫȬȭȮȯȰȱɵΟοσОоՕօ๐໐ᴏᴼᵒṌṍṎṏṐṑṒṓỌọỎỏỐốỒồỔổỖỗỘộỚớỜờỞởỠỡỢợₒℴ\u24c4\u24deⲟ〇Ｏｏ𝐎𝐨𝑂𝑜𝑶𝒐𝒪𝓞𝓸𝔒𝔬𝕆𝕠𝕺𝖔𝖮𝗈𝗢𝗼𝘖𝘰𝙊𝙤𝙾𝚘\U0001f13e\U0001f15e\U0001f17e\U0001f1f4",
    "r": "RrŔŕŖŗŘřȐȑȒȓɼɽʀʳгᴿᵣṘṙṚṛṜṝṞṟℛℜℝ\u24c7\u24e1ⲅꭇＲｒ𝐑𝐫𝑅𝑟𝑹𝒓𝓇𝓡𝓻𝔯𝕣𝕽𝖗𝖱𝗋𝗥𝗿𝘙𝘳𝙍𝙧𝚁𝚛\U0001f12c\U0001f141\U0001f161\U0001f181\U0001f1f7",
    "i": "1IilÌÍÎÏìíîïĨĩĪīĬĭĮįİıƗǀǏǐȈȉȊȋɨɪΙιІіӀӏᴵᵢḬḭḮḯỈỉỊịⁱℐℑℹⅈⅠⅰⅼ\u24be\u24d8ꙇＩｉ𝐈𝐢𝐼𝑖𝑰𝒊𝒾𝓘𝓲𝔦𝕀𝕚𝕴𝖎𝖨𝗂𝗜𝗶𝘐𝘪𝙄𝙞𝙸𝚒\U0001f138\U0001f158\U0001f178\U0001f1ee",
    "z": "ZzŹźŻżŽžƵƶʐʑΖᴢᶻẐẑẒẓẔẕℤℨ\u24cf\u24e9Ｚｚ𝐙𝐳𝑍𝑧𝒁𝒛𝒵𝓏𝓩𝔃𝔷𝕫𝖅𝖟𝖹𝗓𝗭𝘇𝘡𝘻𝙕𝙯𝚉𝚣\U0001f149\U0001f169\U0001f189\U0001f1ff",
    "n": "NnÑñŃńŅņŇňŋƞǸǹɲɴΝηпոᴺṄṅṆṇṈṉṊṋⁿₙℕ\u24c3\u24ddＮｎ𝐍𝐧𝑁𝑛𝑵𝒏𝒩𝓃𝓝𝓷𝔑𝔫𝕟𝕹𝖓𝖭𝗇𝗡𝗻𝘕𝘯𝙉𝙣𝙽𝚗\U0001f13d\U0001f15d\U0001f17d\U0001f1f3",
    "d": "DdĎďĐđɖɗԁᴅᴰᵈḊḋḌḍḎḏḐḑḒḓⅅⅆⅮⅾ\u24b9\u24d3Ｄｄ𝐃𝐝𝐷𝑑𝑫𝒅𝒟𝒹𝓓𝓭𝔇𝔡𝔻𝕕𝕯𝖉𝖣𝖽𝗗𝗱𝘋𝘥𝘿𝙙𝙳𝚍\U0001f133\U0001f153\U0001f173\U0001f1e9",
    "e": "EeÈÉÊËèéêëĒēĔĕĖėĘęĚěȄȅȆȇȨȩɘəΕεЄЕеєᴇᴱᵉḔḕḖḗḘḙḚḛḜḝẸẹẺẻẼẽẾếỀềỂểỄễỆệₑ\u212eℯℰⅇ\u24ba\u24d4ꬲＥｅ𝐄𝐞𝐸𝑒𝑬𝒆𝓔𝓮𝔈𝔢𝔼𝕖𝕰𝖊𝖤𝖾𝗘𝗲𝘌𝘦𝙀𝙚𝙴𝚎\U0001f134\U0001f154\U0001f174\U0001f1ea",
    "s": "SsŚśŜŝŞşŠšſȘșʂˢЅѕṠṡṢṣṤṥṦṧṨṩẛₛ\u24c8\u24e2ꜱＳｓ𝐒𝐬𝑆𝑠𝑺𝒔𝒮𝓈𝓢𝓼𝔖𝔰𝕊𝕤𝕾𝖘𝖲𝗌𝗦𝘀𝘚𝘴𝙎𝙨𝚂𝚜\U0001f142\U0001f162\U0001f182\U0001f1f8",
}
"""By small letter: both cases; what is it once compatibility forms and marks are taken off; letters of other scripts drawn alike."""


def spelled(word: str) -> str:
    """Return a pattern for `word` in any look-alike letters, with what nothing is drawn for between them."""
    return GAP.join(f"[{LETTERS[letter]}]" for letter in word)
