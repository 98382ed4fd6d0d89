"""The application in this process, without a server."""

import json
import re
import threading
from concurrent.futures import ThreadPoolExecutor
from time import sleep

import pytest
import spacy
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from spacy_punct import rephrase
from spacy_punct.errors import PunctError
from spacy_punct.reading.bare import parse_words
from spacy_punct.rephrasing import edits
from spacy_punct.serve.app import make_app
from spacy_punct.serve.limits import Limits
from tests.serve.conftest import client_of

JSON = {"Content-Type": "application/json"}
PATHS = ("/restore", "/correct", "/underlying")

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
    "مرحبا، كيف الحال؟",
    "😀 well 😀, ok.",
]


def ask(client, path: str, **fields):
    answer = client.post(path, json=fields)
    assert answer.status_code == 200, answer.text
    return answer.json()


def check_error(answer, status: int, code: str) -> str:
    """The message of an answer that must be an error."""
    assert answer.status_code == status, answer.text
    error = answer.json()["error"]
    assert error["code"] == code, error
    assert len(error["message"]) < 700
    return error["message"]


def joined(pieces) -> str:
    return "".join(piece["text"] + piece["space"] for piece in pieces)


@pytest.mark.parametrize("text", TEXTS)
def test_restore_says_what_the_pipeline_does(client, small, text):
    doc = small(text)
    found = ask(client, "/restore", text=text)
    assert found["text"] == doc._.restored_text
    sentences = found["sentences"]
    assert all(joined(s["pieces"]) == s["text"] for s in sentences)
    if sentences:
        assert "".join(s["text"] for s in sentences) == found["text"]
    slots = [[]]
    for sentence in sentences:
        marks = {slot["slot"]: slot["marks"] for slot in sentence["slots"]}
        words = sentence["words"]
        slots[-1] = slots[-1] + marks.get(0, [])
        slots += [marks.get(i, []) for i in range(1, len(words) + 1)]
    assert slots == doc._.restored_slots or not sentences


def test_restored_marks_are_at_the_edge_of_who_put_them_there(client):
    n_explained = 0
    for text in TEXTS:
        for sentence in ask(client, "/restore", text=text)["sentences"]:
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


def test_restored_slots_have_alternatives_with_their_probabilities(client):
    slots = [
        slot
        for sentence in ask(client, "/restore", text=WORDS)["sentences"]
        for slot in sentence["slots"]
    ]
    assert any(slot["alternatives"] for slot in slots)
    for slot in slots:
        others = [other["probability"] for other in slot["alternatives"]]
        assert others == sorted(others, reverse=True)
        assert 0 <= slot["probability"] <= slot["probability"] + sum(others) <= 1.001
        assert slot["marks"] not in [other["marks"] for other in slot["alternatives"]]
        assert slot["marks"] or slot["probability"] < 0.8


@pytest.mark.parametrize("text", TEXTS)
def test_correct_says_what_the_pipeline_does(client, small, text):
    doc = small(text)
    found = ask(client, "/correct", text=text)
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


def test_correct_finds_something(client):
    assert ask(client, "/correct", text=TEXTS[1])["corrections"]


@pytest.mark.parametrize("text", TEXTS)
def test_underlying_without_edits_is_the_text_and_its_tree(client, text):
    found = ask(client, "/underlying", text=text)
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


def test_underlying_edits_are_those_of_rephrase(client, small):
    text = "If the rain stops, Anna will visit Dr. Hill, the old gardener."
    words = ask(client, "/underlying", text=text)["sentences"][0]["words"]
    (root,) = (word for word in words if word["head"] is None)
    own = [w for w in words if w["head"] is not None and words[w["head"]] is root]
    first, last = own[0]["token"], own[-1]["token"]
    order = sorted((w["token"] for w in [*own, root]), reverse=True)
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
        found = ask(client, "/underlying", text=text, edits=sent)
        assert found["text"].strip() == expected.text.strip(), sent
        assert found["text"] != text, sent


@pytest.mark.parametrize(
    ("edit", "code"),
    [
        ({"edit": "eat"}, "P157"),
        ({"edit": "move", "word": 0}, "P024"),
        ({"edit": "move", "word": 0, "position": 0, "after": 1}, "P024"),
        ({"edit": "delete", "word": 99}, "P141"),
        ({"edit": "permute", "word": 0, "order": [0, 0]}, "P144"),
    ],
)
def test_edits_that_cannot_be_made_are_refused(client, edit, code):
    body = {"text": "If the rain stops, Anna laughs.", "edits": [edit]}
    check_error(client.post("/underlying", json=body), 422, code)


