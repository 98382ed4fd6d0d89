"""A tok2vec that brings the word vectors of a bundled pipeline along.

spaCy's tok2vecs look words up in the vocabulary of the pipeline they are in, which
may have no vectors, or others.
"""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from spacy.tokens import Doc
from spacy.vectors import Vectors
from spacy.vocab import Vocab
from thinc.api import Model, Optimizer
from thinc.shims.shim import Shim
from thinc.types import Floats2d

from spacy_punct import pipelines
from spacy_punct.pipe.architectures import Tok2Vec


class VectorsShim(Shim):
    """Holds vectors, None until they are known, and stores them with the model."""

    def __init__(self) -> None:
        super().__init__(None)
        self.vectors: Vectors | None = None

    def finish_update(self, optimizer: Optimizer) -> None:
        """Vectors do not learn."""

    def to_device(self, device_type: str, device_id: int) -> None:
        """spaCy moves what is looked up."""

    def to_bytes(self) -> bytes:
        if self.vectors is None:
            return b""
        return self.vectors.to_bytes(exclude=["strings"])

    def from_bytes(self, data: bytes) -> "VectorsShim":
        self.vectors = Vectors().from_bytes(data) if data else None
        return self


class _Seen:
    """A Doc as the tok2vec sees it, with other vectors in its vocabulary."""

    def __init__(self, doc: Doc, vectors: Vectors) -> None:
        self._doc = doc
        self.vocab = SimpleNamespace(vectors=vectors)

    def __len__(self) -> int:
        return len(self._doc)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._doc, name)


def build_bundled_vectors(tok2vec: Tok2Vec, pipeline: str) -> Tok2Vec:
    """A tok2vec with the vectors of a bundled pipeline, in whatever pipeline it is.

    Registered as `spacy_punct.BundledVectors.v1`. The vectors are stored with the
    weights, so that these do not depend on what the package has.

    tok2vec (Model): What reads the words.
    pipeline (str): The name of the bundled pipeline.
    RETURNS (Model): A tok2vec.
    """
    return Model(
        "bundled_vectors",
        forward,
        init=init,
        layers=[tok2vec],
        shims=[VectorsShim()],
        dims={"nO": tok2vec.maybe_get_dim("nO")},
        attrs={"pipeline": pipeline},
    )


def init(model: Tok2Vec, X: list[Doc] | None = None, Y: Any = None) -> None:
    """Read the vectors of the bundled pipeline, if none are there yet."""
    shim, tok2vec = model.shims[0], model.layers[0]
    if shim.vectors is None:
        folder = pipelines.path_to(model.attrs["pipeline"]) / "vocab"
        vocab = Vocab().from_disk(folder, exclude=["strings", "lookups"])
        shim.vectors = vocab.vectors
    tok2vec.initialize(X=X and [_Seen(doc, shim.vectors) for doc in X], Y=Y)
    model.set_dim("nO", tok2vec.maybe_get_dim("nO"), force=True)


def forward(
    model: Tok2Vec, docs: list[Doc], is_train: bool
) -> tuple[list[Floats2d], Callable]:
    vectors = model.shims[0].vectors
    return model.layers[0]([_Seen(doc, vectors) for doc in docs], is_train)
