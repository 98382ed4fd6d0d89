"""A corrector's figures are those that one finds by hand, and the script shows them."""

from collections import Counter
from dataclasses import replace

import pytest
import spacy
import srsly
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

from scripts import rivals
from scripts.correction import (
    best_threshold,
    evaluate_correction,
    evaluate_parallel,
    main,
)
from scripts.learners import ParallelSentence, ParallelText, marked_tokens
from spacy_punct.corrector.scorer import score_correction
from spacy_punct.data.corruption import corrupted, noise_by_sentence
from spacy_punct.data.treebank import Treebank, read_treebank
from spacy_punct.errors import PunctError
from spacy_punct.model.evaluation import permutation_test, score, sentence_edits
from spacy_punct.reading.corpus import make_doc, unpunctuated
from spacy_punct.reading.examples import create_correction_corpus, with_marks
from spacy_punct.restorer.evaluation import evaluate_pipeline
from spacy_punct.text.writer import Spacing, Writer
from tests.conftest import MANY_ERRORS

CORRECTOR = "punctuation_corrector"
SEED = 5


@pytest.fixture(scope="module")
def treebank(sample) -> Treebank:
    whole = read_treebank(sample / "dev.conllu")
    return replace(whole, examples=whole.examples[:24])


@Language.component("test_correction_merger")
def merge(doc: Doc) -> Doc:
    with doc.retokenize() as retokenizer:
        retokenizer.merge(doc[:2])
    return doc


def evaluate(nlp, treebank, **settings):
    corrector = nlp.get_pipe(CORRECTOR)
    settings = {"gold": True, "seed": SEED, **settings}
    return evaluate_correction(nlp, corrector, treebank, **settings)


def test_baselines_and_other_systems(that_corrects, treebank):
    truth = [example.slots for example in treebank.examples]
    observed = [e.tree.observed for e in corrupted(treebank.examples, seed=SEED)]
    noise = noise_by_sentence(treebank.examples, seed=SEED)
    right = dict(zip((e.tree.words for e in treebank.examples), truth, strict=True))
    assert len(right) == len(truth)

    def half(trees):
        """Mends every other sentence."""
        for k, tree in enumerate(trees):
            yield tree.observed if k % 2 else right[tree.words]

    others = {
        "idle": lambda trees: [tree.observed for tree in trees],
        "oracle": lambda trees: [right[tree.words] for tree in trees],
        "half": half,
        "bare": lambda trees: [((),) * (len(tree) + 1) for tree in trees],
    }
    found = evaluate(that_corrects, treebank, others=others)
    systems = found["systems"]
    n_slots = sum(map(len, truth))
    assert found["n_sents"] == 24
    assert found["n_slots"] == n_slots
    assert found["n_errors"] == sum(map(len, noise)) > 10
    assert found["n_skipped"] == treebank.n_omitted + treebank.n_wordless
    assert found["trees"] == "gold"
    assert found["words_per_second"] > 0

    assert systems["idle"] == systems["nothing"]
    assert systems["nothing"]["aed"] == pytest.approx(score(observed, truth).aed)
    assert systems["nothing"]["changed_untouched"] == 0
    assert systems["nothing"]["r"] == systems["nothing"]["n_found"] == 0

    oracle = systems["oracle"]
    assert oracle["aed"] == oracle["changed_untouched"] == 0
    assert oracle["p"] == oracle["r"] == oracle["f05"] == oracle["f05_of_marks"] == 1

    edits = sentence_edits(observed, truth)
    assert systems["half"]["aed"] == pytest.approx(sum(edits[1::2]) / n_slots)
    assert systems["half"]["p"] == 1
    assert 0 < systems["half"]["r"] < 1
    assert systems["half"]["changed_untouched"] == 0

    # Without any mark, what is wrong are the marks of the truth.
    marks = sum(len(slot) for slots in truth for slot in slots)
    bare = systems["bare"]
    assert bare["aed"] == pytest.approx(marks / n_slots)
    filled = sum(bool(slot) for slots in truth for slot in slots)
    assert bare["changed_untouched"] == pytest.approx(filled / n_slots)
    assert bare["f05_of_marks"] == 0

    trivial = [((),) * (len(slots) - 1) + ((".",),) for slots in truth]
    assert systems["trivial"]["aed"] == pytest.approx(score(trivial, truth).aed)

    counts = Counter(error.kind for errors in noise for error in errors)
    mended = Counter(error.kind for errors in noise[::2] for error in errors)
    assert {kind: e["n"] for kind, e in found["errors"].items()} == counts
    for kind, errors in found["errors"].items():
        assert errors["share"] == pytest.approx(counts[kind] / counts.total())
        assert errors["recall"]["idle"] == 0
        assert errors["recall"]["oracle"] == 1
        assert errors["recall"]["half"] == pytest.approx(mended[kind] / counts[kind])
    missing = [
        slots[-1] == (".",)
        for errors, slots in zip(noise, truth, strict=True)
        for error in errors
        if error.kind == "missing-end"
    ]
    share = sum(missing) / len(missing)
    assert found["errors"]["missing-end"]["recall"]["trivial"] == share > 0
    assert set(found["tests"]) == systems.keys() - {"corrector"}


