"""The ASGI application: the page, and the API behind it."""

import logging
import mimetypes
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar, get_type_hints
from urllib.parse import urlsplit

import anyio
import srsly
from anyio import to_thread
from pydantic import BaseModel, Field, create_model
from spacy.language import Language
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Mount, Route, WebSocketRoute
from starlette.staticfiles import StaticFiles
from starlette.websockets import WebSocket, WebSocketDisconnect

from spacy_punct.about import __version__
from spacy_punct.errors import Errors, PunctError
from spacy_punct.serve import answers
from spacy_punct.serve.languagetool import (
    CheckAnswer,
    CheckBody,
    Languages,
    check,
    form_data,
    languages,
)
from spacy_punct.serve.limits import Limits
from spacy_punct.serve.live import LiveText
from spacy_punct.serve.openapi import ErrorAnswer, Operation, Problem, describe
from spacy_punct.serve.requests import (
    MAX_EDITS,
    Batch,
    LiveMessage,
    Posted,
    read_body,
    shortened,
)
from spacy_punct.serve.transcripts import (
    TranscriptBody,
    TranscriptStep,
    read_transcript,
    restore_steps,
)
from spacy_punct.text.writer import glyph_table

LOCAL_HOSTS = ("localhost", "127.0.0.1", "[::1]")
_RESTORER, _CORRECTOR = "punctuation_restorer", "punctuation_corrector"
_STATIC = Path(__file__).parent / "static"
_JSON = "application/json"
_JSON_LINES = "application/x-ndjson"
_FORM = "application/x-www-form-urlencoded"
_RETRY_SECONDS = 5
_MAX_BATCH = 1000
_POLICY_VIOLATION = 1008
_LOGGER = logging.getLogger(__name__)

T = TypeVar("T")


class About(BaseModel):
    """What is served, for a page that adapts to it.

    version (str): Of this package.
    pipeline, language (str): The pipeline and its language.
    direction (str): In which its language is written: ltr or rtl.
    restores, corrects (bool): Whether it can do so.
    glyphs (dict[str, str]): How marks are written.
    max_chars, max_edits (int): How much one request may hold.
    """

    version: str
    pipeline: str
    language: str
    direction: str
    restores: bool
    corrects: bool
    glyphs: dict[str, str]
    max_chars: int
    max_edits: int


class Health(BaseModel):
    """That the server is up, and how many requests wait for the pipeline."""

    status: str
    waiting: int


@dataclass(frozen=True, kw_only=True)
class _Task(Operation):
    """An operation that a component of the pipeline carries out.

    factory (str): The component's factory.
    compute (Callable): Pipeline, component and body -> answer.
    """

    factory: str
    body: type[Posted]
    compute: Callable[[Language, Any, Any], BaseModel]


def _task(path: str, factory: str, compute: Callable[..., BaseModel]) -> _Task:
    """What a function is for, what it is given and what it answers, it says itself."""
    hints = get_type_hints(compute)
    return _Task(
        path=path,
        summary=compute.__doc__ or "",
        answer=hints["return"],
        body=hints["body"],
        factory=factory,
        compute=compute,
    )


def _batch(task: _Task) -> _Task:
    """The same for several bodies at once; if one is not valid, none is answered."""
    item, found = task.body, task.answer
    body = create_model(
        f"{item.__name__}Batch",
        __base__=Batch,
        __doc__=Batch.__doc__,
        items=(list[item], Field(max_length=_MAX_BATCH)),  # type: ignore[valid-type]
    )
    answer = create_model(
        f"{found.__name__}Batch",
        __doc__="The answers, in order.",
        items=(list[found], ...),  # type: ignore[valid-type]
    )

    def compute(nlp: Language, pipe: Any, body: Any) -> BaseModel:
        return answer(items=[task.compute(nlp, pipe, item) for item in body.items])

    summary = f"The same as {task.path}, for several items."
    return _Task(
        path=f"{task.path}/batch",
        summary=summary,
        answer=answer,
        body=body,
        factory=task.factory,
        compute=compute,
    )


