"""Rephrase a treebank and see how natural it still is (section 5.3).

    python -m scripts.rephrasing assets/ud/en-1.4 --output training/paper --metrics
    metrics/rephrasing

The dependents of nouns and verbs are put into an order that a model of the same
language draws, in three ways:

- base: marks are words like others, and a model of such trees orders them too;
- half: words are ordered as in base, and marks are made anew from the underlying tree;
- full: words are ordered by a model of trees without marks, and marks are made anew.

Words with too many dependents are left as they are. With marks there are more of them,
so that base and half change less; "full-same" is full, but only for words that base has
an order of.

A trigram model of the rephrased training sentences then predicts the original ones:
each token, and the end of each sentence, from the two tokens before. What the paper
does not tell was chosen so:

- a trigram has punctuation if any of its three tokens is a mark;
- smoothing adds 0.001 to the count of every token of the original sentences and of the
  end, so that its perplexities depend on the size of the treebank;
- words are as the treebank has them: none gets or loses a capital;
- trees are made projective, and so are the arcs of marks, before anything moves.
"""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, combinations
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import spacy
import srsly
import typer
from spacy.language import Language
from tqdm import tqdm

from scripts.fetch import caveat
from scripts.ordering import Order, OrderingModel, reordered
from scripts.restorers import best_direction
from scripts.steps import MODEL, Output, Seed, Task, Treebanks, Workers, make, run_step
from scripts.tables.rephrasing import MEASURES, SYSTEMS, rephrasing_report
from spacy_punct.data.conllu import Sentence, read_conllu
from spacy_punct.data.depunctuation import (
    PunctuatedTree,
    has_inner_punctuation,
    has_words,
    is_punctuation,
)
from spacy_punct.data.marks import ABBREVIATION_DOT
from spacy_punct.data.tree import Slots, Tree
from spacy_punct.data.treebank import read_splits, split_file
from spacy_punct.model.channel import DIRECTIONS
from spacy_punct.model.evaluation import permutation_test
from spacy_punct.model.punctuation import batched
from spacy_punct.reading.corpus import make_doc
from spacy_punct.rephrasing.rephrase import restorer_of
from spacy_punct.rephrasing.underlying import (
    UnderlyingTree,
    linear,
    recover,
    regenerate,
)
from spacy_punct.restorer.evaluation import gold_trees

_BATCH = 64


@dataclass(frozen=True)
class SurfaceTree:
    """A sentence whose marks are words of its tree.

    tree (Tree): Words and marks.
    words (dict[int, int]): Its words -> their place in the tree without marks.
    """

    tree: Tree
    words: dict[int, int]


def training_sentences(folder: Path) -> tuple[list[Sentence], list[PunctuatedTree]]:
    """The usable training sentences of a treebank, as they are and depunctuated.

    folder (Path): See `spacy_punct.data.treebank.read_splits`.
    RETURNS (tuple): Both in the same order.
    """
    splits = read_splits(folder)
    path = split_file(folder, "dev" if splits.partial else "train")
    usable = [s for s in read_conllu(path) if has_words(s)]
    usable = [s for s in usable if not has_inner_punctuation(s)]
    return usable[: len(splits.train)], list(splits.train)


def written_words(example: PunctuatedTree) -> tuple[str, ...]:
    """The words of a sentence, abbreviations with their dots."""
    return tuple(
        word + "." * (slot[:1] == (ABBREVIATION_DOT,))
        for word, slot in zip(example.tree.words, example.slots[1:], strict=True)
    )


def tokens(words: Sequence[str], slots: Slots) -> tuple[list[str], list[bool]]:
    """Words and marks in order, and which are marks."""
    found: list[tuple[str, bool]] = []
    for word, slot in zip((None, *words), slots, strict=True):
        if word is not None:
            found.append((word, False))
        found += [(mark, True) for mark in slot if mark != ABBREVIATION_DOT]
    return [token for token, _ in found], [is_mark for _, is_mark in found]


def surface_tree(sentence: Sentence, example: PunctuatedTree) -> SurfaceTree:
    """The marks as words where the treebank has them.

    A mark whose arc would cross others hangs on the lowest word above both its
    neighbours instead.

    sentence (Sentence): The sentence, which has the marks' heads.
    example (PunctuatedTree): The same, depunctuated and projective.
    RETURNS (SurfaceTree): The tree.
    """
    tree = example.tree
    forms, marks = tokens(written_words(example), example.slots)
    word_at = [k for k, is_mark in enumerate(marks) if not is_mark]
    number = {k: i for i, k in enumerate(word_at)}
    heads: list[int] = []
    seen = 0
    for k, token in enumerate(sentence.tokens):
        if not is_punctuation(token):
            head = tree.heads[number[k]]
            heads.append(head if head < 0 else word_at[head])
            seen += 1
            continue
        head = number.get(token.head - 1, tree.root)
        if seen not in tree.spans[head] and head != _above(tree, seen):
            head = _above(tree, seen)
        heads.append(word_at[head])
    tags = [
        "PUNCT" if is_mark else tree.tags[number[k]] for k, is_mark in enumerate(marks)
    ]
    relations = [
        "punct" if is_mark else tree.relations[number[k]]
        for k, is_mark in enumerate(marks)
    ]
    return SurfaceTree(
        Tree(tuple(forms), tuple(tags), tuple(heads), tuple(relations)), number
    )


