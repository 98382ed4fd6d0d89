"""Whole files over HTTP: a transcript in, restored in steps, and files out."""

from collections.abc import Iterator
from itertools import chain, islice
from typing import Annotated, Literal

from pydantic import BaseModel, Field
from spacy.language import Language
from starlette.exceptions import HTTPException

from spacy_punct.corrector.component import PunctuationCorrector
from spacy_punct.errors import Errors, PunctError
from spacy_punct.restorer.component import PunctuationRestorer
from spacy_punct.restorer.texts import restored_words
from spacy_punct.serve.limits import Limits
from spacy_punct.serve.requests import Body, Forcible, RestorerOptions
from spacy_punct.text.languages import check_language
from spacy_punct.transcripts.formats import check_target, read, target_of, write
from spacy_punct.transcripts.transcript import Transcript, restored

Target = Literal["txt", "md", "srt", "vtt", "sbv", "tsv", "ctm", "json", "jsonl"]

_STEP = 200
"""Words after which others have their turn, and clients hear of progress."""


class TranscriptBody(Body, RestorerOptions, Forcible):
    """A file: plain text, subtitles, a table, or the JSON of a recogniser.

    text (str): What is in it.
    name (str): Its name. The ending counts only where the text leaves a doubt.
    to (list[Target]): The formats to write beside its own. Those that need times are
        left out if the file has none.
    """

    name: Annotated[str, Field(max_length=255)] = "transcript.txt"
    to: list[Target] = Field(default_factory=list, max_length=16)

    def check(self, limits: Limits) -> None:
        """Refuse a file that would take too long."""
        if len(self.text) > limits.max_file_chars:
            sizes = {"n": len(self.text), "limit": limits.max_file_chars}
            raise HTTPException(413, Errors.P168.format(**sizes))


class TranscriptStep(BaseModel):
    """How far a transcript is restored, or what became of it.

    done, total (int): How many of its words are restored.
    text (str): The words restored in this step.
    format (str): In the last step, the target that is the format of the file.
    files (dict[str, str]): In the last step, the restored file in each format.
    """

    done: int
    total: int
    text: str = ""
    format: str | None = None
    files: dict[str, str] | None = None


def read_transcript(body: TranscriptBody, limits: Limits, language: str) -> Transcript:
    """Read what was posted.

    body (TranscriptBody): The file.
    limits (Limits): What a pipeline may be asked at once.
    language (str): The pipeline's language, by its code.
    RETURNS (Transcript): The transcript; an error if a pipeline cannot take its words.
    """
    transcript = read(body.text, body.name)
    words = iter(chain.from_iterable(transcript.texts()))
    while piece := list(islice(words, _STEP)):
        Body(text=" ".join(piece)).check(limits)
    if not body.force:
        words = chain.from_iterable(transcript.texts())
        check_language(words, language, Errors.P169, name=body.name)
    return transcript


def restore_steps(
    nlp: Language,
    pipe: PunctuationRestorer,
    transcript: Transcript,
    body: TranscriptBody,
) -> Iterator[TranscriptStep]:
    """Restore a transcript step by step; between steps, others may use the pipeline.

    nlp (Language): A pipeline with a restorer.
    pipe (PunctuationRestorer): The restorer.
    transcript (Transcript): The transcript.
    body (TranscriptBody): How to restore it, and what to write.
    YIELDS (TranscriptStep): The last one has the files.
    """
    texts = transcript.texts()
    total = sum(map(len, texts))
    words = restored_words((w for text in texts for w in (*text, None)), nlp)
    correctors = [
        name for name, own in nlp.pipeline if isinstance(own, PunctuationCorrector)
    ]
    done: list[str] = []
    while len(done) < total:
        with nlp.select_pipes(disable=correctors), pipe.having(**body.settings()):
            step = [word.text for word in islice(words, _STEP)]
        done += step
        text = " ".join(filter(None, step))
        yield TranscriptStep(done=len(done), total=total, text=text)
    rest = iter(done)
    result = restored(
        transcript, lambda given: (list(islice(rest, len(text))) for text in given)
    )
    own = target_of(transcript)
    files = {to: write(result, to, body.name) for to in _possible(result, own, body)}
    yield TranscriptStep(done=total, total=total, format=own, files=files)


def _possible(transcript: Transcript, own: str, body: TranscriptBody) -> list[str]:
    """The targets that were asked for and can be written, its own one first."""
    found = [own]
    for target in dict.fromkeys(body.to):
        try:
            check_target(transcript, target, body.name)
        except PunctError:  # there are no times
            continue
        if target != own:
            found.append(target)
    return found
