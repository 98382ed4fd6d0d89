import pytest
import spacy
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from spacy_punct import rephrase
from spacy_punct.errors import PunctError
from spacy_punct.reading.bare import parse_words
from spacy_punct.rephrasing import edits
from spacy_punct.serve import Api, Limits
from spacy_punct.serve.faults import RequestError

WORDS = (
    "if the rain stops anna will visit dr. hill in the garden\n however the old "
    "gardener who sold bread lemons and onions laughs"
)
TEXTS = [
    WORDS,
    "Well; Peter sold , bread, lemons and, onions",
    '  "If the rain stops," Anna said (twice), "I will visit Dr. Hill."  She left? ',
    "...",
    "",
    " \n",
    "مرحبا بالعالم، كيف الحال؟",
    "😀 well 😀, ok.",
]


def ask(api: Api, path: str, **fields):
    return api.plan(path, fields)()


def joined(pieces) -> str:
    return "".join(piece["text"] + piece["space"] for piece in pieces)


@pytest.mark.parametrize("text", TEXTS)
def test_restore_says_what_the_pipeline_does(api, small, text):
    doc = small(text)
    found = ask(api, "/restore", text=text)
    assert found["text"] == doc._.restored_text
    sentences = found["sentences"]
    if sentences:
        assert "".join(joined(s["pieces"]) for s in sentences) == found["text"]
    slots = [[]]
    for sentence in sentences:
        marks = {slot["slot"]: slot["marks"] for slot in sentence["slots"]}
        words = sentence["words"]
        slots[-1] = slots[-1] + marks.get(0, [])
        slots += [marks.get(i, []) for i in range(1, len(words) + 1)]
    assert slots == doc._.restored_slots or not sentences


def test_restored_marks_are_at_the_edge_of_who_put_them_there(api):
    n_explained = 0
    for text in TEXTS:
        for sentence in ask(api, "/restore", text=text)["sentences"]:
            for piece in sentence["pieces"]:
                if piece.get("constituent") is None:
                    continue
                word = sentence["words"][piece["constituent"]]
                sides = [
                    side
                    for side, edge in (("left", "start"), ("right", "end"))
                    if word[edge] == piece["slot"]
                ]
                assert any(word[side] for side in sides), (piece, word)
                n_explained += 1
    assert n_explained > 5


def test_restored_slots_have_alternatives_with_their_probabilities(api):
    slots = [
        slot
        for sentence in ask(api, "/restore", text=WORDS)["sentences"]
        for slot in sentence["slots"]
    ]
    assert any(slot["alternatives"] for slot in slots)
    for slot in slots:
        others = [other["probability"] for other in slot["alternatives"]]
        assert others == sorted(others, reverse=True)
        assert 0 < slot["probability"] <= slot["probability"] + sum(others) <= 1.001
        assert slot["marks"] not in [other["marks"] for other in slot["alternatives"]]
        assert slot["marks"] or slot["probability"] < 0.8


@pytest.mark.parametrize("text", TEXTS)
def test_correct_says_what_the_pipeline_does(api, small, text):
    doc = small(text)
    found = ask(api, "/correct", text=text)
    assert found["text"] == doc._.corrected_text
    assert len(found["corrections"]) == len(doc._.corrections)
    for data, expected in zip(found["corrections"], doc._.corrections, strict=True):
        assert data["before"] == list(expected.before)
        assert data["after"] == list(expected.after)
        assert (data["start"], data["end"]) == (expected.start, expected.end)
        assert data["text"] == expected.text
        assert data["probability"] == pytest.approx(expected.probability, abs=1e-4)
        word, constituent = data["word"], data["constituent"]
        assert text[word["start"] : word["end"]] == expected.word.text
        assert constituent["start"] <= word["start"] < word["end"] <= constituent["end"]


def test_correct_finds_something(api):
    assert ask(api, "/correct", text=TEXTS[1])["corrections"]


@pytest.mark.parametrize("text", TEXTS)
def test_underlying_without_edits_is_the_text_and_its_tree(api, text):
    found = ask(api, "/underlying", text=text)
    assert found["text"].strip() == text.strip()
    for sentence in found["sentences"]:
        assert joined(sentence["pieces"]) == sentence["text"]
        words = sentence["words"]
        assert len(sentence["slots"]) == len(words) + 1
        assert [word["head"] for word in words].count(None) == 1
        for i, slot in enumerate(sentence["slots"]):
            assert len(slot["bear"]) == len(slot["underlying"])
            for word, mark in zip(slot["bear"], slot["underlying"], strict=True):
                own = words[word]
                sides = {own["start"]: own["left"], own["end"]: own["right"]}
                assert mark in sides[i]


