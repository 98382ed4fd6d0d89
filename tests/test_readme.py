"""The pages have the figures that were measured, and CI runs what they say."""

import re

import srsly

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
    columns = {
        "one lower-case stream": "en-stream-lower",
        "one stream with capitals": "en-stream-cased",
        "sentences and capitals given": "en-sentences",
    }
    short = table(read("README.md"), "|  | one lower-case")
    full = table(read("docs/transcripts.md"), "| UD English EWT 2.16 test, P / R / F")
    for column, name in columns.items():
        scores = srsly.read_json(REPOSITORY / "metrics" / f"{name}.json")
        for mark in ".,?":
            found = [f"{100 * scores['per_mark'][mark][key]:.1f}" for key in "prf"]
            assert full[f"`{mark}`"][column] == " / ".join(found)
            assert short[f"`{mark}`"][column] == found[-1]
        overall = f"{100 * scores['micro_f']:.1f}"
        assert short["all marks"][column] == overall
        assert full["F over all marks"][column] == overall
        assert full["edits per slot"][column].startswith(f"{scores['aed']:.4f}")


def test_pages_have_the_measured_corrections():
    metrics = table(read("metrics/correction.md"), "|  | paper: AED")
    shown = table(read("docs/writers.md"), "| UD English EWT 2.16 test, 2,361")
    names = {
        "as written": "as written",
        "restorer, which ignores the marks": "restorer, parsed trees",
        "the paper's corrector": "the paper's corrector, parsed trees",
        "BiLSTM-CRF that corrects": "BiLSTM-CRF, correcting",
        "**this one**": "corrector, parsed trees",
    }
    for name, row in shown.items():
        measured = metrics[names[name]]
        edits, scores, changed = row.values()
        assert edits.strip("*") == measured["en-2.16/test.conllu: AED"]
        if scores:
            assert scores.split(" / ") == [measured[key] for key in ("P", "R", "F0.5")]
        assert changed == f"{measured['changed if right']}%"
    readme = " ".join(read("README.md").split())
    assert "F0.5 = 89.3 (a BiLSTM-CRF tagger: 85.4)" in readme
    assert metrics["corrector, parsed trees"]["F0.5"] == "89.3"
    assert metrics["BiLSTM-CRF, correcting"]["F0.5"] == "85.4"


def test_ci_runs_what_contributors_are_told_to_run():
    page = read("CONTRIBUTING.md")
    (block,) = re.findall(r"## Test\n.*?```bash\n(.*?)```", page, flags=re.DOTALL)
    ci, workflow = read(".ci/run"), read(".github/workflows/tests.yml")
    for command in block.splitlines():
        assert f"\n{command}\n" in ci
        assert f"- run: {command}\n" in workflow
