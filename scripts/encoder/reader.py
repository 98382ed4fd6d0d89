"""The transformer with everything that learns from it: marks, sentence starts, case,
tags and trees."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from scripts.encoder.start import load
from scripts.encoder.trees import TreeBatch
from scripts.encoder.windows import IGNORE, Batch
from spacy_punct.encoder.transformer import Transformer
from spacy_punct.encoder.wordpieces import WordPieces
from spacy_punct.parser.network import Network
from spacy_punct.text.casing import CASES

PARTS = ("slot", "start", "case", "arc", "relation", "morph", "tag")
"""The parts of the loss; the last four are of trees."""
WEIGHTS = (1.0, 0.3, 0.3, 1.0, 1.0, 0.3, 0.3)

_HIDDEN, _DROPOUT = 256, 0.1
_PARSER = {"arc_width": 256, "relation_width": 128, "tag_width": 256, "dropout": 0.33}


@dataclass(frozen=True)
class Labels:
    """What is learned, each by its number.

    slots (list[str]): Strings of marks, joined by blanks.
    relations, morphs, tags (list[str]): Of words; see `trees.word_labels`.
    """

    slots: list[str]
    relations: list[str]
    morphs: list[str]
    tags: list[str]

    def by_name(self) -> dict[str, list[str]]:
        """The labels by what they are of."""
        return asdict(self)


class Reader(nn.Module):
    """A transformer with heads.

    transformer (Transformer): Reads the pieces.
    labels (Labels): What to learn.
    in_halves (bool): Whether the transformer learns in bfloat16; heads never do.
    """

    def __init__(
        self, transformer: Transformer, labels: Labels, in_halves: bool = False
    ) -> None:
        super().__init__()
        self.in_halves = in_halves
        width = transformer.sizes.width
        self.transformer = transformer
        self.slots = _head(2 * width, len(labels.slots))
        self.starts = _head(2 * width, 1)
        self.cases = _head(width, len(CASES))
        sizes: dict[str, Any] = _PARSER
        self.parser = Network(
            width,
            n_relations=len(labels.relations),
            n_morphs=len(labels.morphs),
            n_tags=len(labels.tags),
            **sizes,
        )

    def vectors(self, batch: Batch) -> Tensor:
        """The vectors of all pieces of a batch, flattened."""
        kind, in_halves = batch.ids.device.type, self.in_halves and self.training
        with torch.autocast(kind, torch.bfloat16, in_halves):
            read = self.transformer(batch.ids, batch.shapes, batch.is_piece)
        return read.flatten(0, 1).float()

    def read_slots(
        self, vectors: Tensor, left: Tensor, right: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Scores of the marks of slots, and of a sentence that starts after them.

        vectors (Tensor): Vectors of pieces or tokens.
        left, right (Tensor): The places of the tokens around each slot; -1 for none,
            which is a vector of zeros.
        RETURNS (tuple[Tensor, Tensor]): [slots, labels], [slots].
        """
        padded = F.pad(vectors, (0, 0, 0, 1))
        pairs = torch.cat([padded[left], padded[right]], dim=1)
        return self.slots(pairs), self.starts(pairs).squeeze(1)


def _head(width: int, n_labels: int) -> nn.Sequential:
    return nn.Sequential(
        nn.Linear(width, _HIDDEN),
        nn.GELU(),
        nn.Dropout(_DROPOUT),
        nn.Linear(_HIDDEN, n_labels),
    )


def losses(reader: Reader, batch: Batch) -> Tensor:
    """The losses of a batch, in the order of `PARTS`.

    Where there is nothing to learn, as of trees in a batch without any, they are zero.
    """
    vectors = reader.vectors(batch)
    slots, starts = reader.read_slots(vectors, batch.left, batch.right)
    cases = reader.cases(vectors[batch.tokens])
    known = batch.starts != IGNORE
    start = F.binary_cross_entropy_with_logits(
        starts[known], batch.starts[known].float(), reduction="sum"
    ) / known.sum().clamp(min=1)
    found = [_loss(slots, batch.slots), start, _loss(cases, batch.cases)]
    if isinstance(batch, TreeBatch):
        words, is_word = vectors[batch.words], batch.heads != IGNORE
        scores = reader.parser(words, is_word)
        relations = reader.parser.relation_scores(words, batch.heads)
        found += [
            _loss(scores.arcs[is_word], batch.heads[is_word]),
            _loss(relations[is_word], batch.relations[is_word]),
            _loss(scores.morphs[is_word], batch.morphs[is_word]),
            _loss(scores.tags[is_word], batch.tags[is_word]),
        ]
    else:
        found += [torch.zeros_like(start)] * 4
    return torch.stack(found)


def _loss(scores: Tensor, labels: Tensor) -> Tensor:
    total = F.cross_entropy(scores, labels, ignore_index=IGNORE, reduction="sum")
    return total / (labels != IGNORE).sum().clamp(min=1)


def averaged_reader(checkpoint: Path, start: Path) -> tuple[Reader, WordPieces, Labels]:
    """The reader of a checkpoint, with its averaged weights.

    checkpoint (Path): Written by `scripts.encoder.train`.
    start (Path): What the training started from: it has the vectors of pieces, which
        are not trained.
    RETURNS (tuple[Reader, WordPieces, Labels]): The reader, the vocabulary of its
        transformer, and what its heads say.
    """
    state = torch.load(checkpoint, map_location="cpu", weights_only=True)
    labels = Labels(**state["labels"])
    transformer, pieces = load(start)
    reader = Reader(transformer, labels)
    reader.load_state_dict(reader.state_dict() | state["average"])
    return reader.eval(), pieces, labels
