"""The ASGI application: the page, and the API behind it."""

import mimetypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, get_type_hints

import anyio
from anyio import to_thread
from pydantic import BaseModel
from spacy.language import Language
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from spacy_punct.about import __version__
from spacy_punct.errors import Errors, PunctError
from spacy_punct.serve import answers
from spacy_punct.serve.limits import Limits
from spacy_punct.serve.openapi import ErrorAnswer, Operation, Problem, describe
from spacy_punct.serve.requests import (
    MAX_EDITS,
    Body,
    read_body,
    shortened,
)
from spacy_punct.text.writer import glyph_table

LOCAL_HOSTS = ("localhost", "127.0.0.1", "[::1]")
_STATIC = Path(__file__).parent / "static"
_JSON = "application/json"
_RETRY_SECONDS = 5


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
    body: type[Body]
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


_TASKS = (
    _task("/restore", "punctuation_restorer", answers.restore),
    _task("/correct", "punctuation_corrector", answers.correct),
    _task("/underlying", "punctuation_restorer", answers.underlying),
)


def make_app(
    nlp: Language,
    limits: Limits | None = None,
    hosts: Sequence[str] = LOCAL_HOSTS,
) -> Starlette:
    """The application, for any ASGI server.

    nlp (Language): A pipeline with a restorer, a corrector or both. Requests use it
        one at a time.
    limits (Limits | None): How much to accept.
    hosts (Sequence[str]): The names by which requests may address the server; `*` is
        any. With the default, no other site can have its name lead to this machine and
        then read what its page gets here (DNS rebinding).
    RETURNS (Starlette): The application.
    """
    service = _Service(nlp, limits or Limits())
    reads: dict[Operation, Callable[[], BaseModel]] = {
        Operation("/about", "What is served.", About): service.about,
        Operation("/health", "Whether the server is up.", Health): service.health,
    }
    tasks = [task for task in _TASKS if task.factory in service.components]
    description = JSONResponse(describe([*tasks, *reads]))
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
        ],
        middleware=[
            Middleware(TrustedHostMiddleware, allowed_hosts=hosts, www_redirect=False)
        ],
        exception_handlers=dict.fromkeys(
            (HTTPException, PunctError, ClientDisconnect, Exception), _problem
        ),
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
    """

    def __init__(self, nlp: Language, limits: Limits) -> None:
        self._nlp = nlp
        self._limits = limits
        # A pipeline cannot be used by several threads at the same time.
        self._turn = anyio.Lock()
        self.components = {
            nlp.get_pipe_meta(name).factory: pipe for name, pipe in nlp.components
        }
        if not any(task.factory in self.components for task in _TASKS):
            names = ", ".join(nlp.component_names) or "nothing"
            raise PunctError(Errors.P166.format(model=self._name, names=names))

    @property
    def _name(self) -> str:
        return f"{self._nlp.lang}_{self._nlp.meta['name']}"

    def about(self) -> About:
        language = self._nlp.meta["lang"]
        return About(
            version=__version__,
            pipeline=self._name,
            language=language,
            direction=self._nlp.vocab.writing_system.get("direction", "ltr"),
            restores="punctuation_restorer" in self.components,
            corrects="punctuation_corrector" in self.components,
            glyphs=glyph_table(language, "straight"),
            max_chars=self._limits.max_chars,
            max_edits=MAX_EDITS,
        )

    def health(self) -> Health:
        return Health(status="ok", waiting=self._turn.statistics().tasks_waiting)

    async def answer(self, task: _Task, request: Request) -> Response:
        """Check a request and, when it is its turn, compute the answer."""
        body = read_body(task.body, await self._content(request))
        body.check(self._limits)

        def compute() -> Response:
            # New words are forgotten again, so that memory does not grow with them.
            with self._nlp.memory_zone():
                component = self.components[task.factory]
                return _json(task.compute(self._nlp, component, body))

        await self._wait_for_turn()
        try:
            return await to_thread.run_sync(compute)
        finally:
            self._turn.release()

    async def _content(self, request: Request) -> bytes:
        """The body of a request, unless it is too large or too slow."""
        media_type = request.headers.get("content-type", "").partition(";")[0].strip()
        # Pages of other sites can send anything else without asking first.
        if media_type.lower() != _JSON:
            found = shortened(media_type) or "unknown"
            raise HTTPException(415, Errors.P162.format(type=found))
        limits = self._limits
        content = bytearray()
        try:
            with anyio.fail_after(limits.read_seconds):
                async for chunk in request.stream():
                    content += chunk
                    if len(content) > limits.max_bytes:
                        message = Errors.P155.format(limit=limits.max_bytes)
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
        status, message = error.status_code, error.detail
        headers.update(error.headers or {})
        if status == 404:
            message = Errors.P152.format(path=shortened(request.url.path))
        elif status == 405:
            allowed = headers.setdefault("Allow", "GET, HEAD")
            method = shortened(request.method)
            message = Errors.P153.format(method=method, allowed=allowed)
    elif isinstance(error, PunctError):
        status, message = 422, str(error)
    else:
        status, message = 500, Errors.P163.format(reason=type(error).__name__)
    code, _, text = message.removeprefix("[").partition("] ")
    answer = ErrorAnswer(error=Problem(code=code, message=text))
    return _json(answer, status, **headers)
