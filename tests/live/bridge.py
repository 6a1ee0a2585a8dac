"""Ollama's chat protocol over llama.cpp (the xllamacpp wheel), so that a real small model can be asked without Ollama.

As Ollama does, it keeps the loaded model in a child process, cuts a prompt that is too long silently to about half
of the window, and streams. One model, no tools, images or thinking.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

NAME = "smollm2:135m"
WINDOW = 8_192
"""The context length of SmolLM2-135M-Instruct."""
KEEP = 4
"""Tokens of the beginning that cutting spares."""
CHILD = """import os, sys, xllamacpp as x
p = x.CommonParams(); p.model.path, p.port, p.n_ctx = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
p.n_parallel = 1; p.warmup = False; p.n_gpu_layers = 0
p.cpuparams.n_threads = p.cpuparams_batch.n_threads = os.cpu_count()
server = x.Server(p); sys.stdin.read(); os._exit(0)"""
"""Ends with its parent: then its standard input closes."""
OPTIONS = ("temperature", "seed", "repeat_penalty", "repeat_last_n", "top_k", "top_p", "min_p", "stop")
OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))


class Engine:
    """llama.cpp's own server in a child process, loaded again whenever another window is asked for."""

    def __init__(self, weights: str) -> None:
        self.weights = weights
        self.child: subprocess.Popen[bytes] | None = None
        self.window = self.port = 0
        self.turn = threading.Lock()

    def load(self, window: int) -> None:
        window = min(window, WINDOW)
        if self.child is not None and self.child.poll() is None and window == self.window:
            return
        self.close()
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.window, self.port = window, free.getsockname()[1]
        self.child = subprocess.Popen(
            [sys.executable, "-c", CHILD, self.weights, str(self.port), str(window)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=os.environ | {"OMP_WAIT_POLICY": "passive"},  # threads that spin stall a busy machine
        )
        while self.child.poll() is None:
            with contextlib.suppress(OSError):
                self.ask("health")
                return
            time.sleep(0.1)
        raise RuntimeError(f"the engine ended with status {self.child.returncode}")

    def close(self) -> None:
        if self.child is not None:
            self.child.kill()
            self.child.communicate()
            self.child = None

    def lines(self, route: str, body: dict[str, Any] | None = None):
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}/{route}",
            data=None if body is None else json.dumps(body).encode(),
            headers={"Content-Type": "application/json"},
        )
        with OPENER.open(request) as answer:
            yield from answer

    def ask(self, route: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        return json.loads(b"".join(self.lines(route, body)))

    def reply(self, body: dict[str, Any]):
        """Yield llama.cpp's events for a chat request; the last has `stop`."""
        options = body["options"]
        prompt = self.ask("apply-template", {"messages": body["messages"]})["prompt"]
        tokens = self.ask("tokenize", {"content": prompt, "add_special": True, "parse_special": True})["tokens"]
        if len(tokens) > self.window - 1:
            kept = self.window - max((self.window - KEEP) // 2, 1)
            tokens = tokens[:KEEP] + tokens[KEEP - kept :]
        asked = {key: options[key] for key in OPTIONS if key in options}
        asked |= {"prompt": tokens, "stream": True, "n_predict": options["num_predict"]}
        if body.get("format"):
            asked["json_schema"] = body["format"]
        for line in self.lines("completion", asked):
            if line.startswith(b"data: "):
                yield json.loads(line[6:])


class Bridge(ThreadingHTTPServer):
    """Listens on a free port of 127.0.0.1; a context manager."""

    daemon_threads = True

    def __init__(self, weights: str) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.engine = Engine(weights)
        self.replies: list[str] = []
        """What the model said, in order."""
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def host(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def __exit__(self, *_: object) -> None:
        self.shutdown()
        self.server_close()
        self.engine.close()


class _Handler(BaseHTTPRequestHandler):
    server: Bridge

    def log_message(self, *_: object) -> None:
        """Nothing on the terminal."""

    def do_GET(self) -> None:
        self._json({"models": [{"name": NAME, "model": NAME}]} if self.path == "/api/tags" else {"version": "0.32.0"})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path == "/api/show":
            self._json({"model_info": {"llama.context_length": WINDOW}, "capabilities": ["completion"]})
            return
        with self.server.engine.turn:
            self.server.engine.load(body["options"]["num_ctx"])
            self.send_response(200)
            self.send_header("Content-Type", "application/x-ndjson")
            self.end_headers()
            said = ""
            for event in self.server.engine.reply(body):
                said += event["content"]
                self._line(body, event)
            self.server.replies.append(said)

    def _line(self, body: dict[str, Any], event: dict[str, Any]) -> None:
        part = {"model": body["model"], "message": {"role": "assistant", "content": event["content"]}, "done": False}
        if event.get("stop"):
            spent = event["timings"]
            part |= {
                "done": True,
                "done_reason": "length" if event["stop_type"] == "limit" else "stop",
                "prompt_eval_count": spent.get("cache_n", 0) + spent["prompt_n"],
                "eval_count": spent["predicted_n"],
            }
        self.wfile.write(json.dumps(part).encode() + b"\n")

    def _json(self, value: dict[str, Any]) -> None:
        data = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)
