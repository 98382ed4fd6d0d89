"""What people get wrong, by name: the kind of an error in a slot, told from what is
written there, what should be, and the tree."""

from collections import Counter
from collections.abc import Iterator

from spacy_punct.data.marks import (
    ABBREVIATION_DOT,
    BRACKETS,
    COMMAS,
    HYPHENS,
    TERMINALS,
    is_dash,
    is_ellipsis,
)
from spacy_punct.data.tree import ROOT, Puncteme, Tree

MESSAGES = {
    "missing-comma-introductory": "What comes before the main clause is set off by a "
    "comma.",
    "missing-comma-compound": "A comma stands before the conjunction that joins two "
    "clauses.",
    "missing-comma-insertion": "An insertion is set off by commas.",
    "missing-comma-list": "The items of a list are separated by commas.",
    "missing-comma-address": "Names of people who are addressed, and words such as "
    "yes and no, are set off by a comma.",
    "missing-comma-date": "The parts of a date or an address are separated by commas.",
    "missing-comma-quotation": "A comma separates a quotation from the words that "
    "introduce it.",
    "superfluous-comma-subject": "No comma separates a subject from its verb.",
    "superfluous-comma-object": "No comma separates a verb from its object or from a "
    "that-clause.",
    "superfluous-comma-pair": "No comma stands before the conjunction that joins two "
    "phrases.",
    "superfluous-comma": "This comma separates what belongs together.",
    "serial-comma": "The comma before the last item of a list is a matter of style.",
    "comma-splice": "A comma is too weak between two sentences.",
    "run-on": "Two sentences are run together without a mark between them.",
    "fragment": "This part does not stand alone as a sentence.",
    "missing-end": "The sentence has no end mark.",
    "doubled-mark": "One mark is enough.",
    "question-mark": "A question ends in a question mark.",
    "statement": "A statement does not end in a question mark.",
    "wrong-end": "Another mark ends this sentence.",
    "colon": "A colon introduces what follows.",
    "semicolon": "A semicolon, or none, belongs here.",
    "dash": "A dash, or none, belongs here.",
    "ellipsis": "An ellipsis has three dots.",
    "unpaired-quote": "A quotation mark lacks its partner.",
    "single-quote": "A single quotation mark lacks its partner, or is an apostrophe.",
    "unpaired-bracket": "A bracket lacks its partner.",
    "misplaced-mark": "The marks are in the wrong order.",
    "missing-hyphen": "The parts of this compound are joined by a hyphen.",
    "superfluous-hyphen": "These words are not joined by a hyphen.",
    "wrong-mark": "Another mark belongs here.",
    "missing-apostrophe": "This contraction has an apostrophe.",
    "its": "“It's” is short for “it is” or “it has”; “its” shows possession.",
    "possessive": "An apostrophe shows possession.",
    "superfluous-apostrophe": "Plurals are written without an apostrophe.",
    "missing-capital": "A sentence begins with a capital, and so does “I”.",
    "space-before-mark": "There is no space before this mark.",
    "missing-space": "There is a space after this mark.",
    "doubled-space": "One space is enough.",
}
"""The kinds of errors, each with what a writer is told: those in slots, and from
`missing-apostrophe` on those of words and spaces."""

_COLONS = frozenset(":：")
_SEMICOLONS = frozenset(";；؛")
_ASKING = frozenset("?？؟")
_SINGLE_QUOTES = frozenset({"`", "'"})
_QUOTES = frozenset({"``", "''"}) | _SINGLE_QUOTES
_BRACKETS = (frozenset(BRACKETS) | frozenset(BRACKETS.values())) - _QUOTES - TERMINALS
_CALLS = frozenset({"vocative", "discourse"})
_OBJECTS = frozenset({"ccomp", "xcomp", "obj", "dobj", "csubj"})
_BOUND = frozenset(
    (
        "aux",
        "case",
        "cc",
        "clf",
        "compound",
        "cop",
        "csubj",
        "det",
        "expl",
        "fixed",
        "flat",
        "goeswith",
        "iobj",
        "mark",
        "nsubj",
        "nummod",
        "obj",
    )
)
"""Relations of what no comma sets off from its head."""
_COORDINATORS = frozenset({"and", "but", "or", "nor", "so", "yet"})


def kind_of(
    tree: Tree, slot: int, written: Puncteme, right: Puncteme, *, goes_on: bool = False
) -> str:
    """The kind of an error.

    tree (Tree): The sentence, projective.
    slot (int): Where.
    written, right (Puncteme): What stands there, and what should; not the same.
    goes_on (bool): Whether another sentence of the paragraph follows this one.
    RETURNS (str): One of `MESSAGES`.
    """
    old, new = _only(written, right), _only(right, written)
    if not old and not new:
        return "misplaced-mark"
    changed = old | new
    for kind, marks in (
        ("single-quote", _SINGLE_QUOTES),
        ("unpaired-quote", _QUOTES),
        ("unpaired-bracket", _BRACKETS),
    ):
        if changed & marks:
            return kind
    is_inner = slot < len(tree) or goes_on
    if not new and changed <= HYPHENS:
        return "superfluous-hyphen"
    if not old and changed <= HYPHENS:
        return "missing-hyphen"
    if new & TERMINALS and not old:
        return "run-on" if is_inner else "missing-end"
    if old and not new and (set(right) & (TERMINALS | COMMAS) or len(written) > 1):
        return "doubled-mark"
    if not new and old <= COMMAS:
        return _superfluous(tree, slot)
    if not old and new <= COMMAS:
        return _missing(tree, slot, right)
    return _replaced(old, new, is_inner)


