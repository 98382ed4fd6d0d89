"""Punctuation as learners get it wrong, for training where there are no pairs.

Errors are made where they show: where a reader who knows the language would see what is
wrong, and what is right, without having seen the sentence before. A comma that is a
matter of style, or an exclamation mark for a period, is no error to be learned from.
"""

import random
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, fields, replace
from functools import cached_property
from itertools import chain

from spacy_punct.data.depunctuation import PunctuatedTree
from spacy_punct.data.marks import (
    ABBREVIATION_DOT,
    BRACKETS,
    COMMAS,
    FULL_STOPS,
    TERMINALS,
)
from spacy_punct.data.tree import Puncteme, Slots, Tree
from spacy_punct.errors import check_range


@dataclass(frozen=True)
class NoiseRates:
    """How often each error is made, from 0 to 1 where it could be.

    share_clean (float): Sentences that are left entirely as they are.
    omitted_comma (float): A comma is left out that is one of a pair around a
        constituent, ends a clause before the main clause, sets off an address, or
        parts the items of a list.
    omitted_both (float): If it was one of a pair around a constituent, the other
        goes too.
    comma_after_subject (float): A comma parts a subject of several words, none of
        which begins a clause or the like, from its verb.
    comma_before_complement (float): A comma before a clause that is an object.
    comma_before_relative (float): A comma before a clause that modifies a noun and
        does not begin with a relative pronoun but `that`, if with any.
    comma_before_conjunct (float): A comma before the coordinator of two phrases
        that are not whole clauses.
    comma_after_initial (float): A comma after a conjunction that begins the
        sentence.
    comma_before_oblique (float): A comma before a prepositional phrase.
    comma_splice (float): A semicolon, colon, dash or full stop between clauses
        becomes a comma.
    comma_for_end (float): The full stop that ends the sentence becomes a comma.
    missing_end (float): A sentence that is a clause lacks its full stop, or its
        question mark where a verb that stands before its subject tells the question.
    doubled_end (float): The end mark is followed by itself or a full stop, or has a
        comma beside it.
    transposed_quote (float): A full stop or comma before a closing quote comes after
        it.
    dropped_bracket (float): A pair of brackets or quotes loses one of the two.
    stray_bracket (float): The sentence gets a bracket or quote that has no partner.
    turned_bracket (float): Of a pair of brackets or quotes, one is written like the
        other.
    wrong_end (float): A question mark becomes a full stop, where a verb that stands
        before its subject tells the question.
    wrong_stop (float): A full stop becomes a question mark, where no verb stands
        before its subject.
    wrong_comma (float): A comma becomes a semicolon.
    wrong_colon (float): A semicolon or colon becomes the other, or a comma.
    """

    share_clean: float = 0.3
    omitted_comma: float = 0.25
    omitted_both: float = 0.1
    comma_after_subject: float = 0.8
    comma_before_complement: float = 0.8
    comma_before_relative: float = 0.7
    comma_before_conjunct: float = 0.7
    comma_after_initial: float = 0.8
    comma_before_oblique: float = 0.5
    comma_splice: float = 0.7
    comma_for_end: float = 0.15
    missing_end: float = 0.5
    doubled_end: float = 0.3
    transposed_quote: float = 0.8
    dropped_bracket: float = 0.3
    stray_bracket: float = 0.15
    turned_bracket: float = 0.4
    wrong_end: float = 0.7
    wrong_stop: float = 0.06
    wrong_comma: float = 0.1
    wrong_colon: float = 0.3

    def __post_init__(self) -> None:
        for rate in fields(self):
            check_range(rate.name, getattr(self, rate.name), 0, 1, inclusive=True)


@dataclass(frozen=True)
class NoisySlot:
    """An error in a slot.

    kind (str): The rate by which it came.
    slot (int): Where.
    marks (Puncteme): What is written there instead of the right marks.
    """

    kind: str
    slot: int
    marks: Puncteme


def corrupted(
    examples: Iterable[PunctuatedTree],
    rates: NoiseRates | None = None,
    seed: int = 0,
) -> list[PunctuatedTree]:
    """Examples of correction, made of right punctuation.

    examples (Iterable[PunctuatedTree]): Sentences with the right marks.
    rates (NoiseRates | None): How often each error is made; the defaults if None.
    seed (int): A sentence's errors depend on it and the sentence's position alone.
    RETURNS (list[PunctuatedTree]): The same, with errors in `tree.observed`.
    """
    examples = list(examples)
    result = []
    for example, noise in zip(
        examples, noise_by_sentence(examples, rates, seed), strict=True
    ):
        observed = with_noise(example.slots, noise)
        result.append(replace(example, tree=replace(example.tree, observed=observed)))
    return result


