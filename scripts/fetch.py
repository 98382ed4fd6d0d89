"""Bring treebanks here, from a mirror folder or the network.

    python -m scripts.fetch en-2.16 --or-sample

The addresses and checksums are those of the assets in project.yml, which `spacy project
assets` reads too. Beside the files of a treebank, sources.json says where they are from
and whether they are the official ones; tables repeat it.
"""

import re
import shutil
import urllib.request
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import srsly
import typer
from wasabi import msg
from weasel.util import get_checksum, load_project_config

from scripts.steps import run_step
from spacy_punct.data.treebank import PARTIAL_SHARE, SPLITS, split_file
from spacy_punct.errors import PunctError

SAMPLE = Path("assets/sample")
SOURCES = "sources.json"
OFFICIAL, UNVERIFIED, DIFFERING = "official", "unverified", "not official"
"""A file with the right checksum; one whose checksum nobody knows; one with another."""
RELEASE, STAND_IN = "of release ", "sample"
"""A file of another release, whose number follows; one of the sample treebank."""
_TIMEOUT = 30
_NAME = re.compile(r"(?P<treebank>.+)-(?P<major>\d+)\.(?P<minor>\d+)")


class MirrorFolder(NamedTuple):
    """A treebank's folder in a mirror, and its release if it is another one."""

    path: Path
    release: str


def mirror_folder(mirror: Path, name: str) -> MirrorFolder | None:
    """A treebank in a mirror, or else the nearest release of it.

    UD 1 never stands in for UD 2, nor the other way round: they are annotated
    differently.

    mirror (Path): A folder of treebanks.
    name (str): The treebank, such as "ar-1.4".
    RETURNS (MirrorFolder | None): None if it is not there.
    """
    if (mirror / name).is_dir():
        return MirrorFolder(mirror / name, "")
    wanted = _NAME.fullmatch(name)
    found = []
    for path in sorted(mirror.iterdir()) if wanted else ():
        other = _NAME.fullmatch(path.name)
        if wanted and other and other.group(1, 2) == wanted.group(1, 2):
            distance = abs(int(other["minor"]) - int(wanted["minor"]))
            release = f"{other['major']}.{other['minor']}"
            found.append((distance, MirrorFolder(path, release)))
    return min(found)[1] if found else None


def fetch_file(
    dest: Path, asset: dict[str, Any], mirror: MirrorFolder | None, known: str | None
) -> str:
    """Bring one file here, unless the right one is.

    dest (Path): Where it belongs.
    asset (dict[str, Any]): Its `url` and, if known, its `checksum`.
    mirror (MirrorFolder | None): Asked before the network.
    known (str | None): What a file that is here was recorded as.
    RETURNS (str): What it is: OFFICIAL and so on.
    """
    checksum = asset.get("checksum", "").lower()
    if dest.is_file():
        if checksum and get_checksum(dest) == checksum:
            return OFFICIAL
        if not checksum and known != STAND_IN:
            return known or UNVERIFIED
    dest.parent.mkdir(parents=True, exist_ok=True)
    if mirror and (mirror.path / dest.name).is_file():
        _copy(mirror.path / dest.name, dest)
        if get_checksum(dest) == checksum:
            return OFFICIAL
        if mirror.release:
            return RELEASE + mirror.release
        return DIFFERING if checksum else UNVERIFIED
    part = dest.with_name(f"{dest.name}.part")
    answer = urllib.request.urlopen(asset["url"], timeout=_TIMEOUT)
    with answer, part.open("wb") as file:
        shutil.copyfileobj(answer, file)
    if checksum and get_checksum(part) != checksum:
        raise PunctError(f"{asset['url']} does not have the checksum {checksum}")
    part.replace(dest)
    return OFFICIAL if checksum else UNVERIFIED


def _copy(source: Path, dest: Path) -> None:
    """Copy a file, unless it is there: what was made of it stays up to date."""
    if not (dest.is_file() and get_checksum(dest) == get_checksum(source)):
        shutil.copyfile(source, dest)


