"""Tables of correction say what was measured, on what, beside the paper's figures."""

import copy

import pytest
import srsly

from scripts.tables.correction import (
    correction_report,
    correction_table,
    errors_table,
    main,
)
from scripts.tables.published import CORRECTION


def scores(aed: float) -> dict:
    return {
        "aed": aed,
        "p": 0.5,
        "r": 0.25,
        "f05": 0.4167,
        "f05_of_marks": 0.9,
        "changed_untouched": 0.012,
    }


@pytest.fixture
def parsed() -> dict:
    systems = ("nothing", "trivial", "restorer", "corrector", "tagger")
    return {
        "data": "en-2.16/dev.conllu",
        "trees": "parsed",
        "seed": 7,
        "n_sents": 1985,
        "n_slots": 23_000,
        "n_errors": 1500,
        "systems": {name: scores(0.01 * k) for k, name in enumerate(systems, 1)},
        "errors": {
            "omitted_comma": {
                "n": 600,
                "share": 0.4,
                "recall": dict.fromkeys(systems, 0.31),
            },
        },
    }


@pytest.fixture
def gold(parsed) -> dict:
    result = copy.deepcopy(parsed)
    result["trees"] = "gold"
    result["systems"]["corrector"]["aed"] = 0.0345
    result["errors"]["omitted_comma"]["recall"]["corrector"] = 0.62
    return result


@pytest.fixture
def by_hand() -> dict:
    found = {"p": 0.3, "r": 0.2, "f05": 0.2727, "changed": 0.011}
    return {
        "data": "jfleg/dev.src",
        "n_sents": 754,
        "n_sents_used": 262,
        "n_pairs": 3016,
        "n_pairs_used": 543,
        "systems": {"nothing": {**found, "p": 1.0}, "corrector": found},
    }


def cells(table: str, label: str) -> list[str]:
    (line,) = (row for row in table.splitlines() if row.startswith(f"| {label} |"))
    return [cell.strip() for cell in line.split("|")[2:-1]]


def test_published_figures():
    assert [CORRECTION[name].aed for name in CORRECTION] == sorted(
        (figures.aed for figures in CORRECTION.values()), reverse=True
    )
    assert [CORRECTION[name].f05 for name in CORRECTION] == sorted(
        figures.f05 for figures in CORRECTION.values()
    )


def test_rows_have_the_right_trees(parsed, gold):
    for group in ([parsed, gold], [gold, parsed]):
        table = correction_table([group])
        rest = ["90.0", "50.0", "25.0", "41.7", "1.2"]
        assert cells(table, "as written") == ["–", "–", "0.0100", *rest]
        assert cells(table, "trivial") == ["0.052", "77.9", "0.0200", *rest]
        assert cells(table, "restorer, parsed trees") == [
            *("0.047", "82.7", "0.0300"),
            *rest,
        ]
        assert cells(table, "corrector, parsed trees")[2] == "0.0400"
        assert cells(table, "corrector, gold trees")[:3] == ["–", "–", "0.0345"]
        paper = cells(table, "the paper's corrector, gold trees")
        assert paper == ["0.033", "88.1", *["–"] * 6]
        assert cells(table, "BiLSTM-CRF, correcting")[:3] == ["0.005", "98.4", "0.0500"]
        widths = {line.count("|") for line in table.splitlines()}
        assert len(widths) == 1
        header = table.splitlines()[0]
        assert header.endswith(
            "| paper: AED | F0.5 of marks | en-2.16/dev.conllu: AED | F0.5 of marks "
            "| P | R | F0.5 | changed if right |"
        )
        mended = cells(errors_table(group), "omitted comma")
        assert mended == ["600", "40.0", *["31.0"] * 4, "62.0", "31.0"]


def test_report_names_its_data(parsed, gold, by_hand):
    other = copy.deepcopy(parsed) | {"data": "en_gum/dev.conllu", "n_errors": 77}
    page = correction_report([parsed, by_hand, gold, other])
    assert "English-ESL" in page
    assert "en-2.16/dev.conllu, 1500 errors in 1985 sentences" in page
    assert "en_gum/dev.conllu, 77 errors" in page
    assert page.count("mended in") == 2
    row = next(line for line in page.splitlines() if "jfleg" in line and "corr" in line)
    assert "| corrector | 262 of 754 | 543 of 3016 | 30.0 | 20.0 | 27.3 | 1.1 |" in row


def test_command(parsed, by_hand, tmp_path, invoke):
    paths = [tmp_path / "a.json", tmp_path / "b.json"]
    for path, result in zip(paths, (parsed, by_hand), strict=True):
        srsly.write_json(path, result)
    expected = correction_report([parsed, by_hand])
    assert invoke(main, *paths).output == expected
    page = tmp_path / "new" / "page.md"
    invoke(main, *paths, "-o", page)
    assert page.read_text("utf-8") == expected
    done = invoke(main, tmp_path / "no.json")
    assert done.exit_code == 1
    assert "[P053]" in done.stderr
