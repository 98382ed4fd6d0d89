import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_punct.data.corruption import (
    RATES,
    NoiseRates,
    corrupted,
    noise_by_sentence,
    noisy_slots,
    occasions,
    with_noise,
)
from spacy_punct.data.depunctuation import PunctuatedTree
from spacy_punct.data.kinds import MESSAGES, kind_of
from spacy_punct.data.marks import ABBREVIATION_DOT
from spacy_punct.data.tree import Slots, Tree
from spacy_punct.data.treebank import read_treebank
from spacy_punct.errors import PunctError

DOT = ABBREVIATION_DOT
KINDS = list(RATES)


def only(share_clean: float = 0.0, both: float = 0.0, **rates: float) -> NoiseRates:
    """Rates that are 0 but for some."""
    named = {kind.replace("_", "-"): rate for kind, rate in rates.items()}
    return NoiseRates(share_clean, both, dict.fromkeys(KINDS, 0.0) | named)


def corrupt(sentence: PunctuatedTree, rates: NoiseRates, rng: random.Random) -> Slots:
    return with_noise(sentence.slots, noisy_slots(sentence, rates, rng))


def example(text: str, heads: str, relations: str, tags: str = "") -> PunctuatedTree:
    """A sentence whose words are apart from its marks by the letters in them."""
    words: list[str] = []
    slots: list[tuple[str, ...]] = [()]
    for token in text.split():
        if token[0].isalnum():
            words.append(token)
            slots.append(())
        else:
            slots[-1] += (token,)
    given_tags = tags.split() or ["X"] * len(words)
    numbers = [int(head) - 1 for head in heads.split()]
    return PunctuatedTree(Tree(words, given_tags, numbers, relations.split()), slots)


def surfaces(rates: NoiseRates, sentence: PunctuatedTree, n: int = 60) -> set[str]:
    """What may become of a sentence."""
    result = set()
    for seed in range(n):
        slots = corrupt(sentence, rates, random.Random(seed))
        tokens = [*slots[0]]
        for word, slot in zip(sentence.tree.words, slots[1:], strict=True):
            tokens += word, *slot
        result.add(" ".join(tokens))
    return result


MARKS = st.sampled_from(
    [*",.?!;:-()", "--", "...", "!!", "``", "''", "`", "'", "¿", "，", "、", "。", "「"]
)


@st.composite
def examples(draw) -> PunctuatedTree:
    n = draw(st.integers(1, 7))
    order = draw(st.permutations(range(n)))
    heads = [-1] * n
    for k in range(1, n):
        heads[order[k]] = order[draw(st.integers(0, k - 1))]
    relation = st.sampled_from(
        ["nsubj", "conj", "cc", "ccomp", "acl:relcl", "obl", "case", "advmod", "dep"]
    )
    tree = Tree(
        draw(st.lists(st.sampled_from(["a", "'s", "字", "و"]), min_size=n, max_size=n)),
        draw(st.lists(st.sampled_from(["VERB", "X"]), min_size=n, max_size=n)),
        heads,
        draw(st.lists(relation, min_size=n, max_size=n)),
    )
    slots = [tuple(draw(st.lists(MARKS, max_size=3))) for _ in range(n + 1)]
    for i in draw(st.sets(st.integers(1, n))):
        slots[i] = (DOT, *slots[i])
    return PunctuatedTree(tree, slots)


EVERY_RATE = NoiseRates(0.0, 0.5, dict.fromkeys(KINDS, 0.5))


@given(examples(), st.integers(0, 1000))
def test_errors_keep_slots_and_abbreviation_dots(sentence, seed):
    slots = corrupt(sentence, EVERY_RATE, random.Random(seed))
    assert len(slots) == len(sentence.slots)
    for before, after in zip(sentence.slots, slots, strict=True):
        assert (after[:1] == (DOT,)) == (before[:1] == (DOT,))
        assert after.count(DOT) == before.count(DOT)
    assert slots == corrupt(sentence, EVERY_RATE, random.Random(seed))


@given(examples(), st.integers(0, 1000))
def test_without_rates_or_in_a_clean_share_nothing_changes(sentence, seed):
    clean = NoiseRates(1.0, 0.5, dict.fromkeys(KINDS, 1.0))
    for rates in (only(), clean):
        assert corrupt(sentence, rates, random.Random(seed)) == sentence.slots


