"""Punctuation marks: the special ones, and which of them come in pairs."""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Protocol

BOS = "^"
"""The sentence-initial mark, the first token of slot 0's underlying string."""
ABBREVIATION_DOT = "<abbr>"
"""The dot of `etc.`, which is not a period."""
UNK = "<unk>"
"""Any mark too rare to model."""

SPECIAL_GLYPHS = {"``": '"', "''": '"', "`": "'", ABBREVIATION_DOT: "."}
"""How a mark that is not its own glyph was most likely written."""

FULL_STOPS = (".", "。", "।", "۔")
TERMINALS = frozenset({*FULL_STOPS, "?", "!", "？", "！", "؟", "...", "…"})
"""Marks that end sentences."""
COMMAS = frozenset({",", "，", "、", "،"})
HYPHENS = frozenset("-‐‑/")
"""Marks that, with no space around them, are part of a word's spelling."""

_MARK = re.compile(
    r"[.,;:?!…‥।॥،؛؟۔。，、！？：；・]+|[-‐‑‒–—―]+|['\"`‘’“”„‚«»‹›]{1,2}"
    r"|[()\[\]{}（）［］【】「」『』《》〈〉]|[¿¡]+"
)

_ELLIPSIS = re.compile(r"\.{2,}|[…‥]+")
_DASH = re.compile(r"[-‐‑‒–—―]+")
_END_CHARS = frozenset("".join(TERMINALS))
_ENDS = TERMINALS - {"...", "…"}


def is_mark(text: str) -> bool:
    """Whether a token is punctuation by its looks alone.

    Symbols that are read out (`%`, `&`, `/`) and emoticons are not.
    """
    return _MARK.fullmatch(text) is not None


def ends_sentence(slot: Sequence[str]) -> bool:
    """Whether a sentence ends at marks between two words.

    After a full stop a quote may close; after others, as in `"Why?" she asked`, the
    sentence may go on.
    """
    last = max((k for k, mark in enumerate(slot) if mark in _ENDS), default=None)
    if last is None:
        return False
    quotes = SPECIAL_GLYPHS if slot[last] in FULL_STOPS else ("``", "`")
    return all(mark in quotes or is_opener(mark) for mark in slot[last + 1 :])


def is_opener(text: str) -> bool:
    """Whether a token is made of opening brackets or quotes, by their shape."""
    return all(unicodedata.category(char) in ("Ps", "Pi") for char in text)


def is_closer(text: str) -> bool:
    """Whether a token is made of closing brackets or quotes, by their shape."""
    return all(unicodedata.category(char) in ("Pe", "Pf") for char in text)


def is_ellipsis(text: str) -> bool:
    """Whether a token is dots that may end a sentence, or stand amid one."""
    return _ELLIPSIS.fullmatch(text) is not None


def is_dash(text: str) -> bool:
    return _DASH.fullmatch(text) is not None


def is_abbreviation(text: str) -> bool:
    """Whether a token is a word with the abbreviation dot: `Mr.`, `e.g.`."""
    return text.endswith(".") and text.strip(".") != ""


def is_end(text: str) -> bool:
    """Whether a token is marks that end sentences and do little else: `.`, `?!`."""
    return bool(text) and not is_ellipsis(text) and set(text) <= _END_CHARS


def may_be_mark(text: str) -> bool:
    """Whether a token may be punctuation if a tagger says so."""
    return all(
        unicodedata.category(char).startswith("P") and char not in "@#%&*"
        for char in text
    )


