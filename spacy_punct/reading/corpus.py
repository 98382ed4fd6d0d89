"""Treebanks as Docs of words, with the true punctuation in their user data."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from spacy.tokens import Doc, DocBin
from spacy.vocab import Vocab

from spacy_punct.data.conllu import read_conllu
from spacy_punct.data.depunctuation import PunctuatedTree
from spacy_punct.data.treebank import make_treebank
from spacy_punct.errors import Errors, PunctError
from spacy_punct.reading.gold import has_gold, joined_gold, set_gold
from spacy_punct.reading.sentences import WORDS_ONLY
from spacy_punct.text.writer import NO_SPACES

SUFFIXES = (".conllu", ".spacy")


def joined(docs: Sequence[Doc]) -> Doc:
    """Sentences as one Doc, with all their annotation and true punctuation.

    docs (Sequence[Doc]): Docs of `read_docs`, or such Docs parsed.
    RETURNS (Doc): The Doc.
    """
    if len(docs) == 1:
        return docs[0]
    space = docs[0].vocab.lang not in NO_SPACES
    # spaCy's type stub does not know `exclude`.
    merge: Any = Doc.from_docs
    whole = merge(list(docs), ensure_whitespace=space, exclude=["user_data"])
    whole.user_data[WORDS_ONLY] = True
    if all(map(has_gold, docs)):
        set_gold(whole, *joined_gold(docs, space))
    return whole


def unpunctuated(
    reference: Doc,
    source: Doc | None = None,
    *,
    sentences: bool = True,
    lower: bool = False,
) -> Doc:
    """The words of a reference, but nothing of its punctuation.

    reference (Doc): A Doc of `read_docs`.
    source (Doc | None): A Doc of the same words whose tree and parts of speech the
        new one gets.
    sentences (bool): Whether it gets the sentences of the reference if it gets no
        tree. A parser will keep to them.
    lower (bool): Whether it loses its capitals.
    RETURNS (Doc): A new Doc.
    """
    annotation: dict[str, Any] = {}
    if source is not None:
        annotation = {
            "heads": [token.head.i for token in source],
            "deps": [token.dep_ for token in source],
            "pos": [token.pos_ for token in source],
        }
    elif sentences:
        starts = [bool(token.is_sent_start) for token in reference]
        annotation = {"sent_starts": starts}
    return Doc(
        reference.vocab,
        words=[token.lower_ if lower else token.text for token in reference],
        spaces=[bool(token.whitespace_) for token in reference],
        user_data={WORDS_ONLY: True},
        **annotation,
    )


def treebank_files(path: Path, suffixes: tuple[str, ...]) -> list[Path]:
    """The file, or the files of a folder that end in one of the suffixes."""
    found = [path]
    if path.is_dir():
        found = sorted(p for p in path.rglob("*") if p.suffix in suffixes)
    if not found or not all(p.is_file() and p.suffix in suffixes for p in found):
        wanted = " or ".join(suffixes)
        raise PunctError(Errors.P050.format(path=path, wanted=wanted))
    return found


def read_docs(path: Path, vocab: Vocab) -> Iterator[Doc]:
    """The sentences of a treebank as Docs without punctuation, read as they are needed.

    path (Path): A CoNLL-U file or a DocBin made by `punct convert`.
    vocab (Vocab): The vocabulary.
    YIELDS (Doc): With trees, tags, lemmas and morphology, and the true punctuation
        in the user data.
    """
    if path.suffix != ".conllu":
        yield from DocBin().from_disk(path).get_docs(vocab)
        return
    is_empty = True
    for sentence in read_conllu(path):
        for example in make_treebank([sentence]).examples:
            yield make_doc(example, vocab)
            is_empty = False
    if is_empty:
        raise PunctError(Errors.P006.format(path=path))


def write_trees(docs: Iterable[Doc], path: Path) -> None:
    """Write the trees and parts of speech of parsed Docs, for the setting `parsed`."""
    attributes = ("ORTH", "SPACY", "HEAD", "DEP", "POS", "SENT_START")
    path.parent.mkdir(parents=True, exist_ok=True)
    DocBin(attrs=attributes, docs=docs).to_disk(path)


def make_doc(example: PunctuatedTree, vocab: Vocab) -> Doc:
    """A sentence as a Doc without punctuation, which it has in its user data.

    Two words are written together if nothing at all stood between them.

    example (PunctuatedTree): The sentence.
    vocab (Vocab): The vocabulary.
    RETURNS (Doc): The Doc.
    """
    tree = example.tree
    spaces = [vocab.lang not in NO_SPACES] * len(tree)
    for i, slot in enumerate(example.slots[1:-1], start=1):
        if not slot and example.spaces and not example.spaces[i][0]:
            spaces[i - 1] = False
    tokens = example.tokens
    annotation: dict[str, Any] = {}
    if tokens:
        annotation = {
            "tags": [t.xpos if t.xpos != "_" else t.upos for t in tokens],
            "lemmas": [t.lemma for t in tokens],
            "morphs": ["" if t.feats == "_" else t.feats for t in tokens],
        }
    doc = Doc(
        vocab,
        words=list(tree.words),
        spaces=spaces,
        pos=list(tree.tags),
        heads=[i if head < 0 else head for i, head in enumerate(tree.heads)],
        deps=[
            "ROOT" if head < 0 else relation
            for head, relation in zip(tree.heads, tree.relations, strict=True)
        ],
        user_data={WORDS_ONLY: True},
        **annotation,
    )
    set_gold(doc, example.slots, example.spaces)
    return doc
