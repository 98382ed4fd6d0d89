"""The treebanks that a spaCy project lists as its assets."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import srsly
from weasel.schemas import ProjectConfigSchema, validate
from weasel.util.config import substitute_project_variables

from spacy_punct.data.treebank import SPLITS
from spacy_punct.errors import Errors, PunctError

PROJECT_FILE = "project.yml"
LICENSED = {
    "en_esl": "English-ESL, as written by learners",
    "en_cesl": "English-ESL, corrected",
}
"""Treebanks whose text has a licence that users must accept, and their titles."""

_UD_ADDRESS = re.compile(r"/UD_([^/]+)/r([\d.]+)/")


@dataclass(frozen=True)
class Asset:
    """One file of a treebank.

    dest (Path): Where it belongs.
    url (str): Where it can be had; empty if nowhere.
    checksum (str): Its official md5; empty if it is not known.
    """

    dest: Path
    url: str
    checksum: str


@dataclass(frozen=True)
class ListedTreebank:
    """A treebank that a project lists.

    name (str): The name of its folder, such as "es_ancora-1.4".
    title (str): What it is called in tables, such as "Spanish-AnCora 1.4".
    folder (Path): Where it belongs.
    assets (Mapping[str, Asset]): "train", "dev", "test" -> the file.
    """

    name: str
    title: str
    folder: Path
    assets: Mapping[str, Asset]


def listed_treebanks(project: Path) -> dict[str, ListedTreebank]:
    """The treebanks among the assets of a project: files named train.conllu,
    dev.conllu and test.conllu.

    project (Path): The folder of project.yml.
    RETURNS (dict[str, ListedTreebank]): Name -> treebank, in the project's order.
    """
    files: dict[str, dict[str, Asset]] = {}
    for item in _project_assets(project):
        dest = project / item.get("dest", "")
        if dest.suffix == ".conllu" and dest.stem in SPLITS:
            asset = Asset(dest, item.get("url") or "", item.get("checksum") or "")
            files.setdefault(dest.parent.name, {})[dest.stem] = asset
    if not files:
        raise PunctError(
            Errors.P101.format(
                path=project / PROJECT_FILE, reason="it lists no treebank"
            )
        )
    return {name: _treebank(name, assets) for name, assets in files.items()}


def licensed_treebank(name: str, beside: Path) -> ListedTreebank:
    """A treebank of `LICENSED`, kept beside those that a project lists.

    name (str): Its name.
    beside (Path): The folder of their folders.
    RETURNS (ListedTreebank): Its files have no address.
    """
    folder = beside / name
    assets = {split: Asset(folder / f"{split}.conllu", "", "") for split in SPLITS}
    return ListedTreebank(name, LICENSED[name], folder, assets)


def _project_assets(project: Path) -> list[dict[str, Any]]:
    path = project / PROJECT_FILE
    if not path.is_file():
        raise PunctError(Errors.P101.format(path=path, reason="no such file"))
    try:
        config = srsly.read_yaml(path)
        wrong = validate(ProjectConfigSchema, config)
        if not wrong:
            return substitute_project_variables(config).get("assets", [])
    except (ValueError, TypeError) as error:
        wrong = [str(error)]
    raise PunctError(Errors.P101.format(path=path, reason="; ".join(wrong)))


def _treebank(name: str, assets: dict[str, Asset]) -> ListedTreebank:
    in_order = {split: assets[split] for split in SPLITS if split in assets}
    found = _UD_ADDRESS.search(" ".join(asset.url for asset in in_order.values()))
    title = f"{found[1]} {found[2]}" if found else name
    folder = next(iter(in_order.values())).dest.parent
    return ListedTreebank(name, title, folder, in_order)
