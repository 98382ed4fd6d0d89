"""JSON that is edited in place: every byte that is not meant to change stays."""

import json
import re
from collections.abc import Mapping
from typing import Any

Path = tuple[str | int, ...]
"""Where a value stands: the number of the document, then keys and indices."""

_SPACE = re.compile(r"[ \t\n\r]*")
_BOM = "\ufeff"
_DECODER = json.JSONDecoder()


def read_json(text: str) -> list[Any]:
    """Read one JSON document, or several that follow each other.

    text (str): The text.
    RETURNS (list[Any]): The documents. ValueError if it is not JSON.
    """
    documents = []
    position = _skip(text, len(_BOM) if text.startswith(_BOM) else 0)
    while position < len(text):
        try:
            value, position = _DECODER.raw_decode(text, position)
        except RecursionError:
            raise ValueError("it is nested too deeply") from None
        documents.append(value)
        position = _skip(text, position)
    return documents


def edited(text: str, edits: Mapping[Path, Any]) -> str:
    """Change values of JSON documents.

    text (str): One document, or several that follow each other.
    edits (Mapping[Path, Any]): The new values by their places. A key that an object
        does not have is added at its end.
    RETURNS (str): The text with these values. White space, numbers, the order of keys
        and the way strings are escaped stay as they are elsewhere.
    """
    tree: dict[str | int, Any] = {}
    for path, value in edits.items():
        node = tree
        for key in path[:-1]:
            node = node.setdefault(key, {})
        node[path[-1]] = _New(value)
    editor = _Editor(text)
    position = _skip(text, len(_BOM) if text.startswith(_BOM) else 0)
    number = 0
    while position < len(text):
        position = _skip(text, editor.value(position, tree.get(number)))
        number += 1
    return editor.result()


class _New:
    def __init__(self, value: Any) -> None:
        self.value = value


class _Editor:
    """Copies a text, except for the values that are edited."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.parts: list[str] = []
        self.copied = 0
        self.separators = (", ", ": ") if re.search(r'" ?: ', text) else (",", ":")

    def result(self) -> str:
        return "".join([*self.parts, self.text[self.copied :]])

    def replace(self, start: int, end: int, new: str) -> None:
        self.parts += [self.text[self.copied : start], new]
        self.copied = end

    def value(self, start: int, tree: Any) -> int:
        """Go over a value, and return where it ends."""
        if isinstance(tree, dict) and self.text[start] == "{":
            return self.object(start, tree)
        if isinstance(tree, dict) and self.text[start] == "[":
            return self.array(start, tree)
        old, end = _DECODER.raw_decode(self.text, start)
        if isinstance(tree, _New) and tree.value != old:
            self.replace(start, end, self.written(tree.value, start, end))
        return end

    def object(self, start: int, tree: dict[str | int, Any]) -> int:
        position = _skip(self.text, start + 1)
        missing = {key for key, node in tree.items() if isinstance(node, _New)}
        gap = ""
        before = start + 1
        while self.text[position] != "}":
            gap = self.text[before:position]
            key, position = _DECODER.raw_decode(self.text, position)
            position = _skip(self.text, _skip(self.text, position) + 1)
            end = self.value(position, tree.get(key))
            missing.discard(key)
            position = _skip(self.text, end)
            if self.text[position] == ",":
                before = position + 1
                position = _skip(self.text, before)
            elif missing:
                colon = self.separators[1]
                gap = gap or self.separators[0][1:]
                new = "".join(
                    f",{gap}{self.written(key)}{colon}{self.written(node.value)}"
                    for key, node in tree.items()
                    if key in missing
                )
                self.replace(end, end, new)
        return position + 1

    def array(self, start: int, tree: dict[str | int, Any]) -> int:
        position = _skip(self.text, start + 1)
        number = 0
        while self.text[position] != "]":
            position = self.value(position, tree.get(number))
            position = _skip(self.text, position)
            if self.text[position] == ",":
                position = _skip(self.text, position + 1)
            number += 1
        return position + 1

    def written(self, value: Any, start: int = 0, end: int = 0) -> str:
        """A value in the way of the text; over several lines if the old one was."""
        options: dict[str, Any] = {
            "ensure_ascii": self.text.isascii(),
            "separators": self.separators,
        }
        old = self.text[start:end]
        if isinstance(value, str) or "\n" not in old:
            return json.dumps(value, **options)
        line = self.text[self.text.rfind("\n", 0, start) + 1 : start]
        outer = line[: len(line) - len(line.lstrip())]
        inner = re.search(r"\n([ \t]*)", old)
        step = (inner[1] if inner else "")[len(outer) :] or "  "
        options["separators"] = (",", self.separators[1])
        new = json.dumps(value, indent=step, **options)
        return new.replace("\n", f"\n{outer}")


def _skip(text: str, position: int) -> int:
    found = _SPACE.match(text, position)
    return found.end() if found else position
