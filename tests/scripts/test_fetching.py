"""Treebanks from mirrors and servers, and the record of where they came from."""

import os
import shutil
from hashlib import md5
from pathlib import Path

import pytest

from scripts.fetch.assets import Asset, ListedTreebank, listed_treebanks
from scripts.fetch.downloading import Network, UnavailableError
from scripts.fetch.fetching import MirrorFolder, fetch_treebank, mirror_folder
from scripts.fetch.sources import Origin, Source, caveat, read_record
from spacy_punct.data.treebank import SPLITS, split_file
from spacy_punct.errors import PunctError
from tests.conftest import SAMPLE
from tests.servers import FileServer

FILES = {f"{s}.conllu": (SAMPLE / f"{s}.conllu").read_bytes() for s in SPLITS}
OTHERS = {name: content + content for name, content in FILES.items()}
"""Files that are as good, but not the official ones."""
NOWHERE = "http://127.0.0.1:9"
PARTIAL = "no train file; first 87% of dev are trained on, the rest decides"


@pytest.fixture
def fetch(tmp_path):
    """Fetch the treebank xx-1.4 into `tmp_path / "ud"`: split -> what became of it."""

    def run(url=NOWHERE, checksums=True, **settings):
        listed = make_listed(tmp_path / "ud" / "xx-1.4", url, checksums)
        network = Network(attempts=2, pause=0.0)
        return {f.split: f for f in fetch_treebank(listed, network, **settings)}

    return run


@pytest.fixture
def folder(tmp_path) -> Path:
    return tmp_path / "ud" / "xx-1.4"


def make_listed(folder: Path, url: str, checksums: bool) -> ListedTreebank:
    assets = {
        Path(name).stem: Asset(
            folder / name,
            f"{url}/{name}",
            md5(content).hexdigest() if checksums else "",
        )
        for name, content in FILES.items()
    }
    return ListedTreebank("xx-1.4", "Xish 1.4", folder, assets)


def make_mirror(path: Path, name="xx-1.4", files=FILES, without=()) -> Path:
    (path / name).mkdir(parents=True)
    for file, content in files.items():
        if Path(file).stem not in without:
            (path / name / file).write_bytes(content)
    return path


def contents(folder: Path) -> dict[str, bytes]:
    return {p.name: p.read_bytes() for p in folder.iterdir() if p.suffix != ".json"}


def origins(fetched) -> set[Origin]:
    return {f.source.origin for f in fetched.values()}


def stamps(folder: Path) -> dict[str, int]:
    return {path.name: path.stat().st_mtime_ns for path in folder.iterdir()}


def test_fetch_from_the_network(fetch, folder):
    with FileServer(FILES, cuts=1) as server:
        fetched = fetch(server.url)
    assert origins(fetched) == {Origin.official}
    assert not any(f.kept for f in fetched.values())
    assert contents(folder) == FILES
    source = read_record(folder).splits["dev"]
    digest = md5(FILES["dev.conllu"]).hexdigest()
    assert source == Source(Origin.official, f"{server.url}/dev.conllu", digest)
    assert caveat(folder) == ""


@pytest.mark.parametrize("checksums", [True, False])
def test_fetch_keeps_what_is_right(fetch, folder, tmp_path, checksums):
    with FileServer(FILES) as server:
        fetch(server.url, checksums)
        before = stamps(folder)
        asked = len(server.requests)
        mirror = make_mirror(tmp_path / "mirror", files=OTHERS)
        fetched = fetch(server.url, checksums, mirror=mirror)
        assert len(server.requests) == asked
    assert all(f.kept for f in fetched.values())
    assert stamps(folder) == before


def test_fetch_replaces_a_file_that_was_damaged(fetch, folder):
    with FileServer(FILES) as server:
        for checksums in (True, False):
            fetch(server.url, checksums)
            (folder / "dev.conllu").write_bytes(b"mine")
            fetched = fetch(server.url, checksums)
            assert [f.split for f in fetched.values() if not f.kept] == ["dev"]
            assert contents(folder) == {**FILES, "dev.conllu.old": b"mine"}


