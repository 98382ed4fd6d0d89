"""Words with times, batches, and settings for one request."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from spacy_punct import restore_words
from spacy_punct.serve.app import make_app
from tests.serve.conftest import client_of
from tests.serve.test_app import WORDS, ask, check_error

SPOKEN = [
    {"word": word, "start": k / 3, "end": k / 3 + 0.25, "extra": {"n": [k, None]}}
    for k, word in enumerate(WORDS.split())
]


def test_words_keep_all_that_belongs_to_them(client, small):
    found = ask(client, "/restore_words", words=SPOKEN)
    for item, sent in zip(found["words"], SPOKEN, strict=True):
        assert item == sent | {"word": item["word"]}
    written = [item["word"] for item in found["words"]]
    assert written == list(restore_words(WORDS.split(), small))
    assert written[WORDS.split().index("dr.")].lower() == "dr."
    assert found["text"] == " ".join(word for word in written if word)


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(st.text(max_size=5), inner, max_size=2)
    ),
    max_leaves=4,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.builds(
            lambda word, other: other | {"word": word},
            st.sampled_from(WORDS.split()),
            st.dictionaries(
                st.text(max_size=5).filter(lambda name: name != "speaker"), JSON_VALUES
            ),
        ),
        max_size=4,
    )
)
def test_unknown_fields_come_back(client, items):
    found = ask(client, "/restore_words", words=items)["words"]
    assert [x | {"word": ""} for x in found] == [x | {"word": ""} for x in items]
    for item, sent in zip(found, items, strict=True):
        core = "".join(filter(str.isalnum, sent["word"])).lower()
        assert core in "".join(filter(str.isalnum, item["word"])).lower()


def test_another_speaker_begins_a_sentence(client):
    words = [
        {"word": word, "speaker": who} for word, who in zip("abba", "xxyy", strict=True)
    ]
    first, _, third, _ = ask(client, "/restore_words", words=words, casing="sentence")[
        "words"
    ]
    assert first["word"].startswith("A") and third["word"].startswith("B")
    assert (first["speaker"], third["speaker"]) == ("x", "y")


@pytest.mark.parametrize("word", ["", "two words", " ", 5])
def test_words_are_words(client, word):
    answer = client.post("/restore_words", json={"words": [{"word": word}]})
    assert "words[0].word" in check_error(answer, 422, "P157")


def test_batches_answer_as_single_requests_do(client):
    for path, items in (
        ("/restore", [{"text": WORDS}, {"text": "", "casing": "keep"}]),
        ("/correct", [{"text": "Well; he left"}]),
        ("/restore_words", [{"words": SPOKEN[:3]}, {"words": []}]),
    ):
        found = ask(client, f"{path}/batch", items=items)["items"]
        assert found == [ask(client, path, **item) for item in items]


def test_batches_have_the_limits_of_a_request(client):
    items = [{"text": "a" * 4000}] * 3
    check_error(client.post("/restore/batch", json={"items": items}), 413, "P158")


def test_settings_hold_for_one_request(client, small):
    plain = ask(client, "/restore", text=WORDS)["text"]
    kept = ask(client, "/restore", text=WORDS, marks=[], casing="keep")["text"]
    assert kept.replace(".", "").split() == WORDS.replace(".", "").split()
    assert ask(client, "/restore", text=WORDS, threshold=1.0)["text"] != plain
    assert ask(client, "/restore", text=WORDS)["text"] == plain
    text = "Well; Peter sold , bread, lemons and, onions"
    assert ask(client, "/correct", text=text)["corrections"]
    assert not ask(client, "/correct", text=text, threshold=1.0)["corrections"]


@pytest.mark.parametrize(
    "options, code",
    [
        ({"marks": ["§"]}, "P047"),
        ({"casing": "loud"}, "P157"),
        ({"threshold": 1.5}, "P157"),
        ({"existing": "error", "text": "Yes, no."}, "P045"),
        ({"casing": "truecase"}, "P075"),
    ],
)
def test_settings_that_cannot_be_used_are_named(client, options, code):
    body = {"text": "a text", **options}
    check_error(client.post("/restore", json=body), 422, code)


def test_other_sites_are_let_in_by_name(small, client):
    origin = {"Origin": "https://example.org"}
    name = "access-control-allow-origin"
    assert name not in client.get("/health", headers=origin).headers
    app = make_app(small, origins=["https://example.org"])
    open_ = type(client)(app, "http://localhost")
    assert open_.get("/health", headers=origin).headers[name] == origin["Origin"]
    other = {"Origin": "https://evil.example"}
    assert name not in open_.get("/health", headers=other).headers
    asked = origin | {
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "content-type",
    }
    assert open_.options("/restore", headers=asked).status_code == 200


def test_words_need_a_restorer(corrects):
    client = client_of(corrects)
    check_error(client.post("/restore_words", json={"words": []}), 404, "P152")
