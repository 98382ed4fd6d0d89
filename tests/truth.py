"""The model of Li, Wang & Eisner (2019) by brute force: the truth in our tests.

Everything here enumerates: the edits of a string, the pairs of all nodes, the
surfaces of all slots. None of the algorithms under test is used, only the plain
data they work on. The one shortcut is that an empty surface slot forces empty
punctemes, as the channel can neither insert marks nor lose all of them.

Back-off strings are endless, so pairs are enumerated up to a total length of the
back-off strings in a tree. What is left out has a known probability, the tail,
and the length grows until the tail no longer matters.

At the end are generators of small random models and surfaces.
"""

import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import TypeVar

import numpy as np
import torch

from spacy_punct.data.marks import BOS, is_unmatched
from spacy_punct.data.tree import Puncteme, Tree
from spacy_punct.model.inventory import Backoff, Inventory, Pair

KEEP, ABSORB_LEFT, ABSORB_RIGHT, TRANSPOSE = range(4)
LEFT_TO_RIGHT, RIGHT_TO_LEFT = "left-to-right", "right-to-left"

T = TypeVar("T")
Surface = tuple[Puncteme | None, ...]
"""n + 1 slots, without ^; None where nothing was observed."""
Outcome = tuple[tuple[Pair, ...], tuple[Puncteme, ...]]
"""A pair for each word, and the surface."""

NEGLIGIBLE = 1e-11
"""How small a tail must be, compared to the probability of the surface."""
MOST, LONGEST = 40_000, 8
"""How many underlying trees, and how long back-off strings, we enumerate."""


class TooMany(Exception):
    """There are more underlying trees than anybody would like to enumerate."""


def possible_edits(a: str, b: str) -> tuple[int, ...]:
    """The edits of the window ab: equal marks do not swap, ^ is never lost."""
    if b == BOS:
        return (KEEP,)
    if a == BOS:
        return KEEP, ABSORB_RIGHT
    if a == b:
        return KEEP, ABSORB_LEFT
    return KEEP, ABSORB_LEFT, ABSORB_RIGHT, TRANSPOSE


@dataclass(frozen=True, eq=False)
class Noise:
    """NOISYCHANNEL: edits[e, a, b] is the probability of edit e of the window ab."""

    marks: tuple[str, ...]
    edits: np.ndarray
    direction: str

    def steps(
        self, string: Puncteme
    ) -> list[tuple[tuple[int, int, int], Puncteme, Puncteme, Puncteme]]:
        """What may happen to the first window of a string of two marks or more.

        RETURNS: For each edit its place in `edits` and what it makes of the
            string: marks that are now final, the string that the window goes on
            to slide over, and again marks that are final.
        """
        if self.direction == LEFT_TO_RIGHT:
            (a, b), rest = string[:2], string[2:]
            results: list[tuple[Puncteme, Puncteme, Puncteme]] = [
                ((a,), (b, *rest), ()),
                ((), (b, *rest), ()),
                ((), (a, *rest), ()),
                ((b,), (a, *rest), ()),
            ]
        else:
            rest, (a, b) = string[:-2], string[-2:]
            results = [
                ((), (*rest, a), (b,)),
                ((), (*rest, b), ()),
                ((), (*rest, a), ()),
                ((), (*rest, b), (a,)),
            ]
        i, k = self.marks.index(a), self.marks.index(b)
        return [((e, i, k), *results[e]) for e in range(4) if self.edits[e, i, k] > 0]

    @cache  # noqa: B019
    def rewrite(self, string: Puncteme) -> dict[Puncteme, float]:
        """p(surface | string) for each surface."""
        if len(string) < 2:
            return {string: 1.0}
        total: dict[Puncteme, float] = defaultdict(float)
        for edit, before, remaining, after in self.steps(string):
            for middle, probability in self.rewrite(remaining).items():
                surface = (*before, *middle, *after)
                total[surface] += self.edits[edit] * probability
        return dict(total)

    def towards(
        self, string: Puncteme, surface: Puncteme
    ) -> Iterator[tuple[tuple[int, int, int], Puncteme, Puncteme]]:
        """The steps that may lead to a surface, and what is then left of both."""
        for edit, before, remaining, after in self.steps(string):
            middle = surface[len(before) : len(surface) - len(after)]
            if (*before, *middle, *after) == surface:
                yield edit, remaining, middle

    @cache  # noqa: B019
    def probability(self, string: Puncteme, surface: Puncteme) -> float:
        """p(surface | string), the same as in `rewrite` but quicker."""
        if len(string) < 2:
            return float(string == surface)
        return sum(
            self.edits[edit] * self.probability(remaining, middle)
            for edit, remaining, middle in self.towards(string, surface)
        )

    @cache  # noqa: B019
    def applied(self, string: Puncteme, surface: Puncteme) -> np.ndarray:
        """p(surface | string) times the expected number of each edit given both."""
        counts = np.zeros(self.edits.shape)
        if len(string) >= 2:
            for edit, remaining, middle in self.towards(string, surface):
                probability = self.probability(remaining, middle)
                counts += self.edits[edit] * self.applied(remaining, middle)
                counts[edit] += self.edits[edit] * probability
        return counts


