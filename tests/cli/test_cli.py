"""What all commands have in common: help, and one line about what is wrong."""

import subprocess
import sys

import pytest

from spacy_punct.cli import COMMANDS

TEXT = "if the rain stops anna will visit us"


def test_commands_are_spacys():
    """Neither models nor pictures are imported for commands that need none."""
    code = (
        "import sys; from spacy.cli._util import setup_cli; sys.argv[0] = 'spacy'\n"
        "try: setup_cli()\n"
        "finally: print(*(m for m in sys.modules if m.startswith('spacy_punct')))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "punct", "--version"],
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert "No such option" in done.stderr
    assert not {"spacy_punct.model", "spacy_punct.draw"} & set(done.stdout.split())


@pytest.mark.parametrize("name", COMMANDS)
def test_commands_have_help_with_an_example(invoke, name):
    assert name in invoke("--help").output
    shown = invoke(name, "--help")
    assert shown.exit_code == 0
    assert "Example" in shown.output
    assert f"python -m spacy punct {name}" in shown.output


def test_commands_that_do_not_exist(invoke):
    done = invoke("restoer", TEXT)
    assert done.exit_code == 2
    assert "No such command 'restoer'" in done.output


@pytest.mark.parametrize(
    ("args", "stdin", "said"),
    [
        (["restore", "-m", "no_such_pipeline", TEXT], None, "P051"),
        (["restore", "-m", "{full}", "absent.srt"], None, "P053"),
        (["restore", "-m", "{full}", "absent.txt"], None, "P053"),
        (["restore", "-m", "{full}", "{tmp}"], None, "P183"),
        (["restore", "-m", "{full}"], b"caf\xe9\n", "P003"),
        (["restore", "-m", "{paper}", TEXT], None, "P040"),
        (["restore", "-m", "{corrector}", TEXT], None, "P052"),
        (["correct", "-m", "{corrector}", "--threshold", "1.5", TEXT], None, "P024"),
        (["correct", "-m", "{corrector}", "--threshold", "-1", TEXT], None, "P024"),
        (["correct", "-m", "{corrector}", "-f", "jsonl", "--explain"], None, "P132"),
        (["correct", "-m", "{corrector}", "-f", "m2", "--diff"], None, "P132"),
        (["correct", "-m", "{corrector}", "-f", "m2", "--plain"], None, "P132"),
        (["correct", "-m", "{corrector}", "absent.txt"], None, "P053"),
        (["correct", "-m", "{corrector}"], b"caf\xe9\n", "P003"),
        (["correct", "-m", "{paper}", TEXT], None, "P131"),
        (["rephrase", "-m", "{full}", TEXT, "--delete", "snow"], None, "P141"),
        (["render", TEXT, "-o", "tree.png"], None, "P148"),
        (["render", TEXT, "-s", "confidence", "-o", "tree.svg"], None, "P148"),
        (["render", " "], None, "P096"),
        (["render", TEXT, "-s", "corrections", "-m", "{full}"], None, "P131"),
        (["convert", "{tmp}", "{tmp}", "--lang", "qq"], None, "P058"),
        (["convert", "absent", "{tmp}"], None, "P050"),
        (["evaluate", "qq", "absent.conllu"], None, "P051"),
        (["evaluate", "{full}", "absent.conllu"], None, "P053"),
        (["evaluate", "{full}", "{full}/meta.json"], None, "P001"),
        (
            ["evaluate", "{full}", "x", "--stream", "lower", "--trees", "gold"],
            None,
            "P071",
        ),
    ],
)
def test_commands_say_what_is_wrong_in_one_line(
    invoke, full_path, paper_path, corrector_path, tmp_path, args, stdin, said
):
    names = {
        "full": full_path,
        "paper": paper_path,
        "corrector": corrector_path,
        "tmp": tmp_path,
    }
    done = invoke(*(arg.format(**names) for arg in args), stdin=stdin)
    assert done.exit_code == 1
    assert said in done.stderr
    assert done.stdout == ""
    assert len(done.stderr.strip().splitlines()) == 1
    assert not list(tmp_path.iterdir())
