import random
from dataclasses import fields

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_punct.data.corruption import (
    NoiseRates,
    corrupt,
    corrupted,
    noise_by_sentence,
    noisy_slots,
    with_noise,
)
from spacy_punct.data.depunctuation import PunctuatedTree
from spacy_punct.data.marks import ABBREVIATION_DOT, BRACKETS, COMMAS
from spacy_punct.data.tree import Tree
from spacy_punct.data.treebank import read_treebank
from spacy_punct.errors import PunctError
from spacy_punct.model.mbr import total_edit_distance

DOT = ABBREVIATION_DOT
NAMES = [field.name for field in fields(NoiseRates)]
KINDS = [name for name in NAMES if name not in ("share_clean", "omitted_both")]


def only(**rates: float) -> NoiseRates:
    """Rates that are 0 but for some."""
    return NoiseRates(**(dict.fromkeys(NAMES, 0.0) | rates))


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


EVERY_RATE = only(**dict.fromkeys(KINDS, 0.7), omitted_both=0.5)


@given(examples(), st.integers(0, 1000))
def test_corrupt_keeps_slots_and_abbreviation_dots(sentence, seed):
    slots = corrupt(sentence, EVERY_RATE, random.Random(seed))
    assert len(slots) == len(sentence.slots)
    for before, after in zip(sentence.slots, slots, strict=True):
        assert (after[:1] == (DOT,)) == (before[:1] == (DOT,))
        assert after.count(DOT) == before.count(DOT)
    assert slots == corrupt(sentence, EVERY_RATE, random.Random(seed))


@given(examples(), st.integers(0, 1000))
def test_corrupt_without_rates_or_in_a_clean_share_changes_nothing(sentence, seed):
    clean = only(**dict.fromkeys(KINDS, 1.0), share_clean=1.0)
    for rates in (only(), clean):
        assert corrupt(sentence, rates, random.Random(seed)) == sentence.slots


@given(examples(), st.sampled_from(KINDS), st.integers(0, 1000))
def test_each_rate_alone_makes_its_own_errors(sentence, kind, seed):
    noise = noisy_slots(sentence, only(**{kind: 1.0}), random.Random(seed))
    assert len({error.slot for error in noise}) == len(noise)
    for error in noise:
        assert error.kind == kind
        before, after = sentence.slots[error.slot], error.marks
        assert before != after
        grown = len(after) - len(before)
        changed = [
            pair for pair in zip(before, after, strict=False) if len(set(pair)) > 1
        ]
        if kind in ("omitted_comma", "missing_end", "dropped_bracket"):
            assert grown == -1
        elif kind in ("doubled_end", "stray_bracket"):
            assert grown == 1
        elif kind.startswith(("comma_after", "comma_before")):
            assert grown == 1 and not set(before) - {DOT} and after[-1] in COMMAS
            assert 0 < error.slot < len(sentence.tree)
        elif kind == "transposed_quote":
            assert sorted(before) == sorted(after) and len(changed) == 2
        else:
            assert grown == 0 and len(changed) == 1
            ((old, new),) = changed
            assert (new in COMMAS) or not kind.startswith("comma")
            if kind == "turned_bracket":
                assert BRACKETS.get(old) == new or BRACKETS.get(new) == old


RELATIVE = example(
    "My brother , who sings , came .",
    "2 5 4 2 0",
    "nmod:poss nsubj nsubj acl:relcl root",
    "PRON NOUN PRON VERB VERB",
)


def test_of_a_pair_of_commas_one_or_both_go():
    half = only(omitted_comma=0.5)
    one = {"My brother who sings , came .", "My brother , who sings came ."}
    whole, none = "My brother , who sings , came .", "My brother who sings came ."
    assert surfaces(half, RELATIVE) == {*one, whole, none}
    always = only(omitted_comma=0.5, omitted_both=1.0)
    assert surfaces(always, RELATIVE) == {whole, none}


