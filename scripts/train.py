"""`punct train`: spaCy's training, which can be stopped and goes on."""

from pathlib import Path
from typing import Annotated

import typer
from spacy.cli._util import import_code, parse_config_overrides, show_validation_error

from spacy_punct.cli.group import check_file, punct, with_short_errors
from spacy_punct.pipe.training import train as run


@punct.command(
    context_settings={"allow_extra_args": True, "ignore_unknown_options": True}
)
@with_short_errors
def train(
    context: typer.Context,
    config: Annotated[Path, typer.Argument(help="Training config.")],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="The folder for the pipelines.")
    ],
    code: Annotated[
        Path | None,
        typer.Option("--code", "-c", help="Python file with functions of the config."),
    ] = None,
) -> None:
    """Train a pipeline as python -m spacy train does, on the CPU.

    A training that was stopped, even by a power cut, goes on from its last evaluation
    if the same command is given again, and gives the same pipeline. One that is
    finished is not repeated. With other settings or other data it starts anew.
    Settings of the config can be overridden.

    Example: python -m spacy punct train configs/sample.cfg --output training

    Example: python -m spacy punct train configs/full.cfg --output training \\
    --paths.train train.conllu --paths.parsed parsed.spacy --paths.dev dev.conllu \\
    --training.max_steps 2000
    """
    overrides = parse_config_overrides(context.args)
    import_code(code)
    with show_validation_error(check_file(config), hint_fill=False):
        run(config, output, overrides=overrides)
