"""`spacy_punct.WordHead.v1`: small networks that read what an encoder made of words."""

from collections.abc import Callable
from typing import Any

import numpy as np
from spacy.tokens import Doc
from thinc.api import Dropout, Gelu, Model, Softmax_v2, chain
from thinc.types import Floats2d

from spacy_punct.errors import check_range
from spacy_punct.pipe.architectures import Tok2Vec, check_read
from spacy_punct.reading.sentences import readable


def build_word_head(
    tok2vec: Tok2Vec,
    nO: int | None = None,
    hidden_width: int = 256,
    neighbour: bool = False,
    end: bool = False,
    dropout: float = 0.1,
) -> Model[list[Doc], list[Floats2d]]:
    """Classes of tokens, by one hidden layer on their vectors.

    Registered as `spacy_punct.WordHead.v1`. What is said of marks means nothing.

    tok2vec (Model): Reads the words, as a rule a listener to an encoder.
    nO (int | None): How many classes there are; None to find out from data.
    hidden_width (int): Of the hidden layer.
    neighbour (bool): Whether the vector of the word before is read too, as befits
        questions about what is between the two. Nothing is a vector of zeros.
    end (bool): Whether there is one more answer, about what is after the last token.
    dropout (float): Share of the hidden layer left out of each training step.
    RETURNS (Model): Docs -> the probability of each class of each token.
    """
    check_range("hidden_width", hidden_width, 1)
    check_range("dropout", dropout, 0, 1)
    output = Softmax_v2(nO, hidden_width)
    network: Model = chain(Gelu(hidden_width), Dropout(dropout), output)
    model: Model[list[Doc], list[Floats2d]] = Model(
        "word_head",
        forward,
        init=init,
        layers=[tok2vec, network],
        refs={"tok2vec": tok2vec, "softmax": output, "output_layer": output},
        dims={"nO": nO},
        attrs={"neighbour": neighbour or end, "end": end},
    )
    return model


def init(
    model: Model, X: list[Doc] | None = None, Y: list[Floats2d] | None = None
) -> None:
    """Find the sizes of the layers."""
    tok2vec, network = model.layers
    if X is not None:
        tok2vec.initialize(X=X)
    if Y is not None:
        network.layers[-1].set_dim("nO", Y[0].shape[1], force=True)
    if (width := tok2vec.maybe_get_dim("nO")) is None:
        return
    first, last = network.layers[0], network.layers[-1]
    first.set_dim("nI", width * (2 if model.attrs["neighbour"] else 1), force=True)
    if last.has_dim("nO"):
        model.set_dim("nO", last.get_dim("nO"), force=True)
        network.initialize()


def forward(
    model: Model, docs: list[Doc], is_train: bool
) -> tuple[list[Floats2d], Callable]:
    """Probabilities of Docs, and how to hand on their gradient."""
    tok2vec, network = model.layers
    if not is_train:
        check_read(tok2vec, docs)
    vectors, backprop_vectors = tok2vec(docs, is_train)
    xp, neighbour, end = model.ops.xp, model.attrs["neighbour"], model.attrs["end"]
    width = tok2vec.get_dim("nO")
    nothing = model.ops.alloc2f(1, width)
    before = [_before(doc) for doc in docs] if neighbour else []
    rows = vectors
    if neighbour:
        padded = [xp.vstack([own, nothing]) for own in vectors]
        rows = [
            xp.hstack([own[places], own])[: len(own) - (not end)]
            for own, places in zip(padded, before, strict=True)
        ]
    flat, backprop_flat = network(xp.concatenate(rows), is_train)
    cuts = np.cumsum([len(row) for row in rows])[:-1].tolist()

    def backprop(gradients: list[Floats2d]) -> list[Doc]:
        slopes = xp.split(backprop_flat(xp.concatenate(gradients)), cuts)
        if not neighbour:
            return backprop_vectors(slopes)
        result = []
        for slope, places in zip(slopes, before, strict=True):
            own = slope[:, width:] if end else xp.vstack([slope[:, width:], nothing])
            own = xp.ascontiguousarray(own)
            model.ops.scatter_add(own, places[: len(slope)], slope[:, :width])
            result.append(own[:-1])
        return backprop_vectors(result)

    return xp.split(flat, cuts), backprop


def _before(doc: Doc) -> Any:
    """The place of the word that was read before each token, and before the end; one
    after the last for none."""
    words = np.array(readable(doc), dtype=np.int64)
    number = np.searchsorted(words, np.arange(len(doc) + 1)) - 1
    padded = np.append(words, len(doc))
    return np.where(number < 0, len(doc), padded[number])
