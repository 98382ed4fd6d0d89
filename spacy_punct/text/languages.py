"""A cheap check that a text is in the language of a pipeline.

Letters tell scripts apart, and the most frequent words tell languages apart that share
the Latin script. That is enough to see that a text is plainly in another language; what
is short or mixed passes.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from itertools import chain, islice

from spacy_punct.errors import PunctError

_FREQUENT = {
    "en": "the and to of a in that is it you i for was on we this with be are have not",
    "de": "der die und das ich ist nicht ein eine es wir sie zu den mit auf auch dass "
    "haben war",
    "fr": "le la les de des et est un une que je pas vous il nous dans pour qui ce "
    "c'est",
    "es": "el la los las de que y es en un una no por con para se lo como pero muy mi "
    "mis yo más está",
    "it": "il la di che e un una non per è sono con si ho questo ma come anche della "
    "gli",
    "pt": "o a os de que e é um uma não em para com se por mas você isso muito como",
    "nl": "de het een en van ik dat is niet je we zijn op met voor maar hebben naar "
    "ook er",
    "sv": "och att det är jag en som på vi inte har för den med av till om så du ett",
    "da": "og at det er jeg en som på vi ikke har for den med af til om så du et",
    "nb": "og at det er jeg en som på vi ikke har for den med av til om så du et",
    "fi": "ja on ei se että hän oli mutta niin kun tämä minä sinä mitä ovat myös kuin "
    "joka",
    "pl": "i w nie się na to że jest z do jak co ale tak po ja mnie tego bardzo",
    "cs": "a se je to že na v ne jsem by s jako ale tak co už jsme mi byl",
    "ro": "și de la în nu că este un o cu pe mai din sunt ce dar pentru care",
    "tr": "bir ve bu da de için çok ne ben var ama daha gibi o değil olarak biz sen",
    "id": "yang dan di itu ini saya tidak ada untuk dengan akan kita dari juga bisa ke",
    "hu": "a az és hogy nem is egy van volt de ez meg csak ha már én mert",
    "vi": "là của và có không được cho một tôi này đó những các người trong với",
}
_WORDS = {code: frozenset(words.split()) for code, words in _FREQUENT.items()}

_NAMES = {
    "en": "English",
    "de": "German",
    "fr": "French",
    "es": "Spanish",
    "it": "Italian",
    "pt": "Portuguese",
    "nl": "Dutch",
    "sv": "Swedish",
    "da": "Danish",
    "nb": "Norwegian",
    "fi": "Finnish",
    "pl": "Polish",
    "cs": "Czech",
    "ro": "Romanian",
    "tr": "Turkish",
    "id": "Indonesian",
    "hu": "Hungarian",
    "vi": "Vietnamese",
}

_SCRIPTS = {
    "CYRILLIC": frozenset({"ru", "uk", "bg", "sr", "mk", "be", "kk", "ky", "tt"}),
    "GREEK": frozenset({"el", "grc"}),
    "ARABIC": frozenset({"ar", "fa", "ur"}),
    "HEBREW": frozenset({"he"}),
    "DEVANAGARI": frozenset({"hi", "mr", "ne", "sa"}),
    "CJK": frozenset({"zh", "ja"}),
    "HIRAGANA": frozenset({"ja"}),
    "KATAKANA": frozenset({"ja"}),
    "HANGUL": frozenset({"ko"}),
    "THAI": frozenset({"th"}),
    "BENGALI": frozenset({"bn"}),
    "TAMIL": frozenset({"ta"}),
    "TELUGU": frozenset({"te"}),
    "GEORGIAN": frozenset({"ka"}),
    "ARMENIAN": frozenset({"hy"}),
    "ETHIOPIC": frozenset({"am", "ti"}),
}
"""The languages of scripts other than Latin."""
_OTHER_SCRIPTS = frozenset(chain.from_iterable(_SCRIPTS.values()))

_ENOUGH_LETTERS, _ENOUGH_FOUND = 20, 4
_LOOKED_AT = 2000
_LEAST, _MUCH_MORE = 0.12, 3.0
"""The share of frequent words that a language has at least, and how many times as
many as of the pipeline's own language there must be to believe it."""


def other_language(words: Iterable[str], language: str) -> str | None:
    """What language or script a text plainly has, if it is not that of a pipeline.

    words (Iterable[str]): The words of the text; the first 2,000 are looked at.
    language (str): The pipeline's language, by its code.
    RETURNS (str | None): The name of another language or script. None if the text
        may be in the pipeline's language.
    """
    some = [re.sub(r"^\W+|\W+$", "", w.lower()) for w in islice(words, _LOOKED_AT)]
    letters = [char for word in some for char in word if char.isalpha()]
    if len(letters) >= _ENOUGH_LETTERS:
        script, n = Counter(map(_script, letters)).most_common(1)[0]
        fits = language in _SCRIPTS.get(script, ()) or (
            script == "LATIN" and language not in _OTHER_SCRIPTS
        )
        if not fits and n > 0.6 * len(letters):
            return f"text in {script.capitalize()} letters"
    if language not in _WORDS:
        return None
    found = {
        code: sum(word in known for word in some) for code, known in _WORDS.items()
    }
    best = max(found, key=lambda code: (found[code], code == language))
    plain = (
        len(_WORDS[best].intersection(some)) >= _ENOUGH_FOUND
        and found[best] >= _LEAST * len(some)
        and found[best] >= _MUCH_MORE * found[language]
    )
    return _NAMES[best] if plain else None


def _script(char: str) -> str:
    if char.isascii():
        return "LATIN"
    return unicodedata.name(char, "UNKNOWN").partition(" ")[0]


def language_message(
    words: Iterable[str], language: str, message: str, **fields: str
) -> str | None:
    """What to say of a text that is plainly not in the language of a pipeline.

    words (Iterable[str]): The words of the text.
    language (str): The pipeline's language, by its code.
    message (str): A message with the fields `found` and `own`, for the two languages.
    fields (str): Its other fields.
    RETURNS (str | None): The message. None if the text may be in that language.
    """
    found = other_language(words, language)
    if found is None:
        return None
    return message.format(found=found, own=_NAMES.get(language, language), **fields)


def check_language(
    words: Iterable[str], language: str, message: str, **fields: str
) -> None:
    """Raise an error if a text is plainly not in the language of a pipeline; see
    `language_message`."""
    found = language_message(words, language, message, **fields)
    if found is not None:
        raise PunctError(found)