_RESTORE = _task("/restore", _RESTORER, answers.restore)
_RESTORE_WORDS = _task("/restore_words", _RESTORER, answers.restore_words)
_CORRECT = _task("/correct", _CORRECTOR, answers.correct)
_TASKS = (
    _RESTORE,
    _RESTORE_WORDS,
    _CORRECT,
    *map(_batch, (_RESTORE, _RESTORE_WORDS, _CORRECT)),
    _task("/underlying", _RESTORER, answers.underlying),
)

_CHECK = Operation(
    "/v2/check",
    "Check a text, as LanguageTool does.",
    CheckAnswer,
    CheckBody,
    body_type=_FORM,
)
_TRANSCRIPTS = Operation(
    "/transcripts",
    "Restore a transcript. Each line of the answer is a step; the last has the files.",
    TranscriptStep,
    TranscriptBody,
    _JSON_LINES,
)


def make_app(
    nlp: Language,
    limits: Limits | None = None,
    hosts: Sequence[str] = LOCAL_HOSTS,
    origins: Sequence[str] = (),
) -> Starlette:
    """The application, for any ASGI server.

    nlp (Language): A pipeline with a restorer, a corrector or both. Requests use it
        one at a time.
    limits (Limits | None): How much to accept.
    hosts (Sequence[str]): The names by which requests may address the server; `*` is
        any. With the default, no other site can have its name lead to this machine and
        then read what its page gets here (DNS rebinding).
    origins (Sequence[str]): Other sites whose pages may use the API, such as
        `https://example.org` (CORS); `*` is any.
    RETURNS (Starlette): The application.
    """
    service = _Service(nlp, limits or Limits(), origins)
    reads: dict[Operation, Callable[[], BaseModel]] = {
        Operation("/about", "What is served.", About): service.about,
        Operation("/health", "Whether the server is up.", Health): service.health,
    }
    tasks = [task for task in _TASKS if task.factory in service.components]
    files = [_TRANSCRIPTS] if service.about().restores else []
    checks = [_CHECK] if service.about().corrects else []
    if checks:
        known = Operation("/v2/languages", "What texts may be in.", Languages)
        reads[known] = partial(languages, nlp)
    description = JSONResponse(describe([*tasks, *files, *checks, *reads]))
    # The registry of Windows may say otherwise.
    mimetypes.add_type("text/javascript", ".js")
    return Starlette(
        routes=[
            Route("/", lambda _: FileResponse(_STATIC / "index.html")),
            Mount("/static", StaticFiles(directory=_STATIC)),
            Route("/openapi.json", lambda _: description),
            *(Route(read.path, partial(_read, get)) for read, get in reads.items()),
            *(
                Route(task.path, partial(service.answer, task), methods=["POST"])
                for task in tasks
            ),
            *(Route(file.path, service.transcript, methods=["POST"]) for file in files),
            *(Route(form.path, service.check, methods=["POST"]) for form in checks),
            *([WebSocketRoute("/live", service.live)] if _RESTORE in tasks else []),
        ],
        middleware=[
            Middleware(TrustedHostMiddleware, allowed_hosts=hosts, www_redirect=False),
            *([_cors(origins)] if origins else []),
        ],
        exception_handlers=dict.fromkeys(
            (HTTPException, PunctError, ClientDisconnect, Exception), _problem
        ),
    )


def _cors(origins: Sequence[str]) -> Middleware:
    return Middleware(
        CORSMiddleware,
        allow_origins=origins,
        allow_methods=["GET", "POST"],
        allow_headers=["Content-Type"],
    )


async def _read(get: Callable[[], BaseModel], _: Request) -> Response:
    return _json(get())


def _json(answer: BaseModel, status: int = 200, **headers: str) -> Response:
    content = answer.model_dump_json(exclude_unset=True)
    return Response(content, status, headers, _JSON)


