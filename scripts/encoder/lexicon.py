"""Words that are written in mixed case, learned from text: iPhone, GitHub, McDonald."""

import random
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from spacy_punct.data.written import read_line
from spacy_punct.text.casing import case_of, folded

_LINES = 60_000
"""Of each source, where it has more."""
_LEAST, _SHARE = 3, 0.25
"""How often a form must have been seen, and in what share of the word's places."""


def mixed_forms(texts: Mapping[str, Sequence[str]], seed: int = 0) -> dict[str, str]:
    """The forms of words in mixed case, by the words in lower case.

    texts (Mapping[str, Sequence[str]]): The lines of each source.
    seed (int): Chooses lines.
    RETURNS (dict[str, str]): "github" -> "GitHub".
    """
    rng = random.Random(seed)
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for lines in texts.values():
        for line in rng.sample(lines, min(len(lines), _LINES)):
            for word in read_line(line):
                if word.form.isalpha():
                    counts[folded(word.form)][word.form] += 1
    found = {}
    for word, forms in counts.items():
        mixed = Counter({f: n for f, n in forms.items() if case_of(f) == "mixed"})
        for form, n in mixed.most_common(1):
            if n >= _LEAST and n >= _SHARE * forms.total():
                found[word] = form
    return found
