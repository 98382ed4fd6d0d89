"""Straight and typographic quotes, turned into the paper's four quote marks."""

from collections import defaultdict

from spacy_punct.data.conllu import Token

_STRAIGHT = {'"': ("``", "''"), '""': ("``", "''"), "''": ("``", "''"), "'": ("`", "'")}
_DIRECTED = {
    "``": "``", "“": "``", "„": "``", "”": "''", "’’": "''",
    "`": "`", "‘": "`", "‚": "`", "’": "'",
}  # fmt: skip
_SIDE_BY_XPOS = {"``": 0, "''": 1}


def directed_quotes(tokens: dict[int, Token]) -> dict[int, str]:
    """The mark (`` '' ` or ') of every quote among the punctuation of a sentence.

    A straight quote opens or closes as its language-specific tag says (English);
    otherwise the quotes of one kind under one head are taken to open and close
    in turn, and those left over alternate across the sentence.

    tokens (dict[int, Token]): Punctuation tokens by position.
    RETURNS (dict[int, str]): The mark of each position that holds a quote.
    """
    marks: dict[int, str] = {}
    undecided: dict[tuple[str, int], list[int]] = defaultdict(list)
    for i, token in tokens.items():
        if token.form in _STRAIGHT:
            if token.xpos in _SIDE_BY_XPOS:
                marks[i] = _STRAIGHT[token.form][_SIDE_BY_XPOS[token.xpos]]
            else:
                undecided[token.form, token.head].append(i)
        elif token.form in _DIRECTED:
            marks[i] = _DIRECTED[token.form]
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
        marks[i] = _STRAIGHT[form][turn % 2]
