"""The jobs that make things: corpora, parsers, trees, restorers, taggers, pipelines."""

import math
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import spacy
import srsly
import torch
from spacy.cli.package import package
from spacy.tokens import Doc, DocBin
from spacy.util import load_config
from spacy.vocab import Vocab
from spacy_punct.pipe.training import train

from scripts.baselines.storage import to_disk as tagger_to_disk
from scripts.baselines.training import TaggerTraining, train_tagger
from scripts.experiments.plan import HALF, WHOLE
from scripts.fetch.sources import caveat
from scripts.udpipe import parse, train_udpipe
from spacy_punct.about import __version__
from spacy_punct.data.treebank import (
    SPLITS,
    Splits,
    count_marks,
    read_splits,
    read_treebank,
    split_file,
)
from spacy_punct.model.channel import DIRECTIONS
from spacy_punct.model.inventory import MIN_MARK_COUNT, known_marks
from spacy_punct.reading.corpus import make_doc, unpunctuated, write_trees
from spacy_punct.reading.jackknife import parse_docs

MODEL = "model-best"

_BATCH = 800
"""Words a step, in the training of parsers."""


def make_corpus(
    folder: Path, needs: Mapping[str, Path], *, source: str, lang: str
) -> None:
    """The splits of a treebank without their punctuation, and what they are like."""
    splits = read_splits(Path(source))
    vocab = spacy.blank(lang).vocab
    for name in SPLITS:
        docs = [make_doc(example, vocab) for example in getattr(splits, name)]
        _write(docs, folder / f"{name}.spacy")
        if name == "train":
            half = len(docs) * HALF // WHOLE
            _write(docs[half:], folder / "second.spacy")
    srsly.write_json(folder / "data.json", describe(Path(source), splits))


def describe(source: Path, splits: Splits) -> dict[str, Any]:
    """The figures of the paper's Table 2 for a treebank, and the size of its splits.

    source (Path): Its folder.
    splits (Splits): What was read there.
    RETURNS (dict[str, Any]): Plain data; "caveat" says what is wrong with it.
    """
    paths = [split_file(source, name) for name in SPLITS]
    files = [read_treebank(path) for path in paths if path.is_file()]
    n_tokens = sum(file.n_tokens for file in files)
    n_punctuation = sum(file.n_punctuation for file in files)
    examples = {name: getattr(splits, name) for name in SPLITS}
    return {
        "caveat": caveat(source),
        "tokens": n_tokens,
        "punctuation": n_punctuation / n_tokens,
        "omitted": sum(file.n_omitted for file in files),
        "types": len(known_marks(count_marks(splits.train), MIN_MARK_COUNT)),
        "sentences": {name: len(part) for name, part in examples.items()},
        "words": {
            name: sum(len(example.tree) for example in part)
            for name, part in examples.items()
        },
    }


