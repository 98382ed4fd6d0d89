"""Measure restorers and taggers on treebanks, and write tables.

    python -m scripts.evaluate assets/ud/en-2.16 --output training/all --metrics
    metrics/all

All systems are measured that there are in FOLDER/TREEBANK, with all kinds of trees that
there are. METRICS gets README.md with the tables, TREEBANK.json with all figures, and
analysis/TREEBANK: what the channel learned.
"""

import math
import shutil
from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Annotated, Any

import spacy
import srsly
import typer
from spacy.language import Language
from spacy.tokens import Doc
from spacy.util import get_lang_class
from tqdm import tqdm
from wasabi import msg

from scripts import steps
from scripts.analyze import write_analysis
from scripts.baselines.networks import NETWORKS
from scripts.baselines.tagger import Tagger
from scripts.learned import analyze
from scripts.restorers import best_direction
from scripts.steps import MADE, MODEL, Output, Task, Treebanks, Workers
from scripts.tables.restoration import report
from spacy_punct.data.tree import Slots
from spacy_punct.data.treebank import read_splits
from spacy_punct.model.channel import DIRECTIONS
from spacy_punct.model.evaluation import (
    final_mark,
    permutation_test,
    score,
    sentence_edits,
)
from spacy_punct.reading.corpus import read_docs, unpunctuated
from spacy_punct.reading.gold import gold_slots
from spacy_punct.rephrasing.rephrase import restorer_of
from spacy_punct.restorer.component import PunctuationRestorer
from spacy_punct.restorer.evaluation import attachment, gold_trees

SCORED = ("dev", "test")
TREES = {"gold": "corpus", "parsed": "parser", "udpipe": "udpipe"}
"""Kind of trees -> the artefact that has them."""
BY_SENTENCE = ("edits", "log_probs")
"""Figures of single sentences, which tests need and readers do not."""


def score_restorer(folder: Path, home: Path, name: str) -> None:
    """A restorer's answers, with each kind of trees there is.

    home (Path): What was made of the treebank.
    name (str): The artefact of the restorer.
    """
    nlp, restorer = load_restorer(home / name)
    for split in SCORED:
        references = list(read_docs(home / "corpus" / f"{split}.spacy", nlp.vocab))
        truth = true_slots(restorer, references)
        examples = gold_trees(nlp, restorer, references)
        log_probs = list(restorer.punctuation.log_probs(examples))
        for kind, artefact in TREES.items():
            path = home / artefact / f"{split}.spacy"
            if not path.is_file():
                continue
            docs = list(read_docs(path, nlp.vocab))
            bare = (unpunctuated(*pair) for pair in zip(references, docs, strict=True))
            stream = _shown(restorer.pipe(bare), docs, f"{split}, {kind}")
            restored = [tuple(map(tuple, doc._.restored_slots)) for doc in stream]
            found = figures(restored, truth, log_probs)
            if kind != "gold":
                found |= attachment(docs, references)
            srsly.write_json(folder / f"{split}.{kind}.json", found)


def score_tagger(folder: Path, home: Path, name: str, treebank: Path) -> None:
    """A tagger's answers."""
    tagger = Tagger.from_disk(home / name)
    splits = read_splits(treebank)
    for split in SCORED:
        examples = getattr(splits, split)
        truth = [tagger.surfaces.known(example.slots) for example in examples]
        answers = tagger.restore(example.tree.words for example in examples)
        restored = list(_shown(answers, examples, split))
        found = figures(restored, truth, list(tagger.log_probs(examples)))
        srsly.write_json(folder / f"{split}.words.json", found)


def score_trivial(folder: Path, home: Path) -> None:
    """One mark at the end of each sentence and nothing else."""
    nlp, restorer = load_restorer(home / "lexical")
    final = final_mark(restorer.punctuation.inventory)
    for split in SCORED:
        references = list(read_docs(home / "corpus" / f"{split}.spacy", nlp.vocab))
        truth = true_slots(restorer, references)
        restored = [((),) * len(doc) + (final,) for doc in references]
        srsly.write_json(folder / f"{split}.words.json", figures(restored, truth))


def analyze_channel(folder: Path, home: Path, name: str) -> None:
    """What the paper's model learned, on the training data's own trees."""
    nlp, restorer = load_restorer(home / name)
    references = list(read_docs(home / "corpus" / "train.spacy", nlp.vocab))
    trees = gold_trees(nlp, restorer, references)
    found = analyze(restorer.punctuation, _shown(trees, references, "analysis"))
    write_analysis(found, folder)


def load_restorer(folder: Path) -> tuple[Language, PunctuationRestorer]:
    """A restorer that was trained, and its pipeline."""
    nlp = spacy.load(folder / MODEL)
    return nlp, restorer_of(nlp)


def true_slots(restorer: PunctuationRestorer, references: Sequence[Doc]) -> list[Slots]:
    """The true punctuation of references, in marks that the restorer knows."""
    return [restorer.punctuation.inventory.known(gold_slots(d)) for d in references]


