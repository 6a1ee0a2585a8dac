"""A summarizer over Ollama's native chat: the only code that knows the `ollama` client and its httpx.

What the client leaves to its user is done here: timeouts and a deadline, the window and a check that the
prompt was not cut silently, thinking models, answers that end early without an error, and a map from every
error of the client and of its transport to `ModelUnavailable` (worth another try later) or `Rejected` (not).
"""

from __future__ import annotations

import contextlib
import importlib
import ipaddress
import os
import time
import urllib.parse
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, TypeVar, cast

from horizon.core.prompt import clean, least_tokens, most_tokens
from horizon.core.salvage import without_thoughts
from horizon.core.verdict import Rejected
from horizon.errors import InvalidInput, ModelUnavailable
from horizon.ports import Answered
from horizon.settings import MODEL_PREFIX, is_cloud

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping

    import httpx
    import ollama

    from horizon.ports import ModelRequest

_Result = TypeVar("_Result")

CONNECT_SECONDS: Final = 5.0
"""To reach the server: a machine of the same house answers in milliseconds, one that is off never does."""
IDLE_SECONDS: Final = 60.0
"""Between two parts of a reply that has begun; the slowest useful models give a token in a second or two."""
HEARD_MOST: Final = 200
"""Characters of a server's or client's error that are told."""
ECHO: Final = 12
"""Letters in a row of an error that make it a repetition of the question: few enough for a name, in any script."""
HEALTH_SECONDS: Final = 3.0
"""For each of the health check's questions, which a healthy server answers at once."""
FRAME_TOKENS: Final = 64
"""What a model's chat template adds around the messages."""
CUT_SLACK: Final = 2
"""A silently cut prompt counts half the window and two tokens; this much to either side is taken for it."""
PARTS_PER_TOKEN: Final = 2
PARTS_SPARE: Final = 64
"""A reply in more parts than this has no end in sight: `num_predict` bounds it on a sane server, this on any other."""
CHARS_PER_PART: Final = 16
"""Characters that a part of a reply has at most on average, several times what tokens of any language have."""
CHARS_SPARE: Final = 4_000
"""As many more, for short replies."""
TRANSIENT: Final = frozenset({-1, 408, 425, 429, 500, 502, 503, 504})
"""Statuses worth another try; -1 is the client's for an error in mid-stream."""
SAMPLING: Final[Mapping[str, object]] = {"temperature": 0.0, "seed": 0, "repeat_penalty": 1.1, "repeat_last_n": 256}
"""The same on every call. Small models loop without a penalty; at temperature 0 a night can be repeated."""
DEFAULT_PORT: Final = 11_434


def base_url(host: str) -> str:
    """Return the server's URL for `host` as `OLLAMA_HOST` may give it; an empty one is this machine.

    `http://h` means port 80, `https://h` 443, `h` alone 11434. An address to listen on (0.0.0.0, ::)
    becomes this machine's own.

    Raises:
        InvalidInput: it is no host, or its scheme is not http or https.
    """
    given = host.strip().strip("\"'")
    scheme, mark, rest = given.partition("://")
    if not mark:
        scheme, rest = "http", given
    scheme = scheme.lower()
    problem = f"{host!r} is not the address of an Ollama server; allowed: host, host:port or http(s)://host:port/path"
    if scheme not in {"http", "https"} or any(char.isspace() or ord(char) < 32 for char in rest):
        raise InvalidInput(problem)
    try:
        split = urllib.parse.urlsplit(f"{scheme}://{rest}")
        port = split.port
    except ValueError as error:
        raise InvalidInput(f"{problem} ({error})") from None
    name = split.hostname or "127.0.0.1"
    if split.query or split.fragment or "%" in name or (port is not None and port == 0):
        raise InvalidInput(problem)
    if port is None:
        port = DEFAULT_PORT if not mark else 443 if scheme == "https" else 80
    name = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(name, name)  # noqa: S104  # recognised, not bound
    try:
        name.encode("idna")
    except UnicodeError:
        raise InvalidInput(problem) from None
    user = f"{split.netloc.rpartition('@')[0]}@" if "@" in split.netloc else ""
    shown = f"[{name}]" if ":" in name else name
    return f"{scheme}://{user}{shown}:{port}{split.path.rstrip('/')}"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Card:
    """What `show` says of a model that matters for calls."""

    window: int | None
    think: bool | Literal["low"] | None


