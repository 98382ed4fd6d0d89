"""Standard input restored as it comes."""

import codecs
import re
from collections import deque
from collections.abc import Iterable, Iterator
from typing import BinaryIO

from spacy_punct.cli.shared import parted
from spacy_punct.errors import Errors, PunctError
from spacy_punct.restorer.live import Live, LiveRestorer
from spacy_punct.transcripts.speech import Line
from spacy_punct.transcripts.transcript import whole

_MOST_BYTES = 65_536
# A line with its end, or what comes before the last word, which may go on.
_PART = re.compile(r"[^\n]*\n|[^\n]*\s(?=\S*$)")


def arriving(file: BinaryIO) -> Iterator[str]:
    """Read what comes, without waiting for more.

    file (BinaryIO): A file, such as standard input.
    YIELDS (str): A line with its end, or a part of a line that ends with white space.
    """
    decoder = codecs.getincrementaldecoder("utf-8-sig")()
    rest, is_open = "", True
    while is_open:
        data = file.read1(_MOST_BYTES)  # type: ignore[attr-defined]
        is_open = bool(data)
        try:
            rest += decoder.decode(data, final=not is_open)
        except UnicodeDecodeError as error:
            message = Errors.P003.format(where="-", reason=error.reason)
            raise PunctError(message) from None
        end = 0
        for found in _PART.finditer(rest):
            yield found[0]
            end = found.end()
        rest = rest[end:]
    if rest:
        yield rest


def restored_live(
    restorer: LiveRestorer, parts: Iterable[str]
) -> Iterator[tuple[str, Live]]:
    """Restore text as it comes.

    A blank line ends a sentence, as a change of the speaker does.

    restorer (LiveRestorer): Restores words.
    parts (Iterable[str]): See `arriving`.
    YIELDS (tuple[str, Live]): For each part, and at the end, the text that is stable
        now and was not before, and what is known of the words.
    """
    lines: deque[_Line] = deque()
    begins = True
    for part in parts:
        text, end = parted(part)
        line = Line(text, is_word=not begins)
        lines.append(_Line(line, end))
        is_blank = begins and not text.strip()
        found = restorer.add([None] if is_blank else line.spoken)
        yield "".join(_written(lines, found.stable)), found
        begins = bool(end)
    found = restorer.end()
    yield "".join(_written(lines, found.stable)), found


class _Line:
    """A line, or a part of one, whose words become stable one by one."""

    def __init__(self, line: Line, end: str) -> None:
        self.line, self.end = line, end
        self.texts: list[str] = []
        self._n_written = 0

    @property
    def is_done(self) -> bool:
        return len(self.texts) == len(self.line.words)

    def take(self, word: str) -> None:
        self.texts.append(whole(self.line.words[len(self.texts)], word))

    def write(self) -> str:
        """What was not written before."""
        begun = self.line.begun(self.texts)
        text = begun + self.end if self.is_done else begun
        new = text[self._n_written :]
        self._n_written = len(text)
        return new


def _written(lines: deque[_Line], words: Iterable[str]) -> Iterator[str]:
    """What can be written of lines, now that there are more words."""
    rest = deque(words)
    while lines:
        line = lines[0]
        while rest and not line.is_done:
            line.take(rest.popleft())
        yield line.write()
        if not line.is_done:
            return
        lines.popleft()
