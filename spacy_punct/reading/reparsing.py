"""Trees of the words alone, for text whose marks would mislead a parser."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from spacy.tokens import Doc

from spacy_punct.reading.sentences import WORDS_ONLY, ParsedSentence, parsed_sentences

Pipe = Callable[[Iterable[Doc]], Iterable[Doc]]


def reparsed(
    docs: Sequence[Doc],
    sentences: Sequence[Sequence[ParsedSentence]],
    pipes: Sequence[Pipe],
    name: str,
) -> list[list[ParsedSentence]]:
    """The sentences of Docs with the trees that a parser gives their words.

    docs (Sequence[Doc]): The Docs.
    sentences (Sequence[Sequence[ParsedSentence]]): The sentences of each, which stay
        what they are but for tags, heads and relations.
    pipes (Sequence[Pipe]): What parses Docs.
    name (str): How messages call the component.
    RETURNS (list[list[ParsedSentence]]): The sentences.
    """
    stream: Iterable[Doc] = [
        _words(*pair) for pair in zip(docs, sentences, strict=True)
    ]
    for pipe in pipes:
        stream = pipe(stream)
    result = []
    for found, doc in zip(sentences, stream, strict=True):
        new = parsed_sentences(doc, name)
        result.append(
            [
                replace(
                    sentence,
                    tree=replace(
                        sentence.tree,
                        tags=other.tree.tags,
                        heads=other.tree.heads,
                        relations=other.tree.relations,
                    ),
                )
                for sentence, other in zip(found, new, strict=True)
            ]
        )
    return result


def _words(doc: Doc, sentences: Sequence[ParsedSentence]) -> Doc:
    """The words of a Doc, cut into the same sentences."""
    return Doc(
        doc.vocab,
        words=[word for sentence in sentences for word in sentence.tree.words],
        sent_starts=[
            i == 0 for sentence in sentences for i in range(len(sentence.tree))
        ],
        user_data={WORDS_ONLY: True},
    )
