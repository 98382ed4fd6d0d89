"""The lexical scorer against its definition in plain loops, and what rests on it."""

import math
import pickle
from dataclasses import replace

import numpy as np
import pytest
import torch

from spacy_punct.data.depunctuation import PunctuatedTree
from spacy_punct.data.tree import ROOT, Tree
from spacy_punct.data.treebank import read_treebank
from spacy_punct.errors import PunctError
from spacy_punct.model.attach import LogLinearAttach, encode
from spacy_punct.model.channel import ChannelWeights
from spacy_punct.model.lexical import LexicalAttach, LexicalSettings
from spacy_punct.model.objective import likelihood
from spacy_punct.model.punctuation import PunctuationModel
from spacy_punct.model.scores import EncodedTree, Vectors
from spacy_punct.model.storage import from_bytes, to_bytes
from tests.model.conftest import numeric_slope
from tests.truth import Noise, Recipe, random_case

WIDTH = 5
SETTINGS = LexicalSettings(
    vector_width=WIDTH,
    embedding_width=3,
    encoder_width=4,
    encoder_depth=2,
    hidden_width=6,
)
CORRECTING = replace(SETTINGS, observed_width=4)
"""Of a model that reads what is written, right or wrong."""
GUESSING = replace(CORRECTING, guess_width=3)
"""Of one that also guesses what should be written."""
LONGEST = (1, 2, 3, 4, 6, 9, 14, 22, 35)
"""The longest constituent of each length class but the last."""


def encoded(tree: Tree, vectors: Vectors) -> EncodedTree:
    return EncodedTree(
        tree.words,
        tree.tags,
        tree.heads,
        tree.relations,
        tree.observed,
        vectors=vectors,
    )


def with_vectors(tree: Tree, seed: int = 0) -> EncodedTree:
    rng = np.random.default_rng([seed, len(tree)])
    vectors = rng.normal(size=(len(tree), WIDTH)).astype(np.float32)
    marks = np.array([",", ".", "?", "''", "never seen"])
    observed = [
        tuple(rng.choice(marks, rng.choice([0, 0, 1, 2, 5]))) for _ in tree.words
    ]
    return encoded(replace(tree, observed=(*observed, (".",))), vectors)


def random_weights(module: torch.nn.Module, scale: float = 0.5) -> None:
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for weights in module.parameters():
            weights.copy_(scale * torch.randn(weights.shape, generator=generator))


@pytest.fixture(scope="module")
def examples(sample) -> list[PunctuatedTree]:
    """Sentences whose words have vectors."""
    return [
        replace(example, tree=with_vectors(example.tree))
        for example in read_treebank(sample / "dev.conllu").examples
    ]


@pytest.fixture(
    params=[SETTINGS, CORRECTING, GUESSING],
    ids=["restoring", "correcting", "guessing"],
)
def model(examples, request) -> PunctuationModel:
    """With random weights everywhere."""
    model = PunctuationModel.from_examples(
        examples, direction="right-to-left", lexical=request.param
    )
    for module in (model.scorer, model.channel_weights):
        random_weights(module)
    model.refresh()
    return model


def sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def read_one_way(weights: dict, name: str, words: list[np.ndarray]) -> list[np.ndarray]:
    """One direction of one layer of an LSTM, word by word."""
    size = len(weights[f"encoder.weight_hh_{name}"][0])
    state, cell = np.zeros(size), np.zeros(size)
    states = []
    for word in words:
        gates = (
            weights[f"encoder.weight_ih_{name}"] @ word
            + weights[f"encoder.bias_ih_{name}"]
            + weights[f"encoder.weight_hh_{name}"] @ state
            + weights[f"encoder.bias_hh_{name}"]
        )
        i, f, g, o = np.split(gates, 4)
        cell = sigmoid(f) * cell + sigmoid(i) * np.tanh(g)
        state = sigmoid(o) * np.tanh(cell)
        states.append(state)
    return states


