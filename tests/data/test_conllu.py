from dataclasses import replace

import pytest

from spacy_punct.data.conllu import (
    format_conllu,
    parse_conllu,
    read_conllu,
)
from spacy_punct.errors import PunctError

SENTENCE = """\
# sent_id = 1
# text = Don't go, he said.
1-2\tDon't\t_\t_\t_\t_\t_\t_\t_\t_
1\tDo\tdo\tAUX\tVB\t_\t3\taux\t_\t_
2\tn't\tnot\tPART\tRB\t_\t3\tadvmod\t_\t_
3\tgo\tgo\tVERB\tVB\t_\t6\tccomp\t_\tSpaceAfter=No|X=1
3.1\tgone\tgo\tVERB\t_\t_\t_\t_\t_\t_
4\t,\t,\tPUNCT\t,\t_\t3\tpunct\t_\t_
5\the\the\tPRON\tPRP\t_\t6\tnsubj\t_\t_
6\tsaid\tsay\tVERB\tVBD\t_\t0\troot\t_\tSpaceAfter=No
7\t.\t.\tPUNCT\t.\t_\t6\tpunct\t_\t_
"""


def parse(text: str):
    return list(parse_conllu(text.splitlines(), name="f"))


def test_conllu_reads_tokens_ranges_and_comments():
    (sentence,) = parse(SENTENCE)
    assert [t.form for t in sentence.tokens] == [
        "Do",
        "n't",
        "go",
        ",",
        "he",
        "said",
        ".",
    ]
    assert [t.head for t in sentence.tokens] == [3, 3, 6, 3, 6, 0, 6]
    assert [t.space_after for t in sentence.tokens][2:6] == [False, True, True, False]
    (range_,) = sentence.multiwords
    assert (range_.first, range_.last, range_.form) == (1, 2, "Don't")
    assert range_.space_after
    assert sentence.text == "Don't go, he said."
    assert sentence.where == "f, line 3"


def test_conllu_separates_sentences_with_or_without_a_last_blank_line():
    assert len(parse(SENTENCE + "\n\n" + SENTENCE)) == 2
    assert len(parse("\n\n" + SENTENCE + "\n")) == 1
    windows = SENTENCE.replace("\n", "\r\n")
    assert parse(windows) == parse(SENTENCE)


@pytest.mark.parametrize(
    ("line", "replacement", "code", "number"),
    [
        (4, "2\tn't\tnot", "P001", 5),
        (4, "2 n't not PART RB _ 3 advmod _ _", "P001", 5),
        (4, "7\tn't\tnot\tPART\tRB\t_\t3\tadvmod\t_\t_", "P002", 5),
        (4, "2\tn't\tnot\tPART\tRB\t_\tx\tadvmod\t_\t_", "P002", 5),
        (4, "2\tn't\tnot\tPART\tRB\t_\t-1\tadvmod\t_\t_", "P002", 5),
        (2, "2-1\tDon't\t_\t_\t_\t_\t_\t_\t_\t_", "P002", 3),
        (2, "x-2\tDon't\t_\t_\t_\t_\t_\t_\t_\t_", "P002", 3),
    ],
)
def test_conllu_names_file_and_line_of_what_is_wrong(line, replacement, code, number):
    lines = SENTENCE.splitlines()
    lines[line] = replacement
    with pytest.raises(PunctError, match=rf"\[{code}\] f, line {number}:"):
        list(parse_conllu(lines, name="f"))


def test_conllu_rejects_comments_without_tokens():
    with pytest.raises(PunctError, match=r"\[P004\] f, line 13"):
        parse(SENTENCE + "\n# a comment\n")


def test_conllu_missing_and_undecodable_files(tmp_path):
    with pytest.raises(PunctError, match=r"\[P005\].*nothing.conllu"):
        list(read_conllu(tmp_path / "nothing.conllu"))
    path = tmp_path / "latin1.conllu"
    path.write_bytes("# text = caf\xe9\n".encode("latin-1"))
    with pytest.raises(PunctError, match=r"\[P003\].*latin1.conllu"):
        list(read_conllu(path))


def test_conllu_is_written_as_it_was_read(tmp_path, sample):
    path = tmp_path / "new.conllu"
    sentences = list(read_conllu(sample / "dev.conllu")) + parse(SENTENCE)
    path.write_text("".join(map(format_conllu, sentences)), encoding="utf8")
    assert list(read_conllu(path)) == sentences
    without_empty_node = [x for x in SENTENCE.splitlines() if not x.startswith("3.1")]
    assert format_conllu(*parse(SENTENCE)).splitlines() == [*without_empty_node, ""]


@pytest.mark.parametrize("form", ["a\tb", "a\nb", "a\r"])
def test_conllu_cannot_write_what_would_be_read_otherwise(form):
    (sentence,) = parse(SENTENCE)
    token = replace(sentence.tokens[0], form=form)
    with pytest.raises(PunctError, match="P007"):
        format_conllu(replace(sentence, tokens=(token,), multiwords=()))
    with pytest.raises(PunctError, match="P007"):
        format_conllu(replace(sentence, comments=(f"text = {form}\n",)))
