"""Edits of underlying trees: small changes of word order that can be combined.

An edit is any callable from an `UnderlyingTree` to an `UnderlyingTree`. Those made here
can be joined by `|`, with each other and with any other callable. Words are named by
their text, if it is unique in the sentence, by their token, or by their position in the
Doc, which stays the same however often they move. A constituent is named by its head.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from spacy.tokens import Token

from spacy_punct.data.tree import ROOT
from spacy_punct.errors import Errors, PunctError
from spacy_punct.rephrasing.underlying import UnderlyingTree

Word = str | int | Token
"""A word's text, its position in the Doc, or its token."""
AnyEdit = Callable[[UnderlyingTree], UnderlyingTree]


class NoSuchWordError(PunctError):
    """A word that is not in a sentence, though it may be in another."""


@dataclass(frozen=True)
class TreeEdit:
    """A sequence of edits of a tree.

    steps (tuple[AnyEdit, ...]): The edits.
    """

    steps: tuple[AnyEdit, ...]

    def __call__(self, tree: UnderlyingTree) -> UnderlyingTree:
        for step in self.steps:
            tree = step(tree)
        return tree

    def then(self, other: AnyEdit) -> "TreeEdit":
        """This edit and, after it, another one: `self | other`."""
        return TreeEdit((*self.steps, *steps_of(other)))

    __or__ = then

    def __ror__(self, other: AnyEdit) -> "TreeEdit":
        return TreeEdit((*steps_of(other), *self.steps))


def steps_of(edit: AnyEdit) -> tuple[AnyEdit, ...]:
    """The edits that an edit consists of."""
    return edit.steps if isinstance(edit, TreeEdit) else (edit,)


def permute(head: Word, order: Sequence[Word]) -> TreeEdit:
    """Give a word and its dependents another order.

    head (Word): The word.
    order (Sequence[Word]): The word and all its dependents, in their new order.
    RETURNS (TreeEdit): The edit.
    """

    def permuted(tree: UnderlyingTree) -> UnderlyingTree:
        top = find(tree, head)
        items = [find(tree, item) for item in order]
        if sorted(items) != list(tree.items(top)):
            raise PunctError(_wrong_order(tree, top, items))
        return tree.rearranged(lambda i: items if i == top else tree.items(i))

    return TreeEdit((permuted,))


def move(
    word: Word,
    position: int | None = None,
    *,
    before: Word | None = None,
    after: Word | None = None,
) -> TreeEdit:
    """Move a constituent to another place around its head.

    word (Word): Its head.
    position (int | None): Its new place among its head and the other dependents of
        that head: 0 is the first, -1 the last.
    before, after (Word | None): Or the one of these that it is to stand beside.
    RETURNS (TreeEdit): The edit.
    """
    neighbours = [word for word in (before, after) if word is not None]
    if (n := len(neighbours) + (position is not None)) != 1:
        name = "The number of places (position, before, after)"
        raise PunctError(Errors.P024.format(name=name, condition=1, value=n))

    def moved(tree: UnderlyingTree) -> UnderlyingTree:
        i = find(tree, word)
        head = tree.tree.heads[i]
        if head == ROOT:
            raise PunctError(Errors.P143.format(word=tree.words[i], done="moved"))
        others = [item for item in tree.items(head) if item != i]
        if position is not None:
            at = position if position >= 0 else len(others) + 1 + position
        else:
            (beside,) = (find(tree, neighbour) for neighbour in neighbours)
            if beside not in others:
                raise PunctError(_wrong_order(tree, head, [beside]))
            at = others.index(beside) + (before is None)
        items = [*others[:at], i, *others[at:]]
        return tree.rearranged(lambda k: items if k == head else tree.items(k))

    return TreeEdit((moved,))


def delete(word: Word) -> TreeEdit:
    """Delete a constituent.

    word (Word): Its head.
    RETURNS (TreeEdit): The edit.
    """

    def deleted(tree: UnderlyingTree) -> UnderlyingTree:
        gone = find(tree, word)
        if gone == tree.tree.root:
            raise PunctError(Errors.P143.format(word=tree.words[gone], done="deleted"))
        return tree.rearranged(lambda i: [k for k in tree.items(i) if k != gone])

    return TreeEdit((deleted,))


def keep_only(*words: Word) -> TreeEdit:
    """Delete all but some words and those above them.

    words (Word): The words. Those in other sentences do not matter, but there must be
        one of this sentence.
    RETURNS (TreeEdit): The edit.
    """

    def kept(tree: UnderlyingTree) -> UnderlyingTree:
        keep = {tree.tree.root}
        missing: list[NoSuchWordError] = []
        for word in words:
            try:
                i = find(tree, word)
            except NoSuchWordError as error:
                missing.append(error)
                continue
            while i not in keep:
                keep.add(i)
                i = tree.tree.heads[i]
        if words and len(missing) == len(words):
            raise missing[0]
        return tree.rearranged(lambda i: [k for k in tree.items(i) if k in keep])

    return TreeEdit((kept,))


def extract(word: Word) -> TreeEdit:
    """Make a constituent the sentence, with the punctemes of the sentence.

    word (Word): Its head.
    RETURNS (TreeEdit): The edit.
    """
    return TreeEdit((lambda tree: tree.rearranged(tree.items, find(tree, word)),))


def find(tree: UnderlyingTree, word: Word) -> int:
    """The place of a word in a tree."""
    if not isinstance(word, str):
        source = word.i if isinstance(word, Token) else word
        if source in tree.sources:
            return tree.sources.index(source)
        name = f"'{word.text}'" if isinstance(word, Token) else source
        raise NoSuchWordError(_message(Errors.P141, tree, name))
    found = [i for i, form in enumerate(tree.words) if form == word]
    if not found:
        same = word.casefold()
        found = [i for i, form in enumerate(tree.words) if form.casefold() == same]
    if not found:
        raise NoSuchWordError(_message(Errors.P141, tree, f"'{word}'"))
    if len(found) > 1:
        raise PunctError(_message(Errors.P142, tree, f"'{word}'", n=len(found)))
    return found[0]


def _message(
    template: str, tree: UnderlyingTree, word: str | int, **values: int
) -> str:
    return template.format(word=word, words=" ".join(tree.words), **values)


def _wrong_order(tree: UnderlyingTree, head: int, given: Sequence[int]) -> str:
    named, wanted = (
        ", ".join(f"'{tree.words[i]}'" for i in words) or "nothing"
        for words in (given, tree.items(head))
    )
    return Errors.P144.format(head=tree.words[head], items=wanted, given=named)