@dataclass(frozen=True)
class Draw:
    """One way for a node to come by a pair.

    length (int): Length of the back-off strings; 0 for a pair drawn from W_d.
    """

    pair: Pair
    probability: float
    in_table: bool
    length: int = 0


@dataclass
class Explanation:
    """Everything about an observed surface, summed over all underlying trees.

    probability (float): p(surface | tree).
    posteriors (list): For each word, the posterior of each pair drawn from W_d.
    edits (ndarray): Expected number of edits.
    unmatched (float): Expected number of unmatched pairs drawn from W_d.
    """

    probability: float
    posteriors: list[dict[Pair, float]]
    edits: np.ndarray
    unmatched: float


@dataclass(frozen=True, eq=False)
class Truth:
    """A tree, scores for the pairs of its nodes, and a channel.

    base (Sequence[ndarray]): For each node, a score for each pair of W_d.
    inside (Sequence[ndarray]): For each node, what each mark adds if it is inside.
    """

    tree: Tree
    inventory: Inventory
    base: Sequence[np.ndarray]
    inside: Sequence[np.ndarray]
    noise: Noise

    @cached_property
    def spans(self) -> list[tuple[int, int]]:
        """The slots at the edges of each constituent."""
        below = [{i} for i in range(len(self.tree))]
        for i in range(len(self.tree)):
            ancestor = self.tree.heads[i]
            while ancestor >= 0:
                below[ancestor].add(i)
                ancestor = self.tree.heads[ancestor]
        return [(min(words), max(words) + 1) for words in below]

    @cached_property
    def written(self) -> list[list[tuple[int, int]]]:
        """The (node, 0 for left or 1 for right puncteme) of each slot, in order."""
        slots: list[list[tuple[int, int]]] = []
        for slot in range(len(self.tree) + 1):
            ending = [(w, 1) for w in self.by_size if self.spans[w][1] == slot]
            beginning = [(w, 0) for w in self.by_size if self.spans[w][0] == slot]
            slots.append(ending + beginning[::-1])
        return slots

    @cached_property
    def by_size(self) -> list[int]:
        """The nodes, the smallest constituents first."""
        size = {w: right - left for w, (left, right) in enumerate(self.spans)}
        return sorted(size, key=lambda w: size[w])

    def underlying(self, pairs: Sequence[Pair]) -> list[Puncteme]:
        """The underlying string of each slot."""
        strings = [
            tuple(mark for node, side in slot for mark in pairs[node][side])
            for slot in self.written
        ]
        return [(BOS, *strings[0]), *strings[1:]]

    def table(self, node: int) -> list[Pair]:
        """W_d of a node's relation."""
        relation = self.tree.relations[node]
        for name in (relation, relation.split(":")[0]):
            if name in self.inventory.pairs:
                return list(self.inventory.pairs[name])
        return list(self.inventory.pairs["*"])

    def attach(self, node: int, surface: Surface) -> dict[Pair, float]:
        """The probability of each pair of W_d, once W_d was chosen."""
        left, right = self.spans[node]
        inside = {mark for slot in surface[left + 1 : right] for mark in slot or ()}
        scores = list(self.base[node])
        for mark in inside:
            added = self.inside[node][self.inventory.marks.index(mark)]
            scores = [a + b for a, b in zip(scores, added, strict=True)]
        total = math.fsum(map(math.exp, scores))
        pairs = self.table(node)
        return {p: math.exp(s) / total for p, s in zip(pairs, scores, strict=True)}

    def spelled(self, string: Puncteme) -> float:
        """q(string), the back-off's probability."""
        backoff = self.inventory.backoff
        probability = 1 - backoff.growth
        for mark in string:
            unigram = backoff.unigram[self.inventory.marks.index(mark)]
            probability *= backoff.growth * unigram
        return probability

    def total(self, node: int, pair: Pair, surface: Surface) -> float:
        """The probability of a pair, whether or not it is drawn from W_d."""
        mass = self.inventory.backoff.mass
        drawn = self.attach(node, surface).get(pair, 0.0)
        spelled = self.spelled(pair[0]) * self.spelled(pair[1])
        return (1 - mass) * drawn + mass * spelled

    def draws(self, node: int, surface: Surface, longest: int) -> list[Draw]:
        """All a node may do, up to a length of its back-off strings."""
        mass = self.inventory.backoff.mass
        draws = [
            Draw(pair, (1 - mass) * probability, in_table=True)
            for pair, probability in self.attach(node, surface).items()
        ]
        if mass > 0:
            for total in range(longest + 1):
                for marks in itertools.product(self.inventory.marks[1:], repeat=total):
                    for cut in range(total + 1):
                        l, r = marks[:cut], marks[cut:]
                        spelled = mass * self.spelled(l) * self.spelled(r)
                        draws.append(Draw((l, r), spelled, False, total))
        return draws

    def tail(self, longest: int) -> float:
        """p(back-off strings are longer than that in total)."""
        mass, growth = self.inventory.backoff.mass, self.inventory.backoff.growth
        lengths = np.arange(longest + 60)
        one = mass * (1 - growth) ** 2 * (lengths + 1) * growth**lengths
        one[0] += 1 - mass
        every = np.ones(1)
        for _ in range(len(self.tree)):
            every = np.convolve(every, one)
        return float(every[longest + 1 :].sum())

    def trees(self, surface: Surface, longest: int) -> Iterator[list[Draw]]:
        """All underlying trees that may explain a surface."""
        for count, draws in enumerate(self._trees(surface, longest)):
            if count == MOST:
                raise TooMany
            yield draws

    def _trees(self, surface: Surface, longest: int) -> Iterator[list[Draw]]:
        observed = self.observed(surface)

        def fits(node: int, pair: Pair) -> bool:
            # Slot 0 is never empty: it has ^, to which it may have lost any mark.
            at_slots = zip(pair, self.spans[node], strict=True)
            return all(not string or observed[slot] != () for string, slot in at_slots)

        choices = [
            [draw for draw in self.draws(w, surface, longest) if fits(w, draw.pair)]
            for w in range(len(self.tree))
        ]

        def extended(draws: list[Draw], room: int) -> Iterator[list[Draw]]:
            if len(draws) == len(choices):
                yield draws
                return
            for draw in choices[len(draws)]:
                if draw.length <= room:
                    yield from extended([*draws, draw], room - draw.length)

        return extended([], longest)

    def explain(self, surface: Surface) -> Explanation:
        """Sum over all underlying trees."""
        for longest in range(1, LONGEST + 1):
            explanation = self._explain(surface, longest)
            if self.tail(longest) <= NEGLIGIBLE * explanation.probability:
                return explanation
        raise TooMany

    def _explain(self, surface: Surface, longest: int) -> Explanation:
        total = 0.0
        posteriors: list[Counter[Pair]] = [Counter() for _ in self.spans]
        edits = np.zeros(self.noise.edits.shape)
        unmatched = 0.0
        for draws in self.trees(surface, longest):
            pairs = [draw.pair for draw in draws]
            rewritten = self.rewritten(pairs, surface)
            weight = math.prod(draw.probability for draw in draws)
            weight *= math.prod(rewritten)
            if weight == 0:
                continue
            total += weight
            for i, string in enumerate(self.underlying(pairs)):
                if (slot := self.observed(surface)[i]) is not None:
                    edits += weight / rewritten[i] * self.noise.applied(string, slot)
            for node, draw in enumerate(draws):
                if draw.in_table:
                    posteriors[node][draw.pair] += weight
                    unmatched += weight * is_unmatched(*draw.pair)
        if total == 0:
            return Explanation(0.0, [], edits, 0.0)
        return Explanation(
            total,
            [{pair: x / total for pair, x in node.items()} for node in posteriors],
            edits / total,
            unmatched / total,
        )

    @staticmethod
    def observed(surface: Surface) -> Surface:
        """The surface with the sentence-initial mark."""
        return surface if surface[0] is None else ((BOS, *surface[0]), *surface[1:])

    def rewritten(self, pairs: Sequence[Pair], surface: Surface) -> list[float]:
        """p(surface | underlying string) of each slot."""
        strings = zip(self.underlying(pairs), self.observed(surface), strict=True)
        return [
            sum(self.noise.rewrite(string).values())
            if slot is None
            else self.noise.probability(string, slot)
            for string, slot in strings
        ]

    def joint(self, pairs: Sequence[Pair], surface: Surface) -> float:
        """p(underlying tree, surface | tree)."""
        attached = (self.total(i, pair, surface) for i, pair in enumerate(pairs))
        return math.prod(attached) * math.prod(self.rewritten(pairs, surface))

    def best(self, surface: Surface) -> float:
        """The probability of the best underlying tree and the surface.

        Candidates are W_d and pairs of contiguous pieces of the surface.
        """

        def pieces(slot: Puncteme | None) -> set[Puncteme]:
            places = range(len(slot or ()) + 1)
            return {(slot or ())[i:k] for i in places for k in places if i <= k}

        candidates: list[dict[Pair, float]] = []
        for node, (left, right) in enumerate(self.spans):
            pairs = set(self.table(node))
            pairs |= set(
                itertools.product(pieces(surface[left]), pieces(surface[right]))
            )
            probabilities = {pair: self.total(node, pair, surface) for pair in pairs}
            candidates.append({pair: p for pair, p in probabilities.items() if p > 0})
        return max(
            math.prod(c[pair] for c, pair in zip(candidates, pairs, strict=True))
            * math.prod(self.rewritten(pairs, surface))
            for pairs in itertools.product(*candidates)
        )

    def outcomes(self, longest: int = 0) -> dict[Outcome, float]:
        """The probability of all that the model may generate.

        Words draw their pairs after the words below them, once the slots inside
        their constituent have been rewritten (appendix A, template c).

        longest (int): Total length of back-off strings; see `tail`.
        """
        size = len(self.tree)
        steps: list[tuple[str, int]] = []
        closed: set[int] = set()
        for node in self.by_size:
            left, right = self.spans[node]
            inner = set(range(left + 1, right)) - closed
            closed |= inner
            steps += [("rewrite", slot) for slot in inner] + [("draw", node)]
        steps += [("rewrite", slot) for slot in range(size + 1) if slot not in closed]
        empty: Pair = (), ()
        partial = {((empty,) * size, ((),) * (size + 1), longest): 1.0}
        for step, place in steps:
            following: dict[tuple, float] = defaultdict(float)
            for (pairs, slots, room), probability in partial.items():
                if step == "draw":
                    for draw in self.draws(place, slots, room):
                        drawn = (*pairs[:place], draw.pair, *pairs[place + 1 :])
                        key = drawn, slots, room - draw.length
                        following[key] += probability * draw.probability
                else:
                    string = self.underlying(pairs)[place]
                    for surface, chance in self.noise.rewrite(string).items():
                        shown = surface[1:] if place == 0 else surface
                        written = (*slots[:place], shown, *slots[place + 1 :])
                        following[pairs, written, room] += probability * chance
            partial = following
        outcomes: dict[Outcome, float] = defaultdict(float)
        for (pairs, slots, _), probability in partial.items():
            outcomes[pairs, slots] += probability
        return dict(outcomes)


