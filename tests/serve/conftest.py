"""A small pipeline, served."""

import threading
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

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


class WatchedServer(PunctuationServer):
    """Remembers what went wrong in it, rather than in requests."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.failures: list[str] = []
        super().__init__(*args, **kwargs)

    def handle_error(self, request: Any, client_address: Any) -> None:
        self.failures.append(traceback.format_exc())


@contextmanager
def running(nlp: Language, limits: Limits | None = None) -> Iterator[PunctuationServer]:
    """A server at a free port, in a thread of its own; it must not fail."""
    with WatchedServer(nlp, port=0, limits=limits) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
    assert not server.failures


@pytest.fixture(scope="session")
def server(small) -> Iterator[PunctuationServer]:
    with running(small) as found:
        yield found
