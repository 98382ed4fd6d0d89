"""The code and the commands of the README and of the pages in docs run, and print what
the pages show."""

import ast
import io
import re
import runpy
import shlex
import sys
from collections.abc import Iterator
from contextlib import redirect_stdout
from pathlib import Path
from typing import NamedTuple

import pytest
import spacy
import srsly
import torch
from spacy.cli._util import app as spacy_app
from starlette.testclient import TestClient
from typer.main import get_command
from typer.testing import CliRunner

from spacy_punct import load
from spacy_punct.encoder import tok2vec
from tests.conftest import REPOSITORY

PAGES = [
    "README.md",
    "CONTRIBUTING.md",
    *sorted(f"docs/{path.name}" for path in REPOSITORY.glob("docs/*.md")),
]

NOT_RUN = {
    "pip install": "`.ci/run` installs the package",
    "ruff ": "`.ci/run` runs it; see `test_readme.py`",
    "lint-imports": "`.ci/run` runs it; see `test_readme.py`",
    "mypy": "`.ci/run` runs it; see `test_readme.py`",
    "python -m pytest": "these tests would run themselves",
    "python -m spacy punct serve": "runs until it is stopped; see tests/cli",
    "python -m spacy project run": "takes minutes to hours; see `test_project.py`",
    "python -m spacy train configs/sample.cfg": "the fixture `full_path` trains it",
    "python -m spacy train configs/full.cfg": "takes an hour; see tests/pipe",
    "python -m spacy punct jackknife": "trains two parsers; see tests/cli",
    "python -m scripts.encoder": "takes a day; see tests/scripts/encoder",
}
"""Commands of the pages that are only checked for their options, and why."""


spacy.registry.cli.get_all()  # adds our commands to spaCy's


class Block(NamedTuple):
    language: str
    text: str


def blocks(page: str) -> list[Block]:
    found = re.findall(r"^```(\w+)\n(.*?)^```$", page, flags=re.DOTALL | re.MULTILINE)
    return [Block(*block) for block in found]


def commands(block: Block) -> list[str]:
    return block.text.strip().splitlines()


def is_run(command: str) -> bool:
    return not command.startswith(tuple(NOT_RUN))


@pytest.fixture(autouse=True)
def one_thread():
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture(autouse=True)
def float32(monkeypatch):
    """What pages show is the same whether or not a processor has bfloat16."""
    monkeypatch.setattr(tok2vec, "has_bfloat16", lambda: False)


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
    """What a command prints. Ours run in this process."""
    text = ""
    for stage in command.split(" | "):
        words = shlex.split(stage)
        if words[0] == "mkdir":
            Path(words[1]).mkdir()
        elif words[0] == "cat":
            text = Path(words[1]).read_text("utf-8")
        elif words[:2] == ["head", "-n"]:
            text = "".join(text.splitlines(keepends=True)[: int(words[2])])
        elif words[0] == "curl":
            text = post(*words[2:])
        elif words[:3] == ["python", "-m", "spacy"]:
            result = CliRunner().invoke(spacy_app, words[3:], input=text)
            assert result.exit_code == 0, (result.output, result.exception)
            text = result.stdout
        else:
            assert words[:2] == ["python", "-m"], stage
            text = run_module(words[2], words[3:])
    return re.sub(r"\x1b\[[\d;]*m", "", text)  # without colours


def run_module(name: str, arguments: list[str]) -> str:
    output = io.StringIO()
    with pytest.MonkeyPatch.context() as patched, redirect_stdout(output):
        patched.setattr(sys, "argv", [name, *arguments])
        try:
            runpy.run_module(name, run_name="__main__", alter_sys=True)
        except SystemExit as stop:
            assert not stop.code
    return output.getvalue()


def post(body: str, url: str) -> str:
    from spacy_punct.serve.app import make_app

    nlp = load("en")
    nlp.enable_pipe("punctuation_corrector")
    server, _, path = url.removeprefix("http://").partition("/")
    client = TestClient(make_app(nlp), base_url=f"http://{server}")
    headers = {"Content-Type": "application/json"}
    answer = client.post(f"/{path}", content=body, headers=headers)
    assert answer.status_code == 200, answer.text
    return answer.text


