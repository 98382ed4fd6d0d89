"""The pages have the figures that were measured, and CI runs what they say."""

import re

import srsly

from scripts import live
from scripts.tables import scale
from tests.conftest import REPOSITORY


def read(name: str) -> str:
    return (REPOSITORY / name).read_text("utf-8")


def table(page: str, header: str) -> dict[str, dict[str, str]]:
    """A Markdown table, by the first cell of its rows and by its columns."""
    lines = page.splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith(header))
    rows = []
    for line in lines[start:]:
        if not line.startswith("|"):
            break
        rows.append([cell.strip() for cell in line.strip("|").split("|")])
    columns = rows[0][1:]
    return {row[0]: dict(zip(columns, row[1:], strict=True)) for row in rows[2:]}


def without_brackets(cell: str) -> str:
    """A cell without the paper's figure."""
    return cell.partition(" (")[0]


def test_readme_is_short():
    assert len(read("README.md").splitlines()) <= 150


def test_readme_has_the_measured_edits():
    metrics = table(
        read("metrics/paper/README.md").partition("## Average edit distance")[2], "|  |"
    )
    shown = table(read("README.md"), "|  | trivial")
    assert shown.keys() == metrics.keys()
    names = {
        "trivial": "trivial",
        "BiGRU, attention": "BiGRU, attention",
        "BiLSTM": "BiLSTM",
        "BiLSTM-CRF": "BiLSTM-CRF",
        "the paper's model": "ATTACH + channel",
        "ours, reading words": "lexical ATTACH + channel",
    }
    for language, row in shown.items():
        for name, cell in row.items():
            assert cell == without_brackets(metrics[language][names[name]])


def test_pages_have_the_bundled_scores():
    bench = srsly.read_json(REPOSITORY / "metrics" / "en-bench.json")
    short = table(read("README.md"), "| F on lower-case streams")
    full = table(read("docs/transcripts.md"), "| F on lower-case streams")
    rows = {
        "a plain tagging head on the same encoder": bench["tagging head"]["mean"],
        "**the bundled pipeline**": bench["pipeline"]["mean"],
    }
    names = {
        "commas": "comma",
        "sentence ends": "end",
        "`,` `.` `?`": "micro",
        "words in the right case": "case",
    }
    for row, figures in rows.items():
        for column, name in names.items():
            shown = "" if figures[name] is None else f"{figures[name]:.3f}"
            assert short[row][column].strip("*") == shown
    for stream, figures in bench["pipeline"]["streams"].items():
        for column, name in names.items():
            shown = "" if figures[name] is None else f"{figures[name]:.3f}"
            assert full[stream][column] == shown
        tagged = bench["tagging head"]["streams"][stream]["micro"]
        assert full[stream]["tagging head"] == f"{tagged:.3f}"


def test_transcripts_have_the_measured_reliability():
    found = srsly.read_json(REPOSITORY / "metrics" / "en-calibration.json")[
        "calibrated"
    ]
    page = read("docs/transcripts.md")
    for row in found["table"]:
        cells = f"{row['n']:,} | {row['said']:.2f} | {row['right']:.2f} |"
        assert cells in page
    assert f"calibration error is {found['error']:.3f}" in page


def test_pages_have_the_measured_speed():
    bench = srsly.read_json(REPOSITORY / "metrics" / "en-bench.json")
    assert scale.report([bench]) in read("docs/scale.md")
    found = srsly.read_json(REPOSITORY / "metrics" / "en-live.json")
    assert live.report(found) in read("docs/transcripts.md")


def test_ci_runs_what_contributors_are_told_to_run():
    page = read("CONTRIBUTING.md")
    (block,) = re.findall(r"## Test\n.*?```bash\n(.*?)```", page, flags=re.DOTALL)
    ci, workflow = read(".ci/run"), read(".github/workflows/tests.yml")
    for command in block.splitlines():
        assert f"\n{command}\n" in ci
        assert f"- run: {command}\n" in workflow
