"""Tables say what was measured, beside the paper's figures."""

import copy

import pytest

from scripts.tables.published import PUBLISHED, published
from scripts.tables.restoration import aed_table, perplexity_table, report


def scores(aed: float, perplexity: float = 1.5) -> dict:
    return {
        "aed": aed,
        "perplexity": perplexity,
        "per_mark": {".": {"p": 0.5, "r": 0.25, "f": 1 / 3, "support": 40}},
    }


def tree_scores(gold: float, parsed: float, perplexity: float) -> dict:
    found = {
        "gold": scores(gold, perplexity),
        "parsed": scores(parsed, perplexity) | {"las": 0.8, "uas": 0.85},
    }
    return {"dev": found, "test": found}


@pytest.fixture
def results() -> dict:
    trivial = {"words": scores(0.1)}
    del trivial["words"]["perplexity"]
    crf = {"words": scores(0.09, 1.41)}
    return {
        "treebank": "en-1.4",
        "title": "English",
        "data": {
            "caveat": "",
            "tokens": 254_830,
            "punctuation": 0.1172,
            "omitted": 40,
            "types": 33,
            "sentences": {"train": 3, "dev": 2, "test": 1},
        },
        "direction": "right-to-left",
        "systems": {
            "trivial": {"dev": trivial, "test": trivial},
            "bilstm-crf": {"dev": crf, "test": crf},
            "log-linear": tree_scores(0.08, 0.095, 1.35),
            "lexical": tree_scores(0.07, 0.085, 1.3),
        },
        "tests": {
            "aed": {
                "bilstm-crf / lexical": 0.2,
                "lexical / log-linear": 0.01,
                "lexical / trivial": 0.0001,
            },
            "perplexity": {
                "bilstm-crf / lexical": 0.0001,
                "lexical / log-linear": 0.0001,
            },
        },
        "seconds": {"parser-100": 120.0, "lexical": 60.0, "bilstm-crf": 30.0},
    }


def cells(table: str, row: int = 0) -> dict[str, str]:
    lines = [[c.strip() for c in x.strip("|").split("|")] for x in table.splitlines()]
    return dict(zip(lines[0], lines[2 + row], strict=True))


def test_tables_set_the_paper_beside(results):
    found = cells(aed_table([results]))
    assert found["trivial"] == "0.1000 (0.100)"
    assert found["ATTACH + channel"] == "0.0950 (0.090)"
    assert found["ratio"] == "0.85 (0.90)"
    assert cells(perplexity_table([results]))["direction"] == "← (←)"


def test_tables_bold_what_is_not_significantly_worse(results):
    found = cells(aed_table([results]))
    assert found["lexical ATTACH + channel"] == "**0.0850**"
    assert found["BiLSTM-CRF"] == "**0.0900** (0.108)"
    assert "**" not in found["ATTACH + channel"]
    found = cells(perplexity_table([results]))
    assert found["lexical ATTACH + channel"] == "**1.3000**"
    assert "**" not in found["BiLSTM-CRF"]


def test_tables_warn_of_other_data(results):
    assert ">" not in report([results])[:2]
    sample = copy.deepcopy(results)
    sample["data"]["caveat"] = "SAMPLE TREEBANK, not en-1.4"
    page = report([sample])
    assert page.startswith("> **English**: SAMPLE TREEBANK")
    rows = [line for line in page.splitlines() if line.startswith("| English")]
    assert len(rows) > 5
    assert all(row.startswith("| English*") for row in rows)


def test_tables_of_what_is_there_so_far(results):
    del results["systems"]["lexical"]
    results["tests"] = {"aed": {"bilstm-crf / log-linear": 0.5}, "perplexity": {}}
    results["tests"]["perplexity"] = {"bilstm-crf / log-linear": 0.5}
    results["tests"]["aed"] |= {"bilstm-crf / trivial": 0.5}
    assert "BiLSTM-CRF" in report([results])


def test_published_figures_are_of_one_release():
    assert published("en-1.4") is PUBLISHED["en"]
    assert published("es_ancora-1.4") is PUBLISHED["es_ancora"]
    assert published("en-2.16") is None
    assert published("sample") is None
    for figures in PUBLISHED.values():
        assert figures.aed["gold"] < figures.aed["log-linear"] < figures.aed["trivial"]
        assert figures.perplexity["log-linear"] < figures.perplexity["attach"]
