"""Sentences of a Doc as trees, whatever component made the parse."""

from collections.abc import Sequence
from dataclasses import dataclass

from spacy.tokens import Doc, Token

from spacy_punct.data import conllu
from spacy_punct.data.marks import HYPHENS, is_mark
from spacy_punct.data.quotes import directed_quotes
from spacy_punct.data.tree import ROOT, Puncteme, Tree
from spacy_punct.errors import Errors, PunctError
from spacy_punct.text.writer import Gap

WORDS_ONLY = "spacy_punct.words_only"
"""Key of Docs in whose user data it is known that every token is a word."""

_UNTAGGED = "X"


@dataclass(frozen=True)
class ParsedSentence:
    """A sentence of a Doc, its punctuation taken out.

    tree (Tree): The words.
    positions (tuple[int, ...]): The token of each word.
    marks (tuple[Puncteme, ...]): The marks that stood in the slots.
    glyphs (dict[tuple[int, int], str]): How each of them was written.
    gaps (tuple[Gap, ...]): The white space that stood in the slots.
    before, after (str): White space around the sentence.
    """

    tree: Tree
    positions: tuple[int, ...]
    marks: tuple[Puncteme, ...]
    glyphs: dict[tuple[int, int], str]
    gaps: tuple[Gap, ...]
    before: str
    after: str

    def is_spelling(self, slot: int) -> bool:
        """Whether a slot is inside a word as written: `do|n't`, `well|-|known`."""
        inner = 0 < slot < len(self.positions)
        return inner and self.gaps[slot] == () and set(self.marks[slot]) <= HYPHENS


def parsed_sentences(doc: Doc, name: str) -> list[ParsedSentence]:
    """Read sentences and trees off a Doc.

    Marks and white space are not words: what hangs on one goes to its head. If that
    leaves a sentence with several roots, the later ones go to the first. Sentences
    without words are joined to their neighbours.

    doc (Doc): A parsed Doc.
    name (str): How messages call the component.
    RETURNS (list[ParsedSentence]): Empty if there are no words.
    """
    _check_parse(doc, name)
    ink = [token for token in doc if not token.is_space]
    words_only = doc.user_data.get(WORDS_ONLY, False)
    words = {token.i for token in ink if words_only or not _is_mark(token)}
    ends = {sent.end - 1 for sent in doc.sents} if words else set()
    sentences: list[list[Token]] = []
    current: list[Token] = []
    for token in doc:
        if not token.is_space:
            current.append(token)
        if token.i not in ends:
            continue
        if any(t.i in words for t in current):
            sentences.append(current)
            current = []
        elif sentences:
            sentences[-1] += current
            current = []
    # The space that a Doc made of words has at its end stands before nothing.
    end = len(doc.text) - (doc.text[-1:] == " ")
    starts = [sentence[0].idx for sentence in sentences[1:]] + [end]
    before = doc.text[: sentences[0][0].idx] if sentences else ""
    result = []
    for sentence, start in zip(sentences, starts, strict=False):
        after = doc.text[_end(sentence[-1]) : start]
        result.append(_parsed(sentence, words, before, after))
        before = ""
    return result


def _check_parse(doc: Doc, name: str) -> None:
    words = [token for token in doc if not token.is_space]
    missing = [token for token in words if not token.dep]
    if words and len(missing) == len(words):
        raise PunctError(Errors.P040.format(name=name))
    if missing:
        raise PunctError(
            Errors.P041.format(n=len(missing), word=missing[0].text, i=missing[0].i)
        )
    if words and not doc.has_annotation("SENT_START"):
        raise PunctError(Errors.P042.format(name=name))


def _end(token: Token) -> int:
    return token.idx + len(token.text)


def _is_mark(token: Token) -> bool:
    if any(char.isalnum() for char in token.text):
        return False
    if not (is_mark(token.text) or token.pos_ == "PUNCT"):
        return False
    # An apostrophe after a plural is a word: the students' books.
    is_apostrophe = token.text in ("'", "’") and token.pos_ != "PUNCT" and token.i > 0
    if is_apostrophe and not token.nbor(-1).whitespace_:
        return token.nbor(-1).text[-1:].lower() not in ("s", "x", "z")
    return True


def _parsed(
    tokens: Sequence[Token], words: set[int], before: str, after: str
) -> ParsedSentence:
    marks = _marks([token for token in tokens if token.i not in words])
    slots: list[list[str]] = [[]]
    white: list[list[str]] = [[]]
    glyphs: dict[tuple[int, int], str] = {}
    for previous, token in zip([None, *tokens], tokens, strict=False):
        if previous is not None:
            white[-1].append(token.doc.text[_end(previous) : token.idx])
        if token.i in words:
            slots.append([])
            white.append([])
        else:
            glyphs[len(slots) - 1, len(slots[-1])] = token.text
            slots[-1].append(marks[token.i])
    kept = [token for token in tokens if token.i in words]
    return ParsedSentence(
        _tree(kept),
        tuple(token.i for token in kept),
        tuple(map(tuple, slots)),
        glyphs,
        tuple(_gap(*slot) for slot in zip(slots, white, strict=True)),
        before,
        after,
    )


def _gap(marks: Sequence[str], white: Sequence[str]) -> Gap:
    """The white space of a slot, unless it is just what stands between words."""
    if not marks and list(white) in ([], [" "]):
        return None
    return tuple(piece for piece in white if piece)


def _marks(tokens: Sequence[Token]) -> dict[int, str]:
    """The mark that each token is, with quotes told apart by the space around."""
    forms = {
        token.i: conllu.Token(
            token.text, "", "", _side(token), "", token.head.i, "", "", ""
        )
        for token in tokens
    }
    return {i: form.form for i, form in forms.items()} | directed_quotes(forms)


def _side(token: Token) -> str:
    """The Penn tag of an opening or closing quote, if its spaces tell."""
    space_before = token.i == 0 or bool(token.nbor(-1).whitespace_)
    space_after = token.i == len(token.doc) - 1 or bool(token.whitespace_)
    if space_before == space_after:
        return ""
    return "``" if space_before else "''"


def _stem(token: Token) -> str:
    """The word as treebanks have it once depunctuated: without abbreviation dot."""
    return token.text.removesuffix(".") or token.text


def _tree(words: Sequence[Token]) -> Tree:
    number = {token.i: k for k, token in enumerate(words)}
    roots = [token for token in words if token.head.i == token.i]
    if len(roots) > 1 or any(token.dep_.lower() != "root" for token in roots):
        names = ", ".join(f"{token.text} ({token.dep_})" for token in roots[:5])
        raise PunctError(Errors.P055.format(roots=names))
    heads = []
    for token in words:
        head, seen = token.head, {token.i}
        while head.i not in number and head.i not in seen:
            seen.add(head.i)
            head = head.head
        heads.append(ROOT if head.i in seen else number[head.i])
    roots = [k for k, head in enumerate(heads) if head == ROOT]
    for extra in roots[1:]:
        heads[extra] = roots[0]
    return Tree(
        words=tuple(map(_stem, words)),
        tags=tuple(token.pos_ or _UNTAGGED for token in words),
        heads=tuple(heads),
        relations=tuple(
            "root" if token.dep_ == "ROOT" else token.dep_ for token in words
        ),
    )
