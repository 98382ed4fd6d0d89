"""The component `mark_reader`, and its model `spacy_punct.MarkHead.v1`.

The encoder reads words alone, so that marks in a text mislead nobody. Here what is
written is evidence about what should be: a BiLSTM reads, slot by slot, the words
around, the marks that are written, and what a `slot_tagger` would expect there.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from thinc.api import Model
from thinc.types import Floats2d
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_sequence, unpack_sequence

from spacy_punct.data.tree import Puncteme
from spacy_punct.data.written import one_kind
from spacy_punct.errors import check_range
from spacy_punct.pipe.architectures import SMALL_TOK2VEC, Tok2Vec, check_read
from spacy_punct.pipe.networks import (
    network_of,
    network_shim,
    set_network,
    word_vectors,
)
from spacy_punct.reading.guesses import MARK_GUESSES, guess_rows, set_guesses
from spacy_punct.reading.sentences import written_slots_of
from spacy_punct.tagger.component import SlotTagger, true_strings

AS_WRITTEN = "="
"""The label of slots in which what is written is right, but no string that is known."""
_LEAST = 1e-3


class MarkNetwork(nn.Module):
    """Scores of what should be in slots, by words, marks and expectations.

    width (int): Of the words' vectors.
    n_labels (int): How many strings of marks there are, `AS_WRITTEN` the last.
    mark_width, encoder_width, hidden_width (int): Of the vectors of written strings, of
        what the BiLSTM gives in each direction, and of the hidden layer.
    dropout (float): Share of the hidden layers left out of each training step.
    """

    def __init__(
        self,
        width: int,
        n_labels: int,
        mark_width: int,
        encoder_width: int,
        hidden_width: int,
        dropout: float,
    ) -> None:
        super().__init__()
        self.sizes = {
            "width": width,
            "n_labels": n_labels,
            "mark_width": mark_width,
            "encoder_width": encoder_width,
            "hidden_width": hidden_width,
            "dropout": dropout,
        }
        self.words = nn.Linear(2 * width, encoder_width)
        self.marks = nn.Embedding(n_labels, mark_width)
        self.expected = nn.Linear(n_labels, mark_width)
        self.lstm = nn.LSTM(
            encoder_width + 2 * mark_width, encoder_width, bidirectional=True
        )
        self.hidden = nn.Linear(3 * encoder_width + 2 * mark_width, hidden_width)
        self.output = nn.Linear(hidden_width, n_labels)
        self.keep = nn.Linear(hidden_width, 1)
        self.trust = nn.Parameter(torch.ones(1))
        self.dropout = nn.Dropout(dropout)

    def forward(
        self, words: Sequence[Tensor], written: Sequence[Tensor], expected: Tensor
    ) -> Tensor:
        """Scores of texts, end to end.

        words (Sequence[Tensor]): Of each text [slots, 2 * width]: the vectors of the
            words before and after.
        written (Sequence[Tensor]): The number of the string in each slot.
        expected (Tensor): [slots, labels] of all texts: log-probabilities, given the
            words alone.
        RETURNS (Tensor): [slots, labels].
        """
        sizes = [len(own) for own in written]
        numbers = torch.cat(list(written))
        seen = torch.cat(
            [
                F.gelu(self.words(torch.cat(list(words)))),
                self.marks(numbers),
                self.expected(expected),
            ],
            dim=1,
        )
        packed = pack_sequence(
            list(self.dropout(seen).split(sizes)), enforce_sorted=False
        )
        read = torch.cat(unpack_sequence(self.lstm(packed)[0]))
        hidden = self.dropout(F.gelu(self.hidden(torch.cat([read, seen], dim=1))))
        scores = self.output(hidden) + self.trust * expected
        # What is written has a score of its own, whatever it is.
        scores = scores.scatter_add(1, numbers[:, None], self.keep(hidden))
        known = numbers != scores.shape[1] - 1
        return torch.cat(
            [scores[:, :-1], scores[:, -1:].masked_fill(known[:, None], -1e4)], dim=1
        )


def build_mark_head(
    tok2vec: Tok2Vec,
    mark_width: int = 48,
    encoder_width: int = 128,
    hidden_width: int = 256,
    dropout: float = 0.1,
) -> Model[list[Doc], list[Floats2d]]:
    """The model of a `mark_reader`, registered as `spacy_punct.MarkHead.v1`.

    tok2vec (Model): Reads the words, as a rule a listener to an encoder.
    mark_width, encoder_width, hidden_width, dropout: See `MarkNetwork`.
    RETURNS (Model): Docs -> the probability of each string in each slot.
    """
    sizes = {
        "mark_width": mark_width,
        "encoder_width": encoder_width,
        "hidden_width": hidden_width,
    }
    for name, size in sizes.items():
        check_range(name, size, 1)
    check_range("dropout", dropout, 0, 1)
    return Model(
        "mark_head",
        _forward,
        init=_init,
        layers=[tok2vec],
        refs={"tok2vec": tok2vec},
        shims=[network_shim(MarkNetwork)],
        attrs={"sizes": {**sizes, "dropout": dropout}, "labels": []},
    )


def _init(
    model: Model, X: list[Doc] | None = None, Y: list[Floats2d] | None = None
) -> None:
    tok2vec = model.get_ref("tok2vec")
    if X is not None:
        tok2vec.initialize(X=X)
    if Y is not None and (width := tok2vec.maybe_get_dim("nO")) is not None:
        torch.manual_seed(0)
        set_network(
            model, MarkNetwork(width, n_labels=Y[0].shape[1], **model.attrs["sizes"])
        )


def _forward(
    model: Model, docs: list[Doc], is_train: bool
) -> tuple[list[Floats2d], Callable]:
    """Probabilities of Docs, and how to hand on their gradient."""
    tok2vec = model.get_ref("tok2vec")
    if not is_train:
        check_read(tok2vec, docs)
    network = network_of(model)
    labels: list[str] = model.attrs["labels"]
    number = {label: i for i, label in enumerate(labels)}
    vectors, backprop_vectors = word_vectors(tok2vec, docs, is_train)
    found: list[Any] = [
        np.zeros((len(doc) + 1, len(labels)), np.float32) for doc in docs
    ]
    words, written, expected, filled = [], [], [], []
    for doc, own, result in zip(docs, vectors, found, strict=True):
        places, slots = written_slots_of(doc)
        if not places:
            continue
        read = own[places]
        words.append(
            torch.cat([F.pad(read, (0, 0, 1, 0)), F.pad(read, (0, 0, 0, 1))], 1)
        )
        numbers = [number.get(_plain(slot), len(labels) - 1) for slot in slots]
        written.append(torch.tensor(numbers))
        filled.append((result, [*places, len(doc)]))
        expected.append(guess_rows(doc, filled[-1][1], number))
    if not filled:
        return found, lambda gradients: docs
    network.train(is_train)
    with torch.set_grad_enabled(is_train):
        logs = torch.from_numpy(np.concatenate(expected) + _LEAST).log()
        scores = network(words, written, logs)
    parts = scores.detach().softmax(1).split([len(rows) for _, rows in filled])
    for (result, rows), part in zip(filled, parts, strict=True):
        result[rows] = part.numpy()

    def backprop(gradients: list[Floats2d]) -> list[Doc]:
        by_doc = {id(result): g for result, g in zip(found, gradients, strict=True)}
        slopes: list[Any] = [by_doc[id(result)][rows] for result, rows in filled]
        scores.backward(torch.from_numpy(np.concatenate(slopes)))
        return backprop_vectors()

    return found, backprop


class MarkReader(SlotTagger):
    """Says of each slot which marks should stand there, given those that are written.

    A `punctuation_corrector` after it listens to it. A `slot_tagger` before it is of
    help. Its model is `spacy_punct.MarkHead.v1`.
    """

    def set_labels(self, labels: Iterable[str]) -> None:
        """Say which string of marks each output of the model stands for."""
        known = [label for label in labels if label != AS_WRITTEN]
        super().set_labels([*known, AS_WRITTEN])
        self.model.attrs["labels"] = self._labels

    def predict(self, docs: Iterable[Doc]) -> list[np.ndarray]:
        """The probabilities of strings, without changing the Docs; see `SlotTagger`."""
        self._check_labels()
        found: list[Any] = self.model.predict(list(docs))
        return found

    def set_annotations(
        self, docs: Iterable[Doc], scores: Iterable[np.ndarray]
    ) -> None:
        """Keep on the Docs what should be written, for the components that follow."""
        for doc, rows in zip(docs, scores, strict=True):
            places, slots = written_slots_of(doc)
            written = dict(zip([*places, len(doc)], slots, strict=True))
            set_guesses(doc, rows, self._labels, key=MARK_GUESSES, written=written)

    def get_loss(
        self, examples: Iterable[Example], scores: list[Floats2d]
    ) -> tuple[float, list[Floats2d]]:
        """Cross entropy per slot and its gradient."""
        loss, gradients = super().get_loss(examples, scores)
        n_slots = max(1, sum(map(len, scores)))
        return loss / n_slots, [gradient / n_slots for gradient in gradients]

    def _truth(self, example: Example) -> Iterable[tuple[int, str]]:
        for place, slot, right in _compared(example):
            is_unknown = right == _plain(slot) and right not in self._labels
            yield place, AS_WRITTEN if is_unknown else right

    def score(self, examples: Iterable[Example], **kwargs: Any) -> dict[str, Any]:
        """Edits of strings that are more probable than not: `marks_p`, `marks_r` and
        `marks_f05`."""
        right = made = needed = 0
        for example in examples:
            rows = example.predicted.user_data[MARK_GUESSES]
            for place, slot, truth in _compared(example):
                written = " ".join(slot)
                found = next((s for s, p in rows[place] if p > 0.5), written)
                right += found != written and found == truth
                made += found != written
                needed += _plain(slot) != truth
        p, r = right / max(made, 1), right / max(needed, 1)
        f05 = 1.25 * p * r / max(0.25 * p + r, 1e-9)
        return {"marks_p": p, "marks_r": r, "marks_f05": f05}


def _compared(example: Example) -> Iterator[tuple[int, Puncteme, str]]:
    """The token after each slot, what is written there, and what should be."""
    places, slots = written_slots_of(example.predicted)
    truth = true_strings(example)
    yield from zip([*places, len(example.predicted)], slots, truth, strict=True)


def _plain(slot: Puncteme) -> str:
    """A string as it is called in labels."""
    return " ".join(map(one_kind, slot))


@Language.factory(
    "mark_reader",
    default_config={
        "model": {
            "@architectures": "spacy_punct.MarkHead.v1",
            "tok2vec": SMALL_TOK2VEC,
        },
        "min_count": 2,
    },
    default_score_weights={"marks_f05": 1.0, "marks_p": 0.0, "marks_r": 0.0},
)
def make_mark_reader(
    nlp: Language, name: str, model: Model, min_count: int
) -> MarkReader:
    """Make a `mark_reader`; see `MarkReader`."""
    return MarkReader(nlp.vocab, model, name, min_count=min_count)
