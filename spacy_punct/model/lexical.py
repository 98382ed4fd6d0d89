"""A lexical ATTACH: what the words say, added to the paper's log-linear scores.

The paper's templates see tags and relations only, so a question ends in a period
unless its tags give it away. Here each node also has a vector made of the words
that matter to its punctuation: its head, its parent, the first and the last word of
its constituent, and those just outside, i.e. both words at either slot. All have
been read in context: a tok2vec gives each word a vector, and a BiLSTM over these,
tags and relations reads the sentence. A hidden layer then scores pairs, left and
right punctemes. Marks inside keep their log-linear terms (template c), so
inference is the same, and as exact, as for the paper's model.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import dropout
from torch.nn.utils.rnn import (
    pack_padded_sequence,
    pad_packed_sequence,
    pad_sequence,
)

from spacy_punct.data.tree import ROOT, Tree
from spacy_punct.errors import Errors, PunctError, check_range
from spacy_punct.model.attach import LogLinearAttach, RelationScores, selected
from spacy_punct.model.features import TreeFeatures
from spacy_punct.model.scores import NodeScores, ObservedSlots

_LENGTHS = (1, 2, 3, 4, 6, 9, 14, 22, 35)
"""Constituents of up to this many words have an embedding in common."""

_ROLES = 6
"""Head, parent, first word, last word, the word before and the word after."""


@dataclass(frozen=True)
class LexicalSettings:
    """The sizes of a `LexicalAttach`.

    vector_width (int): The length of the words' vectors.
    embedding_width (int): The length of the vectors of tags and of relations.
    encoder_width (int): What the BiLSTM gives in each direction.
    encoder_depth (int): How many layers it has.
    hidden_width (int): The size of the hidden layers.
    hidden_depth (int): How many there are.
    """

    vector_width: int
    embedding_width: int = 32
    encoder_width: int = 128
    encoder_depth: int = 1
    hidden_width: int = 256
    hidden_depth: int = 1

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            check_range(name, value, 1)


@dataclass(frozen=True)
class LexicalFeatures:
    """What a `LexicalAttach` sees of a tree.

    templates (TreeFeatures): What the log-linear part sees.
    vectors (Any): An array with a row for each word.
    roles (ndarray): (6, n) which word has which role at each node; -1 for none.
    length (ndarray): The number of the length class of each constituent.
    above (ndarray): The relation of each node's parent; one more number for the root.
    """

    templates: TreeFeatures
    vectors: Any
    roles: np.ndarray
    length: np.ndarray
    above: np.ndarray


class LexicalAttach(nn.Module):
    """Log-linear scores plus those of a neural network that reads the words.

    log_linear (LogLinearAttach): The paper's part.
    settings (LexicalSettings): The sizes of the other.
    """

    def __init__(self, log_linear: LogLinearAttach, settings: LexicalSettings) -> None:
        super().__init__()
        self.log_linear = log_linear
        self.inventory = log_linear.inventory
        self.settings = settings
        self.dropout = 0.0
        n_relations = len(self.inventory.relations)
        n_tags = log_linear.observer.n_tags
        small, hidden = settings.embedding_width, settings.hidden_width
        self.tags = nn.Embedding(n_tags, small)
        self.relations = nn.Embedding(n_relations, small)
        self.encoder = nn.LSTM(
            settings.vector_width + 2 * small,
            settings.encoder_width,
            settings.encoder_depth,
            batch_first=True,
            bidirectional=True,
        )
        self.roles = nn.Linear(2 * settings.encoder_width, _ROLES * hidden)
        self.by_tag = nn.Embedding(n_tags, hidden)
        self.by_relation = nn.Embedding(2 * n_relations, hidden)
        self.by_parent = nn.Embedding(n_relations + 1, hidden)
        self.by_length = nn.Embedding(len(_LENGTHS) + 1, hidden)
        for table in (self.by_tag, self.by_relation, self.by_parent, self.by_length):
            nn.init.normal_(table.weight, std=0.1)
        self.deeper = nn.ModuleList(
            nn.Linear(hidden, hidden) for _ in range(settings.hidden_depth - 1)
        )
        n_punctemes = len(self.inventory.punctemes)
        self.pair = nn.Parameter(torch.zeros(hidden, len(self.inventory.all_pairs)))
        self.left = nn.Parameter(torch.zeros(hidden, n_punctemes))
        self.right = nn.Parameter(torch.zeros(hidden, n_punctemes))

    def set_dropout(
        self, features: float, words: float = 0.0, *, seed: int | None = None
    ) -> None:
        """Which share training leaves out.

        features (float): Of the log-linear features.
        words (float): Of the network's vectors.
        seed (int | None): See `LogLinearAttach.set_dropout`.
        """
        self.log_linear.set_dropout(features, seed=seed)
        self.dropout = words

    @torch.no_grad()
    def compact(self, min_weight: float) -> None:
        """Make small what the file will hold: see `LogLinearAttach.compact`.

        Of the network all weights are kept, rounded to 16 bits.
        """
        for weights in self.parameters():
            weights.copy_(weights.half())
        self.log_linear.compact(min_weight)

    def prepare(
        self, tree: Tree, slots: ObservedSlots | None = None
    ) -> LexicalFeatures:
        templates = self.log_linear.prepare(tree, slots)
        width = self.settings.vector_width
        shape = None if tree.vectors is None else tuple(tree.vectors.shape)
        if shape != (len(tree), width):
            raise PunctError(
                Errors.P065.format(n=len(tree), width=width, found=shape or "none")
            )
        n = len(tree)
        first, end = np.array(tree.spans).T
        head = np.array(tree.heads)
        roles = np.stack(
            [
                np.arange(n),
                head,
                first,
                end - 1,
                first - 1,
                np.where(end < n, end, -1),
            ]
        )
        above = np.append(templates.relation, len(self.inventory.relations))
        return LexicalFeatures(
            templates,
            tree.vectors,
            roles,
            np.searchsorted(_LENGTHS, end - first),
            above[np.where(head == ROOT, n, head)],
        )

    def forward(self, batch: Sequence[LexicalFeatures]) -> list[RelationScores]:
        hidden = self._hidden(batch)
        left, right = hidden @ self.left, hidden @ self.right
        log_linear = self.log_linear
        result = []
        for group in log_linear([part.templates for part in batch]):
            nodes = torch.from_numpy(group.nodes)
            d = group.relation
            pair = self.pair.index_select(1, log_linear.columns[d])
            scores = (
                group.scores
                + hidden.index_select(0, nodes) @ pair
                + selected(left, nodes, log_linear.lefts[d])
                + selected(right, nodes, log_linear.rights[d])
            )
            result.append(replace(group, scores=scores))
        return result

    def _hidden(self, batch: Sequence[LexicalFeatures]) -> Tensor:
        """(nodes, hidden width): what is known of each node of a batch."""
        lengths = [len(part.templates) for part in batch]
        starts = np.cumsum([0, *lengths])
        n = starts[-1]
        templates = [part.templates for part in batch]
        tag = _joined(part.tag for part in templates)
        relation = _joined(part.relation for part in templates)
        side = _joined(part.side for part in templates)
        vectors = torch.cat(
            [torch.as_tensor(part.vectors, dtype=self.pair.dtype) for part in batch]
        )
        words = torch.cat([vectors, self.tags(tag), self.relations(relation)], dim=1)
        words = self._dropped_out(self._encoded(self._dropped_out(words), lengths))
        # Nobody, the last row, has no part in anything.
        by_role = self.roles(words).view(n, _ROLES, -1)
        by_role = torch.cat([by_role, by_role.new_zeros(1, *by_role.shape[1:])])
        roles = np.concatenate(
            [
                np.where(part.roles < 0, n, part.roles + start)
                for part, start in zip(batch, starts, strict=False)
            ],
            axis=1,
        )
        summed = (
            self.by_tag(tag)
            + self.by_relation(2 * relation + side)
            + self.by_parent(_joined(part.above for part in batch))
            + self.by_length(_joined(part.length for part in batch))
        )
        for role, word in enumerate(torch.from_numpy(roles)):
            summed = summed + by_role[:, role].index_select(0, word)
        hidden = self._dropped_out(torch.relu(summed))
        for layer in self.deeper:
            hidden = hidden + self._dropped_out(torch.relu(layer(hidden)))
        return hidden

    def _encoded(self, words: Tensor, lengths: list[int]) -> Tensor:
        """The sentences as the BiLSTM reads them."""
        padded = pad_sequence(words.split(lengths), batch_first=True)
        packed = pack_padded_sequence(
            padded, torch.tensor(lengths), batch_first=True, enforce_sorted=False
        )
        read, _ = pad_packed_sequence(self.encoder(packed)[0], batch_first=True)
        places = torch.arange(read.shape[1]) < torch.tensor(lengths)[:, None]
        return read[places]

    def _dropped_out(self, values: Tensor) -> Tensor:
        return dropout(values, self.dropout, self.training)

    @torch.no_grad()
    def node_scores(self, trees: Sequence[Tree]) -> list[NodeScores]:
        if not trees:
            return []
        self.eval()
        parts = [self.prepare(tree) for tree in trees]
        templates = [part.templates for part in parts]
        return self.log_linear.by_tree(self(parts), templates)

    def refresh(self) -> None:
        self.log_linear.refresh()


def _joined(parts: Any) -> Tensor:
    return torch.from_numpy(np.concatenate(list(parts)))