def noise_by_sentence(
    examples: Iterable[PunctuatedTree],
    rates: NoiseRates | None = None,
    seed: int = 0,
) -> list[list[NoisySlot]]:
    """The errors that `corrupted` makes in each sentence."""
    rates = rates or NoiseRates()
    return [
        noisy_slots(example, rates, random.Random(f"{seed} {i}"))
        for i, example in enumerate(examples)
    ]


def corrupt(example: PunctuatedTree, rates: NoiseRates, rng: random.Random) -> Slots:
    """Put errors into a sentence's punctuation.

    example (PunctuatedTree): The sentence with the right marks.
    rates (NoiseRates): How often each error is made.
    rng (random.Random): Decides.
    RETURNS (Slots): The marks with errors. Abbreviation dots are spelling and stay.
    """
    return with_noise(example.slots, noisy_slots(example, rates, rng))


def with_noise(slots: Slots, noise: Iterable[NoisySlot]) -> Slots:
    """The marks of a sentence with some errors."""
    marks = {error.slot: error.marks for error in noise}
    return tuple(marks.get(i, slot) for i, slot in enumerate(slots))


def noisy_slots(
    example: PunctuatedTree, rates: NoiseRates, rng: random.Random
) -> list[NoisySlot]:
    """The slots in which `corrupt` makes errors, one error each."""
    if rng.random() < rates.share_clean:
        return []
    sentence = _Sentence(example)
    noise: dict[int, NoisySlot] = {}
    for kind, propose in _KINDS.items():
        rate = getattr(rates, kind)
        if not rate:
            continue
        for error in propose(sentence, rates, rng):
            if rng.random() < rate:
                for slot, marks in error:
                    noise.setdefault(slot, NoisySlot(kind, slot, marks))
    return list(noise.values())


_Error = list[tuple[int, Puncteme]]
"""What one error leaves in the slots, mostly in just one."""
_Propose = Callable[["_Sentence", NoiseRates, random.Random], Iterator[_Error]]
"""All the errors of a kind that a sentence gives occasion to."""


@dataclass(frozen=True)
class _Style:
    """The marks of a script."""

    comma: str = ","
    stop: str = "."
    question: str = "?"
    semicolon: str = ";"
    colon: str = ":"

    @property
    def inner(self) -> tuple[str, str, str]:
        return self.comma, self.semicolon, self.colon


_LATIN = _Style()
_WIDE = _Style("，", "。", "？", "；", "：")
_STYLES = {
    "ARABIC": _Style(comma="،", question="؟", semicolon="؛"),
    "DEVANAGARI": _Style(stop="।"),
    "CJK": _WIDE,
    "HIRAGANA": _WIDE,
    "KATAKANA": _WIDE,
}
_COLONS = frozenset(":;：；؛")
_ASKING = frozenset("?？؟")
_SPANISH_CLOSERS = frozenset("?!")
_SPLICED = frozenset({*FULL_STOPS, *_COLONS, "-", "--", "---", "–", "—", "――", "——"})
_CLOSING_QUOTES = frozenset({"''", "'", "”", "’", "»", "›", "」", "』"})
_CLAUSES = frozenset({"root", "ccomp", "advcl", "acl", "conj", "parataxis", "csubj"})
_SET_OFF = frozenset({"vocative", "appos", "parataxis", "discourse", "dislocated"})
_ENDED_BY_COMMA = frozenset({*_SET_OFF, "acl", "advcl", "conj"})
_SUBJECTS = ("nsubj", "csubj")
"""In UD 1 also nsubjpass and csubjpass."""
_TERMINAL_CHARS = frozenset("".join(TERMINALS))


