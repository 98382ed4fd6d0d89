"""Train on a treebank and measure restoration with gold trees.

    python -m tests.benchmarks.accuracy FOLDER --output metrics/en-1.4.json

FOLDER holds train.conllu, dev.conllu and test.conllu. Without a train file, the
first 87% of dev are trained on and the rest decides; the output says so, and what
else `punct fetch` has recorded of the files. The channel's direction and the moment
to stop are chosen on dev; test is only scored.
"""

import argparse
import time
from dataclasses import replace
from pathlib import Path

import srsly
import torch
from wasabi import msg

from spacy_punct.data.sources import caveat
from spacy_punct.data.splits import read_splits
from spacy_punct.model.evaluation import evaluate
from spacy_punct.model.storage import to_bytes, to_disk
from spacy_punct.model.training import TrainingConfig, train


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--output", type=Path, help="JSON to write, or to add to")
    parser.add_argument("--model", type=Path, help="where to write the model")
    parser.add_argument("--channels", nargs="+", default=["table", "identity"])
    parser.add_argument("--n-samples", type=int, default=1000)
    parser.add_argument("--direction", help="instead of letting dev choose")
    args = parser.parse_args()
    torch.set_num_threads(1)
    config = TrainingConfig(direction=args.direction)
    splits = read_splits(args.folder)
    result: dict = {
        "treebank": args.folder.name,
        "partial": splits.partial,
        "caveat": caveat(args.folder),
    }
    for channel in args.channels:
        setting = replace(config, channel=channel)
        if channel == "identity":
            setting = replace(setting, direction="left-to-right")
        start = time.perf_counter()
        trained = train(splits.train, splits.dev, setting)
        seconds = time.perf_counter() - start
        model = trained.model
        result[channel] = {
            "direction": model.direction,
            "dev_perplexity": trained.dev_perplexity,
            "training_seconds": round(seconds),
            "megabytes": len(to_bytes(model)) / 1e6,
            "dev": evaluate(model, splits.dev, n_samples=args.n_samples),
            "test": evaluate(model, splits.test, n_samples=args.n_samples),
        }
        if args.model and channel != "identity":
            to_disk(model, args.model)
    rows = [
        (
            channel,
            scores["direction"],
            split,
            f"{scores[split]['aed']:.4f}",
            f"{scores[split]['aed_trivial']:.4f}",
            f"{scores[split]['aed'] / scores[split]['aed_trivial']:.3f}",
            f"{scores[split]['perplexity']:.4f}",
        )
        for channel, scores in result.items()
        if isinstance(scores, dict)
        for split in ("dev", "test")
    ]
    header = ("channel", "direction", "split", "AED", "trivial", "ratio", "perplexity")
    msg.table(rows, header=header, divider=True)
    if args.output:
        args.output.parent.mkdir(parents=True, exist_ok=True)
        earlier = srsly.read_json(args.output) if args.output.is_file() else {}
        srsly.write_json(args.output, {**earlier, **result})


if __name__ == "__main__":
    main()