def slot_vector(scorer: LexicalAttach, weights: dict, slot: tuple) -> np.ndarray:
    """What the network reads of a slot: its string, and its marks by their places."""
    inventory = scorer.inventory
    slot = tuple(mark if mark in inventory.marks else "<unk>" for mark in slot)
    table = weights["slots.table.weight"]
    n_strings, n_marks = len(inventory.punctemes), len(inventory.marks)
    number = n_strings
    if slot in inventory.punctemes:
        number = inventory.punctemes.index(slot)
    vector = table[number].copy()
    for from_left, from_right in zip(
        range(len(slot)), reversed(range(len(slot))), strict=True
    ):
        mark = inventory.marks.index(slot[from_left])
        for place in (min(from_left, 2), 3 + min(from_right, 2)):
            vector += table[n_strings + 1 + place * n_marks + mark]
    return vector


def agreement(scorer: LexicalAttach, puncteme: tuple, slot: tuple) -> np.ndarray:
    """Whether a puncteme is all that is written in a slot, or a part of it."""
    known = scorer.inventory.marks
    slot = tuple(mark if mark in known else "<unk>" for mark in slot)
    starts = range(len(slot) - len(puncteme) + 1)
    inside = any(slot[i : i + len(puncteme)] == puncteme for i in starts)
    is_part = bool(puncteme) and inside and puncteme != slot
    return np.array([puncteme == slot, is_part], dtype=float)


def guess(weights: dict, around: np.ndarray) -> np.ndarray:
    """How probably each puncteme should be in a slot."""
    hidden = weights["guess.hidden.weight"] @ around + weights["guess.hidden.bias"]
    logits = weights["guess.output.weight"] @ np.maximum(hidden, 0)
    chances = np.exp(logits + weights["guess.output.bias"])
    return chances / chances.sum()


def expected_agreement(
    scorer: LexicalAttach, weights: dict, around: np.ndarray
) -> dict[tuple, np.ndarray]:
    """How each puncteme is expected to agree with what should be in a slot."""
    chances = guess(weights, around)
    punctemes = scorer.inventory.punctemes
    return {
        puncteme: sum(
            chance * agreement(scorer, puncteme, slot)
            for chance, slot in zip(chances, punctemes, strict=True)
        )
        for puncteme in punctemes
    }


