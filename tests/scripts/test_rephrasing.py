"""The experiment with rephrased treebanks, and its tables."""

from math import exp, log

import pytest
import srsly
import typer
from typer.testing import CliRunner

from scripts.experiments import rephrasing, rephrasing_tables
from scripts.experiments.published import REPHRASING
from scripts.experiments.rephrasing import (
    measure,
    permuted_words,
    surface_tree,
    tokens,
    training_sentences,
    words_only,
    written_words,
)
from scripts.experiments.rephrasing_tables import rephrasing_report
from scripts.experiments.trigrams import TrigramModel, trigrams
from spacy_punct.data.conllu import parse_conllu
from spacy_punct.data.treebank import make_treebank

SENTENCE = """1 If if SCONJ _ _ 2 mark _ _
2 true true ADJ _ _ 7 advcl _ _
3 etc. etc. ADV _ _ 2 advmod _ _
4 , , PUNCT _ _ 7 punct _ _
5 the the DET _ _ 6 det _ _
6 caper caper NOUN _ _ 7 nsubj _ _
7 failed fail VERB _ _ 0 root _ _
8 . . PUNCT _ _ {head} punct _ _
"""


def read(head: int = 7):
    lines = [line.replace(" ", "\t") for line in SENTENCE.format(head=head).split("\n")]
    (sentence,) = parse_conllu(lines)
    (example,) = make_treebank([sentence]).examples
    return sentence, example


def test_trigrams_are_smoothed():
    model = TrigramModel([["a", "b"], ["a", "c"]], vocabulary=3, smoothing=0.5)
    assert list(trigrams(["a"])) == [("<s>", "<s>", "a"), ("<s>", "a", "</s>")]
    a, b, end = model.log_probs(["a", "b"])
    assert exp(a) == pytest.approx((2 + 0.5) / (2 + 0.5 * 4))
    assert exp(b) == pytest.approx((1 + 0.5) / (2 + 0.5 * 4))
    assert exp(end) == pytest.approx((1 + 0.5) / (1 + 0.5 * 4))
    assert exp(model.log_prob(("x", "y", "z"))) == pytest.approx(1 / 4)
    seen = [exp(model.log_prob(("<s>", "a", w))) for w in ("a", "b", "c", "</s>")]
    assert sum(seen) == pytest.approx(1)


def test_surface_tree_has_marks_where_the_treebank_has_them():
    found = surface_tree(*read())
    forms = ["If", "true", "etc.", ",", "the", "caper", "failed", "."]
    assert list(found.tree.words) == forms
    assert found.tree.heads == (1, 6, 1, 6, 5, 6, -1, 6)
    assert found.tree.tags[3] == "PUNCT"
    assert found.tree.relations[7] == "punct"
    assert found.words == {0: 0, 1: 1, 2: 2, 4: 3, 5: 4, 6: 5}


def test_surface_tree_is_projective():
    """A period that hangs on `the` would cross other arcs."""
    found = surface_tree(*read(head=5))
    assert found.tree.is_projective
    assert found.tree.heads[7] == 6


def test_base_and_half_order_words_in_the_same_way():
    surface = surface_tree(*read())
    orders = {6: (5, 6, 7, 1, 3)}
    words = permuted_words(surface, orders)
    assert words == ["the", "caper", "failed", ".", "If", "true", "etc.", ","]
    assert words_only(orders, surface) == {5: (4, 5, 1)}
    assert permuted_words(surface, {}) == list(surface.tree.words)


def test_surface_trees_of_the_sample_give_its_tokens_back(sample):
    pairs = list(zip(*training_sentences(sample), strict=True))
    assert len(pairs) > 100
    for sentence, example in pairs:
        surface = surface_tree(sentence, example)
        assert surface.tree.is_projective
        assert (
            permuted_words(surface, {})
            == tokens(written_words(example), example.slots)[0]
        )
        assert len(surface.tree) == len(sentence.tokens)


