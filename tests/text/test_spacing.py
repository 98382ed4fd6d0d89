import pytest

from spacy_punct.data.depunctuation import PunctuatedTree, Spaces
from spacy_punct.data.marks import ABBREVIATION_DOT
from spacy_punct.data.tree import Slots, Tree
from spacy_punct.data.treebank import read_treebank
from spacy_punct.text.writer import NO_SPACES, Context, Spacing


def between(spacing: Spacing, *marks: str, context: Context = ("", "")) -> str:
    """The marks between two words a and b, with their spaces."""
    chances = spacing.places(marks, context)
    after = zip(chances, (*marks, "b"), strict=True)
    return "a" + "".join(" " * (p > 0.5) + text for p, text in after)


def example(tags: str, slots: Slots, spaces: Spaces) -> PunctuatedTree:
    """A sentence of words with the given tags, all but the first below it."""
    names = tags.split()
    tree = Tree(
        words=[f"w{i}" for i in range(len(names))],
        tags=names,
        heads=[-1, *[0] * (len(names) - 1)],
        relations=["dep"] * len(names),
    )
    return PunctuatedTree(tree, slots, spaces=spaces)


def inner(mark: str, before: bool, after: bool, tags: str = "X X") -> PunctuatedTree:
    """Two words, one mark between them, and whether spaces are around it."""
    return example(tags, ((), (mark,), ()), ((False,), (before, after), (True,)))


@pytest.mark.parametrize(
    ("marks", "expected"),
    [
        ([","], "a, b"),
        (["..."], "a... b"),
        (["…"], "a… b"),
        (["("], "a (b"),
        (["["], "a [b"),
        ([")"], "a) b"),
        (["``"], "a ``b"),
        (["''"], "a'' b"),
        (["`"], "a `b"),
        (["'"], "a' b"),
        (["«"], "a «b"),
        (["»"], "a» b"),
        (["#"], "a #b"),
        (["-"], "a-b"),
        (["/"], "a/b"),
        (["‑"], "a‑b"),
        (["--"], "a -- b"),
        (["–"], "a – b"),
        (["—"], "a — b"),
        (["=="], "a == b"),
        (["।"], "a। b"),
        (["،"], "a، b"),
        (["¿"], "a ¿b"),
        (["¡"], "a ¡b"),
        ([ABBREVIATION_DOT], "a<abbr> b"),
    ],
)
def test_spacing_around_one_mark(marks, expected):
    assert between(Spacing("en"), *marks) == expected


@pytest.mark.parametrize(
    ("marks", "expected"),
    [
        ([ABBREVIATION_DOT, ","], "a<abbr>, b"),
        ([",", "``"], "a, ``b"),
        ([",", "''"], "a,'' b"),
        (["''", "``"], "a'' ``b"),
        ([".", "''", ")"], "a.'') b"),
        (["(", "``"], "a (``b"),
        ([")", ","], "a), b"),
        ([")", "("], "a) (b"),
        ([",", "--", "``"], "a, -- ``b"),
        (["''", "--"], "a'' -- b"),
        (["?", "!"], "a?! b"),
        (["?", "¿"], "a? ¿b"),
        (["¿", "¡"], "a ¿¡b"),
        (["''", "-"], "a''-b"),
    ],
)
def test_spacing_inside_a_sequence_of_marks(marks, expected):
    assert between(Spacing("en"), *marks) == expected


@pytest.mark.parametrize(
    ("marks", "expected"),
    [
        ([","], "a, b"),
        (["?"], "a ? b"),
        (["?", "!"], "a ?! b"),
        (["...", "!"], "a... ! b"),
        ([";"], "a ; b"),
        (["«"], "a « b"),
        (["»", ","], "a », b"),
        (["!", "»"], "a ! » b"),
        ([":", "«"], "a : « b"),
        (["``"], "a ``b"),
    ],
)
def test_spacing_french_sets_high_marks_and_guillemets_off(marks, expected):
    assert between(Spacing("fr"), *marks) == expected


@pytest.mark.parametrize("language", sorted(NO_SPACES))
@pytest.mark.parametrize("marks", [["，"], ["--"], ["（", "「"], ["”", "。"]])
def test_spacing_writes_words_together_where_that_is_the_custom(language, marks):
    assert between(Spacing(language), *marks) == "a" + "".join(marks) + "b"


def test_spacing_learns_an_exception():
    swiss = [inner("!", before=False, after=True)] * 5
    assert between(Spacing("fr"), "!") == "a ! b"
    learned = Spacing.learn("fr", swiss)
    assert between(learned, "!") == "a! b"
    assert between(learned, "?") == "a ? b"
    assert learned.learned.keys() == {(("!",), 0)}


def test_spacing_learns_by_the_tags_around():
    hyphens = [inner("-", before=False, after=False)] * 12
    dashes = [inner("-", before=True, after=True, tags="NUM NOUN")] * 8
    learned = Spacing.learn("en", hyphens + dashes)
    assert between(learned, "-", context=("NUM", "NOUN")) == "a - b"
    assert between(learned, "-", context=("X", "X")) == "a-b"
    assert between(learned, "-", context=("VERB", "NUM")) == "a-b"
    assert between(learned, "-") == "a-b"


def test_spacing_learns_inside_a_sequence_of_marks():
    tokens = [
        example(
            "X X",
            ((), (".", ".", "."), ()),
            ((False,), (False, True, True, True), (False,)),
        )
    ] * 5
    assert between(Spacing.learn("en", tokens), ".", ".", ".") == "a. . . b"


def test_spacing_takes_more_than_a_few_cases_to_learn():
    tight = [inner("--", before=False, after=False)]
    for n, expected in [(2, "a -- b"), (3, "a -- b"), (4, "a--b")]:
        assert between(Spacing.learn("en", tight * n), "--") == expected
    assert Spacing.learn("en", tight * 9, min_count=10).learned == {}
    strong = Spacing.learn("en", tight * 9, strength=100.0)
    assert between(strong, "--") == "a -- b"


def test_spacing_keeps_nothing_that_the_rules_say_too():
    regular = [inner(",", before=False, after=True), inner("(", True, False)] * 20
    assert Spacing.learn("en", regular) == Spacing("en")


def test_spacing_learns_nothing_about_the_ends_of_a_sentence():
    """A space after the last mark is the one before the next sentence."""
    ends = [example("X", (("--",), ("(",)), ((False, True), (True, True)))] * 20
    tight = [inner("/", before=False, after=False)]
    learned = Spacing.learn("en", ends + tight)
    assert between(learned, "--") == "a -- b"
    assert between(learned, "(") == "a (b"


def test_spacing_learns_nothing_where_spaces_are_not_recorded():
    """Each token seems to have a space after it; an abbreviation's dot is none."""
    silent = [
        inner(",", before=True, after=True),
        example(
            "X X",
            (("(",), (ABBREVIATION_DOT,), (")", ".")),
            ((False, True), (False, True), (True, True, True)),
        ),
    ]
    assert Spacing.learn("en", silent * 20) == Spacing("en")
    unknown = PunctuatedTree(silent[0].tree, silent[0].slots)
    assert Spacing.learn("en", [unknown] * 20) == Spacing("en")
    assert Spacing.learn("en", []) == Spacing("en")


@pytest.mark.slow
def test_spacing_learns_nothing_from_treebanks_without_spaces(treebanks):
    for name, language in [("hi-1.2", "hi"), ("ar-1.3", "ar"), ("es_ancora-1.4", "es")]:
        examples = read_treebank(treebanks / name / "dev.conllu").examples
        assert Spacing.learn(language, examples) == Spacing(language)