class _Service:
    """Answers requests, one at a time.

    nlp (Language): The pipeline.
    limits (Limits): How much to accept.
    origins (Sequence[str]): Other sites whose pages may ask.
    """

    def __init__(self, nlp: Language, limits: Limits, origins: Sequence[str]) -> None:
        self._nlp = nlp
        self._limits = limits
        self._origins = origins
        # A pipeline cannot be used by several threads at the same time.
        self._turn = anyio.Lock()
        self.components: dict[str, Any] = {
            nlp.get_pipe_meta(name).factory: pipe for name, pipe in nlp.components
        }
        if not any(task.factory in self.components for task in _TASKS):
            names = ", ".join(nlp.component_names) or "nothing"
            raise PunctError(Errors.P166.format(model=self._name, names=names))

    @property
    def _name(self) -> str:
        return f"{self._nlp.lang}_{self._nlp.meta['name']}"

    @property
    def _language(self) -> str:
        return self._nlp.lang or ""

    def about(self) -> About:
        language = self._language
        return About(
            version=__version__,
            pipeline=self._name,
            language=language,
            direction=self._nlp.vocab.writing_system.get("direction", "ltr"),
            restores=_RESTORER in self.components,
            corrects=_CORRECTOR in self.components,
            glyphs=glyph_table(language, "straight"),
            max_chars=self._limits.max_chars,
            max_edits=MAX_EDITS,
        )

    def health(self) -> Health:
        return Health(status="ok", waiting=self._turn.statistics().tasks_waiting)

    async def answer(self, task: _Task, request: Request) -> Response:
        """Check a request and, when it is its turn, compute the answer."""
        content = await self._content(request, self._limits.max_bytes)
        body = read_body(task.body, content)
        body.check(self._limits)
        await to_thread.run_sync(body.check_language, self._language)

        def compute() -> Response:
            # New words are forgotten again, so that memory does not grow with them.
            with self._nlp.memory_zone():
                component = self.components[task.factory]
                return _json(task.compute(self._nlp, component, body))

        return await self._computed(compute)

    async def check(self, request: Request) -> Response:
        """Check a text that clients of LanguageTool send."""
        content = await self._content(request, self._limits.max_bytes, _FORM)
        fields = srsly.json_dumps(form_data(content)).encode()
        body = read_body(CheckBody, fields)
        body.check(self._limits)

        def compute() -> Response:
            with self._nlp.memory_zone():
                pipe: Any = self.components[_CORRECT.factory]
                unused = answers.punctuation_names(self._nlp)
                return _json(check(self._nlp, pipe, body, unused))

        return await self._computed(compute)

    async def transcript(self, request: Request) -> Response:
        """Check a transcript, and answer with the steps in which it is restored."""
        limits = self._limits
        content = await self._content(request, limits.max_file_bytes)
        body = await to_thread.run_sync(read_body, TranscriptBody, content)
        body.check(limits)
        language = self._language
        found = await to_thread.run_sync(read_transcript, body, limits, language)
        steps = restore_steps(self._nlp, self.components[_RESTORER], found, body)
        return StreamingResponse(self._lines(steps), media_type=_JSON_LINES)

    async def _lines(self, steps: Iterator[TranscriptStep]) -> AsyncIterator[str]:
        try:
            while step := await self._computed(partial(next, steps, None)):
                yield f"{step.model_dump_json(exclude_unset=True)}\n"
        except Exception as error:
            # The status is long sent; the client has to look at the line.
            yield f"{_last_words(error)}\n"

    async def live(self, socket: WebSocket) -> None:
        """Restore words as they come, until the client closes the connection."""
        if not self._is_welcome(socket):
            await socket.close(_POLICY_VIOLATION)
            return
        await socket.accept()
        text: LiveText | None = None
        try:
            while (event := await socket.receive())["type"] == "websocket.receive":
                content = event.get("bytes") or event["text"].encode()
                message = read_body(LiveMessage, content)
                message.check(self._limits)
                text = text or LiveText(self._nlp, message)
                answer = await self._computed(partial(text.take, message))
                await socket.send_text(answer.model_dump_json())
        except WebSocketDisconnect:
            pass
        except Exception as error:
            await socket.send_text(_last_words(error))
            await socket.close(_POLICY_VIOLATION)

    def _is_welcome(self, socket: WebSocket) -> bool:
        """Whether no page of another site asks; browsers do not check that here."""
        origin = socket.headers.get("origin")
        own = origin is None or urlsplit(origin).netloc == socket.headers.get("host")
        return own or not {"*", origin}.isdisjoint(self._origins)

    async def _computed(self, compute: Callable[[], T]) -> T:
        """Compute something with the pipeline when it is its turn."""
        await self._wait_for_turn()
        try:
            return await to_thread.run_sync(compute)
        finally:
            self._turn.release()

    async def _content(
        self, request: Request, max_bytes: int, expected: str = _JSON
    ) -> bytes:
        """The body of a request, unless it is too large or too slow."""
        media_type = request.headers.get("content-type", "").partition(";")[0].strip()
        # Pages of other sites can send anything but JSON without asking first. They
        # cannot read the answer, and a form that is checked changes nothing here.
        if media_type.lower() != expected:
            found = shortened(media_type) or "unknown"
            raise HTTPException(415, Errors.P162.format(type=found, expected=expected))
        limits = self._limits
        content = bytearray()
        try:
            with anyio.fail_after(limits.read_seconds):
                async for chunk in request.stream():
                    content += chunk
                    if len(content) > max_bytes:
                        message = Errors.P155.format(limit=max_bytes)
                        raise HTTPException(413, message)
        except TimeoutError:
            message = Errors.P164.format(seconds=limits.read_seconds)
            raise HTTPException(408, message, {"Connection": "close"}) from None
        return bytes(content)

    async def _wait_for_turn(self) -> None:
        """Wait for the pipeline; whoever would wait too long is told to come back."""
        limits = self._limits
        message = Errors.P160.format(seconds=_RETRY_SECONDS)
        busy = HTTPException(503, message, {"Retry-After": str(_RETRY_SECONDS)})
        if self._turn.statistics().tasks_waiting >= limits.max_waiting:
            raise busy
        try:
            with anyio.fail_after(limits.wait_seconds):
                await self._turn.acquire()
        except TimeoutError:
            raise busy from None


