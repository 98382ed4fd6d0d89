"""Measure how good corrections are, on treebanks in which errors are made and on text
with corrections by hand (section 5.2).

    python -m scripts.correction en test.conllu --rivals training/en-rivals
"""

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import chain
from operator import ne
from pathlib import Path
from typing import Annotated, Any, NamedTuple, TypeAlias, TypeVar

import srsly
import typer
from spacy.language import Language
from spacy.tokens import Doc
from tqdm import tqdm

from scripts.baselines.tagger import Tagger
from scripts.learners import ParallelText, part_of, read_text
from scripts.paper_corrector import PaperCorrector
from scripts.steps import run_step, write_result
from scripts.tables.correction import (
    CHANNEL,
    CORRECTOR,
    HEAD,
    NOTHING,
    PAPER,
    RESTORER,
    TAGGER,
    TRIVIAL,
    correction_report,
)
from spacy_punct.cli.evaluate import Trees
from spacy_punct.cli.shared import MODEL_HELP, check_file, loaded
from spacy_punct.corrector.changes import shown_slots
from spacy_punct.corrector.component import PunctuationCorrector
from spacy_punct.corrector.expected import with_expected
from spacy_punct.data.corruption import NoisySlot, noise_by_sentence, with_noise
from spacy_punct.data.kinds import kind_of
from spacy_punct.data.marks import UNK
from spacy_punct.data.tree import Slots, Tree
from spacy_punct.data.treebank import Treebank, read_treebank
from spacy_punct.errors import Errors, PunctError
from spacy_punct.model.evaluation import (
    count_changes,
    final_mark,
    permutation_test,
    score_edits,
    sentence_edits,
    trivial_slots,
)
from spacy_punct.pipe.base import PunctuationPipe
from spacy_punct.reading.attributes import CORRECTIONS
from spacy_punct.reading.corpus import make_doc, unpunctuated
from spacy_punct.reading.examples import with_marks
from spacy_punct.reading.guesses import with_guesses
from spacy_punct.reading.pieces import joined_slots
from spacy_punct.reading.sentences import BareSentence, bare_sentences
from spacy_punct.restorer.component import PunctuationRestorer
from spacy_punct.restorer.evaluation import read_for
from spacy_punct.text.writer import Spacing, Writer

Correct: TypeAlias = Callable[[Sequence[Tree]], Iterable[Slots]]
"""Another corrector: trees with observed marks -> what should be in their slots."""

_SEED = 7
_LEAST_PROPOSED = 0.1
_WRONG_COST = 0.5
"""How many right corrections a wrong one outweighs when thresholds are chosen."""
T = TypeVar("T")


class _Answers(NamedTuple):
    """What a system makes of sentences with errors, and of the same without."""

    corrected: list[Slots]
    untouched: list[Slots]


