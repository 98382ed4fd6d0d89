"""Sentences of a Doc as trees, whatever component made the parse."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import repeat, zip_longest

import numpy as np
from spacy.tokens import Doc, Token

from spacy_punct.data.marks import (
    ABBREVIATION_DOT,
    HYPHENS,
    directed_quotes,
    is_mark,
    may_be_mark,
)
from spacy_punct.data.tree import ROOT, Puncteme, Slots, Tree
from spacy_punct.errors import Errors, PunctError
from spacy_punct.model.scores import EncodedTree, Vectors
from spacy_punct.reading.attributes import TRUECASED
from spacy_punct.text.casing import same_letters
from spacy_punct.text.writer import NO_SPACES

WORDS_ONLY = "spacy_punct.words_only"
"""Key of Docs in whose user data it is known that every token is a word."""
MARKS = "spacy_punct.marks"
"""Key of Docs in whose user data it is known which mark each token is, "" for words."""

Guess = dict[Puncteme, float]
"""What may stand in a slot, and how probably."""

_UNTAGGED = "X"
_DOUBLED = ".."
_CLOSING = frozenset((*".,;:!?)]}…", "..", "..."))
"""Marks that belong to the word they are written together with."""


@dataclass
class _Clue:
    """See `spacy_punct.data.marks.QuoteToken`."""

    form: str
    xpos: str
    head: int


@dataclass(frozen=True)
class BareSentence:
    """A sentence of a Doc, with its marks set apart from its words.

    tree (Tree): The words; observed are the marks, and the dots of abbreviations.
    positions (tuple[int, ...]): The token of each word.
    texts (tuple[str, ...]): The words as they are in the text, abbreviations with dots.
    marks (tuple[Puncteme, ...]): The marks that stood in the slots.
    glyphs (dict[tuple[int, int], str]): How each of them was written.
    white (tuple[tuple[str, ...], ...]): The white space before each mark of a slot and
        after the last; what is outside the sentence is empty.
    before, after (str): White space around the sentence.
    forms (tuple[str, ...] | None): The words as a truecaser writes them mid-sentence.
    guesses (tuple[Guess, ...] | None): What a tagger says of the slots.
    """

    tree: Tree
    positions: tuple[int, ...]
    texts: tuple[str, ...]
    marks: tuple[Puncteme, ...]
    glyphs: dict[tuple[int, int], str]
    white: tuple[tuple[str, ...], ...]
    before: str
    after: str
    forms: tuple[str, ...] | None = None
    guesses: tuple[Guess, ...] | None = None

    @property
    def observed(self) -> Slots:
        """The marks in the slots, and the dots of abbreviations."""
        return self.tree.observed or ((),) * (len(self.positions) + 1)

    def with_dots(self, slots: Slots) -> Slots:
        """Marks for the slots, with the dots that words such as `etc.` have."""
        return _with_dots(self.tree.words, self.texts, slots)

    def is_spelling(self, slot: int) -> bool:
        """Whether a slot is inside a word as written: `do|n't`, `well|-|known`."""
        if not 0 < slot < len(self.positions) or any(self.white[slot]):
            return False
        return set(self.marks[slot]) <= HYPHENS


def bare_sentences(
    doc: Doc, name: str, vectors: Vectors | None = None, *, words_only: bool = False
) -> list[BareSentence]:
    """Read sentences and trees off a Doc.

    Marks and white space are not words: what hangs on one goes to its head. If that
    leaves a sentence with several roots, the later ones go to the first. Sentences
    without words are joined to their neighbours, and so are those that end within
    what is written as one word. None begins with a mark that closes the one before.

    doc (Doc): A parsed Doc.
    name (str): How messages call the component.
    vectors (Vectors | None): An array with a row for each token, to go with the words.
    words_only (bool): Whether it is known that every token is a word, but for marks
        that the Doc names.
    RETURNS (list[BareSentence]): Empty if there are no words.
    """
    # spaCy makes tokens, and the text, anew each time they are asked for.
    tokens, text = list(doc), doc.text
    ink = [token for token in tokens if not token.is_space]
    words_only = words_only or doc.user_data.get(WORDS_ONLY, False)
    known = doc.user_data.get(MARKS)
    if known is not None:
        words = {token.i for token in ink if not known[token.i]}
    else:
        words = {token.i for token in ink if words_only or not is_mark_token(token)}
    if not words:
        return []
    _check_parse(doc, ink, name)
    heads = _heads(doc)
    ends = {_last(tokens, sent.end - 1, words) for sent in doc.sents}
    sentences: list[list[Token]] = []
    current: list[Token] = []
    for token in tokens:
        if not token.is_space:
            current.append(token)
        if token.i not in ends or _goes_on(token, words):
            continue
        if not words.isdisjoint(t.i for t in current):
            sentences.append(current)
            current = []
        elif sentences:
            sentences[-1] += current
            current = []
    # The space that a Doc made of words has at its end stands before nothing.
    end = len(text) - text.endswith(" ")
    starts = [sentence[0].idx for sentence in sentences[1:]] + [end]
    before = text[: sentences[0][0].idx] if sentences else ""
    result = []
    for sentence, start in zip(sentences, starts, strict=False):
        after = text[_end(sentence[-1]) : start]
        result.append(_parsed(sentence, words, heads, text, before, after, vectors))
        before = ""
    return result


def readable(doc: Doc) -> list[int]:
    """The tokens that are read as words: neither marks nor white space, but the hyphens
    inside what is written as one word.

    doc (Doc): The Doc, parsed or not.
    RETURNS (list[int]): Their places.
    """
    if doc.user_data.get(WORDS_ONLY, False):
        return list(range(len(doc)))
    found: list[int] = []
    tokens = list(doc)
    for token, following in zip_longest(tokens, tokens[1:]):
        if token.is_space:
            continue
        inside = (
            token.text in HYPHENS
            and found[-1:] == [token.i - 1]
            and not (tokens[token.i - 1].whitespace_ or token.whitespace_)
            and following is not None
            and not is_mark(following.text)
        )
        if inside or not is_mark_token(token):
            found.append(token.i)
    return found


def sentence_words(
    doc: Doc, starts: Sequence[bool] | None = None
) -> Iterator[list[int]]:
    """The words of each sentence of a Doc that has any: neither marks nor white space.

    doc (Doc): The Doc.
    starts (Sequence[bool] | None): Which tokens begin sentences, if the Doc does not
        say.
    YIELDS (list[int]): The places of the words.
    """
    if starts is None:
        starts = [bool(token.is_sent_start) for token in doc]
    words_only = doc.user_data.get(WORDS_ONLY, False)
    words: list[int] = []
    for token, start in zip(doc, starts, strict=True):
        if start and words:
            yield words
            words = []
        if not token.is_space and (words_only or not is_mark_token(token)):
            words.append(token.i)
    if words:
        yield words


def written_slots_of(doc: Doc) -> tuple[list[int], Slots]:
    """The words of a Doc, parsed or not, and the marks around them.

    doc (Doc): The Doc.
    RETURNS (tuple[list[int], Slots]): The places of the words, and what is written
        before, between and after them, without the dots of abbreviations.
    """
    known = doc.user_data.get(MARKS)
    if known is None:
        words = {i for found in sentence_words(doc, [False] * len(doc)) for i in found}
        others = [t for t in doc if t.i not in words and not t.is_space]
        marks: Mapping[int, str] = _marks(others)
    else:
        marks = {i: mark for i, mark in enumerate(known) if mark}
        words = {t.i for t in doc if t.i not in marks and not t.is_space}
    slots: list[list[str]] = [[]]
    for i in range(len(doc)):
        if i in words:
            slots.append([])
        elif i in marks:
            slots[-1].append(marks[i])
    return sorted(words), tuple(map(tuple, slots))


def _heads(doc: Doc) -> list[int]:
    """The position of each token's head."""
    offsets = doc.to_array("HEAD").astype(np.int64)
    return (np.arange(len(doc)) + offsets).tolist()


