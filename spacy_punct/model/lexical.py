"""A lexical ATTACH: what the words say, added to the paper's log-linear scores.

The paper's templates see tags and relations only, so a question ends in a period
unless its tags give it away. Here each node also has a vector made of the words
that matter to its punctuation: its head, its parent, the first and the last word of
its constituent, and those just outside, i.e. both words at either slot. All have
been read in context: a tok2vec gives each word a vector, and a BiLSTM over these,
tags and relations reads the sentence. A hidden layer then scores pairs, left and
right punctemes. Marks inside keep their log-linear terms (template c), so
inference is the same, and as exact, as for the paper's model.

To correct punctuation, the network also reads what a writer put into the slots
(`Tree.observed`): beside each word, and at both ends of each node. It may then score
punctemes by whether they are what is written there, whatever that is. Before that it
may guess, slot by slot, what should be written, as a tagger would; punctemes are then
scored by whether they are expected there, too. The guess learns from the true slots, at
the same time.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import dropout, embedding_bag
from torch.nn.utils.rnn import PackedSequence

from spacy_punct.data.tree import Puncteme, Slots, Tree
from spacy_punct.errors import Errors, PunctError, check_range
from spacy_punct.model.attach import AttachScorer, LogLinearAttach, RelationScores
from spacy_punct.model.features import Nodes, TreeFeatures
from spacy_punct.model.inventory import Inventory
from spacy_punct.model.scores import EncodedTree, NodeScores, ObservedSlots, Vectors

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
    observed_width (int): The length of the vectors of what a writer put into slots;
        0 for a model that does not read it.
    guess_width (int): The size of the hidden layer that guesses what should be
        written; 0 for no guess.
    """

    vector_width: int
    embedding_width: int = 32
    encoder_width: int = 128
    encoder_depth: int = 1
    hidden_width: int = 256
    hidden_depth: int = 1
    observed_width: int = 0
    guess_width: int = 0

    def __post_init__(self) -> None:
        optional = ("observed_width", "guess_width")
        for name, value in vars(self).items():
            check_range(name, value, 0 if name in optional else 1)
        if self.guess_width and not self.observed_width:
            raise PunctError(
                Errors.P024.format(
                    name="guess_width",
                    condition="0 without an observed_width",
                    value=self.guess_width,
                )
            )