def evaluate_correction(
    nlp: Language,
    corrector: PunctuationCorrector,
    treebank: Treebank,
    *,
    gold: bool,
    seed: int = 7,
    others: Mapping[str, Correct] | None = None,
) -> dict[str, Any]:
    """Score a pipeline on a treebank in which errors are made.

    The trivial answer, and a restorer if the pipeline has one, do not see the marks.
    Marks that a model does not know are compared as they are.

    nlp (Language), corrector (PunctuationCorrector): The pipeline and its corrector.
    treebank (Treebank): The truth.
    gold (bool): Whether the pipeline is given the treebank's trees.
    seed (int): Seed of the errors, which are as many as by default.
    others (Mapping[str, Correct] | None): Other systems by name, which get the trees
        that the corrector has.
    RETURNS (dict[str, Any]): All that the JSON file holds. `systems` has for each its
        edits per slot; P, R and F0.5 of its edits; F0.5 of the edits that would lead
        from words without marks to its answer; and the share of slots that it changes
        in the sentences without errors. `errors` has for each kind how many there are
        and which share of them each system mends. `tests` has p-values of the
        corrector's edit distance against that of each other system.
    """
    examples = treebank.examples
    noise = noise_by_sentence(examples, seed=seed)
    truth = [example.slots for example in examples]
    observed = [with_noise(*pair) for pair in zip(truth, noise, strict=True)]
    words = [make_doc(example, nlp.vocab) for example in examples]
    plain = [unpunctuated(doc, doc if gold else None) for doc in words]
    writer = Writer(Spacing(nlp.lang or ""))

    def marked(slots: Sequence[Slots]) -> list[Doc]:
        pairs = zip(plain, slots, strict=True)
        return [with_marks(doc, marks, writer) for doc, marks in pairs]

    docs = marked(observed)
    start = time.perf_counter()
    docs = _run(nlp, corrector, docs, gold=gold)
    seconds = time.perf_counter() - start
    clean = _run(nlp, corrector, marked(truth), gold=gold)
    final = final_mark(corrector.punctuation.inventory)
    trivial = [trivial_slots(example, final) for example in examples]
    answers = {
        NOTHING: _Answers(observed, truth),
        TRIVIAL: _Answers(trivial, trivial),
    }
    restorer = _find(nlp, PunctuationRestorer)
    if restorer is not None:
        found = _run(nlp, restorer, plain, gold=gold)
        restored = _slots(found, "restored_slots", truth)
        answers[RESTORER] = _Answers(restored, restored)
    answers[CORRECTOR] = _Answers(
        _slots(docs, "corrected_slots", truth), _slots(clean, "corrected_slots", truth)
    )
    for name, correct in (others or {}).items():
        answers[name] = _Answers(
            *(
                [
                    tuple(joined_slots(s for _, s in found))
                    for found in _ask(correct, corrector, d)
                ]
                for d in (docs, clean)
            )
        )
    return {
        "trees": "gold" if gold else "parsed",
        "seed": seed,
        "n_sents": len(examples),
        "n_skipped": treebank.n_omitted + treebank.n_wordless,
        "n_slots": sum(map(len, truth)),
        "n_errors": sum(map(len, noise)),
        "systems": {
            name: _scores(observed, found, truth) for name, found in answers.items()
        },
        "errors": _by_kind(noise, answers, truth),
        "tests": _tests(answers, truth),
        "words_per_second": sum(map(len, plain)) / seconds,
    }


def _scores(
    observed: Sequence[Slots], answers: _Answers, truth: Sequence[Slots]
) -> dict[str, Any]:
    n_slots = sum(map(len, truth))
    n_changed, _ = count_changes(truth, answers.untouched)
    empty = [((),) * len(slots) for slots in truth]
    return {
        "aed": sum(sentence_edits(answers.corrected, truth)) / n_slots,
        **score_edits(observed, answers.corrected, truth).to_dict(),
        "f05_of_marks": score_edits(empty, answers.corrected, truth).f05,
        "changed_untouched": n_changed / n_slots,
    }


def _by_kind(
    noise: Sequence[Sequence[NoisySlot]],
    answers: Mapping[str, _Answers],
    truth: Sequence[Slots],
) -> dict[str, Any]:
    """The errors of each kind, the most frequent first, and how many were mended."""
    counts = Counter(error.kind for errors in noise for error in errors)
    mended: dict[str, Counter[str]] = {name: Counter() for name in answers}
    for name, found in answers.items():
        for errors, ours, right in zip(noise, found.corrected, truth, strict=True):
            mended[name].update(e.kind for e in errors if ours[e.slot] == right[e.slot])
    return {
        kind: {
            "n": n,
            "share": n / counts.total(),
            "recall": {name: mended[name][kind] / n for name in answers},
        }
        for kind, n in counts.most_common()
    }


def _tests(answers: Mapping[str, _Answers], truth: Sequence[Slots]) -> dict[str, float]:
    losses = {name: sentence_edits(a.corrected, truth) for name, a in answers.items()}
    ours = losses.pop(CORRECTOR)
    return {name: permutation_test(ours, theirs) for name, theirs in losses.items()}


