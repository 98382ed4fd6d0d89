"""What live text costs, measured."""

import pytest
import srsly

from scripts.live import found_in, main, mark_after


@pytest.mark.parametrize(
    ("word", "mark"),
    [
        *(("well", ""), ("well,", ","), ("(well),", ","), ("well —", ",")),
        *(('him."', "."), ("really?!", "?"), ("so...", "."), ("u.s.", ".")),
        *(("twenty-one", ""), ("twenty -", ","), ("", "")),
    ],
)
def test_marks_are_read_off_words(word, mark):
    assert mark_after(word) == mark


def test_the_mark_of_words_written_together_is_after_the_last():
    marks, _ = found_in(["So,", "twenty-one.", "", "Yes."])
    assert marks == [",", "", ".", "."]


def test_live_is_measured_beside_the_whole_text(invoke, full_path, tmp_path):
    words = ["anna", "visits", "the", "old", "gardener", "who", "laughs"] * 2
    lines = "".join(f"{word}\t\t{word}\n" for word in words)
    (tmp_path / "talks.tsv").write_text(f"{lines}twice\t.\ttwice\n", "utf-8")
    output = tmp_path / "new" / "live.json"
    options = ("--lookahead", 3, "--step", 2, "--output", output)
    result = invoke(main, full_path, tmp_path, *options)
    assert result.exit_code == 0, result.output
    results = srsly.read_json(output)
    assert list(results) == ["whole text", "3"]
    for name, found in results.items():
        assert f"| {name} | {found['mean']['comma']:.3f} |" in result.stdout
        assert found["words_per_cpu_second"] > 0
