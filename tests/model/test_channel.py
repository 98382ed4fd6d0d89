"""The channel and its slot automata against hand, enumeration and pyfoma."""

import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Iterator

import numpy as np
import pytest
from pyfoma.atomic import State
from pyfoma.fst import FST

from spacy_punct.data.marks import BOS
from spacy_punct.data.tree import Puncteme
from spacy_punct.errors import PunctError
from spacy_punct.model.automaton import Automata
from spacy_punct.model.channel import DIRECTIONS, Channel, allowed_edits
from spacy_punct.model.inventory import Backoff, Inventory, Trie
from tests.model.conftest import ENGLISH, english, make_channel
from tests.truth import (
    ABSORB_LEFT,
    ABSORB_RIGHT,
    KEEP,
    LEFT_TO_RIGHT,
    RIGHT_TO_LEFT,
    TRANSPOSE,
    Noise,
    p_value,
    possible_edits,
    random_noise,
)


def random_noises(seed: int) -> tuple[np.random.Generator, list[Noise]]:
    """A random channel, in both directions."""
    rng = np.random.default_rng(seed)
    noise = random_noise(rng, (BOS, ",", "``", "''")[: rng.integers(2, 5)])
    return rng, [Noise(noise.marks, noise.edits, d) for d in DIRECTIONS]


def random_underlying(rng: np.random.Generator, noise: Noise, longest: int) -> Puncteme:
    """A string with or without the sentence-initial mark in front."""
    marks = [str(m) for m in rng.choice(noise.marks[1:], rng.integers(longest + 1))]
    return (BOS, *marks) if rng.random() < 0.5 else tuple(marks)


def assert_same(found: dict[Puncteme, float], expected: dict[Puncteme, float]) -> None:
    for surface in found.keys() | expected.keys():
        probability = expected.get(surface, 0.0)
        assert found.get(surface, 0.0) == pytest.approx(probability, abs=1e-9), surface


def test_allowed_edits() -> None:
    marks = (BOS, ",", ".")
    allowed = allowed_edits(marks)
    for (i, a), (k, b) in itertools.product(enumerate(marks), repeat=2):
        assert tuple(np.flatnonzero(allowed[:, i, k])) == possible_edits(a, b)


def test_figure_2() -> None:
    """abcde -> ade, sliding left to right, by all its edit paths."""
    marks = tuple("abcde")
    edits = np.random.default_rng(0).dirichlet(np.ones(4), (5, 5)).transpose(2, 0, 1)

    def chance(edit: int, window: str) -> float:
        return edits[edit, marks.index(window[0]), marks.index(window[1])]

    # When d is read, a may still be held back, or be written with b or c held back.
    held_a = chance(ABSORB_RIGHT, "ab") * chance(ABSORB_RIGHT, "ac")
    held_b = chance(KEEP, "ab") * chance(ABSORB_RIGHT, "bc")
    held_c = chance(KEEP, "ab") * chance(ABSORB_LEFT, "bc")
    held_c += chance(ABSORB_RIGHT, "ab") * chance(KEEP, "ac")
    # Then d is held back and e as well, or d overtakes what e absorbs.
    expected = held_a * chance(KEEP, "ad") * chance(KEEP, "de")
    for held, so_far in (("b", held_b), ("c", held_c)):
        expected += so_far * chance(ABSORB_LEFT, held + "d") * chance(KEEP, "de")
        expected += (
            so_far * chance(TRANSPOSE, held + "d") * chance(ABSORB_LEFT, held + "e")
        )
    assert expected > 1e-4
    found = Channel(marks, edits, LEFT_TO_RIGHT).rewrite("abcde")
    assert found[tuple("ade")] == pytest.approx(expected, rel=1e-12)


