"""Masking of secrets by their shape, in everything derived from an exchange (spec 1-horizon §7).

The journal is left alone. A mask says what kind of thing stood there, is the same whatever the secret
was, and is itself left alone when masking is done again. Left alone too: words about secrets ("the build
has no API key"), references to where one is kept (`apiKey: env.KEY`), and vendors' documented examples.
"""

from __future__ import annotations

# ruff: noqa: SIM905  # word lists read and change better as text
import re
from typing import TYPE_CHECKING, Final

from horizon.core import card_number, key_shape

if TYPE_CHECKING:
    from collections.abc import Callable

MASK: Final = "«secret masqué»"
"""What stands in the place of a secret; guillemets, because brackets are for the view's own markers."""

_EXAMPLE = re.compile(
    r"EXAMPLE|example|exemple|YOUR|your(?:[_-]|key|api|token|pass|secret)|votre|x{6,}|X{6,}|\*{4,}|[•●∙]{3,}|\.{3}|…|0{8,}|1234567890|placeholder|changeme|dummy"
    r"|redacted|<[^<>]*>|(?:abcdef){2,}"
)
"""Inside what has a secret's shape: it is a vendor's documented example or a place to fill in, not a secret."""
_REFERENCE = re.compile(
    r"""(?x)
    [\$%{<\[(«] .*                                   # ${VAR}, {{ template }}, <your key>, %VAR%, a mask
    | (?:process\.|import\.meta\.)?env\b .* | os\.\w+ .* | getenv.* | ENV\b.*
    | (?:self|this|config|settings|secrets?|vault|args|options|request|data|user|conf|cfg|params|credentials)[.\[(] .*
    | [A-Za-z_][\w.]*\( .*                           # a call
    | (?!(?:\D*\d){3}) [A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+  # a.dotted.name
    | [A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+                  # NAME_OF_A_VARIABLE
    | (?:null|none|nil|true|false|undefined|str|string|int|bool|bytes|text|optional|required|secretstr|empty|vide
        |absent|missing|include|omit|same-origin|manquante?|requise?|obligatoire|facultati(?:f|ve)|changed?|hidden|masked|masquée?)\W*
    | (?:required|nullable|sometimes|string|min|max|confirmed)[|:]\S*      # a rule for a form's field
    | password | passwd | pass | pwd | secret | token | motdepasse | mdp
    | \*+ | x+ | X+ | \.+ | -+ | _+ | \d{1,3}
    """,
    re.IGNORECASE | re.DOTALL,
)
"""What stands after `password =` and is not a password."""

