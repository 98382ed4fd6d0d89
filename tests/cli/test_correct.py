"""The command that corrects, run as users run it."""

import io
import json
import os
import re
import subprocess
import sys
from functools import partial

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from spacy_punct.cli.correct import CorrectedLine, _corrected, _writer
from spacy_punct.cli.shared import load_pipeline, parted
from spacy_punct.corrector.changes import applied
from spacy_punct.corrector.component import PunctuationCorrector
from spacy_punct.data.kinds import MESSAGES
from spacy_punct.reading.windows import windows
from spacy_punct.restorer.component import PunctuationRestorer
from tests.data.tokens import corrected, read_m2

NAME = "punctuation_corrector"
EAGER = "0"
RULES = "0.98"
"""A threshold for what rules correct, of which the small model is never so sure."""
LINES = [
    "Well; Peter sold , bread, lemons and, onions",
    "",
    "  If the rain stops; Anna, will visit\tDr. Hill!  ",
    "...",
    "“The old gardener” ,you said. Anna laughs in the U.S. , etc.",
]
TEXT = "".join(f"{line}\r\n" for line in LINES)


@pytest.fixture
def correct(invoke, corrector_path):
    """Runs the command with the small pipeline."""
    return partial(invoke, "correct", "-m", corrector_path)


def eager(nlp):
    nlp.get_pipe(NAME).cfg["threshold"] = 0.0
    return nlp


def plain(text: str, *, corrected: bool) -> str:
    """A diff, read as the text before or after correction."""
    gone, stays = (r"\[-(.*?)-\]", r"\{\+(.*?)\+\}")
    if not corrected:
        gone, stays = stays, gone
    return re.sub(stays, r"\1", re.sub(gone, "", text))


def test_correct_text_file_and_standard_input(correct, corrects, tmp_path):
    expected = [d._.corrected_text for d in eager(corrects).pipe(LINES)]
    assert expected != LINES
    text = "".join(f"{line}\r\n" for line in expected)
    file = tmp_path / "essays.lines"
    file.write_bytes(TEXT.encode())
    options = ("--threshold", EAGER)
    assert correct(LINES[0], *options).stdout == f"{expected[0]}\n"
    assert correct(file, *options).stdout_bytes == text.encode()
    assert correct("-", *options, stdin=TEXT).stdout_bytes == text.encode()
    assert correct(*options, stdin=TEXT.encode()).stdout_bytes == text.encode()
    assert correct(*options, stdin=LINES[0]).stdout == expected[0], "no end, no end"
    out = tmp_path / "deep" / "out.txt"
    assert correct(file, *options, "-o", out).exit_code == 0
    assert out.read_bytes() == text.encode()
    assert correct(file, *options, "-o", file).exit_code == 0, "over its input"
    assert file.read_bytes() == text.encode()


def test_correct_says_how_much_it_did(correct, corrects, tmp_path):
    docs = list(eager(corrects).pipe(LINES))
    n = sum(len(doc._.corrections) for doc in docs)
    done = correct("--threshold", EAGER, stdin=TEXT)
    n_lines = sum(bool(doc._.corrections) for doc in docs)
    assert done.stderr == f"{n} corrections in {n_lines} of 5 lines\n"
    done = correct("...")
    assert done.stderr == "0 corrections in 0 of 1 line\n"
    assert done.stdout == "...\n"


WRAPPED = "# Well; said\n\nAnna laughs ,you\nsaid and Tom\nslept\n\n- bread\n"


def test_correct_checks_files(correct, tmp_path):
    """Lines and columns are those of the file; a line break is no end."""
    file = tmp_path / "page.md"
    file.write_text(WRAPPED)
    done = correct(file, "--check", "--threshold", EAGER)
    assert done.exit_code == 1
    lines = WRAPPED.splitlines()
    for found in done.stdout.splitlines():
        _, row, column, kind, message = found.removeprefix(str(file)).split(":", 4)
        assert message.strip() == MESSAGES[kind.strip()]
        assert 1 <= int(column) <= len(lines[int(row) - 1]) + 1
    rules = correct(file, "--check", "--threshold", RULES)
    space = f"{file}:3:12: missing-space: {MESSAGES['missing-space']}"
    assert space in rules.stdout.splitlines()
    assert file.read_text() == WRAPPED
    assert correct(file, "--check", "--threshold", 1).exit_code == 0


