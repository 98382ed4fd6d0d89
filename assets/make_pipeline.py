"""Put a trained pipeline into the package, with its scores and its sources.

    python assets/make_pipeline.py training/en/model-best spacy_punct/pipelines/en \
        metrics/en-stream-lower.json metrics/en-stream-cased.json ...

Each JSON file, made by `punct evaluate`, is found in the meta under its name.
"""

import shutil
import sys
from pathlib import Path

import spacy
import srsly

from spacy_punct.about import __version__

MAX_SIZE = 15_000_000
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


def main(model: Path, output: Path, metrics: list[Path]) -> None:
    nlp = spacy.load(model)
    nlp.meta.update(
        name="punct",
        version=__version__,
        description="Transcripts to punctuated, cased English text.",
        author="the spacy-punct authors",
        license="CC BY-SA 4.0",
        sources=SOURCES,
        performance={path.stem: srsly.read_json(path) for path in metrics},
    )
    if output.exists():
        shutil.rmtree(output)
    nlp.to_disk(output)
    size = sum(path.stat().st_size for path in output.rglob("*") if path.is_file())
    if size > MAX_SIZE:
        sys.exit(f"{output} has {size:,} bytes, more than {MAX_SIZE:,}.")
    print(f"{output}: {size:,} bytes")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), list(map(Path, sys.argv[3:])))
