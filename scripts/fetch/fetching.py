"""Treebanks brought to where a project wants them, from a mirror or the network."""

import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from weasel.util import get_checksum

from scripts.fetch.assets import Asset, ListedTreebank
from scripts.fetch.downloading import Network, UnavailableError
from scripts.fetch.sources import (
    Origin,
    Record,
    Source,
    read_record,
    write_record,
)
from spacy_punct.data.conllu import read_conllu
from spacy_punct.data.treebank import SPLITS, split_file
from spacy_punct.errors import Errors, PunctError

_RELEASE = re.compile(r"(?P<treebank>.+)-(?P<major>\d+)\.(?P<minor>\d+)")


@dataclass(frozen=True)
class Fetched:
    """What became of one file.

    split (str): "train", "dev" or "test".
    source (Source): Where it came from.
    kept (bool): Whether it was there already.
    reason (str): Why it could not be had, if it is missing or a sample.
    """

    split: str
    source: Source
    kept: bool = False
    reason: str = ""


@dataclass(frozen=True)
class MirrorFolder:
    """A folder of a mirror.

    path (Path): The folder.
    release (str): Its release, if it is another one than the one looked for.
    """

    path: Path
    release: str = ""


def mirror_folder(mirror: Path, name: str) -> MirrorFolder | None:
    """A treebank in a mirror.

    If the mirror lacks it, another release of it will do, the nearest one (of two, the
    later one), but never UD 1 for UD 2 or the other way round: they are annotated
    differently.

    mirror (Path): A folder of treebanks.
    name (str): The treebank, such as "ar-1.4".
    RETURNS (MirrorFolder | None): Where it is; None if it is not there.
    """
    if (mirror / name).is_dir():
        return MirrorFolder(mirror / name)
    wanted = _RELEASE.fullmatch(name)
    if wanted is None:
        return None
    found = []
    for path in mirror.iterdir():
        other = _RELEASE.fullmatch(path.name)
        if other and path.is_dir() and other.group(1, 2) == wanted.group(1, 2):
            distance = int(other["minor"]) - int(wanted["minor"])
            release = f"{other['major']}.{other['minor']}"
            found.append((abs(distance), -distance, MirrorFolder(path, release)))
    return min(found, key=lambda item: item[:2])[2] if found else None


def fetch_treebank(
    listed: ListedTreebank,
    network: Network,
    mirror: Path | None = None,
    sample: Path | None = None,
) -> Iterator[Fetched]:
    """Bring the files of a treebank to its folder and record where they came from.

    A file that is there and right is kept; others are taken from the mirror, or else
    from the network. Another release, which only a mirror has, goes before the network
    if all files are of it, and after it if releases would be mixed. A train file that
    cannot be had is no error. A file that was not fetched, but is in the way of one
    that is, becomes `.conllu.old`.

    listed (ListedTreebank): The treebank.
    network (Network): Where to download from.
    mirror (Path | None): A folder of treebanks.
    sample (Path | None): The folder of a treebank to put in the place of one that
        lacks dev or test.
    YIELDS (Fetched): What became of each file, as soon as it is known.
    """
    yield from _Fetching(listed, network, mirror, sample)


