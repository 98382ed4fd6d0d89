"""The API of LanguageTool, as far as its clients need it: editors that know it can have
their text corrected here."""

import json
from bisect import bisect_left
from collections.abc import Iterable
from itertools import accumulate
from urllib.parse import parse_qsl

from pydantic import BaseModel, ConfigDict, RootModel
from spacy.language import Language
from spacy.tokens import Doc

from spacy_punct.about import __version__
from spacy_punct.corrector.changes import Correction
from spacy_punct.corrector.component import PunctuationCorrector
from spacy_punct.data.kinds import MESSAGES
from spacy_punct.errors import Errors, PunctError
from spacy_punct.serve.requests import Posted

_AROUND = 40
"""Characters of the text that are shown on either side of a match."""


class CheckBody(Posted):
    """A text to check, as a form; what is not named here is not regarded.

    text (str): Plain text.
    data (str): Instead of it, JSON: `{"annotation": [{"text": …}, {"markup": …}]}`.
    language (str): Its code, or auto.
    disabledRules (str): Kinds of corrections to leave out, as rules are named in the
        answer, with commas between them.
    """

    model_config = ConfigDict(extra="ignore")

    text: str = ""
    data: str = ""
    language: str = "auto"
    disabledRules: str = ""

    @property
    def full_text(self) -> str:
        if not self.data:
            return self.text
        try:
            parts = json.loads(self.data)["annotation"]
            return "".join(part.get("text", part.get("markup", "")) for part in parts)
        except (ValueError, LookupError, TypeError, AttributeError):
            raise PunctError(Errors.P221) from None


class Replacement(BaseModel):
    value: str


class Context(BaseModel):
    """The match amid what is around it."""

    text: str
    offset: int
    length: int


class Category(BaseModel):
    id: str
    name: str


class Rule(BaseModel):
    """The kind of a correction."""

    id: str
    description: str
    issueType: str
    category: Category


class Match(BaseModel):
    """A correction. Offsets count UTF-16 units, as LanguageTool's do."""

    message: str
    shortMessage: str
    offset: int
    length: int
    replacements: list[Replacement]
    context: Context
    sentence: str
    rule: Rule


class Software(BaseModel):
    name: str
    version: str
    apiVersion: int


class LanguageAnswer(BaseModel):
    """A language that texts may be in."""

    name: str
    code: str
    longCode: str


class Languages(RootModel[list[LanguageAnswer]]):
    """All of them."""


class DetectedLanguage(BaseModel):
    name: str
    code: str


class CheckedLanguage(DetectedLanguage):
    detectedLanguage: DetectedLanguage


class CheckAnswer(BaseModel):
    """The corrections of a text."""

    software: Software
    language: CheckedLanguage
    matches: list[Match]


def languages(nlp: Language) -> Languages:
    """The language of the pipeline, with its common variants if that is English."""
    name, own = type(nlp).__name__, nlp.lang or ""
    codes = [own, "en-US", "en-GB"] if own == "en" else [own]
    return Languages(
        [LanguageAnswer(name=name, code=own, longCode=code) for code in codes]
    )


def form_data(content: bytes) -> dict[str, str]:
    """The fields of a form."""
    return dict(parse_qsl(content.decode("utf-8", "replace"), keep_blank_values=True))


def check(
    nlp: Language, pipe: PunctuationCorrector, body: CheckBody, unused: list[str]
) -> CheckAnswer:
    """Check the punctuation of a text.

    nlp (Language), pipe (PunctuationCorrector): The pipeline and its corrector.
    body (CheckBody): What is asked.
    unused (list[str]): Components that need not run.
    RETURNS (CheckAnswer): The corrections.
    """
    doc = nlp(body.full_text, disable=unused)
    kinds = {_rule_id(kind): kind for kind in MESSAGES}
    off = [kinds[name] for name in body.disabledRules.split(",") if name in kinds]
    with pipe.having(ignore=[*pipe.cfg["ignore"], *off]):
        pipe(doc)
    (first, *_) = languages(nlp).root
    detected = DetectedLanguage(name=first.name, code=first.longCode)
    return CheckAnswer(
        software=Software(name="spacy-punct", version=__version__, apiVersion=1),
        language=CheckedLanguage(
            name=detected.name, code=detected.code, detectedLanguage=detected
        ),
        matches=_apart(_match(doc, correction) for correction in doc._.corrections),
    )


def _apart(matches: Iterable[Match]) -> list[Match]:
    """Matches without those that overlap others: they come up at the next check."""
    found: list[Match] = []
    for match in matches:
        if not found or found[-1].offset + found[-1].length <= match.offset:
            found.append(match)
    return found


def _rule_id(kind: str) -> str:
    return kind.upper().replace("-", "_")


def _match(doc: Doc, correction: Correction) -> Match:
    text = doc.text
    start, end, new = correction.start, correction.end, correction.text
    if start == end:  # clients underline something
        starts = [token.idx for token in doc]
        start = starts[max(0, bisect_left(starts, start) - 1)]
        new = text[start:end] + new
    if start == end:  # before the first word
        end = min(len(text), start + 1)
        new += text[start:end]
    units = [0, *accumulate(1 + (char > "\uffff") for char in text)]
    left, right = max(0, start - _AROUND), min(len(text), end + _AROUND)
    length = units[end] - units[start]
    kind = correction.kind
    return Match(
        message=correction.message,
        shortMessage=kind.replace("-", " "),
        offset=units[start],
        length=length,
        replacements=[Replacement(value=new)],
        context=Context(
            text=text[left:right], offset=units[start] - units[left], length=length
        ),
        sentence=correction.word.sent.text,
        rule=Rule(
            id=_rule_id(kind),
            description=MESSAGES[kind],
            issueType="typographical",
            category=Category(id="PUNCTUATION", name="Punctuation"),
        ),
    )
