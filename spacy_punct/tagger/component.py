"""The component `slot_tagger`."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import Any

import numpy as np
import srsly
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example, validate_examples, validate_get_examples
from spacy.vocab import Vocab
from thinc.api import Model
from thinc.types import Floats2d

from spacy_punct.data.marks import ABBREVIATION_DOT
from spacy_punct.errors import Errors, PunctError
from spacy_punct.pipe.architectures import SMALL_TOK2VEC
from spacy_punct.pipe.base import StoredPipe
from spacy_punct.reading.gold import gold_slots, has_gold
from spacy_punct.reading.guesses import set_guesses
from spacy_punct.reading.sentences import sentence_words

_SAMPLE = 10
"""Examples that the shapes of the model are read off."""


class SlotTagger(StoredPipe):
    """Says of each slot which marks may stand there, as a tagger would: without a tree,
    and without regard to what it says of the other slots.

    A `punctuation_restorer` after it listens to it as much as its setting
    `guess_share` wants.

    vocab (Vocab): The shared vocabulary.
    model (Model): `spacy_punct.WordHead.v1` with an `end`.
    name (str): The component's name in the pipeline.
    min_count (int): How often a string of marks must have been seen to be learned.
    """

    def __init__(
        self,
        vocab: Vocab,
        model: Model[list[Doc], list[Floats2d]],
        name: str = "slot_tagger",
        *,
        min_count: int = 2,
    ) -> None:
        super().__init__(vocab, model, name, min_count=min_count)
        self._labels: list[str] = []

    @property
    def labels(self) -> tuple[str, ...]:
        """The strings of marks, joined by spaces."""
        return tuple(self._labels)

    @property
    def label_data(self) -> list[str]:
        """The labels, for `initialize`."""
        return self._labels

    def set_labels(self, labels: Iterable[str]) -> None:
        """Say which string of marks each output of the model stands for."""
        self._labels = list(labels)

    def predict(self, docs: Iterable[Doc]) -> list[np.ndarray]:
        """The probabilities of strings, without changing the Docs.

        docs (Iterable[Doc]): The Docs.
        RETURNS (list[np.ndarray]): For each Doc [tokens + 1, labels]: of the slot
            before each token, and of the one after the last.
        """
        self._check_labels()
        docs = list(docs)
        self.model.get_ref("softmax").attrs["softmax_normalize"] = True
        return [self.model.ops.to_numpy(rows) for rows in self.model.predict(docs)]

    def _check_labels(self) -> None:
        if not self._labels:
            raise PunctError(Errors.P044.format(name=self.name))

    def set_annotations(
        self, docs: Iterable[Doc], scores: Iterable[np.ndarray]
    ) -> None:
        """Keep the guesses on the Docs, for the components that follow."""
        for doc, rows in zip(docs, scores, strict=True):
            set_guesses(doc, rows, self._labels)

    def initialize(
        self,
        get_examples: Callable[[], Iterable[Example]],
        *,
        nlp: Language | None = None,
        labels: Sequence[str] | None = None,
    ) -> None:
        """Collect the strings of marks, and give the model its shape.

        get_examples (Callable): Gives examples whose references have punctuation, as
            the readers `spacy_punct.Corpus.v1` and `spacy_punct.TextCorpus.v1` do.
        nlp (Language | None): The pipeline.
        labels (Sequence[str] | None): What `label_data` was, to save the pass over
            the data.
        """
        validate_get_examples(get_examples, "SlotTagger.initialize")
        if labels is None:
            labels = self._collected(get_examples())
        self.set_labels(labels)
        docs = [example.predicted for example in islice(get_examples(), _SAMPLE)]
        shape = self.model.ops.alloc2f(1, len(self._labels))
        self.model.initialize(X=docs, Y=[shape])

    def _collected(self, examples: Iterable[Example]) -> Sequence[str]:
        """The strings of marks that are frequent enough."""
        counts = Counter(chain.from_iterable(map(true_strings, examples)))
        return [s for s, n in counts.most_common() if n >= self.cfg["min_count"]]

    def get_loss(
        self, examples: Iterable[Example], scores: list[Floats2d]
    ) -> tuple[float, list[Floats2d]]:
        """Cross entropy and its gradient; nothing is learned of unknown strings.

        examples (Iterable[Example]): The examples.
        scores (list[Floats2d]): The probabilities of their slots.
        RETURNS (tuple[float, list[Floats2d]]): Loss and gradient.
        """
        examples = list(examples)
        validate_examples(examples, "SlotTagger.get_loss")
        number = {label: i for i, label in enumerate(self._labels)}
        loss, gradients = 0.0, []
        for example, rows in zip(examples, scores, strict=True):
            gradient = self.model.ops.alloc2f(*rows.shape)
            for place, string in self._truth(example):
                if (label := number.get(string)) is not None:
                    loss -= float(np.log(max(float(rows[place, label]), 1e-20)))
                    gradient[place] = rows[place]
                    gradient[place, label] -= 1
            gradients.append(gradient)
        return loss, gradients

    def _truth(self, example: Example) -> Iterable[tuple[int, str]]:
        """The rows of which something is known, and the right label of each."""
        return zip(_places(example.predicted), true_strings(example), strict=True)

    # Storage

    def _writers(self) -> dict[str, Callable[[], bytes]]:
        return {
            "labels": lambda: srsly.msgpack_dumps(self._labels),
            "model": self._pack_model,
        }

    def _readers(self) -> dict[str, Callable[[bytes], Any]]:
        return {
            "labels": lambda data: self.set_labels(srsly.msgpack_loads(data)),
            "model": self._unpack_model,
        }


def true_strings(example: Example) -> Iterator[str]:
    """The true marks of each slot, joined; the dots of abbreviations are no marks."""
    if has_gold(example.reference):
        for slot in gold_slots(example.reference):
            yield " ".join(mark for mark in slot if mark != ABBREVIATION_DOT)


def _places(doc: Doc) -> list[int]:
    """The rows of the slots: one for each word, and the last."""
    starts = [i == 0 for i in range(len(doc))]
    return [*chain.from_iterable(sentence_words(doc, starts)), len(doc)]


@Language.factory(
    "slot_tagger",
    default_config={
        "model": {
            "@architectures": "spacy_punct.WordHead.v1",
            "end": True,
            "tok2vec": SMALL_TOK2VEC,
        },
        "min_count": 2,
    },
)
def make_slot_tagger(
    nlp: Language, name: str, model: Model, min_count: int
) -> SlotTagger:
    """Make a `slot_tagger`; see `SlotTagger`."""
    return SlotTagger(nlp.vocab, model, name, min_count=min_count)