async def _problem(request: Request, error: Exception) -> Response:
    """Say what went wrong, with the code of the message."""
    headers: dict[str, str] = {}
    if isinstance(error, HTTPException):
        headers.update(error.headers or {})
        if error.status_code == 404:
            error.detail = Errors.P152.format(path=shortened(request.url.path))
        elif error.status_code == 405:
            allowed = headers.setdefault("Allow", "GET, HEAD")
            method = shortened(request.method)
            error.detail = Errors.P153.format(method=method, allowed=allowed)
    status, answer = _described(error)
    return _json(answer, status, **headers)


def _last_words(error: Exception) -> str:
    """What a client is told when an answer that has begun cannot go on."""
    status, answer = _described(error)
    if status == 500:  # no server hears of it
        _LOGGER.error("An answer could not go on.", exc_info=error)
    return answer.model_dump_json()


def _described(error: Exception) -> tuple[int, ErrorAnswer]:
    """The status of an error, and its message with the code apart."""
    if isinstance(error, HTTPException):
        status, message = error.status_code, error.detail
    elif isinstance(error, PunctError):
        status, message = 422, str(error)
    else:
        status, message = 500, Errors.P163.format(reason=type(error).__name__)
    code, _, text = message.removeprefix("[").partition("] ")
    return status, ErrorAnswer(error=Problem(code=code, message=text))
