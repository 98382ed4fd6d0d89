"""What a model may write: marks, punctemes, and the pairs each relation takes."""

from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np

from spacy_punct.data.depunctuation import PunctuatedTree, replace_marks
from spacy_punct.data.marks import (
    BOS,
    UNK,
    is_one_sided,
    is_symmetric,
    is_unmatched,
    sets_off,
)
from spacy_punct.data.tree import Puncteme, Slots
from spacy_punct.data.treebank import count_marks
from spacy_punct.errors import Errors, PunctError, check_range

Pair = tuple[Puncteme, Puncteme]
EMPTY: Puncteme = ()
ANY_RELATION = "*"
"""Stands in for relations too rare to have pairs of their own, and unseen ones,
unless they are subtypes (`acl:x`) of a relation that has."""

MIN_MARK_COUNT = 5
"""How often a mark must have been seen (section 4)."""


@dataclass(frozen=True)
class Backoff:
    """A little mass on every pair of strings, so that nothing is impossible.

    With probability `mass` a node leaves its W_d and draws its left and right
    puncteme independently from q(s) = (1 - g) g^|s| prod_k unigram(s_k), which
    covers all of Σ*. The paper has no such thing and gives unseen pairs
    probability zero.

    mass (float): Probability of leaving W_d.
    growth (float): g, the probability that a back-off string goes on.
    unigram (tuple[float, ...]): Probability of each mark of the inventory.
    """

    mass: float
    growth: float
    unigram: tuple[float, ...]

    def __post_init__(self) -> None:
        check_range("mass", self.mass, 0, 1)
        check_range("growth", self.growth, 0, 1)

    @cached_property
    def silence(self) -> float:
        """The probability of leaving W_d and drawing (ε, ε)."""
        return self.mass * (1 - self.growth) ** 2

    def silent_log_prob(self, log_prob: np.ndarray) -> np.ndarray:
        """log p(ε, ε), from W_d or not, for its log-probability in W_d."""
        return np.log((1 - self.mass) * np.exp(log_prob) + self.silence)

    def table_share(self, log_prob: np.ndarray) -> np.ndarray:
        """How probably an (ε, ε) came from W_d, for its log-probability there."""
        from_table = (1 - self.mass) * np.exp(log_prob)
        return from_table / (from_table + self.silence)


