"""What should be written in each slot, guessed from the words around it."""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor, nn

from spacy_punct.model.inventory import Inventory
from spacy_punct.model.slot_reader import agreement


class SlotGuess(nn.Module):
    """A distribution of punctemes for each slot, as of a tagger.

    inventory (Inventory): The punctemes.
    n_inputs (int): Of the two words around a slot and what is written in it.
    width (int): Of the hidden layer.
    """

    def __init__(self, inventory: Inventory, n_inputs: int, width: int) -> None:
        super().__init__()
        self.hidden = nn.Linear(n_inputs, width)
        self.output = nn.Linear(width, len(inventory.punctemes))
        tables = [agreement(inventory, ids) for ids in inventory.encoded_punctemes]
        self._agreement = torch.tensor(np.stack(tables))

    def forward(self, words: Tensor, sizes: Sequence[int], written: Tensor) -> Tensor:
        """(slots, V): log-probabilities.

        words (Tensor): A vector for each word of several sentences.
        sizes (Sequence[int]): How many words each has.
        written (Tensor): A vector for each of their slots.
        """
        edge = words.new_zeros(1, words.shape[1])
        padded = torch.cat([words, edge])
        before, after = map(torch.from_numpy, _neighbours(sizes))
        around = torch.cat([padded[before], padded[after], written], dim=1)
        return self.output(torch.relu(self.hidden(around))).log_softmax(1)

    def agreement(self, guesses: Tensor) -> Tensor:
        """(slots, 2, V): how probably each puncteme is all that should be in the slot,
        and how probably a part of that."""
        tables = self._agreement.to(guesses.dtype)
        return torch.einsum("sv,vap->sap", guesses.exp(), tables)


def log_prob_of(guesses: Tensor, targets: np.ndarray) -> Tensor:
    """log p of the slots whose truth is known, all together."""
    known = np.flatnonzero(targets >= 0)
    return guesses[torch.from_numpy(known), torch.from_numpy(targets[known])].sum()


def _neighbours(sizes: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
    """The words before and after each slot; the last of all for none."""
    before, after = [], []
    start, none = 0, sum(sizes)
    for size in sizes:
        words = range(start, start + size)
        before += [none, *words]
        after += [*words, none]
        start += size
    return np.array(before), np.array(after)
