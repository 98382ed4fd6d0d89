"""Sums over orders beside those that enumerate."""

from itertools import pairwise, permutations

import numpy as np
import pytest
import torch

from scripts.order_sums import log_sum

NAMES = ("before", "beside", "left", "around", "right")


def random_weights(rng: np.random.Generator, n: int, k: int) -> dict[str, np.ndarray]:
    sizes = {name: k + 2 * (name == "beside") for name in NAMES}
    return {name: rng.normal(size=(n, m, m)) for name, m in sizes.items()}


def literal_score(weights: dict[str, np.ndarray], order: tuple[int, ...]) -> np.ndarray:
    k = len(order)
    total = sum(weights["beside"][:, a, b] for a, b in pairwise([k + 1, *order, k]))
    head = order.index(0)
    for i, a in enumerate(order):
        for j, b in enumerate(order[i + 1 :], start=i + 1):
            total = total + weights["before"][:, a, b]
            if head not in (i, j):
                side = "left" if j < head else "right" if i > head else "around"
                total = total + weights[side][:, a, b]
    return total


@pytest.mark.parametrize("k", range(2, 7))
def test_order_sums_are_those_of_all_orders(k):
    rng = np.random.default_rng(k)
    weights = random_weights(rng, 3, k)
    scores = [literal_score(weights, order) for order in permutations(range(k))]
    found = log_sum(*(torch.from_numpy(weights[n]).float() for n in NAMES))
    assert found.numpy() == pytest.approx(np.logaddexp.reduce(scores), abs=1e-4)


def test_order_sums_lead_to_shares_of_orders():
    rng = np.random.default_rng(0)
    weights = random_weights(rng, 1, 4)
    tensors = {n: torch.from_numpy(weights[n]).float() for n in NAMES}
    tensors["before"].requires_grad_()
    log_sum(*(tensors[n] for n in NAMES)).sum().backward()
    orders = list(permutations(range(4)))
    p = np.exp([literal_score(weights, order)[0] for order in orders])
    share = sum(
        q for q, o in zip(p, orders, strict=True) if o.index(2) < o.index(3)
    ) / sum(p)
    assert float(tensors["before"].grad[0, 2, 3]) == pytest.approx(share, abs=1e-4)