def fetch_treebank(
    folder: Path, assets: dict[str, Any], mirror: Path | None, *, or_sample: bool
) -> None:
    """Bring the files of a treebank here, and record what they are.

    Without a train file there is still something to train on, without the others not.

    folder (Path): Where they belong.
    assets (dict[str, Any]): "train", "dev", "test" -> the asset in project.yml.
    mirror (Path | None): A folder of treebanks.
    or_sample (bool): Whether the sample treebank stands in for one that is missing.
    """
    source = mirror_folder(mirror, folder.name) if mirror else None
    known = sources(folder)
    found: dict[str, str] = {}
    missing: dict[str, str] = {}
    for split, asset in assets.items():
        dest = split_file(folder, split)
        try:
            found[split] = fetch_file(dest, asset, source, known.get(split))
        except (PunctError, OSError) as error:
            missing[split] = " ".join(str(error).split())
    if missing.keys() - {"train"}:
        (split, reason), *_ = missing.items()
        if not or_sample:
            raise PunctError(
                f"Could not fetch {folder.name}/{split} ({reason}). Connect to the "
                "network, name a folder that has it in SPACY_PUNCT_MIRROR, or let "
                "the sample treebank stand in with --or-sample."
            )
        msg.warn(f"{folder.name}: THE SAMPLE TREEBANK stands in ({reason})")
        for split in SPLITS:
            _copy(split_file(SAMPLE, split), split_file(folder, split))
        found = dict.fromkeys(SPLITS, STAND_IN)
    if found != known:
        srsly.write_json(folder / SOURCES, found)
    said = caveat(folder)
    if said:
        msg.warn(f"{folder.name}: {said}")
    else:
        msg.good(f"{folder.name}: the official files")


def sources(folder: Path) -> dict[str, str]:
    """What the files of a treebank are, by split; nothing if nobody recorded it."""
    path = folder / SOURCES
    return srsly.read_json(path) if path.is_file() else {}


def caveat(folder: Path) -> str:
    """What must be said of figures that were measured on a treebank.

    folder (Path): Its folder.
    RETURNS (str): Empty if its files are official, or its user's own.
    """
    there = [split for split in SPLITS if split_file(folder, split).is_file()]
    found = {s: what for s, what in sources(folder).items() if s in there}
    if STAND_IN in found.values():
        return f"SAMPLE TREEBANK, not {folder.name}"
    phrases = []
    for what in dict.fromkeys(found.values()):
        if what != OFFICIAL:
            same = [split for split in found if found[split] == what]
            which = "files" if same == there else ", ".join(same)
            phrases.append(f"{which} {what}")
    if "train" not in there:
        phrases.append(
            f"no train file; first {PARTIAL_SHARE:.0%} of dev are trained on, the rest "
            "decides"
        )
    return "; ".join(phrases)


def main(
    treebanks: Annotated[list[str], typer.Argument(help="Names such as en-2.16.")],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="The folder of their folders.")
    ] = Path("assets/ud"),
    mirror: Annotated[
        Path | None,
        typer.Option(
            envvar="SPACY_PUNCT_MIRROR",
            help="A folder with TREEBANK/train.conllu, dev.conllu and test.conllu.",
        ),
    ] = None,
    or_sample: Annotated[
        bool,
        typer.Option(
            "--or-sample", help="Let the sample treebank stand in for a missing one."
        ),
    ] = False,
) -> None:
    """Bring treebanks here, from a mirror folder or the network.

    Example: SPACY_PUNCT_MIRROR=/data/ud python -m scripts.fetch en-2.16 zh-1.4
    """
    if mirror is not None and not mirror.is_dir():
        raise PunctError(f"There is no mirror folder {mirror}.")
    listed: dict[str, dict[str, Any]] = {}
    for asset in load_project_config(Path.cwd())["assets"]:
        dest = Path(asset["dest"])
        if dest.suffix == ".conllu":
            listed.setdefault(dest.parent.name, {})[dest.stem] = asset
    for name in treebanks:
        folder = output / name
        if name in listed:
            fetch_treebank(folder, listed[name], mirror, or_sample=or_sample)
        elif split_file(folder, "dev").is_file():
            msg.info(f"{name}: your own, kept as it is")
        else:
            raise PunctError(
                f"project.yml lists no treebank {name}, but {', '.join(listed)}. Put "
                f"one of your own into {folder}: dev.conllu, test.conllu, train.conllu."
            )


if __name__ == "__main__":
    run_step(main)
