"""NOISYCHANNEL: underlying marks -> surface marks (section 2.2, appendix D).

`Channel` holds edit probabilities as plain numbers, for inference; `ChannelWeights`
is the torch module they are trained in.
"""

from collections import defaultdict
from collections.abc import Sequence
from heapq import nlargest
from operator import itemgetter
from typing import Literal

import numpy as np
import torch
from torch import Tensor, nn

from spacy_punct.data.marks import BOS, UNK
from spacy_punct.data.tree import Puncteme
from spacy_punct.errors import Errors, PunctError

Direction = Literal["left-to-right", "right-to-left"]
DIRECTIONS: tuple[Direction, ...] = ("left-to-right", "right-to-left")

KEEP, ABSORB_LEFT, ABSORB_RIGHT, TRANSPOSE = range(4)
"""ab -> ab, ab -> b, ab -> a, ab -> ba."""
EDITS = ("keep", "absorb left", "absorb right", "transpose")

_MOST_PARTIAL = 64
"""Partial outputs that are followed at most where some may be dropped."""


def allowed_edits(marks: Sequence[str]) -> np.ndarray:
    """Which of the 4 edits each window ab may undergo, as (4, K, K) booleans.

    Of two equal marks, absorbing either or swapping them is the same thing, so
    they only keep or absorb (left). The sentence-initial mark ^ absorbs what
    follows but is itself never removed or moved: unlike the paper we then lose
    no probability to sentences that do not begin with it.
    """
    size = len(marks)
    allowed = np.ones((len(EDITS), size, size), dtype=bool)
    same = np.arange(size)
    allowed[ABSORB_RIGHT, same, same] = False
    allowed[TRANSPOSE, same, same] = False
    if BOS in marks:
        initial = list(marks).index(BOS)
        allowed[ABSORB_LEFT, initial] = False
        allowed[TRANSPOSE, initial] = False
        allowed[:, :, initial] = False
        allowed[KEEP, :, initial] = True
    return allowed


def mirrored(edits: np.ndarray) -> np.ndarray:
    """The edits of windows read from right to left; its own inverse.

    Sliding right to left is the same automaton on reversed strings: the mark
    held back is then the right one of the window, so the tables are transposed
    and the two absorptions trade places, except that two equal marks absorb as
    "absorb left" either way.
    """
    flipped = edits[[KEEP, ABSORB_RIGHT, ABSORB_LEFT, TRANSPOSE]].transpose(0, 2, 1)
    same = np.arange(edits.shape[-1])
    flipped[:, same, same] = edits[:, same, same]
    return flipped


Surfaces = dict[tuple[int, ...], float]
"""Surface strings of mark numbers -> probability."""

_MOST_REWRITES = 1 << 16


