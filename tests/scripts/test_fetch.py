"""Treebanks from a mirror, from the network, and the sample in their place."""

import shutil
from hashlib import md5
from pathlib import Path

import pytest
import srsly

from scripts.fetch import caveat, main, mirror_folder, sources
from tests.conftest import SAMPLE

SPLITS = ("train", "dev", "test")
CONTENT = {split: (SAMPLE / f"{split}.conllu").read_bytes() for split in SPLITS}


@pytest.fixture
def project(tmp_path, monkeypatch) -> Path:
    """A project that lists xx-1.4 with checksums and yy-1.4 without."""
    folder = tmp_path / "project"
    shutil.copytree(SAMPLE, folder / "assets" / "sample")
    assets = []
    for name in ("xx-1.4", "yy-1.4"):
        for split, content in CONTENT.items():
            dest = f"assets/ud/{name}/{split}.conllu"
            url = (tmp_path / "net" / name / f"{split}.conllu").as_uri()
            assets.append({"dest": dest, "url": url})
            if name == "xx-1.4":
                assets[-1]["checksum"] = md5(content).hexdigest()
    srsly.write_yaml(folder / "project.yml", {"assets": assets})
    monkeypatch.chdir(folder)
    monkeypatch.delenv("SPACY_PUNCT_MIRROR", raising=False)
    return folder


def fill(folder: Path, splits=SPLITS) -> Path:
    folder.mkdir(parents=True)
    for split in splits:
        (folder / f"{split}.conllu").write_bytes(CONTENT[split])
    return folder


def test_from_the_network(project, tmp_path, invoke):
    fill(tmp_path / "net" / "xx-1.4")
    fill(tmp_path / "net" / "yy-1.4")
    done = invoke(main, "xx-1.4", "yy-1.4")
    assert done.exit_code == 0, done.output
    assert "xx-1.4: the official files" in done.output
    assert "yy-1.4: files unverified" in done.output
    assert caveat(project / "assets/ud/xx-1.4") == ""
    # What is there is kept, so that what was made of it stays.
    shutil.rmtree(tmp_path / "net")
    path = project / "assets/ud/yy-1.4/train.conllu"
    before = path.stat().st_mtime_ns
    assert invoke(main, "xx-1.4", "yy-1.4").exit_code == 0
    assert path.stat().st_mtime_ns == before


def test_from_a_mirror(project, tmp_path, invoke):
    fill(tmp_path / "mirror" / "xx-1.4")
    fill(tmp_path / "mirror" / "yy-1.3", ("dev", "test"))
    environment = {"SPACY_PUNCT_MIRROR": str(tmp_path / "mirror")}
    done = invoke(main, "xx-1.4", "yy-1.4", env=environment)
    assert done.exit_code == 0, done.output
    folder = project / "assets/ud/yy-1.4"
    assert sources(folder) == dict.fromkeys(("dev", "test"), "of release 1.3")
    said = "files of release 1.3; no train file; first 87% of dev are trained on"
    assert caveat(folder).startswith(said)
    # It is still known the next time.
    assert invoke(main, "yy-1.4", env=environment).exit_code == 0
    assert caveat(folder).startswith(said)


def test_a_file_that_is_not_official_is_told(project, tmp_path, invoke):
    fill(tmp_path / "mirror" / "xx-1.4")
    (tmp_path / "mirror" / "xx-1.4" / "dev.conllu").write_bytes(CONTENT["test"])
    done = invoke(main, "xx-1.4", "--mirror", tmp_path / "mirror")
    assert done.exit_code == 0
    assert caveat(project / "assets/ud/xx-1.4") == "dev not official"
    # A download with another checksum is not kept.
    shutil.rmtree(project / "assets/ud/xx-1.4")
    shutil.move(tmp_path / "mirror", tmp_path / "net")
    done = invoke(main, "xx-1.4")
    assert done.exit_code == 1
    assert "does not have the checksum" in " ".join(done.stderr.split())
    assert not (project / "assets/ud/xx-1.4/dev.conllu").exists()


@pytest.mark.parametrize("name", ["xx-1.4", "yy-1.4"])
def test_the_sample_stands_in_until_there_is_better(name, project, tmp_path, invoke):
    done = invoke(main, name)
    assert done.exit_code == 1
    assert len(done.stderr.splitlines()) == 1
    assert "SPACY_PUNCT_MIRROR" in done.stderr and "--or-sample" in done.stderr
    done = invoke(main, name, "--or-sample")
    assert done.exit_code == 0
    assert "THE SAMPLE TREEBANK stands in" in done.output
    folder = project / "assets" / "ud" / name
    if name == "yy-1.4":  # the files of xx-1.4 happen to be the sample's
        assert caveat(folder) == "SAMPLE TREEBANK, not yy-1.4"
        before = (folder / "dev.conllu").stat().st_mtime_ns
        assert invoke(main, name, "--or-sample").exit_code == 0
        assert (folder / "dev.conllu").stat().st_mtime_ns == before
    fill(tmp_path / "net" / name)
    assert invoke(main, name, "--or-sample").exit_code == 0
    assert "SAMPLE" not in caveat(folder)


def test_own_treebanks_are_kept(project, invoke):
    fill(project / "assets" / "ud" / "mine")
    done = invoke(main, "mine")
    assert done.exit_code == 0
    assert "your own" in done.output
    assert caveat(project / "assets/ud/mine") == ""


def test_bad_input_is_one_line(project, tmp_path, invoke):
    for args, said in (
        (["zz-1.4"], "lists no treebank zz-1.4"),
        (["xx-1.4", "--mirror", tmp_path / "none"], "no mirror folder"),
    ):
        done = invoke(main, *args)
        assert done.exit_code == 1
        assert said in done.stderr
        assert len(done.stderr.splitlines()) == 1


def test_mirror_has_the_nearest_release(tmp_path):
    for name in ("ar-1.2", "ar-1.3", "ar-2.4", "xx"):
        (tmp_path / name).mkdir()
    found = mirror_folder(tmp_path, "ar-1.4")
    assert (found.path.name, found.release) == ("ar-1.3", "1.3")
    assert mirror_folder(tmp_path, "ar-2.4").release == ""
    assert mirror_folder(tmp_path, "zh-1.4") is None
    assert mirror_folder(tmp_path, "yy") is None
