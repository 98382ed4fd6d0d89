"""The code of the README and of the pages in docs runs, and prints what they show."""

import ast
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch
from click import unstyle
from typer.main import get_command
from typer.testing import CliRunner

from spacy_punct import load
from spacy_punct.cli import punct
from spacy_punct.data.treebank import read_treebank
from spacy_punct.reading.corpus import joined, make_doc, unpunctuated
from spacy_punct.reading.gold import gold_slots
from tests.conftest import REPOSITORY

PAGES = ("README.md", "docs/linguists.md", "docs/transcripts.md", "docs/developers.md")
COMMAND = ["python", "-m", "spacy", "punct"]


@pytest.fixture(autouse=True)
def one_thread():
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture(autouse=True)
def checkout(tmp_path, monkeypatch) -> Path:
    """A folder to work in, with the files of the repository that pages speak of."""
    for name in ("assets", "configs"):
        (tmp_path / name).symlink_to(REPOSITORY / name)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(params=PAGES)
def page(request) -> str:
    return (REPOSITORY / request.param).read_text("utf-8")


def statements(block: str) -> Iterator[tuple[ast.Module, list[str]]]:
    """Each statement of a block, with the comment below it: what it prints."""
    lines = block.splitlines()
    for node in ast.parse(block).body:
        shown = []
        for line in lines[node.end_lineno :]:
            if not line.startswith("#"):
                break
            shown.append(line[2:])
        yield ast.Module([node], []), shown


def run(command: str) -> str:
    """What a command of ours prints, after `cat FILE |` and before `| head -n N`."""
    text = ""
    for stage in command.split(" | "):
        words = shlex.split(stage)
        if words[0] == "cat":
            text = Path(words[1]).read_text("utf-8")
        elif words[:2] == ["head", "-n"]:
            text = "".join(text.splitlines(keepends=True)[: int(words[2])])
        else:
            assert words[:4] == COMMAND
            result = CliRunner().invoke(punct, words[4:], input=text)
            assert result.exit_code == 0, result.output
            text = unstyle(result.stdout)
    return text


def lines_of(text: str) -> list[str]:
    return [line.rstrip() for line in text.splitlines()]


def test_python_prints_what_is_shown(page, capsys):
    blocks = re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL)
    n_shown = 0
    namespace: dict = {}
    for block in blocks:
        for statement, shown in statements(block):
            exec(compile(statement, "page", "exec"), namespace)
            assert capsys.readouterr().out.splitlines() == shown
            n_shown += len(shown)
    assert n_shown >= 4


def test_commands_print_what_is_shown(page):
    shown = re.findall(
        r"```bash\n([^`]*?)```\n\n```text\n(.*?)```", page, flags=re.DOTALL
    )
    for commands, output in shown:
        *before, command = commands.strip().splitlines()
        for line in before:
            if line.startswith("python -m spacy punct"):
                run(line)
        name = command.removeprefix("cat ")
        if name != command and not Path(name).exists():
            Path(name).write_text(output, "utf-8")  # a file that the page begins with
        assert lines_of(run(command)) == lines_of(output)
    assert len(shown) == page.count("```\n\n```text\n")


def test_commands_have_the_options_that_are_named(page):
    blocks = re.findall(r"```bash\n(.*?)```", page, flags=re.DOTALL)
    commands = get_command(punct).commands
    for line in "\n".join(blocks).replace("\\\n", " ").splitlines():
        for stage in re.split(r" [|>] ", line):
            words = shlex.split(stage)
            if words[:4] == COMMAND:
                commands[words[4]].make_context(words[4], words[5:])


def test_links_lead_somewhere(request, page):
    folder = (REPOSITORY / request.node.callspec.params["page"]).parent
    for target in re.findall(r"\]\((?!https?:)([^)\s]+)\)", page):
        path, _, anchor = target.partition("#")
        assert not path or (folder / path).exists(), target
        if anchor:
            text = (folder / path).read_text("utf-8") if path else page
            titles = re.findall(r"^#+ (.*)$", text, flags=re.MULTILINE)
            assert anchor in [t.lower().replace(" ", "-") for t in titles], target


def test_developers_have_all_names_of_configs():
    page = (REPOSITORY / "docs" / "developers.md").read_text("utf-8")
    setup = (REPOSITORY / "setup.cfg").read_text("utf-8")
    names = re.findall(
        r"^    (?:spacy_punct\.)?(\S+) = spacy_punct\.", setup, re.MULTILINE
    )
    assert len(names) > 10
    assert [name for name in names if f"{name}`" not in page] == []


@pytest.mark.slow
def test_transcripts_has_what_confidence_finds(treebanks):
    page = (REPOSITORY / "docs" / "transcripts.md").read_text("utf-8")
    rows = re.findall(r"^\| (0\.\d+) \|(.*)$", page, flags=re.MULTILINE)
    assert len(rows) == 4
    nlp = load("en", exclude=["punctuation_corrector"])
    path = treebanks / "en-2.16" / "test.conllu"
    examples = read_treebank(path).examples
    reference = joined([make_doc(example, nlp.vocab) for example in examples])
    known = nlp.get_pipe("punctuation_restorer").punctuation.inventory.known
    truth = known(gold_slots(reference))
    found: list[list[float]] = [[] for _ in rows]
    for lower in (True, False):
        doc = nlp(unpunctuated(reference, sentences=False, lower=lower))
        slots = map(tuple, doc._.restored_slots)
        wrong = np.array([a != b for a, b in zip(slots, truth, strict=True)])
        for shares, (threshold, _) in zip(found, rows, strict=True):
            seen = np.array(doc._.restored_confidence) < float(threshold)
            both = (wrong & seen).sum()
            shares += [seen.mean(), both / seen.sum(), both / wrong.sum()]
    for shares, (_, cells) in zip(found, rows, strict=True):
        shown = [float(share) for share in re.findall(r"([\d.]+)%", cells)]
        assert shown == pytest.approx([100 * share for share in shares], abs=0.6)
