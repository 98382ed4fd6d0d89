"""What steps find and say, without the trainings that test_project.py runs."""

from math import exp, log

import pytest
import srsly

from scripts import evaluate, package, parsers, rephrasing, restorers, taggers
from scripts.evaluate import collect, figures
from scripts.steps import MADE
from spacy_punct.model.channel import DIRECTIONS

TRUTH = [((), (",",), (".",)), ((), (".",))]
RESTORED = [((), (), (".",)), ((), (".",))]


def test_figures_by_hand():
    found = figures(RESTORED, TRUTH, [log(0.5), log(0.25)])
    assert found["aed"] == pytest.approx(1 / 5)
    assert found["edits"] == [1, 0]
    assert found["perplexity"] == pytest.approx(exp(log(8) / 5))
    assert "perplexity" not in figures(RESTORED, TRUTH)


@pytest.fixture
def home(tmp_path):
    """What steps have made of a treebank, with figures made up."""
    home = tmp_path / "out" / "xx-1.0"
    for direction, perplexity in zip(DIRECTIONS, (1.5, 1.25), strict=True):
        folder = home / direction / "model-best"
        folder.mkdir(parents=True)
        meta = {"performance": {"punct_ppl": perplexity}}
        srsly.write_json(folder / "meta.json", meta)
    (home / "corpus").mkdir()
    srsly.write_json(home / "corpus" / "data.json", {"caveat": ""})
    srsly.write_json(home / "corpus" / MADE, {"seconds": 1.5})
    systems = {
        "lexical": {"parsed": ([0, 0, 1] * 9, None), "gold": ([0] * 27, [-1.0] * 27)},
        "bilstm-crf": {"words": ([1, 1, 1] * 9, [-2.0] * 27)},
        "trivial": {"words": ([0, 0, 1] * 9, None)},
    }
    for name, by_trees in systems.items():
        folder = home / "scores" / name
        folder.mkdir(parents=True)
        for trees, (edits, log_probs) in by_trees.items():
            found = {"aed": sum(edits) / 27, "edits": edits}
            if log_probs:
                found["log_probs"] = log_probs
            srsly.write_json(folder / f"test.{trees}.json", found)
        srsly.write_json(folder / MADE, {"seconds": 2.0})
    return home


def test_what_is_collected(home, tmp_path):
    found = collect(tmp_path / "xx-1.0", home, "en")
    assert (found["treebank"], found["title"]) == ("xx-1.0", "English")
    assert found["direction"] == DIRECTIONS[1]
    assert found["systems"]["trivial"]["test"]["words"] == {"aed": pytest.approx(1 / 3)}
    assert set(found["tests"]["aed"]) == {
        "bilstm-crf / lexical",
        "bilstm-crf / trivial",
        "lexical / trivial",
    }
    # Parsed trees decide in edit distance, gold ones in perplexity.
    assert found["tests"]["aed"]["lexical / trivial"] == 1
    assert found["tests"]["aed"]["bilstm-crf / lexical"] < 0.01
    assert set(found["tests"]["perplexity"]) == {"bilstm-crf / lexical"}
    assert found["seconds"]["corpus"] == 1.5
    assert found["seconds"]["scores/lexical"] == 2.0


def test_steps_say_what_is_missing(tmp_path, sample, invoke):
    out = ("--output", tmp_path / "out")
    metrics = ("--metrics", tmp_path / "metrics")
    for main, args in (
        (parsers.main, (tmp_path / "none", *out)),
        (taggers.main, (tmp_path / "none", *out, "--kind", "bilstm-crf")),
        (restorers.main, (sample, *out)),
        (evaluate.main, (sample, *out, *metrics)),
        (rephrasing.main, (sample, *out, *metrics)),
        (package.main, (sample, *out)),
    ):
        done = invoke(main, *args)
        assert done.exit_code == 1
        assert len(done.stderr.splitlines()) == 1, done.output
