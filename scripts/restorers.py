"""Train restorers of punctuation on treebanks that scripts.parsers has parsed.

    python -m scripts.restorers assets/ud/en-2.16 --output training/all

Of each treebank, FOLDER/TREEBANK gets:

- left-to-right and right-to-left: the paper's model with a channel that slides either
  way, trained on the treebank's own trees;
- attach, if wanted: the same without a channel;
- lexical: the restorer that reads words, trained on trees of parsers, its channel in
  the direction that dev prefers.
"""

import math
from pathlib import Path
from typing import Annotated, Any

import srsly
import typer
from spacy.util import load_config

from scripts import steps
from scripts.steps import MODEL, Language, Output, Seed, Task, Treebanks, Workers
from spacy_punct.errors import PunctError
from spacy_punct.model.channel import DIRECTIONS

LOG_LINEAR, LEXICAL = "configs/paper.cfg", "configs/lexical.cfg"
_EVALUATIONS = range(3, 13)
"""How often to evaluate: after each pass, if that is neither too seldom nor too
often."""


def settings_of(
    corpus: Path, config: str, lang: str, passes: float, seed: int
) -> dict[str, Any]:
    """The settings of a restorer's config for a corpus."""
    n_sents = srsly.read_json(corpus / "data.json")["sentences"]["train"]
    batcher = load_config(config)["training"]["batcher"]
    batch = batcher.get("batcher", batcher)["size"]
    n = min(max(math.ceil(passes), _EVALUATIONS[0]), _EVALUATIONS[-1])
    every = max(math.ceil(math.ceil(n_sents / batch) * passes / n), 1)
    return {
        "paths.train": str(corpus / "train.spacy"),
        "paths.dev": str(corpus / "dev.spacy"),
        "nlp.lang": lang,
        "system.seed": seed,
        "training.max_epochs": 0,
        "training.max_steps": n * every,
        "training.eval_frequency": every,
        "training.patience": 0,
    }


def train_log_linear(
    folder: Path, corpus: Path, direction: str, channel: str, **settings: Any
) -> None:
    """The paper's model; the channel "identity" is none at all."""
    overrides = settings_of(corpus, LOG_LINEAR, **settings)
    restorer = "components.punctuation_restorer"
    overrides[f"{restorer}.direction"] = direction
    overrides[f"{restorer}.model.channel"] = channel
    steps.train(folder, LOG_LINEAR, overrides)


def train_lexical(folder: Path, home: Path, **settings: Any) -> None:
    """The restorer that reads words, on trees such as it will meet."""
    overrides = settings_of(home / "corpus", LEXICAL, **settings)
    overrides["paths.parsed"] = str(home / "jackknife" / "train.spacy")
    overrides["paths.parsed_dev"] = str(home / "parser" / "dev.spacy")
    overrides["components.punctuation_restorer.direction"] = best_direction(home)
    steps.train(folder, LEXICAL, overrides)


def best_direction(home: Path) -> str:
    """The direction of the channel that dev prefers, of a treebank's two models."""

    def perplexity(direction: str) -> float:
        path = home / direction / MODEL / "meta.json"
        if not path.is_file():
            raise PunctError(f"{path} is missing: run scripts.restorers first.")
        return srsly.read_json(path)["performance"]["punct_ppl"]

    return min(DIRECTIONS, key=perplexity)


def main(
    treebanks: Treebanks,
    output: Output,
    lang: Language = None,
    passes: Annotated[
        float, typer.Option(help="Of the paper's model over the training data.")
    ] = 5,
    lexical_passes: Annotated[
        float, typer.Option(help="Of the restorer that reads words.")
    ] = 6,
    attach_only: Annotated[
        bool, typer.Option("--attach-only", help="Also train one without a channel.")
    ] = False,
    seed: Seed = 0,
    workers: Workers = 1,
) -> None:
    """Train restorers on treebanks that scripts.parsers has parsed.

    Example: python -m scripts.restorers assets/ud/en-2.16 --output training/all
    """
    log_linear, lexical = [], []
    for treebank in treebanks:
        home = output / treebank.name
        common = {"lang": steps.lang_of(treebank, lang), "seed": seed}
        models: list[tuple[str, str, str]] = [(d, d, "table") for d in DIRECTIONS]
        if attach_only:
            models.append(("attach", DIRECTIONS[0], "identity"))
        for name, direction, channel in models:
            settings = common | {
                "corpus": home / "corpus",
                "direction": direction,
                "channel": channel,
                "passes": steps.passes_over(treebank, passes),
            }
            needs = [home / "corpus", Path(LOG_LINEAR)]
            log_linear.append(Task(home / name, train_log_linear, settings, needs))
        settings = common | {"home": home, "passes": lexical_passes}
        parts = ("corpus", "parser", "jackknife", *DIRECTIONS)
        needs = [*(home / name for name in parts), Path(LEXICAL)]
        lexical.append(Task(home / "lexical", train_lexical, settings, needs))
    steps.make(log_linear, workers)
    steps.make(lexical, workers)
    steps.record(output, "restorers", [*log_linear, *lexical])


if __name__ == "__main__":
    steps.run_step(main)