class OllamaModel:
    """Asks models of one Ollama server. Making one is cheap: it opens and loads nothing.

    `host` and `api_key` default to `OLLAMA_HOST` and `OLLAMA_API_KEY`, read when first needed. One instance
    may be used by several threads.
    """

    def __init__(self, *, host: str | None = None, api_key: str | None = None) -> None:
        self._host = host
        self._api_key = api_key
        self._cards: dict[str, _Card] = {}

    @property
    def url(self) -> str:
        """The server's URL.

        Raises:
            InvalidInput: the host cannot be one.
        """
        return base_url(self._host if self._host is not None else os.environ.get("OLLAMA_HOST", ""))

    def chat(self, request: ModelRequest) -> Answered | Rejected:
        """Ask once and return the whole reply, or why it is no use. Never waits much beyond `request.timeout`.

        Raises:
            ModelUnavailable: refused, cut off, busy (429, 5xx), timed out, or no Ollama at that address.
            InvalidInput: `OLLAMA_HOST` cannot be an address.
        """
        name = request.model.removeprefix(MODEL_PREFIX)
        if not name:
            return Rejected(reason="no model is named", final=True)
        call = _Call(deadline=time.monotonic() + request.timeout)
        system, prompt = clean(request.system), clean(request.prompt)

        def ask() -> Answered | Rejected:
            with contextlib.closing(self._client(call)) as client:
                card = self._card(client, name)
                window = request.context if card.window is None else min(request.context, card.window)
                needed = most_tokens(system) + most_tokens(prompt) + FRAME_TOKENS + request.reply_tokens
                if needed > window:
                    return Rejected(reason=f"about {needed} tokens do not fit the window of {window}", window=window)
                question = _Question(name=name, system=system, prompt=prompt, request=request, card=card, window=window)
                return question.asked_of(client, call)

        return self._translated(name, ask, sent=f"{system}\n{prompt}")

    def available(self, model: str) -> str | None:
        """Return None where the server answers and has `model`, else the reason for people; takes seconds at most."""
        name = model.removeprefix(MODEL_PREFIX)

        def look() -> Rejected | None:
            call = _Call(deadline=time.monotonic() + HEALTH_SECONDS)
            with contextlib.closing(self._client(call)) as client:
                names = {found.model.lower() for found in client.list().models if found.model}
            if names & {name.lower(), f"{name.lower()}:latest"}:
                return None
            return Rejected(reason=f"{name} is not on the server; run: ollama pull {name}", final=True)

        try:
            found = self._translated(name, look)
        except (ModelUnavailable, InvalidInput) as error:
            return str(error)
        return found.reason if found is not None else None

    def models(self) -> tuple[str, ...]:
        """Return the server's own models as "ollama/<name>", the smallest first; takes seconds at most.

        Empty where no server answers. Models that run on a company's servers are left out.
        """

        def look() -> tuple[str, ...]:
            call = _Call(deadline=time.monotonic() + HEALTH_SECONDS)
            with contextlib.closing(self._client(call)) as client:
                found = sorted(client.list().models, key=lambda each: (each.size or 0, each.model or ""))
            return tuple(f"{MODEL_PREFIX}{each.model}" for each in found if each.model and not is_cloud(each.model))

        try:
            names = self._translated("the list of models", look)
        except (ModelUnavailable, InvalidInput):
            return ()
        return () if isinstance(names, Rejected) else names

    def _client(self, call: _Call) -> ollama.Client:
        url = self.url
        import ollama  # noqa: PLC0415  # loaded only when a model is asked

        secure = url.startswith("https:")
        return ollama.Client(
            host=url,
            headers={"Authorization": f"Bearer {self._api_key}"} if self._api_key else None,
            timeout=CONNECT_SECONDS,
            verify=secure,  # plain http needs no certificates, and loading them takes longer than the rest
            trust_env=not _is_loopback(url),  # a proxy for the outside cannot reach this machine
            follow_redirects=False,  # a prompt goes where the keeper said, nowhere else
            event_hooks={"request": [call.limit_wait], "response": [call.limit_idle]},
        )

    def _card(self, client: ollama.Client, name: str) -> _Card:
        card = self._cards.get(name)
        if card is None:
            shown = client.show(name)
            info = shown.modelinfo or {}
            windows = [
                value
                for key, value in info.items()
                if key.endswith(".context_length") and isinstance(value, int) and value > 0
            ]
            family = (shown.details.family or "") if shown.details else ""
            think: bool | Literal["low"] | None = None
            if "thinking" in (shown.capabilities or ()):
                # gpt-oss cannot be told not to think, only how much
                think = "low" if "gpt-oss" in name.lower() or family in {"gptoss", "gpt-oss"} else False
            card = self._cards[name] = _Card(window=min(windows, default=None), think=think)
        return card

    def _translated(self, name: str, work: Callable[[], _Result], *, sent: str = "") -> _Result | Rejected:
        """Return what `work`, which sends `sent`, does, with every error of the client and its transport in our own terms."""
        url = _without_user(self.url)
        _load()
        import httpx  # noqa: PLC0415  # loaded only when a model is asked
        import ollama  # noqa: PLC0415 - as above
        import pydantic  # noqa: PLC0415 - as above

        try:
            return work()
        except ollama.ResponseError as error:
            return _refusal(name, url, error.status_code, str(error.error), sent)
        except ollama.RequestError as error:
            return Rejected(reason=f"the client does not send this: {_said(error, sent)}", final=True)
        except pydantic.ValidationError:
            return Rejected(reason=f"the server at {url} answered without the fields of a reply")
        except httpx.TimeoutException as error:
            raise ModelUnavailable(f"{name} at {url}: no answer in time ({type(error).__name__})") from None
        except (ConnectionError, httpx.ConnectError) as error:
            raise ModelUnavailable(f"{name}: no connection to {url}; is Ollama running there?") from error
        except (httpx.HTTPError, httpx.StreamError, OSError) as error:
            raise ModelUnavailable(f"{name} at {url}: {_said(error, sent)}") from None
        except httpx.InvalidURL as error:
            raise InvalidInput(f"{url} is not an address that can be asked: {error}") from None
        except (ValueError, TypeError, AttributeError, LookupError, RecursionError) as error:
            # what the client meets when the other side is no Ollama, or stopped within a line
            raise ModelUnavailable(f"{name} at {url}: not a reply of Ollama's ({_said(error, sent)})") from None