def evaluate_parallel(
    nlp: Language,
    corrector: PunctuationCorrector,
    text: ParallelText,
    *,
    others: Mapping[str, Correct] | None = None,
) -> dict[str, Any]:
    """Score a pipeline on text with corrections by hand.

    The tokens are the text's own, and each of its sentences is one to the pipeline,
    which has to parse it. Edits are compared as they are written: the dot of `etc.`
    is part of the word.

    nlp (Language), corrector (PunctuationCorrector): The pipeline and its corrector.
    text (ParallelText): The text.
    others (Mapping[str, Correct] | None): See `evaluate_correction`.
    RETURNS (dict[str, Any]): All that the JSON file holds.
    """
    docs = [sentence.source.to_doc(nlp.vocab) for sentence in text.sentences]
    observed = [sentence.source.slots for sentence in text.sentences]
    references = [sentence.references for sentence in text.sentences]
    start = time.perf_counter()
    docs = _run(nlp, corrector, docs, gold=False)
    seconds = time.perf_counter() - start
    _check_lengths([doc._.corrected_slots for doc in docs], observed)
    answers = {
        NOTHING: observed,
        CORRECTOR: [
            _with_corrections(*pair) for pair in zip(docs, observed, strict=True)
        ],
    }
    by_doc = [with_guesses(doc, bare_sentences(doc, CORRECTOR)) for doc in docs]
    if all(sentence.guesses for found in by_doc for sentence in found):
        answers[HEAD] = [_tagged(found, corrector, False) for found in by_doc]
        answers[CHANNEL] = [_tagged(found, corrector, True) for found in by_doc]
    for name, correct in (others or {}).items():
        answers[name] = [
            tuple(joined_slots(shown_slots(*answer) for answer in found))
            for found in _ask(correct, corrector, docs)
        ]
    trees = [sentence.tree.projective() for (sentence,) in by_doc]
    n_words = sum(len(sentence.source.words) for sentence in text.sentences)
    n_slots = sum(map(len, observed))
    return {
        "n_sents": text.n_sents,
        "n_sents_used": len(text.sentences),
        "n_pairs": text.n_pairs,
        "n_pairs_used": text.n_pairs_used,
        "n_slots": n_slots,
        "systems": {
            name: {
                **score_edits(observed, found, references).to_dict(),
                "changed": count_changes(observed, found)[0] / n_slots,
                "kinds": _score_kinds(trees, observed, found, references),
            }
            for name, found in answers.items()
        },
        "words_per_second": n_words / seconds,
    }


def _tagged(
    sentences: Sequence[BareSentence], corrector: PunctuationCorrector, weighed: bool
) -> Slots:
    """What a `slot_tagger` alone would write, if it is surer than the threshold: by the
    words, or weighed against what is written."""
    slots = []
    for sentence in sentences:
        inventory = corrector.punctuation.inventory
        source = with_expected(sentence, inventory) if weighed else sentence
        found = []
        for marks, guess in zip(sentence.marks, source.guesses or (), strict=True):
            best = max(guess, key=guess.__getitem__)
            sure = guess[best] > corrector.cfg["threshold"]
            found.append(best if sure and UNK not in best else marks)
        slots.append(shown_slots(sentence, tuple(found)))
    return tuple(joined_slots(slots))


def _score_kinds(
    trees: Sequence[Tree],
    observed: Sequence[Slots],
    answers: Sequence[Slots],
    references: Sequence[Sequence[Slots]],
) -> dict[str, dict[str, float]]:
    """How many edits of each kind there are to be made, are made, and are right.

    Of several references, that counts which a sentence agrees with most.
    """
    due: Counter[str] = Counter()
    made: Counter[str] = Counter()
    right: Counter[str] = Counter()
    for tree, old, ours, opinions in zip(
        trees, observed, answers, references, strict=True
    ):
        theirs = min(opinions, key=lambda r: sum(map(ne, r, ours)))
        for i, before in enumerate(old):
            if before != theirs[i]:
                due[kind_of(tree, i, before, theirs[i])] += 1
            if before != ours[i]:
                kind = kind_of(tree, i, before, ours[i])
                made[kind] += 1
                right[kind] += ours[i] == theirs[i]
    return {
        kind: {"due": due[kind], "made": made[kind], "right": right[kind]}
        for kind in sorted(due | made, key=lambda kind: -due[kind])
    }


