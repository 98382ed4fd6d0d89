"""The training objective (section 2.3, eq. 5) and its gradient.

log p is differentiated by hand: its derivative by a pair's log-probability is the
pair's posterior, and by an edit's log-probability the edit's expected count. Torch
then takes over from there to the weights.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from spacy_punct.data.tree import Tree
from spacy_punct.model.attach import RelationScores, check_scores
from spacy_punct.model.automaton import Automata, EditCounts
from spacy_punct.model.inside import COMPLEX_STEP, Chart, Evidence
from spacy_punct.model.inventory import Inventory
from spacy_punct.model.scores import ObservedSlots, PairProbabilities

_NOTHING = np.zeros(0)


@dataclass(frozen=True)
class Likelihood:
    """What a batch says of the weights.

    log_prob (float): Σ log p(surface | tree).
    unmatched (float): Σ E[c], the expected number of unmatched nodes.
    objective (float): Σ (log p - ξ E[c]²).
    surrogate (Tensor): A scalar with the gradient of `objective`.
    """

    log_prob: float
    unmatched: float
    objective: float
    surrogate: Tensor


def likelihood(
    inventory: Inventory,
    trees: Sequence[Tree],
    slots: Sequence[ObservedSlots],
    groups: Sequence[RelationScores],
    log_edits: Tensor,
    automata: Automata,
    *,
    unmatched_weight: float = 0.0,
    one_sided: bool = False,
) -> Likelihood:
    """The regularised conditional log-likelihood of a batch, up to L2.

    inventory (Inventory): The inventory.
    trees, slots: The batch; slots as mark numbers, ^ included.
    groups (Sequence[RelationScores]): A scorer's scores of all its nodes.
    log_edits (Tensor): The channel's edit log-probabilities.
    automata (Automata): The automata of those edits.
    unmatched_weight (float): ξ, the posterior regularisation.
    one_sided (bool): Whether c counts delimiters on one side, too: the paper's counts
        brackets and quotes only, and leaves it open whether a comma that the edge of
        the sentence would absorb is there.
    RETURNS (Likelihood): Values and gradient; NaN where log p is not finite.
    """
    n_nodes = sum(map(len, trees))
    relations = np.zeros(n_nodes, dtype=np.int64)
    log_probs: list[Tensor] = []
    rows: list[np.ndarray] = [_NOTHING] * n_nodes
    slopes: list[np.ndarray] = []
    slope_rows: list[np.ndarray] = [_NOTHING] * n_nodes
    for group in groups:
        check_scores(inventory, group)
        normalised = torch.log_softmax(group.scores.double(), dim=1)
        log_probs.append(normalised)
        values = normalised.detach().numpy()
        # Where both slots are empty, (ε, ε) came from W_d or from the back-off.
        slope = np.zeros_like(values)
        slope[:, 0] = inventory.backoff.table_share(values[:, 0])
        slopes.append(slope)
        relations[group.nodes] = group.relation
        for node, row, slope_row in zip(group.nodes, values, slope, strict=True):
            rows[node], slope_rows[node] = row, slope_row
    counts = EditCounts(automata)
    log_prob = unmatched = objective = 0.0
    start = 0
    for tree, surface in zip(trees, slots, strict=True):
        stop = start + len(tree)
        given = PairProbabilities(relations[start:stop].tolist(), rows[start:stop])
        evidence = Evidence(tree, surface, given, automata)
        chart = Chart(
            evidence, count_unmatched=unmatched_weight > 0, one_sided=one_sided
        )
        if not np.isfinite(chart.log_prob):
            return Likelihood(np.nan, np.nan, np.nan, log_edits.sum() * np.nan)
        expected = float(np.imag(chart.log_prob)) / COMPLEX_STEP
        # The derivative of the penalty by E[c], which weighs the imaginary parts.
        by_expected = 2 * unmatched_weight * expected
        log_prob += float(np.real(chart.log_prob))
        unmatched += expected
        objective += float(np.real(chart.log_prob)) - unmatched_weight * expected**2
        # Re(z · weight) = Re z - by_expected · Im z / h: both gradients in one.
        weight = 1 + 1j * by_expected / COMPLEX_STEP
        for node, found in chart.site_posteriors(counts, weight).items():
            slope_row = slope_rows[start + node]
            slope_row[0] = 0.0
            slope_row[found.chosen] = (found.pairs * weight).real
        start = stop
    edit_slopes = torch.tensor(counts.total().real)
    surrogate = (log_edits * edit_slopes).sum() + sum(
        (values * torch.tensor(slope)).sum()
        for values, slope in zip(log_probs, slopes, strict=True)
    )
    return Likelihood(log_prob, unmatched, objective, surrogate)