def slot_marginals(outcomes: dict[Outcome, float]) -> list[dict[Puncteme, float]]:
    """For each slot, the probability of each surface string."""
    marginals: list[dict[Puncteme, float]] = []
    for (_, surface), probability in outcomes.items():
        marginals = marginals or [defaultdict(float) for _ in surface]
        for marginal, slot in zip(marginals, surface, strict=True):
            marginal[slot] += probability
    return marginals


def p_value(counts: Counter[T], probabilities: Mapping[T, float]) -> float:
    """Of the chi-square test, with all that is rare merged into one cell."""
    size = counts.total()
    likely = [outcome for outcome, p in probabilities.items() if p * size >= 10]
    observed = np.array([counts[outcome] for outcome in likely])
    expected = np.array([probabilities[outcome] * size for outcome in likely])
    statistic = ((observed - expected) ** 2 / expected).sum()
    freedom = len(likely) - 1
    if (rest := size - expected.sum()) >= 10:
        statistic += (size - observed.sum() - rest) ** 2 / rest
        freedom += 1
    assert freedom > 1, "Nothing to test"
    half = torch.tensor([freedom / 2, statistic / 2], dtype=torch.float64)
    return float(torch.special.gammaincc(*half))


def projective_heads(size: int) -> list[tuple[int, ...]]:
    """All projective trees over so many words."""
    found = []
    for heads in itertools.product(range(-1, size), repeat=size):
        paths = [_path_to_root(heads, i) for i in range(size)]
        below = [[i for i in range(size) if w in paths[i]] for w in range(size)]
        if (
            heads.count(-1) == 1
            and all(path[-1] == -1 for path in paths)
            and all(max(words) - min(words) < len(words) for words in below)
        ):
            found.append(heads)
    return found


