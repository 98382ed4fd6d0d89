"""Put a trained pipeline into the package, small, with its sources and its scores.

    python -m scripts.bundle spacy_punct/pipelines/en --pipeline training/en/model-best
    --apostrophes training/en-apostrophes/model-best
    --marks training/en-marks/model-best
    --corrector training/en-corrector/model-best
    python -m scripts.bundle spacy_punct/pipelines/en --scores metrics/en-sentences.json

Each JSON file, made by `punct evaluate`, `scripts.bench` or `scripts.correction`, is
found in the meta under its name.
"""

import shutil
from pathlib import Path
from typing import Annotated, Any

import spacy
import srsly
import typer
from spacy.language import Language
from thinc.api import Model

from scripts.steps import run_step, write_pipeline
from spacy_punct.about import __version__
from spacy_punct.errors import PunctError

MAX_SIZE = 45_000_000
MIN_WEIGHT = 0.15
"""Of the log-linear parts; smaller ones are dropped."""
RESTORER, CORRECTOR = "punctuation_restorer", "punctuation_corrector"
APOSTROPHES, MARKS = "apostrophe_tagger", "mark_reader"
HEADS = {"truecaser", "slot_tagger", APOSTROPHES}
SETTINGS: dict[str, dict[str, Any]] = {
    "stream_senter": {"threshold": 0.45},
    "punctuation_restorer": {"guess_share": 0.95, "missing_cost": 1.25},
    "punctuation_corrector": {
        "guess_share": 0.8,
        "thresholds": {
            "colon": 0.45,
            "comma-splice": 0.3,
            "dash": 0.65,
            "doubled-mark": 0.4,
            "fragment": 0.5,
            "misplaced-mark": 0.4,
            "missing-apostrophe": 0.6,
            "missing-comma-address": 0.4,
            "missing-comma-compound": 0.56,
            "missing-comma-insertion": 0.62,
            "missing-comma-introductory": 0.24,
            "missing-comma-list": 0.75,
            "missing-comma-quotation": 0.35,
            "missing-end": 0.77,
            "missing-hyphen": 0.4,
            "possessive": 0.85,
            "run-on": 0.5,
            "semicolon": 0.4,
            "statement": 0.65,
            "superfluous-apostrophe": 0.97,
            "superfluous-comma": 0.55,
            "superfluous-comma-object": 0.4,
            "superfluous-comma-subject": 0.12,
            "superfluous-hyphen": 0.9,
            "unpaired-quote": 0.4,
            "wrong-end": 0.75,
        },
    },
}
"""Of components, chosen on development data once they were trained."""
_TREEBANKS = "https://github.com/UniversalDependencies"
_GITHUB = "https://github.com"
SOURCES = [
    {"name": name, "url": url, "license": licence}
    for name, url, licence in (
        (
            "gte-small, where the encoder starts",
            "https://huggingface.co/thenlper/gte-small",
            "MIT",
        ),
        ("UD English EWT 2.16", f"{_TREEBANKS}/UD_English-EWT", "CC BY-SA 4.0"),
        (
            "UD English GUM, documents whose texts are CC BY or public domain",
            f"{_TREEBANKS}/UD_English-GUM",
            "CC BY 4.0",
        ),
        (
            "The Changelog, transcripts",
            f"{_GITHUB}/thechangelog/transcripts",
            "CC BY-SA 4.0",
        ),
        (
            "Europarl, speeches in English, © European Union",
            f"{_GITHUB}/UDS-SFB-B6-Datasets/Multilingual-Parallel-Direct-Europarl",
            "reuse with acknowledgement",
        ),
        ("Standard Ebooks", f"{_GITHUB}/standardebooks", "CC0"),
        ("OpenStax textbooks", f"{_GITHUB}/openstax", "CC BY 4.0"),
        (
            "Bitcoin Transcripts",
            f"{_GITHUB}/bitcointranscripts/bitcointranscripts",
            "MIT",
        ),
        (
            "Presidential speeches",
            f"{_GITHUB}/kfogel/presidential-speeches",
            "public domain",
        ),
        ("digital.gov", f"{_GITHUB}/GSA/digitalgov.gov", "public domain"),
        ("18F", f"{_GITHUB}/18F/18f.gsa.gov", "public domain"),
        ("Tatoeba", f"{_GITHUB}/Helsinki-NLP/Tatoeba-Challenge", "CC BY 2.0 FR"),
        (
            "Schema-Guided Dialogue",
            f"{_GITHUB}/google-research-datasets/dstc8-schema-guided-dialogue",
            "CC BY-SA 4.0",
        ),
        ("Common Voice, sentences", f"{_GITHUB}/common-voice/common-voice", "CC0"),
        (
            "Earnings-22, transcripts",
            f"{_GITHUB}/revdotcom/speech-datasets",
            "CC BY-SA 4.0",
        ),
    )
]


