"""The trained pipelines that come with the package, and their weights for components
of other pipelines. Nothing else knows where they are."""

from collections.abc import Callable, Iterable, Iterator
from functools import wraps
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Protocol, cast, overload

import spacy
import srsly
from spacy import util
from spacy.language import Language
from spacy.tokens import Doc
from spacy.vectors import Vectors
from spacy.vocab import Vocab
from thinc.api import Model, Optimizer
from thinc.shims.shim import Shim
from thinc.types import Floats2d

from spacy_punct.errors import Errors, PunctError
from spacy_punct.pipe.architectures import Tok2Vec
from spacy_punct.pipe.base import Start

FOLDER = Path(__file__).parents[1] / "pipelines"

_SHARED = "tok2vec"
"""The component of a bundled pipeline to which the others listen."""


def names() -> tuple[str, ...]:
    """The names of the bundled pipelines: the codes of their languages."""
    return tuple(sorted(meta.parent.name for meta in FOLDER.glob("*/meta.json")))


def path_to(name: str = "en") -> Path:
    """Where a bundled pipeline is, for `spacy.load` or `source` in a config.

    name (str): One of `names()`.
    RETURNS (Path): Its folder.
    """
    if name not in names():
        there = ", ".join(names()) or "none"
        raise PunctError(Errors.P070.format(name=name, names=there))
    return FOLDER / name


def load(name: str = "en", **kwargs: Any) -> Language:
    """Load a bundled pipeline.

    name (str): One of `names()`.
    kwargs: Passed on to `spacy.load`: exclude, disable, enable, config, vocab.
    RETURNS (Language): The pipeline, ready to use.
    """
    return spacy.load(path_to(name), **kwargs)


class OneOrMany(Protocol):
    """A function of a text, or of many."""

    @overload
    def __call__(self, texts: str) -> str: ...  # type: ignore[overload-overlap]
    @overload
    def __call__(self, texts: Iterable[str]) -> Iterator[str]: ...


def for_one_or_many(many: Callable[[Iterable[str]], Iterator[str]]) -> OneOrMany:
    """Let a function of many texts take one, too, and give its answer alone."""

    @wraps(many)
    def either(texts: Any) -> Any:
        return next(many([texts])) if isinstance(texts, str) else many(texts)

    return either


def bundled_weights(language: str, component: str) -> Start | None:
    """The trained model of a component, registered as `spacy_punct.bundled_weights.v1`.

    language (str): A two-letter code.
    component (str): The name of its factory, by which bundled pipelines call it.
    RETURNS (Start | None): A model of the caller's own, with tok2vec and vectors, to
        be used, trained or changed. None if no bundled pipeline has one.
    """
    if language not in names():
        return None
    components = srsly.read_json(path_to(language) / "meta.json")["components"]
    if component not in components:
        return None
    others = set(components) - {component, _SHARED}
    nlp = load(language, exclude=sorted(others))
    if component in nlp.disabled:
        nlp.enable_pipe(component)
    listeners = [
        place.removesuffix(".@architectures")
        for place, value in util.dict_to_dot(nlp.get_pipe_config(component)).items()
        if value == "spacy.Tok2VecListener.v1"
    ]
    nlp.replace_listeners(_SHARED, component, listeners)
    architecture = nlp.config.interpolate()["components"][component]["model"]
    architecture["tok2vec"] = {
        "@architectures": "spacy_punct.BundledVectors.v1",
        "pipeline": language,
        "tok2vec": architecture["tok2vec"],
    }
    pipe: Any = nlp.get_pipe(component)
    inner = pipe.model.get_ref("tok2vec")
    tok2vec = build_bundled_vectors(inner, language)
    _shim(tok2vec).vectors = nlp.vocab.vectors
    pipe.model.layers[pipe.model.layers.index(inner)] = tok2vec
    pipe.model.set_ref("tok2vec", tok2vec)
    return Start(pipe.model, architecture, pipe.spacing)


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


def _shim(model: Model) -> VectorsShim:
    return cast(VectorsShim, model.shims[0])


class _Seen:
    """A Doc as the tok2vec sees it, with other vectors in its vocabulary."""

    def __init__(self, doc: Doc, vectors: Vectors | None) -> None:
        self._doc = doc
        self.vocab = SimpleNamespace(vectors=vectors)

    def __len__(self) -> int:
        return len(self._doc)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._doc, name)


def build_bundled_vectors(tok2vec: Tok2Vec, pipeline: str) -> Tok2Vec:
    """A tok2vec with the vectors of a bundled pipeline, in whatever pipeline it is.

    Registered as `spacy_punct.BundledVectors.v1`. spaCy's own look words up in the
    vocabulary of their pipeline, which may have no vectors, or others. These are
    stored with the weights, which so do not depend on what the package has.

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
    shim, tok2vec = _shim(model), model.layers[0]
    if shim.vectors is None:
        folder = path_to(model.attrs["pipeline"]) / "vocab"
        vocab = Vocab().from_disk(folder, exclude=["strings", "lookups"])
        shim.vectors = vocab.vectors
    tok2vec.initialize(X=X and [_Seen(doc, shim.vectors) for doc in X], Y=Y)
    if tok2vec.has_dim("nO"):
        model.set_dim("nO", tok2vec.get_dim("nO"), force=True)


def forward(
    model: Tok2Vec, docs: list[Doc], is_train: bool
) -> tuple[list[Floats2d], Callable]:
    vectors = _shim(model).vectors
    return model.layers[0]([_Seen(doc, vectors) for doc in docs], is_train)
