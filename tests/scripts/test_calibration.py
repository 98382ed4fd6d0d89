"""Probabilities that mean what they say."""

import numpy as np
import pytest
import spacy
import srsly

from scripts.calibration import Answer, calibration_error, fitted, main, reliability
from spacy_punct.model.mbr import tempered


def test_tempered_marginals_keep_the_share_of_others():
    marginal = {(): 0.8, (",",): 0.1}
    assert tempered(marginal, 1.0) == marginal
    cooler, warmer = tempered(marginal, 0.5), tempered(marginal, 2.0)
    assert cooler[()] == pytest.approx(0.64 / 0.66)
    assert warmer[()] == pytest.approx(0.8**0.5 / (0.8**0.5 + 2 * 0.1**0.5))
    assert sum(warmer.values()) < 1


def overconfident(temperature: float) -> list[Answer]:
    """Answers that are right as often as they would say at a temperature."""
    rng = np.random.default_rng(0)
    answers = []
    for p in rng.uniform(0.5, 1, 1500).tolist():
        answer = Answer((), (((), p), ((",",), 1 - p)), is_right=False)
        is_right = bool(rng.random() < answer.confidence(temperature))
        answers.append(answer._replace(is_right=is_right))
    return answers


@pytest.mark.parametrize("temperature", [0.7, 1.0, 2.0])
def test_calibration_finds_the_temperature(temperature):
    answers = overconfident(temperature)
    assert fitted(answers) == pytest.approx(temperature, abs=0.3)
    errors = [calibration_error(reliability(answers, t)) for t in (temperature, 3.0)]
    assert errors[0] < 0.03 < errors[1]
    assert sum(row["n"] for row in reliability(answers, 1.0)) == len(answers)


def test_calibration_of_a_pipeline(full_path, tmp_path):
    words = ["anna", "visits", "the", "gardener", "who", "laughs", "and", "don't"]
    marks = ["", "", "", ",", "", ".", "", ""]
    lines = map("\t".join, zip(words, marks, words, strict=True))
    (tmp_path / "a.tsv").write_text("\n".join(lines) + "\n")
    main(str(full_path), tmp_path, tmp_path / "out.json", 100)
    result = srsly.read_json(tmp_path / "out.json")
    rows = result["calibrated"]["table"]
    assert sum(row["n"] for row in rows) == len(words)
    settings = {"temperature": result["temperature"]}
    nlp = spacy.load(
        full_path, config={"components": {"punctuation_restorer": settings}}
    )
    assert nlp.get_pipe("punctuation_restorer").cfg["temperature"] > 0
