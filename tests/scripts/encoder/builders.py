"""A small start, a little text and a few trees to train on."""

from pathlib import Path

import numpy as np
import torch

from spacy_punct.data.conllu import read_conllu
from spacy_punct.encoder.transformer import Transformer, TransformerSizes
from spacy_punct.encoder.wordpieces import WordPieces
from tests.conftest import SAMPLE
from tests.encoder.small import VOCABULARY

PIECES = WordPieces(VOCABULARY)

SLOTS = ["", ",", ".", "?", "—", ". ``", "''", "…"]


def make_folders(folder: Path) -> list[str]:
    """Everything that the training reads.

    RETURNS (list[str]): The arguments that name it.
    """
    for split in ("train", "dev"):
        blocks = (SAMPLE / f"{split}.conllu").read_text("utf-8").split("\n\n")[:40]
        path = folder / "treebank" / f"{split}.conllu"
        path.parent.mkdir(exist_ok=True)
        path.write_text("\n\n".join(blocks) + "\n\n", "utf-8")
    text = folder / "text"
    (text / "train").mkdir(parents=True)
    (text / "bench" / "dev").mkdir(parents=True)
    sentences = read_conllu(folder / "treebank" / "train.conllu")
    lines = "\n".join(sentence.text or "" for sentence in sentences)
    (text / "train" / "sample.txt").write_text(lines, "utf-8")
    rows = [("so", ",", "So"), ("we", "", "we"), ("went", ".", "went")] * 10
    stream = "\n".join(map("\t".join, rows)) + "\n"
    (text / "bench" / "dev" / "talk.tsv").write_text(stream, "utf-8")
    torch.manual_seed(1)
    sizes = TransformerSizes(1, 24, 48, 12, len(VOCABULARY), 256)
    arrays = {n: t.numpy() for n, t in Transformer(sizes).state_dict().items()}
    np.savez(folder / "start.npz", vocabulary=np.array(VOCABULARY), **arrays)
    return [
        str(folder / "treebank"),
        *("--text", str(text)),
        *("--start", str(folder / "start.npz")),
        *("--run", str(folder / "run")),
    ]
