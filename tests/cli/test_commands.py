"""The commands, run as users run them."""

import json
import subprocess
import sys

import pytest
import srsly
from typer.testing import CliRunner

import spacy_punct
from spacy_punct import pipelines
from spacy_punct.cli import punct
from spacy_punct.cli.restore import Format, _lines

TEXT = "if the rain stops anna will visit us"
SRT = """1
00:00:01,000 --> 00:00:02,500
if the rain stops

2
00:00:02,600 --> 00:00:04,000
<i>anna will</i>
visit us

"""


def invoke(*args: object, stdin: str | bytes | None = None):
    return CliRunner().invoke(punct, [str(arg) for arg in args], input=stdin)


def letters(text: str) -> str:
    return "".join(char for char in text.lower() if char.isalnum())


def test_commands_are_spacys():
    done = subprocess.run(
        [sys.executable, "-m", "spacy", "punct", "--help"],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0
    for name in (
        "analyze",
        "convert",
        "correct",
        "evaluate",
        "experiment",
        "fetch",
        "restore",
    ):
        assert name in done.stdout
        shown = invoke(name, "--help")
        assert shown.exit_code == 0
        assert "Example" in shown.output
        assert "python -m spacy punct" in shown.output


def test_restore_text_file_and_standard_input(full_path, tmp_path, on_text):
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


def test_restore_uses_the_bundled_pipeline(bundled, paper_path, tmp_path, monkeypatch):
    expected = spacy_punct.load("en")(TEXT)._.restored_text
    assert invoke("restore", TEXT).output == f"{expected}\n"
    assert invoke("restore", stdin=TEXT).output == expected
    # A folder of the same name has to be given as one.
    monkeypatch.chdir(tmp_path)
    (tmp_path / "en").symlink_to(paper_path)
    assert invoke("restore", "-m", "en", TEXT).output == f"{expected}\n"
    assert "P040" in invoke("restore", "--model", "./en", TEXT).output


def test_restore_without_a_bundled_pipeline_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr(pipelines, "FOLDER", tmp_path)
    done = invoke("restore", TEXT)
    assert done.exit_code == 1
    assert "P051" in done.output
    assert "(none)" in done.output


def test_restore_output_may_be_the_input_and_is_all_or_nothing(full_path, tmp_path):
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


@pytest.mark.slow
def test_restore_ends_quietly_when_nobody_listens(full_path):
    command = [sys.executable, "-m", "spacy", "punct", "restore", "-m", str(full_path)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        process.stdout.close()
        process.stdin.write(f"{TEXT}\n".encode() * 300)
        process.stdin.close()
        assert process.stderr.read() == b""
        assert process.wait(timeout=120) == 0


def test_restore_jsonl(full_path, tmp_path):
    done = invoke("restore", "-m", full_path, "-f", "jsonl", TEXT)
    (record,) = map(json.loads, done.output.splitlines())
    assert record["words"] == TEXT.split()
    assert len(record["slots"]) == len(record["confidence"]) == len(record["words"]) + 1
    assert letters(record["text"]) == letters(TEXT)


def test_restore_subtitles_keep_their_times(full_path, tmp_path):
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


def test_restore_subtitles_from_standard_input_with_entities(full_path):
    odd = SRT.replace("anna will", "tom &amp; caf&eacute;") + (
        "3\n00:00:05,000 --> 00:00:06,000\n...\n"
    )
    done = invoke("restore", "-m", full_path, stdin=odd)
    assert done.exit_code == 0, done.output
    assert "00:00:02,600 --> 00:00:04,000\n" in done.output
    assert "&amp;" in done.output
    assert "caf&eacute;" in done.output
    assert done.output.endswith("00:00:06,000\n...\n")


def test_restore_writes_through_links_and_to_devices(full_path, tmp_path):
    target, link = tmp_path / "target.txt", tmp_path / "link.txt"
    target.write_text("old")
    link.symlink_to(target)
    assert invoke("restore", "-m", full_path, TEXT, "-o", link).exit_code == 0
    assert link.is_symlink()
    assert letters(target.read_text()) == letters(TEXT)
    assert invoke("restore", "-m", full_path, TEXT, "-o", "/dev/null").exit_code == 0


def test_restore_jsonl_of_marks_alone(full_path):
    done = invoke("restore", "-m", full_path, "-f", "jsonl", stdin="...\n")
    record = json.loads(done.output)
    assert record == {"text": "...", "words": [], "slots": [[]], "confidence": [1.0]}


def test_restore_joined_lines_stay_lines(full_path):
    done = invoke("restore", "-m", full_path, "--join", stdin=TEXT.replace(" ", "\n"))
    lines = done.output.split("\n")
    assert [letters(line) for line in lines] == TEXT.split()


def test_restore_long_lines_are_not_cut(full_path, monkeypatch):
    monkeypatch.setattr("spacy_punct.cli.lines.LONG", 1000)
    many = " ".join([TEXT] * 60)
    done = invoke("restore", "-m", full_path, stdin=many)
    assert done.exit_code == 0
    assert letters(done.output) == letters(many)
    as_json = invoke("restore", "-m", full_path, "-f", "jsonl", stdin=many)
    words = [w for r in as_json.output.splitlines() for w in json.loads(r)["words"]]
    assert words == many.split()


def test_restore_streams(on_text):
    """Nothing is held back but a batch or two."""
    read = 0

    def lines():
        nonlocal read
        for read in range(1, 200):
            yield f"{TEXT} {read}\n"

    restored = _lines(on_text, lines(), Format.text, 1, 8)
    for written, _ in enumerate(restored, start=1):
        assert read - written <= 16


@pytest.mark.parametrize(
    ("args", "stdin", "said"),
    [
        (["restore", "-m", "no_such_pipeline", TEXT], None, "P051"),
        (["evaluate", "qq", "absent.conllu"], None, "P051"),
        (["restore", "-m", "{full}", "absent.srt"], None, "P053"),
        (["restore", "-m", "{full}", "absent.txt"], None, "P053"),
        (["restore", "-m", "{full}", "{tmp}"], None, "P053"),
        (["convert", "{tmp}", "{tmp}", "--lang", "qq"], None, "P058"),
        (["restore", "-m", "{full}"], b"caf\xe9\n", "P003"),
        (["restore", "-m", "{paper}", TEXT], None, "P040"),
        (["restore", "-m", "{full}", "--join", "-f", "jsonl"], "x", "P054"),
        (["evaluate", "{full}", "absent.conllu"], None, "P053"),
        (["evaluate", "{full}", "{full}/meta.json"], None, "P001"),
        (
            ["evaluate", "{full}", "x", "--stream", "lower", "--trees", "gold"],
            None,
            "P071",
        ),
        (["convert", "absent", "{tmp}"], None, "P050"),
    ],
)
def test_commands_say_what_is_wrong_in_one_line(
    full_path, paper_path, tmp_path, args, stdin, said
):
    names = {"full": full_path, "paper": paper_path, "tmp": tmp_path}
    done = invoke(*(arg.format(**names) for arg in args), stdin=stdin)
    assert done.exit_code == 1
    assert said in done.output
    assert len(done.output.strip().splitlines()) == 1


def test_evaluate_gold_and_parsed(full_path, sample, tmp_path):
    scores = {}
    for trees in ("gold", "parsed"):
        out = tmp_path / f"{trees}.json"
        done = invoke(
            "evaluate", full_path, sample / "test.conllu", "--trees", trees, "-o", out
        )
        assert done.exit_code == 0, done.output
        assert "support" in done.output
        scores[trees] = srsly.read_json(out)
    for found in scores.values():
        assert found["aed"] < found["aed_trivial"]
        assert found["perplexity"] > 1
        assert found["n_sents"] == 80 - found["n_skipped"]
        assert set(found["per_mark"][","]) == {"p", "r", "f", "support"}
        assert found["words_per_second"] > 0
        assert 0 < found["micro_f"] < 1
    assert 0 < scores["parsed"]["las"] <= scores["parsed"]["uas"] < 1
    assert scores["gold"]["perplexity"] == scores["parsed"]["perplexity"]


@pytest.mark.parametrize("stream", ["lower", "cased"])
def test_evaluate_stream(bundled, sample, tmp_path, stream):
    out = tmp_path / "scores.json"
    data = sample / "test.conllu"
    done = invoke("evaluate", "en", data, "--stream", stream, "-o", out)
    assert done.exit_code == 0, done.output
    for shown in ("support", "sentence starts", "capitals"):
        assert shown in done.output
    assert srsly.read_json(out)["stream"] == stream


def test_convert_makes_what_the_reader_reads(sample, tmp_path):
    done = invoke("convert", sample, tmp_path / "corpus")
    assert done.exit_code == 0
    assert "train.conllu" in done.output
    names = {path.name for path in (tmp_path / "corpus").iterdir()}
    assert names == {"train.spacy", "dev.spacy", "test.spacy"}