def test_correct_writes_files_in_place(correct, tmp_path):
    file = tmp_path / "page.md"
    file.write_text(WRAPPED)
    ignored = [arg for kind in MESSAGES for arg in ("--ignore", kind)]
    untouched = correct(file, "--write", "--threshold", EAGER, *ignored)
    assert (untouched.stdout, file.read_text()) == ("", WRAPPED)
    done = correct(file, "--write", "--threshold", RULES)
    assert done.exit_code == 0
    assert "laughs, you\nsaid" in plain(done.stdout, corrected=True)
    assert "laughs ,you\nsaid" in plain(done.stdout, corrected=False)
    assert file.read_text() == WRAPPED.replace(" ,you", ", you")
    assert correct(file, "--write", "--threshold", EAGER).exit_code == 0
    assert file.read_text().endswith("\n\n- bread\n"), "lists stay lists"
    assert correct("a text", "--write").exit_code == 1
    assert correct(file, "--write", "--check").exit_code == 1


def test_correct_threshold_overrides_the_pipelines(correct, corrects):
    corrects.get_pipe(NAME).cfg["threshold"] = 0.99
    expected = [doc._.corrected_text for doc in corrects.pipe(LINES)]
    found = correct("--threshold", 0.99, stdin=TEXT).stdout.splitlines()
    assert found == expected
    assert correct("--threshold", EAGER, stdin=TEXT).stdout.splitlines() != found


def test_correct_diff_shows_both_texts(correct):
    options = ("--threshold", EAGER)
    after = correct(*options, stdin=TEXT.encode()).stdout_bytes.decode()
    diff = correct(*options, "--diff", stdin=TEXT.encode()).stdout_bytes.decode()
    assert "[-" in diff
    assert "\x1b" not in diff
    assert plain(diff, corrected=True) == after
    assert plain(diff, corrected=False) == TEXT


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="no pseudo-terminals")
def test_correct_on_a_terminal_shows_colours(correct, corrector_path):
    import pty

    parent, child = pty.openpty()
    command = [sys.executable, "-m", "spacy", "punct", "correct", LINES[0]]
    with subprocess.Popen(
        [*command, "-m", str(corrector_path), "--threshold", EAGER],
        stdout=child,
        stderr=subprocess.DEVNULL,
        env={k: v for k, v in os.environ.items() if k != "NO_COLOR"},
    ) as process:
        assert process.wait(timeout=250) == 0
    os.close(child)
    with os.fdopen(parent, "rb", buffering=0) as screen:
        shown = screen.read(10_000).decode()
    diff = correct(LINES[0], "--threshold", EAGER, "--diff").stdout
    assert "[-" in diff
    removed = re.sub(r"\x1b\[31m\x1b\[9m(.*?)\x1b\[0m", r"[-\1-]", shown)
    inserted = re.sub(r"\x1b\[32m(.*?)\x1b\[0m", r"{+\1+}", removed)
    assert inserted.replace("\r\n", "\n") == diff


def test_correct_diffs_are_readable(monkeypatch):
    line = CorrectedLine("Well; it rained", "\n", [data(4, 5, ","), data(15, 15, ".")])
    shown = "Well[-;-]{+,+} it rained{+.+}\n"
    diff = partial(_writer, diff=True, explain=False)
    assert diff(on_screen=False)(line) == shown
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert "\x1b[31m" in diff(on_screen=True)(line)
    monkeypatch.setenv("NO_COLOR", "1")
    assert diff(on_screen=True)(line) == shown
    plain = _writer(diff=False, on_screen=True, explain=False)
    assert plain(line) == "Well, it rained.\n"
    # White space that stays is not shown as changed.
    line = CorrectedLine('He said, "Go', "", [data(7, 10, " ")])
    assert diff(on_screen=False)(line) == 'He said[-,-] [-"-]Go'


def data(start: int, end: int, text: str) -> dict:
    return {"start": start, "end": end, "text": text}


def test_correct_explains(correct, corrects):
    doc = eager(corrects)(LINES[0])
    done = correct("--threshold", EAGER, "--explain", "--diff", LINES[0])
    shown, *reasons = done.stdout.splitlines()
    assert plain(shown, corrected=True) == doc._.corrected_text
    assert len(reasons) == len(doc._.corrections) > 0
    form = re.compile(
        r'  (?:after|before) "\S+": (?:insert \S+|remove \S+|\S+ -> .+) '
        r'\((\S+), (\d\.\d\d)\), (?:start|end) of "(.+)"\. (.+)'
    )
    for reason, correction in zip(reasons, doc._.corrections, strict=True):
        if correction.slot is None:
            continue
        found = form.fullmatch(reason)
        assert found, reason
        assert found[1] == correction.kind
        assert float(found[2]) == pytest.approx(correction.probability, abs=0.006)
        assert correction.word.text in found[3] or "…" in found[3]
        assert found[4] == correction.message
    # Reasons come on lines of their own even if the line has no end.
    done = correct("--threshold", EAGER, "--explain", stdin=LINES[0])
    assert done.stdout.splitlines()[1:] == reasons
    done = correct("--threshold", RULES, "--explain", "Anna dont sell  bread")
    why = MESSAGES["missing-apostrophe"], MESSAGES["doubled-space"]
    assert done.stdout.splitlines() == [
        "Anna don't sell bread",
        f"""  at "do": "dont" -> "don't" (missing-apostrophe, 0.99). {why[0]}""",
        f"""  at "sell": "  " -> " " (doubled-space, 0.99). {why[1]}""",
    ]


