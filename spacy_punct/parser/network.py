"""`spacy_punct.Biaffine.v1`: vectors of words -> scores of arcs, relations and tags.

The network of Dozat & Manning (2017): two small layers see each word as a dependent and
as a head, and a bilinear form compares the two; one pair of layers for arcs, one for
their relations.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F
from spacy.tokens import Doc
from thinc.api import Model
from thinc.types import Floats2d
from torch import Tensor, nn

from spacy_punct.errors import check_range
from spacy_punct.parser.trees import NEVER
from spacy_punct.pipe.networks import network_shim, set_network


@dataclass(frozen=True)
class Scores:
    """What the network says of sentences side by side, padded to the longest.

    arcs (Tensor): [sentences, words, 1 + words], of each head; the root is the first.
    words (Tensor): The words' vectors, for `Network.relation_scores`.
    morphs, tags (Tensor): [sentences, words, labels].
    """

    arcs: Tensor
    words: Tensor
    morphs: Tensor
    tags: Tensor


class Bilinear(nn.Module):
    """score(d, h) = d' U h, with a constant appended to both, for each output."""

    def __init__(self, width: int, n_out: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(n_out, width + 1, width + 1))

    def all_pairs(self, dependents: Tensor, heads: Tensor) -> Tensor:
        """[s, n, width], [s, m, width] -> [s, n, m], of the first output."""
        one, two = (F.pad(x, (0, 1), value=1.0) for x in (dependents, heads))
        return one @ self.weight[0] @ two.transpose(1, 2)

    def own_pairs(self, dependents: Tensor, heads: Tensor) -> Tensor:
        """[n, width], [n, width] -> [n, n_out]."""
        one, two = (F.pad(x, (0, 1), value=1.0) for x in (dependents, heads))
        # One output at a time: all of them at once do not fit a processor's cache.
        scores = [((one @ weight) * two).sum(1) for weight in self.weight]
        return torch.stack(scores, dim=1)


class Network(nn.Module):
    """Scores of arcs, relations, morphology and tags.

    width (int): The length of the words' vectors.
    arc_width, relation_width, tag_width (int): Of the hidden layers.
    n_relations, n_morphs, n_tags (int): How many labels there are.
    dropout (float): Of the hidden layers.
    """

    def __init__(
        self,
        width: int,
        arc_width: int,
        relation_width: int,
        tag_width: int,
        n_relations: int,
        n_morphs: int,
        n_tags: int,
        dropout: float,
    ) -> None:
        super().__init__()
        self.sizes = {
            "width": width,
            "arc_width": arc_width,
            "relation_width": relation_width,
            "tag_width": tag_width,
            "n_relations": n_relations,
            "n_morphs": n_morphs,
            "n_tags": n_tags,
            "dropout": dropout,
        }

        def layer(size: int) -> nn.Sequential:
            linear = nn.Linear(width, size)
            return nn.Sequential(
                nn.Dropout(dropout / 2), linear, nn.GELU(), nn.Dropout(dropout)
            )

        self.root = nn.Parameter(torch.zeros(1, 1, width))
        self.arc_dependent, self.arc_head = layer(arc_width), layer(arc_width)
        self.relation_dependent = layer(relation_width)
        self.relation_head = layer(relation_width)
        self.arcs = Bilinear(arc_width, 1)
        self.relations = Bilinear(relation_width, n_relations)
        self.tag_hidden = layer(tag_width)
        self.tags = nn.Linear(tag_width, n_morphs + n_tags)
        self.n_morphs = n_morphs

    def forward(self, words: Tensor, is_word: Tensor) -> Scores:
        """Scores of sentences.

        words (Tensor): [sentences, words, width].
        is_word (Tensor): [sentences, words], False at the padding.
        RETURNS (Scores): The scores; impossible arcs have `NEVER`.
        """
        heads = self._with_root(words)
        arcs = self.arcs.all_pairs(self.arc_dependent(words), self.arc_head(heads))
        possible = F.pad(is_word, (1, 0), value=True)[:, None, :]
        own = torch.eye(words.shape[1], dtype=torch.bool, device=words.device)
        arcs = arcs.masked_fill(~possible | F.pad(own, (1, 0)), NEVER)
        both = self.tags(self.tag_hidden(words))
        return Scores(
            arcs, words, both[..., : self.n_morphs], both[..., self.n_morphs :]
        )

    def relation_scores(self, words: Tensor, heads: Tensor) -> Tensor:
        """Scores of the relations of words to given heads.

        words (Tensor): [sentences, words, width].
        heads (Tensor): [sentences, words]; 0 is the root. The padding has a negative
            number, and no scores.
        RETURNS (Tensor): [sentences, words, relations].
        """
        is_known = heads >= 0
        row, _ = is_known.nonzero(as_tuple=True)
        chosen = self._with_root(words)[row, heads[is_known]]
        found = self.relations.own_pairs(
            self.relation_dependent(words[is_known]), self.relation_head(chosen)
        )
        scores = found.new_zeros((*heads.shape, found.shape[1]))
        scores[is_known] = found
        return scores

    def _with_root(self, words: Tensor) -> Tensor:
        return torch.cat([self.root.expand(len(words), 1, -1), words], dim=1)


def build_biaffine(
    tok2vec: Model[list[Doc], list[Floats2d]],
    arc_width: int = 256,
    relation_width: int = 128,
    tag_width: int = 256,
    dropout: float = 0.33,
) -> Model[list[Doc], list[Floats2d]]:
    """The model of a `biaffine_parser`, registered as `spacy_punct.Biaffine.v1`.

    tok2vec (Model): Reads the words, as a rule a listener to an encoder.
    arc_width, relation_width, tag_width (int): Of the hidden layers.
    dropout (float): Share of them left out of each training step.
    RETURNS (Model): Docs -> their vectors; the network is in its shim.
    """
    sizes = {
        "arc_width": arc_width,
        "relation_width": relation_width,
        "tag_width": tag_width,
    }
    for name, size in sizes.items():
        check_range(name, size, 1)
    check_range("dropout", dropout, 0, 1)
    return Model(
        "biaffine",
        forward,
        layers=[tok2vec],
        refs={"tok2vec": tok2vec},
        shims=[network_shim(Network)],
        attrs={"sizes": sizes, "dropout": dropout},
    )


def forward(
    model: Model, docs: list[Doc], is_train: bool
) -> tuple[list[Floats2d], Callable]:
    return model.layers[0](docs, is_train)


def make_network(
    model: Model, width: int, n_relations: int, n_morphs: int, n_tags: int
) -> None:
    """Give a model a network with random weights, for so many labels."""
    sizes = {**model.attrs["sizes"], "dropout": model.attrs["dropout"]}
    torch.manual_seed(0)
    network = Network(
        width, n_relations=n_relations, n_morphs=n_morphs, n_tags=n_tags, **sizes
    )
    set_network(model, network)


def padded(vectors: Sequence[np.ndarray]) -> tuple[Tensor, Tensor]:
    """Vectors of the words of sentences side by side, and which are not padding."""
    longest = max(map(len, vectors))
    words = np.zeros((len(vectors), longest, vectors[0].shape[1]), dtype=np.float32)
    is_word = np.zeros((len(vectors), longest), dtype=bool)
    for row, found in enumerate(vectors):
        words[row, : len(found)] = found
        is_word[row, : len(found)] = True
    return torch.from_numpy(words), torch.from_numpy(is_word)
