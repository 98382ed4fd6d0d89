"""`punct fetch`, as users run it."""

import shutil
import signal
import subprocess
import sys
import time
from hashlib import md5

import pytest
import srsly
from typer.testing import CliRunner

from spacy_punct.cli import punct
from tests.conftest import REPOSITORY, SAMPLE
from tests.servers import FileServer

CONTENT = (SAMPLE / "train.conllu").read_bytes() * 8
SPLITS = ("train", "dev", "test")
FILES = {
    f"{name}/{split}": CONTENT for name in ("xx-1.4", "yy-1.4") for split in SPLITS
}


@pytest.fixture(autouse=True)
def no_mirror(monkeypatch):
    monkeypatch.delenv("SPACY_PUNCT_MIRROR", raising=False)


@pytest.fixture
def project(tmp_path):
    """Make a project that lists xx-1.4, with checksums, and yy-1.4, without."""

    def make(url="http://127.0.0.1:9"):
        assets = []
        for path in FILES:
            dest = f"assets/ud/{path}.conllu"
            assets.append({"dest": dest, "url": f"{url}/{path}"})
            if path.startswith("xx"):
                assets[-1]["checksum"] = md5(CONTENT).hexdigest()
        folder = tmp_path / "project"
        shutil.copytree(SAMPLE, folder / "assets" / "sample", dirs_exist_ok=True)
        srsly.write_yaml(folder / "project.yml", {"assets": assets})
        return folder

    return make


@pytest.fixture
def mirror(tmp_path):
    """A mirror with xx-1.4, and of yy only dev and test of 1.3."""
    for path, content in FILES.items():
        file = tmp_path / "mirror" / f"{path.replace('yy-1.4', 'yy-1.3')}.conllu"
        file.parent.mkdir(parents=True, exist_ok=True)
        if path != "yy-1.4/train":
            file.write_bytes(content)
    return tmp_path / "mirror"


def invoke(project, *args: object, env=None):
    args = ["fetch", "--project", project, *args]
    done = CliRunner().invoke(punct, [str(arg) for arg in args], env=env)
    return done, " ".join(done.stdout.split())


def test_fetch_help_has_an_example():
    done = CliRunner().invoke(punct, ["fetch", "--help"])
    assert done.exit_code == 0
    assert "python -m spacy punct fetch" in done.output
    assert "SPACY_PUNCT_MIRROR" in done.output


def test_fetch_from_the_network(project):
    with FileServer(FILES) as server:
        folder = project(server.url)
        done, said = invoke(folder)
        assert done.exit_code == 0, done.output
        assert "xx-1.4/train: from the network, checksum right" in said
        digest = md5(CONTENT).hexdigest()
        unverified = f"NOT VERIFIED, no checksum is known (md5 {digest})"
        assert f"yy-1.4/dev: from the network, {unverified}" in said
        done, said = invoke(folder, "xx-1.4")
        assert "xx-1.4/train: kept, checksum right" in said
        assert "yy" not in said
    assert len(server.requests) == 6


@pytest.mark.parametrize("by_variable", [True, False])
def test_fetch_from_a_mirror(project, mirror, by_variable):
    folder = project()
    if by_variable:
        done, said = invoke(folder, env={"SPACY_PUNCT_MIRROR": str(mirror)})
    else:
        done, said = invoke(folder, "--mirror", mirror)
    assert done.exit_code == 0, done.output
    assert done.stderr == ""
    assert "xx-1.4/dev: from the mirror, checksum right" in said
    assert "yy-1.4/dev: from the mirror, ANOTHER RELEASE, 1.3" in said
    assert "yy-1.4/train: none (127.0.0.1:9 cannot be reached)" in said
    assert "yy-1.4: files of release 1.3, unverified; no train file; first 87%" in said
    for name in ("xx-1.4", "yy-1.4"):
        assert (folder / "assets" / "ud" / name / "sources.json").is_file()


def test_fetch_says_that_a_mirror_file_differs(project, mirror):
    (mirror / "xx-1.4" / "dev.conllu").write_bytes(b"other")
    done, said = invoke(project(), "xx-1.4", "--mirror", mirror)
    assert done.exit_code == 0
    digest = md5(b"other").hexdigest()
    assert f"xx-1.4/dev: from the mirror, NOT THE OFFICIAL FILE (md5 {digest})" in said


def test_fetch_without_a_source_names_the_remedy(project, mirror):
    folder = project()
    done, said = invoke(folder)
    assert done.exit_code == 1
    (line,) = done.stderr.splitlines()
    assert "xx-1.4, yy-1.4 (127.0.0.1:9 cannot be reached)" in line
    for remedy in ("P108", "--mirror", "network", "--or-sample"):
        assert remedy in line
    # One that is missing does not keep the others away.
    (mirror / "yy-1.3" / "dev.conllu").unlink()
    done, said = invoke(folder, "yy-1.4", "xx-1.4", "--mirror", mirror)
    assert done.exit_code == 1
    assert "xx-1.4/test: from the mirror, checksum right" in said
    assert "yy-1.4: not complete" in said
    assert "Could not fetch yy-1.4 (" in done.stderr