def _path_to_root(heads: Sequence[int], node: int) -> list[int]:
    """The node, its head and so on to -1, or to the first repetition."""
    path = [node]
    while path[-1] != -1 and heads[path[-1]] not in path:
        path.append(heads[path[-1]])
    return path


HEADS = {size: projective_heads(size) for size in range(1, 6)}
TWINS = [("``", "''"), ("(", ")"), ("¿", "?")]
SINGLES = [",", ".", "!", "-"]


@dataclass(frozen=True)
class Recipe:
    """What random models are to be like.

    words, marks (tuple[int, int]): Least and greatest number, ^ not counted.
    pairs (int): Greatest size of a W_d, (ε, ε) not counted.
    mass, growth (tuple[float, ...]): Of the back-off, to choose from.
    floor (float): Least probability of an edit that is possible at all.
    """

    words: tuple[int, int]
    marks: tuple[int, int]
    pairs: int
    mass: tuple[float, ...] = (0.0,)
    growth: tuple[float, ...] = (0.3,)
    floor: float = 0.0


def random_noise(
    rng: np.random.Generator, marks: Sequence[str], floor: float = 0.0
) -> Noise:
    """A channel, soft or sharp, in either direction."""
    edits = np.zeros((4, len(marks), len(marks)))
    sharpness = rng.choice([1.0, 0.3, 0.05])
    for (i, a), (k, b) in itertools.product(enumerate(marks), repeat=2):
        possible = list(possible_edits(a, b))
        chances = rng.dirichlet([sharpness] * len(possible))
        edits[possible, i, k] = (1 - floor * len(possible)) * chances + floor
    direction = str(rng.choice([LEFT_TO_RIGHT, RIGHT_TO_LEFT]))
    return Noise(tuple(marks), edits, direction)