def train_parser(
    folder: Path,
    needs: Mapping[str, Path],
    *,
    config: str,
    lang: str,
    part: str,
    share: int,
    passes: float,
    min_words: int,
    seed: int,
) -> None:
    """A tagger and parser of words without punctuation.

    needs: "corpus".
    config (str): The training config.
    part (str): A file of the corpus.
    share (int): How much of it, in percent, from its start.
    passes (float), min_words (int): See `Plan`.
    """
    corpus = needs["corpus"]
    docs = read_docs(corpus / f"{part}.spacy", Vocab())
    docs = docs[: max(len(docs) * share // WHOLE, 1)]
    n_words = max(passes * sum(map(len, docs)), min_words)
    every, steps = _evaluations(n_words / _BATCH, 3)
    train(
        Path(config),
        folder,
        overrides={
            **_paths(corpus / f"{part}.spacy", corpus / "dev.spacy", lang, seed),
            "corpora.train.limit": len(docs),
            "corpora.train.join": 1,
            "corpora.train.lower": 0.0,
            "corpora.train.noise": 0.0,
            "training.max_steps": steps,
            "training.eval_frequency": every,
            "training.patience": 0,
            "training.batcher.size.start": _BATCH,
            "training.batcher.size.stop": _BATCH,
            "training.optimizer.learn_rate.warmup_steps": steps // 10,
        },
    )
    write_trees(parse_split(folder, corpus / "dev.spacy"), folder / "dev.spacy")


def parse_corpus(folder: Path, needs: Mapping[str, Path]) -> None:
    """Trees as parsers make them of text that is new to them.

    Each half of the training data is parsed by the parser of the other, all else by
    the parser of the whole.

    needs: "corpus", and parsers "first", "second" and "whole".
    """
    corpus = needs["corpus"]
    second = parse_split(needs["first"], corpus / "second.spacy")
    docs = read_docs(corpus / "train.spacy", Vocab())
    first = parse_docs(needs["second"] / MODEL, docs[: len(docs) - len(second)])
    write_trees([*first, *second], folder / "train.spacy")
    shutil.copy(needs["whole"] / "dev.spacy", folder)
    docs = parse_split(needs["whole"], corpus / "test.spacy")
    write_trees(docs, folder / "test.spacy")


def parse_split(parser: Path, split: Path) -> list[Doc]:
    """The sentences of a split with the trees of the parser that a job trained."""
    return parse_docs(parser / MODEL, read_docs(split, Vocab()))


def train_log_linear(
    folder: Path,
    needs: Mapping[str, Path],
    *,
    config: str,
    lang: str,
    direction: str,
    channel: str,
    passes: float,
    seed: int,
) -> None:
    """The paper's model, on the treebank's own trees.

    needs: "corpus".
    config (str): The training config.
    direction, channel (str): Of the channel; the channel "identity" is none at all.
    """
    corpus = needs["corpus"]
    train(
        Path(config),
        folder,
        overrides={
            **_paths(corpus / "train.spacy", corpus / "dev.spacy", lang, seed),
            "components.punctuation_restorer.direction": direction,
            "components.punctuation_restorer.model.channel": channel,
            **_length(corpus / "train.spacy", config, passes),
        },
    )


def train_lexical(
    folder: Path,
    needs: Mapping[str, Path],
    *,
    config: str,
    lang: str,
    passes: float,
    seed: int,
) -> None:
    """The restorer that reads words, on trees such as it will meet.

    needs: "corpus", "trees", and the log-linear models whose direction to choose from.
    config (str): The training config.
    """
    corpus, trees = needs["corpus"], needs["trees"]
    train(
        Path(config),
        folder,
        overrides={
            **_paths(corpus / "train.spacy", corpus / "dev.spacy", lang, seed),
            "paths.parsed": str(trees / "train.spacy"),
            "paths.parsed_dev": str(trees / "dev.spacy"),
            "components.punctuation_restorer.direction": best_direction(needs),
            **_length(corpus / "train.spacy", config, passes),
        },
    )


def best_direction(needs: Mapping[str, Path]) -> str:
    """The direction of the channel that dev prefers."""
    metas = {
        role: srsly.read_json(path / MODEL / "meta.json")["performance"]
        for role, path in needs.items()
        if role in DIRECTIONS
    }
    return min(metas, key=lambda role: metas[role]["punct_ppl"])


def train_udpipe_parser(
    folder: Path, needs: Mapping[str, Path], *, source: str, lang: str
) -> None:
    """A UDPipe model of words without punctuation, and its trees of dev and test.

    needs: "corpus".
    """
    splits = read_splits(Path(source))
    model = folder / "model.udpipe"
    train_udpipe(splits.train, splits.dev, model)
    vocab = spacy.blank(lang).vocab
    for split in ("dev", "test"):
        docs = read_docs(needs["corpus"] / f"{split}.spacy", vocab)
        trees = parse(model, [unpunctuated(doc) for doc in docs])
        write_trees(trees, folder / f"{split}.spacy")


def train_baseline(
    folder: Path,
    needs: Mapping[str, Path],
    *,
    source: str,
    kind: str,
    epochs: int,
    seed: int,
) -> None:
    """A tagger that reads words alone.

    kind (str): The network.
    """
    torch.set_num_threads(1)
    splits = read_splits(Path(source))
    trained = train_tagger(
        splits.train,
        splits.dev,
        TaggerTraining(max_epochs=epochs, seed=seed),
        kind=kind,
        checkpoint=folder / "checkpoint",
    )
    tagger_to_disk(trained.tagger, folder / "tagger")


def assemble(folder: Path, needs: Mapping[str, Path], *, name: str, title: str) -> None:
    """Parser and restorer as one pipeline, with its sources and scores.

    needs: "corpus", a parser "whole", "lexical" and its "scores".
    """
    nlp = spacy.load(needs["whole"] / MODEL)
    nlp.add_pipe("punctuation_restorer", source=spacy.load(needs["lexical"] / MODEL))
    data = srsly.read_json(needs["corpus"] / "data.json")
    nlp.meta["name"] = name
    nlp.meta["version"] = __version__
    nlp.meta["description"] = f"{title}: tags, trees and punctuation of bare words."
    nlp.meta["notes"] = data["caveat"]
    nlp.meta["performance"] = srsly.read_json(needs["scores"] / "test.parsed.json")
    nlp.to_disk(folder / MODEL)


def make_package(folder: Path, needs: Mapping[str, Path]) -> None:
    """A wheel of a pipeline.

    needs: "pipeline".
    """
    package(needs["pipeline"] / MODEL, folder, create_wheel=True, force=True)


def read_docs(path: Path, vocab: Vocab) -> list[Doc]:
    """The Docs of a file of a corpus."""
    return list(DocBin().from_disk(path).get_docs(vocab))


def _paths(train_path: Path, dev: Path, lang: str, seed: int) -> dict[str, Any]:
    return {
        "paths.train": str(train_path),
        "paths.dev": str(dev),
        "nlp.lang": lang,
        "system.seed": seed,
    }


def _length(data: Path, config: str, passes: float) -> dict[str, Any]:
    """How long to train: evaluate after each pass, or a little more often."""
    batch = load_config(config)["training"]["batcher"]["size"]
    epoch = math.ceil(len(read_docs(data, Vocab())) / batch)
    every, steps = _evaluations(epoch * passes, min(max(math.ceil(passes), 3), 12))
    return {
        "training.max_epochs": 0,
        "training.max_steps": steps,
        "training.eval_frequency": every,
        "training.patience": 0,
    }


def _evaluations(steps: float, n: int) -> tuple[int, int]:
    """After how many steps to evaluate, to do so n times, and how many steps there
    are then: the last one is evaluated too."""
    every = max(math.ceil(steps / n), 1)
    return every, n * every


def _write(docs: Iterable[Doc], path: Path) -> None:
    DocBin(docs=docs, store_user_data=True).to_disk(path)