def bundle(
    model: Path,
    output: Path,
    corrector: Path | None = None,
    apostrophes: Path | None = None,
    marks: Path | None = None,
) -> None:
    """Write a pipeline without what it can do without.

    model (Path): The pipeline.
    output (Path): Where to write it.
    corrector, apostrophes, marks (Path | None): Pipelines with a corrector, and with
        what it listens to, an `apostrophe_tagger` and a `mark_reader`, to be added. All
        have the same encoder.
    """
    nlp = spacy.load(model)
    sources = {APOSTROPHES: apostrophes, MARKS: marks, CORRECTOR: corrector}
    for name, source in sources.items():
        if source is not None:
            nlp.add_pipe(name, source=spacy.load(source, vocab=nlp.vocab))
    if corrector is not None:
        # Only who asks for corrections should pay for them.
        nlp.disable_pipe(CORRECTOR)
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
    write(nlp, output)


def write(nlp: Language, output: Path) -> None:
    """Write a pipeline, small."""
    for name in {RESTORER, CORRECTOR} & set(nlp.component_names):
        pipe: Any = dict(nlp.components)[name]
        pipe.model.shims[0].min_weight = MIN_WEIGHT
    for name in HEADS & set(nlp.component_names):
        _round(dict(nlp.components)[name].model)  # type: ignore[attr-defined]
    nlp.config["paths"] = dict.fromkeys(nlp.config["paths"])
    if output.exists():
        shutil.rmtree(output)
    write_pipeline(nlp, output, SETTINGS)
    # The words of the training data; components bring their labels themselves.
    srsly.write_json(output / "vocab" / "strings.json", [])
    size = sum(path.stat().st_size for path in output.rglob("*") if path.is_file())
    if size > MAX_SIZE:
        raise PunctError(f"{output} has {size:,} bytes, more than {MAX_SIZE:,}.")
    print(f"{output}: {size:,} bytes")


def _round(model: Model) -> None:
    """Round weights to half precision, which makes them smaller when compressed."""
    for node in model.walk():
        for name in node.param_names:
            if node.name != "encoder" and node.has_param(name):
                values = node.get_param(name)
                node.set_param(name, values.astype("float16").astype("float32"))


def add_scores(pipeline: Path, metrics: list[Path]) -> None:
    """Write scores into the meta of a pipeline."""
    meta = srsly.read_json(pipeline / "meta.json")
    meta["performance"] = {path.stem: srsly.read_json(path) for path in metrics}
    srsly.write_json(pipeline / "meta.json", meta)


def main(
    output: Annotated[Path, typer.Argument(help="The folder of the bundled pipeline.")],
    pipeline: Annotated[Path | None, typer.Option(help="To put there.")] = None,
    corrector: Annotated[
        Path | None, typer.Option(help="Whose corrector to add.")
    ] = None,
    apostrophes: Annotated[
        Path | None, typer.Option(help="Whose apostrophe_tagger to add.")
    ] = None,
    marks: Annotated[
        Path | None, typer.Option(help="Whose mark_reader to add.")
    ] = None,
    scores: Annotated[
        list[Path] | None, typer.Option(help="JSON to note there; may be repeated.")
    ] = None,
) -> None:
    """Put a trained pipeline into the package, small, with its sources and its scores.

    Example: python -m scripts.bundle spacy_punct/pipelines/en --pipeline
    training/en/model-best
    """
    if pipeline is not None:
        bundle(pipeline, output, corrector, apostrophes, marks)
    if scores:
        add_scores(output, scores)


if __name__ == "__main__":
    run_step(main)
