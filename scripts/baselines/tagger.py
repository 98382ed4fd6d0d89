"""Taggers: punctuation slot by slot, without trees.

They restore it from the words alone, or correct what a writer put between them. A
tagger is a table of surface strings, a table of words and a network between them.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TypeAlias, TypeVar

import numpy as np
import torch
from torch.nn.utils.rnn import pad_sequence

from scripts.baselines.networks import (
    NETWORKS,
    NetworkConfig,
    NetworkShape,
    default_config,
)
from scripts.baselines.surfaces import Surfaces
from scripts.baselines.words import N_OBSERVED, Batch, WordTable, collate
from scripts.training import Trained, fit
from spacy_punct.data.depunctuation import PunctuatedTree
from spacy_punct.data.tree import Puncteme, Slots
from spacy_punct.errors import Errors, PunctError, check_range
from spacy_punct.model.mbr import best_by_slot
from spacy_punct.model.punctuation import batched

T = TypeVar("T")
U = TypeVar("U")

Encoded: TypeAlias = tuple[torch.Tensor, torch.Tensor]
"""A sentence's rows of columns (see `Batch`) and its slots' classes."""
_Sentence: TypeAlias = tuple[Sequence[str], Slots | None]
"""Words, and the marks that were observed if they are read."""

_BATCH, _POOL = 64, 16
"""Sentences that are computed together, and batches out of which sentences of like
lengths are put together; they do not change the result."""
_TRAINING_POOL = 100
_TABLES, _WEIGHTS = "tagger.json", "weights.npz"


class Tagger:
    """A distribution of a sentence's slots, given its words, and given what a writer
    put into the slots if the tagger is to correct that.

    surfaces (Surfaces): The classes of strings.
    words (WordTable): What is read of words.
    kind (str): The network, one of NETWORKS.
    config (NetworkConfig): Its size.
    reads_observed (bool): Whether it corrects: it then reads `observed` of examples'
        trees, and has one more class, see `Surfaces.classes`.
    """

    def __init__(
        self,
        surfaces: Surfaces,
        words: WordTable,
        kind: str,
        config: NetworkConfig,
        *,
        reads_observed: bool = False,
    ) -> None:
        if kind not in NETWORKS:
            choices = ", ".join(NETWORKS)
            raise PunctError(f"There is no tagger '{kind}', but: {choices}.")
        self.surfaces = surfaces
        self.words = words
        self.kind = kind
        self.config = config
        self.reads_observed = reads_observed
        shape = NetworkShape(
            words.sizes,
            len(surfaces) + reads_observed,
            config,
            surfaces.observed_sizes if reads_observed else (),
        )
        self.network = NETWORKS[kind](shape).eval()

    @classmethod
    def from_examples(
        cls,
        examples: Sequence[PunctuatedTree],
        kind: str = "bilstm-softmax",
        config: NetworkConfig | None = None,
        *,
        reads_observed: bool = False,
    ) -> "Tagger":
        """An untrained tagger for the words and strings of training data."""
        surfaces = Surfaces.estimate(examples)
        words = WordTable.estimate(example.tree.words for example in examples)
        config = config or default_config(kind, reads_observed=reads_observed)
        return cls(surfaces, words, kind, config, reads_observed=reads_observed)

    def marginals(
        self,
        sentences: Iterable[Sequence[str]],
        observed: Iterable[Slots] | None = None,
    ) -> Iterator[list[dict[Puncteme, float]]]:
        """The distribution of the string in each slot.

        sentences (Iterable[Sequence[str]]): The words of each.
        observed (Iterable[Slots] | None): What a writer put into the slots of each,
            if the tagger reads it.
        YIELDS (list[dict[Puncteme, float]]): See `Surfaces.marginal`.
        """
        items: Iterable[_Sentence]
        if self.reads_observed and observed is not None:
            items = zip(sentences, observed, strict=True)
        else:
            items = ((words, None) for words in sentences)
        found = _by_length(items, _n_words, self._class_probs)
        for probs, seen in found:
            if seen is None:
                yield [self.surfaces.marginal(row) for row in probs]
            else:
                yield list(map(self.surfaces.marginal_given, probs, seen))

    def _class_probs(
        self, sentences: Sequence[_Sentence]
    ) -> list[tuple[np.ndarray, Slots | None]]:
        batch = collate([self._encode_input(*sentence) for sentence in sentences])
        with torch.no_grad():
            probs = self.network.log_marginals(batch).double().exp().numpy()
        return [
            (rows[: len(words) + 1], seen)
            for rows, (words, seen) in zip(probs, sentences, strict=True)
        ]

    def restore(self, sentences: Iterable[Sequence[str]]) -> Iterator[Slots]:
        """The slots of minimum Bayes risk for the words of each sentence."""
        return map(best_by_slot, self.marginals(sentences))

    def correct(
        self, sentences: Iterable[Sequence[str]], observed: Iterable[Slots]
    ) -> Iterator[Slots]:
        """The slots of minimum Bayes risk, given what a writer put there.

        sentences (Iterable[Sequence[str]]): The words of each.
        observed (Iterable[Slots]): Their slots, right or wrong.
        YIELDS (Slots): What should be in them. Unknown marks are kept or left out.
        """
        if not self.reads_observed:
            raise PunctError("This tagger restores; train one that corrects.")
        return map(best_by_slot, self.marginals(sentences, observed))

    def log_probs(self, examples: Iterable[PunctuatedTree]) -> Iterator[float]:
        """log p(slots | words) of each example, unknown marks read as UNK.

        Given observed marks too, if the tagger reads them.
        """
        return _by_length(examples, _n_slots, self._log_probs)

    def _log_probs(self, examples: Sequence[PunctuatedTree]) -> list[float]:
        batch, classes = collate_pairs([self.encode(example) for example in examples])
        with torch.no_grad():
            found = self.network.log_likelihood(batch, classes).tolist()
        return [
            log_prob
            + self.surfaces.log_prob_of_others(example.slots, self._seen(example))
            for example, log_prob in zip(examples, found, strict=True)
        ]

    def perplexity(self, examples: Sequence[PunctuatedTree]) -> float:
        """Perplexity per slot: n + 1 slots for n words."""
        if not examples:
            raise PunctError(Errors.P020)
        n_slots = sum(len(example.slots) for example in examples)
        return float(np.exp(-sum(self.log_probs(examples)) / n_slots))

    def encode(self, example: PunctuatedTree) -> Encoded:
        """The words of an example and the classes of its slots, as numbers."""
        seen = self._seen(example)
        classes = torch.tensor(self.surfaces.classes(example.slots, seen))
        return self._encode_input(example.tree.words, seen), classes

    def _seen(self, example: PunctuatedTree) -> Slots | None:
        """The observed marks of an example, if they are to be read."""
        return example.tree.observed if self.reads_observed else None

    def _encode_input(
        self, words: Sequence[str], observed: Slots | None
    ) -> torch.Tensor:
        """What is read of a sentence: (words + 2, columns)."""
        rows = self.words.encode(words)
        if not self.reads_observed:
            return rows
        if observed is None:
            raise PunctError("This tagger corrects: give it the observed marks.")
        if len(observed) != len(words) + 1:
            n = len(words)
            raise PunctError(
                Errors.P014.format(words=n, expected=n + 1, n=len(observed))
            )
        strings = self.surfaces.describe(observed)
        nothing = (0,) * N_OBSERVED
        return torch.cat([rows, torch.tensor([*strings, nothing])], dim=-1)

    def to_disk(self, path: str | Path) -> None:
        """Write the tagger to a folder: JSON tables and NumPy arrays, no pickle."""
        path = Path(path)
        path.mkdir(parents=True, exist_ok=True)
        arrays = {k: w.numpy() for k, w in self.network.state_dict().items()}
        np.savez_compressed(path / _WEIGHTS, **arrays)
        surfaces = self.surfaces
        tables = {
            "kind": self.kind,
            "reads_observed": self.reads_observed,
            "config": asdict(self.config),
            "words": self.words.values,
            "marks": surfaces.marks,
            "frequent": list(surfaces.frequent.items()),
            "rare": list(surfaces.rare.items()),
            "final": surfaces.final,
        }
        (path / _TABLES).write_text(json.dumps(tables, ensure_ascii=False), "utf-8")

    @classmethod
    def from_disk(cls, path: str | Path) -> "Tagger":
        """Read a tagger from a folder that `to_disk` wrote."""
        path = Path(path)
        if not (path / _TABLES).is_file():
            raise PunctError(f"There is no tagger in {path}.")
        tables = json.loads((path / _TABLES).read_text("utf-8"))
        surfaces = Surfaces(
            tables["marks"],
            {tuple(string): n for string, n in tables["frequent"]},
            {tuple(string): n for string, n in tables["rare"]},
            tuple(tables["final"]),
        )
        tagger = cls(
            surfaces,
            WordTable(tuple(map(tuple, tables["words"]))),
            tables["kind"],
            NetworkConfig(**tables["config"]),
            reads_observed=tables["reads_observed"],
        )
        with np.load(path / _WEIGHTS, allow_pickle=False) as arrays:
            tagger.network.load_state_dict(
                {name: torch.from_numpy(arrays[name]) for name in arrays.files}
            )
        return tagger


def collate_pairs(encoded: Sequence[Encoded]) -> tuple[Batch, torch.Tensor]:
    """Encoded examples as one batch and its classes, in their order."""
    rows, classes = zip(*encoded, strict=True)
    return collate(rows), pad_sequence(list(classes), batch_first=True)


def _n_words(sentence: _Sentence) -> int:
    return len(sentence[0])


def _n_slots(example: PunctuatedTree) -> int:
    return len(example.slots)


def _by_length(
    items: Iterable[T],
    length: Callable[[T], int],
    compute: Callable[[Sequence[T]], Sequence[U]],
) -> Iterator[U]:
    """Compute batches of items of like lengths, and yield the results in order."""
    for pool in batched(items, _POOL * _BATCH):
        order = sorted(range(len(pool)), key=lambda k: length(pool[k]))
        found: dict[int, U] = {}
        for chosen in batched(order, _BATCH):
            results = compute([pool[k] for k in chosen])
            found.update(zip(chosen, results, strict=True))
        for k in range(len(pool)):
            yield found.pop(k)


Draw: TypeAlias = Callable[[int], Sequence[PunctuatedTree]]
"""The training data of an epoch, counted from 0; the same whenever it is called."""


@dataclass(frozen=True)
class TaggerTraining:
    """How to train a tagger.

    learning_rate (float): Of Adam.
    batch_size (int): Sentences per step.
    max_epochs, patience, max_gradient, averaging: See `fit`.
    seed (int): Seed of all that is random.
    """

    learning_rate: float = 0.003
    batch_size: int = 32
    max_epochs: int = 20
    patience: int = 2
    max_gradient: float = 5.0
    averaging: float = 0.998
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("batch_size", "patience"):
            check_range(name, getattr(self, name), 1)
        for name in ("learning_rate", "max_epochs", "max_gradient", "seed"):
            check_range(name, getattr(self, name), 0)
        check_range("averaging", self.averaging, 0, 1)


def train_tagger(
    examples: Sequence[PunctuatedTree] | Draw,
    dev: Sequence[PunctuatedTree],
    training: TaggerTraining | None = None,
    *,
    kind: str = "bilstm-softmax",
    network: NetworkConfig | None = None,
    reads_observed: bool = False,
    show_progress: bool = True,
) -> Trained[Tagger]:
    """Train a tagger; the same seed gives the same tagger.

    examples (Sequence[PunctuatedTree] | Draw): Training data, or what draws that of
        each epoch, such as sentences with fresh errors; words and strings are learnt
        from the first epoch's. Of the trees only words and observed marks are read.
    dev (Sequence[PunctuatedTree]): Held-out data that decides when to stop.
    training (TaggerTraining | None): How to train.
    kind (str): See `Tagger`.
    network (NetworkConfig | None): The network's size; None for that of its kind.
    reads_observed (bool): Whether the tagger is to correct, see `Tagger`.
    show_progress (bool): Whether to show a progress bar.
    RETURNS (Trained[Tagger]): The tagger of best dev perplexity.
    """
    first = examples(0) if callable(examples) else examples
    if not first or not dev:
        raise PunctError(Errors.P020)
    training = training or TaggerTraining()
    rng = np.random.default_rng(training.seed)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(training.seed)
        tagger = Tagger.from_examples(
            first, kind, network, reads_observed=reads_observed
        )
        constant = None if callable(examples) else list(map(tagger.encode, first))

        def batches(epoch: int) -> Iterator[list[Encoded]]:
            encoded = constant
            if encoded is None:
                drawn = examples(epoch) if epoch and callable(examples) else first
                encoded = list(map(tagger.encode, drawn))
            lengths = np.array([len(classes) for _, classes in encoded])
            tagger.network.train()
            for chosen in like_lengths(lengths, training.batch_size, rng):
                yield [encoded[i] for i in chosen]
            tagger.network.eval()

        def loss(chosen: list[Encoded]) -> torch.Tensor:
            batch, classes = collate_pairs(chosen)
            found = tagger.network.log_likelihood(batch, classes)
            return -found.sum() / batch.is_slot.sum()

        optimizer = torch.optim.Adam(
            tagger.network.parameters(), lr=training.learning_rate, fused=True
        )
        history = fit(
            optimizer,
            batches,
            loss,
            lambda: tagger.perplexity(dev),
            max_epochs=training.max_epochs,
            patience=training.patience,
            averaging=training.averaging,
            max_gradient=training.max_gradient,
            label=kind,
            show_progress=show_progress,
        )
    return Trained(tagger, min(history, default=float("inf")), tuple(history))


def like_lengths(
    lengths: np.ndarray, batch_size: int, rng: np.random.Generator
) -> Iterator[np.ndarray]:
    """All sentences once, in random batches of sentences about equally long."""
    order = rng.permutation(len(lengths))
    size = _TRAINING_POOL * batch_size
    batches: list[np.ndarray] = []
    for at in range(0, len(order), size):
        pool = order[at : at + size]
        pool = pool[np.argsort(lengths[pool], kind="stable")]
        batches += [pool[k : k + batch_size] for k in range(0, len(pool), batch_size)]
    for k in rng.permutation(len(batches)):
        yield batches[k]
