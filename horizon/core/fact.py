"""A fact: one durable sentence, when two are the same, and which are not to be believed (spec 2-consolidation §3, §4).

Rules:

- Same means: equal after folding Unicode, case, space and end punctuation; or the same words in the same order
  but for articles, accents and plurals (a leading phrase may stand at the end). So two sentences that differ in a
  number, a date, a name, a negation, or in who did what to whom, are never the same.
- A sentence that tells an agent what to do is kept for review and never injected: `Trust.UNTRUSTED`.
- What the keeper asks to be remembered is a fact word for word, with no model.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import date, datetime

SOURCE: Final = "consolidation"
"""The `source` of our facts in files that we share."""
FACT_MOST: Final = 400
"""Longest fact, in characters: a sentence. The owner injects facts by the dozen."""
FACT_LEAST: Final = 8
"""Shortest fact, in characters of which some are letters: less is no sentence ("Oui.")."""
FACT_LEAST_CJK: Final = 4
"""The same for a fact with CJK characters, each of which is a word or half of one."""


class Trust(StrEnum):
    """Whether a fact may be injected; the words are the shared file's."""

    AUTO = "auto"
    """Found by a model and proven by what it cites."""
    TRUSTED = "trusted"
    """The keeper asked for it to be remembered."""
    UNTRUSTED = "untrusted"
    """Reads like an instruction: kept for review, never injected."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Quote:
    """Words that prove a fact: found as they stand in the exchange at `address`."""

    address: str
    words: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """A believed (or quarantined) sentence of one day.

    `at` is the instant of the latest exchange it cites, so that running a night later changes nothing;
    `cites` are addresses of exchanges, in lived order, never empty; `quotes` may be empty.
    """

    text: str
    day: date
    at: datetime
    trust: Trust
    cites: tuple[str, ...]
    quotes: tuple[Quote, ...] = ()
    said_by_keeper: bool = False
    """Whether the keeper's own words hold it, not only an agent's answer."""

    def __post_init__(self) -> None:
        if not self.cites:
            raise ValueError("a fact cites at least one exchange")
        if self.text != one_line(self.text) or not self.text:
            raise ValueError(f"a fact is one line of text, not {self.text!r}")

    @property
    def id(self) -> str:
        """The fact's id: the same for the same folded text."""
        return fact_id(self.text)


