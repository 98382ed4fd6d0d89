"""Make a pipeline of what the long training has learned, and the other way round.

The transformer becomes the pipeline's `tok2vec`, and each head the model of a component
that listens to it.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import numpy as np
import spacy
import torch
import typer
from spacy.language import Language
from spacy.util import load_config
from thinc.api import Model
from torch import nn

from scripts.encoder.lexicon import mixed_forms
from scripts.encoder.reader import Labels, Reader, averaged_reader
from scripts.encoder.windows import read_sources
from scripts.steps import run_step
from spacy_punct.encoder.tok2vec import get_weights, set_weights
from spacy_punct.encoder.wordpieces import WordPieces
from spacy_punct.parser.component import BiaffineParser
from spacy_punct.tagger.component import SlotTagger
from spacy_punct.truecaser.component import Truecaser

CONFIG = Path(__file__).parents[2] / "configs" / "reading.cfg"


def assembled(
    reader: Reader,
    pieces: WordPieces,
    labels: Labels,
    mixed: Mapping[str, str] | None = None,
) -> Language:
    """A pipeline that reads as a trained reader does.

    reader (Reader): The transformer and its heads.
    pieces (WordPieces): The transformer's vocabulary.
    labels (Labels): What the heads say.
    mixed (Mapping[str, str] | None): Words in mixed case; see `lexicon.mixed_forms`.
    RETURNS (Language): See `configs/reading.cfg`.
    """
    config = load_config(CONFIG)
    width = reader.transformer.sizes.width
    config["components"]["tok2vec"]["model"]["width"] = width
    nlp = spacy.util.load_model_from_config(config, auto_fill=True)
    set_weights(_model(nlp, "tok2vec"), reader.transformer, pieces)
    fill_head(_model(nlp, "stream_senter"), reader.starts, width)
    fill_head(_model(nlp, "truecaser"), reader.cases, width)
    fill_head(_model(nlp, "slot_tagger"), reader.slots, width)
    tagger, parser = nlp.get_pipe("slot_tagger"), nlp.get_pipe("biaffine_parser")
    assert isinstance(tagger, SlotTagger) and isinstance(parser, BiaffineParser)
    tagger.set_labels(labels.slots)
    truecaser = nlp.get_pipe("truecaser")
    assert isinstance(truecaser, Truecaser)
    truecaser.mixed = dict(mixed or {})
    parser.set_network(
        reader.parser,
        {
            # spaCy writes the relation of roots in capitals.
            "relations": ["ROOT" if r == "root" else r for r in labels.relations],
            "morphs": labels.morphs,
            "tags": labels.tags,
        },
    )
    return nlp


def _model(nlp: Language, name: str) -> Model:
    pipe = nlp.get_pipe(name)
    return pipe.model  # type: ignore[attr-defined]


def fill_head(model: Model, head: nn.Sequential, width: int) -> None:
    """Copy the weights of a head of torch to a `spacy_punct.WordHead.v1`.

    model (Model): The model, without weights.
    head (nn.Sequential): Two linear layers with a GELU between. One output alone is
        the score of the second of two classes.
    width (int): The length of the words' vectors.
    """
    first, last = (
        {name: array.detach().numpy() for name, array in layer.named_parameters()}
        for layer in (head[0], head[-1])
    )
    if len(last["bias"]) == 1:
        last = {
            name: np.concatenate([np.zeros_like(array), array])
            for name, array in last.items()
        }
    model.layers[0].set_dim("nO", width, force=True)
    model.get_ref("output_layer").set_dim("nO", len(last["bias"]), force=True)
    model.initialize()
    hidden = model.layers[1].layers[0]
    for layer, arrays in ((hidden, first), (model.get_ref("output_layer"), last)):
        layer.set_param("W", np.ascontiguousarray(arrays["weight"], dtype="float32"))
        layer.set_param("b", np.ascontiguousarray(arrays["bias"], dtype="float32"))


def taken_apart(folder: Path) -> tuple[Reader, WordPieces, Labels]:
    """The reader that a pipeline was made of, to go on training it.

    folder (Path): The pipeline, of `assembled`.
    RETURNS (tuple[Reader, WordPieces, Labels]): The reader, the vocabulary of its
        transformer, and what its heads say. Weights are as exact as they are stored.
    """
    nlp = spacy.load(folder)
    transformer, pieces = get_weights(_model(nlp, "tok2vec"))
    tagger, parser = nlp.get_pipe("slot_tagger"), nlp.get_pipe("biaffine_parser")
    assert isinstance(tagger, SlotTagger) and isinstance(parser, BiaffineParser)
    own = {kind: list(names) for kind, names in parser.label_data.items()}
    own["relations"] = ["root" if r == "ROOT" else r for r in own["relations"]]
    labels = Labels(list(tagger.labels), **own)
    reader = Reader(transformer, labels)
    read_head(_model(nlp, "stream_senter"), reader.starts)
    read_head(_model(nlp, "truecaser"), reader.cases)
    read_head(_model(nlp, "slot_tagger"), reader.slots)
    reader.parser.load_state_dict(parser.network.state_dict())
    return reader, pieces, labels


def read_head(model: Model, head: nn.Sequential) -> None:
    """Copy the weights of a `spacy_punct.WordHead.v1` to a head of torch; see
    `fill_head`."""
    hidden, last = model.layers[1].layers[0], model.get_ref("output_layer")
    for layer, source in ((head[0], hidden), (head[-1], last)):
        for name, parameter in layer.named_parameters():
            values = np.array(source.get_param("W" if name == "weight" else "b"))
            if len(parameter) == 1:
                values = values[1:] - values[:1]
            parameter.data.copy_(torch.from_numpy(values))


def main(
    checkpoint: Annotated[Path, typer.Argument(help="Of scripts.encoder.train.")],
    start: Annotated[Path, typer.Argument(help="What it started from (.npz).")],
    output: Annotated[Path, typer.Argument(help="Folder of the pipeline.")],
    text: Annotated[
        Path | None,
        typer.Option(help="Folder of text to learn words like iPhone from."),
    ] = None,
) -> None:
    """Make a pipeline of what the long training has learned.

    Example: python -m scripts.encoder.assemble training/en-encoder/best.pt
    corpus/gte-small.npz training/en-reading --text corpus/text/train
    """
    mixed = mixed_forms(read_sources(text)) if text else None
    assembled(*averaged_reader(checkpoint, start), mixed).to_disk(output)


if __name__ == "__main__":
    run_step(main)