def lines_of(text: str) -> list[str]:
    return [line.rstrip() for line in text.splitlines()]


def test_python_prints_what_is_shown(page, capsys):
    namespace: dict = {}
    for block in blocks(page):
        if block.language == "python":
            for statement, shown in statements(block.text):
                exec(compile(statement, "page", "exec"), namespace)
                assert capsys.readouterr().out.splitlines() == shown


def test_commands_print_what_is_shown(request, page):
    if "training/model-best" in page:
        Path("training").mkdir()
        Path("training/model-best").symlink_to(request.getfixturevalue("full_path"))
    found = blocks(page)
    for block, following in zip(found, [*found[1:], Block("", "")], strict=True):
        if block.language != "bash":
            continue
        shown = following.text if following.language == "text" else None
        name = block.text.strip().removeprefix("cat ")
        if shown and name != block.text.strip() and not Path(name).exists():
            Path(name).write_text(shown, "utf-8")  # a file that the page begins with
        output = "".join(run(line) for line in commands(block) if is_run(line))
        if shown is not None:
            assert lines_of(output) == lines_of(shown)


def test_commands_that_are_not_run_have_the_options_that_are_named(page):
    for block in blocks(page):
        for line in commands(block) if block.language == "bash" else []:
            words = shlex.split(line)
            if is_run(line) or words[:3] != ["python", "-m", "spacy"]:
                continue
            command, rest = get_command(spacy_app), words[3:]
            while rest and rest[0] in getattr(command, "commands", {}):
                command, rest = command.commands[rest[0]], rest[1:]
            command.make_context(command.name, rest)


def test_every_exception_is_needed():
    pages = [(REPOSITORY / name).read_text("utf-8") for name in PAGES]
    lines = [
        line
        for page in pages
        for block in blocks(page)
        if block.language == "bash"
        for line in commands(block)
    ]
    for prefix in NOT_RUN:
        assert any(line.startswith(prefix) for line in lines), prefix


def test_links_lead_somewhere(request, page):
    folder = (REPOSITORY / request.node.callspec.params["page"]).parent
    for target in re.findall(r"\]\((?!https?:)([^)\s]+)\)", page):
        path, _, anchor = target.partition("#")
        assert not path or (folder / path).exists(), target
        if anchor:
            text = (folder / path).read_text("utf-8") if path else page
            titles = re.findall(r"^#+ (.*)$", text, flags=re.MULTILINE)
            names = [
                re.sub(r"[^\w\- ]", "", t.lower()).replace(" ", "-") for t in titles
            ]
            assert anchor in names, target


def test_developers_have_all_names_of_configs():
    page = (REPOSITORY / "docs" / "developers.md").read_text("utf-8")
    setup = (REPOSITORY / "setup.cfg").read_text("utf-8")
    names = re.findall(r"^    (\S+) = spacy_punct\.", setup, re.MULTILINE)
    assert len(names) > 10
    assert [name for name in names if f"`{name}`" not in page] == []


def test_developers_have_all_configs_and_workflows():
    page = (REPOSITORY / "docs" / "developers.md").read_text("utf-8")
    for path in (REPOSITORY / "configs").glob("*.cfg"):
        assert f"configs/{path.name}" in page
    for name in srsly.read_yaml(REPOSITORY / "project.yml")["workflows"]:
        assert f"| `{name}` |" in page


_NAMES = {"null": None, "false": False, "true": True}


@pytest.mark.parametrize("name", ["restorer", "corrector"])
def test_developers_have_all_settings(name):
    page = (REPOSITORY / "docs" / "developers.md").read_text("utf-8")
    _, _, rest = page.partition(f"## Settings of the {name}\n")
    section = rest.partition("\n## ")[0]
    meta = spacy.blank("en").get_factory_meta(f"punctuation_{name}")
    assert [k for k in meta.default_config if f"`{k}`" not in section] == []
    for row in re.findall(r"^\| (`.*?) \| (`.*?) \|", section, re.MULTILINE):
        settings, defaults = (re.findall("`(.*?)`", cell) for cell in row)
        for setting, default in zip(settings, defaults, strict=True):
            value = meta.default_config[setting]
            if setting == "scorer":
                assert value == {"@scorers": default}
            else:
                assert value == eval(default, _NAMES), setting
