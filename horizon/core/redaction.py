"""Masking of secrets by their shape, in everything derived from an exchange (spec 1-horizon §7).

The journal is left alone. A mask says what kind of thing stood there, is the same whatever the secret
was, and is itself left alone when masking is done again. Left alone too: words about secrets ("the build
has no API key"), references to where one is kept (`apiKey: env.KEY`), and vendors' documented examples.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

MASK: Final = "«secret masqué»"
"""What stands in the place of a secret; guillemets, because brackets are for the view's own markers."""

_VENDORS: Final[Mapping[str, tuple[str, ...]]] = {
    r"sk-(?<![A-Za-z_]sk-)(?:proj-|ant-|svcacct-|admin-|or-v1-|lf-)?[A-Za-z0-9_-]{20,}": (
        "sk-",
    ),  # OpenAI, Anthropic, OpenRouter
    r"gh[pousr]_[A-Za-z0-9]{30,}": ("ghp_", "gho_", "ghu_", "ghs_", "ghr_"),  # GitHub
    r"github_pat_[A-Za-z0-9_]{30,}": ("github_pat_",),
    r"gl(?:pat|rt|ptt|dt|cbt|soat)-[A-Za-z0-9_-]{18,}": (
        "glpat-",
        "glrt-",
        "glptt-",
        "gldt-",
        "glcbt-",
        "glsoat-",
    ),  # GitLab
    r"A(?:KIA|SIA|BIA|CCA)[A-Z0-9]{16}": ("AKIA", "ASIA", "ABIA", "ACCA"),  # AWS access key ids
    r"AIza[A-Za-z0-9_-]{35}": ("AIza",),  # Google
    r"ya29\.[A-Za-z0-9_-]{20,}": ("ya29.",),  # Google OAuth
    r"GOCSPX-[A-Za-z0-9_-]{20,}": ("GOCSPX-",),
    r"xox[abeoprs]-[A-Za-z0-9-]{10,}": ("xox",),  # Slack
    r"xapp-[0-9]-[A-Za-z0-9-]{10,}": ("xapp-",),
    r"https://hooks\.slack\.com/services/[A-Za-z0-9/]{20,}": ("https://hooks.slack.com/",),
    r"[srp]k_(?<![A-Za-z_][srp]k_)(?:live|test)_[A-Za-z0-9]{16,}": ("k_live_", "k_test_"),  # Stripe
    r"whsec_[A-Za-z0-9+/=]{20,}": ("whsec_",),
    r"hf_(?<![A-Za-z_]hf_)[A-Za-z0-9]{30,}": ("hf_",),  # Hugging Face
    r"npm_[A-Za-z0-9]{30,}": ("npm_",),
    r"pypi-[A-Za-z0-9_-]{40,}": ("pypi-",),
    r"dckr_pat_[A-Za-z0-9_-]{20,}": ("dckr_pat_",),
    r"SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}": ("SG.",),  # SendGrid
    r"key-(?<![A-Za-z_]key-)[0-9a-f]{32}": ("key-",),  # Mailgun
    r"do[opr]_(?<![A-Za-z_]do[opr]_)v1_[0-9a-f]{40,}": ("_v1_",),  # DigitalOcean
    r"hv[sbr]\.(?<![A-Za-z_]hv[sbr]\.)[A-Za-z0-9_-]{20,}": ("hvs.", "hvb.", "hvr."),  # Vault
    r"(?<![A-Za-z_])(?:r8|gsk|tvly|pplx|nvapi|lin_api|figd|sbp|phc|phx|dp\.pt)[_-][A-Za-z0-9_-]{24,}": (
        *(
            "r8_",
            "r8-",
            "gsk_",
            "gsk-",
            "tvly_",
            "tvly-",
            "pplx_",
            "pplx-",
            "nvapi_",
            "nvapi-",
            "lin_api",
            "figd_",
            "figd-",
        ),
        *("sbp_", "sbp-", "phc_", "phc-", "phx_", "phx-", "dp.pt"),
    ),
    r"AGE-SECRET-KEY-1[A-Z0-9]{50,}": ("AGE-SECRET-KEY-1",),
    r"(?<!\d)\d{8,10}:AA[A-Za-z0-9_-]{32,}": (":AA",),  # Telegram bots
    r"eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}": (".eyJ",),  # JSON web tokens
}
"""Shapes of keys, each with the letters of which one stands in every such key: most texts have none of them."""
_SIGNS: Final = tuple((sign, shape) for shape, signs in _VENDORS.items() for sign in signs)
_NEXT: Final = r"A(?:KIA|SIA|BIA|CCA)|AIza|key-|do[opr]_v1_"
"""How a key begins that may stand right behind another: those whose shapes do not run on over it."""
_EXAMPLE = re.compile(
    r"EXAMPLE|example|exemple|YOUR|your[_-]|votre|x{6,}|X{6,}|\*{4,}|\.{3}|…|0{8,}|1234567890|placeholder|changeme|dummy"
    r"|redacted|<[^<>]*>|(?:abcdef){2,}"
)
"""Inside what has a secret's shape: it is a vendor's documented example or a place to fill in, not a secret."""
_REFERENCE = re.compile(
    r"""(?x)
    [\$%{<\[(«] .*                                   # ${VAR}, {{ template }}, <your key>, %VAR%, a mask
    | (?:process\.|import\.meta\.)?env\b .* | os\.\w+ .* | getenv.* | ENV\b.*
    | (?:self|this|config|settings|secrets?|vault|args|options|request|data|user|conf|cfg|params|credentials)[.\[(] .*
    | [A-Za-z_][\w.]*\( .*                           # a call
    | [A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+                # a.dotted.name
    | [A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+                  # NAME_OF_A_VARIABLE
    | (?:null|none|nil|true|false|undefined|str|string|int|bool|bytes|text|optional|required|secretstr|empty|vide
        |absent|missing|manquante?|requise?|obligatoire|facultati(?:f|ve)|changed?|hidden|masked|masquée?)\W*
    | password | passwd | pass | pwd | secret | token | motdepasse | mdp
    | \*+ | x+ | X+ | \.+ | -+ | _+ | \d{1,3}
    """,
    re.IGNORECASE | re.DOTALL,
)
"""What stands after `password =` and is not a password."""

