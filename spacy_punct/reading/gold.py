"""True punctuation on reference Docs, and examples to learn from."""

from collections.abc import Iterator, Sequence

from spacy.tokens import Doc
from spacy.training import Example

from spacy_punct.data.depunctuation import PunctuatedTree, Spaces
from spacy_punct.data.marks import BRACKETS
from spacy_punct.data.tree import Puncteme, Slots, Tree
from spacy_punct.errors import Errors, PunctError
from spacy_punct.model.scores import Vectors
from spacy_punct.reading.sentences import bare_sentences

_SLOTS, _SPACES = "spacy_punct.slots", "spacy_punct.spaces"


def set_gold(doc: Doc, slots: Slots, spaces: Spaces = ()) -> None:
    """Keep the true punctuation of a Doc without any, in its user data.

    doc (Doc): The words.
    slots (Slots): The marks before, between and after them.
    spaces (Spaces): Where spaces stood around the marks, if known.
    """
    doc.user_data[_SLOTS] = [list(slot) for slot in slots]
    if spaces:
        doc.user_data[_SPACES] = [[int(space) for space in slot] for slot in spaces]


def has_gold(doc: Doc) -> bool:
    return _SLOTS in doc.user_data


def gold_slots(doc: Doc) -> Slots:
    """The true punctuation of a Doc; an error if there is none on it."""
    if not has_gold(doc):
        raise PunctError(Errors.P049)
    return tuple(map(tuple, doc.user_data[_SLOTS]))


def gold_spaces(doc: Doc) -> Spaces:
    spaces = doc.user_data.get(_SPACES, ())
    return tuple(tuple(map(bool, slot)) for slot in spaces)


def joined_gold(docs: Sequence[Doc], space: bool = True) -> tuple[Slots, Spaces]:
    """The true punctuation of Docs that follow each other, and the spaces around.

    docs (Sequence[Doc]): The Docs.
    space (bool): Whether a space parts them.
    RETURNS (tuple[Slots, Spaces]): Of all of them; no spaces if not all are known.
    """
    slots, spaces = list(gold_slots(docs[0])), list(gold_spaces(docs[0]))
    for doc in docs[1:]:
        first, *others = gold_slots(doc)
        slots[-1] += first
        slots += others
        around = gold_spaces(doc)
        if spaces and around:
            spaces[-1] = (*spaces[-1][:-1], space, *around[0][1:])
            spaces += around[1:]
        else:
            spaces = []
    return tuple(slots), tuple(spaces)


def gold_examples(
    example: Example, name: str, vectors: Vectors | None = None
) -> list[PunctuatedTree]:
    """The trees that the pipeline has for an example, with its true punctuation.

    example (Example): Trees are taken from the predicted Doc: the parser's, or those
        the reader put there. Punctuation comes from the reference.
    name (str): How messages call the component.
    vectors (Vectors | None): A row for each token of the predicted Doc, if known.
    RETURNS (list[PunctuatedTree]): One for each sentence, projective.
    """
    sentences = bare_sentences(example.predicted, name, vectors, words_only=True)
    trees = [sentence.tree.projective() for sentence in sentences]
    slots, n = gold_slots(example.reference), sum(map(len, trees))
    if trees and len(slots) != n + 1:
        raise PunctError(Errors.P014.format(words=n, expected=n + 1, n=len(slots)))
    spaces = gold_spaces(example.reference)
    return list(_shared_out(slots, spaces, trees))


def _shared_out(
    slots: Slots, spaces: Spaces, trees: Sequence[Tree]
) -> Iterator[PunctuatedTree]:
    """The slots of a text, given to its sentences.

    Of the marks between two sentences, brackets that open belong to the second.
    """
    marks, gaps = list(slots), list(spaces)
    start = 0
    for tree in trees:
        stop = start + len(tree)
        ours, around = marks[start : stop + 1], gaps[start : stop + 1]
        if tree is not trees[-1]:
            cut = first_opener(marks[stop])
            ours[-1], marks[stop] = marks[stop][:cut], marks[stop][cut:]
            if gaps:
                around[-1], gaps[stop] = gaps[stop][: cut + 1], gaps[stop][cut:]
        yield PunctuatedTree(tree, tuple(ours), spaces=tuple(around))
        start = stop


def first_opener(marks: Puncteme) -> int:
    """Where the opening brackets at the end of a string of marks begin."""
    place = len(marks)
    while place and marks[place - 1] in BRACKETS:
        place -= 1
    return place
