"""What a trained model has learned of punctuation (section 5 of the paper)."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from math import log
from typing import Any

from spacy_punct.data.depunctuation import PunctuatedTree
from spacy_punct.data.marks import BOS, UNK, is_symmetric
from spacy_punct.data.tree import Puncteme
from spacy_punct.model.channel import Channel
from spacy_punct.model.inventory import Pair
from spacy_punct.model.punctuation import PunctuationModel, batched
from spacy_punct.model.rewrites import (
    CERTAIN,
    NUNBERG_MARKS,
    Bigram,
    Outcome,
    Rewrite,
    learned_rewrites,
    nunberg_rules,
    rewrite,
    underlying_slots,
)

CONFIDENT = 0.5
"""The paper's bound: how probable an edit is where a model is sure of it."""

_BATCH = 64
"""Sentences scored together."""
_BEAM = 32
"""Bounds the search for the underlying tree; ordinary sentences do not reach it."""


# Nunberg's rules: recall


@dataclass(frozen=True)
class RankedRule:
    """A rule of Nunberg's, and what the channel learned about it.

    underlying (Bigram), surface (Puncteme), schema (str): The rule.
    p (float): The learned probability of its surface.
    rank (int): Its rank among a, b, ab and ba; equals share the better one.
    best (Outcome): What the channel holds most probable.
    """

    underlying: Bigram
    surface: Puncteme
    schema: str
    p: float
    rank: int
    best: Outcome


@dataclass(frozen=True)
class Ranks:
    """Ranks of a number of rules.

    n (int): The rules.
    first, second, lower (int): How many of them have rank 1, 2 and worse.
    mrr (float): Mean reciprocal rank; 0 if there are no rules.
    """

    n: int
    first: int
    second: int
    lower: int
    mrr: float

    @classmethod
    def of(cls, rules: Sequence[RankedRule]) -> "Ranks":
        ranks = [rule.rank for rule in rules]
        return cls(
            n=len(ranks),
            first=ranks.count(1),
            second=ranks.count(2),
            lower=sum(rank > 2 for rank in ranks),
            mrr=sum(1 / rank for rank in ranks) / max(len(ranks), 1),
        )


@dataclass(frozen=True)
class Recall:
    """How many of Nunberg's rules the channel learned.

    n_rules (int): All his rules.
    n_unknown (int): Those with a mark that the model does not know, left out.
    all (Ranks): The ranks of the others.
    confident (Ranks): The same where some outcome has more than half of the
        probability.
    rules (tuple[RankedRule, ...]): The rules one by one.
    """

    n_rules: int
    n_unknown: int
    all: Ranks
    confident: Ranks
    rules: tuple[RankedRule, ...]


def rank_rules(channel: Channel) -> Recall:
    """Look for Nunberg's rules in a trained channel.

    channel (Channel): The channel.
    RETURNS (Recall): The rank of each rule.
    """
    rules = nunberg_rules()
    ranked = []
    for ab, rule in rules.items():
        if not set(ab) <= set(channel.marks):
            continue
        learned = channel.rewrite(ab)
        p = learned.get(rule.surface, 0.0)
        rank = 1 + sum(other > p for other in learned.values())
        best = rewrite(channel, ab).best
        ranked.append(RankedRule(ab, rule.surface, rule.schema, p, rank, best))
    return Recall(
        n_rules=len(rules),
        n_unknown=len(rules) - len(ranked),
        all=Ranks.of(ranked),
        confident=Ranks.of([rule for rule in ranked if rule.best.p > CONFIDENT]),
        rules=tuple(ranked),
    )


# Nunberg's rules: precision


@dataclass(frozen=True)
class LearnedEdit:
    """An edit that the channel is certain of.

    underlying (Bigram), surface (Puncteme), p (float): The edit.
    count (int | None): See `Rewrite`.
    is_listed (bool): Whether Nunberg has it as a rule.
    is_covered (bool): Whether his rules are about both marks.
    """

    underlying: Bigram
    surface: Puncteme
    p: float
    count: int | None
    is_listed: bool
    is_covered: bool


