"""Treebanks as spaCy examples: words on both sides, punctuation on the reference."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from spacy.language import Language
from spacy.tokens import Doc, DocBin
from spacy.training import Example
from spacy.vocab import Vocab

from spacy_punct.data.depunctuation import PunctuatedTree
from spacy_punct.data.treebank import read_treebank
from spacy_punct.errors import Errors, PunctError, check_range
from spacy_punct.pipeline.gold import set_gold
from spacy_punct.pipeline.trees import WORDS_ONLY
from spacy_punct.text.spacing import NO_SPACES

_SUFFIXES = (".conllu", ".spacy")


def create_corpus(
    path: Path, gold_trees: bool = True, limit: int = 0
) -> Callable[[Language], Iterable[Example]]:
    """A reader of depunctuated treebanks, `spacy_punct.Corpus.v1`.

    path (Path): A CoNLL-U file, a DocBin made by `punct convert`, or a folder of
        such files.
    gold_trees (bool): Whether the predicted Docs have the treebank's trees and
        parts of speech, for pipelines without a parser.
    limit (int): How many sentences to read at most; 0 for all.
    RETURNS (Callable): Called with the pipeline it gives examples.
    """
    return PunctuationCorpus(path, gold_trees, limit)


class PunctuationCorpus:
    """See `create_corpus`. Files are read once."""

    def __init__(self, path: Path, gold_trees: bool, limit: int) -> None:
        check_range("limit", limit, 0)
        self._paths = treebank_files(Path(path), _SUFFIXES)
        self._gold_trees = gold_trees
        self._limit = limit
        self._docs: list[Doc] | None = None

    def __call__(self, nlp: Language) -> Iterator[Example]:
        if self._docs is None or self._docs[0].vocab is not nlp.vocab:
            docs = [d for path in self._paths for d in read_docs(path, nlp.vocab)]
            if not docs:
                raise PunctError(Errors.P020)
            self._docs = docs[: self._limit or None]
        for reference in self._docs:
            predicted = unpunctuated(reference, with_tree=self._gold_trees)
            yield Example(predicted, reference)


def unpunctuated(reference: Doc, *, with_tree: bool) -> Doc:
    """The words and the sentences of a reference, but nothing of its punctuation.

    reference (Doc): A Doc of `read_docs`.
    with_tree (bool): Whether to give the new Doc the tree and the parts of speech.
        Without, a parser will keep to the sentences.
    RETURNS (Doc): A new Doc.
    """
    annotation = {"sent_starts": [bool(token.is_sent_start) for token in reference]}
    if with_tree:
        annotation = {
            "heads": [token.head.i for token in reference],
            "deps": [token.dep_ for token in reference],
            "pos": [token.pos_ for token in reference],
        }
    return Doc(
        reference.vocab,
        words=[token.text for token in reference],
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
    """The sentences of a treebank as Docs without punctuation.

    path (Path): A CoNLL-U file or a DocBin made by `punct convert`.
    vocab (Vocab): The vocabulary.
    YIELDS (Doc): With trees, tags, lemmas and morphology, and the true punctuation
        in the user data.
    """
    if path.suffix == ".conllu":
        for example in read_treebank(path).examples:
            yield make_doc(example, vocab)
        return
    yield from DocBin().from_disk(path).get_docs(vocab)


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
    annotation = {}
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
