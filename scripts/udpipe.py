"""Trees of UDPipe models that are trained on text without punctuation.

Nothing here needs the package spacy-udpipe before a model is trained or used.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import Any

from spacy.tokens import Doc
from tqdm import tqdm

from spacy_punct.data.conllu import format_conllu
from spacy_punct.data.depunctuation import PunctuatedTree, unpunctuated_sentence
from spacy_punct.errors import Errors, PunctError
from spacy_punct.reading.sentences import WORDS_ONLY

_METHOD = "morphodita_parsito"
_NO_MODEL = "{path} is not a UDPipe model with a tagger and a parser."
_TAGGER_FEATURES = (
    "Tag 0",
    "Tag 0,Tag -1",
    "TagUPos 0,TagUPos -1",
    "Tag 0,Form 0",
    "Tag 0,Form 0,Form -1",
    "Tag 0,Form -1",
    "Tag 0,Form -2",
    "Tag 0,Form -1,Form -2",
    "Tag 0,Form 1",
    "Tag 0,Form 1,Form 2",
    *(f"Tag 0,Prefix{n} 0" for n in range(1, 5)),
    *(f"Tag 0,Suffix{n} 0" for n in range(1, 5)),
)
"""UDPipe has more templates of its own, which take almost four times as long and, on
2,000 sentences of English, gain half a point of accuracy."""

TAGGER: dict[str, float | str] = {
    "models": 1,
    # The tag of the last word is seen, not those of the last two.
    "order": 2,
    "templates": "".join(f"{feature}\n" for feature in _TAGGER_FEATURES),
    "iterations": 4,
    "guesser_suffix_rules": 6,
    "guesser_enrich_dictionary": 3,
    "use_lemma": 0,
    "provide_lemma": 0,
    "use_xpostag": 1,
    "provide_xpostag": 1,
    "use_feats": 0,
    "provide_feats": 0,
}
"""The tagger's options: one model, without lemmas."""
PARSER: dict[str, float | str] = {
    "transition_system": "projective",
    "transition_oracle": "dynamic",
    "single_root": 1,
    "iterations": 5,
    "hidden_layer": 100,
    "embedding_form": 40,
    "embedding_upostag": 10,
    "embedding_xpostag": 15,
    "embedding_feats": 0,
    "embedding_deprel": 10,
    "batch_size": 10,
    "learning_rate": 0.03,
    "learning_rate_final": 0.001,
    "l2": 0.5,
    "structured_interval": 0,
}
"""The parser's options, for speed: it is a third as wide, in weights, as UDPipe's own,
and learns no whole sentences (`structured_interval`)."""


def _options(options: Mapping[str, float | str]) -> str:
    return ";".join(f"{name}={value}" for name, value in options.items())


def train_udpipe(
    examples: Sequence[PunctuatedTree],
    dev: Sequence[PunctuatedTree],
    path: Path,
    tagger: Mapping[str, float | str] = TAGGER,
    parser: Mapping[str, float | str] = PARSER,
) -> None:
    """Train a UDPipe model without tokenizer on trees without punctuation.

    UDPipe's random numbers are always the same, so the model is too. It reports its
    progress on standard error.

    examples (Sequence[PunctuatedTree]): The trees to learn.
    dev (Sequence[PunctuatedTree]): The trees that tell the best iteration; may be
        empty.
    path (Path): Where to write the model.
    tagger, parser (Mapping): Options of UDPipe.
    """
    from ufal import udpipe

    if not examples:
        raise PunctError(Errors.P020)
    error = udpipe.ProcessingError()
    trained = udpipe.Trainer.train(
        _METHOD,
        *(_sentences(udpipe, part) for part in (examples, dev)),
        "none",
        _options(tagger),
        _options(parser),
        error,
    )
    _check(error)
    path.write_bytes(trained)


def _sentences(udpipe: ModuleType, examples: Iterable[PunctuatedTree]) -> Any:
    """Sentences as UDPipe has them."""
    result = udpipe.Sentences()
    reader = udpipe.InputFormat.newConlluInputFormat()
    error = udpipe.ProcessingError()
    for i, example in enumerate(examples, start=1):
        projective = replace(example, tree=example.tree.projective())
        sentence = udpipe.Sentence()
        reader.setText(format_conllu(unpunctuated_sentence(projective, str(i))))
        reader.nextSentence(sentence, error)
        _check(error)
        result.append(sentence)
    return result


def _check(error: Any) -> None:
    if error.occurred():
        raise PunctError(f"UDPipe cannot learn from these trees: {error.message}")


def parse(path: Path, docs: Sequence[Doc]) -> list[Doc]:
    """Docs of the same words with the trees and parts of speech of a UDPipe model.

    path (Path): The model, as `train_udpipe` writes it.
    docs (Sequence[Doc]): Docs that know their sentences; others are taken for one.
    RETURNS (list[Doc]): New Docs, ready for a `punctuation_restorer`.
    """
    import spacy_udpipe
    from ufal import udpipe

    model = spacy_udpipe.UDPipeModel("", path=str(path))
    # It says nothing if it finds no model.
    if model.model is None:
        raise PunctError(_NO_MODEL.format(path=path))
    stream = tqdm(docs, unit="sent", leave=False, disable=None)
    return [_parsed(udpipe, model, path, doc) for doc in stream]


def _parsed(udpipe: ModuleType, model: Any, path: Path, doc: Doc) -> Doc:
    tokens = list(doc)
    words = [token.text for token in tokens]
    tags: list[str] = []
    heads: list[int] = []
    deps: list[str] = []
    starts = [0] if words else []
    if doc.has_annotation("SENT_START"):
        starts = [sentence.start for sentence in doc.sents]
    for start, end in pairwise([*starts, len(words)]):
        sentence = udpipe.Sentence()
        for word in words[start:end]:
            sentence.addWord(word)
        model.tag(sentence)
        model.parse(sentence)
        for i, word in enumerate(list(sentence.words)[1:], start=start):
            if word.head < 0:
                raise PunctError(
                    f"{path} is not a UDPipe model with a tagger and parser."
                )
            tags.append(word.upostag)
            heads.append(start + word.head - 1 if word.head else i)
            deps.append(word.deprel if word.head else "ROOT")
    known = (
        {WORDS_ONLY: doc.user_data[WORDS_ONLY]} if WORDS_ONLY in doc.user_data else {}
    )
    return Doc(
        doc.vocab,
        words=words,
        spaces=[bool(token.whitespace_) for token in tokens],
        pos=tags,
        heads=heads,
        deps=deps,
        user_data=known,
    )