def random_string(
    rng: np.random.Generator, marks: Sequence[str], longest: int
) -> Puncteme:
    """A string, rather short than long."""
    length = min(int(rng.geometric(0.5)) - 1, longest)
    return tuple(str(mark) for mark in rng.choice(marks, length))


def random_inventory(rng: np.random.Generator, recipe: Recipe) -> Inventory:
    """Marks with and without partners, two relations and the rest."""
    pool = [*TWINS[rng.integers(len(TWINS))], *rng.permutation(SINGLES)]
    if rng.random() < 0.3:
        pool = pool[::-1]
    marks = [str(mark) for mark in pool[: rng.integers(*recipe.marks, endpoint=True)]]
    empty: Pair = (), ()
    pairs: dict[str, dict[Pair, int]] = {}
    for relation in ("a", "b"):
        pairs[relation] = {empty: 1}
        for _ in range(rng.integers(recipe.pairs, endpoint=True)):
            pair = random_string(rng, marks, 3), random_string(rng, marks, 3)
            pairs[relation].setdefault(pair, 1)
    pairs["*"] = {**pairs["a"], **pairs["b"]}
    unigram = tuple(map(float, rng.dirichlet(np.ones(len(marks)))))
    mass, growth = float(rng.choice(recipe.mass)), float(rng.choice(recipe.growth))
    backoff = Backoff(mass, growth, (0.0, *unigram))
    return Inventory((BOS, *marks), ("X",), pairs, backoff)