_SHAPED = (
    "«»‹›“”‘’„”‚’"
    "()[]{}༺༻༼༽᚛᚜⁅⁆⁽⁾₍₎⌈⌉⌊⌋〈〉❨❩❪❫❬❭❮❯❰❱❲❳"
    "❴❵⟅⟆⟦⟧⟨⟩⟪⟫⟬⟭⟮⟯⦃⦄⦅⦆⦇⦈⦉⦊⦋⦌⦍⦎⦏⦐⦑⦒⦓⦔⦕⦖⦗⦘"
    "⧘⧙⧚⧛⧼⧽⸢⸣⸤⸥⸦⸧⸨⸩⹕⹖⹗⹘⹙⹚⹛⹜〈〉《》「」『』【】〔〕〖〗"
    "〘〙〚〛〝〞︗︘︵︶︷︸︹︺︻︼︽︾︿﹀﹁﹂﹃﹄﹇﹈﹙﹚﹛﹜﹝﹞（）［］"
    "｛｝｟｠｢｣"
)
"""The opening brackets and quotes of Unicode, each with its closing one."""

BRACKETS: dict[str, str] = {
    **dict(zip(_SHAPED[::2], _SHAPED[1::2], strict=True)),
    "``": "''",
    "`": "'",
    "<": ">",
    "<<": ">>",
    "¿": "?",
    "¡": "!",
}
"""Appendix B: marks that are unmatched unless their partner is there."""

SYMMETRIC: dict[str, str] = {**BRACKETS, ",": ",", "-": "-"}
"""Appendix A, template S: marks that may surround a constituent."""

_SETTING_OFF = frozenset(",-–—") | {"--", "،", "，"}
"""Marks that are their own partners."""
_SEPARATED = frozenset({"root", "conj", "cc"})
_BRACKETING = frozenset(BRACKETS) | (frozenset(BRACKETS.values()) - {"?", "!"})


def is_symmetric(left: tuple[str, ...], right: tuple[str, ...]) -> bool:
    """Whether `left` read forwards mirrors `right` read backwards (template S)."""
    return len(left) == len(right) > 0 and all(
        SYMMETRIC.get(a) == b for a, b in zip(left, reversed(right), strict=True)
    )


def is_one_sided(left: tuple[str, ...], right: tuple[str, ...]) -> bool:
    """Whether a comma, dash, bracket or quote is on one side of a constituent only, or
    more often than on the other."""
    before, after = (
        sorted(mark for mark in side if mark in _SETTING_OFF) for side in (left, right)
    )
    return before != after or is_unmatched(left, right)


def sets_off(relation: str) -> bool:
    """Whether the marks of a relation's constituents are on both sides in principle.
    Those of sentences are not, nor are those of coordinated words, which separate."""
    return relation.partition(":")[0].lower() not in _SEPARATED


def is_unmatched(left: tuple[str, ...], right: tuple[str, ...]) -> bool:
    """Whether a bracket or quote lacks its partner (appendix B's count c).

    `?` and `!` close `¿` and `¡`, but they also stand alone in every language,
    so unlike the paper we count them only against an opener in `left`.
    """
    openers = [mark for mark in left if mark in _BRACKETING]
    needs = {BRACKETS.get(mark) for mark in openers}
    closers = [mark for mark in right if mark in _BRACKETING or mark in needs]
    return len(openers) != len(closers) or any(
        BRACKETS.get(a) != b for a, b in zip(openers, reversed(closers), strict=True)
    )


def n_unmatched(sentences: Iterable[Iterable[tuple[str, ...]]]) -> int:
    """How many brackets and quotes of a text lack their partner.

    sentences (Iterable[Iterable[tuple[str, ...]]]): The slots of its sentences.
    RETURNS (int): Their number.
    """
    marks = chain.from_iterable(chain.from_iterable(sentences))
    waiting: list[str] = []
    n = 0
    for mark in marks:
        if mark in BRACKETS and mark not in "¿¡":
            waiting.append(BRACKETS[mark])
        elif mark in waiting:
            while waiting.pop() != mark:
                n += 1
        else:
            n += mark in _BRACKETING
    return n + len(waiting)


class QuoteToken(Protocol):
    """What tells how a quote is meant.

    form (str): The token.
    xpos (str): Its Penn tag, which may be `` or ''.
    head (int): Anything that two quotes around the same constituent share.
    """

    @property
    def form(self) -> str: ...

    @property
    def xpos(self) -> str: ...

    @property
    def head(self) -> int: ...


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
