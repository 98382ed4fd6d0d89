"""What a component starts with if its config leaves the model open."""

from typing import Any, NamedTuple

import srsly
from spacy import registry, util
from thinc.api import Config, Model

from spacy_punct import pipelines
from spacy_punct.pipe.bundled_vectors import build_bundled_vectors
from spacy_punct.text.spacing import Spacing

RESTORER, CORRECTOR = "punctuation_restorer", "punctuation_corrector"
"""The components, as bundled pipelines call them."""

_SHARED = "tok2vec"
"""The component of a bundled pipeline to which they listen."""

_UNTRAINED = Config().from_str(
    """
[punctuation_restorer]
@architectures = "spacy_punct.LogLinearAttach.v1"

[punctuation_corrector]
@architectures = "spacy_punct.LexicalAttach.v1"
observed_width = 32

[punctuation_corrector.tok2vec]
@architectures = "spacy.HashEmbedCNN.v2"
pretrained_vectors = null
width = 96
depth = 2
embed_size = 2000
window_size = 1
maxout_pieces = 3
subword_features = true
"""
)
"""The paper's restorer, and a corrector that reads words and what is written."""


class Start(NamedTuple):
    """A model, and how to make one of the same kind without its weights.

    architecture (dict[str, Any]): What the config would say.
    model (Model): The model.
    spacing (Spacing | None): The spacing learnt together with it.
    """

    architecture: dict[str, Any]
    model: Model
    spacing: Spacing | None


def start_for(language: str, component: str) -> Start:
    """The bundled weights of a language, or else an untrained model.

    language (str): A two-letter code.
    component (str): RESTORER or CORRECTOR.
    RETURNS (Start): Its own at each call, to be trained or changed.
    """
    if language in pipelines.names():
        meta = srsly.read_json(pipelines.path_to(language) / "meta.json")
        if component in meta["components"]:
            return _bundled(language, component, meta)
    architecture = _UNTRAINED[component]
    return Start(architecture, registry.resolve({"model": architecture})["model"], None)


def _bundled(name: str, component: str, meta: dict[str, Any]) -> Start:
    """A component of a bundled pipeline, with tok2vec and vectors of its own."""
    others = set(meta["components"]) - {component, _SHARED}
    nlp = pipelines.load(name, exclude=sorted(others))
    config = nlp.get_pipe_config(component)
    listeners = [
        place.removesuffix(".@architectures")
        for place, value in util.dict_to_dot(config).items()
        if value == "spacy.Tok2VecListener.v1"
    ]
    nlp.replace_listeners(_SHARED, component, listeners)
    architecture = nlp.config.interpolate()["components"][component]["model"]
    architecture["tok2vec"] = {
        "@architectures": "spacy_punct.BundledVectors.v1",
        "pipeline": name,
        "tok2vec": architecture["tok2vec"],
    }
    pipe = nlp.get_pipe(component)
    inner = pipe.model.get_ref("tok2vec")
    tok2vec = build_bundled_vectors(inner, name)
    tok2vec.shims[0].vectors = nlp.vocab.vectors
    pipe.model.layers[pipe.model.layers.index(inner)] = tok2vec
    pipe.model.set_ref("tok2vec", tok2vec)
    return Start(architecture, pipe.model, pipe.spacing)
