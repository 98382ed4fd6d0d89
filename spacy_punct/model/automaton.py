"""What a slot's surface string says of its underlying string.

For each slot, appendix D composes the channel with the surface string x into
an automaton that gives every underlying string u the weight p(x | u). Algorithm
1 multiplies its N x N matrices M(u). We never build them: a node only applies
M to vectors, and with the mark held back as one axis and the position in x as
the other, a mark's matrix is a handful of element-wise operations.

A row vector is a message from the left (the marks already read), a column
vector one from the right. All punctemes a node may take are applied at once,
along their trie.
"""

from collections import defaultdict
from collections.abc import Sequence
from typing import Protocol
from weakref import WeakKeyDictionary

import numpy as np

from spacy_punct.data.marks import BOS
from spacy_punct.model.channel import (
    ABSORB_LEFT,
    ABSORB_RIGHT,
    EDITS,
    KEEP,
    TRANSPOSE,
    Channel,
    mirrored,
)
from spacy_punct.model.inventory import Backoff, Inventory, Trie

Surface = tuple[int, ...] | None
"""A surface string as mark numbers; None if it was not observed."""

_MOST_PROBS = 1 << 16
_MOST_SURFACES = 4096
"""Surface strings whose automata are kept at most."""


class SlotAutomaton(Protocol):
    """The weighted automaton of one slot.

    is_empty (bool): Whether only the empty underlying string is accepted.
    initial, final (ndarray): The row vector λ and the column vector ρ.
    """

    is_empty: bool
    initial: np.ndarray
    final: np.ndarray

    def expand(self, row: np.ndarray, trie: Trie) -> np.ndarray:
        """row · M(s) for every string s of the trie, one a line."""
        ...

    def fold(self, weights: np.ndarray, column: np.ndarray, trie: Trie) -> np.ndarray:
        """Σ_s weights(s) M(s without its prefix t) · column for every prefix t.

        The first line (t = ε) is the sum over all strings of the trie.
        """
        ...

    def columns(
        self, strings: Sequence[tuple[int, ...]], column: np.ndarray
    ) -> np.ndarray:
        """M(s) · column for each string s, one a line."""
        ...

    def star(self) -> np.ndarray:
        """Σ_s q(s) M(s) over all strings, q being the back-off's."""
        ...


class EmptySlot:
    """An empty surface slot: nothing can have been written underlyingly."""

    is_empty = True
    initial = final = np.ones(1)

    def __init__(self, backoff: Backoff) -> None:
        self._star = np.array([[1.0 - backoff.growth]])

    def expand(self, row: np.ndarray, trie: Trie) -> np.ndarray:
        lines = np.zeros((len(trie), 1), dtype=row.dtype)
        lines[0] = row
        return lines

    def fold(self, weights: np.ndarray, column: np.ndarray, trie: Trie) -> np.ndarray:
        return weights[:, None] * column

    def columns(
        self, strings: Sequence[tuple[int, ...]], column: np.ndarray
    ) -> np.ndarray:
        return np.array([column if not s else 0.0 * column for s in strings])

    def star(self) -> np.ndarray:
        return self._star


class FreeSlot:
    """An unobserved slot: p(any surface | u) sums to one, whatever u is."""

    is_empty = False
    initial = final = np.ones(1)

    def expand(self, row: np.ndarray, trie: Trie) -> np.ndarray:
        return np.broadcast_to(row, (len(trie), 1))

    def fold(self, weights: np.ndarray, column: np.ndarray, trie: Trie) -> np.ndarray:
        lines = weights[:, None] * column
        for nodes, _, (parents, starts) in trie.bottom_up():
            lines[parents] += np.add.reduceat(lines[nodes], starts)
        return lines

    def columns(
        self, strings: Sequence[tuple[int, ...]], column: np.ndarray
    ) -> np.ndarray:
        return np.tile(column, (len(strings), 1))

    def star(self) -> np.ndarray:
        return np.ones((1, 1))


