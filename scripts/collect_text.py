"""Collect well punctuated English text from the repositories that project.yml lists.

    python -m scripts.collect_text --checkouts assets/text --output corpus/text

Each source becomes train/NAME.txt.xz: a paragraph, a speaker's turn or a sentence per
line, as they are written; `spacy_punct.TextCorpus.v1` cleans them when it reads them.
Larger sources also have dev/NAME.txt and test/NAME.txt, with text left out between the
parts. Repositories that are not in the folder of checkouts are fetched, at the commit
that is listed.
"""

import csv
import json
import lzma
import re
import subprocess
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Annotated, Any, NamedTuple
from xml.etree import ElementTree

import typer
from wasabi import msg
from weasel.util import load_project_config

from scripts.steps import run_step
from spacy_punct.errors import PunctError

PART_WORDS, GAP_WORDS = 100_000, 4_000
"""Words of a dev or test part, and words left out before it."""
FIRST_MODERN_YEAR = 1900

_SPEAKER = re.compile(r"^(?:\*\*)?[A-Z][\w.’'-]*(?: [A-Z][\w.’'-]*){0,3}:(?:\*\*)?\s*")
_FRONT_MATTER = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)
_CODE_BLOCK = re.compile(r"^(```|~~~).*?^\1", re.DOTALL | re.MULTILINE)
_NO_PARAGRAPH = re.compile(r"[#|>{<!]|\s{4}|podcast:|https?:")
_ITEM = re.compile(r"\s*(?:[-*+]|\d+[.)])\s")
_TRANSLATION = re.compile(r"\.[a-z]{2}\.md$")
_BOILERPLATE = re.compile(
    r"colophon|imprint|titlepage|halftitlepage|uncopyright|endnotes|loi|toc"
)


def markdown_paragraphs(text: str) -> Iterator[str]:
    """The paragraphs and the items of lists, each as one line."""
    text = _CODE_BLOCK.sub("", _FRONT_MATTER.sub("", text))
    for block in re.split(r"\n\s*\n", text):
        lines: list[str] = []
        for line in block.splitlines():
            if _NO_PARAGRAPH.match(line) or _ITEM.match(line):
                yield _joined(lines)
                lines = []
            if not _NO_PARAGRAPH.match(line):
                lines.append(line)
        yield _joined(lines)


def turns(path: Path) -> Iterator[str]:
    """What speakers say in a transcript in Markdown."""
    if _TRANSLATION.search(path.name):
        return
    for paragraph in markdown_paragraphs(_text(path)):
        yield _SPEAKER.sub("", paragraph)


def posts(path: Path) -> Iterator[str]:
    return markdown_paragraphs(_text(path))


def speech(path: Path) -> Iterator[str]:
    """A president's speech, without the line that says whose it is."""
    for line in _text(path).splitlines():
        if not line.startswith("President:"):
            yield line


def proceedings(path: Path) -> Iterator[str]:
    """What was said in English in the European Parliament."""
    for paragraph in ElementTree.parse(path).iter("p"):
        if paragraph.get("sl") == "en":
            yield "".join(paragraph.itertext())


def book(path: Path) -> Iterator[str]:
    """The paragraphs of a chapter of Standard Ebooks."""
    if not _BOILERPLATE.match(path.stem):
        for paragraph in _elements(path, "p"):
            yield _with_hyphens(paragraph)


def module(path: Path) -> Iterator[str]:
    """The paragraphs of a module of OpenStax."""
    for paragraph in _elements(path, "para"):
        yield _with_hyphens(paragraph)


def translations(path: Path) -> Iterator[str]:
    """The English side of translated sentences."""
    for line in _text(path).splitlines():
        columns = line.split("\t")
        if len(columns) == 4 and "eng" in columns[:2]:
            yield columns[2 + columns.index("eng")]


def dialogues(path: Path) -> Iterator[str]:
    """The turns of the Schema-Guided Dialogue data."""
    found: Any = json.loads(_text(path))
    for dialogue in found if isinstance(found, list) else []:
        for turn in dialogue.get("turns", []):
            yield turn["utterance"]


def sentences(path: Path) -> Iterator[str]:
    return iter(_text(path).splitlines())