@dataclass(frozen=True)
class Inventory:
    """Σ, V and W_d of section 4, as plain data. Everything else is derived.

    marks (tuple[str, ...]): Σ, the sentence-initial mark first.
    tags (tuple[str, ...]): The parts of speech seen in training.
    pairs (Mapping[str, Mapping[Pair, int]]): W_d: for each relation, how often
        each pair of surface strings flanked one of its constituents. (ε, ε)
        comes first. `ANY_RELATION` holds the sum over all relations.
    backoff (Backoff): What is left for other pairs.
    """

    marks: tuple[str, ...]
    tags: tuple[str, ...]
    pairs: Mapping[str, Mapping[Pair, int]]
    backoff: Backoff

    def __post_init__(self) -> None:
        silent = (EMPTY, EMPTY)
        checks = {
            "its marks must be distinct and begin with ^": (
                self.marks[:1] == (BOS,) and len(set(self.marks)) == len(self.marks)
            ),
            f"'{ANY_RELATION}' must be among its relations": ANY_RELATION in self.pairs,
            "(ε, ε) must be the first pair of every relation": all(
                next(iter(pairs), None) == silent for pairs in self.pairs.values()
            ),
            "its pairs must have been counted at least once": all(
                n > 0 for pairs in self.pairs.values() for n in pairs.values()
            ),
            "its back-off needs a probability for each mark": (
                len(self.backoff.unigram) == len(self.marks)
            ),
        }
        for reason, holds in checks.items():
            if not holds:
                raise PunctError(Errors.P035.format(reason=reason))

    @classmethod
    def estimate(
        cls,
        examples: Sequence[PunctuatedTree],
        *,
        min_mark_count: int = MIN_MARK_COUNT,
        min_relation_count: int = 5,
        backoff_mass: float = 1e-4,
        backoff_growth: float = 0.3,
    ) -> "Inventory":
        """Read the inventory off training data (section 4, "Data").

        V is every string seen in a slot and W_d every pair of strings that flank
        a constituent of relation d.

        examples (Sequence[PunctuatedTree]): Projective training trees.
        min_mark_count (int): Marks seen less often become UNK.
        min_relation_count (int): Relations seen less often have no W_d of their
            own; see `relation_id`. A subtype's pairs then count for its supertype.
        backoff_mass, backoff_growth (float): See `Backoff`.
        RETURNS (Inventory): The inventory.
        """
        if not examples:
            raise PunctError(Errors.P020)
        counts = count_marks(examples)
        counts.pop(BOS, None)
        marks = (BOS, *known_marks(counts, min_mark_count))
        rare = dict.fromkeys((set(counts) - set(marks)) | {BOS}, UNK)
        pairs: dict[str, Counter[Pair]] = {}
        tags: Counter[str] = Counter()
        for example in examples:
            slots, tree = replace_marks(example.slots, rare), example.tree
            tree.check_projective()
            tags.update(tree.tags)
            for relation, (left, right) in zip(tree.relations, tree.spans, strict=True):
                pair = slots[left], slots[right]
                pairs.setdefault(relation, Counter())[pair] += 1
        common = {
            d: c.copy() for d, c in pairs.items() if c.total() >= min_relation_count
        }
        for relation, counted in pairs.items():
            supertype = relation.partition(":")[0]
            if relation not in common and supertype in common:
                common[supertype] += counted
        common[ANY_RELATION] = sum(pairs.values(), Counter())
        seen = Counter(marks[1:])
        for mark, n in counts.items():
            seen[rare.get(mark, mark)] += n
        unigram = (0.0, *(seen[mark] / seen.total() for mark in marks[1:]))
        return cls(
            marks=marks,
            tags=tuple(tag for tag, _ in tags.most_common()),
            pairs={d: _ordered(common[d]) for d in sorted(common)},
            backoff=Backoff(backoff_mass, backoff_growth, unigram),
        )

    @cached_property
    def mark_index(self) -> dict[str, int]:
        return {mark: k for k, mark in enumerate(self.marks)}

    @cached_property
    def relations(self) -> tuple[str, ...]:
        return tuple(self.pairs)

    @cached_property
    def relation_index(self) -> dict[str, int]:
        return {relation: d for d, relation in enumerate(self.relations)}

    @cached_property
    def punctemes(self) -> tuple[Puncteme, ...]:
        """V, the empty string first."""
        strings = {s for pairs in self.pairs.values() for pair in pairs for s in pair}
        return tuple(sorted(strings, key=lambda s: (len(s), self.encode(s))))

    @cached_property
    def encoded_punctemes(self) -> tuple[tuple[int, ...], ...]:
        """V as mark numbers."""
        return tuple(map(self.encode, self.punctemes))

    @cached_property
    def puncteme_index(self) -> dict[tuple[int, ...], int]:
        """A puncteme's marks -> its number in V."""
        return {string: k for k, string in enumerate(self.encoded_punctemes)}

    @cached_property
    def all_pairs(self) -> tuple[Pair, ...]:
        """The union of the W_d."""
        return tuple(self.pairs[ANY_RELATION])

    @cached_property
    def pair_tables(self) -> tuple["PairTable", ...]:
        """W_d of each relation, as arrays."""
        return tuple(PairTable(self, d) for d in self.relations)

    def relation_id(self, relation: str) -> int:
        """The relation itself, else its supertype (`acl` of `acl:x`), else any."""
        for name in (relation, relation.partition(":")[0]):
            if name in self.relation_index and name != ANY_RELATION:
                return self.relation_index[name]
        return self.relation_index[ANY_RELATION]

    def encode(
        self, marks: Iterable[str], where: str = "the string"
    ) -> tuple[int, ...]:
        """Marks as their numbers in Σ; an unknown one is an error."""
        try:
            return tuple(self.mark_index[mark] for mark in marks)
        except KeyError as error:
            known = " ".join(self.marks[1:])
            raise PunctError(
                Errors.P015.format(
                    mark=error.args[0], where=where, known=known, unk=UNK
                )
            ) from None

    def decode(self, ids: Iterable[int]) -> Puncteme:
        return tuple(map(self.marks.__getitem__, ids))

    def backoff_prob(self, pair: tuple[tuple[int, ...], tuple[int, ...]]) -> float:
        """The probability of leaving W_d and drawing this pair (of mark numbers)."""
        backoff = self.backoff
        marks = [backoff.growth * backoff.unigram[k] for s in pair for k in s]
        return backoff.silence * prod(marks)

    def known(self, slots: Slots) -> Slots:
        """The slots with unknown marks, and a literal `^`, replaced by UNK."""
        return with_unknown(slots, self.mark_index)

    def unknown(self, slot: Puncteme) -> list[str]:
        """The marks of a slot that `known` replaces."""
        return [mark for mark in slot if mark == BOS or mark not in self.mark_index]


def known_marks(counts: Counter[str], min_count: int) -> tuple[str, ...]:
    """The marks seen at least `min_count` times, by frequency, and UNK; never `^`."""
    frequent = [mark for mark, n in counts.most_common() if n >= min_count]
    return (*(mark for mark in frequent if mark not in (BOS, UNK)), UNK)


def with_unknown(slots: Slots, known: Container[str]) -> Slots:
    """The slots with marks that are not known, and a literal `^`, replaced by UNK."""
    marks = {mark for slot in slots for mark in slot}
    unknown = {mark for mark in marks if mark == BOS or mark not in known}
    return replace_marks(slots, dict.fromkeys(unknown, UNK)) if unknown else slots


def with_own_marks(string: Puncteme, own: Iterator[str]) -> Puncteme:
    """A string with the marks that were too rare to model as they are written.

    string (Puncteme): Marks of an inventory.
    own (Iterator[str]): The rare marks. Each UNK becomes the next one, and stays if
        there is none left.
    RETURNS (Puncteme): The marks as they are written.
    """
    return tuple(next(own, UNK) if mark == UNK else mark for mark in string)