_BLOCK = re.compile(
    r"(?P<rule>-{4,5})(?P<open> ?)BEGIN (?P<kind>[A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?)(?P=open)(?P=rule)"
    r".*?(?:(?P=rule)(?P=open)END (?P=kind)(?P=open)(?P=rule)|\Z)"
    r"|(?P<before>Private-Lines: \d{1,4}\r?\n)(?!«).*?(?=\r?\n\r?\n|\r?\nPrivate-MAC|\Z)",
    re.DOTALL,
)
_BEARER = re.compile(
    r"(?P<before>\b(?:Bearer|Basic|Token)\s+|\bAuthorization\s*[:=]\s*[\"']?(?:[A-Za-z][\w-]{1,20}\s+)?(?:token=[\"']?)?"
    r"|\bX-(?:Api-Key|(?:Auth|Vault|Access)-Token)\s*[:=]\s*[\"']?)(?P<secret>[A-Za-z0-9._~+/=-]{16,})",
    re.IGNORECASE,
)
_COOKIE = re.compile(r"(?P<before>\b(?:Set-)?Cookie\s*:\s*)(?P<secret>[^\s=;]{1,64}=[^\n\"'«]{12,})", re.IGNORECASE)
_URL_PASSWORD = re.compile(
    r"(?P<before>\b[a-z][a-z0-9+.-]{0,20}://[^\s/:@'\"<>]{0,100}:)(?P<secret>[^\s/@'\"<>«]+)(?=@)"
    r"|(?P<before_user>\bhttps?://)(?P<user>(?=[A-Za-z_-]{0,100}\d)[A-Za-z0-9_-]{16,200})(?=@)",
    re.IGNORECASE,
)
_URL_QUERY = re.compile(
    r"(?P<before>[?&](?:access_token|api_?key|key|token|sig|signature|password|secret|auth|X-Amz-Signature)=)"
    r"(?P<secret>[^\s&#'\"<>)«]{8,})",
    re.IGNORECASE,
)
_EDGE: Final = r"(?=[acefjmpst密口令])(?:(?<![A-Za-z0-9])|(?-i:(?<=[a-z0-9])(?=[A-Z]))|(?<=PG)|(?<=MYSQL))"
"""Where the name of a secret may begin: also within `dbPassword` and `PGPASSWORD`."""
_NAME = (
    rf"{_EDGE}(?P<name>password|passwd|passphrase|pwd|pass|secret|token|api[_-]?key|access[_-]?key|secret[_-]?key"
    r"|private[_-]?key|account[_-]?key|auth[_-]?key|signing[_-]?key|encryption[_-]?key|master[_-]?key|shared[_-]?key"
    r"|subscription[_-]?key|functions[_-]?key|fastly[_-]?key|client[_-]?secret|auth[_-]?token|access[_-]?token"
    r"|refresh[_-]?token|credentials?|psk|(?-i:(?<=_)PAT)"
    r"|mot[_ ]de[_ ]passe|mdp|clé[_ ](?:d['’]api|api|secrète)|cle[_ ]api|jeton|密码|口令|密钥|令牌)(?P<more>(?:[_-][A-Za-z0-9]{1,40}){0,4})"
)
_GIVEN: Final = r"\\?\"(?P<double>[^\"\\\n]{4,})\\?\"|'(?P<single>[^'\n]{4,})'|`(?P<tick>[^`\n]{4,})`|(?P<bare>[^\s\"'`,;，。；«|<]{6,})"
_ASSIGNED = re.compile(
    rf"(?P<before>{_NAME}\\?[\"'`]?(?:\*\*|__)?"
    r"(?:\s*:\s*(?:str|string|&str|SecretStr)\b(?:\s*\|\s*None)?(?=\s*=))?"
    r"(?:\s*(?P<sign>:=|=>|=|:|：|＝)(?:\*\*|__)?\s*|(?<=[\"'])\s+(?:value|default|content)=|(?P<cell>\s*\|\s*)))"
    rf"(?:{_GIVEN})",
    re.IGNORECASE,
)
_TAGGED = re.compile(
    rf"(?P<before><(?:[\w.:-]{{1,40}}[._:-])?{_NAME}(?: [^<>\n]{{0,80}})?>)(?P<secret>[^<>\s«]{{4,200}})(?=</)",
    re.IGNORECASE,
)
_HANDED = re.compile(
    rf"(?P<before>\(\s*[\"'][A-Za-z0-9_.-]{{0,40}}?{_NAME}[\"']\s*,\s*[\"'])(?P<secret>[^\"'\s«]{{6,200}})(?=[\"'])",
    re.IGNORECASE,
)
"""`getenv("DB_PASSWORD", "…")`."""
_ELSE = re.compile(
    rf"(?P<before>{_NAME}[\"']?\s*[=:][^\n]{{1,80}}?(?:\bor|\|\||\?\?)\s*[\"'])(?P<secret>[^\"'\s«]{{6,200}})(?=[\"'])",
    re.IGNORECASE,
)
"""`password = given or "…"`."""
_SAID = re.compile(
    r"(?P<before>\b(?:password|passphrase|mot de passe|mdp|code secret|code d['’]accès|pin code|code pin)"
    r"(?:\s+(?:(?:du|de la|de|des|pour|for|of|to)\s+)?(?:(?:le|la|the|my|mon|ma)\s+)?[\w'’.-]{1,30}){0,1}\s+(?:is|was|est|:|=)\s+[\"'«“`]?\s?)"
    r"(?P<secret>(?=[^\s\"'»”«`]{0,200}[\d!@#$%^&*+=])[^\s\"'»”«`]{6,}[^\s\"'»”.,;!?«`])"
    r"|(?P<before_key>\b(?:api key|access key|secret key|token|clé d['’]api|clé api|clé secrète|jeton)\s+(?:is|was|est|:|=)\s+[\"'«“`]?\s?)"
    r"(?P<secret_key>(?=[A-Za-z_-]{0,200}\d)[A-Za-z0-9_-]{20,})"
    r"|(?P<before_pin>\b(?:code secret|code d['’]accès|pin code|code pin)\s*(?:is|was|est|:|=)?\s+)(?P<pin>\d{4,8})(?!\d|[.,:/-]\d)"
    r"|(?P<before_pair>\b(?:user|username|login|identifiant|utilisateur)\s?/\s?(?:password|pass|mot de passe|mdp)\s?[:=]\s?[^\s/]{1,64}\s?/\s?)"
    r"(?P<secret_pair>[^\s\"'«]{4,})"
    r"|(?P<before_cjk>(?:密码|口令)(?:是|为)\s*[\"'“]?)(?P<secret_cjk>[\x21-\x7e]{6,})",
    re.IGNORECASE,
)
_FLAG = re.compile(
    r"(?P<before>(?<!\S)--?(?:(?:http|ftp|proxy|db|user)-)?(?:password|passwd|pass|token|secret|api-key|apikey|access-token)[ =][\"']?)"
    r"(?P<secret>[^\s\"'«]{6,})"
)
_COMMANDED = re.compile(
    r"(?P<before>\bcurl\b[^\n|;]{0,300}?\s(?:-u|--user|--proxy-user)[ =]?[\"']?[^\s:\"'$]{1,64}:"
    r"|\bsshpass\s+-p\s*[\"']?|\b(?:mysql|mysqldump|mysqladmin|mariadb)\b[^\n|;]{0,200}?\s-p[\"']?"
    r"|\blogin\b[^\n|;]{0,200}?\s-p[ =][\"']?|\b(?:requirepass|masterauth)\s+[\"']?|\blogin\s+\S{1,64}\s+password\s+"
    r"|(?i:\bIDENTIFIED BY |\bPASSWORD )[\"']|(?m:^\s*(?:ENV|ARG)\s+)(?i:[A-Z0-9_]{0,40}(?:PASSWORD|SECRET|TOKEN|API_?KEY))\s+[\"']?)"
    r"(?P<secret>[^\s\"'«|;]{4,})"
    r"|(?P<before_echo>\becho\s+(?:-n\s+)?[\"']?(?:[^\s:\"'|]{1,64}:(?=[^|\n]{1,80}\|\s*(?:sudo\s+)?chpasswd))?)"
    r"(?P<secret_echo>[^\s\"'«|;$]{4,80})(?=[\"']?\s*\|\s*(?:sudo\s+(?:-\w+\s+){0,3}-S|(?:sudo\s+)?chpasswd))"
)
"""Passwords where a program's own syntax has them."""
_RUN = re.compile(r"[A-Za-z0-9_.:/+=~$%-]{15,}")
"""What a key is a part of, in its letters."""
_BEARERS: Final = ("bearer", "basic", "token", "authorization", "x-api-key", "x-vault-", "x-access-", "x-auth-token")
_FLAGS: Final = ("-pass", "-token", "-secret", "-api", "-access-token")
_SAYINGS: Final = (
    *(
        "password",
        "passphrase",
        "passe",
        "pass ",
        "pass/",
        "mdp",
        "code secret",
        "code d",
        "pin code",
        "code pin",
        "api key",
        "access key",
    ),
    *("secret key", "token", "api", "secrète", "jeton", "密码", "口令"),
)
_SAID_END = re.compile(r"(?:\s+\S{1,30}){0,3}?\s+(?:is|was|est|:|=)\s|\s?[:=]|.{0,12}?\s\d{4}|是|为", re.DOTALL)
"""From one of `_SAYINGS` to where its value begins, at the least."""
_COMMANDS: Final = (
    ("curl", ("-u", "-user")), ("sshpass", ("-p",)), ("mysql", ("-p",)), ("mariadb", ("-p",)), ("login", ("-p", "password")),
    ("requirepass", ("",)), ("masterauth", ("",)), ("identified by ", ("'", '"')), ("password ", ("password '", 'password "')),
    ("env", ("password", "secret", "token", "api")), ("arg", ("password", "secret", "token", "api")), ("echo", ("|",)),
)  # fmt: skip
"""The words of `_COMMANDED`, and with each what must stand in the text too."""
_NAMED: Final = ("pass", "pwd", "secret", "secrète", "token", "key", "credential", "mdp", "psk", "_pat", "api", "jeton", "密码", "口令", "密钥", "令牌")  # fmt: skip
_NAME_END = re.compile(
    r"(?:word|wd|phrase|e|s)?(?:[_-][a-z0-9]{1,40}){0,4}\\?[\"'`]?(?:\*\*|__)?(?:\s*[=:：＝|]|[\"']\s+(?:value|default|content)=)"
)
"""From one of `_NAMED` to the sign of assignment."""
_ABOUT: Final = frozenset(
    "field input selector label hint policy reset url uri path file name id type expiry ttl length min max count column header param prompt"
    " placeholder strength required enabled size limit budget usage index format style error message code arn ref class".split()
)
"""As the last part of a name these tell that its value is about a secret, and none: `token_url`, `password_field`."""
_CHOSEN: Final = ("pass", "pwd", "psk", "mot", "mdp", "密码", "口令")
"""Names of secrets that people choose, which may be letters alone; machines make theirs with digits."""
_COUNTED: Final = frozenset({"pass", "token", "tokens", "key"})
"""Names whose bare number is a count: "tests pass: 1234567"."""