def test_fetch_wrong_checksum(fetch, folder):
    with FileServer({**FILES, "test.conllu": OTHERS["test.conllu"]}) as server:
        with pytest.raises(PunctError, match=r"P106.*test\.conllu"):
            fetch(server.url)
        assert set(contents(folder)) == {"train.conllu", "dev.conllu"}
        assert "test" not in read_record(folder).splits
        server.files = FILES
        assert origins(fetch(server.url)) == {Origin.official}


def test_fetch_wrong_checksum_of_train_is_not_partial(fetch, folder):
    with (
        FileServer({**FILES, "train.conllu": OTHERS["train.conllu"]}) as server,
        pytest.raises(PunctError, match=r"P106.*train\.conllu"),
    ):
        fetch(server.url)
    assert set(contents(folder)) == {"dev.conllu", "test.conllu"}


def test_fetch_that_breaks_off_goes_on_in_the_next_run(fetch, folder):
    name, content = "train.conllu", FILES["train.conllu"]
    with FileServer(FILES, ranges=False, cuts=2) as server:
        with pytest.raises(PunctError, match=r"P105.*train\.conllu"):
            fetch(server.url)
        half = len(content) // 2
        assert contents(folder)[f"{name}.part"] == content[:half]
        assert name not in contents(folder)
        server.ranges, server.requests = True, []
        fetch(server.url)
    assert contents(folder) == FILES
    assert server.requests == [(name, f"bytes={half}-")]


def test_fetch_without_checksums(fetch, folder):
    with FileServer(FILES) as server:
        fetched = fetch(server.url, checksums=False)
    assert origins(fetched) == {Origin.unverified}
    assert fetched["dev"].source.md5 == md5(FILES["dev.conllu"]).hexdigest()
    assert caveat(folder) == "Xish 1.4: files unverified"


@pytest.mark.parametrize(
    "answer", [b"<html>Log in first</html>\n\n", FILES["dev.conllu"][:-1], b""]
)
def test_fetch_without_checksums_wants_treebanks(fetch, folder, answer):
    with (
        FileServer({**FILES, "dev.conllu": answer}) as server,
        pytest.raises(PunctError, match=r"P107.*dev\.conllu"),
    ):
        fetch(server.url, checksums=False)
    assert set(contents(folder)) == {"train.conllu", "test.conllu"}


def test_fetch_from_the_mirror_first(fetch, folder, tmp_path):
    mirror = make_mirror(tmp_path / "mirror")
    os.chmod(mirror / "xx-1.4" / "dev.conllu", 0o400)
    with FileServer(FILES) as server:
        fetched = fetch(server.url, mirror=mirror)
        assert not server.requests
    assert origins(fetched) == {Origin.official}
    assert contents(folder) == FILES
    assert os.access(folder / "dev.conllu", os.W_OK)
    assert caveat(folder) == ""


def test_fetch_mirror_files_that_differ(fetch, folder, tmp_path):
    files = {**FILES, "dev.conllu": OTHERS["dev.conllu"]}
    mirror = make_mirror(tmp_path / "mirror", files=files)
    fetched = fetch(mirror=mirror)
    assert fetched["dev"].source.origin is Origin.differing
    assert fetched["dev"].source.md5 == md5(OTHERS["dev.conllu"]).hexdigest()
    assert fetched["train"].source.origin is Origin.official
    assert contents(folder) == files
    assert caveat(folder) == "Xish 1.4: dev not official"
    before = stamps(folder)
    assert all(f.kept for f in fetch(mirror=mirror).values())
    assert all(f.kept for f in fetch().values()), "nothing better is to be had"
    assert stamps(folder) == before
    with FileServer(FILES) as server:
        assert origins(fetch(server.url)) == {Origin.official}
    assert contents(folder) == FILES