def test_underlying_edits_are_those_of_rephrase(api, small):
    text = "If the rain stops, Anna will visit Dr. Hill, the old gardener."
    words = ask(api, "/underlying", text=text)["sentences"][0]["words"]
    (root,) = (word for word in words if word["head"] is None)
    own = [w for w in words if w["head"] is not None and words[w["head"]] is root]
    first, last = own[0]["token"], own[-1]["token"]
    order = [*(w["token"] for w in own), root["token"]]
    cases = [
        ([{"edit": "delete", "word": first}], edits.delete(first)),
        ([{"edit": "move", "word": first, "position": -1}], edits.move(first, -1)),
        (
            [{"edit": "move", "word": last, "before": first}],
            edits.move(last, before=first),
        ),
        (
            [{"edit": "move", "word": first, "after": last}],
            edits.move(first, after=last),
        ),
        (
            [{"edit": "permute", "word": root["token"], "order": order}],
            edits.permute(root["token"], order),
        ),
        ([{"edit": "keep", "words": [first]}], edits.keep_only(first)),
        ([{"edit": "extract", "word": first}], edits.extract(first)),
        (
            [
                {"edit": "delete", "word": first},
                {"edit": "move", "word": last, "position": 0},
            ],
            edits.delete(first) | edits.move(last, 0),
        ),
    ]
    for sent, edit in cases:
        expected = rephrase(parse_words(small, text), edit, small)
        found = ask(api, "/underlying", text=text, edits=sent)
        assert found["text"].strip() == expected.text.strip(), sent
        assert found["text"] != text


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({}, "P157"),
        ("delete", "P157"),
        ([3], "P157"),
        ([{}], "P157"),
        ([{"edit": "eat", "word": 0}], "P157"),
        ([{"edit": ["delete"], "word": 0}], "P157"),
        ([{"edit": "delete"}], "P157"),
        ([{"edit": "delete", "word": "rain"}], "P157"),
        ([{"edit": "delete", "word": True}], "P157"),
        ([{"edit": "delete", "word": 0.5}], "P157"),
        ([{"edit": "delete", "word": 10**30}], "P157"),
        ([{"edit": "delete", "word": 0, "why": 1}], "P157"),
        ([{"edit": "move", "word": 0}], "P157"),
        ([{"edit": "move", "word": 0, "position": 0, "after": 1}], "P157"),
        ([{"edit": "keep", "words": 0}], "P157"),
        ([{"edit": "permute", "word": 0, "order": [None]}], "P157"),
        ([{"edit": "delete", "word": 99}], "P141"),
        ([{"edit": "delete", "word": -1}], "P141"),
        ([{"edit": "permute", "word": 0, "order": [0, 0]}], "P144"),
        ([{"edit": "delete", "word": 0}] * 101, "P157"),
    ],
)
def test_bad_edits_are_refused(api, given, code):
    with pytest.raises(RequestError, match=code) as caught:
        ask(api, "/underlying", text="If the rain stops, Anna laughs.", edits=given)
    assert caught.value.status == 422


def test_unknown_fields_are_refused(api):
    for path in api.paths:
        with pytest.raises(RequestError, match=r"P157.*'txt'"):
            ask(api, path, text="a", txt="b")


@settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(text=st.text(max_size=60))
def test_any_text_has_an_answer(api, text):
    for path in api.paths:
        assert isinstance(ask(api, path, text=text)["text"], str)


def test_what_a_pipeline_cannot_do_is_said(corrects, that_corrects):
    that_corrects.remove_pipe("punctuation_corrector")
    without_restorer, without_corrector = Api(corrects), Api(that_corrects)
    assert without_restorer.about()["corrects"]
    assert not without_restorer.about()["restores"]
    assert not without_corrector.about()["corrects"]
    for api, path in (
        (without_restorer, "/restore"),
        (without_restorer, "/underlying"),
        (without_corrector, "/correct"),
    ):
        with pytest.raises(RequestError, match="P151") as caught:
            api.plan(path, {"text": "a"})
        assert caught.value.status == 404


def test_a_pipeline_without_punctuation_is_refused():
    with pytest.raises(PunctError, match="P166"):
        Api(spacy.blank("en"))


def test_errors_of_the_pipeline_are_the_request_s(that_corrects):
    that_corrects.get_pipe("punctuation_restorer").cfg["existing"] = "error"
    with pytest.raises(RequestError, match="P045") as caught:
        ask(Api(that_corrects, Limits()), "/restore", text="Well, no.")
    assert caught.value.status == 422