def redact(text: str) -> str:
    """Return `text` with every secret that has a known shape replaced by `MASK`; doing it again changes nothing."""
    while (masked := _masked(text)) != text:  # a mask beside it can lay bare another; each round leaves less unmasked
        text = masked
    return text


def _masked(text: str) -> str:
    """Return `text` masked once; each pattern is tried only where the letters without which it cannot match occur."""
    if "---" in text or "Private-Lines" in text:
        text = _BLOCK.sub(lambda found: (found["before"] or "") + MASK, text)
    known = _caseless(text)
    text = _without_keys(text, known)
    if "://" in text and "@" in text:
        text = _URL_PASSWORD.sub(_after(_is_value), text)
    if "=" in text and ("?" in text or "&" in text):
        text = _URL_QUERY.sub(_after(_is_value), text)
    text = _without_passwords(text, known)
    return card_number.without_cards(text, MASK) if card_number.SIGN.search(text) else text


def _without_keys(text: str, known: str) -> str:
    runs = "\n".join(_RUN.findall(text))
    if shapes := tuple(dict.fromkeys([shape for sign, shape in key_shape.SIGNS if sign in runs])):
        text = key_shape.pattern(shapes).sub(_unless_example, text)
    if _has(known, _BEARERS):
        text = _BEARER.sub(_after(_is_token), text)
    return _COOKIE.sub(_after(_is_token), text) if _has(known, ("cookie",)) else text