_BLOCK = re.compile(
    r"-----BEGIN (?P<kind>[A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?)-----.*?(?:-----END (?P=kind)-----|\Z)", re.DOTALL
)
_BEARER = re.compile(
    r"(?P<before>\b(?:Bearer|Basic|Token)\s+|\bAuthorization\s*[:=]\s*[\"']?(?:(?:Bearer|Basic|Token|ApiKey)\s+)?"
    r"|\bX-(?:Api-Key|Auth-Token)\s*[:=]\s*[\"']?)(?P<secret>[A-Za-z0-9._~+/=-]{16,})",
    re.IGNORECASE,
)
_URL_PASSWORD = re.compile(
    r"(?P<before>\b[a-z][a-z0-9+.-]{0,20}://[^\s/:@'\"<>]{0,100}:)(?P<secret>[^\s/@'\"<>«]+)(?=@)", re.IGNORECASE
)
_URL_QUERY = re.compile(
    r"(?P<before>[?&](?:access_token|api_?key|key|token|sig|signature|password|secret|auth|X-Amz-Signature)=)"
    r"(?P<secret>[^\s&#'\"<>)«]{8,})",
    re.IGNORECASE,
)
_NAME = (
    r"(?:password|passwd|passphrase|pwd|pass|secret|token|api[_-]?key|apikey|access[_-]?key|secret[_-]?key"
    r"|private[_-]?key|client[_-]?secret|auth[_-]?token|access[_-]?token|refresh[_-]?token|credentials?"
    r"|mot[_ ]de[_ ]passe|mdp|clé[_ ](?:d['’]api|api|secrète)|cle[_ ]api|jeton|密码|口令|密钥|令牌)(?:[_-][A-Za-z0-9]{1,40}){0,4}"
)
_ASSIGNED = re.compile(
    rf"(?P<before>(?<![A-Za-z0-9]){_NAME}[\"'`]?\s*(?::=|=>|=|:|：)\s*)"
    r"(?:\"(?P<double>[^\"\n]{4,})\"|'(?P<single>[^'\n]{4,})'|`(?P<tick>[^`\n]{4,})`|(?P<bare>[^\s\"'`,;，。；«]{6,}))",
    re.IGNORECASE,
)
_SAID = re.compile(
    r"(?P<before>\b(?:password|passphrase|mot de passe|mdp|code secret|pin code|code pin)\s+(?:is|was|est|:)\s+[\"'«“]?\s?)"
    r"(?P<secret>(?=[^\s\"'»”«]*[\d!@#$%^&*_+=-])[^\s\"'»”«]{6,}[^\s\"'»”.,;!?«])"
    r"|(?P<before_cjk>(?:密码|口令)(?:是|为)\s*[\"'“]?)(?P<secret_cjk>[\x21-\x7e]{6,})",
    re.IGNORECASE,
)
_FLAG = re.compile(
    r"(?P<before>(?<!\S)--?(?:password|passwd|pass|token|secret|api-key|apikey|access-token)[ =][\"']?)(?P<secret>[^\s\"'«]{6,})"
)
_CARD = re.compile(r"(?<![\d.,-])(?:\d[ -]?){12,18}\d(?![\d.,]?\d|-\d)")
_DIGITS = re.compile(r"\d(?:[ -]?\d){12}")
_RUN = re.compile("[!-~ſıİ\u212a]{15}")
"""The length of the shortest key, in its letters and those that only look other."""
_BEARERS: Final = ("bearer", "basic", "token", "authorization", "x-api-key", "x-auth-token")
_FLAGS: Final = ("-pass", "-token", "-secret", "-api", "-access-token")
_SAYINGS: Final = ("pass", "mdp", "code secret", "pin code", "code pin", "密码", "口令")
_NAMED: Final = ("pass", "pwd", "secret", "secrète", "token", "key", "credential", "mdp", "api", "jeton", "密码", "口令", "密钥", "令牌")  # fmt: skip
_NAME_END = re.compile(r"(?:word|wd|phrase|e|s)?(?:[_-][a-z0-9]{1,40}){0,4}[\"'`]?\s*[=:：]")
"""From one of `_NAMED` to the sign of assignment."""
_TEST_CARDS: Final = frozenset(
    {
        "4242424242424242",
        "4111111111111111",
        "5555555555554444",
        "378282246310005",
        "6011111111111117",
        "4000000000000002",
    }
)
"""Card numbers that payment companies publish for tests."""