def _check_parse(doc: Doc, words: Sequence[Token], name: str) -> None:
    missing = [token for token in words if not token.dep]
    if words and len(missing) == len(words):
        raise PunctError(Errors.P040.format(name=name))
    if missing:
        raise PunctError(
            Errors.P041.format(n=len(missing), word=missing[0].text, i=missing[0].i)
        )
    if words and not doc.has_annotation("SENT_START"):
        raise PunctError(Errors.P042.format(name=name))


def _goes_on(token: Token, words: set[int]) -> bool:
    """Whether a token and the next one are written as one word: `he|/|she`."""
    doc = token.doc
    if doc.vocab.lang in NO_SPACES or token.whitespace_ or token.i + 1 == len(doc):
        return False
    following = token.nbor()
    inside = (token, following)
    return not (token.is_space or following.is_space) and all(
        t.i in words or t.text in HYPHENS for t in inside
    )


def _last(tokens: Sequence[Token], end: int, words: set[int]) -> int:
    """Where a sentence ends: the mark that closes its last word belongs to it."""
    while end + 1 < len(tokens) and not (
        tokens[end].is_space or tokens[end].whitespace_
    ):
        if end + 1 in words or tokens[end + 1].text not in _CLOSING:
            break
        end += 1
    return end


def _end(token: Token) -> int:
    return token.idx + len(token.text)


def is_mark_token(token: Token) -> bool:
    """Whether a token of a text is punctuation, by its looks, its tag and its place."""
    if any(map(str.isalnum, token.text)):
        return False
    tagged = token.pos_ == "PUNCT" and may_be_mark(token.text)
    if not (tagged or is_mark(token.text)):
        return False
    if token.text in HYPHENS and 0 < token.i < len(token.doc) - 1:
        # A minus, a range, a fraction.
        return not (token.nbor(-1).like_num and token.nbor().like_num)
    # An apostrophe after a plural is a word: the students' books.
    is_apostrophe = token.text in ("'", "’") and token.pos_ != "PUNCT" and token.i > 0
    if is_apostrophe and not token.nbor(-1).whitespace_:
        return token.nbor(-1).text[-1:].lower() not in ("s", "x", "z")
    return True