def figures(
    restored: Sequence[Slots],
    truth: Sequence[Slots],
    log_probs: Sequence[float] | None = None,
) -> dict[str, Any]:
    """How good answers are, all in all and sentence by sentence.

    log_probs (Sequence[float] | None): Of the true punctuation of each sentence.
    RETURNS (dict[str, Any]): The fields of `Scores`; "edits" of each sentence; and,
        if log-probabilities are given, those and "perplexity".
    """
    found = score(restored, truth)
    result = found.to_dict() | {"edits": sentence_edits(restored, truth)}
    if log_probs is not None:
        result["log_probs"] = list(log_probs)
        result["perplexity"] = math.exp(-sum(log_probs) / found.n_slots)
    return result


def _shown(stream: Any, items: Sequence[Any], label: str) -> Any:
    """A stream with a progress bar, if somebody looks."""
    return tqdm(stream, total=len(items), unit="sent", desc=label, disable=None)


def collect(treebank: Path, home: Path, lang: str) -> dict[str, Any]:
    """All that is known of a treebank.

    treebank (Path): Its folder.
    home (Path): What was made of it.
    lang (str): Its language.
    RETURNS (dict[str, Any]): "data", "direction" of the channel, "systems" (name ->
        split -> trees -> scores), "tests" (p-values on test) and "seconds" of each
        artefact.
    """
    systems: dict[str, Any] = {}
    for path in sorted(home.glob("scores/*/*.*.json")):
        split, trees, _ = path.name.split(".")
        found = systems.setdefault(path.parent.name, {}).setdefault(split, {})
        found[trees] = srsly.read_json(path)
    made = sorted([*home.glob(f"*/{MADE}"), *home.glob(f"scores/*/{MADE}")])
    result = {
        "treebank": treebank.name,
        "title": get_lang_class(lang).__name__,
        "lang": lang,
        "data": srsly.read_json(home / "corpus" / "data.json"),
        "direction": best_direction(home),
        "tests": _tests(systems),
        "systems": systems,
        "seconds": {
            path.parent.relative_to(home).as_posix(): srsly.read_json(path)["seconds"]
            for path in made
        },
    }
    for by_split in systems.values():
        for by_trees in by_split.values():
            for found in by_trees.values():
                for key in BY_SENTENCE:
                    found.pop(key, None)
    return result


def _tests(systems: Mapping[str, Any]) -> dict[str, dict[str, float]]:
    """Paired permutation tests over the sentences of test.

    RETURNS (dict): "aed" and "perplexity" -> "one / other" -> p-value. Systems with
        trees are compared with parsed ones in edit distance, gold ones in perplexity.
    """
    losses: dict[str, dict[str, list[float]]] = {"aed": {}, "perplexity": {}}
    for name, by_split in systems.items():
        on_test = by_split["test"]
        answers = on_test.get("parsed") or on_test["words"]
        losses["aed"][name] = answers["edits"]
        given = on_test.get("gold") or on_test["words"]
        if "log_probs" in given:
            losses["perplexity"][name] = given["log_probs"]
    return {
        measure: {
            f"{one} / {other}": permutation_test(found[one], found[other])
            for one, other in combinations(sorted(found), 2)
        }
        for measure, found in losses.items()
    }


def tasks_of(treebank: Path, home: Path) -> list[Task]:
    """What is to be measured of a treebank."""
    tasks = []

    def add(system: str, work: Any, needs: Sequence[str], **settings: Any) -> None:
        given = {"home": home, **settings}
        needed = [home / name for name in needs]
        tasks.append(Task(home / system, work, given, needed))

    best = best_direction(home)
    trees = [name for name in TREES.values() if (home / name).is_dir()]
    for system, name in (("log-linear", best), ("lexical",) * 2, ("attach",) * 2):
        if (home / name).is_dir():
            add(f"scores/{system}", score_restorer, [*trees, name], name=name)
    for kind in NETWORKS:
        if (home / kind).is_dir():
            add(f"scores/{kind}", score_tagger, [kind], name=kind, treebank=treebank)
    add("scores/trivial", score_trivial, ["lexical"])
    add("analysis", analyze_channel, ["corpus", *DIRECTIONS], name=best)
    return tasks


def main(
    treebanks: Treebanks,
    output: Output,
    metrics: Annotated[Path, typer.Option(help="Where to write tables.")],
    title: Annotated[str, typer.Option(help="Of the page.")] = "Results",
    lang: steps.Language = None,
    workers: Workers = 1,
) -> None:
    """Measure restorers and taggers on treebanks, and write tables.

    Example: python -m scripts.evaluate assets/ud/en-2.16 --output training/all
    --metrics metrics/all
    """
    homes = {treebank: output / treebank.name for treebank in treebanks}
    tasks = [task for pair in homes.items() for task in tasks_of(*pair)]
    steps.make(tasks, workers)
    metrics.mkdir(parents=True, exist_ok=True)
    results = []
    for treebank, home in homes.items():
        results.append(collect(treebank, home, steps.lang_of(treebank, lang)))
        srsly.write_json(metrics / f"{treebank.name}.json", results[-1])
        pages = metrics / "analysis" / treebank.name
        pages.mkdir(parents=True, exist_ok=True)
        for path in home.glob("analysis/*"):
            if path.suffix in (".md", ".png", ".svg"):
                shutil.copy(path, pages)
    page = metrics / "README.md"
    page.write_text(f"# {title}\n\n{report(results)}", "utf-8")
    msg.good(f"Wrote {page}")
    steps.record(output, "evaluate", tasks)


if __name__ == "__main__":
    steps.run_step(main)
