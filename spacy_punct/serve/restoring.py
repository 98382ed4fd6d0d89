"""`/restore`: words -> text, and why its marks are where they are."""

from spacy.language import Language

from spacy_punct.draw.explained import answered_sentence
from spacy_punct.pipe.base import PunctuationPipe
from spacy_punct.reading.attributes import PIECES
from spacy_punct.restorer.component import PunctuationRestorer, Restoration
from spacy_punct.serve.pieces import Data, by_sentence, piece_data, word_data

_DOUBTFUL = 0.8
"""Slots without marks are told of if this was less probable."""


def restored_data(nlp: Language, restorer: PunctuationRestorer, text: str) -> Data:
    """Restore a text, and say why.

    nlp (Language): The pipeline.
    restorer (PunctuationRestorer): Its restorer.
    text (str): The text.
    RETURNS (Data): The restored `text` and its `sentences`, each with `pieces` and
        `words` (see `spacy_punct.serve.pieces`) and `slots`: those that have marks or
        nearly had some, each with its number, its marks, their probability and what
        else might stand there.
    """
    doc = nlp(text, disable=punctuation_names(nlp))
    (answers,) = restorer.predict([doc])
    restorer.set_annotations([doc], [answers])
    sentences = []
    written = by_sentence(doc.user_data[PIECES]) if answers else []
    for answer, pieces in zip(answers, written, strict=True):
        sentence = answered_sentence(answer, restorer.channel)
        sentences.append(
            {
                "pieces": piece_data(pieces, answer.slots, sentence),
                "words": word_data(sentence),
                "slots": _slots(answer),
            }
        )
    return {"text": doc._.restored_text, "sentences": sentences}


def punctuation_names(nlp: Language) -> list[str]:
    """The components for punctuation, which are asked one by one."""
    return [name for name, pipe in nlp.pipeline if isinstance(pipe, PunctuationPipe)]


def _slots(answer: Restoration) -> list[Data]:
    return [
        {
            "slot": i,
            "marks": list(marks),
            "probability": round(p, 4),
            "alternatives": [
                {"marks": list(other), "probability": round(q, 4)}
                for other, q in likely
                if other != marks
            ],
        }
        for i, (marks, p, likely) in enumerate(
            zip(answer.slots, answer.confidence, answer.likely, strict=True)
        )
        if marks or p < _DOUBTFUL
    ]
