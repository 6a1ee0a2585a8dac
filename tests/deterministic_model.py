"""A summarizer for tests that invents nothing: what it says is a function of the prompt alone, taken from its fenced text.

Asked twice, or a month later, it gives the same: nights that ran through an outage end with the same files as nights
that did not.
"""

from __future__ import annotations

import json
import re
from typing import Any

FENCED = re.compile(r"<donnees>\n(.*?)\n</donnees>", re.DOTALL)
SENTENCE = re.compile(r".+?(?:[.!?…](?=\s|$)|[。！？]|\n|\Z)", re.DOTALL)
ENTRY = re.compile(r"^— (?P<head>[^\n]*)\n(?P<rest>(?:(?!— )[^\n]*\n?)*)", re.MULTILINE)
HEADINGS = {
    "mission": ("Mission",), "decisions": ("Décisions", "Decisions"), "fichiers": ("Fichiers", "Files"),
    "erreurs": ("Erreurs", "Errors"), "en_cours": ("En cours", "In progress"),
    "prochaine_etape": ("Prochaine étape", "Next step"),
}  # fmt: skip


def reply_to(body: dict[str, Any]) -> str:
    """Return the reply to a chat request: prose, or JSON as its schema asks."""
    said = "\n".join(message.get("content", "") for message in body["messages"])
    text = "\n".join(FENCED.findall(said)) or said
    schema = body.get("format")
    if schema is None:
        return _condensed(text)
    keys = list(schema["properties"])
    value = _melted(text, schema) if set(keys) == set(HEADINGS) else _filled(text, schema)
    return json.dumps(value, ensure_ascii=False)


def sentences(text: str) -> list[str]:
    return [flat for found in SENTENCE.findall(text) if (flat := " ".join(found.split()))]


def _condensed(text: str) -> str:
    """The answer's first two sentences, shorter than it in any case."""
    answer = re.split(r"\n\n(?:Réponse|Answer) : ", text, maxsplit=1)[-1]
    said = ""
    for sentence in sentences(answer)[:2]:
        if len(said) + len(sentence) < min(len(answer), 300):
            said = f"{said} {sentence}".strip()
    return said or answer[: min(len(answer) // 2, 200)].rsplit(" ", 1)[0] or answer[:1]


def _melted(text: str, schema: dict[str, Any]) -> dict[str, list[str]]:
    """Every line of the narrative so far where it stood, and each new entry's first sentence as work in progress."""
    parts = re.split(r"\n\n(?:Nouveaux échanges|New exchanges)[^\n]*:\n", text, maxsplit=1)
    sections: dict[str, list[str]] = {key: [] for key in HEADINGS}
    key = None
    for line in parts[0].split("\n")[1:]:
        named = next((key for key, names in HEADINGS.items() if line in {f"{name} :" for name in names}), None)
        if named:
            key = named
        elif key and line != "—":
            sections[key].append(line)
    for entry in ENTRY.finditer(parts[-1]):
        when = entry["head"].split(" ", 1)[0]
        for sentence in sentences(entry["rest"])[:1]:
            sections["en_cours"].append(f"{when} : {sentence}")
    for key, bounds in schema["properties"].items():
        most = bounds["items"]["maxLength"]
        sections[key] = [line for line in sections[key] if len(line) <= most][-bounds["maxItems"] :]
    return sections


def _filled(text: str, schema: dict[str, Any]) -> dict[str, Any]:
    """What the schema asks for, from the transcript's entries: texts are sentences of them, numbers are theirs."""
    entries = _entries(text)
    filled: dict[str, Any] = {}
    for key, bounds in schema["properties"].items():
        if bounds["type"] == "array":
            items = [_item(number, said, bounds.get("items", {"type": "string"})) for number, said in entries]
            filled[key] = [item for item in items if item is not None][: bounds.get("maxItems")]
        else:
            filled[key] = _text(" ".join(said for _, said in entries) or text, bounds.get("maxLength", 400))
    return filled


def _entries(text: str) -> list[tuple[int, str]]:
    """Return each exchange's number in the transcript and what the keeper said in it."""
    found: list[tuple[int, str]] = []
    for position, entry in enumerate(ENTRY.finditer(text), start=1):
        number = re.search(r"(?:n° ?|#|\[)(\d+)", entry["head"])
        said = re.search(r"^(?:Lui|Keeper|Them|User) : (.*)$", entry["rest"], re.MULTILINE)
        found.append((int(number[1]) if number else position, said[1].strip() if said else ""))
    return [(number, said) for number, said in found if said]


def _item(number: int, said: str, bounds: dict[str, Any]) -> Any:
    if bounds["type"] == "string":
        return _text(said, bounds.get("maxLength", 400))
    if bounds["type"] == "integer":
        return number
    item: dict[str, Any] = {}
    for key, inner in bounds["properties"].items():
        if inner["type"] == "array":
            item[key] = [_item(number, said, inner["items"])]
        else:
            item[key] = _item(number, said, inner)
    return item


def _text(said: str, most: int) -> str:
    kept = ""
    for sentence in sentences(said)[:3]:
        if len(kept) + len(sentence) + 1 > most:
            break
        kept = f"{kept} {sentence}".strip()
    return kept or said[:most]