def redact(text: str) -> str:
    """Return `text` with every secret that has a known shape replaced by `MASK`; doing it again changes nothing."""
    while (masked := _masked(text)) != text:  # a mask beside it can lay bare another; each round leaves less unmasked
        text = masked
    return text


def _masked(text: str) -> str:
    """Return `text` masked once; each pattern is tried only where the letters without which it cannot match occur."""
    if "-----BEGIN" in text:
        text = _BLOCK.sub(MASK, text)
    known = _caseless(text)
    if _RUN.search(text):
        if shapes := tuple(dict.fromkeys([shape for sign, shape in _SIGNS if sign in text])):
            text = _vendor(shapes).sub(_unless_example, text)
        if _has(known, _BEARERS):
            text = _BEARER.sub(_after(_is_token), text)
    if "://" in text and "@" in text:
        text = _URL_PASSWORD.sub(_after(_is_value), text)
    if "=" in text and ("?" in text or "&" in text):
        text = _URL_QUERY.sub(_after(_is_value), text)
    if _has(text, _FLAGS):
        text = _FLAG.sub(_after(_is_value), text)
    if _may_assign(known):
        text = _ASSIGNED.sub(_assigned, text)
    if _has(known, _SAYINGS):
        text = _SAID.sub(_said, text)
    return _CARD.sub(_card, text) if _DIGITS.search(text) else text


@lru_cache(maxsize=64)
def _vendor(shapes: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(rf"(?:{'|'.join(shapes)})(?:(?![A-Za-z0-9])|(?={_NEXT}))")


def _caseless(text: str) -> str:
    """Return `text` in small letters, those that only look other (ſ, ı, İ) as the patterns take them."""
    known = text.lower()
    return known if known.isascii() else known.replace("ſ", "s").replace("ı", "i").replace("\u0307", "")


def _has(text: str, signs: tuple[str, ...]) -> bool:
    for sign in signs:  # noqa: SIM110  # a generator would cost more than the search
        if sign in text:
            return True
    return False


def _may_assign(known: str) -> bool:
    """Tell whether in a caseless text something follows the name of a secret as its value would."""
    if not ("=" in known or ":" in known or "：" in known):
        return False
    for name in _NAMED:
        at = known.find(name)
        while at >= 0:
            if _NAME_END.match(known, at + len(name)):
                return True
            at = known.find(name, at + 1)
    return False


def _unless_example(found: re.Match[str]) -> str:
    return found[0] if _EXAMPLE.search(found[0]) else MASK


def _after(is_secret: Callable[[str], bool]) -> Callable[[re.Match[str]], str]:
    return lambda found: found["before"] + (MASK if is_secret(found["secret"]) else found["secret"])


def _is_token(value: str) -> bool:
    """Tell a token from a word: it has a digit, and is no example."""
    return any(char.isdigit() for char in value) and _is_value(value)


def _is_value(value: str) -> bool:
    return not (MASK in value or _REFERENCE.fullmatch(value) or _EXAMPLE.search(value))


def _assigned(found: re.Match[str]) -> str:
    for quote, group in (('"', "double"), ("'", "single"), ("`", "tick")):
        value = found[group]
        if value is not None:
            secret = _is_value(value) and (" " not in value.strip() or any(char.isdigit() for char in value))
            return found["before"] + (f"{quote}{MASK}{quote}" if secret else f"{quote}{value}{quote}")
    value = found["bare"]
    # without quotes it may be prose ("token: expired"): a secret has a digit or a sign within
    inner = value.rstrip(".,;:!?)]}")
    secret = _is_value(inner) and len(inner) >= 6 and any(not char.isalpha() and char not in "'’" for char in inner)
    return found["before"] + (MASK + value[len(inner) :] if secret and not _is_path(inner) else value)


def _is_path(value: str) -> bool:
    return value.startswith(("/", "./", "../", "~/", "http://", "https://"))


def _said(found: re.Match[str]) -> str:
    before, secret = found["before"] or found["before_cjk"], found["secret"] or found["secret_cjk"]
    return before + (MASK if _is_value(secret) else secret)


def _card(found: re.Match[str]) -> str:
    digits = [int(char) for char in found[0] if char.isdigit()]
    number = "".join(map(str, digits))
    if number in _TEST_CARDS or number[0] not in "23456" or len(set(digits)) < 4:
        return found[0]
    doubled = [digit * 2 - 9 * (digit > 4) if place % 2 else digit for place, digit in enumerate(reversed(digits))]
    return MASK if sum(doubled) % 10 == 0 else found[0]