class WindowTables:
    """Edit probabilities by mark read (first axis) and mark held back (last axis).

    K + 1 "marks" may be held back, the last one being the boundary before the
    first mark, which is always lost to the mark that follows.

    keep, lose, skip, swap (ndarray): The mark held back is written, or lost; the
        mark read is lost, or written first.
    """

    def __init__(
        self, keep: np.ndarray, lose: np.ndarray, skip: np.ndarray, swap: np.ndarray
    ) -> None:
        self.keep, self.lose, self.skip, self.swap = keep, lose, skip, swap
        # Tries made for the occasion must not be kept alive by what they are keys of.
        self._along: WeakKeyDictionary[Trie, list[WindowTables]] = WeakKeyDictionary()

    @classmethod
    def of(cls, channel: Channel) -> "WindowTables":
        size = len(channel.marks)
        by_mark = np.zeros((len(EDITS), size, size + 1))
        by_mark[:, :, :size] = channel.window_tables().transpose(0, 2, 1)
        by_mark[ABSORB_LEFT, :, size] = 1.0
        return cls(*by_mark)

    def at(self, marks: np.ndarray) -> "WindowTables":
        """The lines of some marks."""
        return WindowTables(
            self.keep[marks], self.lose[marks], self.skip[marks], self.swap[marks]
        )

    def along(self, trie: Trie) -> list["WindowTables"]:
        """The lines of the marks of each level of a trie, gathered once."""
        if trie not in self._along:
            self._along[trie] = [self.at(marks) for _, _, marks in trie.levels]
        return self._along[trie]


