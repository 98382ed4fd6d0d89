import re

import pytest

from scripts.gallery import main, title_of
from spacy_punct.errors import PunctError
from tests.conftest import REPOSITORY, letters

FOLDER = REPOSITORY / "assets" / "gallery"


def test_gallery_shows_each_text_raw_and_restored(tmp_path, full_path):
    paths = sorted(FOLDER.glob("*.txt"))
    assert len(paths) == 20
    output = tmp_path / "gallery.md"
    main(FOLDER, output, str(full_path))
    page = output.read_text("utf-8")
    assert re.findall(r"^## (.*)$", page, re.M) == [title_of(path) for path in paths]
    blocks = re.findall(r"```text\n(.*?)\n```", page, re.S)
    assert len(blocks) == 40
    for path, raw, restored in zip(paths, blocks[::2], blocks[1::2], strict=True):
        assert raw == path.read_text("utf-8").strip()
        assert letters(restored) == letters(raw)


def test_gallery_wants_texts(tmp_path):
    with pytest.raises(PunctError, match=r"no \.txt files"):
        main(tmp_path, tmp_path / "page.md", "en")
