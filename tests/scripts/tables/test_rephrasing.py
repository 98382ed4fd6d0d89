"""Tables of rephrasing show the paper's figures beside ours."""

from scripts.tables.published import REPHRASING
from scripts.tables.rephrasing import rephrasing_report


def result(treebank: str, full: float, p: float, caveat: str = "") -> dict:
    systems = {"base": 100.0, "half": 80.0, "full": full, "full-same": 20.0}
    tests = {"base / half": 0.001, "base / full": 0.001, "half / full": p}
    tests |= {"full / full-same": 0.9}
    return {
        "treebank": treebank,
        "caveat": caveat,
        "n_sents": 10,
        "systems": {s: {"punctuation": v, "all": v} for s, v in systems.items()},
        "tests": {"punctuation": tests, "all": {**tests, "half / full": 0.5}},
    }


def test_tables_show_the_paper_beside_ours():
    page = rephrasing_report(
        [result("en-1.4", 50.0, 0.01), result("xx-2.0", 79.0, 0.2, "half of it")]
    )
    assert "better than Base in 2 of 2 treebanks on" in page
    worse = rephrasing_report([result("en-1.4", 101.0, 0.01)])
    assert "better than Base in 0 of 1 treebanks on" in worse
    english, other = [
        row for row in page.splitlines() if row.startswith(("| en-1.4", "| xx-2.0"))
    ]
    paper = REPHRASING["en"]
    assert f"| 100.0 ({paper.punctuation['base']:.1f}) |" in english
    assert f"| **50.0** ({paper.punctuation['full']:.1f}) |" in english
    assert f"| 50.0 ({paper.all['full']:.1f}) |" in english
    assert "| 10 |" in english
    assert "**" not in other
    assert "(" not in other
    assert other.startswith("| xx-2.0* |")
    assert "half of it" in page