def call(path: Path) -> Iterator[str]:
    """The turns of a call, of a table with a token per row."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="|", quoting=csv.QUOTE_NONE))
    words: list[str] = []
    for row, following in zip(rows, [*rows[1:], {"speaker": None}], strict=True):
        words.append((row["prepunctuation"] or "") + row["token"] + row["punctuation"])
        if row["speaker"] != following["speaker"]:
            yield " ".join(words)
            words = []


class Source(NamedTuple):
    """How a source is read.

    pattern (str): Which files of its repositories.
    read (Callable): A file -> its paragraphs.
    has_parts (bool): Whether there is a dev and a test part.
    without (str): A folder of the repositories that is not read.
    unique (bool): Whether each line counts once.
    """

    pattern: str
    read: Callable[[Path], Iterable[str]]
    has_parts: bool = False
    without: str = ""
    unique: bool = False


SOURCES = {
    "changelog": Source("*/*.md", turns, True, without="bigtent"),
    "europarl_en": Source("proceedings/xml/en/*.xml", proceedings, True),
    "se": Source("src/epub/text/*.xhtml", book, True),
    "openstax": Source("modules/**/*.cnxml", module, True),
    "btc": Source("**/*.md", turns, True),
    "pres": Source("data/*", speech, True),
    "pres_early": Source("data/*", speech),
    "digitalgov": Source("content/**/*.md", posts),
    "18f": Source("content/**/*.md", posts),
    "tatoeba_en": Source("data/[td]e[sv]*/*/*.txt", translations, unique=True),
    "sgd": Source("*/dialogues_*.json", dialogues),
    "cv_en": Source("server/data/en/*.txt", sentences),
    "earnings22": Source("earnings22/transcripts/nlp_references/*.nlp", call, True),
}


def paragraphs(name: str, folders: Iterable[Path]) -> Iterator[str]:
    """The lines of a source, in the order of its files.

    name (str): One of `SOURCES`.
    folders (Iterable[Path]): Checkouts of its repositories.
    YIELDS (str): A line with letters.
    """
    source = SOURCES[name]
    seen: set[str] = set()
    for folder in folders:
        for path in sorted(folder.glob(source.pattern)):
            inner = path.relative_to(folder)
            if not path.is_file() or inner.parts[0] == source.without:
                continue
            if not _is_of_time(name, path):
                continue
            try:
                found = list(source.read(path))
            except (ElementTree.ParseError, ValueError, KeyError) as error:
                msg.warn(f"{path} is left out: {error}")
                continue
            for line in found:
                line = " ".join(line.split())
                if any(map(str.isalpha, line)) and line not in seen:
                    if source.unique:
                        seen.add(line)
                    yield line


def split(lines: list[str], part_words: int, gap_words: int) -> dict[str, list[str]]:
    """Training text, and dev and test text from the end, with gaps between them.

    RETURNS (dict[str, list[str]]): Only "train" if there is too little text for parts.
    """
    sizes = [len(line.split()) for line in lines]
    if sum(sizes) < 4 * (part_words + gap_words):
        return {"train": lines}
    ends, end = {}, len(lines)
    for part in ("test", "dev"):
        start = _start_of_last(sizes, end, part_words)
        ends[part] = lines[start:end]
        end = _start_of_last(sizes, start, gap_words)
    return {"train": lines[:end], **ends}


def _start_of_last(sizes: list[int], end: int, n_words: int) -> int:
    while end and n_words > 0:
        end -= 1
        n_words -= sizes[end]
    return end


def _is_of_time(name: str, path: Path) -> bool:
    if not name.startswith("pres"):
        return True
    year = re.match(r"\d{4}", path.name)
    is_early = year is not None and int(year[0]) < FIRST_MODERN_YEAR
    return is_early == (name == "pres_early")


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def _elements(path: Path, name: str) -> Iterator[str]:
    for element in ElementTree.parse(path).iter():
        if element.tag.rpartition("}")[2] == name:
            yield "".join(element.itertext())


def _with_hyphens(paragraph: str) -> str:
    """In books an en dash between words joins them."""
    return re.sub(r"(?<=\w)–(?=\w)", "-", paragraph)


def _joined(lines: Iterable[str]) -> str:
    return " ".join(line.strip() for line in lines)


def checkout(repository: str, commit: str, folder: Path) -> None:
    """Fetch one commit of a repository, unless something is in the folder."""
    if folder.is_dir() and any(folder.iterdir()):
        return
    folder.mkdir(parents=True, exist_ok=True)
    url = f"https://github.com/{repository}"
    for command in (
        ["init", "--quiet"],
        ["fetch", "--quiet", "--depth", "1", url, commit],
        ["checkout", "--quiet", "FETCH_HEAD"],
    ):
        done = subprocess.run(
            ["git", "-C", str(folder), *command], capture_output=True, text=True
        )
        if done.returncode:
            raise PunctError(f"{repository} could not be fetched: {done.stderr}")


def main(
    checkouts: Annotated[
        Path, typer.Option(help="Folder of checkouts, each OWNER+NAME.")
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="Where text goes.")],
    only: Annotated[
        list[str] | None, typer.Option(help="A source; may be repeated.")
    ] = None,
    part_words: Annotated[int, typer.Option(min=1, help="Words of dev and test.")] = (
        PART_WORDS
    ),
) -> None:
    """Collect the text of the sources that project.yml lists.

    Example: python -m scripts.collect_text --checkouts assets/text --output corpus/text
    """
    listed: dict[str, Any] = load_project_config(Path())["vars"]["text"]
    for name in only or SOURCES:
        if name not in SOURCES:
            known = ", ".join(SOURCES)
            raise PunctError(f"There is no source {name}. The sources are {known}.")
        entry = listed[name.removesuffix("_early")]
        repository, commit = entry["repository"], entry["commit"]
        if commit:
            checkout(repository, commit, checkouts / repository.replace("/", "+"))
        folders = sorted(checkouts.glob(repository.replace("/", "+")))
        if not folders:
            msg.warn(f"{name}: no checkout of {repository} in {checkouts}; left out")
            continue
        lines = list(paragraphs(name, folders))
        parts = {"train": lines}
        if SOURCES[name].has_parts:
            parts = split(lines, part_words, GAP_WORDS)
        for part, found in parts.items():
            _write(output / part, name, found)
        n_words = sum(len(line.split()) for line in parts["train"])
        msg.good(f"{name}: {n_words:,} words to learn from")


def _write(folder: Path, name: str, lines: list[str]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    text = "".join(f"{line}\n" for line in lines)
    if folder.name == "train":
        packed = lzma.compress(text.encode("utf-8"), preset=3)
        (folder / f"{name}.txt.xz").write_bytes(packed)
    else:
        (folder / f"{name}.txt").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    run_step(main)
