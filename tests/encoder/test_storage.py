import numpy as np
import pytest
import torch

from spacy_punct.encoder.storage import from_arrays, from_bytes, to_bytes
from spacy_punct.encoder.transformer import Transformer, TransformerSizes
from spacy_punct.encoder.wordpieces import WordPieces
from spacy_punct.errors import PunctError
from tests.encoder.small import SIZES, VOCABULARY, small_transformer


def test_storage_is_small_close_and_repeatable():
    sizes = TransformerSizes(2, 64, 128, 2, len(VOCABULARY), 64)
    transformer = Transformer(sizes)
    data = to_bytes(transformer, WordPieces(VOCABULARY))
    assert len(data) < 1.35 * sum(p.numel() for p in transformer.parameters())
    loaded, pieces = from_bytes(data)
    assert to_bytes(loaded, pieces) == data
    assert pieces.vocabulary == tuple(VOCABULARY)
    for old, new in zip(transformer.parameters(), loaded.parameters(), strict=True):
        assert old.requires_grad == new.requires_grad
        rows = old.detach().reshape(len(old), -1)
        bound = rows.abs().max(1).values / 127 if old.dim() > 1 else torch.zeros(1)
        error = (old - new).detach().reshape(len(old), -1).abs().max(1).values
        assert bool((error <= 0.51 * bound + 1e-9).all())


def test_storage_of_weights_from_elsewhere():
    transformer = small_transformer()
    arrays = {n: t.numpy().copy() for n, t in transformer.state_dict().items()}
    built, _ = from_arrays(arrays, VOCABULARY, n_heads=2)
    assert built.sizes == SIZES
    assert all(
        np.array_equal(built.state_dict()[name], arrays[name]) for name in arrays
    )
    del arrays["shapes.weight"]
    built, _ = from_arrays(arrays, VOCABULARY, n_heads=2)
    assert not built.shapes.weight.any()
    del arrays["layers.1.mix.bias"]
    with pytest.raises(PunctError, match=r"(?s)P171.*mix\.bias"):
        from_arrays(arrays, VOCABULARY, n_heads=2)


@pytest.mark.parametrize("data", [b"", b"abc", b"\x80", b"\xc1"])
def test_storage_refuses_other_bytes(data):
    with pytest.raises(PunctError, match="P171"):
        from_bytes(data)
