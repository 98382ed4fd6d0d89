"""Train parsers of words without punctuation, and parse treebanks with them.

    python -m scripts.parsers assets/ud/en-2.16 --output training/all

Of each treebank, FOLDER/TREEBANK gets:

- corpus: its splits as Docs without punctuation, and data.json, what they are like;
- parser: a tagger and parser, trained on the training data, and dev and test as it
  parses them;
- jackknife: the training data, each half parsed by a parser of the other;
- udpipe, if wanted: the same as parser, with UDPipe.
"""

import math
from pathlib import Path
from typing import Annotated, Any

import spacy
import srsly
import typer
from spacy.tokens import DocBin
from spacy.vocab import Vocab

from scripts import steps
from scripts.fetch import caveat
from scripts.steps import MODEL, Language, Output, Seed, Task, Treebanks, Workers
from scripts.udpipe import parse, train_udpipe
from spacy_punct.data.treebank import (
    SPLITS,
    Splits,
    count_marks,
    read_splits,
    read_treebank,
    split_file,
)
from spacy_punct.model.inventory import MIN_MARK_COUNT, known_marks
from spacy_punct.reading.corpus import make_doc, read_docs, unpunctuated, write_trees
from spacy_punct.reading.jackknife import jackknife, parse_docs

CONFIG = "configs/parser.cfg"
HELD_OUT = ("dev", "test")
_BATCH = 800
"""Words per step."""
_EVALUATIONS = 3


def make_corpus(folder: Path, treebank: Path, lang: str) -> None:
    """The splits of a treebank without their punctuation, and what they are like."""
    splits = read_splits(treebank)
    vocab = spacy.blank(lang).vocab
    for name in SPLITS:
        docs = (make_doc(example, vocab) for example in getattr(splits, name))
        DocBin(docs=docs, store_user_data=True).to_disk(folder / f"{name}.spacy")
    srsly.write_json(folder / "data.json", describe(treebank, splits))


def describe(treebank: Path, splits: Splits) -> dict[str, Any]:
    """The figures of the paper's Table 2 for a treebank, and the sizes of its splits.

    treebank (Path): Its folder.
    splits (Splits): What was read there.
    RETURNS (dict[str, Any]): Plain data; "caveat" says what is wrong with it.
    """
    paths = [split_file(treebank, name) for name in SPLITS]
    files = [read_treebank(path) for path in paths if path.is_file()]
    n_tokens = sum(file.n_tokens for file in files)
    examples = {name: getattr(splits, name) for name in SPLITS}
    return {
        "caveat": caveat(treebank),
        "tokens": n_tokens,
        "punctuation": sum(file.n_punctuation for file in files) / n_tokens,
        "omitted": sum(file.n_omitted for file in files),
        "types": len(known_marks(count_marks(splits.train), MIN_MARK_COUNT)),
        "sentences": {name: len(part) for name, part in examples.items()},
        "words": {
            name: sum(len(example.tree) for example in part)
            for name, part in examples.items()
        },
    }


def settings_of(
    corpus: Path, lang: str, passes: float, seed: int, share: float = 1.0
) -> dict[str, Any]:
    """The settings of a parser's config for a corpus.

    share (float): How much of the training data it gets.
    """
    n_words = srsly.read_json(corpus / "data.json")["words"]["train"] * share
    every = max(math.ceil(passes * n_words / _BATCH / _EVALUATIONS), 1)
    return {
        "paths.dev": str(corpus / "dev.spacy"),
        "nlp.lang": lang,
        "system.seed": seed,
        # Sentences are given and cased.
        "training.batcher.join": 1,
        "training.batcher.lower": 0.0,
        "training.batcher.noise": 0.0,
        "training.max_steps": _EVALUATIONS * every,
        "training.eval_frequency": every,
        "training.patience": 0,
        "training.batcher.batcher.size.start": _BATCH,
        "training.batcher.batcher.size.stop": _BATCH,
        "training.optimizer.learn_rate.warmup_steps": _EVALUATIONS * every // 10,
    }


def train_parser(
    folder: Path, corpus: Path, lang: str, passes: float, seed: int
) -> None:
    """A tagger and parser, and dev and test as it parses them."""
    settings = settings_of(corpus, lang, passes, seed)
    steps.train(folder, CONFIG, settings | {"paths.train": str(corpus / "train.spacy")})
    for split in HELD_OUT:
        docs = list(read_docs(corpus / f"{split}.spacy", Vocab()))
        write_trees(parse_docs(folder / MODEL, docs), folder / f"{split}.spacy")


def parse_training_data(
    folder: Path, corpus: Path, lang: str, passes: float, seed: int
) -> None:
    """The training data as parsers parse what is new to them."""
    jackknife(
        Path(CONFIG),
        corpus / "train.spacy",
        folder / "train.spacy",
        folds=2,
        overrides=settings_of(corpus, lang, passes, seed, share=0.5),
    )


def train_udpipe_parser(folder: Path, treebank: Path, corpus: Path, lang: str) -> None:
    """A UDPipe model, and dev and test as it parses them."""
    splits = read_splits(treebank)
    model = folder / "model.udpipe"
    train_udpipe(splits.train, splits.dev, model)
    vocab = spacy.blank(lang).vocab
    for split in HELD_OUT:
        docs = map(unpunctuated, read_docs(corpus / f"{split}.spacy", vocab))
        write_trees(parse(model, list(docs)), folder / f"{split}.spacy")


def main(
    treebanks: Treebanks,
    output: Output,
    lang: Language = None,
    passes: Annotated[float, typer.Option(help="Over the training data.")] = 8,
    udpipe: Annotated[
        bool, typer.Option("--udpipe", help="Train UDPipe as well.")
    ] = False,
    seed: Seed = 0,
    workers: Workers = 1,
) -> None:
    """Train parsers of words without punctuation, and parse treebanks with them.

    Example: python -m scripts.parsers assets/ud/en-2.16 --output training/all
    """
    corpora, parsers = [], []
    for treebank in treebanks:
        language, home = steps.lang_of(treebank, lang), output / treebank.name
        corpus = home / "corpus"
        settings = {"treebank": treebank, "lang": language}
        files = tuple(treebank.glob("*.conllu"))
        corpora.append(Task(corpus, make_corpus, settings, files))
        if udpipe:
            settings = settings | {"corpus": corpus}
            parsers.append(
                Task(home / "udpipe", train_udpipe_parser, settings, [corpus])
            )
        settings = {
            "corpus": corpus,
            "lang": language,
            "passes": steps.passes_over(treebank, passes),
            "seed": seed,
        }
        needs = [corpus, Path(CONFIG)]
        parsers.append(Task(home / "parser", train_parser, settings, needs))
        parsers.append(Task(home / "jackknife", parse_training_data, settings, needs))
    steps.make(corpora, workers)
    steps.make(parsers, workers)
    steps.record(output, "parsers", [*corpora, *parsers])


if __name__ == "__main__":
    steps.run_step(main)
