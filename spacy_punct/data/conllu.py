"""CoNLL-U files as plain data."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import astuple, dataclass, field
from pathlib import Path

from spacy_punct.errors import Errors, PunctError

_COLUMNS = 10
_NONE = "_"
_EMPTY_NODE = re.compile(r"\d+\.\d+")
_TEXT = re.compile(r"(?:text\s*=|sentence-text:)\s*(.*)")


@dataclass(frozen=True, slots=True)
class Token:
    """A syntactic word: one line with an integer id."""

    form: str
    lemma: str
    upos: str
    xpos: str
    feats: str
    head: int
    """1-based id of the head; 0 for the root."""
    relation: str
    deps: str
    misc: str

    @property
    def space_after(self) -> bool:
        return "SpaceAfter=No" not in self.misc.split("|")


@dataclass(frozen=True, slots=True)
class MultiwordToken:
    """A surface token that stands for the words `first` to `last` (1-based)."""

    first: int
    last: int
    form: str
    misc: str

    @property
    def space_after(self) -> bool:
        return "SpaceAfter=No" not in self.misc.split("|")


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of a treebank. Empty nodes are read over: they have no surface."""

    tokens: tuple[Token, ...]
    multiwords: tuple[MultiwordToken, ...] = ()
    comments: tuple[str, ...] = ()
    where: str = field(default="", compare=False)
    """File and line of the first token, for messages."""

    @property
    def text(self) -> str | None:
        """The `# text = ` comment (`# sentence-text: ` in UD 1.4), if there is one."""
        for comment in self.comments:
            if found := _TEXT.fullmatch(comment):
                return found[1]
        return None

    @property
    def spaces(self) -> tuple[bool, ...]:
        """Whether a space follows each token; there is none inside a multiword."""
        spaces = [token.space_after for token in self.tokens]
        for multiword in self.multiwords:
            inner = range(multiword.first - 1, min(multiword.last, len(spaces)))
            for i in inner:
                spaces[i] = i == inner[-1] and multiword.space_after
        return tuple(spaces)


def read_conllu(path: str | Path) -> Iterator[Sentence]:
    """Yield the sentences of a CoNLL-U file.

    path (str | Path): The file, in UTF-8.
    YIELDS (Sentence): One for each block of lines.
    """
    path = Path(path)
    if not path.is_file():
        raise PunctError(Errors.P005.format(path=path))
    with path.open(encoding="utf-8-sig", newline="\n") as file:
        try:
            yield from parse_conllu(file, name=str(path))
        except UnicodeDecodeError as error:
            message = Errors.P003.format(where=path, reason=error.reason)
            raise PunctError(message) from None


def parse_conllu(lines: Iterable[str], *, name: str = "<lines>") -> Iterator[Sentence]:
    """Yield the sentences of an iterable of CoNLL-U lines.

    lines (Iterable[str]): The lines, with or without line ends.
    name (str): How messages call the source.
    YIELDS (Sentence): One for each block of lines.
    """
    block: list[tuple[int, str]] = []
    for number, line in enumerate(lines, start=1):
        line = line.rstrip("\r\n")
        if line.strip():
            block.append((number, line))
        elif block:
            yield _parse_block(block, name)
            block = []
    if block:
        yield _parse_block(block, name)


def _parse_block(block: list[tuple[int, str]], name: str) -> Sentence:
    comments: list[str] = []
    tokens: list[Token] = []
    multiwords: list[MultiwordToken] = []
    first_line = 0
    for number, line in block:
        if line.startswith("#"):
            comments.append(line[1:].strip())
            continue
        where = f"{name}, line {number}"
        columns = line.split("\t")
        if len(columns) != _COLUMNS:
            raise PunctError(Errors.P001.format(where=where, n=len(columns)))
        first_line = first_line or number
        token_id, form, *rest = columns
        if "-" in token_id:
            multiwords.append(_parse_range(token_id, form, rest[-1], where))
        elif _EMPTY_NODE.fullmatch(token_id):
            continue
        elif token_id != str(len(tokens) + 1):
            raise PunctError(
                Errors.P002.format(where=where, value=token_id, column="token id")
            )
        else:
            lemma, upos, xpos, feats, head, relation, deps, misc = rest
            if not head.isdecimal():
                raise PunctError(
                    Errors.P002.format(where=where, value=head, column="head")
                )
            tokens.append(
                Token(form, lemma, upos, xpos, feats, int(head), relation, deps, misc)
            )
    if not tokens:
        raise PunctError(Errors.P004.format(where=f"{name}, line {block[0][0]}"))
    return Sentence(
        tuple(tokens),
        tuple(multiwords),
        tuple(comments),
        where=f"{name}, line {first_line}",
    )


def _parse_range(token_id: str, form: str, misc: str, where: str) -> MultiwordToken:
    first, _, last = token_id.partition("-")
    if not (first.isdecimal() and last.isdecimal() and int(first) <= int(last)):
        raise PunctError(
            Errors.P002.format(where=where, value=token_id, column="token range")
        )
    return MultiwordToken(int(first), int(last), form, misc)


def format_conllu(sentence: Sentence) -> str:
    """The block of lines that a sentence is in a CoNLL-U file, with the blank line."""
    ranges = {multiword.first: multiword for multiword in sentence.multiwords}
    lines = [f"# {comment}" for comment in sentence.comments]
    for i, token in enumerate(sentence.tokens, start=1):
        if i in ranges:
            first, last, form, misc = astuple(ranges[i])
            lines.append(_line(f"{first}-{last}", form, *[_NONE] * 7, misc))
        lines.append(_line(i, *astuple(token)))
    for line in lines:
        if "\n" in line or "\r" in line:
            raise PunctError(Errors.P007.format(line=repr(line)))
    return "\n".join([*lines, "", ""])


def _line(*columns: str | int) -> str:
    line = "\t".join(map(str, columns))
    if line.count("\t") != _COLUMNS - 1:
        raise PunctError(Errors.P007.format(line=repr(line)))
    return line
