import pytest
import torch

from scripts.encoder.evaluate import (
    Stream,
    StreamReader,
    evaluate_streams,
    f_score,
    folded,
    in_case,
    read_streams,
)
from scripts.encoder.reader import Labels, Reader
from spacy_punct.encoder.transformer import Transformer, TransformerSizes
from tests.encoder.small import VOCABULARY
from tests.scripts.encoder.builders import PIECES, SLOTS

LABELS = Labels(SLOTS, ["root"], ["NOUN|_"], ["NN"])


def test_marks_are_folded_as_the_bench_does():
    assert [
        folded(slot) for slot in ("", "— ``", ", ''", "! ''", "… ?", ": ?", "(")
    ] == [*("", ",", ",", ".", ".", "?", "")]


def test_f_score():
    pairs = [(",", ","), (".", "?"), ("?", "?"), ("", ","), (".", "")]
    assert f_score(pairs, (",",)) == pytest.approx(2 / 3)
    assert f_score(pairs, (".", "?")) == pytest.approx(2 / 5)
    assert f_score(pairs, (".", "?"), same=False) == pytest.approx(4 / 5)
    assert f_score([], (",",)) == 0


def test_case():
    assert [in_case("nasa", case) for case in range(4)] == [
        "nasa",
        "Nasa",
        "NASA",
        "nasa",
    ]


def test_documents_of_a_stream_are_cut_alike(tmp_path):
    (tmp_path / "calls.tsv").write_text("a\t\tA\nb\t,\tb\nc\t.\tc\n\nd\t\tD\ne\t.\t_\n")
    (stream,) = read_streams(tmp_path, 4).values()
    assert stream == [
        Stream(("a", "b"), ("", ","), ("A", "b")),
        Stream(("d", "e"), ("", "."), ("D", "_")),
    ]


def test_a_reader_is_measured_by_what_it_says():
    """Heads that always say the same."""
    torch.manual_seed(0)
    sizes = TransformerSizes(1, 24, 48, 12, len(VOCABULARY), 256)
    reader = Reader(Transformer(sizes), LABELS).eval()
    with torch.no_grad():
        reader.slots[3].bias[SLOTS.index("?")] = 100.0
        reader.cases[3].bias[2] = 100.0
    streams = StreamReader(reader, PIECES, LABELS)
    marks, forms = streams.read(["who", "don't"] * 150)
    assert marks == ["?"] * 300
    assert forms == ["WHO", "DONT"] * 150
    talk = Stream(["a", "b"], ["", "."], ["A", "b"])
    found = evaluate_streams(streams, {"talk": [talk], "ted": [talk]})
    assert found["mean"] == found["streams"]["talk"]
    assert found["mean"] == {"comma": 0, "end": 0.6667, "micro": 0, "case": 0.5}