def _above(tree: Tree, slot: int) -> int:
    """The head of the smallest constituent with words on both sides of a slot."""
    around = [
        (right - left, i)
        for i, (left, right) in enumerate(tree.spans)
        if left < slot < right
    ]
    return min(around)[1] if around else tree.root


def words_only(orders: Mapping[int, Order], surface: SurfaceTree) -> dict[int, Order]:
    """The orders of a tree with marks, as orders of its words."""
    place = surface.words
    return {
        place[head]: tuple(place[item] for item in order if item in place)
        for head, order in orders.items()
    }


def permuted_words(surface: SurfaceTree, orders: Mapping[int, Order]) -> list[str]:
    """The words and marks of a tree in another order."""
    tree = surface.tree

    def items(i: int) -> Sequence[int]:
        return orders.get(i) or sorted((i, *tree.children[i]))

    return [tree.words[k] for k in linear(tree.root, items)]


def underlying_trees(
    nlp: Language, examples: Sequence[PunctuatedTree]
) -> list[UnderlyingTree]:
    """The most probable underlying trees of a treebank's sentences.

    nlp (Language): A pipeline with a restorer.
    examples (Sequence[PunctuatedTree]): The sentences.
    RETURNS (list[UnderlyingTree]): One for each.
    """
    restorer = restorer_of(nlp)
    model = restorer.punctuation
    references = (make_doc(example, nlp.vocab) for example in examples)
    trees = (example.tree for example in gold_trees(nlp, restorer, references))
    found = chain.from_iterable(map(model.distributions, batched(trees, _BATCH)))
    shown = tqdm(
        zip(found, examples, strict=True),
        total=len(examples),
        unit="sent",
        desc="trees",
    )
    return [
        recover(
            d.tree,
            d.underlying(example.slots),
            example.slots,
            model.inventory,
            written_words(example),
        )
        for d, example in shown
    ]


def rephrase_treebank(
    nlp: Language,
    sentences: Sequence[Sentence],
    examples: Sequence[PunctuatedTree],
    *,
    seed: int = 0,
) -> dict[str, list[list[str]]]:
    """The sentences of a treebank, permuted in each of the ways.

    nlp (Language): A pipeline with a restorer.
    sentences, examples: See `training_sentences`.
    seed (int): Of orders and marks.
    RETURNS (dict[str, list[list[str]]]): System -> the tokens of each sentence.
    """
    channel = restorer_of(nlp).channel
    surfaces = [surface_tree(*pair) for pair in zip(sentences, examples, strict=True)]
    trees = underlying_trees(nlp, examples)
    rngs = [np.random.default_rng([seed, k]) for k in range(len(SYSTEMS) + 1)]
    bare = [tree.tree for tree in trees]
    full = [surface.tree for surface in surfaces]
    by_surface = OrderingModel.train(full).sample(full, rngs[0])
    half = list(map(words_only, by_surface, surfaces))
    free = OrderingModel.train(bare).sample(bare, rngs[1])
    same = [
        {head: order for head, order in found.items() if head in others}
        for found, others in zip(free, half, strict=True)
    ]
    orders = {"half": half, "full": free, "full-same": same}
    result = {"base": list(map(permuted_words, surfaces, by_surface))}
    for (system, chosen), rng in zip(orders.items(), rngs[2:], strict=True):
        moved = map(reordered, trees, chosen)
        result[system] = [
            tokens(tree.words, regenerate(tree.strings, channel, rng))[0]
            for tree in moved
        ]
    return result


def measure(
    rephrased: Mapping[str, Sequence[Sequence[str]]],
    originals: Sequence[Sequence[str]],
    marks: Sequence[Sequence[bool]],
) -> dict[str, Any]:
    """How well trigram models of rephrased sentences predict the original ones.

    rephrased (Mapping): System -> its sentences.
    originals (Sequence[Sequence[str]]): The sentences as they were.
    marks (Sequence[Sequence[bool]]): Which of their tokens are marks.
    RETURNS (dict[str, Any]): "systems": the perplexities of each; "n_trigrams": how
        many they are of; "tests": the p-values of each two systems, of a paired
        permutation test over the log-probabilities of sentences.
    """
    vocabulary = len(set(chain.from_iterable(originals)))
    has_mark = [_has_mark(row) for row in marks]
    sizes = {
        "punctuation": sum(map(sum, has_mark)),
        "all": sum(map(len, has_mark)),
    }
    losses: dict[str, dict[str, list[float]]] = {m: {} for m in MEASURES}
    for system, sentences in rephrased.items():
        model = TrigramModel(sentences, vocabulary)
        found = [model.log_probs(sentence) for sentence in originals]
        losses["all"][system] = [-sum(row) for row in found]
        losses["punctuation"][system] = [
            -sum(p for p, counts in zip(*rows, strict=True) if counts)
            for rows in zip(found, has_mark, strict=True)
        ]
    return {
        "n_trigrams": sizes,
        "systems": {
            system: {
                name: math.exp(sum(losses[name][system]) / max(sizes[name], 1))
                for name in MEASURES
            }
            for system in rephrased
        },
        "tests": {
            name: {
                f"{a} / {b}": permutation_test(losses[name][a], losses[name][b])
                for a, b in combinations(rephrased, 2)
            }
            for name in MEASURES
        },
    }


