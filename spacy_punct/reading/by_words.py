"""Text with marks, parsed by a pipeline that was trained on words without any."""

from itertools import pairwise

import numpy as np
from spacy.language import Language
from spacy.tokens import Doc, Token

from spacy_punct.pipe.base import PunctuationPipe
from spacy_punct.reading.attributes import TRUECASED, register_attributes, truecased
from spacy_punct.reading.restored import PieceData, restored_doc
from spacy_punct.reading.sentence_starts import marked_starts
from spacy_punct.reading.sentences import WORDS_ONLY, is_mark_token, stem_of


def parsed_well(doc: Doc, nlp: Language) -> Doc:
    """A parsed Doc whose marks did not mislead the parser.

    doc (Doc): A parsed Doc.
    nlp (Language): A pipeline to parse it again with.
    RETURNS (Doc): The same, if its marks hang on words as punctuation does. If not,
        what parsed it knows no marks, and its words are parsed without.
    """
    marks = [token for token in doc if not token.is_space and is_mark_token(token)]
    known = (t.dep_.lower() == "punct" and not t.n_lefts + t.n_rights for t in marks)
    return doc if all(known) else parse_words(nlp, doc)


def parse_words(nlp: Language, text: str | Doc) -> Doc:
    """Parse the words of a text as if there were no marks, and put these back.

    Sentences end where their marks say. Marks hang on the lowest word above both
    their neighbours.

    nlp (Language): A pipeline; its components for punctuation do not run.
    text (str | Doc): The text, with its punctuation.
    RETURNS (Doc): All its tokens.
    """
    register_attributes()
    doc = nlp.make_doc(text) if isinstance(text, str) else text
    words = [t for t in doc if not t.is_space and not is_mark_token(t)]
    if not words:
        return doc
    starts = np.cumsum(marked_starts(doc, np.zeros(len(doc)), 0.5, 0.0, 0.0))
    number = [int(n) - 1 for n in starts]
    bare = Doc(
        nlp.vocab,
        words=[stem_of(token.text) for token in words],
        spaces=[
            *(bool(a.whitespace_) or b.i > a.i + 1 for a, b in pairwise(words)),
            False,
        ],
        sent_starts=[
            k == 0 or number[token.i] != number[words[k - 1].i]
            for k, token in enumerate(words)
        ],
        user_data={WORDS_ONLY: True},
    )
    for _, component in nlp.pipeline:
        if not isinstance(component, PunctuationPipe):
            bare = component(bare)
    place = {token.i: k for k, token in enumerate(words)}
    pieces: list[PieceData] = [
        [token.text, token.whitespace_, number[token.i], place.get(token.i)]
        for token in doc
    ]
    parsed = restored_doc(bare, pieces)
    rows = list(place)
    if len(bare.tensor):
        parsed.tensor = np.zeros((len(doc), bare.tensor.shape[1]), bare.tensor.dtype)
        parsed.tensor[rows] = bare.tensor
    if bare.user_data.get(TRUECASED) is not None:
        forms = [_form(bare[place[t.i]], t) if t.i in place else t.text for t in doc]
        parsed.user_data[TRUECASED] = "".join(
            form + token.whitespace_ for form, token in zip(forms, doc, strict=True)
        )
    return parsed


def _form(word: Token, token: Token) -> str:
    """What a truecaser made of a word, with the dot that it did not see."""
    form = truecased(word)
    return token.text if form is None else form + token.text[len(word.text) :]