class _Sentence:
    """A sentence, and where in it errors can be made."""

    def __init__(self, example: PunctuatedTree) -> None:
        self.tree: Tree = example.tree.projective()
        self.slots: Slots = example.slots
        self.relations = [rel.partition(":")[0] for rel in self.tree.relations]

    @cached_property
    def style(self) -> _Style:
        """The marks it would be written with, by its own marks and its script."""
        marks = set(chain.from_iterable(self.slots))
        name = next(
            (unicodedata.name(c, "") for c in "".join(self.tree.words) if c.isalpha()),
            "",
        )
        style = _STYLES.get(name.partition(" ")[0], _LATIN)
        if style is _WIDE and not marks.isdisjoint({",", "."}):
            style = _LATIN
        comma = next((m for m in (",", "，", "،") if m in marks), style.comma)
        stop = next((m for m in FULL_STOPS if m in marks), style.stop)
        return replace(style, comma=comma, stop=stop)

    def positions(self, marks: frozenset[str]) -> Iterator[tuple[int, int]]:
        """Slots, and positions in them, of some marks."""
        for slot, string in enumerate(self.slots):
            for k, mark in enumerate(string):
                if mark in marks:
                    yield slot, k

    def put(self, slot: int, k: int, *marks: str, n: int = 1) -> tuple[int, Puncteme]:
        """The slot with other marks for the n from position k."""
        string = self.slots[slot]
        return slot, (*string[:k], *marks, *string[k + n :])

    def commas(self, slots: Iterable[int]) -> Iterator[_Error]:
        """A comma in each of the slots that is inside the sentence and free."""
        for slot in dict.fromkeys(slots):
            string = self.slots[slot]
            free = all(mark == ABBREVIATION_DOT for mark in string)
            if not 0 < slot < len(self.tree) or not free:
                continue
            # Clitics such as 's are not parted from their host.
            if not self.tree.words[slot].startswith(("'", "’")):
                yield [self.put(slot, len(string), self.style.comma)]

    def has_subject(self, word: int) -> bool:
        children = self.tree.children[word]
        return any(self.relations[k].startswith(_SUBJECTS) for k in children)

    def starts(self, relations: Iterable[str]) -> Iterator[tuple[int, int]]:
        """Words of some relations to a head before them, and where they start."""
        for word, relation in enumerate(self.relations):
            if relation in relations and 0 <= self.tree.heads[word] < word:
                yield word, self.tree.spans[word][0]

    @cached_property
    def clause_edges(self) -> set[int]:
        """Slots at which a clause starts or ends."""
        return {
            edge
            for word, relation in enumerate(self.relations)
            if relation in _CLAUSES
            and (self.tree.tags[word] in ("VERB", "AUX") or self.has_subject(word))
            for edge in self.tree.spans[word]
        }

    @cached_property
    def is_clause(self) -> bool:
        """Whether the whole sentence is one: a heading may well lack an end mark."""
        root = self.tree.root
        return self.tree.tags[root] in ("VERB", "AUX") or self.has_subject(root)

    @cached_property
    def inversions(self) -> list[tuple[int, int]]:
        """Verbs and auxiliaries that stand before a subject of the same clause."""
        return [
            (verb, subject)
            for subject, relation in enumerate(self.relations)
            if relation.startswith(_SUBJECTS) and self.tree.heads[subject] >= 0
            for verb in (
                self.tree.heads[subject],
                *self.tree.children[self.tree.heads[subject]],
            )
            if verb < subject and self.tree.tags[verb] in ("VERB", "AUX")
        ]

    @cached_property
    def demanding_commas(self) -> set[int]:
        """Slots at the edge of a constituent that is set off by commas."""
        slots = set()
        for word, (left, right) in enumerate(self.tree.spans):
            relation, head = self.relations[word], self.tree.heads[word]
            if relation == "vocative":
                slots |= {left, right}
            elif relation == "advcl" and word < head:
                slots.add(right)
            # UD 1 attaches coordinators to the first conjunct, before this one.
            elif relation == "conj" and "cc" not in self.relations[left - 1 : left + 1]:
                slots.add(left)
        return slots

    @cached_property
    def partners(self) -> dict[tuple[int, int], tuple[int, int]]:
        """For each comma of a pair around a constituent, the other."""
        commas = dict(self.positions(COMMAS))
        partners: dict[tuple[int, int], tuple[int, int]] = {}
        for left, right in self.tree.spans:
            if left in commas and right in commas:
                ends = (left, commas[left]), (right, commas[right])
                partners.setdefault(ends[0], ends[1])
                partners.setdefault(ends[1], ends[0])
        return partners

    @cached_property
    def pairs(self) -> list[tuple[tuple[int, int], tuple[int, int]]]:
        """Where the brackets and quotes that have a partner stand."""
        pairs = []
        openers: list[tuple[str, tuple[int, int]]] = []
        for slot, string in enumerate(self.slots):
            for k, mark in enumerate(string):
                depths = [i for i, (a, _) in enumerate(openers) if BRACKETS[a] == mark]
                if depths:
                    pairs.append((openers[depths[-1]][1], (slot, k)))
                    del openers[depths[-1] :]
                elif mark in BRACKETS:
                    openers.append((mark, (slot, k)))
        return pairs

    @cached_property
    def end(self) -> tuple[int, int] | None:
        """Where the mark stands that ends the sentence."""
        last = len(self.slots) - 1
        for k in reversed(range(len(self.slots[last]))):
            if _TERMINAL_CHARS.issuperset(self.slots[last][k]):
                return last, k
        return None


