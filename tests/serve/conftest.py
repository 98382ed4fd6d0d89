"""A small pipeline, served."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import spacy
from spacy.language import Language
from starlette.testclient import TestClient

from spacy_punct.serve.app import make_app
from spacy_punct.serve.limits import Limits
from spacy_punct.serve.server import PunctuationServer


@pytest.fixture(scope="session")
def small(both_path) -> Language:
    """A pipeline that restores and corrects; not to be changed."""
    nlp = spacy.load(both_path)
    nlp.get_pipe("punctuation_corrector").cfg["threshold"] = 0.0
    return nlp


def client_of(nlp: Language, limits: Limits | None = None) -> TestClient:
    """A client of an application in this process; failures are answers, not raised."""
    app = make_app(nlp, limits)
    return TestClient(app, "http://localhost", raise_server_exceptions=False)


@pytest.fixture(scope="session")
def client(small) -> Iterator[TestClient]:
    with client_of(small) as found:
        yield found


@contextmanager
def running(nlp: Language, limits: Limits | None = None) -> Iterator[PunctuationServer]:
    """A server at a free port, in a thread of its own."""
    server = PunctuationServer(nlp, port=0, limits=limits)
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        yield server
    finally:
        server.stop()
        thread.join(30)
        assert not thread.is_alive()


@pytest.fixture(scope="session")
def server(small) -> Iterator[PunctuationServer]:
    with running(small) as found:
        yield found
