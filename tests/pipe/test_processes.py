"""Several processes: each test runs in one of its own, which may hang and be ended."""

import subprocess
import sys

import pytest

from tests.conftest import REPOSITORY

ALIKE = """
import sys
import spacy
import torch
from spacy_punct.data.treebank import read_treebank
from spacy_punct.reading.examples import create_corpus

if __name__ == "__main__":
    torch.set_num_threads(4)
    (torch.rand(2000, 2000) @ torch.rand(2000, 2000)).sum().item()
    nlp = spacy.load(sys.argv[1])
    nlp.get_pipe("punctuation_restorer").cfg["n_samples"] = 200
    examples = create_corpus(sys.argv[2] + "/train.conllu", limit=40)(nlp)
    docs = [example.x for example in examples]
    alone = [nlp(doc.copy()) for doc in docs]
    for size, processes in ((40, 1), (7, 1), (13, 2)):
        again = nlp.pipe(
            [doc.copy() for doc in reversed(docs)], batch_size=size, n_process=processes
        )
        for one, other in zip(reversed(alone), again, strict=True):
            assert one._.restored_text == other._.restored_text
            assert one._.restored_slots == [list(s) for s in other._.restored_slots]
            assert one._.restored_confidence == list(other._.restored_confidence)
            assert one._.restored_doc.text == other._.restored_doc.text
    print("alike", len(docs))
"""

SPAWNED = """
import multiprocessing, sys
import spacy

if __name__ == "__main__":
    multiprocessing.set_start_method("spawn")
    nlp = spacy.load(sys.argv[1])
    texts = ["if the rain stops anna will visit us"] * 6
    out = list(nlp.pipe(texts, n_process=2, batch_size=2))
    assert len({doc._.restored_text for doc in out}) == 1
    print("spawned", out[0]._.restored_text)
"""


def run(tmp_path, code: str, *args: object) -> str:
    script = tmp_path / "script.py"
    script.write_text(code)
    command = [sys.executable, str(script), *map(str, args)]
    done = subprocess.run(
        command, cwd=REPOSITORY, capture_output=True, text=True, timeout=200
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_processes_same_answer_alone_in_batches_and_in_two(
    tmp_path, paper_path, sample
):
    assert run(tmp_path, ALIKE, paper_path, sample) == "alike 40\n"


@pytest.mark.slow
def test_processes_spawned(tmp_path, full_path):
    assert run(tmp_path, SPAWNED, full_path).startswith("spawned ")
