"""What a text claims literally: addresses, paths, file names, identifiers, commands; each as it is written.

Found in one order, each taking its characters away from the next, so that a URL's path is not also a path.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from enum import IntEnum
from typing import Final


class Kind(IntEnum):
    """Kinds of literal things, the most telling first: what compaction loses first, and readers miss most."""

    COMMAND = 0
    PATH = 1
    FILE = 2
    URL = 3
    EMAIL = 4
    IDENTIFIER = 5
    VERSION = 6
    NUMBER = 7
    NAME = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Literal:
    """One literal thing in a text, where it begins, and as it is written there."""

    kind: Kind
    text: str
    start: int


EXTENSIONS: Final = (
    "py|pyi|ipynb|js|mjs|cjs|ts|tsx|jsx|vue|svelte|rs|go|java|kt|c|h|cc|cpp|hpp|cs|rb|php|pl|lua|r|jl|swift|scala|sh|bash|zsh"
    "|fish|ps1|bat|sql|html?|css|scss|less|xml|svg|json|jsonl|ndjson|ya?ml|toml|ini|cfg|conf|env|lock|md|rst|txt|tex|csv|tsv"
    "|parquet|arrow|xlsx?|docx?|pptx?|odt|ods|pdf|epub|png|jpe?g|gif|webp|bmp|ico|tiff?|mp3|mp4|wav|ogg|flac|mkv|mov|avi|webm"
    "|zip|tar|gz|tgz|bz2|xz|zst|7z|rar|whl|deb|rpm|iso|img|bin|exe|dll|so|dylib|db|sqlite3?|log|bak|tmp|out|pem|crt|key|pub"
    "|gguf|safetensors|onnx|pt|pkl|npy|npz|service|timer|socket|patch|diff|snap|dockerfile|mk|gradle|proto|tf|tfvars|nix|vim"
)
"""Endings that make `word.ending` a file's name; without a list "M.Dupont" and "etc.Puis" would be files."""
_WORD = r"[^\W_]"
_URL = r"(?=[fghmprsw])(?:https?|ftp|ssh|git|file|s3|wss?|postgres(?:ql)?|mysql|redis|mongodb(?:\+srv)?)://[^\s<>\"'`«»“”⟨⟩（）()\[\]{}，。；、]+|\bwww\.[^\s<>\"'`«»()，。]+"
_EMAIL = r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]+)+"
_PATH = (  # a run of a name's signs is taken whole (++): where what must follow does not, it does not follow less of it either
    r"(?<![\w/.])(?:"
    r"(?<![:~-])(?:~|\.{1,2}|[A-Za-z]:)?[/\\](?:[\w.@%+=-]+[/\\])*[\w.@%+=-]*[\w@%+=-]/?"
    r"|(?<![@-])(?!\d{1,4}/\d{1,2}/\d{1,4}(?!\w))[\w.@-]++(?:[/\\][\w.@+-]+){2,}/?"
    rf"|(?<![@-])[\w.@-]++(?:[/\\][\w.@+-]+)*[/\\][\w.@+-]*\.(?:{EXTENSIONS})(?!\w)"
    r")"
)
_FILE = (
    rf"(?<![\w.-])(?=[\w-][\w+-]*+\.)[\w-][\w.+-]*\.(?:{EXTENSIONS})(?![\w-])|(?<!\w)\.(?:env|gitignore|bashrc|zshrc|profile|npmrc|dockerignore|editorconfig)\b"
    r"|(?<!\w)(?=[mdcjplr])(?:Makefile|Dockerfile|Containerfile|Justfile|Procfile|LICENSE|CHANGELOG|README)(?![\w.])"
)
_COMMAND_HEADS = (
    "sudo|git|pip3?|pipx|uv|python3?|node|npm|npx|yarn|pnpm|docker|docker-compose|podman|kubectl|helm|terraform|ansible|make|cmake"
    "|cargo|rustc|go|java|mvn|gradle|pytest|ruff|mypy|pyright|basedpyright|black|curl|wget|ssh|scp|rsync|systemctl|journalctl"
    "|apt|apt-get|dnf|yum|brew|pacman|chmod|chown|mkdir|rm|cp|mv|ln|ls|cat|grep|rg|sed|awk|find|tar|unzip|psql|mysql|sqlite3"
    "|redis-cli|ollama|prefect|horizon|ffmpeg|convert|pandoc|openssl|crontab|tmux|vim|nano|export|source|cd|aws|gcloud|az|gh"
    "|poetry|conda|mamba|tox|nox|alembic|django-admin|flask|uvicorn|gunicorn|celery|bash|sh|zsh|kill|ps|df|du|mount|ip|ping"
)
_COMMAND = (
    rf"(?m:^[ \t]*(?:\$|%|>|❯|#)[ \t]+(?P<shell>[^\n]{{2,160}})$)"
    rf"|`(?P<ticked>(?:{_COMMAND_HEADS})(?:[ \t]+[^`\n]{{1,160}}))`"
    rf"|(?m:^[ \t]*(?P<line>(?:{_COMMAND_HEADS})[ \t]+[^\n]{{1,160}})$)"
)
_IDENTIFIER = (
    r"`[^`\n]{2,80}`"  # what the writer marked as code
    r"|(?<!\w)(?:"  # the others begin no word in its middle
    r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b"
    r"|(?<!-)(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,64}(?![\w-])"  # hashes
    r"|(?<!#)[A-Z][A-Z0-9]{1,9}-\d{1,6}(?!\w)"  # tickets
    r"|(?<![./-])(?:feature|feat|fix|bugfix|hotfix|release|chore|refactor|origin|upstream)/[\w.-]*\w"  # branches
    r"|#\d{1,7}(?!\w)"
    r"|(?<!-)--[a-z][\w-]*(?:=[^\s,;)]+)?"  # options
    rf"|@{_WORD}[\w/-]+"
    r"|(?:_+[^\W_]+|[^\W_]++_)\w*"  # snake_case
    r"|(?<![./-])[A-Za-z][\w-]{1,60}(?=(?:==|~=)(?:\d+\.\d| {3}))"  # packages before their versions, which were taken
    r"|(?<!\.)[^\W\d_]++(?:\.[^\W\d_]\w+)+\(\)"
    r"|[A-Za-z][a-z0-9]*[a-z][A-Z][A-Za-z0-9]*(?:\(\))?"  # camelCase
    r"|[A-Za-z]+\d+[A-Za-z0-9]*(?!\w)"  # letters and digits: a4b, utf8, T1000
    r")"
)
_PHONE = r"(?<![\w.,+])(?:0\d(?:[ .-]\d\d){4}|\+\d{1,3}(?:[ .-]?(?:\(0\))?\d{1,4}){2,6}|\(?\d{3}\)?[ .-]\d{3}[.-]\d{4})(?![\w-])"
_VERSION = r"(?<![\w.])(?!\d{1,2}\.\d{1,2}\.(?:19|20)\d\d(?!\d))v?\d+(?:\.\d+){2,}(?:[-+.][A-Za-z0-9]+)*|(?<![\w.])v\d+(?:\.\d+)*(?![\w])"

