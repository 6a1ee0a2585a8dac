"""Proper names and quoted words in a text, as far as they can be told without a dictionary (spec 1-horizon §7).

French and English: a capital within a sentence makes a name; at its beginning only a known one is taken for
one. Chinese: a surname and what follows it before a verb of speech. Acronyms: capitals anywhere.
"""

# ruff: noqa: SIM905  # word lists read and change better as text
from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from horizon.core.claims import folded
from horizon.core.grounding import STEM

if TYPE_CHECKING:
    from collections.abc import Iterator

_LETTER = r"[^\W\d_぀-ヿ一-鿿가-힯]"
_WORD = re.compile(rf"{_LETTER}+(?:['’-]{_LETTER}+)*")
_OPENS = re.compile(r"(?:^|[.!?…:;\n\r•*>«»“”\"'(\[{—–-]|[。！？：；])[\s«“\"'’(\[*_-]*$")
_TITLE = re.compile(r"\b(?:M|MM|Mme|Mlle|Mr|Mrs|Ms|Dr|Me|Pr|Prof)\. $")
_GIVEN: Final = frozenset(
    "adam adele adrien agathe agnes alain alan albert alex alexandra alexandre alexis alice aline amelie amy ana anais andre andrea andrew"
    " anna anne anthony antoine arthur audrey aurelie barbara baptiste ben benjamin benoit bernard bob bruno camille carl carla carlos"
    " caroline catherine cecile celine charles charlotte chloe chris christian christine christophe claire clara claude clement"
    " daniel david denis diana diane didier dominique dylan eddie elena elisa elise elizabeth ella ellen elodie emily emma emmanuel eric"
    " estelle ethan eva fabien fabrice fanny felix fiona florence florian francois frank frederic gabriel gael george georges gerard"
    " grace gregory guillaume gustave hannah helen helene henri henry hugo ian ines irene isabelle jack jacques james jane jasmine jean"
    " jennifer jeremy jerome jessica jim joan joe john jonathan joseph josephine judith jules julia julie julien justine karen karim"
    " kate kevin laura laurent lea leo leon lena lisa louis louise luc lucas lucie lucy luke manon marc marcel marco margaret maria"
    " marie marine mark martin martine mary mathieu matthew max maxime mehdi michael michel michelle mike mohamed monique nadia"
    " nathalie nathan nicolas nicole nina noah noemie oliver olivia olivier oscar pascal patrick paul pauline peter philippe pierre"
    " quentin rachel raphael raymond rebecca renaud richard robert robin roger romain ruth sam samuel sandra sara sarah sebastien"
    " serge simon sonia sophie stephanie stephen steve susan suzanne sylvain sylvie theo theodore thierry thomas tim tom valentin"
    " valerie vanessa veronique victor victoria vincent virginie walter william xavier yann yasmine yves zoe".split()
)
"""Given names that open sentences in French and English: there the capital says nothing."""
_PLACES: Final = frozenset(
    "paris lyon marseille toulouse lille bordeaux nantes strasbourg montpellier rennes londres london berlin madrid rome bruxelles"
    " brussels geneve geneva zurich lausanne montreal quebec toronto vancouver boston chicago seattle tokyo pekin beijing shanghai"
    " singapour singapore dakar tunis alger rabat casablanca google microsoft amazon apple facebook meta openai anthropic mistral"
    " github gitlab docker kubernetes linux windows ubuntu debian postgres postgresql mysql sqlite redis python javascript rust".split()
)
_ROLES: Final = frozenset(
    "assistant assistante agent user utilisateur utilisatrice keeper apicultrice apiculteur abeille bee monsieur madame mademoiselle mr"
    " mrs ms dr pr i ok internet web note attention remarque important warning todo question reponse answer resume summary mission"
    " dieu god noel christmas paques easter".split()
)
"""Capitals that name no one in particular."""
_ACRONYMS: Final = frozenset(
    "API URL URI HTTP HTTPS HTML CSS JSON XML YAML TOML CSV PDF SQL CPU GPU RAM SSD USB IP TCP UDP DNS SSH TLS SSL VPN CLI GUI UI UX OS IA AI"
    " ML LLM ID UTC GMT OK KO FAQ PR CI CD TV PC SMS GPS TVA VAT RH HR PDG CEO CTO USA US UK UE EU UTF ASCII I II III IV VI VII VIII IX XX"
    " XXI AM PM CV NB PS VS EUR USD TTC HT RGPD GDPR".split()
)
"""Acronyms that stand for ordinary words, with which a summary may say what its source says in full."""
_KIN: Final = tuple(
    frozenset(group.split())
    for group in (
        "france french francais francaise francaises", "angleterre england english anglais anglaise anglaises british britannique uk",
        "allemagne germany german allemand allemande allemands", "espagne spain spanish espagnol espagnole", "italie italy italian italien italienne",
        "chine china chinese chinois chinoise", "japon japan japanese japonais japonaise", "europe european europeen europeenne eu ue",
        "amerique america american americain americaine usa us", "canada canadian canadien canadienne", "quebec quebecois quebecoise",
        "paris parisian parisien parisienne", "londres london", "geneve geneva", "bruxelles brussels", "suisse switzerland swiss",
        "belgique belgium belgian belge", "afrique africa african africain africaine", "grece greece greek grec grecque",
        "portugal portuguese portugais portugaise", "russie russia russian russe", "pekin beijing",
        "postgres postgresql pg", "javascript js", "typescript ts", "kubernetes k8s", "mac macos", "mongo mongodb",
    )
)  # fmt: skip
_SURNAMES: Final = "王李张刘陈杨黄赵吴周徐孙马朱胡郭何高林罗郑梁谢宋唐许韩冯邓曹彭曾萧田董袁潘于蒋蔡余杜叶程苏魏吕丁任沈姚卢姜崔钟谭陆汪范金石廖贾夏韦付方白邹孟熊秦邱江尹薛闫段雷侯龙史陶黎贺顾毛郝龚邵万钱严覃武戴莫孔向汤"
_HAN_NAME = re.compile(
    rf"(?:(?<![一-鿿])|(?<=[由和与跟给让向请被是对]))(?P<name>[{_SURNAMES}][一-鿿]{{1,2}}?)(?=先生|女士|老师|经理|医生|说|认为|表示|建议|决定|要求|同意|告诉|提出|负责|选择|拒绝)"
)
_QUOTED = re.compile(r"«([^»\n]{3,310})»|“([^”\n]{3,300})”|\"([^\"\n]{3,300})\"|[「『《]([^」』》\n]{2,100})[」』》]")


