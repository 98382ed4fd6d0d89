"""What a tagger reads: of a word its lower-cased form, its affixes and its shape; of
an observed string its class and its outer marks."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import torch

UNKNOWN, START, END = range(3)
"""Numbers in every column, before those of its values."""
FORM = 0
"""The column of lower-cased forms."""
N_COLUMNS = 8
N_OBSERVED = 3
"""Columns of an observed string, see `Surfaces.describe`. They come last."""

_DIGITS = re.compile(r"\d")
_RUNS = re.compile(r"(.)\1{2,}")


@lru_cache(maxsize=1 << 16)
def describe(word: str) -> tuple[str, ...]:
    """A word's value in each column: form, affixes of 1 to 3 letters, shape."""
    form = _DIGITS.sub("0", word.lower())
    shape = "".join(map(_shape_of, word))
    return (
        form,
        form[:1],
        form[:2],
        form[:3],
        form[-1:],
        form[-2:],
        form[-3:],
        _RUNS.sub(r"\1\1", shape),
    )


def _shape_of(char: str) -> str:
    if char.isalpha():
        return "X" if char.isupper() else "x"
    return "0" if char.isdigit() else char


@dataclass(frozen=True)
class Batch:
    """Sentences as numbers, each with a START and an END around its words.

    columns (Tensor): (sentences, longest + 2, columns). Taggers that read observed
        marks have N_OBSERVED more of them: each word has those of the slot after it.
    lengths (Tensor): n + 2 for n words.
    """

    columns: torch.Tensor
    lengths: torch.Tensor

    @cached_property
    def is_slot(self) -> torch.Tensor:
        """(sentences, longest + 1): whether a sentence has that slot."""
        return self.is_word[:, 1:]

    @cached_property
    def is_word(self) -> torch.Tensor:
        """(sentences, longest + 2): whether there is a word, START or END."""
        return torch.arange(self.columns.shape[1]) < self.lengths[:, None]

    @property
    def observed(self) -> torch.Tensor:
        """(sentences, longest + 2, N_OBSERVED): the columns of observed strings."""
        return self.columns[..., -N_OBSERVED:]

    @property
    def observed_classes(self) -> torch.Tensor:
        """(sentences, longest + 1): the class that each slot's observed string is."""
        return self.columns[:, :-1, -N_OBSERVED]

    @cached_property
    def turned(self) -> torch.Tensor:
        """(sentences, longest + 2): positions that turn each sentence around and
        leave padding where it is."""
        positions = torch.arange(self.columns.shape[1])
        mirrored = self.lengths[:, None] - 1 - positions
        return torch.where(self.is_word, mirrored, positions)


@dataclass(frozen=True)
class WordTable:
    """The values of each column that are known, all others being UNKNOWN.

    values (tuple[tuple[str, ...], ...]): For each column.
    """

    values: tuple[tuple[str, ...], ...]

    @classmethod
    def estimate(
        cls, sentences: Iterable[Sequence[str]], *, min_count: int = 2
    ) -> "WordTable":
        """The values seen at least `min_count` times in training data."""
        counts: list[Counter[str]] = [Counter() for _ in range(N_COLUMNS)]
        for words in sentences:
            for word in words:
                for column, value in zip(counts, describe(word), strict=True):
                    column[value] += 1
        return cls(
            tuple(
                tuple(value for value, n in column.most_common() if n >= min_count)
                for column in counts
            )
        )

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many numbers each column needs."""
        return tuple(len(column) + END + 1 for column in self.values)

    @cached_property
    def _indices(self) -> tuple[dict[str, int], ...]:
        return tuple(
            {value: k for k, value in enumerate(column, start=END + 1)}
            for column in self.values
        )

    def encode(self, words: Sequence[str]) -> torch.Tensor:
        """A sentence as numbers: (words + 2, columns)."""
        rows = [
            [
                index.get(value, UNKNOWN)
                for index, value in zip(self._indices, describe(word), strict=True)
            ]
            for word in words
        ]
        return torch.tensor([[START] * N_COLUMNS, *rows, [END] * N_COLUMNS])


def collate(encoded: Sequence[torch.Tensor]) -> Batch:
    """Sentences of any lengths as one batch, in their order."""
    return Batch(
        torch.nn.utils.rnn.pad_sequence(list(encoded), batch_first=True),
        torch.tensor([len(rows) for rows in encoded]),
    )
