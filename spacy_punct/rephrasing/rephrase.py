"""Sentences in another word order, and the punctuation they then need (section 5.3).

Punctuation is not edited. What is edited is the underlying tree, in which each
constituent has its punctemes: they go where it goes, and the channel makes a surface of
what meets in the new sentence.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from spacy.language import Language
from spacy.tokens import Doc

from spacy_punct.data.tree import Slots
from spacy_punct.errors import Errors, PunctError
from spacy_punct.model.channel import Channel
from spacy_punct.pipe.base import find_pipe
from spacy_punct.reading.bare import parse_words, parsed_well
from spacy_punct.reading.pieces import (
    PieceData,
    restored_doc,
    truecased,
    without_second_dots,
    write_text,
)
from spacy_punct.reading.sentences import BareSentence
from spacy_punct.rephrasing.edits import AnyEdit, NoSuchWordError, steps_of
from spacy_punct.rephrasing.underlying import (
    UnderlyingTree,
    recover,
    regenerate,
)
from spacy_punct.restorer.component import (
    PunctuationRestorer,
    Restoration,
)
from spacy_punct.text.casing import capitalised, case_of, has_capital, recased
from spacy_punct.text.pairs import balanced, is_balanced
from spacy_punct.text.writer import Writer, quotes_of
from spacy_punct.truecaser.forms import is_capital_anywhere

_CAPITAL_NOUNS = frozenset({"de", "lb"})
"""Languages whose nouns are written with capitals."""


def rephrase(
    doc: Doc | str,
    edit: AnyEdit,
    restorer: Language | PunctuationRestorer,
    *,
    seed: int | None = None,
) -> Doc:
    """Edit the sentences of a text, and punctuate the result.

    Words do not change, except for the case of those that begin a sentence or used to.
    Sentences that the edit leaves alone stay as they were, and so does what stands
    between two words where nothing changed.

    doc (Doc | str): A text with its punctuation, or a parsed Doc. With a pipeline, the
        words of a text are parsed without their marks, because parsers trained for
        restoring know none; so are those of a Doc whose marks were parsed like words.
    edit (AnyEdit): See `spacy_punct.rephrasing.edits`, or any callable from an
        `UnderlyingTree` to an `UnderlyingTree`. It applies to every sentence; an edit
        of a word applies to every sentence that has the word.
    restorer (Language | PunctuationRestorer): What knows how punctuation works: a
        restorer, or a pipeline that has one.
    seed (int | None): A seed to draw the new punctuation at random; None for the most
        probable.
    RETURNS (Doc): The new text, with its marks as tokens. Words keep their annotation,
        and `token._.source_index` says where they were.
    """
    pipe = restorer_of(restorer)
    if isinstance(doc, str):
        if not isinstance(restorer, Language):
            raise PunctError(Errors.P150)
        doc = parse_words(restorer, doc)
    elif isinstance(restorer, Language):
        doc = parsed_well(doc, restorer)
    sentences = rephrased_sentences(doc, edit, pipe, seed=seed)
    return restored_doc(doc, rephrased_pieces(doc, sentences, pipe))


def rephrased_sentences(
    doc: Doc, edit: AnyEdit, pipe: PunctuationRestorer, *, seed: int | None = None
) -> list[Restoration]:
    """The sentences of a text after an edit, with their underlying pairs.

    doc (Doc), edit (AnyEdit), seed (int | None): See `rephrase`.
    pipe (PunctuationRestorer): What knows how punctuation works.
    RETURNS (list[Restoration]): The sentences.
    """
    rng = None if seed is None else np.random.default_rng(seed)
    read = pipe.explain(doc)
    before = [
        recover(
            sentence.tree.projective(),
            pairs,
            sentence.tree.observed or (),
            pipe.punctuation.inventory,
            sentence.texts,
            sentence.positions,
        )
        for sentence, pairs in read
    ]
    after = before
    for step in steps_of(edit):
        after = _edited(after, step)
    return [
        _rephrased(doc, sentence, old, new, pipe.channel, rng)
        for (sentence, _), old, new in zip(read, before, after, strict=True)
    ]


def rephrased_pieces(
    doc: Doc, sentences: Sequence[Restoration], pipe: PunctuationRestorer
) -> list[PieceData]:
    """Rephrased sentences as they are written, with the quotes of the text."""
    writer = Writer(pipe.spacing, quotes_of(doc.text))
    written = [(s.source, s.slots, s.glyphs) for s in sentences]
    return write_text(doc, written, writer, "keep")


def restorer_of(nlp: Language | PunctuationRestorer) -> PunctuationRestorer:
    """The restorer of a pipeline."""
    if not isinstance(nlp, Language):
        return nlp
    if (found := find_pipe(nlp, PunctuationRestorer)) is None:
        names = ", ".join(nlp.pipe_names) or "nothing"
        raise PunctError(Errors.P052.format(model=nlp.meta["name"], names=names))
    return found


def _edited(trees: Sequence[UnderlyingTree], step: AnyEdit) -> list[UnderlyingTree]:
    """The trees after an edit that at least one of them allows."""
    result: list[UnderlyingTree] = []
    missing: list[NoSuchWordError] = []
    for tree in trees:
        try:
            edited = step(tree)
        except NoSuchWordError as error:
            missing.append(error)
            edited = tree
        if not isinstance(edited, UnderlyingTree):
            raise PunctError(Errors.P145.format(given=type(edited).__name__))
        if new := set(edited.sources) - set(tree.sources):
            raise PunctError(Errors.P145.format(given=f"words numbered {new}"))
        result.append(edited)
    if missing and len(missing) == len(trees):
        raise missing[0]
    return result


def _rephrased(
    doc: Doc,
    source: BareSentence,
    before: UnderlyingTree,
    after: UnderlyingTree,
    channel: Channel,
    rng: np.random.Generator | None,
) -> Restoration:
    place = {position: i for i, position in enumerate(source.positions)}
    order = [place[position] for position in after.sources]
    old, new = before.strings, after.strings
    if is_balanced(old):
        new = balanced(new)
    was = _same_slots(order, len(before))
    was = [None if i is None or new[k] != old[i] else i for k, i in enumerate(was)]
    texts = _texts(doc, source, order)
    slots = _surface(source, was, regenerate(new, channel, rng), texts)
    if is_balanced(source.marks) and not is_balanced(slots):
        drawn = regenerate(new, channel, rng, keep_brackets=True)
        slots = _surface(source, was, drawn, texts)
    sentence = replace(
        source,
        tree=replace(after.tree, words=texts),
        positions=after.sources,
        texts=texts,
        marks=tuple(() if i is None else source.marks[i] for i in was),
        glyphs={
            (k, n): source.glyphs[i, n]
            for k, i in enumerate(was)
            if i is not None
            for n in range(len(source.marks[i]))
        },
        white=tuple((" ",) if i is None else source.white[i] for i in was),
    )
    certain = (1.0,) * len(slots)
    return Restoration(
        sentence, slots, sentence.glyphs, certain, explain=lambda _: after.pairs
    )


def _same_slots(order: Sequence[int], n: int) -> list[int | None]:
    """For each slot, the one that was between the same words, if there was one."""
    left, right = [-1, *order], [*order, n]
    return [b if b == a + 1 else None for a, b in zip(left, right, strict=True)]


def _surface(
    source: BareSentence,
    was: Sequence[int | None],
    drawn: Slots,
    texts: Sequence[str],
) -> Slots:
    """The marks as they were where nothing changed, and new ones elsewhere."""
    drawn = without_second_dots(texts, drawn)
    return tuple(
        slot if i is None else source.marks[i]
        for i, slot in zip(was, drawn, strict=True)
    )


def _texts(doc: Doc, source: BareSentence, order: Sequence[int]) -> tuple[str, ...]:
    """The words in their new order, with the capital where the sentence begins."""
    texts = [source.texts[i] for i in order]
    if order[0] == 0:
        return tuple(texts)
    language = doc.vocab.lang
    first = source.texts[0]
    if 0 in order:
        texts[order.index(0)] = _mid_sentence(doc, source, first)
    if case_of(first, language) is None or has_capital(first):
        texts[0] = capitalised(texts[0], language)
    return tuple(texts)


def _mid_sentence(doc: Doc, source: BareSentence, first: str) -> str:
    """How the former first word of a sentence is written in the middle of one."""
    token, language = doc[source.positions[0]], doc.vocab.lang
    # Truecasers find capitals, but tend to believe those that are there already.
    if (form := truecased(token)) is not None and not has_capital(form):
        return form
    is_shout = not any(map(str.islower, "".join(source.texts)))
    is_name = is_capital_anywhere(token, is_shout=False) or is_shout
    is_noun = language in _CAPITAL_NOUNS and token.pos_ == "NOUN"
    if is_name or is_noun or case_of(first, language) != "title":
        return first
    return recased(first, "lower", language)
