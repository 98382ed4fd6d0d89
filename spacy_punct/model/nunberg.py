"""Nunberg's rules of how English marks interact (the paper's Table 1).

The paper says that his schemata (*The Linguistics of Punctuation*, 1990) range over
16 marks and come to 192 edit rules, but prints specimens only. We generate the
rules from its caption: of two marks next to each other the weaker is absorbed, in
the order `? ! ( ) `` ''` > `.` > `; :` > `-` > `,`, except that brackets and quotes do
not absorb what is outside of the material they bracket. Our 16 marks are those 11,
the other pairs of brackets `[ ]` and of quotes `` ` ' `` and the abbreviation dot.

Two points of the same strength are left alone unless they are the same mark, as
are marks at either side of an abbreviation dot other than a period, and two
brackets. That makes 90 rules. Whatever 16 marks are taken, each pair of brackets
exempts 32 bigrams that stand outside or are brackets only, so with four pairs no more
than 128 and the transpositions can be edited: the paper's 192 rules would need
just two pairs, and 12 other marks nearly all of which absorb each other.

As in the paper, rules are single edits of two marks: `''.` becomes `.''`, and it is
another question what becomes of an underlying `.''`, where the caption lets the
quotes absorb the period.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product

from spacy_punct.data.marks import ABBREVIATION_DOT
from spacy_punct.data.tree import Puncteme

Bigram = tuple[str, str]

STRENGTH = {",": 1, "-": 2, ";": 3, ":": 3, ".": 4, "?": 5, "!": 5}
"""How strong a point is; the strongest are as strong as brackets."""
BRACKETS = {"(": ")", "[": "]", "``": "''", "`": "'"}
"""Opening brackets and quotes, and the closing ones."""
MARKS = (*STRENGTH, ABBREVIATION_DOT, *BRACKETS, *BRACKETS.values())
"""The 16 marks that the rules are about."""


@dataclass(frozen=True)
class Schema:
    """A family of rules: any of the left marks before any of the right ones.

    name (str): Nunberg's name for it.
    left, right (tuple[str, ...]): The marks it ranges over.
    edit (Callable): The bigram -> what is left of it, or the bigram itself.
    """

    name: str
    left: tuple[str, ...]
    right: tuple[str, ...]
    edit: Callable[[str, str], Puncteme]


@dataclass(frozen=True)
class Rule:
    """One of Nunberg's rules: what becomes of two underlying marks.

    underlying (Bigram): ab.
    surface (Puncteme): a, b or ba.
    schema (str): The schema that it is an instance of.
    """

    underlying: Bigram
    surface: Puncteme
    schema: str


def _left(a: str, b: str) -> Puncteme:
    return (a,)


def _right(a: str, b: str) -> Puncteme:
    return (b,)


def _swapped(a: str, b: str) -> Puncteme:
    return (b, a)


def _stronger(a: str, b: str) -> Puncteme:
    """The stronger of two points; both if they are different but as strong."""
    if a == b or STRENGTH[a] > STRENGTH[b]:
        return (a,)
    return (b,) if STRENGTH[b] > STRENGTH[a] else (a, b)


_POINTS = tuple(STRENGTH)
_WEAK = (",", "-", ";", ":", ".")
_OPENERS, _CLOSERS = tuple(BRACKETS), tuple(BRACKETS.values())

SCHEMATA = (
    Schema("quote transposition", ("''", "'"), (",", "."), _swapped),
    Schema("period absorption", (".",), ("?", "!"), _right),
    Schema("period absorption", ("?", "!", ABBREVIATION_DOT), (".",), _left),
    Schema("point absorption", _POINTS, _POINTS, _stronger),
    Schema("bracket absorption", _WEAK, _CLOSERS, _right),
    Schema("bracket absorption", _OPENERS, _WEAK, _left),
)
"""What the rules are generated from; the first that has a bigram decides."""


def nunberg_rules() -> dict[Bigram, Rule]:
    """All rules, by the bigram that they rewrite; other bigrams stay as they are."""
    rules: dict[Bigram, Rule] = {}
    for schema in SCHEMATA:
        for a, b in product(schema.left, schema.right):
            surface = schema.edit(a, b)
            if surface != (a, b):
                rules.setdefault((a, b), Rule((a, b), surface, schema.name))
    return rules