def test_correct_jsonl(correct, corrects):
    docs = list(eager(corrects).pipe(LINES))
    done = correct("--threshold", EAGER, "-f", "jsonl", stdin=TEXT)
    records = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(records) == len(LINES)
    for record, doc in zip(records, docs, strict=True):
        assert record["source"] == doc.text
        assert record["text"] == doc._.corrected_text
        text = record["source"]
        for c in reversed(record["corrections"]):
            text = text[: c["start"]] + c["text"] + text[c["end"] :]
        assert text == record["text"]
        for c, own in zip(record["corrections"], doc._.corrections, strict=True):
            assert list(c) == [
                *("start", "end", "text", "kind", "message", "before", "after"),
                *("slot", "probability", "word"),
            ]
            assert (c["kind"], c["message"]) == (own.kind, own.message)
            assert tuple(c["before"]) == own.before
            assert tuple(c["after"]) == own.after
            assert c["slot"] == own.slot
            assert c["probability"] == pytest.approx(own.probability, abs=1e-3)
            assert c["word"] == {"text": own.word.text, "i": own.word.i}


def test_correct_m2(correct, corrects, tmp_path):
    docs = list(eager(corrects).pipe(LINES))
    out = tmp_path / "out.m2"
    done = correct("--threshold", EAGER, "-f", "m2", "-o", out, stdin=TEXT)
    assert done.exit_code == 0
    assert done.stdout == ""
    assert len(re.findall("^S", out.read_text("utf-8"), flags=re.MULTILINE)) == 5
    assert "\n\nS" in out.read_text("utf-8")
    sentences = list(read_m2(out.read_text("utf-8")))
    assert len(sentences) == len(LINES), "a block for each line"
    for sentence, doc in zip(sentences, docs, strict=True):
        assert "".join(sentence.tokens) == "".join(doc.text.split())
        new = "".join(doc._.corrected_text.split())
        assert "".join(corrected(sentence)) == new
        assert bool(sentence.annotations) == bool(doc._.corrections)


@pytest.mark.slow
def test_correct_in_several_processes(correct):
    one = correct("--threshold", "0.3", stdin=TEXT)
    options = ("--n-process", 2, "--batch-size", 2)
    two = correct("--threshold", "0.3", *options, stdin=TEXT)
    assert two.exit_code == 0, two.output
    assert two.stdout == one.stdout


def test_correct_streams(corrects):
    """Nothing is held back but a batch or two."""
    read = 0

    def endless():
        nonlocal read
        for read in range(1, 60):
            yield f"{LINES[0]} {read}\n"

    for written, _ in enumerate(_corrected(corrects, endless(), 1, 8), start=1):
        assert read - written <= 16


# Long lines


def test_correct_long_lines_are_one_text(correct, monkeypatch, tmp_path):
    many = " ".join(LINES * 4) + "  "
    whole = correct("--threshold", EAGER, "-f", "jsonl", stdin=f"{many}\n")
    for length in (120, 30):
        monkeypatch.setattr("spacy_punct.reading.windows.LONG", length)
        options = ("--threshold", EAGER)
        done = correct(*options, "-f", "jsonl", stdin=f"{many}\n")
        assert done.stdout.count("\n") == 1
        record = json.loads(done.stdout)
        assert record["source"] == many == json.loads(whole.stdout)["source"]
        words = re.findall(r"[\w.]*\w", many)
        for c in record["corrections"]:
            assert many[c["start"] : c["end"]] != c["text"]
            assert c["word"]["text"] in many
        found, written = (re.findall(r"\w+", t.lower()) for t in (record["text"], many))
        assert found == written
        of_slots = [c for c in record["corrections"] if c["slot"] is not None]
        slots = [c["slot"] for c in of_slots]
        assert slots == sorted(slots)
        assert max(slots) > len(words) / 2, "slots are counted through the line"
        text = correct(*options, stdin=f"{many}\n")
        assert text.stdout == f"{record['text']}\n"
        out = tmp_path / "long.m2"
        correct(*options, "-f", "m2", "-o", out, stdin=f"{many}\n")
        (sentence,) = read_m2(out.read_text("utf-8"))
        assert "".join(sentence.tokens) == "".join(many.split())
        new = "".join(applied(many, of_slots).split())
        assert "".join(corrected(sentence)).lower() == new.lower()