def test_what_a_pipeline_cannot_do_is_said(corrects, that_corrects):
    that_corrects.remove_pipe("punctuation_corrector")
    for nlp, missing, about in (
        (corrects, ("/restore", "/underlying"), (False, True)),
        (that_corrects, ("/correct",), (True, False)),
    ):
        with client_of(nlp) as client:
            found = client.get("/about").json()
            assert (found["restores"], found["corrects"]) == about
            assert not set(missing) & set(client.get("/openapi.json").json()["paths"])
            for path in missing:
                check_error(client.post(path, json={"text": "a"}), 404, "P152")


def test_a_disabled_component_still_answers(small):
    with (
        small.select_pipes(disable="punctuation_corrector"),
        client_of(small) as client,
    ):
        assert client.get("/about").json()["corrects"]
        assert ask(client, "/correct", text=TEXTS[1])["text"]


def test_a_pipeline_without_punctuation_is_refused():
    with pytest.raises(PunctError, match="P166"):
        make_app(spacy.blank("en"))


def test_errors_of_the_pipeline_are_the_request_s(client, small, monkeypatch):
    restorer = small.get_pipe("punctuation_restorer")
    monkeypatch.setitem(restorer.cfg, "existing", "error")
    answer = client.post("/restore", json={"text": "Well, no."})
    check_error(answer, 422, "P045")


def test_failures_do_not_block_the_next_request(client, small, monkeypatch):
    restorer = small.get_pipe("punctuation_restorer")
    monkeypatch.setattr(restorer, "predict", lambda docs: 1 / 0)
    for _ in range(2):
        answer = client.post("/restore", json={"text": "well no"})
        assert "ZeroDivisionError" in check_error(answer, 500, "P163")
    assert ask(client, "/correct", text="Well, no.")


# HTTP


def test_unknown_paths_are_not_found(client):
    for path in ("/nothing", "/static/nothing.js", "/static/../app.py"):
        check_error(client.get(path), 404, "P152")
    for path in ("/static/%2e%2e/app.py", "/static/..%2fapp.py", "/" + "a" * 5000):
        check_error(client.get(path), 404, "P152")


def test_methods_are_checked(client):
    for method, path, allowed in (
        ("GET", "/restore", {"POST"}),
        ("OPTIONS", "/underlying", {"POST"}),
        ("POST", "/", {"GET", "HEAD"}),
        ("DELETE", "/about", {"GET", "HEAD"}),
        ("POST", "/static/main.js", {"GET", "HEAD"}),
    ):
        answer = client.request(method, path)
        check_error(answer, 405, "P153")
        assert set(answer.headers["Allow"].split(", ")) == allowed


@pytest.mark.parametrize("type", ["text/plain", "", "multipart/form-data"])
def test_only_json_is_read(client, type):
    answer = client.post("/restore", content=b"{}", headers={"Content-Type": type})
    check_error(answer, 415, "P162")


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("localhost", 200),
        ("LOCALHOST:80", 200),
        ("127.0.0.1:8080", 200),
        ("[::1]", 200),
        ("[::1]:80", 200),
        ("evil.example", 400),
        ("127.0.0.1.evil.example:80", 400),
        ("localhost.evil.example", 400),
        ("", 400),
    ],
)
def test_other_names_for_this_machine_are_refused(client, host, status):
    assert client.get("/about", headers={"Host": host}).status_code == status


def test_bodies_are_read_up_to_their_limit(client):
    limits = Limits()
    for size in (limits.max_bytes + 1, 1_000_000):
        answer = client.post("/restore", content=b"a" * size, headers=JSON)
        check_error(answer, 413, "P155")
    parts = iter([b'{"text": ', b'"well no"}'])
    assert client.post("/restore", content=parts, headers=JSON).status_code == 200
    check_error(client.post("/restore", json={"text": "a" * 10_001}), 413, "P158")
    escaped = json.dumps({"text": "😀" * 10_001})
    answer = client.post("/restore", content=escaped, headers=JSON)
    check_error(answer, 413, "P158")


# One at a time


class Gate:
    """Lets a pipeline begin to answer, but not end."""

    def __init__(self, nlp, monkeypatch) -> None:
        self.begun, self.open = threading.Semaphore(0), threading.Event()
        self.active = self.most = 0
        pipe = nlp.get_pipe("punctuation_restorer")
        self._predict = pipe.predict
        monkeypatch.setattr(pipe, "predict", self.predict)

    def predict(self, docs):
        self.active += 1
        self.most = max(self.most, self.active)
        self.begun.release()
        assert self.open.wait(30)
        self.active -= 1
        return self._predict(docs)