@dataclass(frozen=True)
class Precision:
    """How many of the edits that the channel is certain of are Nunberg's.

    n_edits (int): Absorptions and transpositions with a probability of more than
        3/4.
    n_listed (int): Those that Nunberg lists.
    n_uncovered (int): Those with a mark that his rules are not about.
    edits (tuple[LearnedEdit, ...]): The edits one by one, in the order given.
    n_kept (int): Bigrams that the channel is as certain to keep.
    n_kept_rightly (int): Those that Nunberg keeps too.
    least_certain (Rewrite | None): Of all rewrites the one whose best outcome has
        the lowest probability.
    """

    n_edits: int
    n_listed: int
    n_uncovered: int
    edits: tuple[LearnedEdit, ...]
    n_kept: int
    n_kept_rightly: int
    least_certain: Rewrite | None


def certain_edits(rewrites: Iterable[Rewrite]) -> Precision:
    """Look for what a channel learned among Nunberg's rules.

    rewrites (Iterable[Rewrite]): See `learned_rewrites`. Those of the
        sentence-initial mark and of unknown marks do not count.
    RETURNS (Precision): The edits that it is certain of.
    """
    rules = nunberg_rules()
    rewrites = [r for r in rewrites if not {BOS, UNK} & set(r.underlying)]
    certain = [r for r in rewrites if r.best.p > CERTAIN]
    kept = [r.underlying for r in certain if r.best.surface == r.underlying]
    edits = []
    for entry in certain:
        ab, best = entry.underlying, entry.best
        if best.surface == ab:
            continue
        is_listed = ab in rules and rules[ab].surface == best.surface
        is_covered = set(ab) <= set(NUNBERG_MARKS)
        edits.append(
            LearnedEdit(ab, best.surface, best.p, entry.count, is_listed, is_covered)
        )
    return Precision(
        n_edits=len(edits),
        n_listed=sum(edit.is_listed for edit in edits),
        n_uncovered=sum(not edit.is_covered for edit in edits),
        edits=tuple(edits),
        n_kept=len(kept),
        n_kept_rightly=sum(
            ab not in rules and set(ab) <= set(NUNBERG_MARKS) for ab in kept
        ),
        least_certain=min(rewrites, key=lambda entry: entry.best.p, default=None),
    )


# The underlying layer of a treebank


@dataclass
class Survey:
    """What is underlying in a treebank.

    n_sents (int): Its sentences.
    bigrams (Counter[Bigram]): How often two marks are next to each other in the
        most probable underlying trees, ^ included.
    nodes (Counter[str]): How many words there are of each relation.
    pairs (dict[str, dict[Pair, float]]): The expected number of each puncteme pair,
        by relation.
    """

    n_sents: int = 0
    bigrams: Counter[Bigram] = field(default_factory=Counter)
    nodes: Counter[str] = field(default_factory=Counter)
    pairs: dict[str, dict[Pair, float]] = field(
        default_factory=lambda: defaultdict(lambda: defaultdict(float))
    )


def survey(model: PunctuationModel, examples: Iterable[PunctuatedTree]) -> Survey:
    """Reconstruct the underlying layer of a treebank.

    The pairs of a relation are counted by their posterior given the surface. The
    paper does not say what it averaged, the posterior or ATTACH's own p(l, r | w);
    a log-linear model that is trained to its optimum gives the same of both on its
    training data, as their difference is the gradient of the feature N.l.r.d.

    model (PunctuationModel): A trained model.
    examples (Iterable[PunctuatedTree]): Trees as the model sees them, with surface.
    RETURNS (Survey): The counts.
    """
    result = Survey()
    for batch in batched(examples, _BATCH):
        distributions = model.distributions([example.tree for example in batch])
        for example, distribution in zip(batch, distributions, strict=True):
            result.n_sents += 1
            surface, tree = model.inventory.known(example.slots), distribution.tree
            best = distribution.viterbi(surface, beam=_BEAM)
            for slot in underlying_slots(tree, best):
                result.bigrams.update(pairwise(slot))
            result.nodes.update(tree.relations)
            posteriors = distribution.posteriors(surface)
            for relation, posterior in zip(tree.relations, posteriors, strict=True):
                pairs = result.pairs[relation]
                for pair, p in posterior.items():
                    pairs[pair] += p
    return result


