"""Many machines: texts restored on a Ray cluster.

`restore` is a step of a Ray Data pipeline. `restore_files` takes a folder of Parquet or
JSONL files, writes one result for each, and can be started again after an interruption.

Each process loads the pipeline once and computes with one thread. If it dies, Ray
starts another one and gives it the same rows.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from io import TextIOWrapper
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import uuid4

from spacy_punct.errors import Errors, PunctError
from spacy_punct.transcripts.json_text import edited, read_json

if TYPE_CHECKING:
    import pyarrow as pa
    from pyarrow.fs import FileSystem
    from ray.data import Dataset

_ENDINGS = (".parquet", ".jsonl", ".jsonl.gz")
"""How the names of files end that `restore_files` takes."""
_PART = ".part"
_ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1"
)
_SHOWN = 5
"""How many failures a message names."""


def restore(
    dataset: "Dataset",
    column: str = "text",
    *,
    to: str | None = None,
    model: str = "en",
    settings: Mapping[str, Any] | None = None,
    n_actors: int | None = None,
    batch_size: int = 256,
) -> "Dataset":
    """Restore the punctuation of a column of texts.

    dataset (Dataset): A dataset of Ray Data.
    column (str): The column with the texts. Rows without one stay as they are.
    to (str | None): The column to write; None for the same one.
    model (str): A bundled pipeline, an installed one, or a folder that every machine
        of the cluster has.
    settings (Mapping[str, Any] | None): Settings of its restorer that are not as they
        were.
    n_actors (int | None): How many processes to use at most, each of which takes one
        CPU; None for as many as the cluster has room for.
    batch_size (int): How many rows a process is given at once.
    RETURNS (Dataset): The same rows with their punctuation. As always in Ray Data,
        nothing is computed before it is asked for.
    """
    how = (column, to or column, model, dict(settings or {}))
    return _mapped(dataset, _Rows, how, n_actors, batch_size)


class Done(NamedTuple):
    """What a run of `restore_files` did.

    n_written (int): How many files it wrote.
    n_skipped (int): How many there were already.
    n_rows (int): How many rows the new files have.
    """

    n_written: int
    n_skipped: int
    n_rows: int


def restore_files(
    source: str | Path,
    output: str | Path,
    column: str = "text",
    *,
    to: str | None = None,
    model: str = "en",
    settings: Mapping[str, Any] | None = None,
    n_actors: int | None = None,
    batch_size: int = 256,
) -> Done:
    """Restore all Parquet and JSONL files of a folder, each into a file of its own.

    A result appears under its name when it is complete, in the order of its source.
    Files whose result is there and not older than the source are skipped. So a run that
    was interrupted is started again in the same way: it does nothing twice. Do not
    start two at once with the same output.

    source, output (str | Path): Folders that every machine of the cluster can reach:
        a shared one, or an address such as `s3://bucket/talks`.
    column, to, model, settings, n_actors, batch_size: See `restore`.
    RETURNS (Done): How much was done. Files that fail do not stop the others; they are
        told by an error at the end.
    """
    data = _ray_data()
    names = _names(source, output)
    todo = list(_todo(names, output))
    outcomes: list[dict[str, Any]] = []
    if todo:
        places = (str(source), str(output), batch_size)
        how = (*places, column, to or column, model, dict(settings or {}))
        # One block for each file: it is what is shared out, and what is tried again.
        rows = [{"name": name} for name in todo]
        files = data.from_items(rows, override_num_blocks=len(rows))
        outcomes = _mapped(files, _Files, how, n_actors, 1).take_all()
    failed = [f"{row['name']}: {row['error']}" for row in outcomes if row["error"]]
    if failed:
        listed = "; ".join(failed[:_SHOWN]) + ("; ..." if failed[_SHOWN:] else "")
        message = Errors.P195.format(failed=len(failed), n=len(todo), listed=listed)
        raise PunctError(message)
    n_rows = sum(row["n_rows"] for row in outcomes)
    return Done(len(todo), len(names) - len(todo), n_rows)


# On the machine that starts it


def _ray_data() -> Any:
    try:
        import pyarrow.fs  # noqa: F401
        import ray.data
    except ModuleNotFoundError as error:
        raise PunctError(Errors.P193.format(package=error.name)) from None
    return ray.data


def _mapped(
    dataset: "Dataset",
    worker: type,
    how: tuple[Any, ...],
    n_actors: int | None,
    batch_size: int,
) -> "Dataset":
    data = _ray_data()
    return dataset.map_batches(
        worker,
        fn_constructor_args=how,
        batch_size=batch_size,
        batch_format="pyarrow",
        compute=data.ActorPoolStrategy(min_size=1, max_size=n_actors),
        num_cpus=1,
        runtime_env={"env_vars": _ONE_THREAD},
    )


def _place(folder: str | Path) -> "tuple[FileSystem, str]":
    """Where a folder is: a file system, and the path in it."""
    from pyarrow.fs import FileSystem

    is_address = isinstance(folder, str) and "://" in folder
    return FileSystem.from_uri(folder if is_address else str(Path(folder).resolve()))


def _times(folder: str | Path) -> dict[str, int]:
    """The files inside a folder, and when each was written."""
    from pyarrow.fs import FileSelector, FileType

    files, root = _place(folder)
    selector = FileSelector(root, recursive=True, allow_not_found=True)
    return {
        info.path[len(root) :].lstrip("/"): info.mtime_ns or 0
        for info in files.get_file_info(selector)
        if info.type == FileType.File
    }


def _names(source: str | Path, output: str | Path) -> dict[str, int]:
    """The files to restore, by their names in the folder, and their times."""
    (_, old), (_, new) = _place(source), _place(output)
    if old == new:
        raise PunctError(Errors.P192.format(path=output))
    inside = new[len(old) :].lstrip("/") if new.startswith(f"{old}/") else None
    found = {
        name: time
        for name, time in sorted(_times(source).items())
        if name.endswith(_ENDINGS)
        and not any(part.startswith((".", "_")) for part in name.split("/"))
        and not (inside and name.startswith(f"{inside}/"))
    }
    if not found:
        suffixes = ", ".join(_ENDINGS)
        raise PunctError(Errors.P186.format(path=source, suffixes=suffixes))
    return found


def _todo(names: Mapping[str, int], output: str | Path) -> Iterator[str]:
    """The files that have no result yet. What an interruption left is removed."""
    files, root = _place(output)
    there = _times(output)
    for name in there:
        if name.endswith(_PART):
            files.delete_file(f"{root}/{name}")
    yield from (n for n, time in names.items() if there.get(n, -1) < time)


# On the machines of the cluster


class _Rows:
    """A process that restores a column of tables.

    column, to (str): The column to read and the one to write.
    model (str), settings (dict[str, Any]): See `restore`.
    """

    def __init__(
        self, column: str, to: str, model: str, settings: dict[str, Any]
    ) -> None:
        import torch

        from spacy_punct.cli.restore import FileRestorer, Options

        torch.set_num_threads(1)
        self.column, self.to = column, to
        self.nlp = FileRestorer(Options(model, settings)).nlp

    def __call__(self, table: "pa.Table") -> "pa.Table":
        import pyarrow as pa

        if self.column not in table.column_names:
            listed = ", ".join(table.column_names)
            raise PunctError(Errors.P194.format(column=self.column, columns=listed))
        old = table.column(self.column)
        new = pa.chunked_array([pa.array(self.texts(old.to_pylist()), old.type)])
        if self.to in table.column_names:
            return table.set_column(table.column_names.index(self.to), self.to, new)
        return table.append_column(self.to, new)

    def texts(self, values: list[Any]) -> list[Any]:
        """Values of a column; those that are texts, with punctuation."""
        from spacy_punct.restorer.texts import restore_batch

        texts = [value for value in values if isinstance(value, str)]
        new = iter(restore_batch(self.nlp, texts))
        return [next(new) if isinstance(value, str) else value for value in values]


class _Files:
    """A process that restores files.

    source, output (str): The folders.
    batch_size (int): How many rows are in memory at once.
    how: See `_Rows`.
    """

    def __init__(self, source: str, output: str, batch_size: int, *how: Any) -> None:
        self.source, self.output = _place(source), _place(output)
        self.batch_size = batch_size
        self.rows = _Rows(*how)

    def __call__(self, table: "pa.Table") -> "pa.Table":
        import pyarrow as pa

        names = table.column("name").to_pylist()
        return pa.Table.from_pylist([self.file(name) for name in names])

    def file(self, name: str) -> dict[str, Any]:
        """Restore a file. Whatever it may hold, it must not stop the others."""
        form = self.parquet if name.endswith(".parquet") else self.jsonl
        n_rows, message = 0, ""
        try:
            with self._replacing(name) as target:
                n_rows = form(name, target)
        except Exception as error:
            message = str(error) or type(error).__name__
        return {"name": name, "n_rows": n_rows, "error": message}

    @contextmanager
    def _replacing(self, name: str) -> Iterator[str]:
        """The path to write to; what is there then takes the place of a result."""
        files, root = self.output
        folder, _, last = f"{root}/{name}".rpartition("/")
        part = f"{folder}/.{last}.{uuid4().hex}{_PART}"
        files.create_dir(folder)
        try:
            yield part
        except BaseException:
            with suppress(OSError):
                files.delete_file(part)
            raise
        files.move(part, f"{folder}/{last}")

    def parquet(self, name: str, target: str) -> int:
        """Restore a Parquet file, and return how many rows it has."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        files, root = self.source
        with files.open_input_file(f"{root}/{name}") as stream:
            file = pq.ParquetFile(stream)
            empty = self.rows(file.schema_arrow.empty_table())
            with (
                self.output[0].open_output_stream(target, compression=None) as out,
                pq.ParquetWriter(out, empty.schema) as writer,
            ):
                for batch in file.iter_batches(self.batch_size):
                    writer.write_table(self.rows(pa.Table.from_batches([batch])))
            return file.metadata.num_rows

    def jsonl(self, name: str, target: str) -> int:
        """Restore a JSONL file, and return how many records it has."""
        files, root = self.source
        n_rows = 0
        way = "gzip" if name.endswith(".gz") else None
        with (
            files.open_input_stream(f"{root}/{name}", compression=way) as stream,
            self.output[0].open_output_stream(target, compression=way) as out,
        ):
            lines = TextIOWrapper(stream, "utf-8", newline="\n")
            while some := list(islice(lines, self.batch_size)):
                values = [self._value(line) for line in some]
                texts = self.rows.texts(values)
                for line, old, new in zip(some, values, texts, strict=True):
                    change: dict[tuple[str | int, ...], Any] = {}
                    if old is not None:
                        change[0, self.rows.to] = new
                    out.write(edited(line, change).encode())
                n_rows += len(some)
        return n_rows

    def _value(self, line: str) -> str | None:
        """The text of a record; None if it has none."""
        for record in read_json(line):
            column = self.rows.column
            if not isinstance(record, dict) or column not in record:
                columns = ", ".join(record) if isinstance(record, dict) else "none"
                message = Errors.P194.format(column=column, columns=columns)
                raise PunctError(message)
            return record[column] if isinstance(record[column], str) else None
        return None
