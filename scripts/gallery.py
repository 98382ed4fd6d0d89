"""Restore the raw excerpts of the gallery, and write them to a page.

python -m scripts.gallery
"""

from pathlib import Path
from typing import Annotated

import typer
from wasabi import msg

from scripts.steps import run_step
from spacy_punct.cli.shared import loaded
from spacy_punct.errors import PunctError
from spacy_punct.restorer.texts import restore_batch

_HEAD = """# Gallery

Twenty texts of different kinds, and what the bundled pipeline makes of them, good or
bad. They were written for this page, but for numbers 7 (Jane Austen) and 20 (the
Brothers Grimm). `python -m scripts.gallery` restores them again.
"""


def page(excerpts: dict[str, str], restored: list[str]) -> str:
    """The page.

    excerpts (dict[str, str]): The raw texts by their titles.
    restored (list[str]): The same with their punctuation.
    RETURNS (str): Markdown.
    """
    sections = [
        f"## {title}\n\n{_quoted(raw)}\n\n{_quoted(text)}\n"
        for (title, raw), text in zip(excerpts.items(), restored, strict=True)
    ]
    return "\n".join([_HEAD, *sections])


def _quoted(text: str) -> str:
    return "\n".join(["```text", text.strip(), "```"])


def title_of(path: Path) -> str:
    """The title of an excerpt: `08-e-mail.txt` is number 8, "E-mail"."""
    number, _, name = path.stem.partition("-")
    words = name if name == "e-mail" else name.replace("-", " ")
    return f"{int(number)}. {words[:1].upper()}{words[1:]}"


def main(
    folder: Annotated[Path, typer.Argument(help="Folder of .txt files.")] = Path(
        "assets/gallery"
    ),
    output: Annotated[Path, typer.Option(help="Page to write.")] = Path(
        "docs/gallery.md"
    ),
    pipeline: Annotated[
        str, typer.Option(help="A bundled pipeline, or a folder.")
    ] = "en",
) -> None:
    """Restore raw excerpts, and write them to a page.

    Example: python -m scripts.gallery assets/gallery --output docs/gallery.md
    """
    paths = sorted(folder.glob("*.txt"))
    if not paths:
        raise PunctError(f"There are no .txt files in {folder}")
    excerpts = {title_of(path): path.read_text("utf-8") for path in paths}
    nlp = loaded(pipeline)
    restored = restore_batch(nlp, excerpts.values())
    output.write_text(page(excerpts, restored), "utf-8")
    msg.good(f"{len(paths)} excerpts: {output}")


if __name__ == "__main__":
    run_step(main)
