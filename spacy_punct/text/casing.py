"""Capitals: where a sentence begins, and of words that have them anywhere.

Only the case of letters changes, never a letter: where a capital would be another
letter or several (`ß`, `ŉ`, `µ`), the word keeps the one it has.
"""

import re
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from itertools import islice, takewhile
from typing import Literal

Casing = Literal["auto", "keep", "sentence", "truecase"]
CASINGS: tuple[Casing, ...] = ("auto", "keep", "sentence", "truecase")

Case = Literal["lower", "title", "upper", "mixed"]
"""How a word is written: `dog`, `Anna`, `NASA`, `McDonald`."""
CASES: tuple[Case, ...] = ("lower", "title", "upper", "mixed")

_ADDRESS = re.compile(r"://|^www\.|\w@\w")
_CODE = re.compile(r"\w[./:@_#]\w\w|[_#+\\]|^[^\W\d_A-Z]+[A-Z]")
"""What only addresses, names of files and code have inside."""
_APOSTROPHES = "'’‘`"
_PRONOUN_I = re.compile(r"^i(?=$|['’])")
_TURKIC = frozenset({"tr", "az"})
"""Languages in which I and i are two letters, with ı and İ as their partners."""
_TURKIC_LOWER = str.maketrans("Iİ", "ıi")
_TURKIC_UPPER = str.maketrans("ıi", "Iİ")


def cased(
    sentences: Sequence[Sequence[str]],
    casing: Casing,
    language: str,
    forms: Iterable[str] | None = None,
    added: Container[int] = (),
) -> list[list[str]]:
    """The words of a text with its sentences capitalised, if that is wanted.

    sentences (Sequence[Sequence[str]]): The words of each sentence.
    casing (Casing): "keep" leaves all words alone; "sentence" capitalises the first
        word of each sentence and the English pronoun I; "truecase" does so too, and
        writes words without a capital as the forms are, or all words of a text in
        CAPITALS; "auto" is "truecase", but if the text has more than half of the
        capitals that it should have, only the sentences in `added` get theirs.
    language (str): A two-letter code.
    forms (Iterable[str] | None): How each word of the text is written amid a
        sentence, if that is known.
    added (Container[int]): The numbers of sentences that begin where the writer did not
        end one.
    RETURNS (list[list[str]]): The same words, equal but for case.
    """
    words = [list(sentence) for sentence in sentences]
    if casing == "keep":
        return words
    known = _forms(words, forms)
    shouted = forms is not None and is_shouted(words)
    if casing == "auto" and not shouted and _has_capitals(words, known, language):
        for number, sentence in enumerate(words):
            if sentence and number in added:
                sentence[0] = capitalised(sentence[0], language)
        return words
    if forms is not None and casing != "sentence":
        words = [
            [
                w if has_capital(w) and not shouted else f
                for w, f in zip(*both, strict=True)
            ]
            for both in zip(words, known, strict=True)
        ]
    for sentence in words:
        if language == "en":
            sentence[:] = [_PRONOUN_I.sub("I", word) for word in sentence]
        if sentence:
            sentence[0] = capitalised(sentence[0], language)
    return words


def _forms(
    sentences: Sequence[Sequence[str]], forms: Iterable[str] | None
) -> Sequence[Sequence[str]]:
    """The forms of words by sentence: the words themselves if they are not known."""
    if forms is None:
        return sentences
    rest = iter(forms)
    return [list(islice(rest, len(sentence))) for sentence in sentences]


def is_shouted(sentences: Sequence[Sequence[str]]) -> bool:
    """Whether a text is in CAPITALS, so that none of them means anything."""
    words = [word for s in sentences for word in s if word.lower() != word.upper()]
    long = [word for word in words if len(word) > 1]
    return len(long) > 1 and all(word == word.upper() for word in words)


def _has_capitals(
    sentences: Sequence[Sequence[str]], forms: Sequence[Sequence[str]], language: str
) -> bool:
    """Whether a writer has set more than half of the capitals that are due.

    The pronoun I does not count: there are recognisers that know no other capital. Nor
    do addresses, names of files and code: they have theirs whoever writes them.
    """
    due = there = 0
    for words, known in zip(sentences, forms, strict=True):
        for i, (word, form) in enumerate(zip(words, known, strict=True)):
            if word.lower() == word.upper() or is_pronoun_i(word, language):
                continue
            if _CODE.search(word):
                continue
            there += has_capital(word)
            due += i == 0 or has_capital(word) or has_capital(form)
    return 2 * there > due


def capitalised(word: str, language: str = "") -> str:
    """The word with its first letter in upper case, if that is one letter too.

    Words that begin small on purpose, such as iPhone, are left alone.
    """
    stem = word.lstrip(_APOSTROPHES)
    if not stem or _ADDRESS.search(stem):
        return word
    first = stem[0]
    if first.islower() and any(map(str.isupper, takewhile(str.isalpha, stem))):
        return word
    if language in _TURKIC:
        first = first.translate(_TURKIC_UPPER)
    upper = first.title()
    if not same_letters(upper, stem[0], language):
        return word
    return word[: len(word) - len(stem)] + upper + stem[1:]


def recased(
    word: str, case: Case, language: str = "", mixed: Mapping[str, str] | None = None
) -> str:
    """The word written in a case, as far as its letters allow.

    word (str): A word, in any case. Addresses are left alone.
    case (Case): The case. What is mixed but not known is written with a capital, and
        what is known to be mixed in its own way, unless it is in lower case.
    language (str): A two-letter code.
    mixed (Mapping[str, str] | None): Forms such as McDonald, by `folded` word.
    RETURNS (str): A word of the same letters.
    """
    if _ADDRESS.search(word):
        return word
    if mixed and case != "lower":
        form = mixed.get(folded(word, language), "")
        if same_letters(form, word, language):
            return form
    if case == "upper":
        return _changed(word, lambda text: _upper(text, language), language)
    lower = _changed(word, lambda text: folded(text, language), language)
    return lower if case == "lower" else capitalised(lower, language)


def case_of(word: str, language: str = "") -> Case | None:
    """The case a word is written in; None for addresses and what has no case.

    A single capital, such as I, counts as a title.
    """
    if word.lower() == word.upper() or _ADDRESS.search(word):
        return None
    for case in ("lower", "title", "upper"):
        if recased(word, case, language) == word:
            return case
    return "mixed"


def has_capital(word: str) -> bool:
    return word != word.lower()


def is_pronoun_i(word: str, language: str) -> bool:
    """Whether a word is the English pronoun: I, I'm."""
    return language == "en" and bool(_PRONOUN_I.match(word.lower()))


def folded(word: str, language: str = "") -> str:
    """The word in lower case, to compare words by."""
    if language in _TURKIC:
        word = word.translate(_TURKIC_LOWER)
    return word.lower()


def same_letters(one: str, other: str, language: str = "") -> bool:
    """Whether two words are equal but for case, letter by letter."""
    return len(one) == len(other) and folded(one, language) == folded(other, language)


def _upper(text: str, language: str) -> str:
    if language in _TURKIC:
        text = text.translate(_TURKIC_UPPER)
    return text.upper()


def _changed(word: str, change: Callable[[str], str], language: str) -> str:
    """The word with its case changed, or else those of its letters that can be."""
    whole = change(word)
    if same_letters(whole, word, language):
        return whole
    letters = "".join(
        new if same_letters(new := change(old), old, language) else old for old in word
    )
    return letters if same_letters(letters, word, language) else word