def choose_thresholds(
    nlp: Language,
    corrector: PunctuationCorrector,
    text: ParallelText,
    good: Sequence[str],
    alarm_cost: float,
) -> dict[str, float]:
    """The setting `thresholds` that does most good to text with errors and least harm
    to text without.

    nlp (Language), corrector (PunctuationCorrector): The pipeline and its corrector.
    text (ParallelText): Development data with errors.
    good (Sequence[str]): Texts that need no correction.
    alarm_cost (float): How many right corrections one in good text outweighs.
    RETURNS (dict[str, float]): For each kind that is proposed at all, the threshold
        that serves best. Where nothing shows that a kind does good, the lowest from the
        default on with which it does no harm.
    """
    docs = [sentence.source.to_doc(nlp.vocab) for sentence in text.sentences]
    with corrector.having(threshold=_LEAST_PROPOSED, thresholds={}, ignore=[]):
        docs = _run(nlp, corrector, docs, gold=False)
        with _alone(nlp, corrector):
            untouched = list(_shown(nlp.pipe(good), len(good)))
    worth: dict[str, list[tuple[float, float]]] = {}
    for doc, sentence in zip(docs, text.sentences, strict=True):
        for c in doc.user_data[CORRECTIONS]:
            if c["slot"] is not None:
                after = tuple(c["after"])
                right = any(after == slots[c["slot"]] for slots in sentence.references)
                value = 1.0 if right else -_WRONG_COST
                worth.setdefault(c["kind"], []).append((c["probability"], value))
    for doc in untouched:
        for c in doc.user_data[CORRECTIONS]:
            found = worth.setdefault(c["kind"], [])
            found.append((c["probability"], -alarm_cost))
    default = corrector.cfg["threshold"]
    return {
        kind: best_threshold(found, default) for kind, found in sorted(worth.items())
    }


def best_threshold(worth: Sequence[tuple[float, float]], default: float) -> float:
    """The best threshold of a kind, by probability and worth of each proposal."""
    grid = [k / 20 for k in range(2, 20)]
    value = {t: sum(v for p, v in worth if p > t) for t in grid}
    best = max(grid, key=lambda t: (value[t], t))
    if value[best] > 0:
        return best
    return next((t for t in grid if t >= default and value[t] >= 0), grid[-1])


def evaluate_good(
    nlp: Language, corrector: PunctuationCorrector, texts: Sequence[str]
) -> dict[str, Any]:
    """Count the changes that are made in texts that need none.

    nlp (Language), corrector (PunctuationCorrector): The pipeline and its corrector.
    texts (Sequence[str]): The texts.
    RETURNS (dict[str, Any]): All that the JSON file holds, with the changes in context.
    """
    with _alone(nlp, corrector):
        docs = list(_shown(nlp.pipe(texts), len(texts)))
    n_words = sum(len(text.split()) for text in texts)
    found = [(doc, c) for doc in docs for c in doc._.corrections]
    return {
        "n_words": n_words,
        "n_changes": len(found),
        "per_1000_words": 1000 * len(found) / n_words,
        "kinds": Counter(c.kind for _, c in found).most_common(),
        "changes": [
            f"{c.kind} {c.probability:.2f}: {doc.text[max(0, c.start - 40) : c.start]}"
            f"[-{doc.text[c.start : c.end]}-]{{+{c.text}+}}"
            f"{doc.text[c.end : c.end + 40]}"
            for doc, c in found
        ],
    }


def _with_corrections(doc: Doc, observed: Slots) -> Slots:
    slots = [c for c in doc.user_data[CORRECTIONS] if c["slot"] is not None]
    after = {c["slot"]: tuple(c["after"]) for c in slots}
    return tuple(after.get(i, slot) for i, slot in enumerate(observed))


def _run(
    nlp: Language, pipe: PunctuationPipe, docs: Sequence[Doc], *, gold: bool
) -> list[Doc]:
    """Let a component annotate Docs, after all others unless they have gold trees.

    Of the components that have to do with punctuation no other runs.
    """
    with _alone(nlp, pipe):
        stream = pipe.pipe(read_for(nlp, pipe, docs)) if gold else nlp.pipe(docs)
        return list(_shown(stream, len(docs)))


