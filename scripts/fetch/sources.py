"""The record of where a treebank's files came from, kept beside them."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from enum import Enum
from pathlib import Path

import srsly

from spacy_punct.data.treebank import PARTIAL_SHARE, SPLITS, split_file
from spacy_punct.errors import Errors, PunctError
from spacy_punct.files import write_safely

FILE_NAME = "sources.json"


class Origin(str, Enum):
    """What is known of a file."""

    official = "official"
    """Its checksum is the official one."""
    unverified = "unverified"
    """The right release by its address or name, but no checksum is known."""
    differing = "differing"
    """Its checksum is not the official one."""
    other_release = "other release"
    """It stands in for the same file of another release."""
    sample = "sample"
    """The project's sample treebank stands in for it."""
    missing = "missing"


@dataclass(frozen=True)
class Source:
    """Where one file came from.

    origin (Origin): What is known of it.
    place (str): The address or path it was taken from; empty if it was found there.
    md5 (str): Its checksum; empty if it is missing.
    release (str): The release it belongs to, if that is another one.
    """

    origin: Origin
    place: str = ""
    md5: str = ""
    release: str = ""


@dataclass(frozen=True)
class Record:
    """Where the files of a treebank came from.

    treebank (str): Its name, such as "es_ancora-1.4".
    title (str): What it is called in tables, such as "Spanish-AnCora 1.4".
    splits (Mapping[str, Source]): "train", "dev", "test" -> where it came from.
    """

    treebank: str
    title: str
    splits: Mapping[str, Source] = field(default_factory=dict)

    def with_source(self, split: str, source: Source) -> "Record":
        return replace(self, splits={**self.splits, split: source})


def read_record(folder: Path) -> Record | None:
    """The record of a treebank's folder.

    folder (Path): The folder.
    RETURNS (Record | None): The record; None if there is none, as in a user's own
        folder.
    """
    path = folder / FILE_NAME
    if not path.is_file():
        return None
    try:
        data = srsly.read_json(path)
        splits = {
            split: Source(**{**source, "origin": Origin(source["origin"])})
            for split, source in data["splits"].items()
        }
        return Record(data["treebank"], data["title"], splits)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise PunctError(Errors.P100.format(path=path, reason=error)) from None


def write_record(folder: Path, record: Record) -> None:
    """Write the record of a treebank's folder, whole or not at all."""
    order = [split for split in SPLITS if split in record.splits]
    splits = {
        split: {k: v for k, v in asdict(record.splits[split]).items() if v}
        for split in order
    }
    content = {"treebank": record.treebank, "title": record.title, "splits": splits}
    write_safely(folder / FILE_NAME, srsly.json_dumps(content, indent=2).encode())


def caveat(folder: Path) -> str:
    """What must be said of figures that were measured on a treebank's folder.

    folder (Path): The folder.
    RETURNS (str): A phrase for tables; empty if all three files are official, or if
        they are there and nothing is known of their sources.
    """
    record = read_record(folder)
    there = [split for split in SPLITS if split_file(folder, split).is_file()]
    phrases = []
    if record is not None:
        samples = _of(record, there, Origin.sample)
        if samples:
            which = "" if samples == there else f" as {_listed(samples)}"
            return f"SAMPLE TREEBANK{which}, not {record.treebank}"
        phrases += _source_phrases(record, there)
    if "train" not in there:
        phrases.append(
            f"no train file; first {PARTIAL_SHARE:.0%} of dev are trained on, the rest "
            "decides"
        )
    if record is None or not phrases:
        return "; ".join(phrases)
    return f"{record.title}: {'; '.join(phrases)}"


def _source_phrases(record: Record, there: list[str]) -> list[str]:
    def which(splits: list[str]) -> str:
        return "files" if splits == there else _listed(splits)

    phrases = []
    others = _of(record, there, Origin.other_release)
    for release in sorted({record.splits[split].release for split in others}):
        same = [split for split in others if record.splits[split].release == release]
        phrases.append(f"{which(same)} of release {release}, unverified")
    if differing := _of(record, there, Origin.differing):
        phrases.append(f"{which(differing)} not official")
    if unverified := _of(record, there, Origin.unverified):
        phrases.append(f"{which(unverified)} unverified")
    return phrases


def _of(record: Record, there: list[str], origin: Origin) -> list[str]:
    unknown = Source(Origin.unverified)
    return [s for s in there if record.splits.get(s, unknown).origin is origin]


def _listed(splits: list[str]) -> str:
    return " and ".join(filter(None, (", ".join(splits[:-1]), splits[-1])))