_ALL: Final = (
    (Kind.URL, re.compile(_URL, re.IGNORECASE), re.compile(r"://|www\.", re.IGNORECASE)),
    (Kind.EMAIL, re.compile(_EMAIL), re.compile("@")),
    (Kind.PATH, re.compile(_PATH, re.IGNORECASE), re.compile(r"[/\\]")),
    (Kind.FILE, re.compile(_FILE, re.IGNORECASE), re.compile(r"\.\w|file|LICENSE|CHANGELOG|README", re.IGNORECASE)),
    (Kind.IDENTIFIER, re.compile(_PHONE), re.compile(r"\d[ .)-]{1,2}\d|\+\d")),
    (Kind.VERSION, re.compile(_VERSION), re.compile(r"\d\.\d|v\d")),
    (Kind.IDENTIFIER, re.compile(_IDENTIFIER), None),
)
"""Each kind's shape, and what stands in each of that kind: quicker to look for."""
_LONG: Final = re.compile(r"[\w.@%+=/\\:~#$&?*|^-]{400,}|[ \t]{100,}")
"""Encoded data and rules: no one's evidence, and what would make the patterns above slow. Compact JSON is none of them."""
_HAN: Final = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
_SEAMS: Final = re.compile(rf"(?<=[{_HAN}])(?=[!-~])|(?<=[!-~])(?=[{_HAN}])")
_IDEOGRAPH: Final = re.compile(f"[{_HAN}]")
SEAM: Final = "\u2005"
"""A space put between ideographs and what is glued to them, since a letter of either is no part of the other's word."""
_COMMANDS: Final = re.compile(_COMMAND)
_END: Final = ".,;:!?…'\"’”»)]}>，。；：！？、"


def literals(text: str) -> tuple[list[Literal], str]:
    """Return the literal things in `text`, in no set order, and the text with each replaced by blanks.

    Commands are not among them: their parts are.
    """
    found: list[Literal] = []
    text = _LONG.sub(" ", text)
    if _IDEOGRAPH.search(text):
        text = _SEAMS.sub(SEAM, text)
    written = text
    for kind, pattern, sign in _ALL:
        if sign is not None and not sign.search(text):
            continue

        def take(match: re.Match[str], kind: Kind = kind) -> str:
            whole = match[0].rstrip(_END) if kind is not Kind.IDENTIFIER else match[0]
            if not whole:
                return match[0]
            if whole.strip("` "):  # else all of what stood between ticks was taken before
                told = written[match.start() : match.start() + len(whole)]  # with its parts that were taken
                found.append(Literal(kind=kind, text=told.strip("`").replace(SEAM, ""), start=match.start()))
            return " " * len(whole) + match[0][len(whole) :]

        text = pattern.sub(take, text)
    return found, text


def commands(text: str) -> list[Literal]:
    """Return the command lines in `text`, in order."""
    found: list[Literal] = []
    for match in _COMMANDS.finditer(_LONG.sub(" ", text)):
        line = match["shell"] or match["ticked"] or match["line"]
        found.append(Literal(kind=Kind.COMMAND, text=line.strip(), start=match.start()))
    return found


_ACCENTS: Final = re.compile("[\u0300-\u034e\u0350-\u036f]+")
"""The combining marks of Latin scripts, nearly all that there are; the others are looked up."""
_FAR: Final = re.compile(r"[^\x00-\x7f]+")


def _unmarked(found: re.Match[str]) -> str:
    return "".join(char for char in found[0] if not unicodedata.combining(char))


def folded(text: str) -> str:
    """Return `text` for comparing: compatibility forms, accents and case folded, runs of space as one."""
    if not text.isascii():
        text = _ACCENTS.sub("", unicodedata.normalize("NFKD", text))
        if not text.isascii():
            text = _FAR.sub(_unmarked, text)
    return " ".join(text.replace("\\", "/").replace("’", "'").casefold().split())