def _shown(stream: Iterable[T], n: int) -> Iterable[T]:
    return tqdm(stream, total=n, unit="sent", leave=False, disable=None)


@contextmanager
def _alone(nlp: Language, pipe: PunctuationPipe) -> Iterator[None]:
    """A pipeline in which of the components for punctuation one alone is enabled."""
    disabled = set(nlp.disabled)
    ours = [(name, c) for name, c in nlp.components if isinstance(c, PunctuationPipe)]
    for name, component in ours:
        (nlp.enable_pipe if component is pipe else nlp.disable_pipe)(name)
    try:
        yield
    finally:
        for name, _ in ours:
            (nlp.disable_pipe if name in disabled else nlp.enable_pipe)(name)


def _find(nlp: Language, kind: type[PunctuationPipe]) -> PunctuationPipe | None:
    return next((c for _, c in nlp.components if isinstance(c, kind)), None)


def _slots(docs: Iterable[Doc], attribute: str, truth: Sequence[Slots]) -> list[Slots]:
    """The slots that a component found."""
    found = [tuple(map(tuple, doc._.get(attribute) or ())) for doc in docs]
    _check_lengths(found, truth)
    return found


def _check_lengths(found: Sequence[Sequence], expected: Sequence[Slots]) -> None:
    for ours, theirs in zip(found, expected, strict=True):
        if len(ours) != len(theirs):
            n, n_words = len(ours) - 1, len(theirs) - 1
            raise PunctError(Errors.P072.format(expected=n_words, n=n))


def _ask(
    correct: Correct, corrector: PunctuationCorrector, docs: Sequence[Doc]
) -> Iterator[list[tuple[BareSentence, Slots]]]:
    """Another system's answers on the sentences of each Doc, as the corrector reads
    them."""
    by_doc = corrector.read(docs)
    trees = [sentence.tree for sentences in by_doc for sentence in sentences]
    answers = iter(_shown(correct(trees), len(trees)))
    for sentences in by_doc:
        yield [(sentence, next(answers)) for sentence in sentences]