def test_requests_wait_and_too_many_are_told_to_come_back(small, monkeypatch):
    gate = Gate(small, monkeypatch)
    limits = Limits(max_waiting=3)
    body = {"text": "well no"}
    with client_of(small, limits) as client, ThreadPoolExecutor(4) as pool:
        first = [pool.submit(client.post, "/restore", json=body) for _ in range(4)]
        assert gate.begun.acquire(timeout=30)
        while client.get("/health").json() != {"status": "ok", "waiting": 3}:
            sleep(0.005)
        answer = client.post("/restore", json=body)
        check_error(answer, 503, "P160")
        assert int(answer.headers["Retry-After"]) > 0
        gate.open.set()
        assert [answer.result().status_code for answer in first] == [200] * 4
        assert gate.most == 1
        assert client.get("/health").json()["waiting"] == 0


def test_nobody_waits_too_long(small, monkeypatch):
    gate = Gate(small, monkeypatch)
    limits = Limits(wait_seconds=0.05)
    body = {"text": "well no"}
    with client_of(small, limits) as client, ThreadPoolExecutor(1) as pool:
        first = pool.submit(client.post, "/restore", json=body)
        assert gate.begun.acquire(timeout=30)
        check_error(client.post("/restore", json=body), 503, "P160")
        gate.open.set()
        assert first.result().status_code == 200
        assert client.post("/restore", json=body).status_code == 200


# OpenAPI


def test_openapi_describes_every_route(client):
    found = client.get("/openapi.json").json()
    described = {
        (path, method.upper())
        for path, methods in found["paths"].items()
        for method in methods
    }
    routes = {
        (route.path, method)
        for route in client.app.routes
        for method in getattr(route, "methods", None) or ()
        if method != "HEAD" and route.path not in ("/", "/openapi.json")
    }
    assert described == routes
    text = json.dumps(found)
    names = set(re.findall(r"#/components/schemas/(\w+)", text))
    assert names <= set(found["components"]["schemas"])


def test_answers_are_as_openapi_says(client):
    found = client.get("/openapi.json").json()
    schemas = found["components"]["schemas"]

    def check(schema, value) -> None:
        schema = (
            schemas[schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema
        )
        if "anyOf" in schema:
            if value is not None:
                check(schema["anyOf"][0], value)
        elif schema["type"] == "object" and "properties" in schema:
            assert set(schema.get("required", ())) <= set(value)
            assert set(value) <= set(schema["properties"])
            for name, inner in value.items():
                check(schema["properties"][name], inner)
        elif schema["type"] == "array":
            for inner in value:
                check(schema["items"], inner)
        else:
            kinds = {"string": str, "integer": int, "number": float, "boolean": bool}
            assert isinstance(value, kinds.get(schema["type"], dict))

    def body_of(path: str, text: str) -> dict:
        if path.endswith("/batch"):
            return {"items": [body_of(path.removesuffix("/batch"), text)]}
        if path == "/restore_words":
            return {"words": [{"word": word} for word in text.split()]}
        return {"text": text}

    for path in found["paths"]:
        (operation,) = found["paths"][path].values()
        ((kind, media),) = operation["responses"]["200"]["content"].items()
        if "requestBody" in operation:
            for text in TEXTS:
                (media_type,) = operation["requestBody"]["content"]
                how = "json" if media_type == "application/json" else "data"
                answer = client.post(path, **{how: body_of(path, text)})
                assert answer.headers["Content-Type"] == kind
                lines = answer.text.splitlines() if "ndjson" in kind else [answer.text]
                for line in lines:
                    check(media["schema"], json.loads(line))
        else:
            check(media["schema"], client.get(path).json())


# Anything at all

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(max_size=8), inner, max_size=4)
    ),
    max_leaves=8,
)
any_edits = st.dictionaries(
    st.sampled_from(["edit", "word", "words", "order", "position", "before", "x"]),
    st.sampled_from(["delete", "move", "permute", "keep", "extract"])
    | st.integers(-3, 12)
    | st.lists(st.integers(-1, 9), max_size=4)
    | json_values,
    max_size=4,
)
bodies = st.fixed_dictionaries(
    {},
    optional={
        "text": st.text(max_size=40) | json_values,
        "edits": st.lists(any_edits, max_size=3) | json_values,
        "txt": json_values,
    },
)


@settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    path=st.sampled_from(PATHS),
    content=st.binary(max_size=100) | (bodies | json_values).map(json.dumps),
)
def test_any_body_has_an_answer(client, path, content):
    answer = client.post(path, content=content, headers=JSON)
    assert answer.status_code in (200, 400, 422), answer.text
    assert ("error" in answer.json()) == (answer.status_code != 200)


@settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(text=st.text(st.characters(exclude_categories=["Cs"]), max_size=60))
def test_any_text_has_an_answer(client, text):
    for path in PATHS:
        assert isinstance(ask(client, path, text=text)["text"], str)
