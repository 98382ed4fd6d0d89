"""The one way to parse a text without its marks.

Parsers that are trained for restoring know no punctuation, and marks mislead them. So
a Doc of the words alone is parsed, and its annotation is copied back.
"""

from collections.abc import Collection, Sequence
from itertools import pairwise

import numpy as np
from spacy.language import Language
from spacy.tokens import Doc, Token

from spacy_punct.reading.attributes import TRUECASED
from spacy_punct.reading.pieces import PieceData, restored_doc
from spacy_punct.reading.sentences import (
    WORDS_ONLY,
    is_mark_token,
    stem_of,
    truecased_words,
)
from spacy_punct.reading.starts import marked_starts


def bare_doc(doc: Doc, words: Sequence[int], starts: Collection[int]) -> Doc:
    """A new Doc of the words of another, without abbreviation dots.

    doc (Doc): The text.
    words (Sequence[int]): Which of its tokens are words.
    starts (Collection[int]): Which of these begin sentences.
    RETURNS (Doc): The words, cut into sentences.
    """
    tokens = [doc[i] for i in words]
    return Doc(
        doc.vocab,
        words=[stem_of(token.text) for token in tokens],
        spaces=[
            *(bool(a.whitespace_) or b.i > a.i + 1 for a, b in pairwise(tokens)),
            False,
        ],
        sent_starts=[i in starts for i in words],
        user_data={WORDS_ONLY: True},
    )


def parse_words(nlp: Language, text: str | Doc) -> Doc:
    """Parse the words of a text as if there were no marks, and put these back.

    Sentences end where their marks say. Each mark hangs on the lowest word above both
    its neighbours.

    nlp (Language): A pipeline; components that require a parse do not run.
    text (str | Doc): The text, with its punctuation.
    RETURNS (Doc): All its tokens.
    """
    doc = nlp.make_doc(text) if isinstance(text, str) else text
    words = [t.i for t in doc if not t.is_space and not is_mark_token(t)]
    if not words:
        return doc
    sentence = np.cumsum(marked_starts(doc, np.zeros(len(doc)), 0.5, 0.0, 0.0)) - 1
    number = sentence.tolist()
    starts = {words[0]}
    starts.update(b for a, b in pairwise(words) if number[a] != number[b])
    bare = bare_doc(doc, words, starts)
    for name, component in nlp.pipeline:
        if "token.dep" not in nlp.get_pipe_meta(name).requires:
            bare = component(bare)
    place = {i: k for k, i in enumerate(words)}
    pieces: list[PieceData] = [
        [token.text, token.whitespace_, number[token.i], place.get(token.i)]
        for token in doc
    ]
    parsed = restored_doc(bare, pieces)
    if len(bare.tensor):
        parsed.tensor = np.zeros((len(doc), bare.tensor.shape[1]), bare.tensor.dtype)
        parsed.tensor[words] = bare.tensor
    forms = truecased_words(list(bare))
    if forms is not None:
        tokens = [_cased(t, forms[place[t.i]]) if t.i in place else t.text for t in doc]
        parsed.user_data[TRUECASED] = "".join(
            text + token.whitespace_ for text, token in zip(tokens, doc, strict=True)
        )
    return parsed


def parsed_well(doc: Doc, nlp: Language) -> Doc:
    """A parsed Doc whose marks did not mislead the parser.

    doc (Doc): A parsed Doc.
    nlp (Language): A pipeline to parse it again with.
    RETURNS (Doc): The same Doc if its marks hang on words as punctuation does. If not,
        its parser knows no marks, and its words are parsed without them.
    """
    marks = [token for token in doc if not token.is_space and is_mark_token(token)]
    known = (t.dep_.lower() == "punct" and not t.n_lefts + t.n_rights for t in marks)
    return doc if all(known) else parse_words(nlp, doc)


def _cased(token: Token, form: str) -> str:
    """What a truecaser made of a word, with the dot that it did not see."""
    return form + token.text[len(form) :]
