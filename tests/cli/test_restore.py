"""`punct restore`, from texts, files and streams to texts, records and subtitles."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

import pytest

import spacy_punct
from spacy_punct.cli.restore import FileRestorer, Options
from spacy_punct.pipe import bundled as pipelines
from tests.conftest import letters

TEXT = "if the rain stops anna will visit us"
SRT = """1
00:00:01,000 --> 00:00:02,500
if the rain stops

2
00:00:02,600 --> 00:00:04,000
<i>anna will</i>
visit us

"""


def test_restore_text_file_and_standard_input(invoke, full_path, tmp_path, on_text):
    expected = on_text(TEXT)._.restored_text
    assert expected != TEXT
    file = tmp_path / "talk.txt"
    file.write_text(f"{TEXT}\n\n{TEXT}\n")
    assert invoke("restore", "-m", full_path, TEXT).output == f"{expected}\n"
    twice = f"{expected}\n\n{expected}\n"
    assert invoke("restore", "-m", full_path, file).output == twice
    assert invoke("restore", "-m", full_path, stdin=file.read_text()).output == twice
    out = tmp_path / "deep" / "out.txt"
    assert invoke("restore", "-m", full_path, file, "-o", out).exit_code == 0
    assert out.read_text() == twice
    assert not list(out.parent.glob("*.part"))


def test_restore_uses_the_bundled_pipeline(
    invoke, bundled, paper_path, tmp_path, monkeypatch
):
    expected = spacy_punct.load("en")(TEXT)._.restored_text
    assert invoke("restore", TEXT).output == f"{expected}\n"
    assert invoke("restore", stdin=TEXT).output == expected
    # A folder of the same name has to be given as one.
    monkeypatch.chdir(tmp_path)
    (tmp_path / "en").symlink_to(paper_path)
    assert invoke("restore", "-m", "en", TEXT).output == f"{expected}\n"
    assert "P040" in invoke("restore", "--model", "./en", TEXT).output


def test_restore_without_a_bundled_pipeline_says_so(invoke, tmp_path, monkeypatch):
    monkeypatch.setattr(pipelines, "FOLDER", tmp_path)
    done = invoke("restore", TEXT)
    assert done.exit_code == 1
    assert "P051" in done.output
    assert "(none)" in done.output


def test_restore_output_may_be_the_input_and_is_all_or_nothing(
    invoke, full_path, tmp_path
):
    file = tmp_path / "talk.txt"
    file.write_text(f"{TEXT}\n")
    assert invoke("restore", "-m", full_path, file, "-o", file).exit_code == 0
    assert letters(file.read_text()) == letters(TEXT)
    before = file.read_text()
    assert before != f"{TEXT}\n"
    (tmp_path / "bad.txt").write_bytes(b"good\ncaf\xe9\n")
    done = invoke("restore", "-m", full_path, tmp_path / "bad.txt", "-o", file)
    assert done.exit_code == 1
    assert file.read_text() == before
    assert {p.name for p in tmp_path.iterdir()} == {"talk.txt", "bad.txt"}


@contextmanager
def process(*args: object) -> Iterator[subprocess.Popen]:
    """The command as users start it, which reads what it is sent."""
    command = [sys.executable, "-m", "spacy", "punct", "restore", *map(str, args)]
    pipe = subprocess.PIPE
    default = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    with subprocess.Popen(
        command,
        stdin=pipe,
        stdout=pipe,
        stderr=pipe,
        # What `nohup` starts ignores interruption, and so do its children.
        preexec_fn=None if os.name == "nt" else default,
    ) as started:
        try:
            yield started
        finally:
            started.kill()


@pytest.mark.slow
def test_restore_ends_quietly_when_nobody_listens(full_path):
    with process("-m", full_path) as started:
        started.stdout.close()
        started.stdin.write(f"{TEXT}\n".encode() * 300)
        started.stdin.close()
        assert started.stderr.read() == b""
        assert started.wait(timeout=120) == 0


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="no such signal")
def test_restore_interrupted_leaves_nothing_behind(full_path, tmp_path):
    file = tmp_path / "old.txt"
    file.write_text("old")
    with process("-m", full_path, "-o", file) as started:
        started.stdin.write(f"{TEXT}\n".encode())
        started.stdin.flush()
        while len(list(tmp_path.iterdir())) < 2:
            assert started.poll() is None
            time.sleep(0.1)
        started.send_signal(signal.SIGINT)
        _, said = started.communicate(timeout=60)
    assert started.returncode not in (0, None)
    assert b"Traceback" not in said
    assert file.read_text() == "old"
    assert list(tmp_path.iterdir()) == [file]


def test_restore_jsonl(invoke, full_path, tmp_path):
    done = invoke("restore", "-m", full_path, "-f", "jsonl", TEXT)
    (record,) = map(json.loads, done.output.splitlines())
    assert record["words"] == TEXT.split()
    assert len(record["slots"]) == len(record["confidence"]) == len(record["words"]) + 1
    assert letters(record["text"]) == letters(TEXT)


def test_restore_subtitles_keep_their_times(invoke, full_path, tmp_path):
    source, target = tmp_path / "talk.srt", tmp_path / "new.srt"
    source.write_text(SRT)
    done = invoke("restore", "-m", full_path, source, "-o", target)
    assert done.exit_code == 0, done.output
    old, new = SRT.splitlines(), target.read_text().splitlines()
    assert len(old) == len(new)
    for a, b in zip(old, new, strict=True):
        if "-->" in a or a.isdecimal() or not a:
            assert a == b
        assert letters(a) == letters(b)
    assert "<i>" in new[6] and "</i>" in new[6]
    assert target.read_text() != SRT


def test_restore_subtitles_from_standard_input_with_entities(invoke, full_path):
    odd = SRT.replace("anna will", "tom &amp; caf&eacute;") + (
        "3\n00:00:05,000 --> 00:00:06,000\n...\n"
    )
    done = invoke("restore", "-m", full_path, stdin=odd)
    assert done.exit_code == 0, done.output
    assert "00:00:02,600 --> 00:00:04,000\n" in done.output
    assert "&amp;" in done.output
    assert "caf&eacute;" in done.output
    assert done.output.endswith("00:00:06,000\n...\n")


def test_restore_writes_through_links_and_to_devices(invoke, full_path, tmp_path):
    target, link = tmp_path / "target.txt", tmp_path / "link.txt"
    target.write_text("old")
    link.symlink_to(target)
    assert invoke("restore", "-m", full_path, TEXT, "-o", link).exit_code == 0
    assert link.is_symlink()
    assert letters(target.read_text()) == letters(TEXT)
    assert invoke("restore", "-m", full_path, TEXT, "-o", "/dev/null").exit_code == 0


def test_restore_jsonl_of_marks_alone(invoke, full_path):
    done = invoke("restore", "-m", full_path, "-f", "jsonl", stdin="...\n")
    record = json.loads(done.output)
    assert record == {"text": "...", "words": [], "slots": [[]], "confidence": [1.0]}


def test_restore_joined_lines_stay_lines(invoke, full_path):
    lines = TEXT.replace(" ", "\n")
    done = invoke("restore", "-m", full_path, "--join", stdin=lines)
    written = done.output.split("\n")
    assert [letters(line) for line in written] == TEXT.split()
    done = invoke("restore", "-m", full_path, "--join", "-f", "jsonl", stdin=lines)
    records = [json.loads(line) for line in done.output.splitlines()]
    assert [record["text"] for record in records] == written
    assert [record["words"] for record in records] == [[word] for word in TEXT.split()]


def test_restore_joined_records_share_out_what_one_record_has(invoke, full_path):
    """The marks between two lines are in one of their records, and all are there."""
    text = " ".join([TEXT, "is anna here", TEXT])
    options = ("restore", "-m", full_path, "-f", "jsonl")
    whole = json.loads(invoke(*options, stdin=text).output)
    lines = text.replace("anna ", "anna\n \n").replace("rain ", "rain\r\n")
    done = invoke(*options, "--join", stdin=lines)
    records = [json.loads(line) for line in done.output.splitlines()]
    assert len(records) == len(lines.splitlines())
    words, slots = [], [[]]
    for record in records:
        n = len(record["words"])
        assert len(record["slots"]) == len(record["confidence"]) == n + 1
        start = len(words)
        if n:
            assert record["confidence"] == whole["confidence"][start : start + n + 1]
        words += record["words"]
        slots[-1] = slots[-1] + record["slots"][0]
        slots += record["slots"][1:]
        marks = [mark for slot in record["slots"] for mark in slot]
        for mark in (",", "?"):
            assert record["text"].count(mark) == marks.count(mark)
    assert words == whole["words"]
    assert slots == whole["slots"]


def test_restore_long_lines_are_not_cut(invoke, full_path, monkeypatch):
    monkeypatch.setattr("spacy_punct.reading.windows.LONG", 1000)
    many = " ".join([TEXT] * 60)
    done = invoke("restore", "-m", full_path, stdin=f"{TEXT}\n{many}\n{TEXT}")
    assert done.exit_code == 0
    lines = done.output.split("\n")
    assert list(map(letters, lines)) == list(map(letters, (TEXT, many, TEXT)))
    as_json = invoke("restore", "-m", full_path, "-f", "jsonl", stdin=many)
    record = json.loads(as_json.output)
    assert record["words"] == many.split()
    assert record["text"] == lines[1]
    assert len(record["slots"]) == len(record["words"]) + 1


def test_restore_streams(full_path):
    """Nothing is held back but a batch or two."""
    read = 0

    def lines():
        nonlocal read
        for read in range(1, 200):
            yield f"{TEXT} {read}\n"

    restorer = FileRestorer(Options(str(full_path), {}, batch_size=8))
    restored = restorer.by_line(lines())
    for written, _ in enumerate(restored, start=1):
        assert read - written <= 16
