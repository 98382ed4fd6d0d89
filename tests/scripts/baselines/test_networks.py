import numpy as np
import pytest
import torch

from scripts.baselines.networks import NETWORKS, BiGRUAttention, LateFusion
from scripts.baselines.words import END, Batch
from tests.scripts.baselines.conftest import SMALL

LENGTHS = torch.tensor([4, 7, 2])
SIZES, N_CLASSES = (11, 6), 5


@pytest.fixture
def batch() -> Batch:
    torch.manual_seed(0)
    columns = torch.stack([torch.randint(END + 1, n, (3, 7)) for n in SIZES], dim=-1)
    return Batch(columns, LENGTHS)


@pytest.mark.parametrize("kind", NETWORKS)
def test_networks_train_without_padding(kind, batch):
    """Neither the likelihood nor any gradient depends on what is in the padding."""
    torch.manual_seed(1)
    network = NETWORKS[kind](SIZES, N_CLASSES, SMALL).eval()
    classes = torch.randint(N_CLASSES, (3, 6))

    def gradients(batch: Batch, classes: torch.Tensor) -> list[torch.Tensor]:
        network.zero_grad()
        total = network.log_likelihood(batch, classes).sum()
        total.backward()
        return [total.detach(), *(w.grad.clone() for w in network.parameters())]

    expected = gradients(batch, classes)
    outside = torch.arange(7) >= LENGTHS[:, None]
    columns = batch.columns.masked_fill(outside[..., None], END)
    classes = classes.masked_fill(outside[:, 1:], 0)
    found = gradients(Batch(columns, LENGTHS), classes)
    for a, b in zip(found, expected, strict=True):
        torch.testing.assert_close(a, b, atol=1e-5, rtol=1e-4)


def test_networks_attention_reaches_the_whole_sentence(batch):
    torch.manual_seed(1)
    network = BiGRUAttention(SIZES, N_CLASSES, SMALL).eval()
    with torch.no_grad():
        # What recurrent layers carry from word to word is cut off.
        for layer in (network.decoder, *network.layers[0].children()):
            layer.weight_hh_l0.zero_()
            layer.bias_ih_l0[: layer.hidden_size * 2] = -50
        before = network.log_marginals(batch)
        batch.columns[1, -2] = batch.columns[1, -2] % 3 + END
        after = network.log_marginals(batch)
    assert not torch.allclose(before[1, 0], after[1, 0])
    assert torch.equal(before[0], after[0])


def test_networks_late_fusion_is_the_papers():
    torch.manual_seed(1)
    fusion = LateFusion(3, 4)
    found, state = torch.randn(2, 3), torch.randn(2, 4)
    a = found.numpy() @ fusion.found.weight.detach().numpy().T
    gate = a @ fusion.gate_of_found.weight.detach().numpy().T
    gate = gate + state.numpy() @ fusion.gate_of_state.weight.detach().numpy().T
    gate = 1 / (1 + np.exp(-gate - fusion.gate_of_state.bias.detach().numpy()))
    expected = a * gate + state.numpy()
    np.testing.assert_allclose(fusion(found, state).detach(), expected, atol=1e-6)