@dataclass(frozen=True)
class LexicalFeatures:
    """What a `LexicalAttach` sees of a tree.

    templates (TreeFeatures): What the log-linear part sees.
    sizes (list[int]): How many words there are; several numbers for several trees.
    vectors (list[Vectors]): For each tree a row for each word.
    roles (ndarray): (n, 6) which word has which role at each node; -1 for none.
    length (ndarray): The number of the length class of each constituent.
    above (ndarray): The relation of each node's parent; one more number for the root.
    observed (list[Slots]): For each tree what a writer put into its slots; empty if
        it is not read.
    targets (ndarray): For each slot the number of the puncteme that is written like
        it in truth; -1 if there is none, or it is not known.
    """

    templates: TreeFeatures
    sizes: list[int]
    vectors: list[Vectors]
    roles: np.ndarray
    length: np.ndarray
    above: np.ndarray
    observed: list[Slots]
    targets: np.ndarray

    @classmethod
    def concatenate(cls, parts: Sequence["LexicalFeatures"]) -> "LexicalFeatures":
        """Several trees as one, their nodes numbered on."""
        starts = np.cumsum([0, *(len(part.templates) for part in parts)])
        roles = [
            np.where(part.roles < 0, -1, part.roles + start)
            for part, start in zip(parts, starts, strict=False)
        ]
        return cls(
            TreeFeatures.concatenate([part.templates for part in parts]),
            [size for part in parts for size in part.sizes],
            [vectors for part in parts for vectors in part.vectors],
            np.concatenate(roles),
            np.concatenate([part.length for part in parts]),
            np.concatenate([part.above for part in parts]),
            [slots for part in parts for slots in part.observed],
            np.concatenate([part.targets for part in parts]),
        )

    def slots(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The slot before each word, and those at the left and right of its node."""
        shift = np.repeat(np.arange(len(self.sizes)), self.sizes)
        word, _, first, last = self.roles[:, :4].T + shift
        return word, first, last + 1


_PLACES = 3
"""Marks are told apart by their place among this many, from either end."""

AGREEMENTS = 2
"""Ways in which a puncteme may agree with a slot: it is all of it, or a part of it."""


class Reading(NamedTuple):
    """The slots of several trees, end to end.

    vectors (Tensor): (slots, width).
    agreement (ndarray): (slots, 2, V) booleans: whether each puncteme is all that
        stands in the slot, and whether it is a part of that.
    """

    vectors: Tensor
    agreement: np.ndarray


class SlotReader(nn.Module):
    """Gives each slot a vector: that of its string, if a puncteme of the inventory is
    written like it, and those of its marks by their places.

    inventory (Inventory): The marks and punctemes.
    width (int): The length of the vectors.
    """

    def __init__(self, inventory: Inventory, width: int) -> None:
        super().__init__()
        self.inventory = inventory
        n_marks = len(inventory.marks)
        self._first_mark = len(inventory.punctemes) + 1
        self.table = nn.EmbeddingBag(
            self._first_mark + 2 * _PLACES * n_marks, width, mode="sum"
        )
        nn.init.normal_(self.table.weight, std=0.3)
        self._known: dict[Puncteme, tuple[list[int], np.ndarray]] = {}

    def forward(self, observed: Sequence[Slots]) -> Reading:
        """Read the slots of trees."""
        strings = [slot for slots in observed for slot in slots]
        number = {slot: k for k, slot in enumerate(dict.fromkeys(strings))}
        found = list(map(self._read, number))
        sizes = [len(features) for features, _ in found]
        vectors = self.table(
            torch.tensor([k for features, _ in found for k in features]),
            torch.tensor(np.cumsum([0, *sizes[:-1]])),
        )
        numbers = np.array([number[slot] for slot in strings])
        agreement = np.stack([agreement for _, agreement in found])[numbers]
        return Reading(vectors.index_select(0, torch.from_numpy(numbers)), agreement)

    def _read(self, slot: Puncteme) -> tuple[list[int], np.ndarray]:
        """The features of a string, and how each puncteme agrees with it."""
        if slot not in self._known:
            (known,) = self.inventory.known((slot,))
            ids = self.inventory.encode(known)
            self._known[slot] = self._features(ids), agreements(self.inventory, ids)
        return self._known[slot]

    def _features(self, ids: tuple[int, ...]) -> list[int]:
        n_marks = len(self.inventory.marks)
        other = len(self.inventory.punctemes)
        features = [self.inventory.puncteme_index.get(ids, other)]
        for side, marks in enumerate((ids, ids[::-1])):
            for place, mark in enumerate(marks):
                place = side * _PLACES + min(place, _PLACES - 1)
                features.append(self._first_mark + place * n_marks + mark)
        return features


def agreements(inventory: Inventory, ids: tuple[int, ...]) -> np.ndarray:
    """(2, V) booleans: whether each puncteme is all of a string, or a part of it."""
    parts = {ids[i:k] for i in range(len(ids)) for k in range(i + 1, len(ids) + 1)}
    punctemes = inventory.encoded_punctemes
    return np.array(
        [[p == ids for p in punctemes], [p in parts - {ids} for p in punctemes]]
    )


class SlotGuess(nn.Module):
    """A distribution of punctemes for each slot, as of a tagger.

    inventory (Inventory): The punctemes.
    n_inputs (int): Of the two words around a slot and what is written in it.
    width (int): Of the hidden layer.
    """

    def __init__(self, inventory: Inventory, n_inputs: int, width: int) -> None:
        super().__init__()
        self.hidden = nn.Linear(n_inputs, width)
        self.output = nn.Linear(width, len(inventory.punctemes))
        tables = [agreements(inventory, ids) for ids in inventory.encoded_punctemes]
        self._agreement = torch.tensor(np.stack(tables))

    def forward(self, words: Tensor, sizes: Sequence[int], written: Tensor) -> Tensor:
        """(slots, V): log-probabilities.

        words (Tensor): A vector for each word of several sentences.
        sizes (Sequence[int]): How many words each has.
        written (Tensor): A vector for each of their slots.
        """
        edge = words.new_zeros(1, words.shape[1])
        padded = torch.cat([words, edge])
        before, after = map(torch.from_numpy, _neighbours(sizes))
        around = torch.cat([padded[before], padded[after], written], dim=1)
        return self.output(torch.relu(self.hidden(around))).log_softmax(1)

    def agreement(self, guesses: Tensor) -> Tensor:
        """(slots, 2, V): how probably each puncteme is all that should be in the slot,
        and how probably a part of that."""
        tables = self._agreement.to(guesses.dtype)
        return torch.einsum("sv,vap->sap", guesses.exp(), tables)


def log_prob_of(guesses: Tensor, targets: np.ndarray) -> Tensor:
    """log p of the slots whose truth is known, all together."""
    known = np.flatnonzero(targets >= 0)
    return guesses[torch.from_numpy(known), torch.from_numpy(targets[known])].sum()


def _neighbours(sizes: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
    """The words before and after each slot; the last of all for none."""
    before, after = [], []
    start, none = 0, sum(sizes)
    for size in sizes:
        words = range(start, start + size)
        before += [none, *words]
        after += [*words, none]
        start += size
    return np.array(before), np.array(after)


class LexicalAttach(AttachScorer):
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
        slot = settings.observed_width
        self.encoder = nn.LSTM(
            settings.vector_width + 2 * small + 2 * slot,
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
        if slot:
            self.slots = SlotReader(self.inventory, slot)
            self.at_left = nn.Linear(slot, hidden, bias=False)
            self.at_right = nn.Linear(slot, hidden, bias=False)
            self.agreement = nn.Parameter(torch.zeros(hidden, 2, AGREEMENTS))
        self.guesses: Tensor | None = None
        self.guess_log_prob: Tensor | None = None
        if settings.guess_width:
            self.guess = SlotGuess(
                self.inventory,
                4 * settings.encoder_width + slot,
                settings.guess_width,
            )
            self.expectation = nn.Parameter(torch.zeros(hidden, 2, AGREEMENTS))

    @property
    def reads_observed(self) -> bool:
        """Whether it reads what a writer put into the slots."""
        return self.settings.observed_width > 0

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
        return self._together([tree], [slots])

    def _together(
        self, trees: Sequence[Tree], slots: Sequence[ObservedSlots | None]
    ) -> LexicalFeatures:
        """What is seen of several trees, as one."""
        vectors = [self._vectors(tree) for tree in trees]
        observed: list[Slots] = []
        for tree in trees if self.reads_observed else ():
            if tree.observed is None:
                raise PunctError(Errors.P130)
            observed.append(tree.observed)
        templates = self.log_linear.observer.together(trees, slots)
        nodes = Nodes.of(trees)
        sizes = [len(tree.words) for tree in trees]
        start = np.repeat(nodes.starts, sizes)
        last = start + np.repeat(sizes, sizes) - 1
        roles = [
            np.arange(len(start)),
            nodes.head,
            nodes.first,
            nodes.end - 1,
            np.where(nodes.first > start, nodes.first - 1, -1),
            np.where(nodes.end <= last, nodes.end, -1),
        ]
        # ROOT, -1, is the last.
        above = np.append(templates.relation, len(self.inventory.relations))
        return LexicalFeatures(
            templates,
            sizes,
            vectors,
            np.stack(roles, axis=1),
            np.searchsorted(_LENGTHS, nodes.end - nodes.first),
            above[nodes.head],
            observed,
            self._targets(trees, slots),
        )

    def _vectors(self, tree: Tree) -> Vectors:
        """The vectors of a tree's words, if it has such as the network reads."""
        width, found = self.settings.vector_width, "none"
        if isinstance(tree, EncodedTree):
            if tree.vectors.shape == (len(tree.words), width):
                return tree.vectors
            found = str(tuple(tree.vectors.shape))
        raise PunctError(Errors.P065.format(n=len(tree), width=width, found=found))

    def _targets(
        self, trees: Sequence[Tree], slots: Sequence[ObservedSlots | None]
    ) -> np.ndarray:
        """What `LexicalFeatures.targets` says of the slots of trees."""
        number = self.inventory.puncteme_index
        targets = []
        for tree, surface in zip(trees, slots, strict=True):
            known = surface or [None] * (len(tree.words) + 1)
            # Slot 0 begins with ^.
            strings = [known[0] and known[0][1:], *known[1:]]
            targets += [-1 if s is None else number.get(s, -1) for s in strings]
        return np.array(targets)

    def forward(self, batch: Sequence[LexicalFeatures]) -> list[RelationScores]:
        part = LexicalFeatures.concatenate(batch)
        reading = self.slots(part.observed) if self.reads_observed else None
        hidden, words = self._hidden(part, reading)
        expected = None
        if reading is not None and self.settings.guess_width:
            self.guesses = self.guess(words, part.sizes, reading.vectors)
            expected = self.guess.agreement(self.guesses)
            self.guess_log_prob = log_prob_of(self.guesses, part.targets)
        result = []
        for group in self.log_linear([part.templates]):
            nodes = hidden.index_select(0, torch.from_numpy(group.nodes))
            scores = torch.addmm(group.scores, nodes, self._weights(group.relation))
            if reading is not None:
                agreement = torch.from_numpy(reading.agreement).to(scores.dtype)
                scores = scores + self._agreeing(
                    group, nodes, part, agreement, self.agreement
                )
            if expected is not None:
                scores = scores + self._agreeing(
                    group, nodes, part, expected, self.expectation
                )
            result.append(replace(group, scores=scores))
        return result

    def _agreeing(
        self,
        group: RelationScores,
        hidden: Tensor,
        part: LexicalFeatures,
        agreement: Tensor,
        weights: Tensor,
    ) -> Tensor:
        """(nodes, pairs of W_d): for punctemes that agree with the slots at the ends
        of nodes."""
        _, *ends = part.slots()
        columns = (self.log_linear.lefts, self.log_linear.rights)
        weights = torch.einsum("nh,hsa->sna", hidden, weights)
        scores: Tensor = torch.zeros(())
        for slots, weight, column in zip(ends, weights, columns, strict=True):
            slot = torch.from_numpy(slots[group.nodes])
            agrees = agreement[slot].index_select(2, column[group.relation])
            scores = scores + torch.einsum("na,nap->np", weight, agrees)
        return scores

    def _weights(self, relation: int) -> Tensor:
        """(hidden width, pairs of W_d): what scores a relation's pairs."""
        log_linear = self.log_linear
        return (
            self.pair.index_select(1, log_linear.columns[relation])
            + self.left.index_select(1, log_linear.lefts[relation])
            + self.right.index_select(1, log_linear.rights[relation])
        )

    def _hidden(
        self, part: LexicalFeatures, reading: Reading | None
    ) -> tuple[Tensor, Tensor]:
        """What is known of each node of a batch, and of each word in its sentence."""
        tag, relation, side, above, length = map(
            torch.from_numpy,
            (
                part.templates.tag,
                part.templates.relation,
                part.templates.side,
                part.above,
                part.length,
            ),
        )
        vectors = torch.cat(
            [torch.as_tensor(rows, dtype=self.pair.dtype) for rows in part.vectors]
        )
        seen = [vectors, self.tags(tag), self.relations(relation)]
        if reading is not None:
            before, left, right = map(torch.from_numpy, part.slots())
            seen += [reading.vectors[before], reading.vectors[before + 1]]
        words = torch.cat(seen, dim=1)
        words = self._dropped_out(self._encoded(self._dropped_out(words), part.sizes))
        summed = (
            self.by_tag(tag)
            + self.by_relation(2 * relation + side)
            + self.by_parent(above)
            + self.by_length(length)
            + self._in_roles(words, part.roles)
        )
        if reading is not None:
            summed = (
                summed
                + self.at_left(reading.vectors[left])
                + self.at_right(reading.vectors[right])
            )
        hidden = self._dropped_out(torch.relu(summed))
        for layer in self.deeper:
            hidden = hidden + self._dropped_out(torch.relu(layer(hidden)))
        return hidden, words

    def _in_roles(self, words: Tensor, roles: np.ndarray) -> Tensor:
        """The sum of the words that have a role at each node, as they look in it."""
        by_role = self.roles(words).view(len(words) * _ROLES, -1)
        filled = roles >= 0
        chosen = (roles * _ROLES + np.arange(_ROLES))[filled]
        starts = np.cumsum(filled.sum(axis=1)) - filled.sum(axis=1)
        return embedding_bag(
            torch.from_numpy(chosen), by_role, torch.from_numpy(starts), mode="sum"
        )

    def _encoded(self, words: Tensor, sizes: Sequence[int]) -> Tensor:
        """The sentences as the BiLSTM reads them."""
        longest_first = np.argsort(sizes, kind="stable")[::-1]
        starts = np.cumsum([0, *sizes[:-1]])[longest_first]
        times = np.arange(max(sizes))[:, None]
        is_there = times < np.array(sizes)[longest_first]
        order = torch.from_numpy((starts + times)[is_there])
        together = torch.from_numpy(is_there.sum(axis=1))
        packed = PackedSequence(words.index_select(0, order), together)
        read = self.encoder(packed)[0].data
        return read.index_select(0, torch.argsort(order))

    def _dropped_out(self, values: Tensor) -> Tensor:
        return dropout(values, self.dropout, self.training)

    @torch.no_grad()
    def node_scores(self, trees: Sequence[Tree]) -> list[NodeScores]:
        if not trees:
            return []
        self.eval()
        part = self._together(trees, [None] * len(trees))
        scores = self.log_linear.by_tree(self([part]), part.templates, part.sizes)
        if self.guesses is None:
            return scores
        by_tree = self.guesses.split([size + 1 for size in part.sizes])
        return [
            replace(found, guesses=guesses.numpy())
            for found, guesses in zip(scores, by_tree, strict=True)
        ]

    def refresh(self) -> None:
        self.log_linear.refresh()
