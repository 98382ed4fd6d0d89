"""`punct fetch`: treebanks for a project."""

from pathlib import Path
from typing import Annotated

import typer
from spacy_punct.cli.group import command, printer

from scripts.aligned import lack_text
from scripts.fetch.assets import (
    LICENSED,
    PROJECT_FILE,
    ListedTreebank,
    licensed_treebank,
    listed_treebanks,
)
from scripts.fetch.downloading import Network, UnavailableError
from scripts.fetch.fetching import Fetched, fetch_treebank
from scripts.fetch.sources import Origin, caveat
from spacy_punct.data.conllu import read_conllu
from spacy_punct.data.treebank import split_file
from spacy_punct.errors import Errors, PunctError

_SAMPLE = Path("assets") / "sample"


@command
def fetch(
    treebanks: Annotated[
        list[str] | None,
        typer.Argument(help="Names such as en-2.16; default: all that are listed."),
    ] = None,
    project: Annotated[
        Path, typer.Option(help="The folder of project.yml, which lists them.")
    ] = Path("."),
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
            "--or-sample",
            help="Put the sample treebank in the place of one that cannot be had.",
        ),
    ] = False,
) -> None:
    """Bring treebanks into a project, from a mirror folder or the network.

    Files that are there and right are kept; a download that was stopped goes on.
    What is not the official file is said, and recorded in sources.json beside it.
    For the learner corpora en_esl and en_cesl it says how to obtain them, or takes
    them from the mirror if their words are there.

    Examples:

    python -m spacy punct fetch en-2.16

    python -m spacy punct fetch --mirror /data/ud
    """
    listed = listed_treebanks(project)
    if mirror is not None and not mirror.is_dir():
        raise PunctError(Errors.P103.format(path=mirror))
    beside = next(iter(listed.values())).folder.parent
    withheld = []
    for name in LICENSED:
        if name not in (treebanks or []) or name in listed or _has_text(beside / name):
            continue
        if mirror is not None and _has_text(mirror / name):
            listed[name] = licensed_treebank(name, beside)
        else:
            withheld.append(name)
    wanted = [name for name in treebanks or listed if name not in withheld]
    own = [name for name in wanted if name not in listed]
    for name in own:
        if not _is_treebank(beside / name):
            path, known = project / PROJECT_FILE, ", ".join(listed)
            raise PunctError(Errors.P102.format(name=name, path=path, known=known))
        printer.info(f"{name}: your own, kept as it is")
    sample = project / _SAMPLE if or_sample else None
    network = Network()
    errors = {
        name: _fetch(listed[name], network, mirror, sample)
        for name in wanted
        if name not in own
    }
    lines = _summary(errors)
    if withheld:
        names = " and ".join(withheld)
        lines.append(Errors.P126.format(treebanks=names, folder=beside))
    if lines:
        raise PunctError(" ".join(lines))


def _is_treebank(folder: Path) -> bool:
    """Whether there is enough to train and to measure."""
    return all(split_file(folder, split).is_file() for split in ("dev", "test"))


def _has_text(folder: Path) -> bool:
    """Whether there is a treebank with its words; if only these are missing, say so."""
    if not _is_treebank(folder):
        return False
    without = lack_text(read_conllu(split_file(folder, "dev")))
    if without:
        printer.warn(f"{folder} has '_' for every word: annotation without the text")
    return not without


def _fetch(
    listed: ListedTreebank, network: Network, mirror: Path | None, sample: Path | None
) -> PunctError | None:
    try:
        for fetched in fetch_treebank(listed, network, mirror, sample):
            _say(listed.name, fetched)
    except KeyboardInterrupt:
        typer.echo("Stopped. The same command goes on from here.", err=True)
        raise typer.Exit(130) from None
    except PunctError as error:
        printer.fail(f"{listed.name}: not complete")
        return error
    if said := caveat(listed.folder):
        printer.warn(said)
    return None


def _say(name: str, fetched: Fetched) -> None:
    source = fetched.source
    what = {
        Origin.official: "checksum right",
        Origin.unverified: f"NOT VERIFIED, no checksum is known (md5 {source.md5})",
        Origin.differing: f"NOT THE OFFICIAL FILE (md5 {source.md5})",
        Origin.other_release: f"ANOTHER RELEASE, {source.release}",
        Origin.sample: f"THE SAMPLE TREEBANK stands in ({fetched.reason})",
        Origin.missing: f"none ({fetched.reason})",
    }[source.origin]
    if source.origin not in (Origin.sample, Origin.missing):
        place = "from the network" if "://" in source.place else "from the mirror"
        what = f"{'kept' if fetched.kept else place}, {what}"
    say = printer.good if source.origin is Origin.official else printer.warn
    say(f"{name}/{fetched.split}: {what}")


def _summary(errors: dict[str, PunctError | None]) -> list[str]:
    """What is wrong, and for what cannot be had each reason once."""
    unavailable: dict[str, list[str]] = {}
    lines = []
    for name, error in errors.items():
        if isinstance(error, UnavailableError):
            unavailable.setdefault(error.reason, []).append(name)
        elif error is not None:
            lines.append(str(error))
    for reason, names in unavailable.items():
        lines.append(Errors.P108.format(treebanks=", ".join(names), reason=reason))
    return lines