@given(examples(), st.booleans(), st.integers(0, 1000))
def test_errors_are_called_what_their_correction_is(sentence, goes_on, seed):
    noise = noisy_slots(sentence, EVERY_RATE, random.Random(seed), goes_on=goes_on)
    assert len({error.slot for error in noise}) == len(noise)
    tree = sentence.tree.projective()
    for error in noise:
        right = sentence.slots[error.slot]
        assert error.marks != right
        found = kind_of(tree, error.slot, error.marks, right, goes_on=goes_on)
        # The second comma of a pair has the name of the first.
        assert found == error.kind or error.kind == "missing-comma-insertion"


RELATIVE = example(
    "My brother , who sings , came .",
    "2 5 4 2 0",
    "nmod:poss nsubj nsubj acl:relcl root",
    "PRON NOUN PRON VERB VERB",
)


def test_of_a_pair_of_commas_one_or_both_go():
    one = {"My brother who sings , came .", "My brother , who sings came ."}
    whole, none = "My brother , who sings , came .", "My brother who sings came ."
    half = only(missing_comma_insertion=0.5)
    assert surfaces(half, RELATIVE) == {*one, whole, none}
    always = only(both=1.0, missing_comma_insertion=0.5)
    assert surfaces(always, RELATIVE) == {whole, none}


@pytest.mark.parametrize(
    ("kind", "text", "heads", "relations"),
    [
        (
            "missing-comma-introductory",
            "If it rains , we stay .",
            "3 3 5 5 0",
            "mark nsubj advcl nsubj root",
        ),
        ("missing-comma-introductory", "Today , we stay", "3 3 0", "obl nsubj root"),
        ("missing-comma-address", "Thanks , Anna .", "0 1", "root vocative"),
        ("missing-comma-list", "Red , green and blue", "0 1 4 1", "root conj cc conj"),
        (
            "missing-comma-compound",
            "He left , but she stayed .",
            "2 0 5 5 2",
            "nsubj root cc nsubj conj",
        ),
        ("missing-comma-date", "May 3 , 1985", "0 1 1", "root nummod nummod"),
        ("missing-comma-quotation", "She said , `` Go ''", "2 0 2", "nsubj root ccomp"),
        ("missing-end", "He left .", "2 0", "nsubj root"),
        ("missing-hyphen", "well - known", "2 0", "advmod root"),
    ],
)
def test_marks_that_are_missing(kind, text, heads, relations):
    sentence = example(text, heads, relations)
    gone = next(mark for mark in (" ,", " -", " .") if mark in text)
    rates = NoiseRates(0.0, 0.0, {**dict.fromkeys(KINDS, 0.0), kind: 1.0})
    assert surfaces(rates, sentence, 1) == {text.replace(gone, "", 1)}


def test_superfluous_commas_stand_where_the_tree_says():
    text = "The man said that it rained in a town and snowed"
    sentence = example(
        text,
        "2 3 0 6 6 3 9 9 6 11 6",
        "det nsubj root mark expl ccomp case det obl cc conj",
    )
    after = {
        "superfluous_comma_subject": "man",
        "superfluous_comma_object": "said",
        "superfluous_comma_pair": "town",
    }
    for kind, word in after.items():
        expected = text.replace(f"{word} ", f"{word} , ")
        assert surfaces(only(**{kind: 1.0}), sentence, 1) == {expected}


def test_the_comma_before_the_last_of_three_is_no_error():
    for text in ("tea , milk or gin", "tea , milk , or gin"):
        sentence = example(text, "0 1 4 1", "root conj cc conj")
        slot = sentence.tree.words.index("or")
        assert slot not in {error.slot for error in occasions(sentence)}


def test_two_sentences_and_one():
    sentence = example("He sang ; we left .", "2 0 4 2", "nsubj root nsubj parataxis")
    assert surfaces(only(comma_splice=1.0), sentence, 1) == {"He sang , we left ."}
    kinds = {
        goes_on: {e.kind for e in occasions(sentence, goes_on=goes_on) if e.slot == 4}
        for goes_on in (False, True)
    }
    assert kinds[True] - kinds[False] == {"run-on", "comma-splice"}
    assert kinds[False] - kinds[True] == {"missing-end", "wrong-end"}