class SurfaceSlot:
    """An observed, non-empty slot.

    States are (position in x, mark held back), flattened. Positions count the marks
    of x that are already written, the mark held back excluded.

    Sliding right to left, the same states are walked on the reversed x with rows
    and columns trading places.
    """

    is_empty = False

    def __init__(
        self,
        tables: WindowTables,
        surface: tuple[int, ...],
        backoff: Backoff,
        *,
        is_reversed: bool,
    ) -> None:
        self.surface = np.array(surface[::-1] if is_reversed else surface)
        self.is_reversed = is_reversed
        self._backoff = backoff
        self._tables = tables
        size = len(tables.keep)
        self._shape = len(surface), size + 1
        start, end = np.zeros(self._shape), np.zeros(self._shape)
        start[0, size] = 1.0
        end[-1, self.surface[-1]] = 1.0
        self.initial, self.final = start.ravel(), end.ravel()
        if is_reversed:
            self.initial, self.final = self.final, self.initial
        self._star: np.ndarray | None = None
        self._from_initial: WeakKeyDictionary[Trie, np.ndarray] = WeakKeyDictionary()

    def expand(self, row: np.ndarray, trie: Trie) -> np.ndarray:
        if row is not self.initial:
            return self._expanded(row, trie)
        # Most constituents meet a slot in which nothing was read before.
        if trie not in self._from_initial:
            self._from_initial[trie] = self._expanded(row, trie)
        return self._from_initial[trie]

    def _expanded(self, row: np.ndarray, trie: Trie) -> np.ndarray:
        lines = np.empty((len(trie), *self._shape), dtype=row.dtype)
        lines[0] = row.reshape(self._shape)
        apply = self._read_back if self.is_reversed else self._read
        for (nodes, parents, marks), tables in zip(
            trie.levels, self._tables.along(trie), strict=True
        ):
            lines[nodes] = apply(lines[parents], marks, tables)
        return lines.reshape(len(trie), -1)

    def fold(self, weights: np.ndarray, column: np.ndarray, trie: Trie) -> np.ndarray:
        lines = weights[:, None, None] * column.reshape(self._shape)
        apply = self._read if self.is_reversed else self._read_back
        for (nodes, marks, (parents, starts)), tables in zip(
            trie.bottom_up(), reversed(self._tables.along(trie)), strict=True
        ):
            read = apply(lines[nodes], marks, tables)
            lines[parents] += np.add.reduceat(read, starts)
        return lines.reshape(len(trie), -1)

    def columns(
        self, strings: Sequence[tuple[int, ...]], column: np.ndarray
    ) -> np.ndarray:
        lines = np.tile(column.reshape(self._shape), (len(strings), 1, 1))
        apply = self._read if self.is_reversed else self._read_back
        for k in range(1, max(map(len, strings)) + 1):
            long = [i for i, string in enumerate(strings) if len(string) >= k]
            marks = np.array([strings[i][-k] for i in long])
            lines[long] = apply(lines[long], marks, self._tables.at(marks))
        return lines.reshape(len(strings), -1)

    def _read(
        self, states: np.ndarray, marks: np.ndarray, tables: WindowTables
    ) -> np.ndarray:
        """states · M(mark), a line of states (and of the tables) for each mark."""
        every = np.arange(len(marks))
        new = states * tables.skip[:, None]
        new[every, :, marks] += np.einsum("npd,nd->np", states, tables.lose)
        if len(self.surface) > 1:
            written = self.surface[:-1]
            before = states[:, :-1]
            held = before[:, np.arange(len(written)), written]
            new[every, 1:, marks] += held * tables.keep[:, written]
            swaps = (marks[:, None] == written)[:, :, None]
            new[:, 1:] += swaps * before * tables.swap[:, None]
        return new

    def _read_back(
        self, states: np.ndarray, marks: np.ndarray, tables: WindowTables
    ) -> np.ndarray:
        """M(mark) · states: `_read` transposed."""
        arrived = states[np.arange(len(marks)), :, marks]
        old = states * tables.skip[:, None]
        old += arrived[:, :, None] * tables.lose[:, None]
        if len(self.surface) > 1:
            written = self.surface[:-1]
            old[:, np.arange(len(written)), written] += (
                arrived[:, 1:] * tables.keep[:, written]
            )
            swaps = (marks[:, None] == written)[:, :, None]
            old[:, :-1] += swaps * states[:, 1:] * tables.swap[:, None]
        return old

    def star(self) -> np.ndarray:
        """(1 - g) (1 - g Σ_a unigram(a) M(a))⁻¹, the geometric series in closed form.

        It is the one matrix we build, once for each distinct surface string.
        """
        if self._star is None:
            unigram = np.array(self._backoff.unigram)
            growth = self._backoff.growth
            length, held = self._shape
            step = np.zeros((length, held, length, held))
            stay = unigram[:, None] * self._tables.lose
            absorbed = stay.T @ np.eye(len(unigram), held)
            absorbed[np.arange(held), np.arange(held)] += unigram @ self._tables.skip
            for p in range(length):
                step[p, :, p] = absorbed
            for p, mark in enumerate(self.surface[:-1]):
                step[p, mark, p + 1, :-1] += unigram * self._tables.keep[:, mark]
                step[p, np.arange(held), p + 1, np.arange(held)] += (
                    unigram[mark] * self._tables.swap[mark]
                )
            matrix = np.eye(length * held) - growth * step.reshape(length * held, -1)
            star = (1.0 - growth) * np.linalg.inv(matrix)
            # Inversion leaves noise where no path leads.
            star = np.where(_reachable(matrix != 0.0), star.clip(0.0), 0.0)
            self._star = star.T if self.is_reversed else star
        return self._star

    def add_step_slopes(
        self, trie: Trie, rows: np.ndarray, columns: np.ndarray, slopes: np.ndarray
    ) -> None:
        """Add d(row · M(s) · column) by each edit's probability, along a trie.

        rows, columns (ndarray): A stack of `expand` and `fold` results.
        slopes (ndarray): (4, K + 1, K), by edit, mark held back and mark read.
        """
        shape = (*rows.shape[:2], *self._shape)
        rows, columns = rows.reshape(shape), columns.reshape(shape)
        by_mark = slopes.transpose(0, 2, 1)
        written = self.surface[:-1]
        place = np.arange(len(written))
        for nodes, parents, marks in trie.levels:
            before, after = rows[:, parents], columns[:, nodes]
            if self.is_reversed:
                before, after = after, before
            every = np.arange(len(marks))
            arrived = after[:, every, :, marks]
            np.add.at(
                by_mark[ABSORB_LEFT], marks, np.einsum("snpd,nsp->nd", before, arrived)
            )
            np.add.at(by_mark[ABSORB_RIGHT], marks, (before * after).sum(axis=(0, 2)))
            if len(written):
                held = before[:, :, place, written]
                kept = np.einsum("snp,nsp->np", held, arrived[:, :, 1:])
                np.add.at(slopes[KEEP], (written[None], marks[:, None]), kept)
                moved = np.einsum("snpd,snpd->npd", before[:, :, :-1], after[:, :, 1:])
                moved *= (marks[:, None] == written)[:, :, None]
                np.add.at(by_mark[TRANSPOSE], marks, moved.sum(axis=1))

    def add_star_slopes(
        self, rows: np.ndarray, columns: np.ndarray, slopes: np.ndarray
    ) -> None:
        """The same for row · star · column, for a stack of vectors."""
        unigram, growth = np.array(self._backoff.unigram), self._backoff.growth
        before, after = times(rows, self.star()), times(columns, self.star().T)
        if self.is_reversed:
            before, after = after, before
        before = before.reshape(-1, *self._shape) * (growth / (1.0 - growth))
        after = after.reshape(-1, *self._shape)
        joint = np.einsum("spd,spe->de", before, after)
        slopes[ABSORB_LEFT] += joint[:, :-1] * unigram
        slopes[ABSORB_RIGHT] += np.outer(np.diagonal(joint), unigram)
        for p, mark in enumerate(self.surface[:-1]):
            slopes[KEEP, mark] += unigram * (before[:, p, mark] @ after[:, p + 1, :-1])
            slopes[TRANSPOSE, :, mark] += unigram[mark] * (
                before[:, p] * after[:, p + 1]
            ).sum(axis=0)


