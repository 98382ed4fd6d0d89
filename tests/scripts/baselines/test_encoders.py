import pytest
import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from scripts.baselines.encoders import BothWays, Embeddings, LockedDropout
from scripts.baselines.words import END, FORM, START, UNKNOWN, Batch

LENGTHS = torch.tensor([4, 7, 2])
SIZES = (11, 6)


@pytest.fixture
def batch() -> Batch:
    torch.manual_seed(0)
    columns = torch.stack([torch.randint(END + 1, n, (3, 7)) for n in SIZES], dim=-1)
    return Batch(columns, LENGTHS)


@pytest.mark.parametrize("cell", [nn.LSTM, nn.GRU])
def test_encoders_both_ways_is_the_packed_layer(cell, batch):
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


def test_encoders_padding_has_no_gradient(batch):
    states = torch.randn(3, 7, 5, requires_grad=True)
    found = BothWays(nn.LSTM, 5, 4)(states, batch)
    is_word = torch.arange(7) < LENGTHS[:, None]
    found[is_word].sum().backward()
    for gradient, n in zip(states.grad, LENGTHS, strict=True):
        assert (gradient[:n] != 0).all()
        assert (gradient[n:] == 0).all()


def test_encoders_embeddings_are_sums_over_columns(batch):
    embeddings = Embeddings(SIZES, 8, 0.5).eval()
    forms, others = embeddings.table.weight.split(SIZES)
    expected = forms[batch.columns[..., 0]] + others[batch.columns[..., 1]]
    torch.testing.assert_close(embeddings(batch), expected)


def test_encoders_word_dropout_spares_the_ends(batch):
    batch.columns[:, 0] = START
    batch.columns[:, -1] = END
    embeddings = Embeddings(SIZES, 8, 0.999)
    dropped = embeddings._with_unknown(batch.columns)
    assert (dropped[:, 1:-1, FORM] == UNKNOWN).all()
    assert (dropped[:, 0] == START).all()
    assert (dropped[:, -1] == END).all()
    assert torch.equal(dropped[..., 1], batch.columns[..., 1])


def test_encoders_locked_dropout_is_the_same_all_through_a_sentence():
    torch.manual_seed(0)
    dropped = LockedDropout(0.5)(torch.ones(4, 6, 50))
    assert (dropped == dropped[:, :1]).all()
    assert not torch.equal(dropped[0], dropped[1])
    assert set(dropped.unique().tolist()) == {0.0, 2.0}