# Relations


@dataclass(frozen=True)
class PairShare:
    """A puncteme pair, and its share of a relation's words."""

    left: Puncteme
    right: Puncteme
    p: float
    is_symmetric: bool


@dataclass(frozen=True)
class RelationPairs:
    """How a relation is punctuated.

    relation (str): d.
    count (int): Its words.
    symmetric (float): The probability of a symmetric pair.
    entropy (float): Of the pair, in nats as in the paper.
    pairs (tuple[PairShare, ...]): The most probable pairs.
    """

    relation: str
    count: int
    symmetric: float
    entropy: float
    pairs: tuple[PairShare, ...]


def symmetric_relations(
    found: Survey, *, min_count: int = 100, n_pairs: int = 5
) -> tuple[RelationPairs, ...]:
    """The relations by how likely their punctemes are symmetric (Table 4).

    found (Survey): Counts of a treebank.
    min_count (int): Relations of fewer words are left out.
    n_pairs (int): How many pairs to list of each.
    RETURNS (tuple[RelationPairs, ...]): The most symmetric first. Shares are of what
        was drawn from W_d; what came from the back-off has no pair.
    """
    relations = []
    for relation, count in found.nodes.items():
        if count < min_count:
            continue
        pairs = found.pairs[relation]
        total = sum(pairs.values())
        shares = [
            PairShare(left, right, n / total, is_symmetric(left, right))
            for (left, right), n in pairs.items()
            if n > 0
        ]
        shares.sort(key=lambda share: (-share.p, share.left, share.right))
        relations.append(
            RelationPairs(
                relation,
                count,
                symmetric=sum(share.p for share in shares if share.is_symmetric),
                entropy=-sum(share.p * log(share.p) for share in shares),
                pairs=tuple(shares[:n_pairs]),
            )
        )
    return tuple(sorted(relations, key=lambda r: (-r.symmetric, r.relation)))


# All together


@dataclass(frozen=True)
class Analysis:
    """All that the paper's section says of a model.

    marks (tuple[str, ...]): The marks it knows.
    direction (str): Which way its channel slides.
    n_sents (int): Sentences of the treebank, 0 if there was none.
    min_count (int): How often a bigram must have been found.
    recall (Recall), precision (Precision): The channel beside Nunberg's rules.
    rewrites (tuple[Rewrite, ...]): See `learned_rewrites`.
    relations (tuple[RelationPairs, ...]): See `symmetric_relations`; none without
        a treebank.
    """

    marks: tuple[str, ...]
    direction: str
    n_sents: int
    min_count: int
    recall: Recall
    precision: Precision
    rewrites: tuple[Rewrite, ...]
    relations: tuple[RelationPairs, ...]

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def analyze(
    model: PunctuationModel,
    examples: Iterable[PunctuatedTree] | None = None,
    *,
    min_count: int = 25,
    min_relation_count: int = 100,
) -> Analysis:
    """Describe what a model learned.

    model (PunctuationModel): A trained model.
    examples (Iterable[PunctuatedTree] | None): A treebank, to know which bigrams
        there are underlying and how relations are punctuated.
    min_count (int): Rarer bigrams are left out, if there is a treebank.
    min_relation_count (int): Rarer relations are left out.
    RETURNS (Analysis): Plain data.
    """
    found = None if examples is None else survey(model, examples)
    counts = None if found is None else found.bigrams
    rewrites = learned_rewrites(model.channel, counts, min_count=min_count)
    relations: tuple[RelationPairs, ...] = ()
    if found is not None:
        relations = symmetric_relations(found, min_count=min_relation_count)
    return Analysis(
        marks=model.inventory.marks[1:],
        direction=model.direction,
        n_sents=0 if found is None else found.n_sents,
        min_count=min_count,
        recall=rank_rules(model.channel),
        precision=certain_edits(rewrites),
        rewrites=rewrites,
        relations=relations,
    )