def _omitted_comma(
    sentence: _Sentence, rates: NoiseRates, rng: random.Random
) -> Iterator[_Error]:
    for place in sentence.positions(COMMAS):
        partner = sentence.partners.get(place)
        if not partner and place[0] not in sentence.demanding_commas:
            continue
        error = [sentence.put(*place)]
        if partner and rng.random() < rates.omitted_both:
            error.append(sentence.put(*partner))
        yield error


def _comma_after_subject(sentence: _Sentence, *_: object) -> Iterator[_Error]:
    tree = sentence.tree
    return sentence.commas(
        right
        for word, (left, right) in enumerate(tree.spans)
        if sentence.relations[word].startswith(_SUBJECTS)
        and word < tree.heads[word]
        and right - left > 1
        and _ENDED_BY_COMMA.isdisjoint(sentence.relations[left:right])
    )


def _comma_before_complement(sentence: _Sentence, *_: object) -> Iterator[_Error]:
    return sentence.commas(start for _, start in sentence.starts({"ccomp"}))


def _comma_before_relative(sentence: _Sentence, *_: object) -> Iterator[_Error]:
    words = sentence.tree.words
    return sentence.commas(
        start
        for _, start in sentence.starts({"acl"})
        if sentence.tree.tags[start] != "PRON" or words[start].lower() == "that"
    )


def _comma_before_conjunct(sentence: _Sentence, *_: object) -> Iterator[_Error]:
    tree = sentence.tree
    slots = []
    for word, start in sentence.starts({"conj"}):
        # UD 1 attaches coordinators to the first conjunct, UD 2 to the next.
        siblings = tree.children[tree.heads[word]]
        family = (*tree.children[word], *siblings)
        before = [k for k in family if sentence.relations[k] == "cc" and k < word]
        # Before the last of several conjuncts a comma is a matter of style.
        alone = sum(sentence.relations[k] == "conj" for k in siblings) == 1
        joined = bool(before) and max(before) >= start - 1
        if joined and alone and not sentence.has_subject(word):
            slots.append(max(before))
    return sentence.commas(slots)


def _comma_after_initial(sentence: _Sentence, *_: object) -> Iterator[_Error]:
    if sentence.relations[0] == "cc" and sentence.tree.heads[0] > 1:
        yield from sentence.commas([1])


def _comma_before_oblique(sentence: _Sentence, *_: object) -> Iterator[_Error]:
    # UD 1 has no obl.
    return sentence.commas(
        start
        for word, start in sentence.starts({"obl", "nmod"})
        if sentence.relations[start] == "case"
    )


def _comma_splice(sentence: _Sentence, *_: object) -> Iterator[_Error]:
    for slot, k in sentence.positions(_SPLICED):
        inside = 0 < slot < len(sentence.tree)
        if inside and slot in sentence.clause_edges:
            yield [sentence.put(slot, k, sentence.style.comma)]


def _comma_for_end(sentence: _Sentence, *_: object) -> Iterator[_Error]:
    if sentence.end and sentence.slots[-1][sentence.end[1]] in FULL_STOPS:
        yield [sentence.put(*sentence.end, sentence.style.comma)]


def _missing_end(sentence: _Sentence, *_: object) -> Iterator[_Error]:
    if not sentence.end or not sentence.is_clause:
        return
    slot, k = sentence.end
    mark = sentence.slots[slot][k]
    if mark in FULL_STOPS or (mark in _ASKING and sentence.inversions):
        yield [sentence.put(slot, k)]


