"""Words and marks as they are written, and the `Doc` that is made of them."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, islice, zip_longest
from typing import Any

from spacy.tokens import Doc, Span, Token

from spacy_punct.data.marks import ABBREVIATION_DOT, TERMINALS, ends_sentence, is_end
from spacy_punct.data.tree import Puncteme, Slots
from spacy_punct.errors import Errors, PunctError
from spacy_punct.reading.attributes import register
from spacy_punct.reading.sentences import BareSentence, truecased_words
from spacy_punct.text.casing import Casing, cased
from spacy_punct.text.writer import Gap, Piece, Writer

register(Token, source_index={"default": None})

PieceData = list[Any]
"""Text, white space after it, number of the sentence, and position of the source
token (None for a mark)."""
Glyphs = Mapping[tuple[int, int], str]
"""(slot, position) -> how a mark is written."""


def restored_doc(source: Doc, pieces: Sequence[PieceData]) -> Doc:
    """A new Doc with the restored marks as tokens.

    Words keep their annotation: part of speech, tag, lemma, morphology, head,
    relation, entities, span groups and sentences. A mark is a PUNCT that hangs, by
    the relation punct, on the lowest word above both its neighbours.
    `token._.source_index` leads back from each word to its token in the source.

    source (Doc): The Doc that was restored.
    pieces (Sequence[PieceData]): The words and marks as written.
    RETURNS (Doc): The new Doc; it shares the vocabulary.
    """
    if any(i is not None and i >= len(source) for *_, i in pieces):
        raise PunctError(Errors.P057)
    words: list[str] = []
    spaces: list[bool] = []
    origin: list[int | None] = []
    sentence: list[int] = []
    for text, white, number, index in pieces:
        if text:
            words.append(text)
            spaces.append(white.startswith(" "))
            origin.append(index)
            sentence.append(number)
        if extra := white[1:] if white.startswith(" ") and text else white:
            words.append(extra)
            spaces.append(False)
            origin.append(None)
            sentence.append(number)
    place = {index: k for k, index in enumerate(origin) if index is not None}
    doc = Doc(
        source.vocab,
        words=words,
        spaces=spaces,
        **_columns(source, words, origin, sentence),
    )
    for k, index in enumerate(origin):
        doc[k]._.source_index = index
    if source.has_annotation("ENT_IOB"):
        moved = (_moved(span, doc, place, origin) for span in source.ents)
        doc.set_ents([span for span in moved if span is not None], default="outside")
    for name, group in source.spans.items():
        moved = (_moved(span, doc, place, origin) for span in group)
        doc.spans[name] = [span for span in moved if span is not None]
    return doc


def _columns(
    source: Doc, words: Sequence[str], origin: Sequence[int | None], sentence: list[int]
) -> dict[str, Any]:
    """The arguments of `Doc` for each annotation that the source has."""
    tokens = [None if index is None else source[index] for index in origin]
    read = {
        "pos": ("POS", "pos_"),
        "tags": ("TAG", "tag_"),
        "lemmas": ("LEMMA", "lemma_"),
        "morphs": ("MORPH", "morph"),
    }
    columns: dict[str, Any] = {
        name: ["" if t is None else str(getattr(t, attribute)) for t in tokens]
        for name, (flag, attribute) in read.items()
        if source.has_annotation(flag)
    }
    kinds = ["SPACE" if word.isspace() else "PUNCT" for word in words]
    if "pos" in columns:
        columns["pos"] = [
            kind if t is None else pos
            for t, pos, kind in zip(tokens, columns["pos"], kinds, strict=True)
        ]
    if source.has_annotation("DEP"):
        heads = _heads(source, origin, sentence)
        columns["heads"] = heads
        columns["deps"] = [
            ("dep" if kind == "SPACE" else "punct")
            if t is None
            else "ROOT"
            if head == k
            else t.dep_
            for k, (t, head, kind) in enumerate(zip(tokens, heads, kinds, strict=True))
        ]
    return columns


def _heads(
    source: Doc, origin: Sequence[int | None], sentence: Sequence[int]
) -> list[int]:
    """Positions of the heads; the root of a sentence is its own."""
    place = {index: k for k, index in enumerate(origin) if index is not None}
    last: dict[int, int] = {}
    before: list[int | None] = []
    for index, number in zip(origin, sentence, strict=True):
        before.append(last.get(number))
        if index is not None:
            last[number] = index
    first: dict[int, int] = {}
    heads: list[int] = []
    for k in reversed(range(len(origin))):
        index, number = origin[k], sentence[k]
        head: Token | None
        if index is not None:
            head = source[index].head
            first[number] = index
        else:
            head = _above(source, before[k], first.get(number))
        while head is not None and head.i not in place:
            head = None if head.head == head else head.head
        heads.append(k if head is None else place[head.i])
    heads.reverse()
    roots: dict[int, int] = {}
    for k, (index, number) in enumerate(zip(origin, sentence, strict=True)):
        if index is not None and heads[k] == k:
            heads[k] = roots.setdefault(number, k)
    return [
        roots.get(number, k) if head == k else head
        for k, (head, number) in enumerate(zip(heads, sentence, strict=True))
    ]


def _above(source: Doc, left: int | None, right: int | None) -> Token | None:
    """The lowest token above both neighbours of a mark: so no arcs cross."""
    neighbours = [source[i] for i in (left, right) if i is not None]
    chains = [[token, *token.ancestors] for token in neighbours]
    if len(chains) < 2:
        return chains[0][-1] if chains else None
    shared = {token.i for token in chains[1]}
    return next((token for token in chains[0] if token.i in shared), None)


def _moved(
    span: Span, doc: Doc, place: dict[int, int], origin: Sequence[int | None]
) -> Span | None:
    """The span over the same words of the new Doc; None if it has none of them, or if
    others stand between them now."""
    where = [place[t.i] for t in span if t.i in place]
    if not where:
        return None
    first, end = min(where), max(where) + 1
    inside = range(span.start, span.end)
    if any(i is not None and i not in inside for i in origin[first:end]):
        return None
    return Span(
        doc,
        first,
        end,
        label=span.label,
        kb_id=span.kb_id,
        span_id=span.id,
    )


def write_sentence(
    source: BareSentence,
    slots: Slots,
    words: Sequence[str],
    writer: Writer,
    glyphs: Glyphs,
    after: str = "",
) -> list[Piece]:
    """The words and marks of a sentence, as written.

    source (BareSentence): The sentence as it was.
    slots (Slots): Its marks now.
    words (Sequence[str]): How its words are written.
    writer (Writer): How to write.
    glyphs (Glyphs): How marks that stayed are written.
    after (str): White space after it.
    RETURNS (list[Piece]): The pieces.
    """
    return writer.write(
        words,
        slots,
        tags=source.tree.tags,
        gaps=[_gap(source, i) for i in range(len(source.white))],
        glyphs=glyphs,
        white={
            i: white
            for i, white in enumerate(source.white)
            if source.marks[i] and slots[i] == source.marks[i]
        },
        after=after,
    )


def write_text(
    doc: Doc,
    sentences: Sequence[tuple[BareSentence, Slots, Glyphs]],
    writer: Writer,
    casing: Casing,
) -> list[PieceData]:
    """The words and marks of a whole text, as written.

    doc (Doc): The source.
    sentences (Sequence[tuple]): Its sentences as they were, their marks now, and how
        marks that stayed are written.
    writer (Writer), casing (Casing): How to write.
    RETURNS (list[PieceData]): The pieces. If there are no words, the source's tokens.
    """
    if not sentences:
        return [[token.text, token.whitespace_, 0, token.i] for token in doc]
    forms = None
    if casing in ("auto", "truecase"):
        found = [source.forms for source, *_ in sentences]
        if None not in found:
            forms = [form for known in found for form in known or ()]
        elif casing == "truecase":
            raise PunctError(Errors.P075)
    parts, added = _parts([(source, slots) for source, slots, _ in sentences])
    words = chain.from_iterable(
        cased(parts, casing, writer.spacing.language, forms, added)
    )
    pieces: list[PieceData] = []
    if before := sentences[0][0].before:
        pieces.append(["", before, 0, None])
    for number, (source, slots, glyphs) in enumerate(sentences):
        after = source.after
        if number < len(sentences) - 1 and after in ("", " "):
            after = writer.space
        own = list(islice(words, len(source.texts)))
        for piece in write_sentence(source, slots, own, writer, glyphs, after):
            token = None if piece.source is None else source.positions[piece.source]
            pieces.append([piece.text, piece.space, number, token])
    return pieces


def _parts(
    sentences: Sequence[tuple[BareSentence, Slots]],
) -> tuple[list[Sequence[str]], set[int]]:
    """The words that each begin with a capital, as sentences or inside them.

    RETURNS (tuple[list[Sequence[str]], set[int]]): The words, and which of their lists
        begin after an end that was not there before.
    """
    parts: list[Sequence[str]] = []
    added: set[int] = set()
    words: list[str] = []
    for (source, slots), following in zip_longest(sentences, sentences[1:]):
        start = 0
        for i, (slot, before) in enumerate(zip(slots, source.marks, strict=True)):
            is_last = i == len(source.texts)
            goes_on = not i or not any(source.white[i]) or not ends_sentence(slot)
            if is_last:
                goes_on = following is not None and _runs_on(source, slots, following)
            elif goes_on:
                continue
            words += source.texts[start:i]
            start = i
            if goes_on:
                continue
            parts.append(words)
            words = []
            if not (TERMINALS.isdisjoint(slot) or TERMINALS & {*before}):
                added.add(len(parts))
    return parts, added


def _runs_on(
    source: BareSentence, slots: Slots, following: tuple[BareSentence, Slots]
) -> bool:
    """Whether there is no more than a comma, or the like, before the next sentence."""
    is_apart = "\n" in source.after or bool(following[1][0])
    return bool(slots[-1]) and not any(map(is_end, slots[-1])) and not is_apart


def truecased(token: Token) -> str | None:
    """How the truecaser writes a token mid-sentence; None if it did not see it."""
    forms = truecased_words([token])
    return None if forms is None else forms[0]


def joined_slots(sentences: Iterable[Slots]) -> list[Puncteme]:
    """The slots of a text: where two sentences meet, those of both."""
    slots: list[Puncteme] = [()]
    for first, *others in sentences:
        slots[-1] += first
        slots += others
    return slots


def without_second_dots(words: Sequence[str], slots: Slots) -> Slots:
    """The slots without the dots that words such as `etc.` bring along."""
    result = list(slots)
    for i, word in enumerate(words, start=1):
        if word.endswith(".") and len(word) > 1:
            kept = tuple(m for m in result[i] if m != ABBREVIATION_DOT)
            result[i] = kept[1:] if kept[:1] == (".",) else kept
    return tuple(result)


def _gap(source: BareSentence, slot: int) -> Gap:
    """The source's white space between two words, unless it is an ordinary space.

    Where marks stood that do not stand there now, only line breaks are kept.
    """
    marks, white = source.marks[slot], source.white[slot]
    if marks:
        return tuple(piece for piece in white if "\n" in piece) or None
    is_inner = 0 < slot < len(source.positions)
    if not is_inner or white == (" ",):
        return None
    return tuple(piece for piece in white if piece)
