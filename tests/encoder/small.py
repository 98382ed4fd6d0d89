"""An encoder that can read any English word, with few and random weights."""

import string

import spacy
import torch
from spacy.language import Language
from thinc.api import Model

from spacy_punct.encoder.tok2vec import build_encoder, set_weights
from spacy_punct.encoder.transformer import Transformer, TransformerSizes
from spacy_punct.encoder.wordpieces import WordPieces

_SYMBOLS = [*string.ascii_lowercase, *string.digits]
VOCABULARY = [
    *("[PAD]", "[UNK]", "[CLS]", "[SEP]", "ba", "##ba", "'"),
    *_SYMBOLS,
    *(f"##{symbol}" for symbol in _SYMBOLS),
]
WIDTH = 16
SIZES = TransformerSizes(2, WIDTH, 32, 2, len(VOCABULARY), 128)


def small_transformer(seed: int = 1, sizes: TransformerSizes = SIZES) -> Transformer:
    torch.manual_seed(seed)
    transformer = Transformer(sizes)
    torch.nn.init.normal_(transformer.shapes.weight)
    return transformer


def small_encoder(**settings) -> Model:
    """An encoder with random weights, the same in each call."""
    chosen = {"window": 96, "margin": 8, "precision": "float32", **settings}
    model = build_encoder(width=WIDTH, **chosen)
    set_weights(model, small_transformer(), WordPieces(VOCABULARY))
    return model


def small_pipeline(**settings) -> Language:
    """A pipeline that has nothing but such an encoder."""
    nlp = spacy.blank("en")
    chosen = {"window": 96, "margin": 8, "precision": "float32", **settings}
    model = {"@architectures": "spacy_punct.Encoder.v1", "width": WIDTH, **chosen}
    tok2vec = nlp.add_pipe("tok2vec", config={"model": model})
    set_weights(tok2vec.model, small_transformer(), WordPieces(VOCABULARY))
    return nlp


LISTENER = {
    "@architectures": "spacy.Tok2VecListener.v1",
    "width": WIDTH,
    "upstream": "*",
}
