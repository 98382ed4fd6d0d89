"""Files of plain text and Markdown as paragraphs: a line break is not an end."""

import re
from collections.abc import Iterable, Iterator

SUFFIXES = (".txt", ".md", ".markdown")
"""How the names of files end that are read as paragraphs."""

_FENCE = re.compile(r"[ \t]*(```+|~~~+)")
_OWN_LINE = re.compile(r"[ \t>]*(?:#{1,6}[ \t]|(?:[-*+•]|\d{1,3}[.)])[ \t]|\|)")
"""Headings, items of lists and rows of tables begin a paragraph of their own."""


def paragraphs(lines: Iterable[str]) -> Iterator[str]:
    """Put the lines of a file together.

    lines (Iterable[str]): The lines with their ends.
    YIELDS (str): A paragraph with all that follows it up to the next; together they
        are the file. Code between fences is one, whatever is in it.
    """
    block: list[str] = []
    fence = ""
    for line in lines:
        opened = _FENCE.match(line)
        if fence:
            block.append(line)
            if opened and opened[1].startswith(fence):
                yield "".join(block)
                block, fence = [], ""
            continue
        is_blank = not line.strip()
        after_blank = bool(block) and not block[-1].strip()
        starts = opened or _OWN_LINE.match(line) or (after_blank and not is_blank)
        if block and starts:
            yield "".join(block)
            block = []
        fence = opened[1] if opened else ""
        block.append(line)
        if line.lstrip("> \t").startswith("#"):
            yield "".join(block)
            block = []
    if block:
        yield "".join(block)