@pytest.mark.parametrize(
    ("text", "heads", "relations", "goes"),
    [
        ("If it rains , we stay .", "3 3 5 5 0", "mark nsubj advcl nsubj root", True),
        ("Today , we stay .", "3 3 0", "obl:tmod nsubj root", False),
        ("Thanks , Anna .", "0 1", "root vocative", True),
        ("Red , green and blue .", "0 1 4 1", "root conj cc conj", True),
        ("He left , but she stayed .", "2 0 5 5 2", "nsubj root cc nsubj conj", False),
    ],
)
def test_commas_go_where_they_are_missed(text, heads, relations, goes):
    without = text.replace(" ,", "")
    expected = {without} if goes else {text}
    sentence = example(text, heads, relations)
    assert surfaces(only(omitted_comma=1.0), sentence) == expected


def test_headings_may_lack_an_end_mark():
    heading = example("Chapter One .", "0 1", "root nummod", "NOUN NUM")
    assert surfaces(only(missing_end=1.0), heading) == {"Chapter One ."}


@pytest.mark.parametrize(
    ("word", "tag", "taken"),
    [("that", "PRON", True), ("who", "PRON", False), ("sleeping", "VERB", True)],
)
def test_a_comma_before_a_restrictive_clause(word, tag, taken):
    sentence = example(
        f"The man {word} barked",
        "2 0 4 2",
        "det root nsubj acl:relcl",
        f"DET NOUN {tag} VERB",
    )
    found = surfaces(only(comma_before_relative=1.0), sentence)
    assert found == {f"The man , {word} barked" if taken else f"The man {word} barked"}


def test_superfluous_commas_stand_where_the_tree_says():
    text = "But the man said that he sat in a chair made there and slept"
    sentence = example(
        text,
        "4 3 4 0 7 7 4 10 10 7 10 11 14 7",
        "cc det nsubj root mark nsubj ccomp case det obl acl advmod cc conj",
    )
    after = {
        "comma_after_initial": "But",
        "comma_before_relative": "chair",
        "comma_after_subject": "man",
        "comma_before_complement": "said",
        "comma_before_oblique": "sat",
        "comma_before_conjunct": "there",
    }
    for kind, word in after.items():
        expected = text.replace(f"{word} ", f"{word} , ")
        assert surfaces(only(**{kind: 1.0}), sentence, 1) == {expected}


def test_no_comma_after_a_subject_that_may_end_in_one():
    sentence = example("Ann who sang left", "4 3 1 0", "nsubj nsubj acl:relcl root")
    assert surfaces(only(comma_after_subject=1.0), sentence) == {"Ann who sang left"}


@pytest.mark.parametrize(
    ("heads", "relations"),
    [("0 3 1", "root cc conj"), ("0 1 1", "root cc conj")],
    ids=["UD 2", "UD 1"],
)
def test_coordinators_of_two_phrases(heads, relations):
    rates = only(comma_before_conjunct=1.0)
    assert surfaces(rates, example("tea or milk", heads, relations), 1) == {
        "tea , or milk"
    }


def test_the_comma_before_the_last_of_three_is_no_error():
    sentence = example("tea , milk or gin", "0 1 4 1", "root conj cc conj")
    assert surfaces(only(comma_before_conjunct=1.0), sentence, 1) == {
        "tea , milk or gin"
    }


def test_splices_are_between_clauses():
    sentence = example(
        "He sang well - known songs ; we left .",
        "2 0 4 5 2 7 2",
        "nsubj root advmod amod obj nsubj parataxis",
        "PRON VERB ADV ADJ NOUN PRON VERB",
    )
    assert surfaces(only(comma_splice=1.0), sentence, 1) == {
        "He sang well - known songs , we left ."
    }


@pytest.mark.parametrize(
    ("rates", "expected"),
    [
        ({"comma_for_end": 1.0}, {"He left ,"}),
        ({"missing_end": 1.0}, {"He left"}),
        ({"doubled_end": 1.0}, {"He left . .", "He left . ,", "He left , ."}),
        ({"wrong_stop": 1.0}, {"He left ?"}),
        ({"wrong_end": 1.0}, {"He left ."}),
    ],
)
def test_ends_of_sentences(rates, expected):
    sentence = example("He left .", "2 0", "nsubj root")
    assert surfaces(only(**rates), sentence) == expected