class Channel:
    """A trained channel: edit probabilities and the direction of the window.

    marks (Sequence[str]): Σ.
    edits (ndarray): (4, K, K) probabilities of the edits of each window ab,
        in the order of `EDITS`; they sum to one over the edits.
    direction (Direction): Which way the window slides over a slot.
    """

    def __init__(
        self, marks: Sequence[str], edits: np.ndarray, direction: Direction
    ) -> None:
        if direction not in DIRECTIONS:
            choices = ", ".join(DIRECTIONS)
            raise PunctError(Errors.P021.format(direction=direction, choices=choices))
        self.marks = tuple(marks)
        self.edits = np.asarray(edits, dtype=np.float64)
        self.direction = direction
        self._index = {mark: k for k, mark in enumerate(self.marks)}
        self._rewrites: dict[float, Rewrites] = {}
        self._limits = self.window_tables().cumsum(axis=0)

    @classmethod
    def identity(
        cls, marks: Sequence[str], direction: Direction = "left-to-right"
    ) -> "Channel":
        """The channel that changes nothing (the paper's ATTACH-only ablation)."""
        edits = np.zeros((len(EDITS), len(marks), len(marks)))
        edits[KEEP] = 1.0
        return cls(marks, edits, direction)

    def __reduce__(self) -> tuple:
        return Channel, (self.marks, self.edits, self.direction)

    @property
    def is_reversed(self) -> bool:
        return self.direction == "right-to-left"

    def window_tables(self) -> np.ndarray:
        """The edits by (mark held back, mark just read), whichever way we slide."""
        return mirrored(self.edits) if self.is_reversed else self.edits

    def rewrite(self, underlying: Sequence[str]) -> dict[Puncteme, float]:
        """The exact distribution of the surface string of an underlying one.

        The number of surface strings may double with every mark.

        underlying (Sequence[str]): Marks, such as ("''", ".").
        RETURNS (dict[Puncteme, float]): Surface string -> probability, the most
            probable first.
        """
        try:
            ids = tuple(self._index[mark] for mark in underlying)
        except KeyError as error:
            known = " ".join(self.marks)
            raise PunctError(
                Errors.P015.format(
                    mark=error.args[0], where="the string", known=known, unk=UNK
                )
            ) from None
        surfaces = self.rewrites(0.0)[ids]
        return {tuple(self.marks[k] for k in s): p for s, p in surfaces.items()}

    def sample_ids(
        self, strings: Sequence[tuple[int, ...]], rng: np.random.Generator
    ) -> list[tuple[int, ...]]:
        """Draw a surface string for each underlying one, all windows in step."""
        step = -1 if self.is_reversed else 1
        length = max(map(len, strings))
        marks = np.full((len(strings), length), -1)
        for row, string in zip(marks, strings, strict=True):
            row[: len(string)] = string[::step]
        held = marks[:, 0].copy()
        written = np.full_like(marks, -1)
        chances = rng.random((length, len(strings)))
        for k in range(1, length):
            mark = marks[:, k]
            limits = self._limits[:, held, mark]
            edit = (chances[k] >= limits[:-1]).sum(axis=0)
            edit[mark < 0] = ABSORB_RIGHT
            written[:, k - 1] = np.where(
                edit == KEEP, held, np.where(edit == TRANSPOSE, mark, -1)
            )
            held = np.where(edit <= ABSORB_LEFT, mark, held)
        written[:, -1] = held
        return [
            tuple([mark for mark in row if mark >= 0])[::step]
            for row in written.tolist()
        ]

    def rewrites(self, floor: float) -> "Rewrites":
        """`rewrite`, in mark numbers, for what has at least some probability.

        floor (float): Less probable surface strings may be left out; 0 for none.
        RETURNS (Rewrites): Fills itself; kept, so not to be changed.
        """
        if floor not in self._rewrites:
            self._rewrites[floor] = Rewrites(
                self.window_tables(), floor, is_reversed=self.is_reversed
            )
        return self._rewrites[floor]


class Rewrites(dict[tuple[int, ...], Surfaces]):
    """Underlying string -> its surface strings, the most probable first.

    They are computed when they are first asked for.

    tables (ndarray): See `Channel.window_tables`.
    floor (float): Partial outputs less probable than the best one by this factor are
        dropped, and if there are still very many, the least probable.
    is_reversed (bool): Whether the window slides from right to left.
    """

    # An lru_cache of the channel's method would be a cycle, and what it holds of each
    # training step would stay until the garbage is collected.

    def __init__(self, tables: np.ndarray, floor: float, *, is_reversed: bool) -> None:
        super().__init__()
        self._floor = floor
        self._step = -1 if is_reversed else 1
        self._tables = tables
        self._windows: dict[tuple[int, int], list[float]] = {}

    def __missing__(self, underlying: tuple[int, ...]) -> Surfaces:
        if len(self) >= _MOST_REWRITES:
            self.clear()
        found = self[underlying] = self._rewritten(underlying)
        return found

    def _rewritten(self, underlying: tuple[int, ...]) -> Surfaces:
        if len(underlying) < 2:
            return {underlying: 1.0}
        string, windows = underlying[:: self._step], self._windows
        partial: dict[tuple[tuple[int, ...], int], float] = {((), string[0]): 1.0}
        for mark in string[1:]:
            following: dict[tuple[tuple[int, ...], int], float] = defaultdict(float)
            for (output, held), probability in partial.items():
                if (held, mark) not in windows:
                    windows[held, mark] = self._tables[:, held, mark].tolist()
                keep, lose, skip, swap = windows[held, mark]
                following[(*output, held), mark] += keep * probability
                following[output, mark] += lose * probability
                following[output, held] += skip * probability
                following[(*output, mark), held] += swap * probability
            least = self._floor * max(following.values())
            kept = [(key, p) for key, p in following.items() if p > least]
            if self._floor and len(kept) > _MOST_PARTIAL:
                kept = nlargest(_MOST_PARTIAL, kept, key=itemgetter(1))
            partial = dict(kept)
        surfaces: dict[tuple[int, ...], float] = defaultdict(float)
        for (output, held), probability in partial.items():
            surfaces[(*output, held)] += probability
        ranked = sorted(surfaces.items(), key=lambda item: (-item[1], item[0]))
        return {surface[:: self._step]: float(p) for surface, p in ranked}


