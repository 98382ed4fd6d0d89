"""Downloads, from servers that behave and servers that do not."""

import pytest

from scripts.fetch.downloading import Network, UnavailableError
from spacy_punct.errors import PunctError
from tests.servers import FileServer

CONTENT = bytes(range(256)) * 2000
HALF = len(CONTENT) // 2


@pytest.fixture
def network() -> Network:
    return Network(pause=0.0)


@pytest.fixture
def part(tmp_path):
    return tmp_path / "deep" / "x.part"


def test_download_goes_on_after_a_cut_and_asks_only_for_the_rest(network, part):
    with FileServer({"x": CONTENT}, cuts=1) as server:
        network.download(f"{server.url}/x", part)
    assert part.read_bytes() == CONTENT
    assert server.requests == [("x", None), ("x", f"bytes={HALF}-")]
    assert sum(server.n_sent) == len(CONTENT)


def test_download_goes_on_where_another_run_stopped(network, part):
    part.parent.mkdir()
    part.write_bytes(CONTENT[:1000])
    with FileServer({"x": CONTENT}) as server:
        network.download(f"{server.url}/x", part)
    assert part.read_bytes() == CONTENT
    assert server.requests == [("x", "bytes=1000-")]
    assert server.n_sent == [len(CONTENT) - 1000]


def test_download_bears_any_number_of_cuts_while_something_comes(part):
    with FileServer({"x": CONTENT}, cuts=8) as server:
        Network(attempts=2, pause=0.0).download(f"{server.url}/x", part)
    assert part.read_bytes() == CONTENT
    assert len(server.requests) == 9


def test_download_starts_over_if_ranges_are_ignored(network, part):
    with FileServer({"x": CONTENT}, ranges=False, cuts=1) as server:
        network.download(f"{server.url}/x", part)
    assert part.read_bytes() == CONTENT
    assert server.n_sent == [HALF, len(CONTENT)]


def test_download_gives_up_and_keeps_what_came(network, part):
    with (
        FileServer({"x": CONTENT}, ranges=False, cuts=99) as server,
        pytest.raises(PunctError, match="P105") as caught,
    ):
        network.download(f"{server.url}/x", part)
    assert not isinstance(caught.value, UnavailableError)
    assert part.read_bytes() == CONTENT[:HALF]
    # One that got further than any before it, and as many as are allowed after it.
    assert len(server.requests) == network.attempts


@pytest.mark.parametrize("there", [CONTENT, CONTENT + b"more"])
def test_download_of_what_is_all_there_or_too_long(network, part, there):
    part.parent.mkdir()
    part.write_bytes(there)
    with FileServer({"x": CONTENT}) as server:
        network.download(f"{server.url}/x", part)
    assert part.read_bytes() == CONTENT
    assert len(server.requests) == (1 if there == CONTENT else 2)


def test_download_does_not_join_the_wrong_part(network, part):
    part.parent.mkdir()
    part.write_bytes(CONTENT[:1000])
    with FileServer({"x": CONTENT}, shift=256) as server:
        network.download(f"{server.url}/x", part)
    assert part.read_bytes() == CONTENT
    assert server.requests == [("x", "bytes=1000-"), ("x", None)]


def test_download_asks_again_for_what_may_pass_only(network, part):
    with FileServer({"x": CONTENT}, status=(503, 429)) as server:
        network.download(f"{server.url}/x", part)
        assert len(server.requests) == 3
        with pytest.raises(UnavailableError, match="404"):
            network.download(f"{server.url}/y", part)
        assert len(server.requests) == 4
    assert part.read_bytes() == CONTENT


def test_download_asks_an_unreachable_host_once(network, part):
    with FileServer({}) as server:
        port = int(server.url.rpartition(":")[2])
    with pytest.raises(UnavailableError) as caught:
        network.download(f"{server.url}/x", part)
    assert caught.value.reason == f"127.0.0.1:{port} cannot be reached"
    with FileServer({"x": CONTENT}, port=port) as server:
        with pytest.raises(UnavailableError):
            network.download(f"{server.url}/x", part)
        assert not server.requests
    assert not part.exists()


def test_download_does_not_give_up_a_host_that_was_reached(part):
    with FileServer({"x": CONTENT}) as server:
        network = Network(attempts=2, pause=0.0)
        network.download(f"{server.url}/x", part)
    part.unlink()
    with pytest.raises(PunctError, match="P105"):
        network.download(f"{server.url}/x", part)


def test_download_wants_a_web_address(network, part):
    with pytest.raises(UnavailableError, match="not a web address"):
        network.download("somewhere/x", part)