class Automata:
    """The automata of all slots under one channel, each built once or seldom.

    start (Trie): The sentence-initial mark, which slot 0's underlying string
        always begins with.
    """

    def __init__(self, inventory: Inventory, channel: Channel) -> None:
        self.inventory = inventory
        self.channel = channel
        self.start = Trie([inventory.encode([BOS])])
        self._tables = WindowTables.of(channel)
        self._empty = EmptySlot(inventory.backoff)
        self._free = FreeSlot()
        self._surfaces: dict[tuple[int, ...], SurfaceSlot] = {}
        self._probs: dict[tuple[Surface, tuple[int, ...]], float] = {}

    def __reduce__(self) -> tuple:
        return Automata, (self.inventory, self.channel)

    def __call__(self, surface: Surface) -> SlotAutomaton:
        """The automaton of a surface string, or of an unobserved slot (None)."""
        if surface is None:
            return self._free
        if not surface:
            return self._empty
        if surface not in self._surfaces:
            if len(self._surfaces) >= _MOST_SURFACES:
                self._surfaces.clear()
            self._surfaces[surface] = SurfaceSlot(
                self._tables,
                surface,
                self.inventory.backoff,
                is_reversed=self.channel.is_reversed,
            )
        return self._surfaces[surface]

    def prob(self, surface: Surface, underlying: tuple[int, ...]) -> float:
        """p(surface string | underlying string)."""
        key = surface, underlying
        if key not in self._probs:
            if len(self._probs) >= _MOST_PROBS:
                self._probs.clear()
            slot = self(surface)
            last = slot.columns([underlying], slot.final)[0]
            self._probs[key] = float(slot.initial @ last)
        return self._probs[key]


class EditCounts:
    """Expected counts of the channel's edits, gathered over nodes.

    Contributions with the same automaton and trie are summed in one go, which
    costs little more than listing them.
    """

    def __init__(self, automata: Automata) -> None:
        self._automata = automata
        self._steps: dict[tuple[SurfaceSlot, Trie], list] = defaultdict(list)
        self._stars: dict[SurfaceSlot, list] = defaultdict(list)

    def add(
        self,
        automaton: SlotAutomaton,
        trie: Trie,
        rows: np.ndarray,
        columns: np.ndarray,
    ) -> None:
        """Count the edits along a trie.

        rows, columns (ndarray): `expand` and `fold` at each trie node, scaled so
            that each trie edge's row · M · column is its posterior.
        """
        if isinstance(automaton, SurfaceSlot) and len(trie) > 1:
            self._steps[automaton, trie].append((rows, columns))

    def add_star(
        self, automaton: SlotAutomaton, row: np.ndarray, column: np.ndarray
    ) -> None:
        """Count the edits in a back-off string between two vectors."""
        if isinstance(automaton, SurfaceSlot):
            self._stars[automaton].append((row, column))

    def total(self) -> np.ndarray:
        """The counts as a complex (4, K, K) array, laid out like `Channel.edits`."""
        channel = self._automata.channel
        size = len(channel.marks)
        slopes = np.zeros((len(EDITS), size + 1, size), dtype=np.complex128)
        for (slot, trie), pieces in self._steps.items():
            slot.add_step_slopes(trie, *_stacked(pieces), slopes)
        for slot, pieces in self._stars.items():
            slot.add_star_slopes(*_stacked(pieces), slopes)
        counts = slopes[:, :size] * channel.window_tables()
        return mirrored(counts) if channel.is_reversed else counts


def _stacked(
    pieces: list[tuple[np.ndarray, np.ndarray]],
) -> tuple[np.ndarray, np.ndarray]:
    rows, columns = zip(*pieces, strict=True)
    return np.stack(rows), np.stack(columns)


def _reachable(steps: np.ndarray) -> np.ndarray:
    """Which states lead to which, in any number of steps."""
    reached = steps | np.eye(len(steps), dtype=bool)
    while True:
        # As floats the product goes through BLAS.
        paths = reached.astype(np.float32)
        further = paths @ paths > 0
        if (further == reached).all():
            return reached
        reached = further


def times(vectors: np.ndarray, matrix: np.ndarray) -> np.ndarray:
    """Row vectors by a real matrix.

    If the vectors are complex, numpy would first make a complex copy of the matrix:
    for the hundreds of states of a slot with a long row of dashes, the better part
    of all training time.
    """
    if vectors.dtype == np.complex128:
        return vectors.real @ matrix + 1j * (vectors.imag @ matrix)
    return vectors @ matrix