def test_figure_2_path() -> None:
    """The figure's own path alone, if all other edits are forbidden."""
    marks = tuple("abcde")
    edits = np.zeros((4, 5, 5))
    edits[KEEP, 0, 1] = 0.9
    edits[ABSORB_RIGHT, 1, 2] = 0.8
    edits[TRANSPOSE, 1, 3] = 0.7
    edits[ABSORB_LEFT, 1, 4] = 0.6
    found = Channel(marks, edits, LEFT_TO_RIGHT).rewrite("abcde")
    assert found == {tuple("ade"): pytest.approx(0.9 * 0.8 * 0.7 * 0.6, rel=1e-12)}


def test_king_arthur() -> None:
    """Hail the king, Arthur Pendragon, who wields ``Excalibur.''"""
    for direction in DIRECTIONS:
        channel = english(direction)
        assert channel.rewrite((BOS,)) == {(BOS,): 1.0}
        assert channel.rewrite(()) == {(): 1.0}
        assert channel.rewrite((",", ",")) == {(",",): 1.0}
        assert channel.rewrite(("``",)) == {("``",): 1.0}
        assert channel.rewrite((",", ".")) == {(".",): 1.0}
    end = ("''", ",", ".")
    assert english(RIGHT_TO_LEFT).rewrite(end) == {(".", "''"): 1.0}
    assert english(LEFT_TO_RIGHT).rewrite(end) == {(",", ".", "''"): 1.0}


def test_nested_quotes() -> None:
    """The other example that section 2.2 says only right to left can handle."""
    end = ("'", "''", ".")
    assert english(RIGHT_TO_LEFT).rewrite(end) == {(".", "'", "''"): 1.0}
    assert english(LEFT_TO_RIGHT).rewrite(end) == {("'", ".", "''"): 1.0}


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_dale(direction: str) -> None:
    """`` Dale '' means `` river valley . ''"""
    channel = english(direction)
    assert channel.rewrite((BOS, "``")) == {(BOS, "``"): 1.0}
    assert channel.rewrite(("''",)) == {("''",): 1.0}
    assert channel.rewrite(("''", ".")) == {(".", "''"): 1.0}


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_identity(direction: str) -> None:
    channel = Channel.identity(ENGLISH, direction)
    for string in ((), (".",), (BOS, "``", ","), (",", ",", "''", ".")):
        assert channel.rewrite(string) == {string: 1.0}


def test_unknown_mark_and_direction() -> None:
    with pytest.raises(PunctError, match="P015"):
        Channel.identity(ENGLISH).rewrite(("¿",))
    with pytest.raises(PunctError, match="P021"):
        Channel(ENGLISH, Channel.identity(ENGLISH).edits, "upwards")


@pytest.mark.parametrize("seed", range(30))
def test_rewrite_is_enumeration(seed: int) -> None:
    rng, noises = random_noises(seed)
    for noise in noises:
        channel = make_channel(noise)
        for _ in range(8):
            underlying = random_underlying(rng, noise, 6)
            found = channel.rewrite(underlying)
            assert sum(found.values()) == pytest.approx(1.0, abs=1e-12)
            assert list(found.values()) == sorted(found.values(), reverse=True)
            assert_same(found, noise.rewrite(underlying))
            if underlying:
                assert () not in found
            if underlying[:1] == (BOS,):
                assert all(surface[0] == BOS for surface in found)


@pytest.mark.parametrize("seed", range(6))
def test_sample(seed: int) -> None:
    rng = np.random.default_rng(seed)
    soft = random_noise(rng, (BOS, ",", "``", "''"), floor=0.1)
    for direction in DIRECTIONS:
        noise = Noise(soft.marks, soft.edits, direction)
        strings = [
            (BOS, *(str(mark) for mark in rng.choice(noise.marks[1:], length)))
            for length in (5, 3, 6)
        ]
        ids = [tuple(map(noise.marks.index, string)) for string in strings]
        drawn = make_channel(noise).sample_ids(ids * 5_000, rng)
        for k, string in enumerate(strings):
            counts = Counter(tuple(noise.marks[m] for m in s) for s in drawn[k::3])
            assert counts.total() == 5_000
            assert counts.keys() <= noise.rewrite(string).keys()
            assert p_value(counts, noise.rewrite(string)) > 1e-3


