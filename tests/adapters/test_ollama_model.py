from __future__ import annotations

import pytest

from horizon.adapters.ollama_model import OllamaModel
from horizon.ports import Answered, ModelRequest


def request(**more):
    given = {"model": "ollama/qwen3", "prompt": "Bonjour", "system": "", "reply_tokens": 100, "context": 4096, "timeout": 5}
    return ModelRequest(**given | more)


def test_a_reply_comes_back_whole_with_its_counts(ollama_server):
    ollama_server.answer("Bonjour à toi, il fait beau.")
    answer = OllamaModel(host=ollama_server.host).chat(request())
    assert isinstance(answer, Answered)
    assert answer.text == "Bonjour à toi, il fait beau."
    assert answer.prompt_tokens > 0
    assert answer.reply_tokens > 0
    (body,) = ollama_server.requests
    assert body["options"]["num_ctx"] == 4096
    assert body["options"]["num_predict"] == 100
