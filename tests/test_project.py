"""The project's commands name what is there."""

import re

from weasel.util import get_checksum
from weasel.util.config import load_project_config

from spacy_punct.data.assets import listed_treebanks
from tests.conftest import REPOSITORY


def test_project_is_valid():
    project = load_project_config(REPOSITORY)
    commands = {command["name"]: command for command in project["commands"]}
    for steps in project["workflows"].values():
        assert set(steps) <= set(commands)
    scripts = "\n".join(line for c in commands.values() for line in c["script"])
    named = re.findall(r"(?:configs|assets)/\w+\.(?:cfg|py)", scripts)
    assert len(named) >= 4
    for path in named:
        assert (REPOSITORY / path).is_file()


def test_project_lists_treebanks_once():
    """weasel has checked the form of the assets when the project is loaded."""
    assets = load_project_config(REPOSITORY)["assets"]
    dests = [asset["dest"] for asset in assets]
    assert len(set(dests)) == len(dests)
    for name, treebank in listed_treebanks(REPOSITORY).items():
        assert list(treebank.assets) == ["train", "dev", "test"]
        assert treebank.folder == REPOSITORY / "assets" / "ud" / name
        language, release = name.split("-")
        assert treebank.title.endswith(f" {release}")
        for split, asset in treebank.assets.items():
            prefix = f"https://raw.githubusercontent.com/.*/r{release}/{language}"
            assert re.fullmatch(rf"{prefix}\w*-ud-{split}\.conllu", asset.url)
    for asset in assets:
        repository = asset["url"].split("/")[4]
        assert re.match(rf"{repository} r[\d.]+, \w+ \(.+\)", asset["description"])


def test_project_checksums_are_those_of_the_files(treebanks):
    n_checked = 0
    for treebank in listed_treebanks(REPOSITORY).values():
        for asset in treebank.assets.values():
            path = treebanks / treebank.name / asset.dest.name
            if path.is_file() and asset.checksum:
                assert get_checksum(path) == asset.checksum
                n_checked += 1
    assert n_checked
