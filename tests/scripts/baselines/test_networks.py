import numpy as np
import pytest
import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from scripts.baselines.networks import (
    NETWORKS,
    BiGRUAttention,
    BothWays,
    Embeddings,
    LateFusion,
    LockedDropout,
    NetworkShape,
)
from scripts.baselines.words import END, FORM, START, UNKNOWN, Batch
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
    network = NETWORKS[kind](NetworkShape(SIZES, N_CLASSES, SMALL)).eval()
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
    network = BiGRUAttention(NetworkShape(SIZES, N_CLASSES, SMALL)).eval()
    with torch.no_grad():
        # What recurrent layers carry from word to word is cut off.
        for layer in (network.decoder, *network.reader.layers[0].children()):
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


@pytest.mark.parametrize("cell", [nn.LSTM, nn.GRU])
def test_both_ways_is_the_packed_layer(cell, batch):
    states = torch.randn(3, 7, 5)
    layer = BothWays(cell, 5, 4)
    packed = cell(5, 4, batch_first=True, bidirectional=True)
    names = dict(packed.named_parameters())
    with torch.no_grad():
        for name, weights in layer.forth.named_parameters():
            names[name].copy_(weights)
        for name, weights in layer.back.named_parameters():
            names[f"{name}_reverse"].copy_(weights)
    expected, _ = packed(
        pack_padded_sequence(states, LENGTHS, batch_first=True, enforce_sorted=False)
    )
    expected, _ = pad_packed_sequence(expected, batch_first=True)
    found = layer(states, batch)
    for sentence, truth, n in zip(found, expected, LENGTHS, strict=True):
        torch.testing.assert_close(sentence[:n], truth[:n])


def test_padding_has_no_gradient(batch):
    states = torch.randn(3, 7, 5, requires_grad=True)
    found = BothWays(nn.LSTM, 5, 4)(states, batch)
    is_word = torch.arange(7) < LENGTHS[:, None]
    found[is_word].sum().backward()
    for gradient, n in zip(states.grad, LENGTHS, strict=True):
        assert (gradient[:n] != 0).all()
        assert (gradient[n:] == 0).all()


def test_embeddings_are_sums_over_columns(batch):
    embeddings = Embeddings(SIZES, 8, 0.5).eval()
    forms, others = embeddings.table.weight.split(SIZES)
    expected = forms[batch.columns[..., 0]] + others[batch.columns[..., 1]]
    torch.testing.assert_close(embeddings(batch), expected)


def test_word_dropout_spares_the_ends(batch):
    batch.columns[:, 0] = START
    batch.columns[:, -1] = END
    embeddings = Embeddings(SIZES, 8, 0.999)
    dropped = embeddings._with_unknown(batch.columns)
    assert (dropped[:, 1:-1, FORM] == UNKNOWN).all()
    assert (dropped[:, 0] == START).all()
    assert (dropped[:, -1] == END).all()
    assert torch.equal(dropped[..., 1], batch.columns[..., 1])


def test_locked_dropout_is_the_same_all_through_a_sentence():
    torch.manual_seed(0)
    dropped = LockedDropout(0.5)(torch.ones(4, 6, 50))
    assert (dropped == dropped[:, :1]).all()
    assert not torch.equal(dropped[0], dropped[1])
    assert set(dropped.unique().tolist()) == {0.0, 2.0}
