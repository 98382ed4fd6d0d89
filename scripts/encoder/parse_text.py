"""Written text with the trees that a reading pipeline gives its words: what restorers
and correctors learn from beside treebanks."""

import random
from pathlib import Path
from typing import Annotated

import spacy
import typer
from spacy.tokens import Doc, DocBin
from tqdm import tqdm

from scripts.encoder.windows import SOURCES
from scripts.steps import Seed, run_step
from spacy_punct.reading.corpus import treebank_files
from spacy_punct.reading.written import create_text_corpus

FORMS = {"written": 0.4, "cased": 0.3, "spoken": 0.3}
_DOC_WORDS = 120


def parsed(seen: Doc, reference: Doc) -> Doc:
    """A reference with the tree of the same words as a parser saw them."""
    doc = Doc(
        reference.vocab,
        words=[token.text for token in reference],
        spaces=[bool(token.whitespace_) for token in reference],
        heads=[token.head.i for token in seen],
        deps=[token.dep_ for token in seen],
        pos=[token.pos_ for token in seen],
    )
    doc.user_data.update(reference.user_data)
    return doc


def main(
    pipeline: Annotated[Path, typer.Argument(help="Of scripts.encoder.assemble.")],
    text: Annotated[Path, typer.Argument(help="Folder of .txt and .txt.xz files.")],
    output: Annotated[Path, typer.Argument(help="The .spacy file to write.")],
    words: Annotated[int, typer.Option(min=1, help="About how many.")] = 300_000,
    seed: Seed = 0,
) -> None:
    """Parse written text, its sentences given.

    Example: python -m scripts.encoder.parse_text training/en-reading corpus/text/train
    corpus/en/train/text.spacy
    """
    nlp = spacy.load(pipeline, exclude=["stream_senter", "truecaser", "slot_tagger"])
    names = {path.name.split(".")[0] for path in treebank_files(text, (".txt", ".xz"))}
    known = {name: source for name, source in SOURCES.items() if name in names}
    read = create_text_corpus(
        text,
        weights={name: source.share for name, source in known.items()} or None,
        unconnected=[name for name, source in known.items() if not source.connected],
        forms=FORMS,
        limit=max(1, words // _DOC_WORDS),
        max_words=_DOC_WORDS,
        cut=0.0,
        sentences=True,
        seed=random.Random(seed).getrandbits(30),
    )
    examples = list(read(nlp))
    docs = nlp.pipe(example.predicted for example in examples)
    found = DocBin(store_user_data=True)
    for example, doc in zip(examples, tqdm(docs, total=len(examples)), strict=True):
        found.add(parsed(doc, example.reference))
    output.parent.mkdir(parents=True, exist_ok=True)
    found.to_disk(output)


if __name__ == "__main__":
    run_step(main)
