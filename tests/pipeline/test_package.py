"""A trained pipeline as a Python package of its own."""

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
import srsly
from spacy.cli.package import package

RESTORE = """
import en_sample_punctuation
nlp = en_sample_punctuation.load()
doc = nlp("if the rain stops Anna will visit us")
print(doc._.restored_text)
"""


def run(*command: object) -> str:
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    done = subprocess.run(
        [str(part) for part in command],
        capture_output=True,
        text=True,
        timeout=250,
        env=environment,
        cwd=Path(sys.executable).parent,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_package_installs_and_restores(full_path, tmp_path, on_text):
    package(
        full_path,
        tmp_path,
        name="sample_punctuation",
        version="1.0.0",
        create_sdist=True,
        create_wheel=False,
    )
    folder = tmp_path / "en_sample_punctuation-1.0.0"
    meta = srsly.read_json(folder / "en_sample_punctuation" / "meta.json")
    assert any(r.startswith("spacy-punct") for r in meta["requirements"])
    (archive,) = (folder / "dist").glob("*.tar.gz")

    # What spaCy and we need is taken from here, to save the gigabyte.
    run(sys.executable, "-m", "venv", tmp_path / "env")
    python = tmp_path / "env" / "bin" / "python"
    libraries = Path(
        run(python, "-c", "import site; print(site.getsitepackages()[0])").strip()
    )
    ours = sysconfig.get_path("purelib")
    (libraries / "libraries.pth").write_text(
        f"import site; site.addsitedir({ours!r})\n"
    )
    run(python, "-m", "pip", "install", "--no-deps", archive)

    restored = run(python, "-c", RESTORE).strip()
    assert restored == on_text("if the rain stops Anna will visit us")._.restored_text
    assert "en_sample_punctuation" in run(python, "-m", "pip", "list").replace("-", "_")
