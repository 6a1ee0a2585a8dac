"""What the peers take for one read: run by `benchmarks.peers` with the Python of their own environment."""

from __future__ import annotations

import json
import statistics
import sys
import time
from pathlib import Path

from langchain_core.messages import AIMessage, HumanMessage, trim_messages
from langchain_core.messages.utils import count_tokens_approximately
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import START, MessagesState, StateGraph

TOKENS = 5_250
"""What 21 000 characters are by the approximate counter: four characters a token."""
KINDS = {"user": HumanMessage, "assistant": AIMessage}


def median(run, times=7):
    found = []
    for _ in range(times):
        start = time.process_time()
        run()
        found.append(time.process_time() - start)
    return statistics.median(found)


def main():
    said = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    history = [KINDS[each["role"]](each["content"], id=str(number)) for number, each in enumerate(said)]
    config = {"configurable": {"thread_id": "mia"}}
    with SqliteSaver.from_conn_string(str(Path(sys.argv[2]) / "checkpoints.db")) as saver:
        graph = StateGraph(MessagesState)
        graph.add_node("turn", lambda _: {})
        graph.add_edge(START, "turn")
        chat = graph.compile(checkpointer=saver)
        chat.update_state(config, {"messages": history})
        trim = median(
            lambda: trim_messages(
                history, max_tokens=TOKENS, strategy="last", token_counter=count_tokens_approximately, start_on="human"
            )
        )
        load = median(lambda: chat.get_state(config).values["messages"][-1])
    print(json.dumps({"trim": trim, "load": load}))


if __name__ == "__main__":
    main()
