"""Trees of UDPipe models that are trained on text without punctuation.

Nothing here needs the package spacy-udpipe before a model is trained or used.
"""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import Any

from spacy.tokens import Doc
from tqdm import tqdm

from spacy_punct.data.conllu import format_conllu
from spacy_punct.data.depunctuation import PunctuatedTree, unpunctuated_sentence
from spacy_punct.errors import Errors, PunctError, check_range
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


@dataclass(frozen=True)
class UDPipeSettings:
    """How UDPipe's tagger and parser are trained.

    The defaults are for speed: the parser is a third as wide, in weights, as UDPipe's
    own, and learns no whole sentences (`structured_interval`).

    tagger_iterations (int): Passes over the data of the tagger's training.
    suffix_rules (int): Tags that the tagger considers for a suffix.
    enrich_dictionary (int): Tags that it considers for a word beyond those it had.
    iterations (int): Passes over the data of the parser's training.
    hidden_layer (int): Width of the parser's hidden layer.
    embedding_form, embedding_upostag, embedding_xpostag, embedding_feats,
        embedding_deprel (int): Widths of what the parser knows of a word; 0 for
        nothing. The tagger learns no more than the parser reads.
    batch_size (int): Words per step.
    learning_rate, learning_rate_final (float): Of the parser's first and last
        iteration.
    l2 (float): Weight of the parser's L2 regularisation.
    structured_interval (int): After how many sentences the parser learns one by
        trying all transitions to their end, which is slow; 0 for never.
    """

    tagger_iterations: int = 4
    suffix_rules: int = 6
    enrich_dictionary: int = 3
    iterations: int = 5
    hidden_layer: int = 100
    embedding_form: int = 40
    embedding_upostag: int = 10
    embedding_xpostag: int = 15
    embedding_feats: int = 0
    embedding_deprel: int = 10
    batch_size: int = 10
    learning_rate: float = 0.03
    learning_rate_final: float = 0.001
    l2: float = 0.5
    structured_interval: int = 0

    def __post_init__(self) -> None:
        positive = ("tagger_iterations", "iterations", "hidden_layer", "batch_size")
        for name, value in asdict(self).items():
            check_range(name, value, int(name in positive))

    @property
    def tagger(self) -> str:
        """The tagger's options as UDPipe reads them: one model, without lemmas."""
        xpostag, feats = bool(self.embedding_xpostag), bool(self.embedding_feats)
        return _options(
            models=1,
            # The tag of the last word is seen, not those of the last two.
            order=2,
            templates="".join(f"{feature}\n" for feature in _TAGGER_FEATURES),
            iterations=self.tagger_iterations,
            guesser_suffix_rules=self.suffix_rules,
            guesser_enrich_dictionary=self.enrich_dictionary,
            use_lemma=0,
            provide_lemma=0,
            use_xpostag=int(xpostag),
            provide_xpostag=int(xpostag),
            use_feats=int(feats),
            provide_feats=int(feats),
        )

    @property
    def parser(self) -> str:
        """The parser's options as UDPipe reads them: projective, with one root."""
        names = (
            "iterations",
            "hidden_layer",
            "embedding_form",
            "embedding_upostag",
            "embedding_xpostag",
            "embedding_feats",
            "embedding_deprel",
            "batch_size",
            "learning_rate",
            "learning_rate_final",
            "l2",
            "structured_interval",
        )
        return _options(
            transition_system="projective",
            transition_oracle="dynamic",
            single_root=1,
            **{name: getattr(self, name) for name in names},
        )


def _options(**options: float | str) -> str:
    return ";".join(f"{name}={value}" for name, value in options.items())


def train_udpipe(
    examples: Sequence[PunctuatedTree],
    dev: Sequence[PunctuatedTree],
    path: Path,
    settings: UDPipeSettings | None = None,
) -> None:
    """Train a UDPipe model without tokenizer on trees without punctuation.

    UDPipe's random numbers are always the same, so the model is too. It reports its
    progress on standard error.

    examples (Sequence[PunctuatedTree]): The trees to learn.
    dev (Sequence[PunctuatedTree]): The trees that tell the best iteration; may be
        empty.
    path (Path): Where to write the model.
    settings (UDPipeSettings | None): How; the defaults if None.
    """
    from ufal import udpipe

    if not examples:
        raise PunctError(Errors.P020)
    settings = settings or UDPipeSettings()
    error = udpipe.ProcessingError()
    trained = udpipe.Trainer.train(
        _METHOD,
        *(_sentences(udpipe, part) for part in (examples, dev)),
        "none",
        settings.tagger,
        settings.parser,
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
