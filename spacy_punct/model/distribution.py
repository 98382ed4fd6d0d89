"""The model of one sentence as a probability distribution: the door for people."""

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from spacy_punct.data.marks import BOS, UNK, is_one_sided, sets_off
from spacy_punct.data.tree import Puncteme, Slots, Tree
from spacy_punct.errors import (
    Errors,
    ImpossibleSurfaceError,
    PunctError,
    Warnings,
    check_range,
)
from spacy_punct.model.automaton import Automata, EditCounts
from spacy_punct.model.conditional import ConditionalSampler
from spacy_punct.model.inside import Chart, Evidence
from spacy_punct.model.inventory import EMPTY, Pair
from spacy_punct.model.marginals import Marginaliser
from spacy_punct.model.mbr import best_by_slot
from spacy_punct.model.sampling import Given, Sampler, Samples, pooled_marginals
from spacy_punct.model.scores import NodeScores
from spacy_punct.model.viterbi import viterbi

PartialSlots = Sequence[Sequence[str] | None]
"""n + 1 strings of marks, without the sentence-initial one; None: not observed."""
Seed = int | Sequence[int]

_BEAM = 32
"""Bounds the search for the underlying tree; ordinary sentences do not reach it."""
_LONGEST_SLOT = 16
"""Of slots with more marks nobody asks who put them there."""
_LEAST_GUESS = np.log(1e-4)


