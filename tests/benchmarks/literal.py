"""Algorithm 1 to the letter: N x N matrices, a loop over pairs, autograd.

The yardstick of the speed claims, and a second opinion on log p. It knows nothing
of the package's automata: the arcs of appendix D are written out again here. It is
kind to itself where the paper is silent: an empty slot has a single state, and the
matrix of a puncteme is computed once a slot.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from spacy_punct.data.tree import Tree
from spacy_punct.model.inventory import Inventory


class LiteralAlgorithm:
    """log p(surface | tree) without back-off, for a left-to-right channel.

    inventory (Inventory): The inventory.
    log_edits (Tensor): (4, K, K) edit log-probabilities.
    """

    def __init__(self, inventory: Inventory, log_edits: Tensor) -> None:
        self.inventory = inventory
        self.edits = log_edits.exp()

    def log_prob(
        self,
        tree: Tree,
        slots: Sequence[tuple[int, ...]],
        log_probs: Sequence[Tensor],
    ) -> Tensor:
        """Scores of pairs of each node -> log p."""
        machines = [_Machine(self.edits, surface) for surface in slots]
        encode = self.inventory.encode

        def inside(node: int) -> Tensor:
            left, right = tree.spans[node]
            first, last = machines[left], machines[right]
            column = machines[node].final
            for kid in reversed([k for k in tree.children[node] if k < node]):
                column = inside(kid) @ column
            row = machines[node + 1].initial
            for kid in [k for k in tree.children[node] if k > node]:
                row = row @ inside(kid)
            inner = column[:, None] @ row[None]
            table = self.inventory.pair_tables[
                self.inventory.relation_id(tree.relations[node])
            ]
            total = torch.zeros(len(column), len(row), dtype=torch.float64)
            probabilities = log_probs[node].exp()
            for p, (l, r) in zip(probabilities, table.pairs, strict=True):
                total = total + p * (first(encode(l)) @ inner @ last(encode(r)))
            return total

        start = machines[0].initial @ machines[0](encode(["^"]))
        return torch.log(start @ inside(tree.root) @ machines[-1].final)


class _Machine:
    """The channel composed with one surface string, projected to its input."""

    def __init__(self, edits: Tensor, surface: tuple[int, ...]) -> None:
        keep, absorb_left, absorb_right, transpose = edits
        size = edits.shape[-1]
        n = 1 + size * len(surface)
        self._matrices: dict[tuple[int, ...], Tensor] = {
            (): torch.eye(n, dtype=torch.float64)
        }
        self._single = torch.zeros(size, n, n, dtype=torch.float64)
        self.initial = torch.zeros(n, dtype=torch.float64)
        self.final = torch.zeros(n, dtype=torch.float64)
        self.initial[0] = 1.0
        if not surface:
            self.final[0] = 1.0
            return
        self.final[1 + size * (len(surface) - 1) + surface[-1]] = 1.0
        arcs: list[tuple[int, int, int]] = []
        weights: list[Tensor] = []

        def state(position: int, held: int) -> int:
            return 1 + size * position + held

        for b in range(size):
            arcs.append((b, 0, state(0, b)))
            weights.append(torch.ones((), dtype=torch.float64))
            for z, x in enumerate(surface):
                more = z + 1 < len(surface)
                for a in range(size):
                    arcs.append((b, state(z, a), state(z, b)))
                    weights.append(absorb_left[a, b])
                    if a != b:
                        arcs.append((b, state(z, a), state(z, a)))
                        weights.append(absorb_right[a, b])
                    if more and x == a:
                        arcs.append((b, state(z, a), state(z + 1, b)))
                        weights.append(keep[a, b])
                    if more and x == b and a != b:
                        arcs.append((b, state(z, a), state(z + 1, a)))
                        weights.append(transpose[a, b])
        index = tuple(torch.tensor(side) for side in zip(*arcs, strict=True))
        self._single = self._single.index_put(
            index, torch.stack(weights), accumulate=True
        )

    def __call__(self, string: tuple[int, ...]) -> Tensor:
        """M(string)."""
        if string not in self._matrices:
            self._matrices[string] = self(string[:-1]) @ self._single[string[-1]]
        return self._matrices[string]