class _Fetching:
    """The fetching of one treebank."""

    def __init__(
        self,
        listed: ListedTreebank,
        network: Network,
        mirror: Path | None,
        sample: Path | None,
    ) -> None:
        self.listed = listed
        self.network = network
        self.mirror = mirror_folder(mirror, listed.name) if mirror else None
        self.sample = sample
        known = read_record(listed.folder)
        self.record = Record(listed.name, listed.title, known.splits if known else {})

    def __iter__(self) -> Iterator[Fetched]:
        settled = {split: self._settled(split) for split in self.listed.assets}
        ways = [self._from_mirror, self._from_network]
        if self._would_mix([split for split, source in settled.items() if source]):
            ways.reverse()
        missing: dict[str, PunctError] = {}
        broken: list[PunctError] = []
        for split, source in settled.items():
            if source is not None:
                self._note(split, source)
                yield Fetched(split, source, kept=True)
                continue
            for way in (*ways, self._as_it_is):
                try:
                    fetched = way(split)
                except UnavailableError as error:
                    missing[split] = error
                    continue
                except PunctError as error:
                    missing[split] = error
                    broken.append(error)
                    continue
                if fetched is not None:
                    missing.pop(split, None)
                    yield fetched
                    break
        if self.sample is not None and missing.keys() - {"train"}:
            yield from self._sampled(self.sample, next(iter(missing.values())))
        elif broken:
            raise broken[0]
        elif missing.keys() - {"train"}:
            raise next(iter(missing.values()))
        elif missing:
            yield self._partial(missing["train"])

    def _settled(self, split: str) -> Source | None:
        """The source of a file that is there and right."""
        asset = self.listed.assets[split]
        known = self.record.splits.get(split)
        if not asset.dest.is_file():
            return None
        md5 = get_checksum(asset.dest)
        same = known is not None and known.md5 == md5
        if asset.checksum:
            if md5 != asset.checksum.lower():
                return None
            official = same and known.origin is Origin.official
            return known if official else Source(Origin.official, md5=md5)
        right = (Origin.official, Origin.unverified)
        return known if same and known.origin in right else None

    def _would_mix(self, settled: list[str]) -> bool:
        if self.mirror is None or not self.mirror.release:
            return False
        needed = self.listed.assets
        return bool(settled) or not all(
            split_file(self.mirror.path, split).is_file() for split in needed
        )

    def _from_mirror(self, split: str) -> Fetched | None:
        if self.mirror is None or not split_file(self.mirror.path, split).is_file():
            return None
        path = split_file(self.mirror.path, split)
        source = self._mirror_source(split, path)
        if source.origin is Origin.sample:
            return None
        return self._copied(split, path, source)

    def _mirror_source(self, split: str, path: Path) -> Source:
        md5 = get_checksum(path)
        checksum = self.listed.assets[split].checksum.lower()
        if md5 == checksum:
            return Source(Origin.official, str(path), md5)
        # The folder of another project has a record of its own.
        record = read_record(path.parent)
        known = record.splits.get(split) if record else None
        if known is not None and known.md5 == md5:
            if known.origin is Origin.sample:
                return known
            if known.origin is Origin.other_release:
                return Source(Origin.other_release, str(path), md5, known.release)
        if release := self.mirror.release:
            return Source(Origin.other_release, str(path), md5, release)
        origin = Origin.differing if checksum else Origin.unverified
        return Source(origin, str(path), md5)

    def _from_network(self, split: str) -> Fetched | None:
        asset = self.listed.assets[split]
        if not asset.url:
            raise UnavailableError(asset.dest.name, "the project has no address of it")
        part = asset.dest.with_name(f"{asset.dest.name}.part")
        self.network.download(asset.url, part)
        md5 = get_checksum(part)
        try:
            _verify(asset, part, md5)
        except PunctError:
            part.unlink()
            raise
        origin = Origin.official if asset.checksum else Origin.unverified
        source = Source(origin, asset.url, md5)
        self._place(split, part, source)
        return Fetched(split, source)

    def _as_it_is(self, split: str) -> Fetched | None:
        """A file that is not right, but all there is."""
        asset = self.listed.assets[split]
        known = self.record.splits.get(split)
        if not asset.dest.is_file():
            return None
        md5 = get_checksum(asset.dest)
        origin, place, release = Origin.unverified, "", ""
        if known is not None and known.md5 == md5:
            origin, place, release = known.origin, known.place, known.release
        if origin is Origin.sample:
            return None
        if origin is not Origin.other_release:
            origin = Origin.differing if asset.checksum else Origin.unverified
        source = Source(origin, place, md5, release)
        self._note(split, source)
        return Fetched(split, source, kept=True)

    def _sampled(self, sample: Path, error: PunctError) -> Iterator[Fetched]:
        for split in SPLITS:
            path = split_file(sample, split)
            if not path.is_file():
                raise PunctError(Errors.P109.format(path=path))
            source = Source(Origin.sample, str(path), get_checksum(path))
            yield replace(self._copied(split, path, source), reason=_reason(error))

    def _partial(self, error: PunctError) -> Fetched:
        # What is there can only be the train file of a sample.
        split_file(self.listed.folder, "train").unlink(missing_ok=True)
        source = Source(Origin.missing)
        self._note("train", source)
        return Fetched("train", source, reason=_reason(error))

    def _copied(self, split: str, path: Path, source: Source) -> Fetched:
        dest = split_file(self.listed.folder, split)
        if dest.is_file() and get_checksum(dest) == source.md5:
            self._note(split, source)
            return Fetched(split, source, kept=True)
        dest.parent.mkdir(parents=True, exist_ok=True)
        copy = dest.with_name(f"{dest.name}.copy")
        shutil.copyfile(path, copy)
        self._place(split, copy, source)
        return Fetched(split, source)

    def _place(self, split: str, file: Path, source: Source) -> None:
        """Give a whole file its name. It is recorded before: a record without its
        file does no harm, a file without its record would be taken for a user's."""
        dest = split_file(self.listed.folder, split)
        known = self.record.splits.get(split)
        if dest.is_file():
            ours = known is not None and known.md5 == get_checksum(dest)
            if not ours or source.origin is Origin.sample:
                dest.replace(dest.with_name(f"{dest.name}.old"))
        self._note(split, source)
        file.replace(dest)
        dest.with_name(f"{dest.name}.part").unlink(missing_ok=True)

    def _note(self, split: str, source: Source) -> None:
        if self.record.splits.get(split) != source:
            self.record = self.record.with_source(split, source)
            write_record(self.listed.folder, self.record)


def _reason(error: PunctError) -> str:
    return error.reason if isinstance(error, UnavailableError) else str(error)


def _verify(asset: Asset, part: Path, md5: str) -> None:
    if asset.checksum:
        if md5 != asset.checksum.lower():
            message = Errors.P106.format(
                url=asset.url, found=md5, expected=asset.checksum
            )
            raise PunctError(message)
        return
    # Without a checksum, at least it must not be the page of some gateway.
    try:
        whole = part.read_bytes().endswith(b"\n\n") and any(read_conllu(part))
    except PunctError:
        whole = False
    if not whole:
        raise PunctError(Errors.P107.format(url=asset.url))