def _without_passwords(text: str, known: str) -> str:
    if _has(text, _FLAGS):
        text = _FLAG.sub(_after(_is_value), text)
    if _has(known, (":", "=", "|", "：", "＝")) and _follows(known, _NAMED, _NAME_END):
        text = _ASSIGNED.sub(_assigned, text)
        if _has(known, ("||", "??", "or")):
            text = _ELSE.sub(_after(_is_strong), text)
    if _has(text, ("</",)):
        text = _TAGGED.sub(_after(_is_value), text)
    if _has(known, _NAMED):
        text = _HANDED.sub(_after(_is_strong), text)
    if any(sign in known and _has(known, others) for sign, others in _COMMANDS):
        text = _COMMANDED.sub(_after(_is_value), text)
    return _SAID.sub(_after(_is_value), text) if _follows(known, _SAYINGS, _SAID_END) else text


def _caseless(text: str) -> str:
    """Return `text` in small letters, those that only look other (ſ, ı, İ) as the patterns take them."""
    known = text.lower()
    return known if known.isascii() else known.replace("ſ", "s").replace("ı", "i").replace("\u0307", "")


def _has(text: str, signs: tuple[str, ...]) -> bool:
    for sign in signs:  # noqa: SIM110  # a generator would cost more than the search
        if sign in text:
            return True
    return False