@pytest.mark.parametrize("gold", [True, False])
def test_corrector_and_restorer(gold, that_corrects, treebank):
    nlp = that_corrects
    found = evaluate(nlp, treebank, gold=gold)
    writer = Writer(Spacing("en"))
    examples = []
    for example in corrupted(treebank.examples, seed=SEED):
        reference = make_doc(example, nlp.vocab)
        words = unpunctuated(reference, reference if gold else None)
        doc = with_marks(words, example.tree.observed, writer)
        if gold:
            doc = nlp.get_pipe(CORRECTOR)(nlp.get_pipe("tok2vec")(doc))
        else:
            doc = nlp(doc)
        examples.append(Example(doc, with_marks(reference, example.slots, writer)))
    expected = score_correction(examples)
    ours = found["systems"]["corrector"]
    for name in ("aed", "p", "r", "f05"):
        assert ours[name] == pytest.approx(expected[f"correct_{name}"])
    assert ours["n_found"] > ours["n_right"] > 0
    restorer = nlp.get_pipe("punctuation_restorer")
    restored = evaluate_pipeline(nlp, restorer, treebank, gold=gold)["aed"]
    assert found["systems"]["restorer"]["aed"] == pytest.approx(restored)

    truth = [example.slots for example in treebank.examples]
    slots = [tuple(map(tuple, e.predicted._.corrected_slots)) for e in examples]
    observed = [e.tree.observed for e in corrupted(treebank.examples, seed=SEED)]
    losses = [sentence_edits(answer, truth) for answer in (slots, observed)]
    assert found["tests"]["nothing"] == permutation_test(*losses)


def test_corrector_mends_such_errors_as_it_learnt(corrects, sample):
    """On such trees, too. Errors as rare as people's take more training than this."""
    corpus = create_correction_corpus(
        sample / "dev.conllu", limit=60, rates=MANY_ERRORS
    )
    examples = list(corpus(corrects))
    tok2vec, corrector = map(corrects.get_pipe, ("tok2vec", CORRECTOR))
    for example in examples:
        corrector(tok2vec(example.predicted))
    found = score_correction(examples)
    assert found["correct_aed"] < 0.9 * found["correct_aed_before"]
    assert found["correct_p"] > 0.6
    assert found["correct_r"] > 0.1


def test_disabled_components_stay_so(that_corrects, treebank):
    whole = evaluate(that_corrects, treebank, gold=False)
    that_corrects.disable_pipe("punctuation_restorer")
    again = evaluate(that_corrects, treebank, gold=False)
    assert again["systems"] == whole["systems"]
    assert that_corrects.disabled == ["punctuation_restorer"]
    that_corrects.remove_pipe("punctuation_restorer")
    assert "restorer" not in evaluate(that_corrects, treebank)["systems"]


