"""Small trainings of the project's pipelines, a second or two each."""

from pathlib import Path

from spacy.util import load_config

from tests.conftest import REPOSITORY, SAMPLE

WIDTH = 8
NETWORK = {
    "@architectures": "spacy_punct.LexicalAttach.v1",
    "tok2vec": {
        "@architectures": "spacy_punct.BiLSTM.v1",
        "tok2vec": {"@architectures": "spacy.Tok2VecListener.v1", "width": WIDTH},
        "width": WIDTH,
    },
    "embedding_width": 4,
    "encoder_width": 8,
    "hidden_width": 8,
}
LISTENING = ("tok2vec", "punctuation_restorer")
AUGMENTATION = {"join": 2, "lower": 0.5, "noise": 0.1}


def small_training(folder: Path, *, sentences: int = 30) -> Path:
    """A config like configs/sample.cfg without its tagger, and data for it."""
    for split in ("train", "dev"):
        blocks = (SAMPLE / f"{split}.conllu").read_text("utf-8").split("\n\n")
        n = sentences if split == "train" else 6
        text = "\n\n".join(blocks[:n]) + "\n\n"
        (folder / f"{split}.conllu").write_text(text, "utf-8")
    config = load_config(REPOSITORY / "configs" / "sample.cfg")
    paths = {split: str(folder / f"{split}.conllu") for split in ("train", "dev")}
    config["paths"].update(paths)
    config["nlp"]["pipeline"].remove("morphologizer")
    config["training"]["annotating_components"].remove("morphologizer")
    components = config["components"]
    del components["morphologizer"]
    tok2vec = components["tok2vec"]["model"]
    tok2vec["embed"]["rows"] = [50] * 4
    tok2vec["encode"].update({"width": WIDTH, "depth": 1})
    components["parser"].update({"min_action_freq": 1})
    components["parser"]["model"]["hidden_width"] = WIDTH
    config["training"].update({"max_steps": 10, "eval_frequency": 3})
    config["training"]["batcher"]["size"] = {
        "@schedules": "compounding.v1",
        "start": 60,
        "stop": 200,
        "compound": 1.1,
    }
    config["training"]["optimizer"]["learn_rate"] = {
        "@schedules": "warmup_linear.v1",
        "warmup_steps": 4,
        "total_steps": 20,
        "initial_rate": 0.005,
    }
    scores = {"dep_las": 0.5, "punct_accuracy": 0.5}
    config["training"]["score_weights"] = scores
    path = folder / "parser.cfg"
    config.to_disk(path)
    return path


def small_lexical_training(folder: Path) -> Path:
    """The same with networks of torch, on data that is read anew in each pass and is
    random in each, even where it is evaluated on."""
    config = load_config(small_training(folder))
    for name in ("parser", *config["components"]):
        if name not in LISTENING:
            config["components"].pop(name, None)
    config["nlp"]["pipeline"] = list(LISTENING)
    config["training"]["annotating_components"] = ["tok2vec"]
    config["training"]["max_epochs"] = -1
    config["training"]["score_weights"] = {"punct_ppl": -1.0, "punct_accuracy": 1.0}
    config["components"]["punctuation_restorer"]["model"] = NETWORK
    for corpus in config["corpora"].values():
        corpus.update({"gold_trees": True, **AUGMENTATION})
    path = folder / "lexical.cfg"
    config.to_disk(path)
    return path


def files(folder: Path) -> dict[str, bytes]:
    """All that is in a folder."""
    paths = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths}
