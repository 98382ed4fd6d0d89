"""Where sentences end in restored words."""

import re
from collections.abc import Iterable, Sequence

from spacy_punct.transcripts.speech import word_set
from spacy_punct.transcripts.transcript import Transcript, Word

_END = re.compile(r"[.?!…。？！؟।۔]+[\"'”’»)\]]*$")
_ABBREVIATIONS = word_set(
    "mr mrs ms dr prof st sr jr vs etc e.g i.e no inc ltd co dept gen gov sen rep "
    "rev hon capt col lt sgt fig vol approx jan feb mar apr jun jul aug sep sept "
    "oct nov dec u.s u.k a.m p.m"
)


def ends_sentence(word: str, after: str | None = None) -> bool:
    """Whether a sentence ends with a word.

    word (str): The word, with the marks after it.
    after (str | None): The next word; None if there is none.
    RETURNS (bool): Whether it has a mark that ends sentences, and that is not the dot
        of an abbreviation.
    """
    found = _END.search(word)
    if not found:
        return False
    bare = word[: found.start()].lstrip("([\"'“‘«").lower()
    if found[0] != "." or after is None:
        return True
    is_name = len(bare) == 1 and bare not in "iao"
    return not (bare in _ABBREVIATIONS or is_name)


def split_sentences(words: Sequence[Word]) -> list[list[Word]]:
    """Words and asides by sentence; a turn or a paragraph begins a new one.

    words (Sequence[Word]): The words of a transcript.
    RETURNS (list[list[Word]]): None of them is empty.
    """
    sentences: list[list[Word]] = []
    is_open = False
    for k, word in enumerate(words):
        if not is_open or word.is_turn or word.is_paragraph:
            sentences.append([])
        sentences[-1].append(word)
        after = words[k + 1].text if k + 1 < len(words) else None
        is_open = word.is_aside or not ends_sentence(word.text, after)
    return sentences


def in_order(transcript: Transcript) -> list[Word]:
    """The words of a transcript as they were said.

    transcript (Transcript): The transcript.
    RETURNS (list[Word]): Its words. If it has one channel after the other, sentence
        by sentence, by the time at which each begins.
    """
    words = transcript.words()
    if not transcript.in_channels:
        return words
    timed: list[tuple[float, list[Word]]] = []
    last = 0.0
    for sentence in split_sentences(words):
        last = last if sentence[0].start is None else sentence[0].start
        timed.append((last, sentence))
    result: list[Word] = []
    for _, (first, *others) in sorted(timed, key=lambda pair: pair[0]):
        is_turn = not result or first.speaker != result[-1].speaker
        result += [first._replace(is_turn=is_turn), *others]
    return result


def written(words: Iterable[Word]) -> str:
    """Words as a text."""
    text = ""
    for word in words:
        text += word.text if word.joined or not text else f" {word.text}"
    return text
