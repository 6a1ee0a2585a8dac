"""The example of the docs: a chat that remembers, over the real `ollama` client."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from horizon import open_hive
from horizon.cli import main

CHAT = Path(__file__).parents[2] / "docs" / "examples" / "chat.py"


def test_what_was_said_is_in_the_next_prompt_and_in_the_journal(tmp_path, ollama_server):
    hive = tmp_path / "ruche"
    assert main(["init", str(hive), "--bee", "mia"]) == 0
    ollama_server.then("I will.", "It is under the mat.")
    done = subprocess.run(
        [sys.executable, str(CHAT), str(hive), "mia", "qwen3"],
        input="Answer briefly.\n\nWhere is the key?\n",
        env={**os.environ, "OLLAMA_HOST": ollama_server.host},
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    assert done.stdout == "I will.\nIt is under the mat.\n"
    first, second = (request["messages"] for request in ollama_server.requests)
    assert [message["content"] for message in first] == ["Answer briefly."]
    assert "Answer briefly." in second[0]["content"]
    assert second[-1]["content"] == "Where is the key?"
    # The server is strict about our own calls, which are one question each; a chat is several turns.
    assert all("messages are not one of the user's" in violation for violation in ollama_server.violations)
    ollama_server.violations.clear()
    assert "under the mat" in open_hive(hive).bee("mia").read().text
