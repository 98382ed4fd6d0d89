import itertools

import pytest
import torch

from scripts.baselines.crf import ChainCRF

LENGTHS = (4, 1, 3)
N_CLASSES = 3


def random_crf(scale: float = 1.0) -> ChainCRF:
    torch.manual_seed(1)
    crf = ChainCRF(N_CLASSES).double()
    for weights in crf.parameters():
        torch.nn.init.normal_(weights, std=scale)
    return crf


@pytest.fixture
def is_slot() -> torch.Tensor:
    return torch.arange(max(LENGTHS)) < torch.tensor(LENGTHS)[:, None]


@pytest.fixture
def scores() -> torch.Tensor:
    torch.manual_seed(2)
    return 2 * torch.randn(len(LENGTHS), max(LENGTHS), N_CLASSES).double()


def enumerated(crf: ChainCRF, scores: torch.Tensor) -> dict[tuple[int, ...], float]:
    """The probability of each sequence of classes of one sentence."""
    sequences = list(itertools.product(range(N_CLASSES), repeat=len(scores)))
    totals = []
    for sequence in sequences:
        total = crf.start[sequence[0]] + crf.end[sequence[-1]]
        total = total + sum(scores[k, c] for k, c in enumerate(sequence))
        for a, b in itertools.pairwise(sequence):
            total = total + crf.transitions[a, b]
        totals.append(total)
    probs = torch.stack(totals).softmax(0).tolist()
    return dict(zip(sequences, probs, strict=True))


def test_crf_log_likelihood_is_that_of_enumeration(scores, is_slot):
    crf = random_crf()
    truths = [enumerated(crf, s[:n]) for s, n in zip(scores, LENGTHS, strict=True)]
    for choice in range(20):
        classes = torch.randint(N_CLASSES, is_slot.shape)
        found = crf.log_likelihood(scores, classes, is_slot).exp().tolist()
        expected = [
            truth[tuple(row[:n].tolist())]
            for truth, row, n in zip(truths, classes, LENGTHS, strict=True)
        ]
        assert found == pytest.approx(expected, rel=1e-9), choice


def test_crf_marginals_are_those_of_enumeration(scores, is_slot):
    crf = random_crf()
    found = crf.log_marginals(scores, is_slot).exp()
    for sentence, probs, n in zip(scores, found, LENGTHS, strict=True):
        truth = torch.zeros(n, N_CLASSES).double()
        for sequence, prob in enumerated(crf, sentence[:n]).items():
            truth[range(n), sequence] += prob
        torch.testing.assert_close(probs[:n], truth)


def test_crf_gradients_are_numeric_ones(scores, is_slot):
    crf = random_crf()
    classes = torch.randint(N_CLASSES, is_slot.shape)

    def log_likelihood(*_: torch.Tensor) -> torch.Tensor:
        return crf.log_likelihood(scores, classes, is_slot)

    # They are changed in place.
    assert torch.autograd.gradcheck(
        log_likelihood, (scores.requires_grad_(), *crf.parameters())
    )


def test_crf_padding_changes_nothing(scores, is_slot):
    crf = random_crf()
    classes = torch.randint(N_CLASSES, is_slot.shape)
    together = crf.log_likelihood(scores, classes, is_slot)
    for k, n in enumerate(LENGTHS):
        one = slice(k, k + 1)
        arguments = scores[one, :n], classes[one, :n], is_slot[one, :n]
        torch.testing.assert_close(crf.log_likelihood(*arguments), together[one])
    noise = torch.where(is_slot[..., None], scores, 1e3 * torch.randn_like(scores))
    torch.testing.assert_close(crf.log_likelihood(noise, classes, is_slot), together)


def test_crf_without_transitions_is_a_softmax(scores, is_slot):
    crf = ChainCRF(N_CLASSES)
    expected = scores.log_softmax(-1)
    found = crf.log_marginals(scores, is_slot)
    torch.testing.assert_close(found[is_slot], expected[is_slot])


def test_crf_long_sentences_and_large_scores_stay_finite():
    crf = random_crf(scale=20.0)
    scores = (100 * torch.randn(2, 500, N_CLASSES).double()).requires_grad_()
    is_slot = torch.ones(2, 500, dtype=torch.bool)
    classes = torch.randint(N_CLASSES, is_slot.shape)
    found = crf.log_likelihood(scores, classes, is_slot)
    found.sum().backward()
    assert (found < 0).all() and found.isfinite().all()
    assert scores.grad.isfinite().all() and crf.transitions.grad.isfinite().all()
    probs = crf.log_marginals(scores, is_slot).exp()
    torch.testing.assert_close(probs.sum(-1), torch.ones(2, 500).double())
