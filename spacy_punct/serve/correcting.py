"""`/correct`: text -> better text, and why."""

from spacy.language import Language
from spacy.tokens import Doc

from spacy_punct.corrector.changes import CorrectedSentence
from spacy_punct.corrector.component import PunctuationCorrector
from spacy_punct.reading.attributes import CORRECTIONS
from spacy_punct.serve.pieces import Data
from spacy_punct.serve.restoring import punctuation_names


def corrected_data(nlp: Language, corrector: PunctuationCorrector, text: str) -> Data:
    """Correct a text, and say why.

    nlp (Language): The pipeline.
    corrector (PunctuationCorrector): Its corrector.
    text (str): The text.
    RETURNS (Data): The corrected `text` and the `corrections` in order: what changes
        (`start`, `end`, `text`), the marks `before` and `after`, the `probability` of
        the latter, the `word` that explains it, and the `constituent` it heads.
        Places are counted in characters (code points) of the text as it was.
    """
    doc = nlp(text, disable=punctuation_names(nlp))
    (answers,) = corrector.predict([doc])
    corrector.set_annotations([doc], [answers])
    constituents = {
        position: span
        for answer in answers
        for position, span in _constituents(doc, answer).items()
    }
    corrections = []
    for found in doc.user_data[CORRECTIONS]:
        word = doc[found["word"]]
        start, end = constituents[word.i]
        corrections.append(
            {
                **found,
                "probability": round(found["probability"], 4),
                "word": _place(word.idx, word.idx + len(word)),
                "constituent": _place(start, end),
            }
        )
    return {"text": doc._.corrected_text, "corrections": corrections}


def _constituents(doc: Doc, answer: CorrectedSentence) -> dict[int, tuple[int, int]]:
    """The characters of the constituent of each word that explains something."""
    positions = answer.source.positions
    spans = answer.source.tree.projective().spans
    result = {}
    for word in answer.words.values():
        first, end = spans[word]
        last = doc[positions[end - 1]]
        result[positions[word]] = doc[positions[first]].idx, last.idx + len(last)
    return result


def _place(start: int, end: int) -> Data:
    return {"start": start, "end": end}
