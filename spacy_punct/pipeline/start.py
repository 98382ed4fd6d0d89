"""What a restorer starts with if its config leaves the model open."""

from typing import Any, NamedTuple

import srsly
from spacy import registry, util
from thinc.api import Config, Model

from spacy_punct import pipelines
from spacy_punct.pipeline.bundled_vectors import build_bundled_vectors
from spacy_punct.text.spacing import Spacing

_PAPER = Config().from_str(
    """
[model]
@architectures = "spacy_punct.LogLinearAttach.v1"
"""
)["model"]

_RESTORER, _SHARED = "punctuation_restorer", "tok2vec"
"""The components of a bundled pipeline that a restorer is made of."""


class Start(NamedTuple):
    """A model, and how to make one of the same kind without its weights.

    architecture (dict[str, Any]): What the config would say.
    model (Model): The model.
    spacing (Spacing | None): The spacing learnt together with it.
    """

    architecture: dict[str, Any]
    model: Model
    spacing: Spacing | None


def start_for(language: str) -> Start:
    """The bundled weights of a language, or else the paper's model, untrained.

    language (str): A two-letter code.
    RETURNS (Start): Its own at each call, to be trained or changed.
    """
    if language in pipelines.names():
        return _bundled(language)
    return Start(_PAPER, registry.resolve({"model": _PAPER})["model"], None)


def _bundled(name: str) -> Start:
    """The restorer of a bundled pipeline, with tok2vec and vectors of its own."""
    meta = srsly.read_json(pipelines.path_to(name) / "meta.json")
    others = set(meta["components"]) - {_RESTORER, _SHARED}
    nlp = pipelines.load(name, exclude=sorted(others))
    config = nlp.get_pipe_config(_RESTORER)
    listeners = [
        place.removesuffix(".@architectures")
        for place, value in util.dict_to_dot(config).items()
        if value == "spacy.Tok2VecListener.v1"
    ]
    nlp.replace_listeners(_SHARED, _RESTORER, listeners)
    architecture = nlp.config.interpolate()["components"][_RESTORER]["model"]
    architecture["tok2vec"] = {
        "@architectures": "spacy_punct.BundledVectors.v1",
        "pipeline": name,
        "tok2vec": architecture["tok2vec"],
    }
    restorer = nlp.get_pipe(_RESTORER)
    inner = restorer.model.get_ref("tok2vec")
    tok2vec = build_bundled_vectors(inner, name)
    tok2vec.shims[0].vectors = nlp.vocab.vectors
    restorer.model.layers[restorer.model.layers.index(inner)] = tok2vec
    restorer.model.set_ref("tok2vec", tok2vec)
    return Start(architecture, restorer.model, restorer.spacing)
