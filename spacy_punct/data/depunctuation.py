"""From a treebank sentence to a tree with slots, and back."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from spacy_punct.data.conllu import Sentence, Token
from spacy_punct.data.marks import ABBREVIATION_DOT, SPECIAL_GLYPHS, directed_quotes
from spacy_punct.data.tree import ROOT, Puncteme, Slots, Tree
from spacy_punct.errors import Errors, PunctError

Glyphs = Mapping[tuple[int, int], str]
"""(slot, position in it) -> the mark as written, where not the usual way."""


Spaces = tuple[tuple[bool, ...], ...]
"""For each slot, whether a space stands before each of its marks and after the last.
An empty slot has one: whether its words are apart."""


@dataclass(frozen=True)
class PunctuatedTree:
    """A tree, the marks in its slots, and how a treebank wrote it.

    tree (Tree): The words.
    slots (Slots): The marks before, between and after them.
    glyphs (Glyphs): What of the marks' writing is lost in the slots.
    spaces (Spaces): Where the spaces were; empty if not known.
    tokens (tuple[Token, ...]): The words' lines in the treebank, if they are from one.
    """

    tree: Tree
    slots: Slots
    glyphs: Glyphs = field(default_factory=dict, compare=False)
    spaces: Spaces = field(default=(), compare=False)
    tokens: tuple[Token, ...] = field(default=(), compare=False, repr=False)

    def __post_init__(self) -> None:
        slots = self.tree.check_slots(self.slots)
        if None in slots:
            raise PunctError(Errors.P019.format(slot=slots.index(None), value=None))
        object.__setattr__(self, "slots", slots)


def is_punctuation(token: Token) -> bool:
    return token.upos == "PUNCT" or token.relation.partition(":")[0] == "punct"


def has_words(sentence: Sentence) -> bool:
    return not all(map(is_punctuation, sentence.tokens))


def has_inner_punctuation(sentence: Sentence) -> bool:
    """Whether a punctuation token has dependents: the paper omits such sentences."""
    return any(
        is_punctuation(sentence.tokens[token.head - 1])
        for token in sentence.tokens
        if 0 < token.head <= len(sentence.tokens)
    )


def depunctuate(sentence: Sentence) -> PunctuatedTree:
    """Take the punctuation out of a sentence's tree and into slots (section 4).

    Punctuation is what has the part of speech PUNCT or the relation punct; the
    dot that ends a word such as `etc.` becomes the abbreviation dot.

    sentence (Sentence): A sentence that has words, and punctuation only as leaves.
    RETURNS (PunctuatedTree): The tree is as in the treebank, not made projective.
    """
    punctuation = {
        i: token for i, token in enumerate(sentence.tokens) if is_punctuation(token)
    }
    quotes = directed_quotes(punctuation)
    words: list[str] = []
    kept: list[Token] = []
    position: dict[int, int] = {}
    slots: list[list[str]] = [[]]
    spaces: list[list[bool]] = [[False]]
    glyphs: dict[tuple[int, int], str] = {}
    for i, (token, space) in enumerate(
        zip(sentence.tokens, sentence.spaces, strict=True)
    ):
        if i in punctuation:
            mark = quotes.get(i, token.form)
            if SPECIAL_GLYPHS.get(mark, mark) != token.form:
                glyphs[len(slots) - 1, len(slots[-1])] = token.form
            slots[-1].append(mark)
            spaces[-1].append(space)
            continue
        stem = token.form[:-1]
        abbreviated = token.form.endswith(".") and stem.strip(".") != ""
        position[i + 1] = len(words)
        words.append(stem if abbreviated else token.form)
        kept.append(token)
        slots.append([ABBREVIATION_DOT] if abbreviated else [])
        spaces.append([False, space] if abbreviated else [space])
    for token in kept:
        if token.head - 1 in punctuation:
            raise PunctError(Errors.P018.format(where=sentence.where, i=token.head))
    tree = Tree(
        words=tuple(words),
        tags=tuple(token.upos for token in kept),
        heads=tuple(
            position.get(token.head, token.head - 1) if token.head else ROOT
            for token in kept
        ),
        relations=tuple(token.relation for token in kept),
    )
    return PunctuatedTree(
        tree,
        tuple(map(tuple, slots)),
        glyphs,
        tuple(map(tuple, spaces)),
        tuple(kept),
    )


def unpunctuated_sentence(example: PunctuatedTree, sent_id: str) -> Sentence:
    """The words of a tree as a sentence of a treebank, without punctuation.

    Two words are written together if nothing at all stood between them.

    example (PunctuatedTree): The tree.
    sent_id (str): What to call the sentence.
    RETURNS (Sentence): `depunctuate` gives the same tree again, with empty slots.
    """
    tree = example.tree
    tokens: list[Token] = []
    text = ""
    for i, word in enumerate(tree.words):
        last = i + 1 == len(tree)
        slot, spaces = example.slots[i + 1], example.spaces[i + 1 : i + 2]
        apart = last or bool(slot) or not spaces or spaces[0][0]
        text += word if last or not apart else f"{word} "
        source = example.tokens[i] if example.tokens else None
        tokens.append(
            Token(
                form=word,
                lemma=source.lemma if source else "_",
                upos=tree.tags[i],
                xpos=source.xpos if source else "_",
                feats=source.feats if source else "_",
                head=tree.heads[i] + 1,
                relation=tree.relations[i],
                deps="_",
                misc="_" if apart else "SpaceAfter=No",
            )
        )
    return Sentence(tuple(tokens), comments=(f"sent_id = {sent_id}", f"text = {text}"))


def replace_marks(slots: Slots, substitute: Mapping[str, str]) -> Slots:
    """The slots with each mark that `substitute` names replaced."""

    def replaced(slot: Puncteme) -> Puncteme:
        return tuple(substitute.get(mark, mark) for mark in slot)

    return tuple(map(replaced, slots))
