"""The component `apostrophe_tagger`."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from thinc.api import Model

from spacy_punct.data.apostrophes import LABELS
from spacy_punct.pipe.architectures import SMALL_TOK2VEC
from spacy_punct.reading.attributes import APOSTROPHE_GUESSES, APOSTROPHES
from spacy_punct.tagger.component import SlotTagger


class ApostropheTagger(SlotTagger):
    """Says of each word where it has its apostrophe, whatever is written.

    A `punctuation_corrector` after it proposes corrections of words by what it says.
    Its model is `spacy_punct.WordHead.v1`, without an `end`; it learns from the reader
    `spacy_punct.ApostropheCorpus.v1`.
    """

    def set_annotations(
        self, docs: Iterable[Doc], scores: Iterable[np.ndarray]
    ) -> None:
        """Keep the likeliest place in each word on the Docs."""
        for doc, rows in zip(docs, scores, strict=True):
            doc.user_data[APOSTROPHE_GUESSES] = [
                [self.labels[int(row.argmax())], round(float(row.max()), 4)]
                for row in rows
            ]

    def _collected(self, examples: Iterable[Example]) -> Sequence[str]:
        """The labels, which are always the same."""
        return LABELS

    def score(self, examples: Iterable[Example], **kwargs: Any) -> dict[str, Any]:
        """The share of words whose apostrophe is in its place, as
        `apostrophe_accuracy`."""
        found = [
            example.predicted.user_data[APOSTROPHE_GUESSES][i][0] == label
            for example in examples
            for i, label in self._truth(example)
        ]
        return {"apostrophe_accuracy": sum(found) / len(found)} if found else {}

    def _truth(self, example: Example) -> Iterable[tuple[int, str]]:
        known = example.reference.user_data.get(APOSTROPHES, ())
        return [(i, label) for i, label in enumerate(known) if label is not None]


@Language.factory(
    "apostrophe_tagger",
    default_config={
        "model": {"@architectures": "spacy_punct.WordHead.v1", "tok2vec": SMALL_TOK2VEC}
    },
    default_score_weights={"apostrophe_accuracy": 1.0},
)
def make_apostrophe_tagger(nlp: Language, name: str, model: Model) -> ApostropheTagger:
    """Make an `apostrophe_tagger`; see `ApostropheTagger`."""
    return ApostropheTagger(nlp.vocab, model, name)
