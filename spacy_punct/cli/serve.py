"""`punct serve`: a page to try a pipeline in the browser."""

from typing import Annotated

import typer

from spacy_punct.cli.shared import MODEL_HELP, loaded
from spacy_punct.errors import Warnings
from spacy_punct.serve import Limits, PunctuationServer


def serve(
    model: Annotated[str, typer.Argument(help=MODEL_HELP)] = "en",
    host: Annotated[
        str,
        typer.Option(help="Address to listen at; by default only this machine can."),
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port; 0 for any that is free.")
    ] = 8080,
    max_chars: Annotated[
        int,
        typer.Option(
            min=1, help="Characters a request; the page sends long texts in parts."
        ),
    ] = Limits.max_chars,
) -> None:
    """Serve a page on which to try a pipeline, until Ctrl-C.

    Type or paste text and see it restored or corrected; ask its marks why they are
    there; move and delete parts of sentences, and the punctuation follows. Programs
    can post JSON to /restore, /correct and /underlying.

    Examples:

    python -m spacy punct serve

    python -m spacy punct serve training/model-best --port 0

    curl --json '{"text": "does anybody use it"}' http://127.0.0.1:8080/restore
    """
    nlp = loaded(model)
    with PunctuationServer(nlp, host, port, Limits(max_chars=max_chars)) as server:
        if not server.is_local:
            message = Warnings.W150.format(host=host)
            typer.secho(message, fg="yellow", err=True)
        typer.echo(f"Serving {model} at {server.url} (Ctrl-C ends it)")
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            typer.echo("Ended.")