def test_missing_marks_are_those_that_can_be_told():
    rates = only(missing_end=1.0)
    question = example("Has he left ?", "3 3 0", "aux nsubj root", "AUX PRON VERB")
    assert surfaces(rates, question) == {"Has he left"}
    for mark in "?!":
        sentence = example(f"He left {mark}", "2 0", "nsubj root", "PRON VERB")
        assert surfaces(rates, sentence) == {f"He left {mark}"}


def test_question_marks():
    question = example("Has he left ?", "3 3 0", "aux nsubj root", "AUX PRON VERB")
    assert surfaces(only(wrong_end=1.0), question) == {"Has he left ."}
    sentence = example("He left ?", "2 0", "nsubj root", "PRON VERB")
    assert surfaces(only(wrong_end=1.0), sentence) == {"He left ?"}
    assert surfaces(only(doubled_end=1.0), sentence) == {
        "He left ? ?",
        "He left ? .",
        "He left ? ,",
        "He left , ?",
    }


def test_quotes_and_brackets():
    inside = example("`` Go . ''", "0", "root")
    outside = example("`` Go '' ,", "0", "root")
    rates = only(transposed_quote=1.0)
    assert surfaces(rates, inside) == {"`` Go '' ."}
    assert surfaces(rates, outside) == {"`` Go '' ,"}
    assert surfaces(only(dropped_bracket=1.0), inside) == {"Go . ''", "`` Go ."}
    assert surfaces(only(turned_bracket=1.0), inside) == {"'' Go . ''", "`` Go . ``"}
    assert surfaces(only(stray_bracket=1.0), inside) == {
        "`` `` Go . ''",
        "`` Go '' . ''",
    }
    question = example("¿ Vienes ?", "0", "root")
    assert surfaces(only(dropped_bracket=1.0), question) == {"Vienes ?"}


def test_marks_between_words():
    comma = example("a , b", "0 1", "root dep")
    assert surfaces(only(wrong_comma=1.0), comma) == {"a ; b"}
    colon = example("a : b", "0 1", "root dep")
    assert surfaces(only(wrong_colon=1.0), colon) == {"a ; b", "a , b"}


def test_other_scripts_have_marks_of_their_own():
    def subject(text: str) -> PunctuatedTree:
        return example(text, "2 3 0", "det nsubj root")

    comma = only(comma_after_subject=1.0)
    assert surfaces(comma, subject("这 人 来 。"), 1) == {"这 人 ， 来 。"}
    assert surfaces(comma, subject("这 人 来 ."), 1) == {"这 人 , 来 ."}
    assert surfaces(comma, subject("هذا الرجل جاء ."), 1) == {"هذا الرجل ، جاء ."}
    wrong = only(wrong_stop=1.0)
    assert surfaces(wrong, subject("यह आदमी आया ।"), 1) == {"यह आदमी आया ?"}
    assert surfaces(wrong, subject("这 人 来 。"), 1) == {"这 人 来 ？"}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("value", [-0.1, 1.01, float("nan")])
def test_rates_are_from_0_to_1(name, value):
    with pytest.raises(PunctError, match="P024") as error:
        NoiseRates(**{name: value})
    assert name in str(error.value)


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
    always = {**dict.fromkeys(KINDS, 0.0), "stray_bracket": 1.0}
    noisy = corrupted(sentences, NoiseRates(**always, share_clean=0.25))
    clean = sum(x.tree.observed == x.slots for x in noisy) / len(noisy)
    deviation = (0.25 * 0.75 / len(noisy)) ** 0.5
    assert abs(clean - 0.25) < 4 * deviation


@pytest.mark.parametrize("kind", sorted({*KINDS} - {"comma_after_initial"}))
def test_the_sample_gives_occasion_to_every_error(sentences, kind):
    rates = only(**{kind: 1.0})
    noise = [noisy_slots(x, rates, random.Random(0)) for x in sentences]
    assert any(noise)


def test_default_rates_on_a_treebank(treebanks):
    noisy = corrupted(read_treebank(treebanks / "en-2.16" / "dev.conllu").examples)
    edits = sum(total_edit_distance(x.tree.observed, x.slots) for x in noisy)
    assert 0.09 < edits / sum(len(x.slots) for x in noisy) < 0.11