def test_the_seed_decides_about_errors(that_corrects, treebank):
    first, second = (evaluate(that_corrects, treebank, seed=seed) for seed in (1, 2))
    assert first["errors"] != second["errors"]
    systems = [found["systems"] for found in (first, second)]
    for name in ("corrector", "restorer", "trivial"):
        assert len({found[name]["changed_untouched"] for found in systems}) == 1


def test_words_must_stay(that_corrects, treebank):
    that_corrects.add_pipe("test_correction_merger", first=True)
    with pytest.raises(PunctError, match="P072"):
        evaluate(that_corrects, treebank, gold=False)


def parallel(*sentences: tuple[str, ...]) -> ParallelText:
    found = []
    for text, *others in sentences:
        slots = tuple(marked_tokens(other.split()).slots for other in others)
        found.append(ParallelSentence(marked_tokens(text.split()), slots))
    return ParallelText(tuple(found), n_sents=7, n_pairs=14)


def test_corrections_by_hand(that_corrects):
    text = parallel(
        # Three edits, of which the system makes one, and a wrong one far from it.
        (
            "If the rain stops Anna etc. will visit us , today",
            "If the rain stops , Anna etc. will visit us today .",
        ),
        # Two opinions; the system shares the second.
        ('" Yes " he said .', '" Yes , " he said .', '" Yes " , he said .'),
        # Nothing to do.
        ("It rains .", "It rains ."),
    )
    answers = {
        "If": {4: (",",), 5: (), 1: (";",)},
        "Yes": {1: ("''", ",")},
        "It": {},
    }

    def system(trees):
        for tree in trees:
            changes = answers[tree.words[0]]
            assert "etc." not in tree.words
            yield tuple(changes.get(i, slot) for i, slot in enumerate(tree.observed))

    nlp = that_corrects
    found = evaluate_parallel(
        nlp, nlp.get_pipe(CORRECTOR), text, others={"other": system}
    )
    assert (found["n_sents"], found["n_sents_used"]) == (7, 3)
    assert (found["n_pairs"], found["n_pairs_used"]) == (14, 4)
    assert found["n_slots"] == 11 + 4 + 3
    other = found["systems"]["other"]
    # Right: the comma after "stops", that after the quote. Wrong: the semicolon. That
    # the dot of "etc." is gone from its slot changes nothing in the text.
    assert (other["n_right"], other["n_found"], other["n_true"]) == (2, 3, 4)
    assert other["f05"] == pytest.approx(1.25 * 2 / (3 + 0.25 * 4))
    assert other["changed"] == pytest.approx(3 / 18)
    nothing = found["systems"]["nothing"]
    assert (nothing["n_right"], nothing["n_found"], nothing["n_true"]) == (0, 0, 4)
    assert nothing["changed"] == 0
    ours = found["systems"]["corrector"]
    assert ours["n_found"] >= ours["n_right"]


def test_the_corrector_sees_the_tokens_of_the_text(that_corrects):
    """And each line is one sentence."""
    seen = []

    def system(trees):
        seen.extend(trees)
        return [tree.observed for tree in trees]

    text = parallel(
        ("He do n't know . Is it 10.5% `` so '' ?", "He do n't know . Is it 10.5% so ?")
    )
    evaluate_parallel(
        that_corrects, that_corrects.get_pipe(CORRECTOR), text, others={"": system}
    )
    (tree,) = seen
    assert tree.words == ("He", "do", "n't", "know", "Is", "it", "10.5%", "so")
    expected = ((), (), (), (), (".",), (), (), ("``",), ("''", "?"))
    assert tree.observed == expected


SYSTEMS = ["nothing", "trivial", "restorer", "corrector", "paper", "tagger"]


@pytest.fixture(scope="module")
def data(sample, tmp_path_factory):
    """A folder with a few sentences of the sample, systems to compare with, and a text
    with corrections."""
    folder = tmp_path_factory.mktemp("data")
    blocks = (sample / "dev.conllu").read_text("utf-8").split("\n\n")
    path = folder / "dev.conllu"
    path.write_text("\n\n".join(blocks[:15]) + "\n\n", "utf-8")
    rivals.main([path, path], path, folder, tagger_epochs=1, paper_epochs=1)
    (folder / "a.src").write_text("If it rains Anna will go\nHe go .\nIt rains .\n")
    (folder / "a.ref0").write_text("If it rains , Anna will go .\nHe .\nIt rains .\n")
    (folder / "a.ref1").write_text("If it rains Anna will go .\nHo .\nIt rains !\n")
    return folder


