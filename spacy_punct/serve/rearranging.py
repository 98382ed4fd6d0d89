"""`/underlying`: text -> its underlying trees, edited."""

from collections.abc import Callable, Mapping
from typing import Any

from spacy.language import Language

from spacy_punct.draw.explained import answered_sentence
from spacy_punct.reading.bare import parse_words
from spacy_punct.rephrasing import edits
from spacy_punct.rephrasing.edits import TreeEdit
from spacy_punct.rephrasing.rephrase import rephrased_pieces, rephrased_sentences
from spacy_punct.restorer.component import PunctuationRestorer
from spacy_punct.serve.pieces import (
    Data,
    by_sentence,
    joined_text,
    piece_data,
    slot_data,
    word_data,
)
from spacy_punct.serve.requests import (
    check_names,
    kind_of,
    number_of,
    numbers_of,
    printable,
    refuse,
)

Reader = Callable[[Mapping[str, Any], str], TreeEdit]


def underlying_data(
    nlp: Language, restorer: PunctuationRestorer, text: str, edit: TreeEdit
) -> Data:
    """Recover the underlying trees of a text, edit them, and write them again.

    nlp (Language): The pipeline.
    restorer (PunctuationRestorer): Its restorer.
    text (str): The text, with its punctuation.
    edit (TreeEdit): The edits.
    RETURNS (Data): The `text` after the edits and its `sentences`, each with its
        `text`, `pieces`, `words` and `slots`: see `spacy_punct.serve.pieces`.
    """
    doc = parse_words(nlp, text)
    answers = rephrased_sentences(doc, edit, restorer)
    if not answers:
        return {"text": text, "sentences": []}
    written = rephrased_pieces(doc, answers, restorer)
    sentences = []
    for answer, pieces in zip(answers, by_sentence(written), strict=True):
        sentence = answered_sentence(answer, restorer.channel)
        sentences.append(
            {
                "text": joined_text(pieces),
                "pieces": piece_data(pieces, answer.slots, sentence),
                "words": word_data(sentence),
                "slots": slot_data(sentence),
            }
        )
    return {"text": joined_text(written), "sentences": sentences}


def read_edits(values: list[Any]) -> TreeEdit:
    """The edits of a request.

    values (list[Any]): Objects such as `{"edit": "delete", "word": 3}`. Words go by
        their token in the text as it was sent.
    RETURNS (TreeEdit): All of them, one after the other.
    """
    edit = TreeEdit(())
    for k, value in enumerate(values):
        where = f"edits[{k}]"
        if not isinstance(value, dict):
            refuse(where, kind_of(value), "an object")
        name = value.get("edit")
        if not isinstance(name, str) or name not in _READERS:
            is_name = isinstance(name, str)
            found = f"'{printable(name)}'" if is_name else kind_of(name)
            refuse(f"{where}.edit", found, " or ".join(_READERS))
        edit |= _READERS[name](value, where)
    return edit


def _delete(fields: Mapping[str, Any], where: str) -> TreeEdit:
    check_names(fields, ("edit", "word"), where)
    return edits.delete(number_of(fields, "word", where))


def _extract(fields: Mapping[str, Any], where: str) -> TreeEdit:
    check_names(fields, ("edit", "word"), where)
    return edits.extract(number_of(fields, "word", where))


def _keep(fields: Mapping[str, Any], where: str) -> TreeEdit:
    check_names(fields, ("edit", "words"), where)
    return edits.keep_only(*numbers_of(fields, "words", where))


def _permute(fields: Mapping[str, Any], where: str) -> TreeEdit:
    check_names(fields, ("edit", "word", "order"), where)
    order = numbers_of(fields, "order", where)
    return edits.permute(number_of(fields, "word", where), order)


def _move(fields: Mapping[str, Any], where: str) -> TreeEdit:
    places = ("position", "before", "after")
    check_names(fields, ("edit", "word", *places), where)
    given = [place for place in places if place in fields]
    if len(given) != 1:
        refuse(where, " and ".join(given) or "no place", " or ".join(places))
    place = {given[0]: number_of(fields, given[0], where)}
    return edits.move(number_of(fields, "word", where), **place)


_READERS: dict[str, Reader] = {
    "delete": _delete,
    "move": _move,
    "permute": _permute,
    "keep": _keep,
    "extract": _extract,
}
