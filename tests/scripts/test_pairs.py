"""Quotes and brackets, counted."""

import srsly

from scripts.pairs import main, slots_of
from spacy_punct.restorer.texts import RestoredWord


def test_slots_between_words_are_of_both():
    words = [
        RestoredWord("(Yes,", ["yes"], [("(",), (",",)], [1.0, 1.0]),
        RestoredWord("“no”)", ["no"], [("``",), ("''", ")")], [1.0, 1.0]),
    ]
    assert slots_of(words) == (("(",), (",", "``"), ("''", ")"))


def test_pairs_of_a_text_that_the_english_pipeline_restores(tmp_path):
    text = tmp_path / "novel.txt"
    text.write_text("“What time is it?” she asked. “I do not know,” he said.\n" * 3)
    output = tmp_path / "pairs.json"
    main("en", [text], output, random_texts=3)
    found = srsly.read_json(output)
    assert found["novel"]["n_words"] == 36
    assert found["novel"]["balanced"]
    assert found["novel"]["quotes"]["support"] == 12
    assert found["novel"]["quotes"]["f"] > 0.5
    assert found["random"] == {"n_texts": 3, "n_unbalanced": 0}
