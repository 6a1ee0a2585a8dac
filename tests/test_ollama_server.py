"""The test server itself: it catches wrong requests, counts, refuses and comes back, and runs as a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import urllib.request
from pathlib import Path

import ollama
import pytest

from horizon.adapters.ollama_model import OllamaModel
from horizon.ports import Answered, ModelRequest
from tests import ollama_behaviour as how
from tests.ollama_server import OllamaServer

OPTIONS = {"num_ctx": 4096, "num_predict": 50}
MESSAGES = [{"role": "user", "content": "Bonjour"}]


def request(prompt="Bonjour"):
    return ModelRequest(model="ollama/qwen3", prompt=prompt, reply_tokens=50, context=4096, timeout=10)


@pytest.mark.parametrize(
    ("call", "word"),
    [
        ({"messages": MESSAGES}, "options"),
        ({"messages": MESSAGES, "options": {"num_ctx": 4096}}, "num_predict"),
        ({"messages": MESSAGES, "options": OPTIONS | {"num_predict": -1}}, "num_predict"),
        ({"messages": MESSAGES, "options": OPTIONS | {"num_gpu": 1}}, "num_gpu"),
        ({"messages": MESSAGES, "options": OPTIONS | {"num_ctx": 65_536}}, "over the model's"),
        ({"messages": [{"role": "user", "content": "a" * 40_000}], "options": OPTIONS}, "tokens"),
        ({"messages": [{"role": "user", "content": ""}], "options": OPTIONS}, "message"),
        ({"messages": MESSAGES * 2, "options": OPTIONS}, "messages"),
        ({"messages": MESSAGES, "options": OPTIONS, "logprobs": True}, "logprobs"),
        (
            {
                "messages": MESSAGES,
                "options": OPTIONS,
                "format": {"type": "object", "properties": {"a": {"type": "array"}}},
            },
            "required",
        ),
    ],
)
def test_a_careless_request_is_a_violation(call, word):
    with OllamaServer() as server:
        ollama.Client(server.host, trust_env=False).chat("qwen3", **call)
        assert any(word in violation for violation in server.violations)


def test_a_careful_request_is_none(ollama_server):
    assert isinstance(OllamaModel(host=ollama_server.host).chat(request()), Answered)
    assert ollama_server.violations == []


def test_answers_are_given_in_order_and_then_the_standing_one(ollama_server):
    model = OllamaModel(host=ollama_server.host)
    ollama_server.answer("toujours").then("un", lambda body: body["model"], how.thinking("trois"))
    assert [model.chat(request()).text for _ in range(5)] == ["un", "qwen3", "trois", "toujours", "toujours"]


def test_it_counts_how_many_are_answered_at_one_time(ollama_server):
    together = threading.Barrier(3)

    def answer(_):
        together.wait(10)
        return "oui"

    ollama_server.answer(answer)
    threads = [threading.Thread(target=OllamaModel(host=ollama_server.host).chat, args=(request(),)) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert ollama_server.max_concurrent == 3
    assert len(ollama_server.requests) == 3


def _control(host, mode=None):
    data = None if mode is None else json.dumps({"mode": mode}).encode()
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(urllib.request.Request(f"{host}/control", data=data)) as answer:
        return json.loads(answer.read())


def test_as_a_process_of_its_own_it_is_switched_from_outside():
    root = Path(__file__).parent.parent
    command = [sys.executable, "-m", "tests.ollama_server", "--mode", "503"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=root) as process:
        try:
            host = process.stdout.readline().strip()
            model = OllamaModel(host=host)
            assert "503" in model.available("ollama/qwen3")
            assert _control(host, "deterministic")["mode"] == "deterministic"
            first = model.chat(
                request(
                    "<donnees>\nQuestion : q\n\nRéponse : Le chat dort. Il ronfle. Fin du jour.\n</donnees>\n\nRésume."
                )
            )
            assert first.text == "Le chat dort. Il ronfle."
            assert _control(host)["requests"] == 1
            assert _control(host)["violations"] == []
        finally:
            process.terminate()