def random_truth(rng: np.random.Generator, recipe: Recipe) -> Truth:
    """A tree and all that a model says of it."""
    inventory = random_inventory(rng, recipe)
    size = int(rng.integers(*recipe.words, endpoint=True))
    heads = HEADS[size][rng.integers(len(HEADS[size]))]
    relations = tuple(map(str, rng.choice(["a", "b", "a:x", "unseen"], size)))
    tree = Tree(("w",) * size, ("X",) * size, heads, relations)
    noise = random_noise(rng, inventory.marks, recipe.floor)
    bare = Truth(tree, inventory, (), (), noise)
    sizes = [len(bare.table(node)) for node in range(size)]
    strength = rng.choice([0.0, 1.0, 3.0])
    base = [rng.normal(scale=1.5, size=k) for k in sizes]
    inside = [rng.normal(scale=strength, size=(len(inventory.marks), k)) for k in sizes]
    return Truth(tree, inventory, base, inside, noise)


def with_unused_marks(truth: Truth, size: int) -> Truth:
    """The same model with so many more marks in front of its own."""
    inventory, noise = truth.inventory, truth.noise
    unused = tuple(f"unused-{k}" for k in range(size))
    marks = BOS, *unused, *inventory.marks[1:]
    own = np.array([marks.index(mark) for mark in inventory.marks])
    edits = np.zeros((4, len(marks), len(marks)))
    edits[KEEP] = 1.0
    edits[np.ix_(range(4), own, own)] = noise.edits
    unigram = np.zeros(len(marks))
    unigram[own] = inventory.backoff.unigram
    backoff = replace(inventory.backoff, unigram=tuple(map(float, unigram)))
    inside = [np.ones((len(marks), len(scores))) for scores in truth.base]
    for wide, narrow in zip(inside, truth.inside, strict=True):
        wide[own] = narrow
    return Truth(
        truth.tree,
        Inventory(marks, inventory.tags, inventory.pairs, backoff),
        truth.base,
        inside,
        Noise(marks, edits, noise.direction),
    )


def random_case(
    rng: np.random.Generator, recipe: Recipe, *, possible: bool = True
) -> tuple[Truth, tuple[Puncteme, ...], Explanation]:
    """A model, a surface of positive (or zero) probability and its explanation."""
    while True:
        truth = random_truth(rng, recipe)
        surface = random_surface(rng, truth)
        with suppress(TooMany):
            explanation = truth.explain(surface)
            if (explanation.probability > 0) == possible:
                return truth, surface, explanation


def random_surface(rng: np.random.Generator, truth: Truth) -> tuple[Puncteme, ...]:
    """A surface that is seldom empty, with now and then a mark out of place."""
    pairs = []
    for node in range(len(truth.tree)):
        table = truth.table(node)
        first = 1 if rng.random() < 0.7 else 0
        pairs.append(table[rng.integers(min(first, len(table) - 1), len(table))])
    surface: list[Puncteme] = []
    for string in truth.underlying(pairs):
        rewritten = truth.noise.rewrite(string)
        strings = sorted(rewritten)
        chances = np.array([rewritten[s] for s in strings])
        if rng.random() < 0.3:
            chances = np.where(chances > 1e-3, 1.0, 0.0)
        surface.append(strings[rng.choice(len(strings), p=chances / chances.sum())])
    surface[0] = surface[0][1:]
    if rng.random() < 0.3:
        slot = rng.integers(len(surface))
        surface[slot] += (str(rng.choice(truth.inventory.marks[1:])),)
    return tuple(surface)