def inner_arcs(noise: Noise) -> Iterator[tuple[int, int, int | None, int, float]]:
    """Arcs of appendix D's PFST: (held, read, written, held next, cost).

    Right to left it reads and writes reversed strings: the mark held back is
    then the right one of the window.
    """
    for held, read in itertools.product(range(len(noise.marks)), repeat=2):
        a, b = (held, read) if noise.direction == LEFT_TO_RIGHT else (read, held)
        for edit, chance in enumerate(noise.edits[:, a, b]):
            stays = {
                KEEP: False,
                ABSORB_LEFT: b == held,
                ABSORB_RIGHT: a == held,
                TRANSPOSE: True,
            }[edit]
            written = {KEEP: held, TRANSPOSE: read}.get(edit)
            if chance > 0:
                yield held, read, written, held if stays else read, -math.log(chance)


def transducer(noise: Noise) -> FST:
    """The PFST for pyfoma, which would take a mark such as "." for a wildcard:
    marks go by their numbers."""
    fst = FST(alphabet={*map(str, range(len(noise.marks))), "$"})
    final = State(finalweight=0.0)
    states = [State() for _ in noise.marks]
    fst.states |= {final, *states}
    fst.finalstates = {final}
    fst.initialstate.add_transition(final, ("$", ""), 0.0)
    for held, state in enumerate(states):
        fst.initialstate.add_transition(state, (str(held), ""), 0.0)
        state.add_transition(final, ("$", str(held)), 0.0)
    for held, read, written, following, cost in inner_arcs(noise):
        label = str(read), "" if written is None else str(written)
        states[held].add_transition(states[following], label, cost)
    return fst


def straight_line(symbols: list[str]) -> FST:
    """The automaton of one string."""
    fst = FST(alphabet=set(symbols))
    state = fst.initialstate
    for symbol in symbols:
        following = State()
        state.add_transition(following, (symbol,), 0.0)
        fst.states.add(following)
        state = following
    state.finalweight = 0.0
    fst.finalstates = {state}
    return fst


def rewrite_by_pyfoma(noise: Noise, underlying: Puncteme) -> dict[Puncteme, float]:
    """All paths of (underlying string ∘ PFST), summed by what they output."""
    step = 1 if noise.direction == LEFT_TO_RIGHT else -1
    symbols = [str(noise.marks.index(mark)) for mark in underlying[::step]]
    paths = straight_line([*symbols, "$"]).compose(transducer(noise))
    surfaces: dict[Puncteme, float] = defaultdict(float)
    for cost, labels in paths.words():
        outputs = [label[-1] for label in labels if label[-1]]
        surface = tuple(noise.marks[int(output)] for output in outputs[::step])
        surfaces[surface] += math.exp(-cost)
    return surfaces


@pytest.mark.parametrize("seed", range(15))
def test_rewrite_is_pfst(seed: int) -> None:
    rng, noises = random_noises(100 + seed)
    for noise in noises:
        for _ in range(3):
            underlying = random_underlying(rng, noise, 5)
            found = make_channel(noise).rewrite(underlying)
            assert_same(found, rewrite_by_pyfoma(noise, underlying))


