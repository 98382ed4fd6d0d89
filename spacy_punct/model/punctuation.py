"""The whole model: inventory, ATTACH and NOISYCHANNEL together."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch

from spacy_punct.data.depunctuation import PunctuatedTree
from spacy_punct.data.tree import Slots, Tree
from spacy_punct.errors import Errors, PunctError
from spacy_punct.model.attach import AttachScorer, LogLinearAttach
from spacy_punct.model.automaton import Automata
from spacy_punct.model.channel import Channel, ChannelKind, ChannelWeights, Direction
from spacy_punct.model.distribution import Distribution
from spacy_punct.model.inventory import Inventory
from spacy_punct.model.lexical import LexicalAttach, LexicalSettings
from spacy_punct.model.objective import Likelihood, likelihood
from spacy_punct.model.scores import ObservedSlots


class PunctuationModel:
    """p(surface | tree), trained or to be trained.

    inventory (Inventory): Σ, V and the W_d.
    scorer (AttachScorer): ATTACH.
    channel_weights (ChannelWeights): NOISYCHANNEL's weights.
    direction (Direction): Which way the channel's window slides.
    """

    def __init__(
        self,
        inventory: Inventory,
        scorer: AttachScorer,
        channel_weights: ChannelWeights,
        direction: Direction,
    ) -> None:
        self.inventory = inventory
        self.scorer = scorer
        self.channel_weights = channel_weights
        self.direction = direction
        self.refresh()

    @classmethod
    def from_examples(
        cls,
        examples: Sequence[PunctuatedTree],
        *,
        direction: Direction = "left-to-right",
        channel: ChannelKind = "table",
        min_feature_count: int = 1,
        lexical: LexicalSettings | None = None,
        seed: int = 0,
    ) -> "PunctuationModel":
        """An untrained model of a treebank's language.

        examples (Sequence[PunctuatedTree]): Projective training trees.
        direction (Direction): Which way the channel's window slides.
        channel (ChannelKind): How the channel's weights are shared.
        min_feature_count (int): How often a feature row must have been seen.
        lexical (LexicalSettings | None): For a model that reads the words too.
        seed (int): Seed of the initial noise of the channel and of the network.
        RETURNS (PunctuationModel): The model.
        """
        inventory = Inventory.estimate(examples)
        log_linear = LogLinearAttach.from_examples(
            inventory, examples, min_count=min_feature_count
        )
        scorer: AttachScorer = log_linear
        if lexical is not None:
            with torch.random.fork_rng(devices=[]):
                torch.manual_seed(seed)
                scorer = LexicalAttach(log_linear, lexical)
        weights = ChannelWeights(inventory.marks, channel, seed=seed)
        return cls(inventory, scorer, weights, direction)

    def refresh(self) -> None:
        """Bring everything derived from the weights up to date with them."""
        self.channel: Channel = self.channel_weights.channel(self.direction)
        self.automata = Automata(self.inventory, self.channel)
        self.scorer.refresh()

    def likelihood(
        self,
        trees: Sequence[Tree],
        slots: Sequence[ObservedSlots],
        prepared: Sequence[Any],
        *,
        unmatched_weight: float = 0.0,
        one_sided: bool = False,
    ) -> Likelihood:
        """The training objective of a batch under the weights of this moment.

        trees, slots: The batch; slots as mark numbers, ^ included.
        prepared (Sequence[Any]): What the scorer's `prepare` gave for each.
        unmatched_weight (float), one_sided (bool): See
            `spacy_punct.model.objective.likelihood`.
        RETURNS (Likelihood): Values and gradient.
        """
        self.scorer.train()
        channel = self.channel_weights.channel(self.direction)
        groups = self.scorer(prepared)
        found = likelihood(
            self.inventory,
            trees,
            slots,
            groups,
            self.channel_weights(),
            Automata(self.inventory, channel),
            unmatched_weight=unmatched_weight,
            one_sided=one_sided,
        )
        # A scorer that guesses slots learns to from the same truth.
        guessed = getattr(self.scorer, "guess_log_prob", None)
        if guessed is None:
            return found
        return replace(found, surrogate=found.surrogate + guessed)

    def distributions(self, trees: Sequence[Tree]) -> list[Distribution]:
        """A distribution for each tree, their nodes scored together.

        Trees that are not projective are made so first (`Tree.projective`).
        """
        trees = [tree.projective() for tree in trees]
        return [
            Distribution(tree, scores, self.automata)
            for tree, scores in zip(trees, self.scorer.node_scores(trees), strict=True)
        ]

    def distribution(self, tree: Tree) -> Distribution:
        return self.distributions([tree])[0]

    def restore(
        self,
        trees: Iterable[Tree],
        *,
        n_samples: int = 1000,
        seed: int = 0,
        batch_size: int = 64,
    ) -> Iterable[Slots]:
        """The punctuation of minimum Bayes risk for each tree.

        trees (Iterable[Tree]): Unpunctuated trees.
        n_samples (int): Samples a tree; 0 for marginals without sampling.
        seed (int): Seed of the samples of each tree.
        batch_size (int): Trees scored together; it does not change the result.
        YIELDS (Slots): The marks in each tree's slots.
        """
        for batch in batched(trees, batch_size):
            for distribution in self.distributions(batch):
                yield distribution.restore(n_samples, seed)

    def log_probs(
        self, examples: Iterable[PunctuatedTree], *, batch_size: int = 64
    ) -> Iterable[float]:
        """log p(surface | tree) of each example, unknown marks read as UNK."""
        for batch in batched(examples, batch_size):
            distributions = self.distributions([example.tree for example in batch])
            for example, distribution in zip(batch, distributions, strict=True):
                yield distribution.log_prob(self.inventory.known(example.slots))

    def perplexity(self, examples: Sequence[PunctuatedTree]) -> float:
        """Perplexity per slot (section 4): n + 1 slots for n words."""
        if not examples:
            raise PunctError(Errors.P020)
        n_slots = sum(len(example.slots) for example in examples)
        return float(np.exp(-sum(self.log_probs(examples)) / n_slots))


def batched(items: Iterable, size: int) -> Iterable[list]:
    """Consecutive lists of up to `size` items."""
    batch: list = []
    for item in items:
        batch.append(item)
        if len(batch) == size:
            yield batch
            batch = []
    if batch:
        yield batch