def _has_mark(marks: Sequence[bool]) -> list[bool]:
    """Whether the trigram of each token, and of the end, has a mark."""
    padded = [False, False, *marks, False]
    return [any(padded[k : k + 3]) for k in range(len(marks) + 1)]


Trigram = tuple[str, str, str]

_START, _END = "<s>", "</s>"


def trigrams(sentence: Sequence[str]) -> Iterator[Trigram]:
    """The trigrams of a sentence, one for each token and one for its end."""
    padded = [_START, _START, *sentence, _END]
    return zip(padded, padded[1:], padded[2:], strict=False)


class TrigramModel:
    """p(w | u v) = (c(u v w) + λ) / (c(u v) + λ V).

    sentences (Iterable[Sequence[str]]): The tokens to count.
    vocabulary (int): V, how many tokens there are to choose from, without the end.
    smoothing (float): λ.
    """

    def __init__(
        self,
        sentences: Iterable[Sequence[str]],
        vocabulary: int,
        smoothing: float = 0.001,
    ) -> None:
        self._smoothing = smoothing
        self._rest = smoothing * (vocabulary + 1)
        self._trigrams: Counter[Trigram] = Counter()
        for sentence in sentences:
            self._trigrams.update(trigrams(sentence))
        self._bigrams: Counter[tuple[str, str]] = Counter()
        for (u, v, _), n in self._trigrams.items():
            self._bigrams[u, v] += n

    def log_prob(self, trigram: Trigram) -> float:
        """log p(w | u v)."""
        u, v, _ = trigram
        count = self._trigrams.get(trigram, 0) + self._smoothing
        return math.log(count / (self._bigrams.get((u, v), 0) + self._rest))

    def log_probs(self, sentence: Sequence[str]) -> list[float]:
        """Of each token of a sentence, and of its end."""
        return [self.log_prob(trigram) for trigram in trigrams(sentence)]


def rephrase_and_measure(folder: Path, treebank: Path, home: Path, seed: int) -> None:
    """The experiment on one treebank, with the paper's model of it.

    folder (Path): Gets rephrasing.json.
    treebank (Path): Its CoNLL-U files.
    home (Path): What was made of it.
    """
    nlp = spacy.load(home / best_direction(home) / MODEL)
    sentences, examples = training_sentences(treebank)
    rephrased = rephrase_treebank(nlp, sentences, examples, seed=seed)
    pairs = [tokens(written_words(example), example.slots) for example in examples]
    originals, marks = map(list, zip(*pairs, strict=True))
    result = {
        "treebank": treebank.name,
        "caveat": caveat(treebank),
        "direction": restorer_of(nlp).channel.direction,
        "seed": seed,
        "n_sents": len(examples),
        "n_tokens": sum(map(len, originals)),
        "n_changed": {
            system: sum(a != b for a, b in zip(found, originals, strict=True))
            for system, found in rephrased.items()
        },
        **measure(rephrased, originals, marks),
    }
    srsly.write_json(folder / "rephrasing.json", result)


def main(
    treebanks: Treebanks,
    output: Output,
    metrics: Annotated[Path, typer.Option(help="Where to write the table.")],
    seed: Seed = 0,
    workers: Workers = 1,
) -> None:
    """Rephrase treebanks that there are restorers of, and see how natural they still
    are.

    Example: python -m scripts.rephrasing assets/ud/en-1.4 --output training/paper
    --metrics metrics/rephrasing
    """
    tasks = []
    for treebank in treebanks:
        home = output / treebank.name
        settings = {"treebank": treebank, "home": home, "seed": seed}
        needs = [home / direction for direction in DIRECTIONS]
        tasks.append(Task(home / "rephrasing", rephrase_and_measure, settings, needs))
    make(tasks, workers)
    metrics.mkdir(parents=True, exist_ok=True)
    results = [srsly.read_json(task.folder / "rephrasing.json") for task in tasks]
    for result in results:
        srsly.write_json(metrics / f"{result['treebank']}.json", result)
    (metrics / "README.md").write_text(rephrasing_report(results), "utf-8")


if __name__ == "__main__":
    run_step(main)