@dataclass(slots=True, kw_only=True)
class _Call:
    """One call's deadline (of `time.monotonic`), put upon each of its requests as the transport's limits."""

    deadline: float

    def left(self) -> float:
        return max(self.deadline - time.monotonic(), 0.001)

    def limit_wait(self, request: httpx.Request) -> None:
        """Before a request: loading a model and reading the prompt are silent, so only the deadline limits them."""
        left = self.left()
        request.extensions["timeout"] = {
            "connect": min(CONNECT_SECONDS, left),
            "pool": min(CONNECT_SECONDS, left),
            "write": left,
            "read": left,
        }

    def limit_idle(self, response: httpx.Response) -> None:
        """Once a reply has begun, silence means that it hangs."""
        response.request.extensions["timeout"]["read"] = min(IDLE_SECONDS, self.left())


@dataclass(frozen=True, slots=True, kw_only=True)
class _Question:
    """A request made ready for the wire."""

    name: str
    system: str
    prompt: str
    request: ModelRequest
    card: _Card
    window: int

    def asked_of(self, client: ollama.Client, call: _Call) -> Answered | Rejected:
        start = time.monotonic()
        stream = self._stream(client)
        parts: list[str] = []
        chars, most = 0, self.request.reply_tokens * PARTS_PER_TOKEN
        last: ollama.ChatResponse | None = None
        try:
            for last in stream:
                parts.append(last.message.content or "")
                chars += len(parts[-1])
                if len(parts) > most + PARTS_SPARE or chars > most * CHARS_PER_PART + CHARS_SPARE:
                    return Rejected(reason="a reply without end")
                if last.done:
                    break
                if time.monotonic() > call.deadline:
                    raise ModelUnavailable(f"{self.name}: not finished after {self.request.timeout:g} s")
        finally:
            stream.close()  # stops the server's work
        if last is None or last.done is not True:
            raise ModelUnavailable(f"{self.name}: the reply was cut off")
        return self._judged(last, "".join(parts), time.monotonic() - start)

    def _stream(self, client: ollama.Client) -> Generator[ollama.ChatResponse]:
        messages = [{"role": "system", "content": self.system}] if self.system else []
        messages.append({"role": "user", "content": self.prompt})
        schema = self.request.schema
        stream = client.chat(  # pyright: ignore[reportUnknownMemberType]  # for a tools parameter not used here
            self.name,
            messages,
            stream=True,
            think=self.card.think,
            format=dict(schema) if schema is not None else None,
            options={**SAMPLING, "num_ctx": self.window, "num_predict": max(self.request.reply_tokens, 1)},
        )
        return cast("Generator[ollama.ChatResponse]", stream)

    def _judged(self, last: ollama.ChatResponse, reply: str, seconds: float) -> Answered | Rejected:
        if last.done_reason != "stop":
            return Rejected(reason=f"the reply did not come to its end ({last.done_reason or 'no reason given'})")
        counted = last.prompt_eval_count or 0
        if counted and _was_cut(counted, f"{self.system}\n{self.prompt}", self.window):
            return Rejected(reason=f"the server cut the prompt to {counted} tokens without saying so")
        text = without_thoughts(reply)
        if text is None:
            return Rejected(reason="the reply is reasoning without an answer")
        if not text:
            return Rejected(reason="an empty reply")
        return Answered(text=clean(text), prompt_tokens=counted, reply_tokens=last.eval_count or 0, seconds=seconds)


