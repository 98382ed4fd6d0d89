"""The README's Python runs as shown and prints what it says."""

import re

import torch

from tests.conftest import REPOSITORY


def test_readme_shows_true_output(full_path, tmp_path, monkeypatch, capsys):
    text = (REPOSITORY / "README.md").read_text("utf-8")
    blocks = re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)
    shown = re.findall(r"^print\(.*\n# (.*)$", "\n".join(blocks), flags=re.MULTILINE)
    assert len(shown) >= 4
    # What the README's first command trains.
    assert "spacy train configs/sample.cfg --output training" in text
    (tmp_path / "training").mkdir()
    (tmp_path / "training" / "model-best").symlink_to(full_path)
    monkeypatch.chdir(tmp_path)
    torch.set_num_threads(1)
    namespace: dict = {}
    for block in blocks:
        exec(compile(block, "README.md", "exec"), namespace)
    assert capsys.readouterr().out.splitlines() == shown


def test_readme_test_command_is_what_ci_runs():
    text = (REPOSITORY / "README.md").read_text("utf-8")
    (commands,) = re.findall(r"## Test\n\n```bash\n(.*?)```", text, flags=re.DOTALL)
    ci = (REPOSITORY / ".ci" / "run").read_text("utf-8")
    for command in commands.splitlines():
        assert command.replace("pip install", "pip install --quiet") in ci