def names(text: str) -> Iterator[str]:
    """Yield what in `text` is a proper name or an acronym, as written, in no set order."""
    words = list(_WORD.finditer(text))
    for place, found in enumerate(words):
        bare = _bare(found[0])
        if len(bare) < 2 or not bare[0].isupper() or folded(bare) in _ROLES:
            continue
        if bare.isupper():
            if len(bare) > 1 and bare not in _ACRONYMS:
                yield bare
        elif (
            not _OPENS.search(before := text[max(0, found.start() - 12) : found.start()])
            or _TITLE.search(before)
            or folded(bare) in _GIVEN
            or folded(bare) in _PLACES
            or _begins_name(text, words, place)
        ):
            yield bare
    for found in _HAN_NAME.finditer(text):
        yield found["name"]


def doers(text: str) -> Iterator[str]:
    """Yield the words that open a sentence of `text` and are told to do something, as names are: they may be names."""
    words = list(_WORD.finditer(text))
    for place, found in enumerate(words):
        if found[0][0].isupper() and _acts(text, words, place):
            yield _bare(found[0])


def quotes(text: str) -> Iterator[str]:
    """Yield what `text` gives as someone's words: three words or more between quotation marks, or Chinese ones."""
    for found in _QUOTED.finditer(text):
        said = next(group for group in found.groups() if group is not None).strip()
        if len(said.split()) >= 3 or any("一" <= char <= "鿿" for char in said):
            yield said


def is_known(name: str, words: frozenset[str], text: str) -> bool:
    """Tell whether `name` occurs in sources: `words` are their folded words, `text` the whole of them folded."""
    if any("一" <= char <= "鿿" for char in name):
        return name in text
    key = folded(name)
    if key in words or f"{key}s" in words or (key.endswith("s") and key[:-1] in words):
        return True
    if any(key in kin and words & kin for kin in _KIN):
        return True
    if "-" in key or "'" in key:
        return all(part in words for part in re.split(r"[-']", key) if part)
    return name.isupper() and _initials(key, text)


def shares_stem(word: str, words: frozenset[str]) -> bool:
    """Tell whether folded `words` have one that begins as `word` does: "Correction" of "corrigé"."""
    stem = folded(word)[:STEM]
    return any(other.startswith(stem) for other in words)


def words_of(text: str) -> frozenset[str]:
    """Return the words of folded `text`, compounds also in their parts."""
    return frozenset(re.findall(r"[^\W_]+", text)) | frozenset(re.findall(rf"{_LETTER}+", text))


def _bare(word: str) -> str:
    """Return a word without an elided article before it and a possessive after it."""
    head, mark, rest = word.replace("’", "'").partition("'")
    if mark and len(head) <= 2 and rest[:1].isupper():
        return rest
    if mark and rest in {"s", "S", ""}:
        return head
    if mark and len(head) <= 2:
        return ""  # "L'erreur", "D'abord": what follows is a common word
    return word