def main(
    model: Annotated[str, typer.Argument(help=MODEL_HELP)],
    data: Annotated[
        Path, typer.Argument(help="A CoNLL-U file, or one tokenised sentence per line.")
    ],
    reference: Annotated[
        list[Path] | None,
        typer.Option(help="The lines corrected; give it once for each annotator."),
    ] = None,
    trees: Annotated[
        Trees, typer.Option(help="Whose trees: the treebank's or the pipeline's.")
    ] = Trees.parsed,
    seed: Annotated[int, typer.Option(min=0, help="Of the errors.")] = _SEED,
    part: Annotated[
        str, typer.Option(help="Of corrected text: all, or the first or second half.")
    ] = "all",
    good: Annotated[
        bool, typer.Option("--good", help="The lines are good text: count changes.")
    ] = False,
    choose: Annotated[
        float | None,
        typer.Option(
            help="Print thresholds by kind instead, if a correction of good text "
            "outweighs so many right ones."
        ),
    ] = None,
    untouched: Annotated[
        list[Path] | None,
        typer.Option(help="With --choose: good text, in which nothing should change."),
    ] = None,
    threshold: Annotated[
        float | None, typer.Option(help="Instead of the pipeline's.")
    ] = None,
    guess_share: Annotated[
        float | None, typer.Option(help="Instead of the pipeline's.")
    ] = None,
    rivals: Annotated[
        Path | None, typer.Option(help="What scripts.rivals trained, to compare with.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Where to write the JSON.")
    ] = None,
) -> None:
    """Correct the punctuation of sentences with errors and compare.

    In a treebank (.conllu) errors are made. AED is edits per slot; P, R and F0.5 are of
    edits, by the MaxMatch method; "of marks" as if no mark had been written before.
    "trivial" puts one mark at the end of each sentence, "restorer" is that of the
    pipeline: neither sees what is written. "p" is of a paired permutation test of the
    corrector's edit distance against each.

    Any other file is text, its tokens apart by spaces, with corrections by hand, or M2.
    We use those with the words of the text, in whatever case: what is left to correct
    is the punctuation. In M2, edits of words are made beforehand. With --good the lines
    are text that needs no correction.

    Examples:

    python -m scripts.correction training/model-best dev.conllu

    python -m scripts.correction training/model-best dev.src \\
    --reference dev.ref0 --reference dev.ref1 -o scores.json
    """
    is_treebank = check_file(data).suffix == ".conllu"
    is_corrected = data.suffix == ".m2" or bool(reference)
    if is_treebank + is_corrected + good != 1:
        raise PunctError(
            f"{data}: text is M2, or has corrections by hand, with --reference, or is "
            "good as it is, with --good. A treebank (.conllu) has none of these."
        )
    nlp = loaded(model)
    corrector = _find(nlp, PunctuationCorrector)
    if corrector is None:
        names = ", ".join(nlp.component_names) or "nothing"
        raise PunctError(Errors.P131.format(model=model, names=names))
    others = load_rivals(rivals) if rivals else {}
    changed = {"threshold": threshold, "guess_share": guess_share}
    corrector.cfg |= {key: v for key, v in changed.items() if v is not None}
    if good:
        texts = data.read_text("utf8").splitlines()
        scores = evaluate_good(nlp, corrector, [text for text in texts if text])
        typer.echo("\n".join(scores["changes"]))
        typer.echo(f"{scores['per_1000_words']:.2f} changes per 1,000 words")
        typer.echo(", ".join(f"{kind} {n}" for kind, n in scores["kinds"]))
        if output is not None:
            srsly.write_json(output, scores)
        return
    if is_treebank:
        scores = evaluate_correction(
            nlp,
            corrector,
            read_treebank(data),
            gold=trees is Trees.gold,
            seed=seed,
            others=others,
        )
    else:
        text = part_of(read_text(data, reference or ()), part)
        if choose is not None:
            lines = [p.read_text("utf8").splitlines() for p in untouched or ()]
            good_lines = [line for line in chain.from_iterable(lines) if line]
            chosen = choose_thresholds(nlp, corrector, text, good_lines, choose)
            typer.echo(srsly.json_dumps(chosen, indent=2))
            return
        scores = evaluate_parallel(nlp, corrector, text, others=others)
    scores = {
        "data": f"{data.resolve().parent.name}/{data.name}",
        "threshold": corrector.cfg["threshold"],
        **scores,
    }
    typer.echo(correction_report([scores]))
    typer.echo(_summary(scores))
    if output is not None:
        write_result(output, scores)


def load_rivals(folder: Path) -> dict[str, Correct]:
    """The systems to compare with, which scripts.rivals has trained."""
    tagger = Tagger.from_disk(folder / TAGGER)

    def corrected(trees: Sequence[Tree]) -> Iterable[Slots]:
        observed = [tree.observed for tree in trees if tree.observed is not None]
        return tagger.correct([tree.words for tree in trees], observed)

    paper = PaperCorrector.from_disk(folder / PAPER)
    return {PAPER: partial(paper.correct, n_samples=0), TAGGER: corrected}


def _summary(scores: Mapping[str, Any]) -> str:
    ours = scores["systems"][CORRECTOR]
    edits = " / ".join(f"{100 * ours[key]:.1f}" for key in ("p", "r", "f05"))
    speed = f"{scores['words_per_second']:.0f} words per second"
    if "errors" not in scores:
        return (
            f"P / R / F0.5 {edits}, {scores['n_sents_used']} of {scores['n_sents']} "
            f"sentences, {scores['n_pairs_used']} of {scores['n_pairs']} pairs (those "
            f"of the same words but for capitals), {speed}"
        )
    before = scores["systems"][NOTHING]["aed"]
    return (
        f"AED {before:.4f} -> {ours['aed']:.4f}, P / R / F0.5 {edits}, "
        f"{scores['n_errors']} errors in {scores['n_sents']} sentences of "
        f"{scores['n_slots']} slots, {scores['trees']} trees, {speed}"
    )


if __name__ == "__main__":
    run_step(main)
