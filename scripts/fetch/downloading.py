"""Downloads that go on where they were stopped, and are checked."""

import os
import re
import time
from pathlib import Path
from urllib.parse import urlsplit

import requests
from tqdm import tqdm
from urllib3.exceptions import MaxRetryError

from spacy_punct.errors import Errors, PunctError

_CHUNK = 1 << 16
_RETRIED = frozenset({408, 425, 429, 500, 502, 503, 504})
"""HTTP states that may pass."""
_CONTENT_RANGE = re.compile(r"bytes (?:(\d+)-\d+|\*)/(\d+|\*)")


class UnavailableError(PunctError):
    """A file that cannot be had at all.

    reason (str): Why, in a few words.
    """

    def __init__(self, url: str, reason: str) -> None:
        super().__init__(Errors.P104.format(url=url, reason=reason))
        self.reason = reason


class _BrokenOffError(Exception):
    """An attempt that gave less than the whole file."""


class Network:
    """Downloads files, and remembers which hosts cannot be reached.

    attempts (int): How often to ask before giving up, if no more of the file comes.
    pause (float): Seconds before the second attempt; doubled for each further one.
    timeout (tuple[float, float]): Seconds to wait for a connection and for data.
    """

    def __init__(
        self,
        attempts: int = 4,
        pause: float = 1.0,
        timeout: tuple[float, float] = (10.0, 30.0),
    ) -> None:
        self.attempts = attempts
        self.pause = pause
        self.timeout = timeout
        self._session = requests.Session()
        # Ranges count the bytes that are sent, so these must be the file's own.
        self._session.headers["Accept-Encoding"] = "identity"
        self._reached: set[str] = set()
        self._unreachable: set[str] = set()

    def download(self, url: str, part: Path) -> None:
        """Download a file, or the rest of it.

        An UnavailableError says that there is nothing to be had at the address; any
        other PunctError that it is worth trying again.

        url (str): The address.
        part (Path): Where to put it. What is there already is taken for the file's
            beginning; what has come stays there, whatever happens.
        """
        host = urlsplit(url).netloc
        tried, most = 0, _size(part)
        while True:
            if host in self._unreachable:
                raise UnavailableError(url, f"{host} cannot be reached")
            try:
                self._attempt(url, host, part)
                return
            except requests.HTTPError as error:
                status = error.response.status_code
                if status not in _RETRIED:
                    raise UnavailableError(url, f"{url} answers {status}") from None
                reason = f"it answers {status}"
            except (requests.RequestException, _BrokenOffError) as error:
                if isinstance(error, ValueError):  # so requests says it
                    raise UnavailableError(url, "not a web address") from None
                if host not in self._reached and _is_no_connection(error):
                    self._unreachable.add(host)
                    continue
                reason = _short(error)
            if _size(part) > most:
                tried, most = 0, _size(part)
            tried += 1
            if tried >= self.attempts:
                raise PunctError(Errors.P105.format(url=url, reason=reason))
            time.sleep(self.pause * 2 ** (tried - 1))

    def _attempt(self, url: str, host: str, part: Path) -> None:
        offset = _size(part)
        headers = {"Range": f"bytes={offset}-"} if offset else {}
        with self._session.get(
            url, headers=headers, stream=True, timeout=self.timeout
        ) as response:
            self._reached.add(host)
            start, total = _content_range(response)
            if offset and response.status_code == 416:
                if total == offset:  # it was stopped when all had come
                    return
                part.unlink()
                raise _BrokenOffError("the file here is not the beginning of that one")
            response.raise_for_status()
            if response.status_code != 206:
                start, total = 0, _content_length(response)
            elif start != offset:
                part.unlink()
                raise _BrokenOffError("another part came than the one asked for")
            self._write(response, part, start, total)
        if total is not None and _size(part) != total:
            raise _BrokenOffError(f"{_size(part)} of {total} bytes came")

    def _write(
        self, response: requests.Response, part: Path, start: int, total: int | None
    ) -> None:
        # Of an answer that breaks off, urllib3 would drop the last bytes.
        response.raw.enforce_content_length = False
        part.parent.mkdir(parents=True, exist_ok=True)
        with (
            part.open("ab" if start else "wb") as file,
            tqdm(
                desc=f"{part.parent.name}/{part.stem}",
                initial=start,
                total=total,
                unit="B",
                unit_scale=True,
                leave=False,
                disable=None,
            ) as bar,
        ):
            for chunk in response.iter_content(_CHUNK):
                file.write(chunk)
                bar.update(len(chunk))
            file.flush()
            os.fsync(file.fileno())


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _content_range(response: requests.Response) -> tuple[int | None, int | None]:
    """The first byte that is sent and the length of the whole, where they are told."""
    found = _CONTENT_RANGE.match(response.headers.get("Content-Range", ""))
    start, total = found.groups() if found else (None, None)
    return (
        int(start) if start else None,
        int(total) if total and total != "*" else None,
    )


def _content_length(response: requests.Response) -> int | None:
    if "Content-Encoding" in response.headers:  # it counts encoded bytes
        return None
    length = response.headers.get("Content-Length", "")
    return int(length) if length.isdecimal() else None


def _is_no_connection(error: Exception) -> bool:
    """Whether there was no connection to the host, rather than one that broke."""
    if isinstance(error, requests.ConnectionError):
        # This covers ConnectTimeout, ProxyError and SSLError, all of one origin.
        return bool(error.args) and isinstance(error.args[0], MaxRetryError)
    return False


def _short(error: Exception) -> str:
    if isinstance(error, requests.Timeout):
        return "no answer in time"
    if isinstance(error, requests.RequestException):
        return "the connection broke"
    return str(error)