def _replaced(old: set[str], new: set[str], is_inner: bool) -> str:
    if new & TERMINALS and old & TERMINALS:
        kinds = {"question-mark": new & _ASKING, "statement": old & _ASKING}
        return next((kind for kind, found in kinds.items() if found), "wrong-end")
    if new & _COLONS:
        return "colon"
    if old & COMMAS and new & (TERMINALS | _SEMICOLONS):
        return "comma-splice" if is_inner else "wrong-end"
    if old & TERMINALS and is_inner:
        return "fragment"
    if any(map(is_ellipsis, old | new)):
        return "ellipsis"
    if (old | new) & _SEMICOLONS:
        return "semicolon"
    return "dash" if any(map(is_dash, old | new)) else "wrong-mark"


def _only(marks: Puncteme, others: Puncteme) -> set[str]:
    """The marks of which there are more than in another string."""
    more = Counter(marks) - Counter(others)
    return {mark for mark in more if mark != ABBREVIATION_DOT}


def _missing(tree: Tree, slot: int, right: Puncteme) -> str:
    """The kind of a comma that is not there."""
    if _QUOTES & set(right):
        return "missing-comma-quotation"
    if not 0 < slot < len(tree):
        return "missing-comma-insertion"
    before, after = tree.words[slot - 1], tree.words[slot]
    if before.isdigit() and (after.isdigit() or len(before) == 4):
        return "missing-comma-date"
    if any(_relation(tree, i) in _CALLS for i in _edges(tree, slot)):
        return "missing-comma-address"
    if is_serial(tree, slot):
        return "serial-comma"
    if _is_coordinator(tree, slot):
        return "missing-comma-compound"
    if any(_comes_first(tree, i) for i in _edges(tree, slot, 1)):
        return "missing-comma-introductory"
    if any(_relation(tree, i) == "conj" for i in _edges(tree, slot, 0)):
        return "missing-comma-list"
    return "missing-comma-insertion"


def _superfluous(tree: Tree, slot: int) -> str:
    """The kind of a comma that should not be there."""
    if not 0 < slot < len(tree):
        return "superfluous-comma"
    if is_serial(tree, slot):
        return "serial-comma"
    if _is_coordinator(tree, slot):
        return "superfluous-comma-pair"
    if tree.words[slot].lower() == "that" or any(
        _relation(tree, i) in _OBJECTS and tree.heads[i] < slot
        for i in _edges(tree, slot, 0)
    ):
        return "superfluous-comma-object"
    if any(_is_subject(tree, i) and i < tree.heads[i] for i in _edges(tree, slot, 1)):
        return "superfluous-comma-subject"
    return "superfluous-comma"


def is_serial(tree: Tree, slot: int) -> bool:
    """Whether a slot is before the conjunction of the last of three items or more.

    tree (Tree): The sentence.
    slot (int): Where.
    RETURNS (bool): Whether a comma there is a matter of style.
    """
    if not _is_coordinator(tree, slot):
        return False
    for i in range(slot + 1, len(tree)):
        head = tree.heads[i]
        if _relation(tree, i) == "conj" and 0 <= head < slot:
            items = [k for k in tree.children[head] if _relation(tree, k) == "conj"]
            return len(items) > 1 and items[-1] == i and not has_subject(tree, i)
    return False


def _is_coordinator(tree: Tree, slot: int) -> bool:
    if not 0 < slot < len(tree):
        return False
    is_known = tree.words[slot].lower() in _COORDINATORS
    return is_known or _relation(tree, slot) == "cc"


def set_off_at(tree: Tree, slot: int) -> list[int]:
    """The constituents that a comma in a slot may set off.

    tree (Tree): The sentence.
    slot (int): Where.
    RETURNS (list[int]): Those that begin or end there, the widest first, but for those
        that no comma sets off from their head, such as subjects and articles.
    """
    found = [i for i in _edges(tree, slot) if _relation(tree, i) not in _BOUND]
    return sorted(found, key=lambda i: _width(tree, i), reverse=True)


def other_edge(tree: Tree, word: int, slot: int) -> int | None:
    """Where the other comma around an insertion is due.

    tree (Tree): The sentence.
    word (int): The head of the insertion.
    slot (int): The edge that has a comma.
    RETURNS (int | None): The slot at the other edge; None if the clause does not go on
        there, or if the constituent comes first in its clause.
    """
    left, right = tree.spans[word]
    other = right if slot == left else left
    above = tree.heads[word]
    while ROOT != above < right:
        above = tree.heads[above]
    goes_on = above != ROOT and not _comes_first(tree, word)
    return other if goes_on and 0 < other < len(tree) else None


def _comes_first(tree: Tree, word: int) -> bool:
    """Whether a constituent stands before its head, and no subject before it."""
    head = tree.heads[word]
    if head == ROOT or head < word or _is_subject(tree, word):
        return False
    left = tree.spans[word][0]
    return not any(_is_subject(tree, k) and k < left for k in tree.children[head])


def _width(tree: Tree, word: int) -> int:
    left, right = tree.spans[word]
    return right - left


def has_subject(tree: Tree, word: int) -> bool:
    """Whether a word heads a clause that has a subject of its own."""
    return any(_is_subject(tree, k) for k in tree.children[word])


def _is_subject(tree: Tree, word: int) -> bool:
    # In UD 1 also nsubjpass and csubjpass.
    return tree.relations[word].startswith(("nsubj", "csubj"))


def _edges(tree: Tree, slot: int, *sides: int) -> Iterator[int]:
    """The constituents that begin (side 0) or end (side 1) at a slot."""
    for i, span in enumerate(tree.spans):
        if any(span[side] == slot for side in sides or (0, 1)):
            yield i


def _relation(tree: Tree, word: int) -> str:
    return tree.relations[word].partition(":")[0]
