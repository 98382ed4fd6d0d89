"""The ASGI application: the page, and the API behind it."""

import mimetypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

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
    EditedBody,
    read_body,
    shortened,
)
from spacy_punct.text.glyphs import glyph_table

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


_TASKS = (
    _Task(
        path="/restore",
        summary="Restore the punctuation of a text.",
        factory="punctuation_restorer",
        body=Body,
        compute=answers.restore,
        answer=answers.RestoreAnswer,
    ),
    _Task(
        path="/correct",
        summary="Correct the punctuation of a text.",
        factory="punctuation_corrector",
        body=Body,
        compute=answers.correct,
        answer=answers.CorrectAnswer,
    ),
    _Task(
        path="/underlying",
        summary="Edit the underlying trees of a text; its punctuation follows.",
        factory="punctuation_restorer",
        body=EditedBody,
        compute=answers.underlying,
        answer=answers.UnderlyingAnswer,
    ),
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
    description = describe([*tasks, *reads])
    # The registry of Windows may say otherwise.
    mimetypes.add_type("text/javascript", ".js")
    return Starlette(
        routes=[
            Route("/", partial(_send, FileResponse(_STATIC / "index.html"))),
            Mount("/static", StaticFiles(directory=_STATIC)),
            Route("/openapi.json", partial(_send, JSONResponse(description))),
            *(
                Route(operation.path, partial(_read, f))
                for operation, f in reads.items()
            ),
            *(
                Route(task.path, partial(service.answer, task), methods=["POST"])
                for task in _TASKS
            ),
        ],
        middleware=[
            Middleware(TrustedHostMiddleware, allowed_hosts=hosts, www_redirect=False)
        ],
        exception_handlers={
            HTTPException: _refused,
            PunctError: _not_computed,
            ClientDisconnect: _gone,
            Exception: _failed,
        },
    )


async def _send(response: Response, _: Request) -> Response:
    return response


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
        if task.factory not in self.components:
            names = ", ".join(self._nlp.component_names)
            message = Errors.P151.format(kind=task.factory, names=names)
            raise HTTPException(404, message)
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


def _error(status: int, message: str, **headers: str) -> Response:
    """A coded message as every error of the API looks."""
    code, _, text = message.removeprefix("[").partition("] ")
    problem = Problem(code=code, message=text)
    return _json(ErrorAnswer(error=problem), status, **headers)


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    message, headers = error.detail, dict(error.headers or {})
    if error.status_code == 404 and not message.startswith("["):
        message = Errors.P152.format(path=shortened(request.url.path))
    elif error.status_code == 405:
        allowed = headers.setdefault("Allow", "GET, HEAD")
        message = Errors.P153.format(method=shortened(request.method), allowed=allowed)
    return _error(error.status_code, message, **headers)


async def _not_computed(_: Request, error: Exception) -> Response:
    return _error(422, str(error))


async def _gone(*_: object) -> Response:
    return Response(status_code=400)  # nobody will read it


async def _failed(_: Request, error: Exception) -> Response:
    return _error(500, Errors.P163.format(reason=type(error).__name__))