def _was_cut(counted: int, prompt: str, window: int) -> bool:
    """Tell whether the server counted fewer tokens than the prompt has, or exactly what cutting leaves."""
    return counted < least_tokens(prompt) or abs(counted - (window // 2 + 2)) <= CUT_SLACK


def _refusal(name: str, url: str, status: int, error: str, sent: str) -> Rejected:
    said = _heard(error, sent)
    if status in TRANSIENT or status > 504:
        raise ModelUnavailable(f"{name} at {url}: status {status}: {said}")
    if status == 404:
        return Rejected(reason=f"{name} is not on the server at {url}; run: ollama pull {name}", final=True)
    if status in {401, 403}:
        return Rejected(reason=f"the server at {url} refuses the key (status {status}); set OLLAMA_API_KEY", final=True)
    if "exceed_context_size" in error or "context size" in error:
        return Rejected(reason=f"the prompt is too long for {name}: {said}")
    return Rejected(reason=f"{name} at {url}: status {status}: {said}", final=True)


def _said(error: BaseException, sent: str) -> str:
    text = _heard(str(error), sent)
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _heard(text: str, sent: str) -> str:
    """Return what the other side said, on one line; none of it where it repeats what it was sent, for errors are told to many."""
    line = " ".join(text.split())[:HEARD_MOST]
    letters, theirs = _letters(line), _letters(sent)
    echoes = any(letters[at : at + ECHO] in theirs for at in range(len(letters) - ECHO + 1))
    return "(words that repeat the question are left out)" if echoes else line


def _letters(text: str) -> str:
    return "".join(character for character in text.casefold() if character.isalnum())


def _without_user(url: str) -> str:
    """Return `url` for people, without a name and password in it."""
    scheme, mark, rest = url.partition("://")
    return scheme + mark + rest.rpartition("@")[2]


def _is_loopback(url: str) -> bool:
    host = urllib.parse.urlsplit(url).hostname or ""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _load() -> None:
    """Import the client, only when a model is asked.

    Raises:
        InvalidInput: importing fails on what the environment says (the package makes a client at import).
    """
    try:
        importlib.import_module("ollama")
    except (ValueError, ImportError) as error:
        raise InvalidInput(f"OLLAMA_HOST or a proxy variable cannot be used: {error}") from None