@pytest.mark.parametrize(
    ("text", "kind", "expected"),
    [
        ("He left .", "doubled_mark", "He left . ."),
        ("He left .", "statement", "He left ?"),
        ("He left ?", "question_mark", "He left ."),
        ("He left .", "wrong_end", "He left ,"),
        ("`` Go left . ''", "misplaced_mark", "`` Go left '' ."),
        ("He : left", "colon", "He , left"),
    ],
)
def test_wrong_marks(text, kind, expected):
    sentence = example(text, "2 0", "nsubj root")
    assert surfaces(only(**{kind: 1.0}), sentence, 1) == {expected}


def test_quotes_and_brackets_lose_their_partner():
    quoted = example("`` Go . ''", "0", "root")
    assert surfaces(only(unpaired_quote=1.0), quoted, 1) == {"Go ."}
    assert surfaces(only(unpaired_quote=0.5), quoted) >= {"Go . ''", "`` Go ."}
    bracketed = example("Go ( now )", "0 1", "root advmod")
    assert surfaces(only(unpaired_bracket=0.5), bracketed) >= {"Go now )", "Go ( now"}


def test_other_scripts_have_marks_of_their_own():
    def subject(text: str) -> PunctuatedTree:
        return example(text, "2 3 0", "det nsubj root")

    comma = only(superfluous_comma_subject=1.0)
    assert surfaces(comma, subject("这 人 来 。"), 1) == {"这 人 ， 来 。"}
    assert surfaces(comma, subject("这 人 来 ."), 1) == {"这 人 , 来 ."}
    assert surfaces(comma, subject("هذا الرجل جاء ."), 1) == {"هذا الرجل ، جاء ."}
    assert surfaces(only(statement=1.0), subject("这 人 来 。"), 1) == {"这 人 来 ？"}


@pytest.mark.parametrize("name", ["share_clean", "both", "run-on"])
@pytest.mark.parametrize("value", [-0.1, 1.01, float("nan")])
def test_rates_are_from_0_to_1(name, value):
    with pytest.raises(PunctError, match="P024") as error:
        NoiseRates.from_settings({name: value})
    assert name in str(error.value)


def test_rates_are_of_kinds_that_have_a_message():
    assert set(RATES) < set(MESSAGES)
    with pytest.raises(PunctError, match=r"P046.*run-on"):
        NoiseRates.from_settings({"run_on": 0.5})


@pytest.fixture(scope="module")
def sentences(sample) -> tuple[PunctuatedTree, ...]:
    return read_treebank(sample / "train.conllu").examples


def test_corrupted_sets_observed_marks_by_seed_and_position(sentences):
    noisy = corrupted(sentences, seed=1)
    assert [x.slots for x in noisy] == [x.slots for x in sentences]
    assert [x.tree for x in noisy] == [x.tree for x in sentences]
    observed = [x.tree.observed for x in noisy]
    assert observed == [x.tree.observed for x in corrupted(sentences, seed=1)]
    assert observed != [x.tree.observed for x in corrupted(sentences, seed=2)]
    # Another first sentence does not matter to the others.
    others = corrupted([sentences[-1], *sentences[1:]], seed=1)
    assert observed[1:] == [x.tree.observed for x in others[1:]]


def test_noise_by_sentence_is_what_corrupted_makes(sentences):
    noise = noise_by_sentence(sentences, seed=3)
    for before, errors, after in zip(
        sentences, noise, corrupted(sentences, seed=3), strict=True
    ):
        observed = after.tree.observed
        assert with_noise(before.slots, errors) == observed
        wrong = [i for i, slot in enumerate(before.slots) if slot != observed[i]]
        assert sorted(error.slot for error in errors) == wrong
    assert any(noise)


def test_a_share_of_sentences_stays_clean(sentences):
    rates = NoiseRates(0.25, 0.0, {"missing-end": 1.0, "wrong-end": 1.0})
    ended = [x for x in sentences if x.slots[-1][-1:] == (".",)]
    noisy = corrupted(ended, rates)
    clean = sum(x.tree.observed[-1] == x.slots[-1] for x in noisy) / len(noisy)
    deviation = (0.25 * 0.75 / len(noisy)) ** 0.5
    assert abs(clean - 0.25) < 4 * deviation


def test_default_rates_leave_most_marks_alone(sentences):
    noisy = corrupted(sentences)
    n_slots = sum(len(x.slots) for x in noisy)
    wrong = sum(
        a != b for x in noisy for a, b in zip(x.tree.observed, x.slots, strict=True)
    )
    assert 0.005 < wrong / n_slots < 0.06
