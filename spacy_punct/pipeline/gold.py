"""True punctuation on reference Docs, and examples to learn from."""

from collections.abc import Sequence

from spacy.tokens import Doc
from spacy.training import Example

from spacy_punct.data.depunctuation import PunctuatedTree, Spaces
from spacy_punct.data.marks import BRACKETS
from spacy_punct.data.tree import Puncteme, Slots, Tree
from spacy_punct.errors import Errors, PunctError
from spacy_punct.pipeline.trees import parsed_sentences

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


def is_comparable(example: Example) -> bool:
    """Whether a restored example has the words of its reference, and gold slots."""
    if not has_gold(example.reference):
        return False
    n_slots = len(gold_slots(example.reference))
    restored = example.predicted._.restored_slots
    n_words = sum(not token.is_space for token in example.predicted)
    return restored is not None and len(restored) == n_words + 1 == n_slots


def gold_slots(doc: Doc) -> Slots:
    """The true punctuation of a Doc; an error if there is none on it."""
    if not has_gold(doc):
        raise PunctError(Errors.P049)
    return tuple(map(tuple, doc.user_data[_SLOTS]))


def gold_spaces(doc: Doc) -> Spaces:
    spaces = doc.user_data.get(_SPACES, ())
    return tuple(tuple(map(bool, slot)) for slot in spaces)


def gold_examples(example: Example, name: str) -> list[PunctuatedTree]:
    """The trees that the pipeline has for an example, with its true punctuation.

    example (Example): Trees are taken from the predicted Doc: the parser's, or those
        the reader put there. Punctuation comes from the reference.
    name (str): How messages call the component.
    RETURNS (list[PunctuatedTree]): One for each sentence, projective.
    """
    slots, spaces = gold_slots(example.reference), gold_spaces(example.reference)
    sentences = parsed_sentences(example.predicted, name, words_only=True)
    return [
        PunctuatedTree(tree.projective(), part, spaces=white)
        for tree, part, white in _split([s.tree for s in sentences], slots, spaces)
    ]


def _split(
    trees: Sequence[Tree], slots: Slots, spaces: Spaces
) -> list[tuple[Tree, Slots, Spaces]]:
    """The slots of a text, shared out to its sentences.

    Of the marks between two sentences, brackets that open belong to the second.
    """
    parts = []
    start, head = 0, 0
    for tree in trees:
        stop = start + len(tree)
        inner = list(slots[start : stop + 1])
        white = list(spaces[start : stop + 1])
        inner[0] = inner[0][head:]
        head = 0
        if stop < len(slots) - 1:
            head = _first_opener(inner[-1])
            inner[-1] = inner[-1][:head]
        if len(white) == len(inner) and head == 0 and start == 0:
            parts.append((tree, tuple(inner), tuple(white)))
        else:
            parts.append((tree, tuple(inner), ()))
        start = stop
    return parts


def _first_opener(marks: Puncteme) -> int:
    """Where the opening brackets at the end of a string of marks begin."""
    place = len(marks)
    while place and marks[place - 1] in BRACKETS:
        place -= 1
    return place
