"""An Ollama server for tests: real HTTP on 127.0.0.1, Ollama's native calls, and every way in which they go wrong.

In a test: the fixture `ollama_server`. Without more it answers deterministically and faithfully, from the
prompt alone. `server.answer(...)` sets what every call gets, `server.then(...)` what the next calls get, in order:
a text, a function of the request's body, or a `Behaviour` of `tests.ollama_behaviour` (`hang()`, `status(503)`, `html()`, …).

Requests are checked strictly: an unknown field or option, a wrong type, a missing window or bound on the reply, or
a prompt that does not fit is a violation, and fails the test when the server closes.

In a process of its own: `python -m tests.ollama_server --port 11999 --mode deterministic`. `POST /control {"mode":
"503"}` switches it (`deterministic`, `503`, `429`, `404`, `hang`, `html`, `reset`, `empty`), `GET /control` tells counts and violations.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import socket
import struct
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

from tests.ollama_behaviour import BROKEN_AT_THE_DOOR, CREATED, MODES, Behaviour, Body
from tests.ollama_strict import CHARS_PER_TOKEN, Model, prompt_tokens, violations_of

Answer = str | Callable[[Body], str] | Behaviour


@dataclass
class OllamaServer:
    """The server; a context manager. `requests` holds the bodies of the chat calls, in order of arrival."""

    port: int = 0
    mode: str = "deterministic"
    models: dict[str, Model] = field(default_factory=lambda: {"qwen3": Model()})
    requests: list[Body] = field(default_factory=list)
    calls: list[str] = field(default_factory=list)
    """"METHOD /path" of every request, in order of arrival."""
    keys: list[tuple[str, str | None]] = field(default_factory=list)
    """Path and Authorization header of each POST, in order of arrival."""
    violations: list[str] = field(default_factory=list)
    max_concurrent: int = 0
    """Most chat calls that were being answered at one time."""
    _default: Behaviour | None = None
    _queue: deque[Behaviour] = field(default_factory=deque)
    busy_now: int = 0
    """Chat calls being answered now."""
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _ending: threading.Event = field(default_factory=threading.Event)
    _http: _Http | None = None
    _thread: threading.Thread | None = None

    def __enter__(self) -> Self:
        self.listen()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def host(self) -> str:
        """What `OLLAMA_HOST` is to be for this server."""
        return f"http://127.0.0.1:{self.port}"

    def model(self, name: str, **card: Any) -> Self:
        """Have a model of this name; `window`, `thinking`, `family` as `show` tells them."""
        self.models[name] = Model(**card)
        return self

    def answer(self, answer: Answer) -> Self:
        """Give every call this answer, but for those that `then` has set."""
        self._default = _behaviour(answer)
        return self

    def then(self, *answers: Answer) -> Self:
        """Give the next calls these answers, one each, in order."""
        self._queue.extend(_behaviour(answer) for answer in answers)
        return self

    def switch(self, mode: str) -> Self:
        """Behave like this from now on (a key of `MODES`); what was set before is forgotten."""
        with self._lock:
            self.mode, self._default = mode, None
            self._queue.clear()
        return self

    def refuse(self) -> Self:
        """Close the port: from now on connections are refused, until `listen()`."""
        if self._http is not None and self._thread is not None:
            self._http.shutdown()
            self._http.server_close()
            self._thread.join()
            self._http = self._thread = None
        return self

    def listen(self) -> Self:
        """Open the port, the same as before where there was one."""
        if self._http is None:
            self._http = _Http(self)
            self.port = self._http.server_address[1]
            self._thread = threading.Thread(
                target=self._http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
            )
            self._thread.start()
        return self

    def close(self) -> None:
        """End everything: calls that hang are let go."""
        self._ending.set()
        self.refuse()

    def counts(self) -> Body:
        return {
            "mode": self.mode,
            "requests": len(self.requests),
            "max_concurrent": self.max_concurrent,
            "violations": self.violations,
        }

    def wait(self, seconds: float) -> None:
        self._ending.wait(seconds)

    def next_behaviour(self) -> Behaviour:
        with self._lock:
            if self._queue:
                return self._queue.popleft()
            return self._default or MODES[self.mode]()

    @contextlib.contextmanager
    def busy(self, body: Body):
        with self._lock:
            self.requests.append(body)
            self.busy_now += 1
            self.max_concurrent = max(self.max_concurrent, self.busy_now)
        try:
            yield
        finally:
            with self._lock:
                self.busy_now -= 1

    def find(self, name: str) -> Model | None:
        for have, model in self.models.items():
            if name.lower() in {have.lower(), f"{have.lower()}:latest"}:
                return model
        return None


def _behaviour(answer: Answer) -> Behaviour:
    return answer if isinstance(answer, Behaviour) else Behaviour(text=answer)


class _Http(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def __init__(self, owner: OllamaServer) -> None:
        super().__init__(("127.0.0.1", owner.port), _Handler)
        self.owner = owner

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is no news."""


