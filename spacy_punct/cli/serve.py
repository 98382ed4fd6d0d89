"""`punct serve`: a page on which to try a pipeline in the browser."""

from contextlib import suppress
from typing import Annotated

import typer

from spacy_punct.cli.shared import MODEL_HELP, loaded
from spacy_punct.errors import Errors, PunctError, Warnings
from spacy_punct.serve.limits import Limits


def serve(
    model: Annotated[str, typer.Argument(help=MODEL_HELP)] = "en",
    host: Annotated[
        str,
        typer.Option(
            help="Address to listen at; other machines cannot reach the default."
        ),
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port; 0 for any that is free.")
    ] = 8080,
    max_chars: Annotated[
        int,
        typer.Option(
            min=1, help="Characters per request; the page splits longer texts."
        ),
    ] = Limits.max_chars,
    workers: Annotated[
        int, typer.Option(min=1, help="Processes, each with a copy of the pipeline.")
    ] = 1,
    cors: Annotated[
        list[str] | None,
        typer.Option(
            help="Another site whose pages may use the API, such as "
            "https://example.org; may be given several times."
        ),
    ] = None,
    access_log: Annotated[
        bool,
        typer.Option("--access-log", help="Log requests, without their texts."),
    ] = False,
) -> None:
    """Serve a page on which to try a pipeline, until Ctrl-C.

    Type or paste text and see it restored or corrected; ask its marks why they are
    there; move and delete parts of sentences, and the punctuation follows. Programs
    can post JSON to /restore, /restore_words, /correct and /underlying, as
    /openapi.json describes, and send live words over a WebSocket to /live.

    Examples:

    python -m spacy punct serve

    python -m spacy punct serve training/model-best --port 0

    curl --json '{"text": "does anybody use it"}' http://127.0.0.1:8080/restore
    """
    try:
        from spacy_punct.serve.server import PunctuationServer
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("spacy_punct"):
            raise
        raise PunctError(Errors.P167.format(package=error.name)) from None
    limits = Limits(max_chars=max_chars)
    server = PunctuationServer(
        loaded(model),
        host,
        port,
        limits,
        origins=cors or (),
        access_log=access_log,
        workers=workers,
    )
    if not server.is_local:
        typer.secho(Warnings.W150.format(host=host), fg="yellow", err=True)
    typer.echo(f"Serving {model} at {server.url} (Ctrl-C to stop)")
    with suppress(KeyboardInterrupt):
        server.run()
    typer.echo("Stopped.")