def _ordered(counts: Counter[Pair]) -> dict[Pair, int]:
    """(ε, ε), which every relation must allow, and then the pairs by frequency."""
    first = {(EMPTY, EMPTY): max(counts[EMPTY, EMPTY], 1)}
    return first | {
        pair: n
        for pair, n in sorted(counts.items(), key=lambda item: (-item[1], item[0]))
        if pair not in first
    }


class PairTable:
    """W_d of one relation as arrays, and the parts of it that slots leave open.

    An empty surface slot forces an empty puncteme, so a node whose left (right)
    slot is empty only chooses among the pairs with l = ε (r = ε).

    views (dict): Whether the left and the right slot are empty -> the `PairView`.
    """

    def __init__(self, inventory: Inventory, relation: str) -> None:
        self.pairs = pairs = tuple(inventory.pairs[relation])
        self.symmetric = np.array([is_symmetric(*pair) for pair in pairs])
        self.unmatched = np.array([is_unmatched(*pair) for pair in pairs])
        self.one_sided = np.array(
            [sets_off(relation) and is_one_sided(*pair) for pair in pairs]
        )
        self.encoded = [(inventory.encode(l), inventory.encode(r)) for l, r in pairs]
        number = inventory.puncteme_index
        self.left = np.array([number[l] for l, _ in self.encoded])
        self.right = np.array([number[r] for _, r in self.encoded])
        self.backoff = np.array([inventory.backoff_prob(pair) for pair in self.encoded])
        self.views = {
            (left_empty, right_empty): PairView(self, left_empty, right_empty)
            for left_empty in (False, True)
            for right_empty in (False, True)
        }

    def __len__(self) -> int:
        return len(self.pairs)


class PairView:
    """Some pairs of a relation, with their punctemes laid out as two tries.

    chosen (ndarray): Which pairs of the table.
    pairs (list): The pairs, as mark numbers.
    number (dict): Pair -> its place among them.
    sides (ndarray): On how many sides they have marks, at least 1.
    backoff (ndarray): Their probabilities under the back-off, its mass included.
    having (dict): Side (0 for left, 1 for right) and mark -> the pairs that have the
        mark on that side.
    left, right (Trie): The tries of their left and right punctemes.
    at_left, at_right (ndarray): The trie node at which each pair's puncteme ends.
    """

    def __init__(self, table: PairTable, left_empty: bool, right_empty: bool) -> None:
        allowed = np.ones(len(table), dtype=bool)
        if left_empty:
            allowed &= table.left == 0
        if right_empty:
            allowed &= table.right == 0
        self.chosen = np.flatnonzero(allowed)
        self.pairs = [table.encoded[k] for k in self.chosen]
        self.number = {pair: k for k, pair in enumerate(self.pairs)}
        self.sides = np.array([max(1, bool(l) + bool(r)) for l, r in self.pairs])
        self.backoff = table.backoff[self.chosen]
        lefts, rights = zip(*self.pairs, strict=True)
        self.left, self.right = Trie(lefts), Trie(rights)
        self.at_left = np.array([self.left.node[s] for s in lefts])
        self.at_right = np.array([self.right.node[s] for s in rights])
        self.having: dict[tuple[int, int], list[int]] = defaultdict(list)
        for k, pair in enumerate(self.pairs):
            for side, string in enumerate(pair):
                for mark in dict.fromkeys(string):
                    self.having[side, mark].append(k)


Family = tuple[np.ndarray, np.ndarray]
"""The parents of a level of a trie, and where each one's children begin."""


class Trie:
    """Strings of mark numbers as a trie whose nodes are numbered level by level.

    node (dict): Prefix -> its number; the empty prefix is 0.
    levels (list): For each depth from 1 on: the range of its nodes, their
        parents and their last marks.
    """

    def __init__(self, strings: Iterable[tuple[int, ...]]) -> None:
        prefixes = {s[:k] for s in strings for k in range(len(s) + 1)} | {()}
        ordered = sorted(prefixes, key=lambda s: (len(s), s))
        self.node = {prefix: k for k, prefix in enumerate(ordered)}
        self.levels: list[tuple[slice, np.ndarray, np.ndarray]] = []
        # Siblings are neighbours: the parents of each level, and where each one's
        # children begin.
        self._families: list[Family] = []
        start = 1
        while start < len(ordered):
            depth = len(ordered[start])
            level = [s for s in ordered[start:] if len(s) == depth]
            stop = start + len(level)
            parents = np.array([self.node[s[:-1]] for s in level])
            self.levels.append(
                (slice(start, stop), parents, np.array([s[-1] for s in level]))
            )
            self._families.append(np.unique(parents, return_index=True))
            start = stop

    def __len__(self) -> int:
        return len(self.node)

    def bottom_up(self) -> Iterator[tuple[slice, np.ndarray, "Family"]]:
        """The levels from the deepest up: nodes, last marks, and who to add to."""
        for (nodes, _, marks), family in zip(
            reversed(self.levels), reversed(self._families), strict=True
        ):
            yield nodes, marks, family