def test_fetch_train_that_the_mirror_lacks(fetch, folder, tmp_path):
    mirror = make_mirror(tmp_path / "mirror", without=["train"])
    fetched = fetch(mirror=mirror)
    assert fetched["train"].source == Source(Origin.missing)
    assert fetched["train"].reason == "127.0.0.1:9 cannot be reached"
    assert read_record(folder).splits["train"].origin is Origin.missing
    assert caveat(folder) == f"Xish 1.4: {PARTIAL}"
    with FileServer(FILES) as server:
        assert origins(fetch(server.url, mirror=mirror)) == {Origin.official}
    assert server.requests == [("train.conllu", None)]
    assert contents(folder) == FILES


def test_fetch_another_release(fetch, folder, tmp_path):
    mirror = make_mirror(tmp_path / "mirror", "xx-1.3", OTHERS)
    with FileServer(FILES) as server:
        fetched = fetch(server.url, checksums=False, mirror=mirror)
        assert not server.requests
    assert origins(fetched) == {Origin.other_release}
    assert read_record(folder).splits["test"].release == "1.3"
    assert contents(folder) == OTHERS
    assert caveat(folder) == "Xish 1.4: files of release 1.3, unverified"
    before = stamps(folder)
    assert all(f.kept for f in fetch(checksums=False).values())
    assert stamps(folder) == before


def test_fetch_does_not_mix_releases_if_it_can(fetch, folder, tmp_path):
    mirror = make_mirror(tmp_path / "mirror", "xx-1.3", OTHERS, without=["train"])
    fetch(checksums=False, mirror=mirror)
    said = f"Xish 1.4: files of release 1.3, unverified; {PARTIAL}"
    assert caveat(folder) == said
    with FileServer(FILES) as server:
        fetch(server.url, checksums=False, mirror=mirror)
    assert contents(folder) == FILES
    assert caveat(folder) == "Xish 1.4: files unverified"


def test_fetch_from_the_folder_of_another_project(fetch, folder, tmp_path):
    """Its record is believed."""
    old = make_mirror(tmp_path / "mirror", "xx-1.3", OTHERS)
    fetch(checksums=False, mirror=old)
    mirror = tmp_path / "project"
    shutil.move(folder.parent, mirror)
    fetch(checksums=False, mirror=mirror)
    assert caveat(folder) == "Xish 1.4: files of release 1.3, unverified"
    shutil.rmtree(folder)
    shutil.rmtree(mirror)
    fetch(checksums=False, sample=SAMPLE)
    shutil.move(folder.parent, mirror)
    with pytest.raises(UnavailableError):
        fetch(checksums=False, mirror=mirror)


def test_mirror_folder_is_the_nearest_release_of_the_same_treebank(tmp_path):
    for name in ("ar-1.1", "ar-1.3", "ar-1.5", "ar-2.4", "ar_x-1.4", "ar-open"):
        (tmp_path / name).mkdir()
    (tmp_path / "ar-1.4").write_text("no folder")
    assert mirror_folder(tmp_path, "ar-1.4") == MirrorFolder(tmp_path / "ar-1.5", "1.5")
    assert mirror_folder(tmp_path, "ar-1.2") == MirrorFolder(tmp_path / "ar-1.3", "1.3")
    assert mirror_folder(tmp_path, "ar-1.3") == MirrorFolder(tmp_path / "ar-1.3")
    assert mirror_folder(tmp_path, "ar-open") == MirrorFolder(tmp_path / "ar-open")
    for name in ("ar-3.1", "a-1.4", "ar_y-1.4", "other"):
        assert mirror_folder(tmp_path, name) is None


def test_fetch_nothing_to_be_had(fetch, folder, tmp_path):
    with pytest.raises(UnavailableError, match="cannot be reached"):
        fetch()
    assert not folder.exists()
    mirror = make_mirror(tmp_path / "mirror", without=["train", "dev"])
    with pytest.raises(UnavailableError):
        fetch(mirror=mirror)
    assert contents(folder) == {"test.conllu": FILES["test.conllu"]}