def test_fetch_or_sample(project, mirror):
    done, said = invoke(project(), "--or-sample", "xx-1.4")
    assert done.exit_code == 0
    assert "xx-1.4/dev: THE SAMPLE TREEBANK stands in (127.0.0.1:9 cannot" in said
    assert "SAMPLE TREEBANK, not xx-1.4" in said


def test_fetch_wrong_checksum(project):
    with FileServer({**FILES, "xx-1.4/dev": b"other"}) as server:
        folder = project(server.url)
        done, _ = invoke(folder)
    assert done.exit_code == 1
    (line,) = done.stderr.splitlines()
    assert "P106" in line and "xx-1.4/dev" in line
    there = {path.name for path in (folder / "assets" / "ud" / "xx-1.4").iterdir()}
    assert there == {"train.conllu", "test.conllu", "sources.json"}
    assert (folder / "assets" / "ud" / "yy-1.4" / "dev.conllu").is_file()


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["zz-1.4"], "P102"),
        (["--mirror", "absent"], "P103"),
        (["--project", "absent"], "P101"),
    ],
)
def test_fetch_says_what_is_wrong_in_one_line(project, args, said):
    done, _ = invoke(project(), *args)
    assert done.exit_code == 1
    assert said in done.stderr
    assert len(done.output.strip().splitlines()) == 1


def test_fetch_keeps_a_treebank_that_is_not_listed(project):
    folder = project()
    shutil.copytree(SAMPLE, folder / "assets" / "ud" / "mine")
    done, _ = invoke(folder, "mine")
    assert done.exit_code == 0
    assert "mine: your own" in done.output
    assert not (folder / "assets" / "ud" / "mine" / "sources.json").exists()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sent", "code"), [(signal.SIGKILL, -signal.SIGKILL), (signal.SIGINT, 130)]
)
def test_fetch_stopped_leaves_no_half_file_and_goes_on(project, sent, code):
    with FileServer(FILES, halt=True) as server:
        folder = project(server.url)
        command = [sys.executable, "-m", "spacy", "punct", "fetch", "xx-1.4"]
        train = folder / "assets" / "ud" / "xx-1.4" / "train.conllu"
        part = train.with_name("train.conllu.part")
        with subprocess.Popen(
            [*command, "--project", str(folder)],
            cwd=REPOSITORY,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        ) as process:
            assert server.halted.wait(timeout=120)
            while not (part.is_file() and part.stat().st_size):
                time.sleep(0.05)
            process.send_signal(sent)
            _, errors = process.communicate(timeout=60)
        assert process.returncode == code
        assert "Traceback" not in errors
        assert not train.exists()
        came = part.stat().st_size
        assert part.read_bytes() == CONTENT[:came]
        server.halt, server.requests = False, []
        done, _ = invoke(folder, "xx-1.4")
    assert done.exit_code == 0, done.output
    assert server.requests[0] == ("xx-1.4/train", f"bytes={came}-")
    assert train.read_bytes() == CONTENT
    assert not part.exists()


WITHOUT_TEXT = "1\t_\t_\tVERB\t_\t_\t0\troot\t_\t_\n\n"


def test_fetch_says_how_to_obtain_learner_corpora(project, mirror):
    folder = project()
    done, said = invoke(folder, "en_esl", "en_cesl", "xx-1.4", "--mirror", mirror)
    assert done.exit_code == 1
    (line,) = done.stderr.splitlines()
    assert "[P126] en_esl and en_cesl" in line
    for word in ("FCE", "licence", "merge.py", "UD_English-ESL", "dev.conllu"):
        assert word in line
    assert "xx-1.4/dev: from the mirror, checksum right" in said


def test_fetch_says_that_learner_corpora_lack_their_words(project, mirror):
    (mirror / "en_esl").mkdir()
    for split in SPLITS:
        (mirror / "en_esl" / f"{split}.conllu").write_text(WITHOUT_TEXT)
    folder = project()
    done, said = invoke(folder, "en_esl", "--mirror", mirror)
    assert done.exit_code == 1
    assert "en_esl has '_' for every word" in said
    assert "P126" in done.stderr
    assert not (folder / "assets" / "ud" / "en_esl").exists()


def test_fetch_takes_learner_corpora_that_have_their_words(project, mirror):
    shutil.copytree(SAMPLE, mirror / "en_esl")
    folder = project()
    done, said = invoke(folder, "en_esl", "--mirror", mirror)
    assert done.exit_code == 0, done.output
    assert "en_esl/dev: from the mirror, NOT VERIFIED" in said
    shutil.rmtree(mirror / "en_esl")
    done, said = invoke(folder, "en_esl")
    assert done.exit_code == 0, done.output
    assert "en_esl: your own, kept as it is" in said
