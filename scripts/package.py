"""Make installable wheels of parsers and restorers.

    python -m scripts.package assets/ud/en-2.16 --output training/all

Of each treebank, FOLDER/TREEBANK/package gets a wheel.
"""

import re
from pathlib import Path

import spacy
import srsly
from spacy.cli.package import package

from scripts import steps
from scripts.evaluate import BY_SENTENCE
from scripts.steps import MODEL, Language, Output, Task, Treebanks, Workers
from spacy_punct.about import __version__


def make_package(folder: Path, home: Path, lang: str) -> None:
    """Parser and restorer as one pipeline, with its sources and scores, and its wheel.

    home (Path): What was made of the treebank.
    """
    nlp = spacy.load(home / "parser" / MODEL)
    lexical = spacy.load(home / "lexical" / MODEL)
    nlp.add_pipe("punctuation_restorer", source=lexical)
    data = srsly.read_json(home / "corpus" / "data.json")
    scores = srsly.read_json(home / "scores" / "lexical" / "test.parsed.json")
    name = re.sub(r"\W+", "_", home.name.removeprefix(lang)).strip("_")
    nlp.meta.update(
        name=f"punct_{name}",
        version=__version__,
        description=f"{home.name}: tags, trees and punctuation of bare words.",
        notes=data["caveat"],
        performance={k: v for k, v in scores.items() if k not in BY_SENTENCE},
    )
    steps.write_pipeline(nlp, folder / "pipeline")
    package(folder / "pipeline", folder, create_wheel=True)


def main(
    treebanks: Treebanks, output: Output, lang: Language = None, workers: Workers = 1
) -> None:
    """Make installable wheels of parsers and restorers that were measured.

    Example: python -m scripts.package assets/ud/en-2.16 --output training/all
    """
    tasks = []
    for treebank in treebanks:
        home = output / treebank.name
        settings = {"home": home, "lang": steps.lang_of(treebank, lang)}
        needs = [home / "parser", home / "lexical", home / "scores" / "lexical"]
        tasks.append(Task(home / "package", make_package, settings, needs))
    steps.make(tasks, workers)
    steps.record(output, "package", tasks)


if __name__ == "__main__":
    steps.run_step(main)
