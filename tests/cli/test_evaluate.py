"""`punct evaluate` and `punct convert`, on the sample."""

import pytest
import srsly


def test_evaluate_gold_and_parsed(invoke, full_path, sample, tmp_path):
    scores = {}
    for trees in ("gold", "parsed"):
        out = tmp_path / f"{trees}.json"
        done = invoke(
            "evaluate", full_path, sample / "test.conllu", "--trees", trees, "-o", out
        )
        assert done.exit_code == 0, done.output
        assert "support" in done.output
        scores[trees] = srsly.read_json(out)
    for found in scores.values():
        assert found["aed"] < found["aed_trivial"]
        assert found["perplexity"] > 1
        assert found["n_sents"] == 80 - found["n_skipped"]
        assert set(found["per_mark"][","]) == {"p", "r", "f", "support"}
        assert found["words_per_second"] > 0
        assert 0 < found["micro_f"] < 1
    assert 0 < scores["parsed"]["las"] <= scores["parsed"]["uas"] < 1
    assert scores["gold"]["perplexity"] == scores["parsed"]["perplexity"]


@pytest.mark.parametrize("stream", ["lower", "cased"])
def test_evaluate_stream(invoke, bundled, sample, tmp_path, stream):
    out = tmp_path / "scores.json"
    data = sample / "test.conllu"
    done = invoke("evaluate", "en", data, "--stream", stream, "-o", out)
    assert done.exit_code == 0, done.output
    for shown in ("support", "sentence starts", "capitals"):
        assert shown in done.output
    assert srsly.read_json(out)["stream"] == stream


def test_convert_makes_what_the_reader_reads(invoke, sample, tmp_path):
    done = invoke("convert", sample, tmp_path / "corpus")
    assert done.exit_code == 0
    assert "train.conllu" in done.output
    names = {path.name for path in (tmp_path / "corpus").iterdir()}
    assert names == {"train.spacy", "dev.spacy", "test.spacy"}
