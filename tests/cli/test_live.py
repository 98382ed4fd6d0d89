"""Standard input restored as it comes."""

import io
import json
import os
import subprocess
import sys
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_punct.cli.live import arriving

TEXT = (
    "ANNA: who laughs [music] when the old\ngardener visits her\n\n"
    ">> he does not know www.a.org  and peter sold bread lemons and onions"
)


def bare(text: str) -> str:
    return "".join(c for c in text.lower() if c.isalnum() or c in "[]:>\n")


class Trickle(io.RawIOBase):
    """A file that gives a few bytes at a time."""

    def __init__(self, parts: list[bytes]) -> None:
        self.parts = iter(parts)

    def read1(self, _: int) -> bytes:
        return next((part for part in self.parts if part), b"")


@given(
    st.lists(st.text(alphabet="aé \n\r😀", max_size=6), max_size=6), st.integers(1, 4)
)
def test_what_arrives_is_cut_between_words(texts, size):
    data = "".join(texts).encode()
    parts = [data[k : k + size] for k in range(0, len(data), size)]
    found = list(arriving(Trickle(parts)))
    assert "".join(found).encode() == data
    assert all(part[-1].isspace() for part in found[:-1])
    assert all("\n" not in part[:-1] for part in found)


@pytest.mark.parametrize("lookahead", [1, 5])
def test_live_keeps_lines_and_what_is_not_speech(invoke, full_path, lookahead):
    options = ("-m", full_path, "--live", "--lookahead", lookahead)
    result = invoke("restore", *options, stdin=TEXT)
    assert result.exit_code == 0, result.output
    assert bare(result.stdout) == bare(TEXT)
    assert "www.a.org" in result.stdout


def test_live_json_has_the_tail(invoke, full_path):
    result = invoke("restore", "-m", full_path, "--live", "--to", "jsonl", stdin=TEXT)
    updates = [json.loads(line) for line in result.stdout.splitlines()]
    assert any(update["tail"] for update in updates)
    assert updates[-1]["tail"] == []
    words = [word for update in updates for word in update["stable"]]
    assert len(words) == 20


@pytest.mark.parametrize(
    "options, code",
    [
        (["a text"], "P201"),
        (["-o", "x.txt"], "P201"),
        (["--to", "srt"], "P148"),
    ],
)
def test_live_refuses_what_it_cannot_do(invoke, full_path, options, code):
    result = invoke("restore", "-m", full_path, "--live", *options, stdin=TEXT)
    assert result.exit_code == 1
    assert code in result.stderr


def test_live_refuses_what_is_not_utf8(invoke, full_path):
    result = invoke("restore", "-m", full_path, "--live", stdin=b"caf\xe9 ")
    assert result.exit_code == 1
    assert "P003" in result.stderr


def test_live_writes_before_its_input_ends(full_path):
    command = [sys.executable, "-m", "spacy", "punct", "restore", "--live"]
    process = subprocess.Popen(
        [*command, "-m", full_path, "--lookahead", "1"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    killer = threading.Timer(250, process.kill)
    killer.start()
    try:
        process.stdin.write(b"anna visits the old gardener who laughs " * 2)
        process.stdin.flush()
        first = os.read(process.stdout.fileno(), 100)
        rest, _ = process.communicate(timeout=200)
    finally:
        killer.cancel()
        process.kill()
    assert first.lower().startswith(b"anna")
    assert len((first + rest).split()) == 14