@pytest.mark.parametrize("seed", range(5))
def test_rewrite_is_pfst_of_openfst(seed: int) -> None:
    """The same composition by OpenFst, which sums over paths by itself."""
    openfst = pytest.importorskip("pywrapfst", reason="needs pynini")

    def arc(read: int, written: int, cost: float, state: int) -> "openfst.Arc":
        return openfst.Arc(read, written, openfst.Weight("log64", cost), state)

    def string_of(marks: tuple[int, ...]) -> "openfst.VectorFst":
        fst = openfst.VectorFst(arc_type="log64")
        states = [fst.add_state() for _ in range(len(marks) + 1)]
        fst.set_start(states[0])
        fst.set_final(states[-1])
        for k, mark in enumerate(marks):
            label = mark + 1
            fst.add_arc(states[k], arc(label, label, 0.0, states[k + 1]))
        return fst.arcsort()

    def pfst_of(noise: Noise) -> "openfst.VectorFst":
        fst = openfst.VectorFst(arc_type="log64")
        start, final = fst.add_state(), fst.add_state()
        fst.set_start(start)
        fst.set_final(final)
        states = [fst.add_state() for _ in noise.marks]
        end = len(noise.marks) + 1
        fst.add_arc(start, arc(end, 0, 0.0, final))
        for held, state in enumerate(states):
            fst.add_arc(start, arc(held + 1, 0, 0.0, state))
            fst.add_arc(state, arc(end, held + 1, 0.0, final))
        for held, read, written, following, cost in inner_arcs(noise):
            output = 0 if written is None else written + 1
            fst.add_arc(states[held], arc(read + 1, output, cost, states[following]))
        return fst.arcsort()

    rng, noises = random_noises(300 + seed)
    for noise in noises:
        step = 1 if noise.direction == LEFT_TO_RIGHT else -1
        underlying = random_underlying(rng, noise, 5)
        ids = tuple(noise.marks.index(mark) for mark in underlying)[::step]
        rewritten = openfst.compose(string_of((*ids, len(noise.marks))), pfst_of(noise))
        found = make_channel(noise).rewrite(underlying)
        assert sum(found.values()) == pytest.approx(1.0)
        for surface, probability in found.items():
            target = tuple(noise.marks.index(mark) for mark in surface)[::step]
            paths = openfst.compose(
                rewritten.copy().arcsort("olabel"), string_of(target)
            )
            cost = float(openfst.shortestdistance(paths, reverse=True)[paths.start()])
            assert probability == pytest.approx(math.exp(-cost), abs=1e-9)


def random_automata(seed: int, growth: float) -> tuple[np.random.Generator, list]:
    """A random channel in both directions, with the automata it gives rise to."""
    rng, noises = random_noises(200 + seed)
    marks = noises[0].marks
    unigram = (0.0, *rng.dirichlet(np.ones(len(marks) - 1)))
    inventory = Inventory(
        marks, ("X",), {"*": {((), ()): 1}}, Backoff(0.1, growth, unigram)
    )
    return rng, [(noise, Automata(inventory, make_channel(noise))) for noise in noises]


@pytest.mark.parametrize("seed", range(15))
def test_slot_automaton(seed: int) -> None:
    """λ M(u) ρ is p(x | u), whether u is read from the left or from the right."""
    rng, both = random_automata(seed, 0.3)
    for noise, automata in both:
        strings = [random_underlying(rng, noise, 5) for _ in range(20)]
        ids = [automata.inventory.encode(string) for string in strings]
        trie = Trie(ids)
        for target in (random_underlying(rng, noise, 2) for _ in range(5)):
            slot = automata(automata.inventory.encode(target))
            rows = slot.expand(slot.initial, trie)
            for string, number in zip(strings, ids, strict=True):
                node = trie.node[number]
                expected = noise.probability(string, target)
                assert rows[node] @ slot.final == pytest.approx(expected, abs=1e-12)
                folded = slot.fold(np.eye(len(trie))[node], slot.final, trie)[0]
                assert slot.initial @ folded == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("seed", range(10))
def test_star(seed: int) -> None:
    """λ M* ρ is Σ_u q(u) p(x | u) over all of Σ*."""
    growth, longest = 0.03, 6
    rng, both = random_automata(seed, growth)
    for noise, automata in both:
        unigram = dict(
            zip(noise.marks, automata.inventory.backoff.unigram, strict=True)
        )
        for _ in range(3):
            target = tuple(str(m) for m in rng.choice(noise.marks[1:], rng.integers(3)))
            expected = sum(
                (1 - growth)
                * math.prod(growth * unigram[mark] for mark in string)
                * noise.probability(string, target)
                for length in range(longest + 1)
                for string in itertools.product(noise.marks[1:], repeat=length)
            )
            slot = automata(automata.inventory.encode(target))
            found = slot.initial @ slot.star() @ slot.final
            assert found == pytest.approx(expected, abs=growth ** (longest + 1))