class _Handler(BaseHTTPRequestHandler):
    server: _Http

    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        """Nothing on the terminal."""

    def do_GET(self) -> None:
        if self.path == "/control":
            self._json(self.server.owner.counts())
            return
        self.server.owner.calls.append(f"GET {self.path}")
        if self._broken():
            return
        match self.path:
            case "/":
                self._send(200, b"Ollama is running", "text/plain")
            case "/api/version":
                self._json({"version": "0.32.0"})
            case "/api/tags":
                self._json({"models": [self._listed(name) for name in self.server.owner.models]})
            case "/api/ps":
                self._json(
                    {"models": [self._listed(name) | {"context_length": 4096} for name in self.server.owner.models]}
                )
            case _:
                self.server.owner.violations.append(f"GET {self.path}")
                self._send(404, b"404 page not found", "text/plain")

    def do_POST(self) -> None:
        size = int(self.headers.get("Content-Length") or 0)
        body = json.loads(self.rfile.read(size) or b"{}")
        if self.path == "/control":
            self.server.owner.switch(body["mode"])
            self._json(self.server.owner.counts())
            return
        self.server.owner.calls.append(f"POST {self.path}")
        self.server.owner.keys.append((self.path, self.headers.get("Authorization")))
        if self._broken(chat=self.path == "/api/chat"):
            return
        match self.path:
            case "/api/show":
                self._show(body)
            case "/api/chat":
                with self.server.owner.busy(body):
                    self._chat(body)
            case _:
                self.server.owner.violations.append(f"POST {self.path}")
                self._send(404, b"404 page not found", "text/plain")

    def _broken(self, *, chat: bool = False) -> bool:
        """Answer as the whole server's mode says, where that concerns its door; the chat call does so itself."""
        if chat or self.server.owner.mode not in BROKEN_AT_THE_DOOR:
            return False
        self._fail(MODES[self.server.owner.mode]())
        return True

    def _listed(self, name: str) -> Body:
        tagged = name if ":" in name else f"{name}:latest"
        details = {"format": "gguf", "family": self.server.owner.models[name].family, "parameter_size": "1B"}
        return {
            "name": tagged,
            "model": tagged,
            "size": 1,
            "digest": "0" * 64,
            "modified_at": CREATED,
            "details": details,
        }

    def _show(self, body: Body) -> None:
        if set(body) - {"model", "verbose"}:
            self.server.owner.violations.append(f"show: unknown fields {sorted(set(body) - {'model', 'verbose'})}")
        model = self.server.owner.find(str(body.get("model")))
        if model is None:
            self._json({"error": f"model '{body.get('model')}' not found"}, 404)
            return
        capabilities = ["completion", "thinking"] if model.thinking else ["completion"]
        info = {"general.architecture": model.family, f"{model.family}.context_length": model.window}
        self._json({"details": {"family": model.family}, "model_info": info, "capabilities": capabilities})

    def _chat(self, body: Body) -> None:
        model = self.server.owner.find(str(body.get("model")))
        if model is None:
            self._json({"error": f"model '{body.get('model')}' not found"}, 404)
            return
        self.server.owner.violations.extend(violations_of(body, model))
        if body.get("think") and not model.thinking:
            self._json({"error": f'"{body["model"]}" does not support thinking'}, 400)
            return
        how = self.server.owner.next_behaviour()
        self.server.owner.wait(how.delay)
        if not self._fail(how):
            self._reply(body, how)

    def _fail(self, how: Behaviour) -> bool:
        """Send what is no reply at all; tell whether that was so."""
        if how.hang == "start":
            self.server.owner.wait(3600)
            self._drop()
        elif how.end == "reset":
            self._drop()
        elif how.raw is not None:
            self._send(how.status, how.raw, how.content_type)
        elif how.status != 200:
            self._json({"error": how.error}, how.status)
        else:
            return False
        return True

    def _reply(self, body: Body, how: Behaviour) -> None:
        said = how.text(body) if callable(how.text) else how.text
        parts = _parts(body, how, said)
        if not body.get("stream", True):
            whole = {**parts[-1], "message": {"role": "assistant", "content": said}}
            self._json(whole)
            return
        self.send_response(200)
        self.send_header("Content-Type", "application/x-ndjson")
        self.send_header("Transfer-Encoding", "chunked")
        self.send_header("Connection", "close")
        self.end_headers()
        for index, part in enumerate(parts):
            line = json.dumps(part).encode() + b"\n"
            if index == 1 and how.mid_error:
                self._chunk(json.dumps({"error": how.mid_error}).encode() + b"\n")
                break
            if index and how.hang == "middle":
                self.server.owner.wait(3600)
                self._drop()
                return
            if index == len(parts) - 1 and how.end == "half line":
                self._chunk(line[: len(line) // 2])
                break
            if index and how.end == "cut":
                self._drop()
                return
            self._chunk(line)
            self.server.owner.wait(how.pace)
        self._chunk(b"")
        self.close_connection = True

    def _chunk(self, data: bytes) -> None:
        self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
        self.wfile.flush()

    def _drop(self) -> None:
        """Reset the connection."""
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close_connection = True
        self.connection.close()

    def _json(self, value: Body, code: int = 200) -> None:
        self._send(code, json.dumps(value).encode(), "application/json; charset=utf-8")

    def _send(self, code: int, data: bytes, kind: str) -> None:
        self.send_response(code)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(data)
        self.close_connection = True


def _parts(body: Body, how: Behaviour, said: str) -> list[Body]:
    """Return the lines of a streamed reply: the text in a few parts, and the last one with the counts."""

    def part(content: str | None, **more: Any) -> Body:
        return {
            "model": body["model"],
            "created_at": CREATED,
            "message": {"role": "assistant", "content": content},
            "done": False,
        } | more

    step = max(len(said) // 4, 1)
    parts = [part(said[at : at + step]) for at in range(0, len(said), step)]
    if how.thinking:
        parts.insert(0, part(""))
        parts[0]["message"]["thinking"] = how.thinking
    if not how.done:
        return parts or [part("")]
    counted = how.prompt_eval_count
    if counted == -1:
        counted = body["options"]["num_ctx"] // 2 + 2
    if counted is None:
        counted = prompt_tokens(body)
    last = part(
        None if how.null else "", done=True, prompt_eval_count=counted, eval_count=len(said) // CHARS_PER_TOKEN + 1
    )
    last |= {"total_duration": 1, "load_duration": 1, "prompt_eval_duration": 1, "eval_duration": 1}
    if how.done_reason is not None:
        last["done_reason"] = how.done_reason
    return [*parts, last]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--mode", choices=sorted(MODES), default="deterministic")
    parser.add_argument("--model", action="append", default=[])
    given = parser.parse_args()
    server = OllamaServer(port=given.port, mode=given.mode, models={name: Model() for name in given.model or ["qwen3"]})
    with server, contextlib.suppress(KeyboardInterrupt):
        print(server.host, flush=True)  # noqa: T201  # whoever started the process reads where it listens
        threading.Event().wait()


if __name__ == "__main__":
    main()
