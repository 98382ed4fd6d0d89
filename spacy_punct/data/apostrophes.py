"""Where English words have an apostrophe, and how people get it wrong."""

import random
import re

APOSTROPHES = "'’"


def _contractions(forms: str) -> dict[str, str]:
    return {form.replace("'", ""): form for form in forms.split()}


CONTRACTIONS = _contractions(
    "ain't aren't can't couldn't didn't doesn't don't hadn't hasn't haven't i'm i've "
    "isn't it'll mightn't mustn't needn't oughtn't shouldn't that'd that'll that's "
    "there's they'd they'll they're they've wasn't we've weren't what's where's who've "
    "won't wouldn't you'd you'll you're you've y'all"
)
"""Words that are no others without the apostrophe, but for `cant` and `wont`, which
hardly anybody writes."""
AMBIGUOUS = _contractions(
    "he'd he'll here's how's i'd i'll it's let's she'd she'll we'd we'll we're when's "
    "who's"
)
"""Words that are others without it."""

LABELS = ("", "1", "2", "end")
"""None; before the last letter; before the last two; after the word."""

_WORD = re.compile(r"[A-Za-z]+(?:['’][A-Za-z]{1,2}|['’])?")
ITS, _ITS_RATE = "its", 5.0
"""Its and it's are confused several times as often as other words get an apostrophe."""
_SHOULD_NOT = frozenset(
    ("his", "hers", "ours", "theirs", "yours", "this", "was", "has", "does", "yes")
)
"""Words in s that own nothing."""


def bare(word: str) -> str:
    """A word without its apostrophe."""
    return word.translate(dict.fromkeys(map(ord, APOSTROPHES)))


def label_of(word: str) -> str:
    """Where a word has its apostrophe: one of `LABELS`.

    word (str): A word for which `may_change` is true.
    RETURNS (str): The label.
    """
    place = max(map(word.rfind, APOSTROPHES))
    if place < 0:
        return ""
    after = len(word) - place - 1
    return str(after) if after else "end"


def spelt(word: str, label: str, apostrophe: str = "'") -> str | None:
    """A word with its apostrophe in another place.

    word (str): The word, with an apostrophe or without.
    label (str): One of `LABELS`.
    apostrophe (str): How it is written.
    RETURNS (str | None): None if that is no English word.
    """
    letters = bare(word)
    form = letters
    if label == "end":
        form = letters + apostrophe
    elif label:
        form = f"{letters[: -int(label)]}{apostrophe}{letters[-int(label) :]}"
    plain = form.lower().replace(apostrophe, "'")
    known = {**CONTRACTIONS, **AMBIGUOUS}.get(letters.lower())
    if not label:
        is_word = letters.lower() not in CONTRACTIONS
    elif known:
        is_word = plain == known
    else:
        may_own = len(letters) > 2 and letters.lower() not in _SHOULD_NOT
        is_word = may_own and letters[-1] in "sS" and label in ("1", "end")
    return form if is_word else None


def may_change(word: str) -> bool:
    """Whether people may miss or misplace the apostrophe of a word."""
    if not _WORD.fullmatch(word):
        return False
    letters = bare(word).lower()
    return (
        letters in CONTRACTIONS
        or letters in AMBIGUOUS
        or (letters.endswith("s") and len(letters) > 2 and letters not in _SHOULD_NOT)
    )


def _other_its(word: str) -> str:
    return bare(word) if label_of(word) else word[:-1] + "'" + word[-1]


def miswritten(word: str, rng: random.Random, dropped: float, added: float) -> str:
    """A word as somebody might write it.

    word (str): A word.
    rng (random.Random): Decides.
    dropped, added (float): How often an apostrophe goes, and how often one comes that
        should not be there.
    RETURNS (str): The word, perhaps with another apostrophe.
    """
    if not may_change(word):
        return word
    if bare(word).lower() == ITS:
        return _other_its(word) if rng.random() < _ITS_RATE * added else word
    if label_of(word):
        wrong = rng.random() < dropped
        other = spelt(word, rng.choice(("", "", "", "1", "end")))
        # A contraction is wrong without its apostrophe, even if `spelt` forbids it.
        return (other or bare(word)) if wrong else word
    if rng.random() < added:
        return spelt(word, rng.choice(("1", "1", "end"))) or word
    return word