def _follows(known: str, names: tuple[str, ...], end: re.Pattern[str]) -> bool:
    """Tell whether in a caseless text one of `names` stands, and `end` right behind it."""
    for name in names:
        at = known.find(name)
        while at >= 0:
            if end.match(known, at + len(name)):
                return True
            at = known.find(name, at + 1)
    return False


def _unless_example(found: re.Match[str]) -> str:
    return found[0] if _EXAMPLE.search(found[0]) else MASK


def _after(is_secret: Callable[[str], bool]) -> Callable[[re.Match[str]], str]:
    """Return what masks a match's secret, and leaves what stands before it; each alternative has such a pair."""

    def one(found: re.Match[str]) -> str:
        groups = [(name, value) for name, value in found.groupdict().items() if value is not None]
        before = next((value for name, value in groups if name.startswith("before")), "")
        secret = found[0][len(before) :]
        about = _is_about(found.groupdict().get("more") or "")
        return before + (MASK if not about and is_secret(secret) else secret)

    return one


def _is_token(value: str) -> bool:
    """Tell a token from a word: it has a digit, and is no example."""
    return any(char.isdigit() for char in value) and _is_value(value)


def _is_strong(value: str) -> bool:
    """Tell a password from a word where words stand too: it has letters and digits, and is no name of a thing."""
    return _is_token(value) and any(char.isalpha() for char in value) and not re.fullmatch(r"[a-z_-]+\d{1,2}", value)


def _is_value(value: str) -> bool:
    return not (MASK in value or _REFERENCE.fullmatch(value) or _EXAMPLE.search(value))


def _is_about(more: str) -> bool:
    """Tell whether what follows a secret's name makes it the name of something else."""
    return re.split("[_-]", more.casefold())[-1] in _ABOUT


def _assigned(found: re.Match[str]) -> str:
    about = _is_about(found["more"])
    chosen = found["name"].casefold().startswith(_CHOSEN)
    for group in ("double", "single", "tick"):
        value = found[group]
        if value is not None:
            told = any(char.isdigit() for char in value) or (chosen and " " not in value.strip())
            secret = told and not about and _is_value(value)
            start, end = found.start(group) - found.start(), found.end(group) - found.start()
            return found[0][:start] + (MASK if secret else value) + found[0][end:]
    value = found["bare"]
    # without quotes it may be prose ("token: expired"): a secret has a digit or a sign within
    inner = value.rstrip(".,;:!?)]}")
    secret = not about and len(inner) >= 6 and _is_value(inner) and not _is_path(inner) and _stands_bare(found, inner)
    return found["before"] + (MASK + value[len(inner) :] if secret else value)


def _stands_bare(found: re.Match[str], value: str) -> bool:
    """Tell a secret without quotes from prose, a count, and the name of a thing."""
    name = found["name"]
    if found["cell"] is not None:
        return _is_strong(value)
    if value.isdecimal():
        return name.casefold() not in _COUNTED
    if all(char.isalpha() or char in "'’" for char in value):
        return found["sign"] == "=" and name.isupper() and not found["before"].endswith(" ") and value.isascii()
    return not (name.casefold() == "secret" and re.fullmatch(r"[a-z]+(?:-[a-z]+)+", value))


def _is_path(value: str) -> bool:
    return value.startswith(("/", "./", "../", "~/", "http://", "https://"))