ChannelKind = Literal["table", "shared", "identity"]
CHANNEL_KINDS: tuple[ChannelKind, ...] = ("table", "shared", "identity")

_FORBIDDEN = -1e9
_HEAD_START = 1.0
"""Of "no change", in untrained weights."""


class ChannelWeights(nn.Module):
    """φ: the edit log-probabilities of every window ab.

    - "table": one weight for each window and edit, as in the paper.
    - "shared": the paper's footnote on sharing: each mark has, for each edit, a
      strength as left and as right member of a window and a small embedding on
      either side; a window's weight is the sum of the strengths and the product
      of the embeddings. O(K) weights instead of O(K²).
    - "identity": nothing is ever rewritten, and nothing is trained.

    marks (Sequence[str]): Σ.
    kind (ChannelKind): How the weights are shared.
    rank (int): Size of the embeddings of "shared".
    seed (int): Seed of the embeddings' initial noise.
    """

    _allowed: Tensor

    def __init__(
        self,
        marks: Sequence[str],
        kind: ChannelKind = "table",
        *,
        rank: int = 4,
        seed: int = 0,
    ) -> None:
        super().__init__()
        if kind not in CHANNEL_KINDS:
            choices = ", ".join(CHANNEL_KINDS)
            raise PunctError(Errors.P022.format(kind=kind, choices=choices))
        self.marks = tuple(marks)
        self.kind = kind
        size, n = len(self.marks), len(EDITS)
        self.register_buffer(
            "_allowed", torch.tensor(allowed_edits(self.marks)), persistent=False
        )
        bias = torch.zeros(n)
        bias[KEEP] = _HEAD_START
        if kind == "table":
            self.table = nn.Parameter(bias[:, None, None].repeat(1, size, size))
        elif kind == "shared":
            generator = torch.Generator().manual_seed(seed)
            self.bias = nn.Parameter(bias)
            self.strength = nn.Parameter(torch.zeros(2, n, size))
            noise = torch.randn(2, n, size, rank, generator=generator)
            self.embedding = nn.Parameter(0.3 * noise)

    def forward(self) -> Tensor:
        """(4, K, K) edit log-probabilities; 0 where an edit is not allowed."""
        size = len(self.marks)
        weights: Tensor
        if self.kind == "table":
            weights = self.table
        elif self.kind == "shared":
            left, right = self.strength
            products = torch.einsum("nar,nbr->nab", *self.embedding)
            weights = (
                self.bias[:, None, None] + left[:, :, None] + right[:, None] + products
            )
        else:
            weights = torch.full((len(EDITS), size, size), _FORBIDDEN)
            weights[KEEP] = 0.0
        weights = weights.double().masked_fill(~self._allowed, _FORBIDDEN)
        return torch.log_softmax(weights, dim=0).masked_fill(~self._allowed, 0.0)

    @torch.no_grad()
    def channel(self, direction: Direction) -> Channel:
        """The channel as plain numbers, for inference."""
        probabilities = (self().exp() * self._allowed).numpy()
        return Channel(self.marks, probabilities, direction)