def test_correct_nothing_is_put_where_a_sentence_was_cut(corrects, monkeypatch):
    monkeypatch.setattr("spacy_punct.reading.windows.LONG", 24)
    eager(corrects)
    line = " ".join(["bread"] * 30)
    (found,) = _corrected(corrects, [line], 1, 8)
    edges = {24 * k for k in range(1, len(line) // 24 + 1)}
    assert edges.isdisjoint(c["start"] for c in found.corrections)
    assert edges.isdisjoint(c["start"] + 1 for c in found.corrections)


WRITTEN = st.lists(
    st.sampled_from(
        [*"abcXYZ", *" \t\u00a0.,;!?\"'()“”。", "\r", "été", "Mr.", "\x0b"]
    ),
    max_size=120,
).map("".join)


@given(text=WRITTEN, length=st.integers(2, 60))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_windows_lose_nothing(monkeypatch, text, length):
    monkeypatch.setattr("spacy_punct.reading.windows.LONG", length)
    parts = list(windows(text))
    assert "".join(part for part, *_ in parts) == text
    assert all(0 < len(part) <= length for part, *_ in parts[:-1])
    assert len(parts[-1][0]) <= length
    assert [is_last for *_, is_last in parts] == [*[False] * (len(parts) - 1), True]
    for part, is_whole, _ in parts[:-1]:
        if is_whole:
            assert re.search(r"[.!?。][\"'”)]*\s*$", part)
        elif re.search(r"\s", part):
            assert part[-1].isspace()
    start, end = parted(text)
    assert start + end == text
    assert not start.endswith(("\r", "\n"))


@given(text=WRITTEN, length=st.sampled_from([12, 40, 20_000]))
@settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_correct_changes_nothing_but_what_it_says(corrects, monkeypatch, text, length):
    """Whatever the line and however it is cut: the corrected text is the source with
    the corrections, and only marks and white space beside them change."""
    monkeypatch.setattr("spacy_punct.reading.windows.LONG", length)
    eager(corrects)
    (line,) = _corrected(corrects, [f"{text}\n"], 1, 8)
    assert line.source + line.end == f"{text}\n"
    assert len(line.reasons) == len(line.corrections)
    end, pieces = 0, []
    for c in line.corrections:
        assert end <= c["start"] <= c["end"] <= len(line.source)
        old = line.source[c["start"] : c["end"]]
        assert not any(map(str.isalnum, old + c["text"]))
        pieces += [line.source[end : c["start"]], c["text"]]
        end = c["end"]
    corrected = "".join([*pieces, line.source[end:]])
    assert list(filter(str.isalnum, corrected)) == list(filter(str.isalnum, text))
    corrects.get_pipe(NAME).cfg["threshold"] = 1.0
    (line,) = _corrected(corrects, [f"{text}\n"], 1, 8)
    assert line.corrections == []


# What can go wrong


def test_correct_runs_no_component_that_nobody_asked_for(corrects, tmp_path):
    nlp = type(corrects)(vocab=corrects.vocab)
    model = {"@architectures": "spacy_punct.LogLinearAttach.v1"}
    nlp.add_pipe("punctuation_restorer", config={"model": model})
    nlp.add_pipe(NAME, source=corrects)
    nlp.to_disk(tmp_path / "both")
    for kind, name in (
        (PunctuationCorrector, NAME),
        (PunctuationRestorer, "punctuation_restorer"),
    ):
        loaded, component = load_pipeline(str(tmp_path / "both"), kind)
        assert isinstance(component, kind)
        assert loaded.pipe_names == [name]


def test_correct_a_tokenizer_that_changes_the_text(corrects, monkeypatch):
    tokenizer = corrects.tokenizer
    monkeypatch.setattr(
        corrects, "tokenizer", lambda text: tokenizer(text.replace("x", "y"))
    )
    with pytest.raises(ValueError, match=r"P133.*'a x'.*'a y'"):
        list(_corrected(corrects, io.StringIO("a x\n"), 1, 8))
