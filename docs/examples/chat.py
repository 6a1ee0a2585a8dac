"""A chat that remembers: python chat.py HIVE BEE MODEL."""

import sys

import ollama

from horizon import open_hive


def main() -> None:
    """Answer each line of standard input, remembering all that was said before."""
    hive, name, model = sys.argv[1:4]
    bee = open_hive(hive).bee(name)
    client = ollama.Client(timeout=300)
    for line in sys.stdin:
        question = line.strip()
        if not question:
            continue
        messages = [*bee.read().messages(), {"role": "user", "content": question}]
        reply = client.chat(model, messages, options={"num_ctx": 16_384, "num_predict": 1_024})
        answer = reply.message.content or ""
        print(answer, flush=True)
        bee.append(question, answer, model=f"ollama/{model}")


if __name__ == "__main__":
    main()
