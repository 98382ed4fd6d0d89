"""The component `biaffine_parser`."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from typing import Any

import numpy as np
import srsly
import torch
import torch.nn.functional as F
from spacy.attrs import DEP, HEAD, MORPH, POS, TAG
from spacy.language import Language
from spacy.parts_of_speech import IDS as POS_IDS
from spacy.tokens import Doc
from spacy.training import Example, validate_examples, validate_get_examples
from spacy.vocab import Vocab
from thinc.api import Model, Optimizer, set_dropout_rate

from spacy_punct.errors import Errors, PunctError
from spacy_punct.parser.network import Network, Scores, make_network, padded
from spacy_punct.parser.trees import (
    best_projective_tree,
    best_tree,
    is_projective_tree,
)
from spacy_punct.pipe.architectures import SMALL_TOK2VEC, initialized_width
from spacy_punct.pipe.base import StoredPipe, takes
from spacy_punct.pipe.networks import network_of, set_network, word_vectors
from spacy_punct.reading.sentences import sentence_words

_IGNORE = -100
"""What torch takes for a label that is not known."""
_TOGETHER = 4096
"""Words, padding included, whose arcs are scored at once."""
_SAMPLE = 10
"""Examples that the width of the tok2vec is read off."""
_NO_FEATURES = "_"
_KINDS = ("relations", "morphs", "tags")


@dataclass(frozen=True, kw_only=True)
class ParserSettings:
    """The settings of a `biaffine_parser`.

    projective (bool): Whether trees must not have crossing arcs. The model of
        punctuation needs such trees; linguists may prefer the others.
    """

    projective: bool = True


@dataclass(frozen=True)
class Parse:
    """The tags and the tree of a sentence's words.

    positions (Sequence[int]): The token of each word.
    heads (Sequence[int]): The head of each; 0 is the root, 1 the first word.
    relations, morphs, tags (Sequence[int]): The numbers of their labels.
    """

    positions: Sequence[int]
    heads: Sequence[int]
    relations: Sequence[int]
    morphs: Sequence[int]
    tags: Sequence[int]


class BiaffineParser(StoredPipe):
    """Tags and trees of the words of sentences, as if there were no marks.

    Marks of the text get the part of speech PUNCT and hang on a word of their
    sentence; what they are changes nothing about the tree of the words.

    vocab (Vocab): The shared vocabulary.
    model (Model): `spacy_punct.Biaffine.v1`.
    name (str): The component's name in the pipeline.
    settings (ParserSettings): The settings.
    scorer (Callable | None): The scoring method.
    """

    def __init__(
        self,
        vocab: Vocab,
        model: Model,
        name: str = "biaffine_parser",
        settings: ParserSettings | None = None,
        *,
        scorer: Callable | None = None,
    ) -> None:
        super().__init__(vocab, model, name, **asdict(settings or ParserSettings()))
        self.scorer = scorer
        self._labels: dict[str, list[str]] = {kind: [] for kind in _KINDS}

    @property
    def labels(self) -> tuple[str, ...]:
        """The relations."""
        return tuple(self._labels["relations"])

    @property
    def label_data(self) -> dict[str, list[str]]:
        """The relations, the parts of speech with features, and the tags."""
        return self._labels

    @property
    def network(self) -> Network:
        """The trained network."""
        network = network_of(self.model)
        if network is None:
            raise PunctError(Errors.P044.format(name=self.name))
        return network

    def set_network(
        self, network: Network, labels: Mapping[str, Sequence[str]]
    ) -> None:
        """Take a network that was trained elsewhere.

        network (Network): The network.
        labels (Mapping[str, Sequence[str]]): What its outputs stand for: "relations",
            "morphs" and "tags", as in `label_data`.
        """
        set_network(self.model, network)
        self._labels = {kind: list(labels[kind]) for kind in _KINDS}

    # Parsing

    def predict(self, docs: Iterable[Doc]) -> list[list[Parse]]:
        """Parse the sentences of Docs, which stay as they are.

        docs (Iterable[Doc]): Docs with sentence bounds.
        RETURNS (list[list[Parse]]): For each Doc, a parse for each sentence that has
            words.
        """
        docs = list(docs)
        found: list[list[Parse]] = [[] for _ in docs]
        if not any(map(len, docs)):
            return found
        sentences = [
            (number, positions)
            for number, doc in enumerate(docs)
            for positions in sentence_words(doc)
        ]
        vectors = list(map(self.model.ops.to_numpy, self.model.predict(docs)))
        parses = self._parses(
            [positions for _, positions in sentences],
            [vectors[number][positions] for number, positions in sentences],
        )
        for (number, _), parse in zip(sentences, parses, strict=True):
            found[number].append(parse)
        return found

    def _scores(self, vectors: Sequence[np.ndarray]) -> Scores:
        self.network.eval()
        with torch.no_grad():
            return self.network(*padded(vectors))

    def _parses(
        self, positions: Sequence[list[int]], vectors: Sequence[np.ndarray]
    ) -> list[Parse]:
        """The parses of sentences, those of similar length together."""
        parses: dict[int, Parse] = {}
        waiting = sorted(range(len(vectors)), key=lambda i: -len(vectors[i]))
        while waiting:
            n = max(1, _TOGETHER // len(vectors[waiting[0]]))
            batch, waiting = waiting[:n], waiting[n:]
            scores = self._scores([vectors[i] for i in batch])
            arcs = scores.arcs.numpy()
            heads = torch.full(arcs.shape[:2], -1)
            for row, i in enumerate(batch):
                size = len(vectors[i])
                found = self._heads(arcs[row, :size, : size + 1])
                heads[row, :size] = torch.tensor(found)
            with torch.no_grad():
                relations = self.network.relation_scores(scores.words, heads)
            relations[..., self._root] = -np.inf
            # A treebank may have no tags: then each word has the first of none.
            chosen = [
                (x.argmax(2) if x.shape[2] else torch.zeros_like(heads)).tolist()
                for x in (scores.morphs, scores.tags)
            ]
            named = relations.argmax(2).masked_fill(heads == 0, self._root).tolist()
            for row, i in enumerate(batch):
                size = len(vectors[i])
                parses[i] = Parse(
                    positions[i],
                    heads[row, :size].tolist(),
                    *(labels[row][:size] for labels in (named, *chosen)),
                )
        return [parses[i] for i in range(len(vectors))]

    @property
    def _root(self) -> int:
        """The number of the root's relation."""
        return self._labels["relations"].index("ROOT")

    def _heads(self, scores: np.ndarray) -> list[int]:
        greedy = scores.argmax(axis=1).tolist()
        if is_projective_tree(greedy):
            return greedy
        return (best_projective_tree if self.cfg["projective"] else best_tree)(scores)

    def set_annotations(self, docs: Iterable[Doc], parses: list[list[Parse]]) -> None:
        """Write heads, relations, parts of speech, features and tags to Docs."""
        strings, names = self.vocab.strings, self._labels
        relations = [strings.add(label) for label in names["relations"]]
        morphs = [self._codes(label) for label in names["morphs"]]
        tags = [strings.add(tag) for tag in names["tags"] or [""]]
        for doc, found in zip(docs, parses, strict=True):
            if found:
                self._annotate(doc, found, relations, morphs, tags)

    def _codes(self, label: str) -> tuple[int, int]:
        """A part of speech and features as spaCy's numbers."""
        part, _, features = label.partition("|")
        known = "" if features == _NO_FEATURES else features
        return POS_IDS.get(part, 0), self.vocab.morphology.add(known)

    def _annotate(
        self,
        doc: Doc,
        parses: Sequence[Parse],
        relations: Sequence[int],
        morphs: Sequence[tuple[int, int]],
        tags: Sequence[int],
    ) -> None:
        n = len(doc)
        heads = np.full(n, -1, dtype=np.int64)
        values: Any = np.zeros((n, 5), dtype=np.uint64)
        for parse in parses:
            for k, i in enumerate(parse.positions):
                head = parse.heads[k]
                heads[i] = parse.positions[head - 1] if head else i
                values[i, 1:] = (
                    relations[parse.relations[k]],
                    *morphs[parse.morphs[k]],
                    tags[parse.tags[k]],
                )
        self._hang_marks(doc, heads, values)
        values[:, 0] = (heads - np.arange(n)).astype(np.uint64)
        doc.from_array([HEAD, DEP, POS, MORPH, TAG], values)

    def _hang_marks(self, doc: Doc, heads: np.ndarray, values: np.ndarray) -> None:
        """Let marks and white space hang on the word before them in their sentence,
        or else on the one after them."""
        add = self.vocab.strings.add
        for sent in doc.sents:
            words = [i for i in range(sent.start, sent.end) if heads[i] >= 0]
            last = words[0] if words else sent.start
            for token in sent:
                i = token.i
                if heads[i] >= 0:
                    last = i
                    continue
                heads[i] = last
                part, label = ("SPACE", "dep") if token.is_space else ("PUNCT", "punct")
                label = "ROOT" if last == i else label
                values[i, 1:] = (add(label), POS_IDS[part], 0, add(token.tag_))

    # Training

    def initialize(
        self,
        get_examples: Callable[[], Iterable[Example]],
        *,
        nlp: Language | None = None,
        labels: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        """Collect the labels, and give the network its shape.

        get_examples (Callable): Gives examples whose references are parsed.
        nlp (Language | None): The pipeline.
        labels (Mapping | None): What `label_data` was, to save the pass over the data.
        """
        validate_get_examples(get_examples, "BiaffineParser.initialize")
        self._labels = (
            _collected(get_examples())
            if labels is None
            else {kind: list(labels[kind]) for kind in _KINDS}
        )
        docs = [example.predicted for example in islice(get_examples(), _SAMPLE)]
        width = initialized_width(self.model.get_ref("tok2vec"), docs)
        sizes = [len(self._labels[kind]) for kind in _KINDS]
        make_network(self.model, width, *sizes)

    def update(
        self,
        examples: Iterable[Example],
        *,
        drop: float = 0.0,
        sgd: Optimizer | None = None,
        losses: dict[str, float] | None = None,
    ) -> dict[str, float]:
        """Learn from examples.

        examples (Iterable[Example]): The examples; sentences are cut as on their
            predicted Docs or, without any there, as on the references.
        drop (float): Dropout of the tok2vec.
        sgd (Optimizer | None): If given, the weights change.
        losses (dict[str, float] | None): To add the loss to.
        RETURNS (dict[str, float]): The losses.
        """
        losses = {} if losses is None else losses
        losses.setdefault(self.name, 0.0)
        examples = list(examples)
        validate_examples(examples, "BiaffineParser.update")
        set_dropout_rate(self.model, drop)
        docs = [example.predicted for example in examples]
        if not any(map(len, docs)):
            return losses
        vectors, backprop = word_vectors(self.model, docs, is_train=True)
        rows, targets = [], []
        for own, example in zip(vectors, examples, strict=True):
            for positions, gold in self._gold(example):
                rows.append(own[positions])
                targets.append(gold)
        if rows:
            loss = self._loss(rows, targets)
            loss.backward()
            losses[self.name] += loss.item()
        backprop()
        if sgd is not None:
            self.finish_update(sgd)
        return losses

    def _loss(
        self, rows: Sequence[torch.Tensor], targets: Sequence[np.ndarray]
    ) -> torch.Tensor:
        """Cross entropy of arcs, of relations given the true heads, and of tags."""
        self.network.train()
        words = torch.nn.utils.rnn.pad_sequence(list(rows), batch_first=True)
        gold = torch.nn.utils.rnn.pad_sequence(
            [torch.from_numpy(target) for target in targets],
            batch_first=True,
            padding_value=_IGNORE,
        )
        sizes = torch.tensor([len(row) for row in rows])
        is_word = torch.arange(words.shape[1]) < sizes[:, None]
        scores = self.network(words, is_word)
        heads = gold[..., 0]
        relations = self.network.relation_scores(scores.words, heads)
        found = (scores.arcs, relations, scores.morphs, scores.tags)
        loss = torch.zeros(())
        for k, (values, weight) in enumerate(zip(found, (1, 1, 0.3, 0.3), strict=True)):
            known = gold[..., k] != _IGNORE
            if values.shape[2] and known.any():
                loss = loss + weight * F.cross_entropy(
                    values[known], gold[..., k][known], reduction="sum"
                )
        return loss / sizes.sum()

    def _gold(self, example: Example) -> Iterator[tuple[list[int], np.ndarray]]:
        """The words of each sentence, and the truth about them, [words, 4]: heads,
        relations, morphology, tags."""
        heads, relations = example.get_aligned_parse(projectivize=False)
        parts = example.get_aligned("POS", as_string=True)
        features = example.get_aligned("MORPH", as_string=True)
        tags = example.get_aligned("TAG", as_string=True)
        numbers = {
            kind: {label: i for i, label in enumerate(labels)}
            for kind, labels in self._labels.items()
        }
        doc = example.predicted
        starts = None
        if not doc.has_annotation("SENT_START"):
            starts = [start == 1 for start in example.get_aligned_sent_starts()]
        for positions in sentence_words(doc, starts):
            place = {i: k + 1 for k, i in enumerate(positions)}
            gold = np.full((len(positions), 4), _IGNORE, dtype=np.int64)
            for row, i in zip(gold, positions, strict=True):
                if heads[i] is not None:
                    head = 0 if heads[i] == i else place.get(heads[i], _IGNORE)
                    row[0] = head
                    label = _relation(relations[i], is_root=head == 0)
                    row[1] = numbers["relations"].get(label, _IGNORE)
                label = _morph(parts[i], features[i])
                row[2] = numbers["morphs"].get(label, _IGNORE)
                row[3] = numbers["tags"].get(tags[i] or "", _IGNORE)
            yield positions, gold

    # Storage

    def _writers(self) -> dict[str, Callable[[], bytes]]:
        return {
            "labels": lambda: srsly.msgpack_dumps(self._labels),
            "model": self.model.to_bytes,
        }

    def _readers(self) -> dict[str, Callable[[bytes], Any]]:
        return {"labels": self._labels_from_bytes, "model": self.model.from_bytes}

    def _labels_from_bytes(self, data: bytes) -> None:
        self._labels = srsly.msgpack_loads(data)


def _collected(examples: Iterable[Example]) -> dict[str, list[str]]:
    """The labels of references, the most frequent first."""
    counts: dict[str, Counter[str]] = {kind: Counter() for kind in _KINDS}
    counts["relations"]["ROOT"] += 1
    for example in examples:
        for token in example.reference:
            if token.is_space or not token.dep_:
                continue
            is_root = token.head.i == token.i
            counts["relations"][_relation(token.dep_, is_root=is_root)] += 1
            counts["morphs"][_morph(token.pos_, str(token.morph))] += 1
            if token.tag_:
                counts["tags"][token.tag_] += 1
    return {kind: [x for x, _ in count.most_common()] for kind, count in counts.items()}


def _relation(label: str | None, *, is_root: bool) -> str:
    return "ROOT" if is_root else label or ""


def _morph(part: str | None, features: str | None) -> str:
    """Part of speech and features as one label."""
    return f"{part or 'X'}|{features or _NO_FEATURES}"


@Language.factory(
    "biaffine_parser",
    requires=["doc.sents"],
    assigns=["token.dep", "token.head", "token.pos", "token.morph", "token.tag"],
    default_config={
        "model": {
            "@architectures": "spacy_punct.Biaffine.v1",
            "tok2vec": SMALL_TOK2VEC,
        },
        **asdict(ParserSettings()),
        "scorer": {"@scorers": "spacy_punct.parser_scorer.v1"},
    },
    default_score_weights={
        "dep_las": 0.6,
        "dep_uas": 0.2,
        "pos_acc": 0.1,
        "morph_acc": 0.1,
        "tag_acc": 0.0,
    },
)
@takes(ParserSettings)
def make_biaffine_parser(
    nlp: Language, name: str, model: Model, scorer: Callable | None, **settings: Any
) -> BiaffineParser:
    """Make a `biaffine_parser`; see `BiaffineParser` and `ParserSettings`."""
    return BiaffineParser(
        nlp.vocab, model, name, ParserSettings(**settings), scorer=scorer
    )