def _parsed(
    tokens: Sequence[Token],
    words: set[int],
    heads: Sequence[int],
    text: str,
    before: str,
    after: str,
    vectors: Vectors | None,
) -> BareSentence:
    known = tokens[0].doc.user_data.get(MARKS)
    marks = known or _marks([token for token in tokens if token.i not in words])
    slots: list[list[str]] = [[]]
    white: list[list[str]] = [[]]
    glyphs: dict[tuple[int, int], str] = {}
    kept: list[Token] = []
    end = tokens[0].idx
    for token in tokens:
        start, form = token.idx, token.text
        white[-1].append(text[end:start])
        end = start + len(form)
        if token.i in words:
            kept.append(token)
            slots.append([])
            white.append([])
            continue
        parts = [(marks[token.i], form)]
        # Tokenizers take two full stops for one mark.
        if known is None and form == _DOUBLED:
            parts = [(".", "."), (".", ".")]
        for k, (mark, glyph) in enumerate(parts):
            if k:
                white[-1].append("")
            glyphs[len(slots) - 1, len(slots[-1])] = glyph
            slots[-1].append(mark)
    white[-1].append("")
    positions = [token.i for token in kept]
    texts = tuple(token.text for token in kept)
    found = tuple(map(tuple, slots))
    own = None if vectors is None else vectors[positions]
    return BareSentence(
        _tree(kept, texts, heads, found, own),
        tuple(positions),
        texts,
        found,
        glyphs,
        tuple(map(tuple, white)),
        before,
        after,
        truecased_words(kept),
    )


def truecased_words(words: Sequence[Token]) -> tuple[str, ...] | None:
    """How the truecaser writes words mid-sentence; None unless it saw all of them.

    words (Sequence[Token]): Tokens of one Doc.
    RETURNS (tuple[str, ...] | None): The words.
    """
    text = words[0].doc.user_data.get(TRUECASED) if words else None
    if text is None:
        return None
    forms = tuple(text[word.idx : word.idx + len(word.text)] for word in words)
    texts = [word.text for word in words]
    # User data may have been copied to a Doc of another text.
    is_same = all(map(same_letters, forms, texts, repeat(words[0].vocab.lang)))
    return forms if is_same else None


def _with_dots(stems: Sequence[str], texts: Sequence[str], slots: Slots) -> Slots:
    """The slots with the dots that words such as `etc.` have in the text."""
    dots = [stem != text for stem, text in zip(stems, texts, strict=True)]
    return tuple(
        (ABBREVIATION_DOT, *slot) if dot else slot
        for dot, slot in zip([False, *dots], slots, strict=True)
    )


def _marks(tokens: Sequence[Token]) -> dict[int, str]:
    """The mark that each token is, with quotes told apart by the space around."""
    if not tokens:
        return {}
    forms = {token.i: token.text for token in tokens}
    clues = {t.i: _Clue(t.text, _side(t), t.head.i) for t in tokens}
    return forms | directed_quotes(clues)


def _side(token: Token) -> str:
    """The Penn tag of an opening or closing quote, if its spaces tell, or what it is
    written together with: `"Yes",` closes and `("Yes` opens."""
    before, after = token.doc[: token.i], token.doc[token.i + 1 :]
    opens = not before or before[-1].is_space or bool(before[-1].whitespace_)
    closes = not after or after[0].is_space or bool(token.whitespace_)
    if not opens and not closes:
        opens, closes = is_mark(before[-1].text), is_mark(after[0].text)
    if opens == closes:
        return ""
    return "``" if opens else "''"


def stem_of(word: str) -> str:
    """The word as treebanks have it once depunctuated: without abbreviation dot."""
    return word.removesuffix(".") or word


def _tree(
    words: Sequence[Token],
    texts: Sequence[str],
    heads: Sequence[int],
    slots: Slots,
    vectors: Vectors | None,
) -> Tree:
    number = {token.i: k for k, token in enumerate(words)}
    labels = [token.dep_ for token in words]
    roots = [k for i, k in number.items() if heads[i] == i]
    if any(labels[k].lower() != "root" for k in roots):
        names = ", ".join(f"{texts[k]} ({labels[k]})" for k in roots[:5])
        raise PunctError(Errors.P055.format(roots=names))
    found = []
    for i in number:
        head, seen = heads[i], {i}
        while head not in number and head not in seen:
            seen.add(head)
            head = heads[head]
        found.append(ROOT if head in seen else number[head])
    roots = [k for k, head in enumerate(found) if head == ROOT]
    for extra in roots[1:]:
        found[extra] = roots[0]
    stems = tuple(map(stem_of, texts))
    fields = (
        stems,
        tuple(token.pos_ or _UNTAGGED for token in words),
        tuple(found),
        tuple("root" if label == "ROOT" else label for label in labels),
        _with_dots(stems, texts, slots),
    )
    return Tree(*fields) if vectors is None else EncodedTree(*fields, vectors=vectors)