def slow_scores(scorer: LexicalAttach, tree: Tree) -> list[dict]:
    """For each node what the network says of each pair: the docstring in loops."""
    weights = {k: w.double().numpy() for k, w in scorer.state_dict().items()}
    inventory = scorer.inventory
    n = len(tree)
    tags = [
        inventory.tags.index(tag) if tag in inventory.tags else len(inventory.tags)
        for tag in tree.tags
    ]
    relations = [inventory.relation_id(relation) for relation in tree.relations]
    read = [
        np.concatenate(
            [
                np.asarray(tree.vectors[i], dtype=float),
                weights["tags.weight"][tags[i]],
                weights["relations.weight"][relations[i]],
            ]
        )
        for i in range(n)
    ]
    reads_observed = scorer.settings.observed_width > 0
    if reads_observed:
        slots = [slot_vector(scorer, weights, slot) for slot in tree.observed]
        read = [np.concatenate([read[i], slots[i], slots[i + 1]]) for i in range(n)]
    for layer in range(scorer.settings.encoder_depth):
        forwards = read_one_way(weights, f"l{layer}", read)
        backwards = read_one_way(weights, f"l{layer}_reverse", read[::-1])[::-1]
        read = [np.concatenate(b) for b in zip(forwards, backwards, strict=True)]
    expected = []
    if scorer.settings.guess_width:
        nothing = np.zeros_like(read[0])
        padded = [nothing, *read, nothing]
        expected = [
            expected_agreement(scorer, weights, np.concatenate(around))
            for around in zip(padded, padded[1:], slots, strict=False)
        ]
    below = [{i} for i in range(n)]
    for i in range(n):
        ancestor = tree.heads[i]
        while ancestor != ROOT:
            below[ancestor].add(i)
            ancestor = tree.heads[ancestor]
    matrices = np.split(weights["roles.weight"], 6)
    biases = np.split(weights["roles.bias"], 6)
    result = []
    for i in range(n):
        first, last, head = min(below[i]), max(below[i]), tree.heads[i]
        roles = [
            i,
            head if head != ROOT else None,
            first,
            last,
            first - 1 if first > 0 else None,
            last + 1 if last + 1 < n else None,
        ]
        length = sum(last - first + 1 > most for most in LONGEST)
        is_left = head > i
        parent = len(inventory.relations) if head == ROOT else relations[head]
        summed = (
            weights["by_tag.weight"][tags[i]]
            + weights["by_relation.weight"][2 * relations[i] + is_left]
            + weights["by_parent.weight"][parent]
            + weights["by_length.weight"][length]
        )
        for role, word in enumerate(roles):
            if word is not None:
                summed = summed + matrices[role] @ read[word] + biases[role]
        if reads_observed:
            summed = summed + weights["at_left.weight"] @ slots[first]
            summed = summed + weights["at_right.weight"] @ slots[last + 1]
        hidden = np.maximum(summed, 0)
        copies = dict.fromkeys(inventory.all_pairs, 0.0)
        if reads_observed:
            at = np.einsum("h,hsa->sa", hidden, weights["agreement"])
            copies = {
                (l, r): at[0] @ agreement(scorer, l, tree.observed[first])
                + at[1] @ agreement(scorer, r, tree.observed[last + 1])
                for l, r in inventory.all_pairs
            }
        if expected:
            at = np.einsum("h,hsa->sa", hidden, weights["expectation"])
            for l, r in copies:
                copies[l, r] += at[0] @ expected[first][l]
                copies[l, r] += at[1] @ expected[last + 1][r]
        result.append(
            {
                (l, r): copies[l, r]
                + hidden @ weights["pair"][:, inventory.all_pairs.index((l, r))]
                + hidden @ weights["left"][:, inventory.punctemes.index(l)]
                + hidden @ weights["right"][:, inventory.punctemes.index(r)]
                for l, r in inventory.pairs[inventory.relations[relations[i]]]
            }
        )
    return result


def by_node(scorer, trees, slots=None) -> list[np.ndarray]:
    """The scores of all nodes of a batch, in order."""
    slots = slots or [None] * len(trees)
    prepared = [scorer.prepare(t, s) for t, s in zip(trees, slots, strict=True)]
    found = [np.zeros(0)] * sum(map(len, trees))
    for group in scorer.eval()(prepared):
        for node, row in zip(group.nodes, group.scores, strict=True):
            found[node] = row.detach().double().numpy()
    return found


def odd_trees() -> list[Tree]:
    """One word, unknown tags and relations, and every length class."""
    chain = [*range(1, 40), ROOT]
    return [
        Tree(["Go"], ["VERB"], [ROOT], ["root"]),
        Tree(["a", "b"], ["??", "NOUN"], [1, ROOT], ["never:seen", "root"]),
        Tree(["w"] * 40, ["NOUN"] * 40, chain, ["obj"] * 39 + ["root"]),
    ]


def test_lexical_scores_are_those_of_the_definition(model, examples):
    trees = [example.tree for example in examples[:12]]
    trees += [with_vectors(tree) for tree in odd_trees()]
    assert len(set(map(len, trees))) > 5
    slots = [encode(model.inventory, e) for e in examples[:12]] + [None] * 3
    found = by_node(model.scorer, trees, slots)
    log_linear = by_node(model.scorer.log_linear, trees, slots)
    expected = [node for tree in trees for node in slow_scores(model.scorer, tree)]
    for scores, part, node in zip(found, log_linear, expected, strict=True):
        assert scores - part == pytest.approx(list(node.values()), abs=1e-4)
    assert np.mean([np.ptp(list(node.values())) > 0.1 for node in expected]) > 0.8


