"""Trained pipelines as Python packages, and in ours."""

import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
from pathlib import Path
from zipfile import ZipFile

import pytest
import srsly
from spacy.cli.package import package

from tests.conftest import REPOSITORY

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


@pytest.mark.slow
def test_package_of_ours_has_the_bundled_pipelines(full_path, tmp_path):
    source = tmp_path / "source"
    source.mkdir()
    for name in ("setup.cfg", "pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(REPOSITORY / name, source)
    shutil.copytree(REPOSITORY / "spacy_punct", source / "spacy_punct")
    place = "spacy_punct/pipelines/xx"
    shutil.copytree(full_path, source / place)
    expected = {
        f"{place}/{path.relative_to(full_path)}"
        for path in full_path.rglob("*")
        if path.is_file()
    }
    assert f"{place}/parser/model" in expected

    run(sys.executable, "-m", "pip", "wheel", "--no-deps", "-w", tmp_path, source)
    (wheel,) = tmp_path.glob("*.whl")
    packed = set(ZipFile(wheel).namelist())
    assert {n for n in packed if n.startswith(place)} == expected
    assert not any(name.endswith(".pyc") for name in packed)

    build = "from setuptools import build_meta as b; b.build_sdist('..')"
    run(sys.executable, "-c", f"import os; os.chdir({str(source)!r}); {build}")
    (archive,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(archive) as file:
        packed = {name.partition("/")[2] for name in file.getnames()}
    assert expected <= packed
    assert not any(name.endswith(".pyc") for name in packed)