def fact_id(text: str) -> str:
    """Return the id of a fact's text: 16 hexadecimal digits of its folded form."""
    return hashlib.sha256(folded(text).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def one_line(text: str) -> str:
    """Return `text` on one line: no control, separator or lone surrogate in it, single spaces, none at the ends.

    U+2028, U+2029, U+0085 and control characters would break the line of the shared file for its owner.
    """
    if not text.isascii():
        text = _NOTHING.sub("", text)
    return " ".join(_BREAKS.sub(" ", text).split())


_BREAKS: Final = re.compile("[\x00-\x1f\x7f-\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]")
"""Controls, separators, and spaces of other kinds: the Unicode categories Cc, Zl, Zp, Zs."""
_NOTHING: Final = re.compile("[\ud800-\udfff\ufeff\ufffe\uffff]")
"""Lone surrogates, byte order marks and what is no character: they stand for nothing."""


_RAISED: Final = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹₀₁₂₃₄₅₆₇₈₉", "01234567890123456789")
_POWER = re.compile(r"([⁰¹²³⁴⁵⁶⁷⁸⁹]+|[₀₁₂₃₄₅₆₇₈₉]+)")
_FRACTION = re.compile(r"(?<=\d)(?=[¼-¾⅐-⅞])")
_UNUSUAL: Final = re.compile("[⁰¹²³⁴⁵⁶⁷⁸⁹₀₁₂₃₄₅₆₇₈₉¼-¾⅐-⅞]")
_ALIKE: Final = (
    *(("'", each) for each in "’‘ʼ"),
    *(('"', each) for each in "«»“”"),
    *(("-", each) for each in "‐‑"),
)
_QUOTED: Final = re.compile(r'"\s*([^"]*?)\s*"')
_CLOSE_UP: Final = ":;!?%€$"
"""Before these a space is a matter of taste."""
_END_MARKS: Final = " .!?…;:,。！？；：，、"


@lru_cache(maxsize=16)  # a fact's id, near key and subject are asked for one after the other
def folded(text: str) -> str:
    """Return `text` after Unicode (NFKC), case, space and end-punctuation folding.

    A power or index stays one (10⁵ is not 105), quotation marks and apostrophes of all kinds are alike.
    """
    if text.isascii():
        text = text.lower()
    else:
        if _UNUSUAL.search(text):
            text = _POWER.sub(lambda run: f"^{run[1].translate(_RAISED)}", text)
            text = _FRACTION.sub(" ", text)
        text = unicodedata.normalize("NFKC", _alike(text)).casefold()
        text = _alike(unicodedata.normalize("NFKC", text))
    text = " ".join(text.split())
    if '"' in text:
        text = _QUOTED.sub(r'"\1"', text)
    for sign in _CLOSE_UP:
        text = text.replace(f" {sign}", sign)
    return text.strip(_END_MARKS)


def _alike(text: str) -> str:
    for sign, written in _ALIKE:
        text = text.replace(written, sign)
    return text


_CJK = re.compile(r"[㐀-鿿豈-﫿぀-ヿ가-힯]")
_ARTICLES: Final = frozenset(["le", "la", "les", "l", "un", "une", "des", "the", "a", "à", "an"])
"""Words that a near key leaves out; « à » among them, for without its accent it looks like the English article."""
_BEFORE_NUMBERS: Final = frozenset(["au", "le", "la", "en", "on", "in", "at", "for"])
_NEGATIONS: Final = frozenset(
    [
        "ne",
        "n",
        "pas",
        "plus",
        "jamais",
        "aucun",
        "aucune",
        "sans",
        "ni",
        "rien",
        "non",
        "not",
        "no",
        "never",
        "none",
        "without",
        "nor",
        "neither",
        "cannot",
        "t",
        "don",
        "doesn",
        "didn",
        "isn",
        "wasn",
        "won",
        "can",
        "couldn",
        "shouldn",
    ]
)
"""Words that never count as an article, whatever they look like after folding."""
_TOKEN = re.compile(
    # bounded as such things are, so that no long run of their letters is gone over again from each of them
    r"https?://\S+|[\w.+-]{1,64}@[\w-]{1,64}\.[\w.-]+|(?:[\w.-]{0,64}[/\\]){1,64}[\w.-]+"  # addresses and paths, whole
    r"|[^\W\d_][^\W_]{0,64}(?:[._-][^\W_]+)+"  # file names, versions, compounds, whole
    r"|[-+]?\d+(?:[.,:/-]\d+)*|[^\W\d_]+|[%€$£°^+#&=<>≤≥]",
)


@lru_cache(maxsize=1 << 14)  # words come again and again
def _bare(word: str) -> str:
    """Return a word without accents, and without the plural's s where it is long enough to have one."""
    plain = word
    if not word.isascii():
        plain = "".join(char for char in unicodedata.normalize("NFD", word) if not unicodedata.combining(char))
    return plain[:-1] if len(plain) > 4 and plain.endswith("s") and not plain.endswith("ss") else plain


_NAMED: Final = re.compile(r"(?<=[\w,;:'’»)] )[^\W\d_a-z][\w'’-]+")
"""Words with a capital inside a sentence, and all that begin with no small letter from a to z."""
NEAR_VERSION: Final = 1
"""Raised when `near_key` comes to give another key for some text: what was kept by the old ones is then made again."""


@lru_cache(maxsize=1 << 12)  # a night asks for a fact's key in the day, in the shared file, and in the ledger
def near_key(text: str) -> tuple[str, ...]:
    """Return what two nearly equal facts share: their words in order, articles, accents and plurals aside.

    Numbers, dates, negations and every other word stay. Names (capitals inside a sentence, and all with a
    digit, dot or slash) keep accents and ending. A rotation of four words or more counts as one order
    ("since 2019 Marie lives in Lyon").
    """
    names = {found.casefold() for found in _NAMED.findall(text)}
    words = _tokens(text)
    key: list[str] = []
    for at, word in enumerate(words):
        if word in _ARTICLES and word not in _NEGATIONS:
            continue
        following = words[at + 1] if at + 1 < len(words) else ""
        if word in _BEFORE_NUMBERS and following[:1].isdigit():
            continue
        key.append(_bare(word) if word.isalpha() and word not in names else word)
    if not 4 <= len(key) <= FACT_MOST:  # longer than any fact of ours: nobody turns such a text round
        return tuple(key)
    first = min(key)  # the least rotation begins with the least word
    return min(tuple(key[at:] + key[:at]) for at, word in enumerate(key) if word == first)


@lru_cache(maxsize=16)  # as for `folded`
def _tokens(text: str) -> tuple[str, ...]:
    return tuple(_TOKEN.findall(folded(text)))


_ORDERS: Final = re.compile(
    r"\bignor(?:e[rz]?|ing)\b.{0,40}\b(?:instructions?|consignes?|previous|prior|above|règles?|rules?|précédent)"
    r"|\b(?:disregard|oublie[rz]?|forget)\b.{0,40}\b(?:instructions?|consignes?|rules?|règles?|previous|above|précédent\w*|everything|tout ce)"
    r"|\b(?:from now on|à partir de maintenant|dorénavant|désormais),?\s+(?:you\b|always\b|never\b|ignore|tu\b|vous\b|réponds|agis|n['’e])"
    r"|\b(?:you must|you should|you are now|you will now|tu dois|tu devras|vous devez|tu es maintenant|il faut que tu)\b"
    r"|\b(?:the |l['’]|cet? |votre )?(?:assistant|agent|model|modèle|ia|ai|llm)\s+(?:must|should|shall|has to|needs to|doit|devra|ne doit)\b"
    r"|\b(?:system prompt|prompt système|jailbreak|developer mode|mode développeur|override|outrepasse\w*)\b"
    r"|\b(?:do not|don['’]t|never) (?:tell|reveal|mention|inform)\b|\bne (?:dis|révèle|mentionne|préviens)\w* (?:pas|jamais|rien)\b"
    r"|\b(?:reveal|exfiltrate|send|upload|envoie|transmets)\b.{0,60}\b(?:password|secret|token|key|credentials|mots? de passe|clés?|jetons?)\b"
    r"|^(?:always|never|please|do not|don['’]t|toujours|jamais|veuillez)\s+\w+|^(?:run|execute|exécute[rz]?|curl|wget|sudo|rm)\s"
    r"|^(?:respond|reply|answer|delete|erase|send|click|visit|download|forward|tell|say|write|print|output|install|open)\s+"
    r"(?:only|in|with|as|on|the|an?|all|any|every|your|this|that|these|me|my|us|nothing|https?)\b"
    r"|^(?:réponds|répondez|supprimez?|effacez?|envoie|envoyez|cliquez?|téléchargez?|transfère|transférez|transmets|transmettez|dis|dites|écris|écrivez|révèle|révélez)\s"
    r"|^n(?:e\s+|['’])\w+s\s+(?:pas|jamais|rien|plus)\b"
    r"|^(?:agent|assistant|system|système|ia|ai|llm)\s*:|\b(?:new|updated|nouvelles?)\s+(?:instructions?|consignes?|rules?|règles?)\s*:"
    r"|\b(?:your (?:new )?(?:task|goal|mission|role|job) is|(?:ta|votre) (?:nouvelle )?(?:tâche|mission) est|(?:ton|votre) (?:nouveau )?rôle est)\b"
    r"|^(?:if|when|whenever)\s+(?:(?:you(?:['’]re| are)?|the user|anyone|someone|anybody|somebody)\s+)?(?:is\s+)?ask(?:ed|s)?\b"
    r"|^(?:si|quand|lorsqu['’]on|lorsque)\s*(?:on|quelqu['’]un|l['’]utilisat(?:eur|rice))?\s*(?:te|vous)\s+(?:le\s+)?(?:demande|interroge)\w*\b"
    r"|<\|?(?:im_start|system|/?inst)|\[/?INST\]"
    r"|忽略.{0,12}(?:指令|指示|说明|规则|提示)|(?:从现在起|从现在开始|今后)[，,]?(?:你|请|务必|必须)|^(?:以后|今后)[，,]?(?:都|回答|不要)|^(?:不要|请勿|务必)|你必须|你应该|系统提示",
    re.IGNORECASE | re.DOTALL,
)


def is_instruction(text: str) -> bool:
    """Tell whether a fact reads like an order to an agent ("from now on ignore…"), in French, English or Chinese."""
    return _ORDERS.search(unicodedata.normalize("NFKC", text)) is not None


def is_sentence(text: str) -> bool:
    """Tell whether `text` is long enough to say something, and not too long to be one fact."""
    least = FACT_LEAST_CJK if _CJK.search(text) else FACT_LEAST
    return least <= len(text) <= FACT_MOST and any(char.isalpha() for char in text)


_WISH: Final = re.compile(
    r"(?P<call>(?:s['’]il te pla[iî]t,?\s+|stp,?\s+|please,?\s+|et\s+|and\s+|alors\s+|so\s+|also,?\s+|aussi,?\s+|ok(?:ay)?,?\s+)?"
    r"(?:retiens|retenez|souviens[- ]toi|souvenez[- ]vous|rappelle[- ]toi|rappelez[- ]vous|mémorise|mémorisez|n['’]oublie(?:z)? (?:pas|jamais)"
    r"|note(?:z)?|garde(?:z)? en mémoire|remember|don['’]t forget|do not forget|keep in mind|bear in mind|note|memorize)"
    r"(?:\s+(?:bien|aussi|également|please|stp|also))*\s*(?:,?\s+(?P<that>que|qu['’]|that)|\s*:)\s*)(?P<wish>.+)",
    re.IGNORECASE | re.DOTALL,
)
_WISH_CJK: Final = re.compile(r"(?:请)?(?:你)?(?:要)?(?:记住|记得|别忘了|不要忘记)[：:，, ]*(?P<wish>.{4,})", re.DOTALL)
_SENTENCE_END = re.compile(r"(?<=[.!?…])\s+(?=\S)|(?<=[。！？])|\n+")
_FENCED = re.compile(r"^[ \t]*(```|~~~).*?(?:^[ \t]*\1[^\n]*$|\Z)", re.MULTILINE | re.DOTALL)


def wishes(question: str) -> Iterator[str]:
    """Yield what the keeper explicitly asks to be remembered in `question`, verbatim, in order.

    A wish begins its sentence ("remember that…", « retiens que… », 记住…) and is no question. Quoted lines
    and code fences are somebody else's words. One that is no sentence, or too long for one fact, is not taken.
    """
    own = "\n".join(line for line in _FENCED.sub("\n", question).split("\n") if not line.lstrip().startswith(">"))
    for sentence in _SENTENCE_END.split(own):
        said = sentence.strip(" \t-*•\"'«»“”")
        if said.endswith(("?", "？")):
            continue
        found = _WISH.fullmatch(said) or _WISH_CJK.fullmatch(said)
        if found is None:
            continue
        wish = one_line(found["wish"])
        if is_sentence(wish):
            yield wish


_CHANGE: Final = re.compile(
    r"\b(?:désormais|dorénavant|maintenant|à présent|n['’]utilise plus|ne [\w']+ plus|au lieu de|à la place d|est passée? (?:de|à|sur)|passe(?:nt)? (?:de|à|sur)"
    r"|a migré|migre|a remplacé|remplace|remplacée? par|a changé|a déménagé|now|no longer|anymore|instead of|moved (?:to|from)|moves to|switched|switches"
    r"|migrated|replaced|replaces|changed|has left)\b|改用|换成|不再|改为|搬到|现在",
    re.IGNORECASE,
)
_SINGLE: Final = re.compile(
    r"\b(?:habite|vit à|s['’]appelle|est né|échéance|date limite|deadline|due|a lieu|se tient|préfér\w+ est|adresse|âge|lives in|is called|named|born|takes place"
    r"|favou?rite|budget|version|mot de passe|numéro|téléphone|phone|travaille (?:chez|pour|à)|works (?:at|for)|est fixée?|is set|scheduled)\b"
    r"|住在|叫做|截止",
    re.IGNORECASE,
)
_CHANGE_WORDS: Final = frozenset(_bare(word) for word in ("now", "désormais", "dorénavant", "maintenant"))
_STOP: Final = frozenset(
    [
        "le",
        "la",
        "les",
        "l",
        "un",
        "une",
        "des",
        "du",
        "de",
        "d",
        "a",
        "au",
        "aux",
        "en",
        "et",
        "ou",
        "que",
        "qui",
        "est",
        "sont",
        "dans",
        "pour",
        "par",
        "sur",
        "avec",
        "son",
        "sa",
        "ses",
        "ce",
        "cette",
        "il",
        "elle",
        "the",
        "an",
        "of",
        "to",
        "in",
        "at",
        "on",
        "for",
        "and",
        "or",
        "is",
        "are",
        "was",
        "were",
        "has",
        "have",
        "it",
        "he",
        "she",
        "they",
        "that",
        "this",
        "with",
        "by",
        "from",
        "user",
        "utilisateur",
        "utilisatrice",
        "keeper",
        "apicultrice",
    ]
)


def content(text: str) -> tuple[str, ...]:
    """Return the words of substance of `text`, folded, without accents and plurals, in order; CJK by the run of two."""
    found: list[str] = []
    for word in _tokens(text):
        if _CJK.match(word):
            found += [word[at : at + 2] for at in range(max(len(word) - 1, 1))]
        elif word not in _STOP:
            found.append(_bare(word))
    return tuple(found)


def subject_keys(text: str) -> frozenset[tuple[str, str]]:
    """Return what two facts share where one may take the other's place: the first word of substance with each other."""
    words = _lasting(text)
    return frozenset((words[0], word) for word in words[1:])


@lru_cache(maxsize=1 << 14)  # one fact is held against many others of its subject
def _lasting(text: str) -> tuple[str, ...]:
    return tuple(word for word in content(text) if word not in _CHANGE_WORDS)


def supersedes(new: str, old: str) -> bool:
    """Tell whether `new`, said later, takes the place of `old`: one subject, one attribute, another value.

    Either both are the same sentence but for one stretch of at most four words, and the attribute has one
    value at a time (a deadline, a home) or `new` says that something changed; or `new` says so and names
    the subject and a value of `old` ("moved from Postgres to SQLite"). When in doubt it does not.
    """
    ours, theirs = _lasting(new), _lasting(old)
    if len(theirs) < 2 or len(ours) < 2 or ours[0] != theirs[0]:
        return False
    head = 0
    while head < min(len(ours), len(theirs)) and ours[head] == theirs[head]:
        head += 1
    tail = 0
    while tail < min(len(ours), len(theirs)) - head and ours[-1 - tail] == theirs[-1 - tail]:
        tail += 1
    ours_differ, theirs_differ = len(ours) - head - tail, len(theirs) - head - tail
    alike = head + tail >= 2 and 1 <= ours_differ <= 4 and 1 <= theirs_differ <= 4
    # what was true of the subject may be named in the sentence that says it changed
    named = theirs[-1] in ours[1:]
    if not (named or (alike and head >= 2)):
        return False
    changed = _CHANGE.search(new) is not None
    if not (changed or (alike and head >= 2 and _SINGLE.search(old) is not None)):
        return False
    return folded(new) != folded(old) and near_key(new) != near_key(old)