def test_lexical_scores_do_not_depend_on_the_rest_of_the_batch(model, examples):
    trees = [example.tree for example in examples[:10]]
    together = by_node(model.scorer, trees)
    alone = [row for tree in trees for row in by_node(model.scorer, [tree])]
    for one, other in zip(together, alone, strict=True):
        assert one == pytest.approx(other, abs=1e-5)
    turned = by_node(model.scorer, trees[::-1])
    last = len(trees[-1])
    for one, other in zip(turned[:last], together[-last:], strict=True):
        assert one == pytest.approx(other, abs=1e-5)


def test_lexical_inference_agrees_with_training(model, examples):
    trees = [example.tree for example in examples[:10]]
    expected = iter(by_node(model.scorer, trees))
    for scores in model.scorer.node_scores(trees):
        for base in scores.base:
            assert base == pytest.approx(next(expected), abs=1e-5)
    assert model.scorer.node_scores([]) == []
    observed = [encode(model.inventory, example) for example in examples[:10]]
    given = iter(by_node(model.scorer, trees, observed))
    for tree, slots, scores in zip(
        trees, observed, model.scorer.node_scores(trees), strict=True
    ):
        for log_probs in scores.given(
            tree, slots, len(model.inventory.marks)
        ).log_probs:
            expected = torch.log_softmax(torch.tensor(next(given)), 0).numpy()
            assert log_probs == pytest.approx(expected, abs=1e-4)


def test_lexical_starts_as_the_log_linear_model(examples):
    lexical = PunctuationModel.from_examples(examples, lexical=SETTINGS)
    plain = PunctuationModel.from_examples(examples)
    for model in (lexical.scorer.log_linear, plain.scorer):
        random_weights(model)
    trees = [example.tree for example in examples[:10]]
    for one, other in zip(
        by_node(lexical.scorer, trees), by_node(plain.scorer, trees), strict=True
    ):
        assert np.array_equal(one, other)
    assert list(lexical.log_probs(examples)) == list(plain.log_probs(examples))


def test_lexical_start_depends_on_the_seed_alone(examples):
    first, torch_state = [], torch.get_rng_state()
    for seed in (3, 3, 4):
        model = PunctuationModel.from_examples(examples, lexical=SETTINGS, seed=seed)
        first.append(model.scorer.roles.weight.detach())
    assert torch.equal(first[0], first[1])
    assert not torch.equal(first[0], first[2])
    assert torch.equal(torch.get_rng_state(), torch_state)


def test_lexical_gradient_is_numerically_right(model, examples):
    """By each of the network's arrays and by the words' vectors, in a batch."""
    scorer, inventory = model.scorer.double(), model.inventory
    batch = sorted(examples, key=lambda e: len(e.tree) - sum(map(len, e.slots)))[:2]
    slots = [encode(inventory, example) for example in batch]
    vectors = [
        torch.tensor(e.tree.vectors, dtype=torch.float64, requires_grad=True)
        for e in batch
    ]
    trees = [replace(e.tree, vectors=v) for e, v in zip(batch, vectors, strict=True)]
    prepared = [scorer.prepare(t, s) for t, s in zip(trees, slots, strict=True)]
    log_edits = model.channel_weights()

    def objective():
        return likelihood(
            inventory,
            trees,
            slots,
            scorer(prepared),
            log_edits,
            model.automata,
            unmatched_weight=0.7,
        )

    objective().surrogate.backward()
    rng = np.random.default_rng(0)
    named = {f"vectors {k}": v for k, v in enumerate(vectors)} | {
        name: weights
        for name, weights in scorer.named_parameters()
        if not name.startswith("log_linear.by_relation")
    }
    for name, weights in named.items():
        flat, slope = weights.data.view(-1), weights.grad.view(-1)
        active = np.flatnonzero(slope.numpy())
        for k in (rng.choice(active), rng.integers(len(flat))):
            numeric = numeric_slope(lambda: objective().objective, flat, k)
            assert slope[k].item() == pytest.approx(numeric, rel=1e-4, abs=1e-6), name


