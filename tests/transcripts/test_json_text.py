"""JSON that is edited in place."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_punct.transcripts.json_text import edited, read_json

ODD = """{ "a" : [ 1.50, 2E3 , {"b":"x\\u00e9", "c": null} ],
  "d":true}
"""


def test_json_only_what_is_edited_changes():
    assert edited(ODD, {}) == ODD
    new = edited(ODD, {(0, "a", 2, "b"): "é", (0, "d"): False})
    assert new == ODD.replace("x\\u00e9", "\\u00e9").replace("true", "false")
    assert edited(ODD, {(0, "a", 2, "b"): "xé"}) == ODD


def test_json_keys_are_added():
    new = edited('{"a": {"b": 1}}', {(0, "a", "c"): "x"})
    assert new == '{"a": {"b": 1, "c": "x"}}'
    lines = '{\n  "a": 1\n}'
    assert edited(lines, {(0, "b"): 2}) == '{\n  "a": 1,\n  "b": 2\n}'


def test_json_lists_keep_their_layout():
    text = json.dumps({"a": {"b": [1]}}, indent=4)
    new = edited(text, {(0, "a", "b"): [{"c": 1}, 2]})
    assert new == json.dumps({"a": {"b": [{"c": 1}, 2]}}, indent=4)


def test_json_several_documents():
    text = '\ufeff{"a": 1}\n{"a": 2}\n\n'
    assert read_json(text) == [{"a": 1}, {"a": 2}]
    assert edited(text, {(1, "a"): 3}) == text.replace("2", "3")
    with pytest.raises(ValueError):
        read_json('{"a": 1} so')


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=10,
)


def paths(value: Any, path: tuple = (0,)) -> list[tuple]:
    inner = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    return [path, *(p for key, item in inner for p in paths(item, (*path, key)))]


@given(VALUES, VALUES, st.data(), st.sampled_from([None, 2]), st.booleans())
def test_json_any_value_can_be_edited(value, new, data, indent, ascii):
    text = json.dumps(value, indent=indent, ensure_ascii=ascii)
    path = data.draw(st.sampled_from(paths(value)))
    documents = [value]
    place = documents
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = new
    assert json.loads(edited(text, {path: new})) == documents[0]
