"""Put a trained pipeline into the package, small, with its sources and its scores.

    python -m scripts.bundle spacy_punct/pipelines/en --pipeline training/en/model-best
    --corrector training/en-corrector/model-best
    python -m scripts.bundle spacy_punct/pipelines/en --scores metrics/en-sentences.json

A corrector that is trained by itself is added to what is there. Each JSON file, made by
`punct evaluate` or `scripts.correction`, is found in the meta under its name.
"""

import shutil
import warnings
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import spacy
import srsly
import torch
import typer
from spacy.language import Language
from spacy.vectors import Vectors
from thinc.api import Config

from scripts.steps import run_step, write_pipeline
from spacy_punct.about import __version__
from spacy_punct.errors import PunctError

MAX_SIZE = 20_000_000
N_VECTORS = 11_500
"""Of the word vectors, by frequency."""
MIN_WEIGHT = 0.05
"""Of the log-linear parts; smaller ones are dropped."""
DIGITS = 8
"""Of the corrector's weights, in binary."""
THRESHOLD = 0.55
"""Of the corrector, chosen on development data."""
RESTORER, CORRECTOR = "punctuation_restorer", "punctuation_corrector"
SOURCES = [
    {
        "name": "UD English EWT 2.16",
        "url": "https://github.com/UniversalDependencies/UD_English-EWT",
        "license": "CC BY-SA 4.0",
    },
    {
        "name": "UD English GUM, documents whose texts are CC BY or public domain",
        "url": "https://github.com/UniversalDependencies/UD_English-GUM",
        "license": "CC BY 4.0",
    },
    {
        "name": "all-MiniLM-L6-v2 (input embeddings)",
        "url": "https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2",
        "license": "Apache 2.0",
    },
]


def bundle(model: Path, output: Path) -> None:
    """Write a pipeline without what it can do without."""
    nlp = spacy.load(model)
    nlp.meta.update(
        name="punct",
        version=__version__,
        spacy_version=">=3.8.0,<3.9.0",
        description="Transcripts to punctuated, cased English text.",
        author="the spacy-punct authors",
        license="CC BY-SA 4.0",
        sources=SOURCES,
        performance={},
    )
    vectors = nlp.vocab.vectors
    kept = {key: row for key, row in vectors.key2row.items() if row < N_VECTORS}
    nlp.vocab.vectors = Vectors(
        strings=nlp.vocab.strings,
        data=vectors.data[:N_VECTORS],
        keys=sorted(kept, key=lambda key: kept[key]),
        name=vectors.name,
    )
    write(nlp, output)


def add_corrector(corrector: Path, output: Path) -> None:
    """Put a corrector into a pipeline, in place of the one that may be there."""
    nlp = spacy.load(output)
    if CORRECTOR in nlp.component_names:
        nlp.remove_pipe(CORRECTOR)
    with warnings.catch_warnings():
        # It was trained with the same vectors, of which the pipeline keeps the first.
        warnings.filterwarnings("ignore", message=r"\[W113\]")
        nlp.add_pipe(CORRECTOR, source=spacy.load(corrector, vocab=nlp.vocab))
    # It has brought its own.
    nlp.vocab.vectors = spacy.load(output).vocab.vectors
    added = _pipe(nlp, CORRECTOR)
    tok2vec = added.model.get_ref("tok2vec")
    for node in tok2vec.walk():
        for name in node.param_names:
            if node.has_param(name):
                node.set_param(name, rounded(node.get_param(name)))
    for weights in added.punctuation.scorer.parameters():
        weights.data = torch.from_numpy(rounded(weights.data.numpy()))
    # Only who asks for corrections should pay for them.
    nlp.disable_pipe(CORRECTOR)
    write(nlp, output)
    config = Config().from_disk(output / "config.cfg", interpolate=False)
    config["components"][CORRECTOR]["reparse"] = ["tok2vec", "morphologizer", "parser"]
    config["components"][CORRECTOR]["threshold"] = THRESHOLD
    config.to_disk(output / "config.cfg")


def _pipe(nlp: Language, name: str) -> Any:
    """A component, which spaCy's types take for any function of a Doc."""
    return nlp.get_pipe(name)


def rounded(values: np.ndarray) -> np.ndarray:
    """The values with fewer binary digits, so that files compress well."""
    digits, exponents = np.frexp(values)
    return np.ldexp(np.round(digits * 2**DIGITS) / 2**DIGITS, exponents)


def write(nlp: Language, output: Path) -> None:
    """Write a pipeline, small."""
    for name in {RESTORER, CORRECTOR} & set(nlp.component_names):
        _pipe(nlp, name).model.shims[0].min_weight = MIN_WEIGHT
    if output.exists():
        shutil.rmtree(output)
    write_pipeline(nlp, output)
    # The words of the training data; components bring their labels themselves.
    srsly.write_json(output / "vocab" / "strings.json", [])
    size = sum(path.stat().st_size for path in output.rglob("*") if path.is_file())
    if size > MAX_SIZE:
        raise PunctError(f"{output} has {size:,} bytes, more than {MAX_SIZE:,}.")
    print(f"{output}: {size:,} bytes")


def add_scores(pipeline: Path, metrics: list[Path]) -> None:
    """Write scores into the meta of a pipeline."""
    meta = srsly.read_json(pipeline / "meta.json")
    meta["performance"] = {path.stem: srsly.read_json(path) for path in metrics}
    srsly.write_json(pipeline / "meta.json", meta)


def main(
    output: Annotated[Path, typer.Argument(help="The folder of the bundled pipeline.")],
    pipeline: Annotated[Path | None, typer.Option(help="To put there.")] = None,
    corrector: Annotated[Path | None, typer.Option(help="To add to it.")] = None,
    scores: Annotated[
        list[Path] | None, typer.Option(help="JSON to note there; may be repeated.")
    ] = None,
) -> None:
    """Put a trained pipeline into the package, small, with its sources and its scores.

    Example: python -m scripts.bundle spacy_punct/pipelines/en --pipeline
    training/en/model-best
    """
    if pipeline is not None:
        bundle(pipeline, output)
    if corrector is not None:
        add_corrector(corrector, output)
    if scores:
        add_scores(output, scores)


if __name__ == "__main__":
    run_step(main)