@pytest.mark.parametrize("seed", range(25))
def test_lexical_inference_is_enumeration(seed):
    """log p of a small tree, with the scores of the definition."""
    rng = np.random.default_rng(seed)
    truth, surface, _ = random_case(rng, Recipe(words=(1, 4), marks=(1, 3), pairs=3))
    inventory = truth.inventory
    tree = with_vectors(truth.tree, seed)
    scorer = LexicalAttach(
        LogLinearAttach.from_examples(inventory, [PunctuatedTree(tree, surface)]),
        SETTINGS,
    )
    random_weights(scorer, 1.0)
    weights = ChannelWeights(inventory.marks, seed=seed)
    random_weights(weights, 1.0)
    direction = truth.noise.direction
    model = PunctuationModel(inventory, scorer, weights, direction)
    templates = scorer.log_linear.prepare(tree)
    base = by_node(scorer.log_linear, [tree])
    truth = replace(
        truth,
        base=[
            row + list(said.values())
            for row, said in zip(base, slow_scores(scorer, tree), strict=True)
        ],
        inside=[
            scorer.log_linear.inside_terms(*map(int, place))
            for place in zip(
                templates.relation, templates.tag, templates.side, strict=True
            )
        ],
        noise=Noise(inventory.marks, model.channel.edits, direction),
    )
    probability = truth.explain(surface).probability
    assert probability > 0
    found = model.distribution(tree).log_prob(surface)
    assert found == pytest.approx(math.log(probability), abs=1e-4)
    example = PunctuatedTree(tree, surface)
    trained = model.likelihood(
        [tree],
        [encode(inventory, example)],
        [scorer.prepare(tree, encode(inventory, example))],
    )
    assert trained.log_prob == pytest.approx(math.log(probability), abs=1e-4)


def test_lexical_dropout_is_for_training_only(model, examples):
    trees = [example.tree for example in examples[:5]]
    slots = [encode(model.inventory, example) for example in examples[:5]]
    prepared = [model.scorer.prepare(t, s) for t, s in zip(trees, slots, strict=True)]

    def training() -> float:
        return model.likelihood(trees, slots, prepared).log_prob

    still = training()
    assert training() == still
    before = list(model.log_probs(examples[:5]))
    assert sum(before) == pytest.approx(still, rel=1e-5)
    model.scorer.set_dropout(0.0, 0.5)
    assert len({training() for _ in range(4)}) == 4
    assert list(model.log_probs(examples[:5])) == before
    model.scorer.set_dropout(0.5, 0.0, seed=1)
    assert len({training() for _ in range(4)}) == 4
    assert list(model.log_probs(examples[:5])) == before
    model.scorer.set_dropout(0.0)
    assert training() == still


@pytest.mark.parametrize(
    ("vectors", "found"),
    [
        (None, "none"),
        (np.zeros((3, WIDTH)), r"\(3, 5\)"),
        (np.zeros((2, WIDTH + 1)), r"\(2, 6\)"),
        (np.zeros(2 * WIDTH), r"\(10,\)"),
    ],
)
def test_lexical_vectors_must_fit(model, vectors, found):
    tree = Tree(["a", "b"], ["X", "X"], [1, ROOT], ["x", "root"])
    tree = tree if vectors is None else encoded(tree, vectors)
    with pytest.raises(PunctError, match=rf"\[P065\].*5 numbers.*2 words.*{found}"):
        model.distribution(tree)


def test_lexical_vectors_are_no_part_of_what_a_tree_is(examples):
    tree = examples[0].tree
    other = encoded(tree, np.zeros((len(tree), WIDTH)))
    assert tree == other and hash(tree) == hash(other)
    assert "vectors" not in repr(tree)
    crossing = Tree(["a", "b", "c"], ["X"] * 3, [2, ROOT, 1], ["x"] * 3)
    vectors = np.eye(3)
    assert encoded(crossing, vectors).projective().vectors is vectors


def test_lexical_corrector_must_know_what_is_written(examples):
    model = PunctuationModel.from_examples(examples, lexical=CORRECTING)
    with pytest.raises(PunctError, match=r"\[P130\]"):
        model.distribution(replace(examples[0].tree, observed=None))


