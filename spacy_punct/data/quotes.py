"""Straight and typographic quotes, turned into the paper's four quote marks."""

from collections import defaultdict
from collections.abc import Mapping
from typing import Protocol


class QuoteToken(Protocol):
    """What tells how a quote is meant.

    form (str): The token.
    xpos (str): Its Penn tag, which may be `` or ''.
    head (int): Anything that two quotes around the same constituent share.
    """

    form: str
    xpos: str
    head: int


_DOUBLE, _SINGLE = ("``", "''"), ("`", "'")
_PAIR = {
    **dict.fromkeys(["``", "''", '"', '""', "“", "”", "„", "’’"], _DOUBLE),
    **dict.fromkeys(["`", "'", "‘", "’", "‚"], _SINGLE),
}
_OPENS = {"``", "`", "“", "‘", "„", "‚"}
_CLOSES = {"”", "’’", "’"}
_CLOSED_BY = {"``": "''", "`": "'", "„": "“", "‚": "‘"}
"""Openers whose presence makes a quote that could be either a closer."""
_SIDE_BY_XPOS = {"``": 0, "''": 1}


def directed_quotes(tokens: Mapping[int, QuoteToken]) -> dict[int, str]:
    """The mark (`` '' ` or ') of every quote among the punctuation of a sentence.

    A quote opens or closes as its language-specific tag says (English), else as its
    own shape and the company it keeps say (``...'' and „...“). Straight quotes, and
    Swedish ”...”, say nothing: those of one kind under one head are taken to open
    and close in turn, and those left over alternate across the sentence.

    tokens (Mapping[int, QuoteToken]): Punctuation tokens by position.
    RETURNS (dict[int, str]): The mark of each position that holds a quote.
    """
    marks: dict[int, str] = {}
    undecided: dict[tuple[str, int], list[int]] = defaultdict(list)
    forms = {token.form for token in tokens.values()}
    closers = {_CLOSED_BY[form] for form in forms & _CLOSED_BY.keys()}
    for i, token in tokens.items():
        form = token.form
        if form not in _PAIR:
            continue
        if token.xpos in _SIDE_BY_XPOS:
            marks[i] = _PAIR[form][_SIDE_BY_XPOS[token.xpos]]
        elif form in closers:
            marks[i] = _PAIR[form][1]
        elif form in _OPENS:
            marks[i] = _PAIR[form][0]
        elif form in _CLOSES and (form != "”" or forms & {"“", "„"}):
            marks[i] = _PAIR[form][1]
        else:
            undecided[form, token.head].append(i)
    leftover: dict[str, list[int]] = defaultdict(list)
    for (form, _), positions in undecided.items():
        if len(positions) % 2:
            leftover[form].append(positions.pop())
        _alternate(positions, form, marks)
    for form, positions in leftover.items():
        _alternate(sorted(positions), form, marks)
    return marks


def _alternate(positions: list[int], form: str, marks: dict[int, str]) -> None:
    for turn, i in enumerate(positions):
        marks[i] = _PAIR[form][turn % 2]