def test_fetch_or_sample(fetch, folder, tmp_path):
    sample = make_mirror(tmp_path, "sample", OTHERS) / "sample"
    mirror = make_mirror(tmp_path / "mirror", without=["dev"])
    fetched = fetch(sample=sample, mirror=mirror)
    assert all(f.source.origin is Origin.sample for f in fetched.values())
    assert "cannot be reached" in fetched["dev"].reason
    # The sample as a whole, and what was there stays.
    real = {f"{s}.conllu.old": FILES[f"{s}.conllu"] for s in ("train", "test")}
    assert contents(folder) == {**OTHERS, **real}
    assert caveat(folder) == "SAMPLE TREEBANK, not xx-1.4"
    before = stamps(folder)
    assert all(f.kept for f in fetch(sample=sample).values())
    assert stamps(folder) == before
    with pytest.raises(UnavailableError):
        fetch()


def test_fetch_or_sample_is_for_what_cannot_be_had(fetch, folder, tmp_path):
    sample = make_mirror(tmp_path, "sample", OTHERS) / "sample"
    fetch(sample=sample)
    mirror = make_mirror(tmp_path / "mirror", without=["train"])
    fetched = fetch(mirror=mirror, sample=sample)
    assert origins(fetched) == {Origin.official, Origin.missing}
    left = {name: FILES[name] for name in ("dev.conllu", "test.conllu")}
    assert contents(folder) == left, "no train file of a sample beside real ones"
    assert caveat(folder) == f"Xish 1.4: {PARTIAL}"


def test_fetch_sample_that_is_not_there(fetch, tmp_path):
    with pytest.raises(PunctError, match="P109"):
        fetch(sample=tmp_path / "none")


def test_fetch_leaves_a_users_own_files(fetch, folder, tmp_path):
    make_mirror(folder.parent, files=OTHERS)
    fetched = fetch(checksums=False)
    assert origins(fetched) == {Origin.unverified}
    assert contents(folder) == OTHERS
    fetched = fetch(checksums=True)
    assert origins(fetched) == {Origin.differing}
    assert contents(folder) == OTHERS


def test_fetch_goes_by_the_checksums_of_today(fetch, folder, monkeypatch):
    with FileServer(FILES) as server:
        fetch(server.url)
    assert all(f.kept for f in fetch(checksums=False).values())
    monkeypatch.setitem(FILES, "dev.conllu", OTHERS["dev.conllu"])
    assert fetch()["dev"].source.origin is Origin.differing
    assert caveat(folder) == "Xish 1.4: dev not official"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("assets: []", "lists no treebank"),
        ("assets: [{dest: a/b.txt}]", "lists no treebank"),
        ("assets: [{dest: 3}]", "assets"),
        ("assets: [", "P101"),
        ("assets: [{dest: '${vars.x}/dev.conllu'}]", "P101"),
        ("3", "P101"),
    ],
)
def test_listed_treebanks_of_a_bad_project(tmp_path, text, said):
    (tmp_path / "project.yml").write_text(text)
    with pytest.raises(PunctError, match="P101") as caught:
        listed_treebanks(tmp_path)
    assert said in str(caught.value)


def test_listed_treebanks_know_variables_and_names(tmp_path):
    (tmp_path / "project.yml").write_text(
        """
vars: {ud: "data/ud"}
assets:
  - {dest: "${vars.ud}/xx-1.4/test.conllu", url: "https://h/u/UD_Xish-Y/r1.4/x.conllu"}
  - {dest: "${vars.ud}/own/dev.conllu"}
  - {dest: "${vars.ud}/xx-1.4/dev.conllu"}
"""
    )
    listed = listed_treebanks(tmp_path)
    assert list(listed) == ["xx-1.4", "own"]
    folder = tmp_path / "data" / "ud" / "xx-1.4"
    assert listed["xx-1.4"].folder == folder
    assert list(listed["xx-1.4"].assets) == ["dev", "test"]
    assert listed["xx-1.4"].assets["test"].dest == split_file(folder, "test")
    assert listed["xx-1.4"].title == "Xish-Y 1.4"
    assert listed["own"].title == "own"
    with pytest.raises(UnavailableError, match="no address"):
        list(fetch_treebank(listed["own"], Network()))