def test_lexical_guess_learns_from_the_true_slots(examples):
    model = PunctuationModel.from_examples(examples, lexical=GUESSING)
    batch = examples[:5]
    slots = [encode(model.inventory, example) for example in batch]
    trees = [example.tree for example in batch]
    prepared = [model.scorer.prepare(t, s) for t, s in zip(trees, slots, strict=True)]
    optimizer = torch.optim.Adam(model.scorer.guess.parameters(), lr=0.05)
    before = model.likelihood(trees, slots, prepared)
    first = model.scorer.guess_log_prob.item()
    for _ in range(30):
        optimizer.zero_grad()
        (-model.likelihood(trees, slots, prepared).surrogate).backward()
        optimizer.step()
    after = model.likelihood(trees, slots, prepared)
    assert model.scorer.guess_log_prob.item() > 0.5 * first
    # What is guessed does not matter before its weights have been learned.
    assert after.log_prob == pytest.approx(before.log_prob)


def test_lexical_guesses_are_told_apart_by_tree(examples):
    model = PunctuationModel.from_examples(examples, lexical=GUESSING)
    with torch.no_grad():
        model.scorer.guess.output.bias.copy_(
            torch.arange(len(model.inventory.punctemes)) / 9
        )
    trees = [example.tree for example in examples[:5]]
    for tree, together in zip(trees, model.distributions(trees), strict=True):
        guesses = together.guesses()
        assert len(guesses) == len(tree) + 1
        for here, alone in zip(
            guesses, model.distribution(tree).guesses(), strict=True
        ):
            assert sum(here.values()) == pytest.approx(1, abs=0.01)
            assert here == pytest.approx(alone, abs=1e-5)
    restoring = PunctuationModel.from_examples(examples, lexical=CORRECTING)
    assert restoring.distribution(trees[0]).guesses() is None


def test_lexical_guess_needs_what_is_written():
    with pytest.raises(PunctError, match=r"\[P024\] guess_width"):
        replace(GUESSING, observed_width=0)


@pytest.mark.parametrize("name", list(vars(SETTINGS)))
def test_lexical_settings_are_checked(name):
    with pytest.raises(PunctError, match=rf"\[P024\] {name}"):
        replace(
            SETTINGS, **{name: -1 if name in ("observed_width", "guess_width") else 0}
        )


def test_lexical_storage_round_trips(model, examples):
    others = {
        "bytes": from_bytes(to_bytes(model)),
        "pickle": pickle.loads(pickle.dumps(model)),
    }
    for how, other in others.items():
        assert other.scorer.settings == model.scorer.settings
        expected = model.scorer.state_dict()
        for name, weights in other.scorer.state_dict().items():
            assert torch.equal(weights, expected[name]), (how, name)
        assert list(other.log_probs(examples)) == list(model.log_probs(examples))


def test_lexical_storage_names_damage(model):
    data = to_bytes(model).replace(b"hidden_width\x06", b"hidden_width\x07")
    with pytest.raises(PunctError, match=r"\[P031\]"):
        from_bytes(data)


def test_lexical_compact_is_half_as_large(examples):
    settings = replace(SETTINGS, vector_width=WIDTH, encoder_width=32, hidden_width=128)
    model = PunctuationModel.from_examples(examples, lexical=settings)
    random_weights(model.scorer, 0.1)
    model.refresh()
    before, size = list(model.log_probs(examples)), len(to_bytes(model))
    model.scorer.compact(0.01)
    model.refresh()
    for name, weights in model.scorer.named_parameters():
        assert torch.equal(weights, weights.half().float()), name
    for weights in model.scorer.log_linear.parameters():
        assert not ((weights != 0) & (weights.abs() < 0.0099)).any()
    assert (model.scorer.roles.weight.abs() < 0.001).any(), "the network keeps all"
    assert list(model.log_probs(examples)) == pytest.approx(before, rel=0.05)
    assert len(to_bytes(model)) < 0.6 * size
    stored = from_bytes(to_bytes(model))
    assert list(stored.log_probs(examples)) == list(model.log_probs(examples))
