"""`punct jackknife`, from a treebank to trees for training."""

import pytest
import spacy
from spacy.util import load_config
from typer.testing import CliRunner

from spacy_punct.cli import punct
from spacy_punct.reading import jackknife
from spacy_punct.reading.examples import create_corpus
from spacy_punct.reading.gold import gold_examples
from tests.conftest import REPOSITORY


@pytest.fixture(scope="module")
def data(sample, tmp_path_factory):
    """A folder with a few sentences of the sample, and configs/parser.cfg in small."""
    folder = tmp_path_factory.mktemp("data")
    config = load_config(REPOSITORY / "configs" / "parser.cfg")
    tok2vec = config["components"]["tok2vec"]["model"]
    tok2vec["embed"]["rows"] = [100] * 4
    tok2vec["encode"] |= {"width": 8, "depth": 1}
    config["components"]["parser"]["model"]["hidden_width"] = 8
    config.to_disk(folder / "parser.cfg")
    for split in ("train", "dev"):
        blocks = (sample / f"{split}.conllu").read_text("utf-8").split("\n\n")
        text = "\n\n".join(blocks[:20]) + "\n\n"
        (folder / f"{split}.conllu").write_text(text, "utf-8")
    return folder


def invoke(*args: object):
    return CliRunner().invoke(punct, ["jackknife", *map(str, args)])


def test_jackknife_parses_what_its_parsers_have_not_seen(data, tmp_path, monkeypatch):
    learned = []
    train = jackknife.train

    def observed(config, folder, overrides):
        learned.append(list(create_corpus(overrides["paths.train"])(nlp)))
        train(config, folder, overrides=overrides)

    monkeypatch.setattr(jackknife, "train", observed)
    nlp = spacy.blank("en")
    output = tmp_path / "deep" / "parsed.spacy"
    source = data / "train.conllu"
    args = (data / "parser.cfg", source, data / "dev.conllu", output)
    done = invoke(*args, "--folds", 2, "--max-steps", 1)
    assert done.exit_code == 0, done.output

    plain = list(create_corpus(source)(nlp))
    parsed = list(create_corpus(source, parsed=output)(nlp))
    for example, other in zip(parsed, plain, strict=True):
        assert example.x.text == other.x.text
        assert example.x.has_annotation("DEP") and example.x.has_annotation("POS")
        assert len(list(example.x.sents)) == 1, "a parser keeps to sentences"
        assert len(gold_examples(example, "restorer")) == 1
    for fold in (0, 1):
        texts = [example.y.text for example in learned[fold]]
        assert texts == [example.y.text for example in plain[1 - fold :: 2]]


@pytest.mark.parametrize(
    ("changes", "said"),
    [({0: "absent.cfg"}, "P053"), ({1: "absent"}, "P050"), ({2: "absent"}, "P050")],
)
def test_jackknife_says_what_is_missing(data, tmp_path, changes, said):
    names = ("parser.cfg", "train.conllu", "dev.conllu")
    args = [*(data / name for name in names), tmp_path / "x.spacy"]
    for place, value in changes.items():
        args[place] = tmp_path / value
    done = invoke(*args)
    assert done.exit_code == 1
    assert said in done.output
    assert len(done.output.strip().splitlines()) == 1
    assert not list(tmp_path.iterdir())