@pytest.mark.parametrize("trees", ["gold", "parsed"])
def test_script_on_a_treebank(trees, data, both_path, tmp_path, invoke):
    output = tmp_path / "new" / "scores.json"
    done = invoke(
        main,
        *(both_path, data / "dev.conllu", "--trees", trees, "--output", output),
        *("--rivals", data),
    )
    assert done.exit_code == 0, done.output
    scores = srsly.read_json(output)
    assert scores["data"] == f"{data.name}/dev.conllu"
    assert (scores["trees"], scores["seed"], scores["n_sents"]) == (trees, 7, 15)
    assert list(scores["systems"]) == SYSTEMS
    examples = corrupted(read_treebank(data / "dev.conllu").examples, seed=7)
    observed = [example.tree.observed for example in examples]
    before = score(observed, [example.slots for example in examples]).aed
    assert scores["systems"]["nothing"]["aed"] == pytest.approx(before)
    for name in ("as written", "the paper's corrector", "BiLSTM-CRF"):
        assert f"| {name}" in done.output
    for kind in scores["errors"]:
        assert kind.replace("_", " ") in done.output
    *_, summary = done.output.splitlines()
    aed = scores["systems"]["corrector"]["aed"]
    assert f"AED {before:.4f} -> {aed:.4f}" in summary
    assert f"{scores['n_errors']} errors in 15 sentences" in summary


def test_script_on_text(data, both_path, tmp_path, invoke):
    output = tmp_path / "scores.json"
    done = invoke(
        main,
        *(both_path, data / "a.src", "-o", output),
        *("--reference", data / "a.ref0", "--reference", data / "a.ref1"),
        *("--rivals", data),
    )
    assert done.exit_code == 0, done.output
    scores = srsly.read_json(output)
    assert list(scores["systems"]) == ["nothing", "corrector", "paper", "tagger"]
    assert (scores["n_sents_used"], scores["n_pairs_used"]) == (2, 4)
    # Of two opinions on each sentence, those with the fewest edits.
    assert scores["systems"]["nothing"]["n_true"] == 1
    *_, summary = done.output.splitlines()
    assert "2 of 3 sentences, 4 of 6 pairs" in summary
    assert "but for capitals" in summary


def test_bad_input_is_one_line(data, both_path, tmp_path, invoke):
    treebank, text, reference = (data / n for n in ("dev.conllu", "a.src", "a.ref0"))
    short = tmp_path / "short"
    short.write_text("It rains .\n")
    blank = tmp_path / "blank"
    spacy.blank("en").to_disk(blank)
    cases = {
        "P053": (both_path, tmp_path / "no.conllu"),
        "P051": (tmp_path, treebank),
        "P131": (blank, treebank),
        "with --reference": (both_path, text),
        "has 1 lines": (both_path, text, "--reference", short),
        "(.conllu) has none": (
            both_path,
            treebank,
            "--reference",
            reference,
        ),
        "no tagger": (both_path, treebank, "--rivals", tmp_path),
    }
    for said, args in cases.items():
        done = invoke(main, *args)
        assert done.exit_code == 1, said
        assert said in done.stderr
        assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("worth", "threshold"),
    [
        ([(0.92, 1.0), (0.41, 1.0), (0.22, -0.5)], 0.4),
        ([(0.9, 1.0), (0.41, 1.0), (0.42, -3.0), (0.62, -3.0)], 0.85),
        ([(0.7, -3.0), (0.3, -0.5)], 0.7),
        ([(0.99, -3.0)], 0.95),
        ([], 0.5),
    ],
)
def test_thresholds_do_good_or_at_least_no_harm(worth, threshold):
    assert best_threshold(worth, 0.5) == threshold
