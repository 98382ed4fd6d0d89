"""A small pipeline, served."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import spacy
from spacy.language import Language

from spacy_punct.serve import Api, Limits, PunctuationServer


@pytest.fixture(scope="session")
def small(both_path) -> Language:
    """A pipeline that restores and corrects; not to be changed."""
    nlp = spacy.load(both_path)
    nlp.get_pipe("punctuation_corrector").cfg["threshold"] = 0.0
    return nlp


@pytest.fixture(scope="session")
def api(small) -> Api:
    return Api(small)


@contextmanager
def running(nlp: Language, limits: Limits | None = None) -> Iterator[PunctuationServer]:
    """A server at a free port, in a thread of its own."""
    with PunctuationServer(nlp, port=0, limits=limits) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture(scope="session")
def server(small) -> Iterator[PunctuationServer]:
    with running(small) as found:
        yield found
