"""What a writer put into slots, right or wrong, as a network reads it."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from spacy_punct.data.tree import Puncteme, Slots
from spacy_punct.model.inventory import Inventory

_PLACES = 3
"""Marks are told apart by their place among this many, from either end."""

AGREEMENTS = 2
"""Ways in which a puncteme may agree with a slot: it is all of it, or a part of it."""


class Reading(NamedTuple):
    """The slots of several trees, end to end.

    vectors (Tensor): (slots, width).
    agreement (ndarray): (slots, 2, V) booleans: whether each puncteme is all that
        stands in the slot, and whether it is a part of that.
    """

    vectors: Tensor
    agreement: np.ndarray


class SlotReader(nn.Module):
    """Gives each slot a vector: that of its string, if a puncteme of the inventory is
    written like it, and those of its marks by their places.

    inventory (Inventory): The marks and punctemes.
    width (int): The length of the vectors.
    """

    def __init__(self, inventory: Inventory, width: int) -> None:
        super().__init__()
        self.inventory = inventory
        n_marks = len(inventory.marks)
        self._first_mark = len(inventory.punctemes) + 1
        self.table = nn.EmbeddingBag(
            self._first_mark + 2 * _PLACES * n_marks, width, mode="sum"
        )
        nn.init.normal_(self.table.weight, std=0.3)
        self._known: dict[Puncteme, tuple[list[int], np.ndarray]] = {}

    def forward(self, observed: Sequence[Slots]) -> Reading:
        """Read the slots of trees."""
        strings = [slot for slots in observed for slot in slots]
        number = {slot: k for k, slot in enumerate(dict.fromkeys(strings))}
        found = list(map(self._read, number))
        sizes = [len(features) for features, _ in found]
        vectors = self.table(
            torch.tensor([k for features, _ in found for k in features]),
            torch.tensor(np.cumsum([0, *sizes[:-1]])),
        )
        numbers = np.array([number[slot] for slot in strings])
        agreement = np.stack([agreement for _, agreement in found])[numbers]
        return Reading(vectors.index_select(0, torch.from_numpy(numbers)), agreement)

    def _read(self, slot: Puncteme) -> tuple[list[int], np.ndarray]:
        """The features of a string, and how each puncteme agrees with it."""
        if slot not in self._known:
            (known,) = self.inventory.known((slot,))
            ids = self.inventory.encode(known)
            self._known[slot] = self._features(ids), agreement(self.inventory, ids)
        return self._known[slot]

    def _features(self, ids: tuple[int, ...]) -> list[int]:
        n_marks = len(self.inventory.marks)
        other = len(self.inventory.punctemes)
        features = [self.inventory.puncteme_index.get(ids, other)]
        for side, marks in enumerate((ids, ids[::-1])):
            for place, mark in enumerate(marks):
                place = side * _PLACES + min(place, _PLACES - 1)
                features.append(self._first_mark + place * n_marks + mark)
        return features


def agreement(inventory: Inventory, ids: tuple[int, ...]) -> np.ndarray:
    """(2, V) booleans: whether each puncteme is all of a string, or a part of it."""
    parts = {ids[i:k] for i in range(len(ids)) for k in range(i + 1, len(ids) + 1)}
    punctemes = inventory.encoded_punctemes
    return np.array(
        [[p == ids for p in punctemes], [p in parts - {ids} for p in punctemes]]
    )
