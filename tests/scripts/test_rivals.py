"""What the corrector is compared with is trained on errors, made or real."""

from scripts.baselines.tagger import Tagger
from scripts.paper_corrector import PaperCorrector
from scripts.rivals import main
from spacy_punct.data.treebank import read_treebank


def test_rivals_learn_from_pairs(sample, tmp_path, invoke):
    """Equal files have no errors: then the best is to leave all as it is."""
    blocks = (sample / "test.conllu").read_text("utf-8").split("\n\n")
    path = tmp_path / "few.conllu"
    path.write_text("\n\n".join(blocks[:30]) + "\n\n", "utf-8")
    pairs = ("--corrected", path, "--corrected", path)
    epochs = ("--tagger-epochs", 1, "--paper-epochs", 1)
    done = invoke(main, path, path, *pairs, *epochs, "-o", tmp_path / "out")
    assert done.exit_code == 0, done.output
    examples = read_treebank(path).examples
    n = len(examples)
    assert f"{n} of {n} pairs have the same tree" in " ".join(done.output.split())
    assert Tagger.from_disk(tmp_path / "out" / "tagger").reads_observed
    paper = PaperCorrector.from_disk(tmp_path / "out" / "paper")
    assert paper.correction.direction == paper.restorer.direction == "right-to-left"


def test_rivals_bad_input_is_one_line(sample, tmp_path, invoke):
    dev = sample / "dev.conllu"
    for args in (
        (tmp_path / "no.conllu", dev, "-o", tmp_path),
        (dev, dev, "--corrected", dev, "-o", tmp_path),
    ):
        done = invoke(main, *args)
        assert done.exit_code == 1
        assert len(done.stderr.splitlines()) == 1
