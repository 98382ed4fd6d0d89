import pytest

from scripts.parallel import MarkedTokens, marked_tokens, read_parallel
from spacy_punct.errors import PunctError


def marks(text: str, *quotes: str) -> str:
    found = marked_tokens(text.split(), set(quotes))
    return " ".join(mark or "." * (token == ".") or "w" for token, mark in shown(found))


def shown(found: MarkedTokens) -> list[tuple[str, str]]:
    return list(zip(found.tokens, found.marks, strict=True))


@pytest.mark.parametrize(
    "text, expected",
    [
        ("He said , yes .", "w w , w ."),
        ('" Yes , " he said .', "`` w , '' w w ."),
        ("`` Yes , '' he said .", "`` w , '' w w ."),
        ("“ Yes , ” he said .", "`` w , '' w w ."),
        ("Yes , '' he said `` no .", "w , '' w w `` w ."),
        ("'' Yes '' he said", "`` w '' w w"),
        ("' Yes ' he said", "` w ' w w"),
        ("twenty years ' time", "w w w w"),
        ("the ' old students ' here", "w ` w w ' w"),
        ("do n't , it 's 5 %", "w w , w w w w"),
        (":-) - ... ?! e.g.", "w - ... ?! w"),
    ],
)
def test_marks_and_words(text, expected):
    assert marks(text) == expected


def test_quotes_of_the_text_tell_what_closes():
    assert marks("Yes '' he said") == "w `` w w"
    assert marks("Yes '' he said", "``") == "w '' w w"


def test_words_and_slots():
    found = marked_tokens(['"', "Well", ",", '"', "he", "said", "..."])
    assert found.words == ("Well", "he", "said")
    assert found.slots == (("``",), (",", "''"), (), ("...",))


@pytest.fixture
def files(tmp_path):
    """A text and two corrections of it."""
    lines = {
        "src": ["I think that it rains", "He go home .", "", "yes '' .", "Stop , now"],
        "ref0": ["I think that it rains .", "He goes home .", "", "`` yes '' .", ". ."],
        "ref1": ["i think , that it rains .", "He went .", "A", "Yes .", "stop now"],
    }
    paths = []
    for name, content in lines.items():
        paths.append(tmp_path / f"a.{name}")
        paths[-1].write_text("".join(f"{line}\n" for line in content), "utf-8")
    return paths


def test_pairs_differ_in_punctuation_and_case_alone(files):
    text = read_parallel(files[0], files[1:])
    first, second, third = text.sentences
    assert first.source.tokens == ("I", "think", "that", "it", "rains")
    assert first.source.slots == ((),) * 6
    assert first.references == (
        ((), (), (), (), (), (".",)),
        ((), (), (",",), (), (), (".",)),
    )
    # That '' closes is known from the other file.
    assert second.source.slots == ((), ("''", "."))
    assert second.references == ((("``",), ("''", ".")), ((), (".",)))
    assert third.references == (((), (), ()),)
    assert (text.n_sents, text.n_pairs, text.n_pairs_used) == (5, 10, 5)


def test_bad_files(files, tmp_path):
    short = tmp_path / "short"
    short.write_text("one\n")
    with pytest.raises(PunctError, match=r"P136.*1 lines.*5"):
        read_parallel(files[0], [files[1], short])
    other = tmp_path / "other"
    other.write_text("x\n" * 5)
    with pytest.raises(PunctError, match="P137"):
        read_parallel(files[0], [other])
    other.write_bytes(b"caf\xe9\n" * 5)
    with pytest.raises(PunctError, match="P003"):
        read_parallel(files[0], [other])
