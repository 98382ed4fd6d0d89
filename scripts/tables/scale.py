"""What many words cost: the table of docs/scale.md.

    python -m scripts.tables.scale metrics/en-bench.json

The file is the one that `python -m scripts.bench` writes.
"""

from collections.abc import Sequence

from scripts.steps import run_step
from scripts.tables.markdown import Files, Page, Results, table, write_page

SIZES = {"1 million": 1e6, "10 million": 1e7, "100 million": 1e8, "1 billion": 1e9}
CORES = (1, 16, 64, 256)
PRICE = 0.05


def report(results: Sequence[Results]) -> str:
    """How long one core takes, and many.

    results (Sequence[Results]): What was measured; the first counts.
    RETURNS (str): A sentence, and a table.
    """
    per_second = results[0]["pipeline"]["words_per_cpu_second"]
    per_hour = 3600 * per_second
    rows = []
    for name, n_words in SIZES.items():
        hours = n_words / per_hour
        times = (_shown(hours / cores) for cores in CORES)
        rows.append([name, f"{hours:,.2f}", *times, f"{PRICE * hours:,.2f}"])
    columns = (f"{cores} cores" if cores > 1 else "1 core" for cores in CORES)
    header = ["words", "core-hours", *columns, f"at {PRICE} per core-hour"]
    lead = (
        f"One core restores {per_second:,} words per second: "
        f"{per_hour / 1e6:.1f} million per hour."
    )
    return f"{lead}\n\n{table(header, rows)}\n"


def _shown(hours: float) -> str:
    """A duration, in the largest unit of which there is at least one."""
    for unit, size in (("h", 1.0), ("min", 1 / 60)):
        if hours >= size:
            return f"{hours / size:,.1f} {unit}"
    return f"{3600 * hours:.0f} s"


def main(files: Files, output: Page = None) -> None:
    """Show what many words cost."""
    write_page(report, files, output)


if __name__ == "__main__":
    run_step(main)
