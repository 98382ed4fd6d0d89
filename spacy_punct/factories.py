"""Component factories, registered under spaCy's entry points."""

from collections.abc import Callable

from spacy.language import Language
from thinc.api import Config, Model

from spacy_punct.corrector.component import PunctuationCorrector
from spacy_punct.model.channel import Direction
from spacy_punct.pipe.start import CORRECTOR, RESTORER, start_for
from spacy_punct.restorer.component import Existing, PunctuationRestorer
from spacy_punct.senter.component import StreamSenter
from spacy_punct.text.casing import Casing
from spacy_punct.text.glyphs import Quotes
from spacy_punct.truecaser.component import Truecaser

_SMALL_TAGGER = Config().from_str(
    """
[model]
@architectures = "spacy.Tagger.v2"

[model.tok2vec]
@architectures = "spacy.HashEmbedCNN.v2"
pretrained_vectors = null
width = 96
depth = 2
embed_size = 2000
window_size = 1
maxout_pieces = 3
subword_features = true
"""
)["model"]


@Language.factory(
    "punctuation_restorer",
    requires=["token.dep", "token.head", "token.pos", "doc.sents"],
    assigns=[
        "doc._.restored_text",
        "doc._.restored_slots",
        "doc._.restored_confidence",
        "doc._.restored_doc",
        "token._.left_puncteme",
        "token._.right_puncteme",
    ],
    default_config={
        "model": None,
        "n_samples": 1000,
        "prune": 1e-3,
        "max_hypotheses": 32,
        "seed": 0,
        "direction": None,
        "marks": None,
        "existing": "replace",
        "casing": "auto",
        "quotes": "straight",
        "l2": 1e-4,
        "unmatched_weight": 0.03,
        "squared": True,
        "scorer": {"@scorers": "spacy_punct.punctuation_scorer.v1"},
    },
    default_score_weights={
        "punct_accuracy": 1.0,
        "punct_aed": 0.0,
        "punct_f": 0.0,
        "punct_ppl": 0.0,
        "punct_per_mark": None,
    },
)
def make_punctuation_restorer(
    nlp: Language,
    name: str,
    model: Model | None,
    n_samples: int,
    prune: float,
    max_hypotheses: int,
    seed: int,
    direction: Direction | None,
    marks: list[str] | None,
    existing: Existing,
    casing: Casing,
    quotes: Quotes,
    l2: float,
    unmatched_weight: float,
    squared: bool,
    scorer: Callable | None,
) -> PunctuationRestorer:
    """Make a `punctuation_restorer`; see `PunctuationRestorer` for the settings.

    model (Model | None): None for the weights that come with the package for the
        pipeline's language. Without such weights: for the paper's model, untrained.
    """
    start = start_for(nlp.lang, RESTORER) if model is None else None
    return PunctuationRestorer(
        nlp.vocab,
        model if start is None else start.model,
        name,
        n_samples=n_samples,
        prune=prune,
        max_hypotheses=max_hypotheses,
        seed=seed,
        direction=direction,
        marks=marks,
        existing=existing,
        casing=casing,
        quotes=quotes,
        l2=l2,
        unmatched_weight=unmatched_weight,
        squared=squared,
        scorer=scorer,
        architecture=None if start is None else start.architecture,
        spacing=None if start is None else start.spacing,
    )


@Language.factory(
    "punctuation_corrector",
    requires=["token.dep", "token.head", "token.pos", "doc.sents"],
    assigns=["doc._.corrected_text", "doc._.corrected_slots", "doc._.corrections"],
    default_config={
        "model": None,
        "threshold": 0.5,
        "guess_share": 0.5,
        "n_samples": 0,
        "prune": 1e-3,
        "max_hypotheses": 32,
        "seed": 0,
        "direction": None,
        "quotes": None,
        "reparse": [],
        "l2": 1e-4,
        "unmatched_weight": 0.0,
        "squared": True,
        "scorer": {"@scorers": "spacy_punct.correction_scorer.v1"},
    },
    default_score_weights={
        "correct_f05": 1.0,
        "correct_p": 0.0,
        "correct_r": 0.0,
        "correct_aed": 0.0,
        "correct_aed_before": 0.0,
    },
)
def make_punctuation_corrector(
    nlp: Language,
    name: str,
    model: Model | None,
    threshold: float,
    guess_share: float,
    n_samples: int,
    prune: float,
    max_hypotheses: int,
    seed: int,
    direction: Direction | None,
    quotes: Quotes | None,
    reparse: list[str],
    l2: float,
    unmatched_weight: float,
    squared: bool,
    scorer: Callable | None,
) -> PunctuationCorrector:
    """Make a `punctuation_corrector`; see `PunctuationCorrector` for the settings.

    model (Model | None): None for the weights that come with the package for the
        pipeline's language. Without such weights: for one that reads words and what
        is written, untrained.
    """
    start = start_for(nlp.lang, CORRECTOR) if model is None else None
    return PunctuationCorrector(
        nlp.vocab,
        model if start is None else start.model,
        name,
        threshold=threshold,
        guess_share=guess_share,
        n_samples=n_samples,
        prune=prune,
        max_hypotheses=max_hypotheses,
        seed=seed,
        direction=direction,
        quotes=quotes,
        reparse=reparse,
        nlp=nlp,
        l2=l2,
        unmatched_weight=unmatched_weight,
        squared=squared,
        scorer=scorer,
        architecture=None if start is None else start.architecture,
        spacing=None if start is None else start.spacing,
    )


@Language.factory(
    "truecaser",
    assigns=["token._.truecased"],
    default_config={
        "model": _SMALL_TAGGER,
        "scorer": {"@scorers": "spacy_punct.case_scorer.v1"},
    },
    default_score_weights={
        "case_acc": 1.0,
        "case_p": None,
        "case_r": None,
        "case_f": 0.0,
    },
)
def make_truecaser(
    nlp: Language, name: str, model: Model, scorer: Callable | None
) -> Truecaser:
    """Make a `truecaser`; see `Truecaser` for the settings."""
    return Truecaser(nlp.vocab, model, name, scorer=scorer)


@Language.factory(
    "stream_senter",
    assigns=["token.is_sent_start"],
    default_config={
        "model": _SMALL_TAGGER,
        "threshold": 0.5,
        "missing": 0.15,
        "inner": 0.2,
        "overwrite": False,
        "scorer": {"@scorers": "spacy.senter_scorer.v1"},
    },
    default_score_weights={"sents_f": 1.0, "sents_p": 0.0, "sents_r": 0.0},
)
def make_stream_senter(
    nlp: Language,
    name: str,
    model: Model,
    threshold: float,
    missing: float,
    inner: float,
    overwrite: bool,
    scorer: Callable | None,
) -> StreamSenter:
    """Make a `stream_senter`; see `StreamSenter` for the settings."""
    return StreamSenter(
        nlp.vocab,
        model,
        name,
        threshold=threshold,
        missing=missing,
        inner=inner,
        overwrite=overwrite,
        scorer=scorer,
    )