class Distribution:
    """p(underlying tree, surface | tree) for one tree.

    tree (Tree): A projective tree.
    scores (NodeScores): ATTACH's scores of its nodes.
    automata (Automata): The channel, ready for use, and the inventory.
    """

    def __init__(self, tree: Tree, scores: NodeScores, automata: Automata) -> None:
        self.tree = tree
        self._scores = scores
        self._automata = automata
        self._inventory = automata.inventory

    def log_prob(self, slots: PartialSlots) -> float:
        """log p(surface | tree), the underlying layer summed out (eq. 2).

        slots (PartialSlots): The surface. Unobserved slots are summed out, except
            that ATTACH does not see their marks inside constituents (template c):
            for those this, like the other methods, is an approximation.
        RETURNS (float): Finite unless the model has no back-off mass.
        """
        return float(Chart(self._evidence(slots)).log_prob.real)

    def posteriors(self, slots: PartialSlots) -> list[dict[Pair, float]]:
        """For each word, the posterior of its pair given the surface.

        slots (PartialSlots): The surface.
        RETURNS (list[dict[Pair, float]]): Pairs of W_d, the most probable first;
            what is missing to one was drawn from the back-off.
        """
        visited = Chart(self._evidence(slots)).posteriors()
        result = []
        for i, relation in enumerate(self._scores.relations):
            pairs = self._inventory.pair_tables[relation].pairs
            found = visited[i]
            ranked = sorted(
                zip(found.chosen, found.pairs.tolist(), strict=True),
                key=lambda item: -item[1],
            )
            result.append({pairs[k]: p for k, p in ranked})
        return result

    def edits(self, slots: PartialSlots) -> np.ndarray:
        """Expected number of times the channel applied each edit (4, K, K)."""
        counts = EditCounts(self._automata)
        Chart(self._evidence(slots)).site_posteriors(counts)
        return counts.total().real

    def symmetric(self, weight: float) -> "Distribution":
        """The model of a writer who sets constituents off on both sides.

        A constituent at the beginning of a sentence shows its right comma, and one at
        the end its left. That the other is there too, but absorbed, is what theory
        says; models may have learned that there is one only.

        weight (float): By how much the score of a pair falls that has a delimiter on
            one side only. The root is not concerned, nor are coordinated words: between
            these, commas are separators.
        RETURNS (Distribution): The model; that of the back-off is the same as here.
        """
        base = list(self._scores.base)
        for i, relation in enumerate(self.tree.relations):
            if sets_off(relation):
                pairs = self._inventory.pair_tables[self._scores.relations[i]].pairs
                one_sided = np.array([is_one_sided(*pair) for pair in pairs])
                base[i] = base[i] - weight * one_sided
        scores = replace(self._scores, base=base)
        return Distribution(self.tree, scores, self._automata)

    def viterbi(
        self, slots: PartialSlots, *, beam: int | None = None
    ) -> tuple[Pair, ...]:
        """The underlying pair of every word in the most probable underlying tree.

        slots (PartialSlots): The surface.
        beam (int | None): Bounds the search, see `spacy_punct.model.viterbi.viterbi`;
            None for an exact one.
        RETURNS (tuple[Pair, ...]): A pair for each word.
        """
        return viterbi(self._evidence(slots), beam)[0]

    def underlying(self, slots: Slots) -> tuple[Pair, ...]:
        """The best underlying pairs behind any surface, unknown marks read as UNK.

        If the model cannot have written the surface, or if a slot is so long that the
        search would take minutes, all pairs are empty and a warning says why.
        """
        try:
            if max(map(len, slots)) <= _LONGEST_SLOT:
                return self.viterbi(self._inventory.known(slots), beam=_BEAM)
            reason = f"a slot has more than {_LONGEST_SLOT} marks"
        except ImpossibleSurfaceError as error:
            reason = str(error)
        words = " ".join(self.tree.words[:5])
        warnings.warn(Warnings.W003.format(words=words, reason=reason), stacklevel=2)
        return ((EMPTY, EMPTY),) * len(self.tree)

    def attach(self, i: int, slots: PartialSlots) -> dict[Pair, float]:
        """p(l, r) at word i, given the surface inside its constituent.

        i (int): The word.
        slots (PartialSlots): The surface.
        RETURNS (dict[Pair, float]): Pairs of W_d -> probability, back-off included.
        """
        if not 0 <= i < len(self.tree):
            raise PunctError(Errors.P027.format(i=i, n=len(self.tree)))
        backoff = self._inventory.backoff
        relation = self._scores.relations[i]
        inner = np.exp(self._evidence(slots).probabilities.log_probs[i])
        table = self._inventory.pair_tables[relation]
        mixed = {
            pair: float((1 - backoff.mass) * p + self._inventory.backoff_prob(ids))
            for pair, ids, p in zip(table.pairs, table.encoded, inner, strict=True)
        }
        return dict(sorted(mixed.items(), key=lambda item: -item[1]))

    def samples(
        self, n: int, seed: Seed = 0, observed: PartialSlots | None = None
    ) -> Samples:
        """n joint samples of (underlying tree, surface), in compact form.

        n (int): How many.
        seed (Seed): A number, or several.
        observed (PartialSlots | None): The part of the surface that is known; the
            rest is drawn given it (see `conditional` for what is approximate).
        RETURNS (Samples): The samples.
        """
        seeds = [seed] if isinstance(seed, int | float) else seed
        named: list[tuple[str, Any]] = [
            ("the number of samples", n),
            *(("the seed", part) for part in seeds),
        ]
        for name, value in named:
            check_range(name, value, 0)
            if not isinstance(value, int):
                condition = "a whole number"
                raise PunctError(
                    Errors.P024.format(name=name, condition=condition, value=value)
                )
        rng = np.random.default_rng(seed)
        sampler = Sampler(self.tree, self._scores, self._automata, rng)
        given = None if observed is None else self._drawn(n, observed, rng)
        return sampler.sample(n, given)

    def _drawn(
        self, n: int, slots: PartialSlots, rng: np.random.Generator
    ) -> Given | None:
        """The pairs at observed slots, drawn given those."""
        evidence = self._evidence(slots)
        known = evidence.slots
        if not any(slot is not None for slot in known):
            return None
        sampler = ConditionalSampler(evidence, rng)
        if not np.isfinite(sampler.log_prob):
            raise ImpossibleSurfaceError(Errors.P023)
        surfaces = {i: slot for i, slot in enumerate(known) if slot is not None}
        if 0 in surfaces:
            surfaces[0] = surfaces[0][1:]
        return Given(surfaces, sampler.draw(n))

    def sample(self, n: int, seed: Seed = 0) -> list[tuple[tuple[Pair, ...], Slots]]:
        """n joint samples: the pair of every word, and the surface."""
        samples = self.samples(n, seed)
        return [(samples.pairs(k), samples.slots(k)) for k in range(n)]

    def marginals(
        self,
        n_samples: int = 0,
        seed: Seed = 0,
        *,
        observed: PartialSlots | None = None,
        prune: float = 1e-3,
        max_hypotheses: int | None = 32,
    ) -> list[dict[Puncteme, float]]:
        """For each slot, surface string -> probability, the most probable first.

        n_samples (int): How many samples to estimate from; 0 for no randomness.
        seed (Seed): Seed of the samples.
        observed (PartialSlots | None): The part of the surface that is known.
        prune (float), max_hypotheses (int | None): How hard the computation
            without samples is pruned; 0 and None for none.
        RETURNS (list[dict[Puncteme, float]]): n + 1 distributions.
        """
        if n_samples:
            return self.samples(n_samples, seed, observed).marginals()
        return Marginaliser(
            self.tree,
            self._scores,
            self._automata,
            prune=prune,
            max_hypotheses=max_hypotheses,
            evidence=None if observed is None else self._evidence(observed),
        ).marginals()

    def guesses(self) -> list[dict[Puncteme, float]] | None:
        """What a scorer that guesses slots, one by one and without their constituents,
        expects in each: puncteme -> probability, without those that hardly have any.
        None if it does not guess."""
        if self._scores.guesses is None:
            return None
        punctemes = self._inventory.punctemes
        result: list[dict[Puncteme, float]] = [{} for _ in self._scores.guesses]
        for i, k in np.argwhere(self._scores.guesses > _LEAST_GUESS).tolist():
            result[i][punctemes[k]] = float(np.exp(self._scores.guesses[i, k]))
        return result

    def restore(
        self,
        n_samples: int = 1000,
        seed: Seed = 0,
        *,
        observed: PartialSlots | None = None,
    ) -> Slots:
        """The surface of minimum Bayes risk (eq. 10), slot by slot."""
        return best_by_slot(self.marginals(n_samples, seed, observed=observed))

    def _observed(self, slots: PartialSlots) -> list[tuple[int, ...] | None]:
        """The slots as mark numbers, with the sentence-initial mark in front."""
        ids: list[tuple[int, ...] | None] = [
            None if slot is None else self._inventory.encode(slot, f"slot {i}")
            for i, slot in enumerate(self.tree.check_slots(slots))
        ]
        for i, slot in enumerate(ids):
            if slot and 0 in slot:
                known = " ".join(self._inventory.marks[1:])
                raise PunctError(
                    Errors.P015.format(
                        mark=BOS, where=f"slot {i}", known=known, unk=UNK
                    )
                )
        if ids[0] is not None:
            ids[0] = (self._inventory.mark_index[BOS], *ids[0])
        return ids

    def _evidence(self, slots: PartialSlots) -> Evidence:
        observed = self._observed(slots)
        given = self._scores.given(self.tree, observed, len(self._inventory.marks))
        return Evidence(self.tree, observed, given, self._automata)


def restore_from_trees(
    distributions: Sequence[Distribution],
    n_samples: int = 1000,
    seed: int = 0,
) -> Slots:
    """Minimum Bayes risk over several candidate trees of one sentence.

    The paper's footnote on integrating over trees: the samples of all of them are
    pooled.

    distributions (Sequence[Distribution]): One for each tree.
    n_samples (int): Samples per tree; 0 for marginals without sampling.
    seed (int): Seed of the samples.
    RETURNS (Slots): The surface of least expected edit distance.
    """
    check_range("the number of trees", len(distributions), 1)
    first = distributions[0].tree
    for other in distributions[1:]:
        if other.tree.words != first.words:
            raise PunctError(
                Errors.P025.format(
                    first=" ".join(first.words), other=" ".join(other.tree.words)
                )
            )
    return best_by_slot(
        pooled_marginals([d.marginals(n_samples, seed) for d in distributions])
    )