def test_measure_by_hand():
    originals = [["a", ",", "b"], ["c"]]
    marks = [[False, True, False], [False]]
    rephrased = {"same": originals, "other": [["b", ",", "a"], ["c"]]}
    found = measure(rephrased, originals, marks)
    # a , b </s>: all but the first trigram have the comma; c </s>: none.
    assert found["n_trigrams"] == {"punctuation": 3, "all": 6}
    rest = 0.001 * 5

    def p(n: int, of: int) -> float:
        return (n + 0.001) / (of + rest)

    same = [p(1, 2), p(1, 1), p(1, 1), p(1, 1), p(1, 2), p(1, 1)]
    other = [p(0, 2), p(0, 0), p(0, 0), p(0, 0), p(1, 2), p(1, 1)]
    for system, values in (("same", same), ("other", other)):
        for name, counted in (("punctuation", values[1:4]), ("all", values)):
            expected = exp(-sum(map(log, counted)) / len(counted))
            assert found["systems"][system][name] == pytest.approx(expected)
    assert set(found["tests"]["all"]) == {"same / other"}


def invoke(main, *args: object):
    app = typer.Typer()
    app.command()(main)
    return CliRunner().invoke(app, [str(arg) for arg in args])


def test_experiment_on_the_sample(paper_path, sample, tmp_path):
    out = tmp_path / "deep" / "sample.json"
    options = ("-o", out, "--limit", 150)
    done = invoke(rephrasing.main, paper_path, sample, *options)
    assert done.exit_code == 0, done.output
    found = srsly.read_json(out)
    assert list(found["systems"]) == ["base", "half", "full", "full-same"]
    assert found["n_sents"] == 150 < found["n_usable"]
    assert all(0 < n <= 150 for n in found["n_changed"].values())
    # What the whole method is for.
    assert (
        found["systems"]["full"]["punctuation"]
        < found["systems"]["base"]["punctuation"]
    )
    again = tmp_path / "again.json"
    invoke(rephrasing.main, paper_path, sample, "-o", again, "--limit", 150)
    other = srsly.read_json(again)
    assert {**other, "seconds": 0} == {**found, "seconds": 0}
    page = tmp_path / "page.md"
    done = invoke(rephrasing_tables.main, out, "-o", page)
    assert done.exit_code == 0
    assert f"{found['systems']['full']['all']:.1f}" in page.read_text("utf8")


def test_experiment_says_what_is_missing(paper_path, tmp_path):
    done = invoke(rephrasing.main, paper_path, tmp_path, "-o", tmp_path / "x.json")
    assert done.exit_code == 1
    assert "P005" in done.output
    done = invoke(rephrasing.main, tmp_path / "none", tmp_path, "-o", tmp_path / "x")
    assert done.exit_code == 1
    assert "Traceback" not in done.output
    done = invoke(rephrasing_tables.main, tmp_path / "none.json")
    assert done.exit_code == 1
    assert "P053" in done.output


def result(treebank: str, full: float, p: float, caveat: str = "") -> dict:
    systems = {"base": 100.0, "half": 80.0, "full": full, "full-same": 20.0}
    tests = {"base / half": 0.001, "base / full": 0.001, "half / full": p}
    tests |= {"full / full-same": 0.9}
    return {
        "treebank": treebank,
        "caveat": caveat,
        "n_sents": 10,
        "n_usable": 12,
        "systems": {s: {"punctuation": v, "all": v} for s, v in systems.items()},
        "tests": {"punctuation": tests, "all": {**tests, "half / full": 0.5}},
    }


def test_tables_show_the_paper_beside_ours():
    page = rephrasing_report(
        [result("en-1.4", 50.0, 0.01), result("xx-2.0", 79.0, 0.2, "half of it")]
    )
    assert "better than Base in 2 of 2 treebanks on" in page
    worse = rephrasing_report([result("en-1.4", 101.0, 0.01)])
    assert "better than Base in 0 of 1 treebanks on" in worse
    english, other = [
        row for row in page.splitlines() if row.startswith(("| en-1.4", "| xx-2.0"))
    ]
    paper = REPHRASING["en"]
    assert f"| 100.0 ({paper.punctuation['base']:.1f}) |" in english
    assert f"| **50.0** ({paper.punctuation['full']:.1f}) |" in english
    assert f"| 50.0 ({paper.all['full']:.1f}) |" in english
    assert "| 10 of 12 |" in english
    assert "**" not in other
    assert "(" not in other
    assert other.startswith("| xx-2.0* |")
    assert "half of it" in page