def _doubled_end(
    sentence: _Sentence, rates: NoiseRates, rng: random.Random
) -> Iterator[_Error]:
    if not sentence.end:
        return
    style, (slot, k) = sentence.style, sentence.end
    mark = sentence.slots[slot][k]
    ways = [
        (mark, mark),
        (mark, mark) if mark == style.stop else (mark, style.stop),
        (mark, style.comma),
        (style.comma, mark),
    ]
    yield [sentence.put(slot, k, *rng.choice(ways))]


def _transposed_quote(sentence: _Sentence, *_: object) -> Iterator[_Error]:
    moved = COMMAS | {*FULL_STOPS}
    for slot, k in sentence.positions(_CLOSING_QUOTES):
        string = sentence.slots[slot]
        if k and string[k - 1] in moved:
            yield [sentence.put(slot, k - 1, string[k], string[k - 1], n=2)]


def _dropped_bracket(
    sentence: _Sentence, rates: NoiseRates, rng: random.Random
) -> Iterator[_Error]:
    for opener, closer in sentence.pairs:
        # The closer of ¿ is an end mark.
        ends = sentence.slots[closer[0]][closer[1]] in _SPANISH_CLOSERS
        yield [sentence.put(*(opener if ends else rng.choice((opener, closer))))]


def _turned_bracket(
    sentence: _Sentence, rates: NoiseRates, rng: random.Random
) -> Iterator[_Error]:
    for places in sentence.pairs:
        marks = [sentence.slots[slot][k] for slot, k in places]
        which = 0 if marks[1] in _SPANISH_CLOSERS else rng.randrange(2)
        yield [sentence.put(*places[which], marks[1 - which])]


def _stray_bracket(
    sentence: _Sentence, rates: NoiseRates, rng: random.Random
) -> Iterator[_Error]:
    tree = sentence.tree
    own = {sentence.slots[slot][k] for (slot, k), _ in sentence.pairs} - {"¿", "¡"}
    opener = rng.choice(sorted(own) or ["``", "("])
    left, right = tree.spans[rng.randrange(len(tree))]
    if rng.random() < 0.5:
        yield [sentence.put(left, len(sentence.slots[left]), opener, n=0)]
    else:
        after = sentence.slots[right].count(ABBREVIATION_DOT)
        yield [sentence.put(right, after, BRACKETS[opener], n=0)]


def _wrong_end(sentence: _Sentence, *_: object) -> Iterator[_Error]:
    for slot, k in sentence.positions(_ASKING):
        if any(verb < subject < slot for verb, subject in sentence.inversions):
            yield [sentence.put(slot, k, sentence.style.stop)]


def _wrong_stop(sentence: _Sentence, *_: object) -> Iterator[_Error]:
    if not sentence.inversions:
        for place in sentence.positions(frozenset(FULL_STOPS)):
            yield [sentence.put(*place, sentence.style.question)]


def _wrong_comma(sentence: _Sentence, *_: object) -> Iterator[_Error]:
    for place in sentence.positions(COMMAS):
        yield [sentence.put(*place, sentence.style.semicolon)]


def _wrong_colon(
    sentence: _Sentence, rates: NoiseRates, rng: random.Random
) -> Iterator[_Error]:
    for slot, k in sentence.positions(_COLONS):
        right = sentence.slots[slot][k]
        others = [mark for mark in sentence.style.inner if mark != right]
        yield [sentence.put(slot, k, rng.choice(others))]


# A slot takes one error, so the rarer occasions come first.
_KINDS: dict[str, _Propose] = {
    "transposed_quote": _transposed_quote,
    "dropped_bracket": _dropped_bracket,
    "turned_bracket": _turned_bracket,
    "comma_splice": _comma_splice,
    "wrong_colon": _wrong_colon,
    "wrong_end": _wrong_end,
    "comma_for_end": _comma_for_end,
    "missing_end": _missing_end,
    "doubled_end": _doubled_end,
    "wrong_stop": _wrong_stop,
    "wrong_comma": _wrong_comma,
    "omitted_comma": _omitted_comma,
    "comma_after_initial": _comma_after_initial,
    "comma_after_subject": _comma_after_subject,
    "comma_before_complement": _comma_before_complement,
    "comma_before_relative": _comma_before_relative,
    "comma_before_conjunct": _comma_before_conjunct,
    "comma_before_oblique": _comma_before_oblique,
    "stray_bracket": _stray_bracket,
}
