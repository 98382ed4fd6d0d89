"""The trained pipelines that come with the package, and their weights for components
of other pipelines. Nothing else knows where they are."""

import warnings
import zlib
from collections.abc import Callable, Iterable, Iterator
from functools import cache, partial, wraps
from pathlib import Path
from typing import Any, Protocol, overload

import spacy
import srsly
from spacy.language import Language

from spacy_punct.errors import Errors, PunctError, Warnings
from spacy_punct.pipe.base import UNTUNED, Start
from spacy_punct.reading.borrowed import BorrowedReading
from spacy_punct.text.languages import language_message

FOLDER = Path(__file__).parents[1] / "pipelines"

_SHARED = "tok2vec"
"""The component of a bundled pipeline to which the others listen."""
NEEDLESS = {
    "punctuation_restorer": (
        "apostrophe_tagger",
        "mark_reader",
        "punctuation_corrector",
    ),
    "punctuation_corrector": ("punctuation_restorer",),
}
"""Components of bundled pipelines that another one does without."""
_ROW = 50
"""So many words of short texts are looked at together to see their language."""
_SHOWN = 5
"""How many words of a text a warning shows."""


def names() -> tuple[str, ...]:
    """The names of the bundled pipelines: the codes of their languages."""
    return tuple(sorted(meta.parent.name for meta in FOLDER.glob("*/meta.json")))


def path_to(name: str = "en") -> Path:
    """Where a bundled pipeline is, for `spacy.load` or `source` in a config.

    name (str): One of `names()`.
    RETURNS (Path): Its folder.
    """
    if name not in names():
        there = ", ".join(names()) or "none"
        raise PunctError(Errors.P070.format(name=name, names=there))
    return FOLDER / name


def load(name: str = "en", **kwargs: Any) -> Language:
    """Load a bundled pipeline.

    name (str): One of `names()`.
    kwargs: Passed on to `spacy.load`: exclude, disable, enable, config, vocab.
    RETURNS (Language): The pipeline, ready to use.
    """
    return spacy.load(path_to(name), **kwargs)


class OneOrMany(Protocol):
    """A function of an English text, or of many."""

    @overload
    def __call__(self, texts: str, **settings: Any) -> str: ...
    @overload
    def __call__(self, texts: Iterable[str], **settings: Any) -> Iterator[str]: ...


def for_one_or_many(many: Callable[..., Iterator[str]]) -> OneOrMany:
    """Let a function of many English texts take one, too, and give its answer alone.
    It warns once (W004) if some of them are plainly not English."""

    @wraps(many)
    def either(texts: Any, **settings: Any) -> Any:
        if isinstance(texts, str):
            watched = _Watched([texts])
            return next(watched.warning(many(watched, **settings), stacklevel=3))
        watched = _Watched(texts)
        return watched.warning(many(watched, **settings), stacklevel=2)

    return either


class _Watched:
    """Texts that are given on, and looked at as they pass.

    texts (Iterable[str]): The texts, which should be English.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        self._texts = texts
        self._message: str | None = None

    def __iter__(self) -> Iterator[str]:
        row: list[str] = []  # short texts, in which little can be seen by itself
        for text in self._texts:
            if self._message is None:
                words = text.split()
                self._look(words)
                row += words if len(words) < _ROW else ()
                if len(row) >= _ROW:
                    self._look(row)
                    row = []
            yield text
        self._look(row)

    def _look(self, words: list[str]) -> None:
        if self._message is None:
            start = " ".join(words[:_SHOWN])
            message = Warnings.W004
            self._message = language_message(words, "en", message, start=start)

    def warning(self, answers: Iterable[str], stacklevel: int) -> Iterator[str]:
        """Give answers on, and warn once as soon as there is reason to."""
        is_told = False
        for answer in answers:
            if self._message and not is_told:
                is_told = True
                warnings.warn(self._message, stacklevel=stacklevel)
            yield answer
        if self._message and not is_told:
            warnings.warn(self._message, stacklevel=stacklevel)


def bundled_weights(language: str, component: str) -> Start | None:
    """The trained model of a component, registered as `spacy_punct.bundled_weights.v1`.

    language (str): A two-letter code.
    component (str): The name of its factory, by which bundled pipelines call it.
    RETURNS (Start | None): A model of the caller's own, to be used or trained. What it
        needs to know of Docs, the bundled pipeline reads for it, which is loaded once.
        None if no bundled pipeline has such a component.
    """
    if language not in names():
        return None
    folder = path_to(language)
    components = srsly.read_json(folder / "meta.json")["components"]
    if component not in components:
        return None
    nlp = load(language, exclude=sorted(set(components) - {component}))
    pipe: Any = dict(nlp.components)[component]
    architecture = nlp.config.interpolate()["components"][component]["model"]
    weights = (folder / _SHARED / "model").read_bytes()
    borrow = partial(_reading, folder, component)
    reading = BorrowedReading(borrow, zlib.crc32(weights))
    tuned = {setting: pipe.cfg[setting] for setting in UNTUNED if setting in pipe.cfg}
    return Start(
        pipe.model,
        architecture,
        spacing=pipe.spacing,
        reading=reading,
        settings={**UNTUNED, **tuned},
    )


@cache
def _reading(folder: Path, component: str) -> Language:
    """What a bundled pipeline reads for one of its components."""
    return spacy.load(folder, exclude=[component, *NEEDLESS.get(component, ())])