def _begins_name(text: str, words: list[re.Match[str]], place: int) -> bool:
    """Tell whether the word that opens a sentence is followed by a capital: "Marie Durand a dit", not "The Python"."""
    if place + 1 >= len(words):
        return False
    found, after = words[place], words[place + 1]
    return (
        text[found.end() : after.start()] == " "
        and after[0][0].isupper()
        and not after[0].isupper()
        and len(found[0]) > 3
        and folded(after[0]) not in _ROLES
        and folded(found[0]) not in _STARTERS
    )


_STARTERS: Final = frozenset(
    "avec dans pour sans chez entre depuis avant apres selon elle elles nous vous leur leurs cette quand puis alors donc mais ainsi aussi"
    " comme toute tous toutes notre votre with from into this that these those their when then after before since while according"
    " both each every some using under over about they there here also only once upon your".split()
)


_ACTS: Final = re.compile(
    r"(?:avait|aura|est|était|sera|fut|va|vient|veut|voulait|doit|devait|peut|pouvait|dit|disait|demande|pense|propose|préfère|souhaite|confirme"
    r"|annonce|explique|rappelle|travaille|habite|choisit|décide|insiste|refuse|accepte|n'(?:a|est|avait|était)|s'est"
    r"|is|was|has|had|will|wants|says|said|asks|did|does|can|could|should|would|must|prefers|works|lives|thinks|suggests|knows|wrote|told|met|gave"
    r"|took|made|sent|bought|chose|(?:ask|want|propos|decid|suggest|agre|refus|preferr|confirm|explain|answer|repli|announc|insist|promis|lik|lov|work|liv|visit"
    r"|sign|order|book|thank|complain|compos|paint|invent|discover|hir|wish)ed)",
)
"""What one person or thing does, right after its name; a common noun has an article before it, in French always."""
_HAS_DONE: Final = re.compile(r"\w*é|eu|dit|fait|mis|pris|su|pu|reçu|écrit|dû|\w*[lvd]u|\w{2,}(?:[sn]i|ert)")
"""What follows a French "a" that is a verb; before anything else it is likely an English article."""
_COMMON_END = re.compile(
    r"(?:ing|tion|sion|ment|ness|ity|ance|ence|ship|ism|ware|work|age|ly|s|té|eur|ure|thing|one|body)$"
)
_COMMON: Final = frozenset(
    "the cela ceci ca celui celle tout toute rien personne on il elle ce qui que quoi chacun chacune aucun aucune quiconque autre lequel laquelle"
    " quel quelle combien comment pourquoi ou où non oui voila ici la et mais puis or donc y en un une le de du si alors"
    " everyone nothing nobody each either neither none all both one another it he she they we you this that there here what which who whose"
    " when where why how if as then so but and not no yes also only just now today yesterday tomorrow next last first second more most much"
    " many some any few several half code data access time progress space memory traffic load power money music water food rain weather support"
    " help advice feedback research content context text output input disk network latency production deploy build release version update"
    " upgrade backup cache queue server client user team project task job step test bug error issue fix patch log file folder path page site"
    " app service system process thread model agent serveur projet fichier dossier disque reseau equipe client cache test bogue erreur lot"
    " travail budget plan goal objectif mission contact sleep speed price cost life love war peace design health school church home dinner"
    " lunch breakfast coffee tea bread milk sugar light heat air gas oil wood paper glass metal gold silver training meeting call mail email"
    " nature science history math art sport football chess poetry fiction english french chinese december january february march april may"
    " june july august september october november such below case scope level config care within stdout stderr stdin these those".split()
)
"""Words that open a sentence and act without being anyone's name."""


def _is_deed(word: str, following: str) -> bool:
    if word == "a":
        return _HAS_DONE.fullmatch(following) is not None
    return _ACTS.fullmatch(word) is not None


def _acts(text: str, words: list[re.Match[str]], place: int) -> bool:
    """Tell whether the word that opens a sentence is told to do something, as only a name may: "Mozart composed it"."""
    if place + 1 >= len(words):
        return False
    found, after = words[place], words[place + 1]
    bare = folded(found[0])
    return (
        text[found.end() : after.start()] == " "
        and len(bare) > 2
        and "'" not in bare
        and _OPENS.search(text[max(0, found.start() - 12) : found.start()]) is not None
        and found[0][1:].islower()
        and _is_deed(after[0].replace("’", "'"), words[place + 2][0] if place + 2 < len(words) else "")
        and bare not in _COMMON
        and _COMMON_END.search(bare) is None
    )


def _initials(acronym: str, text: str) -> bool:
    """Tell whether an acronym is made of the first letters of words in a row."""
    if not 2 <= len(acronym) <= 6:
        return False
    letters = r"\w*(?:[\s'-]+(?:de|du|des|la|le|of|the|and|et|d|l)\b)?[\s'-]+".join(map(re.escape, acronym))
    return re.search(rf"\b{letters}", text) is not None
