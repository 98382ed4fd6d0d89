from scripts.baselines.words import (
    END,
    FORM,
    N_COLUMNS,
    START,
    UNKNOWN,
    WordTable,
    collate,
    describe,
)

SENTENCES = [("The", "baker", "met", "the", "baker"), ("Al-Zaman", "met", "1990s")]


def test_words_are_described_by_form_affixes_and_shape():
    form, *affixes, shape = describe("Al-Zaman")
    assert form == "al-zaman"
    assert affixes == ["a", "al", "al-", "n", "an", "man"]
    assert shape == "Xx-Xxx"
    assert describe("1990s")[FORM] == "0000s"
    assert len(describe("a")) == N_COLUMNS


def test_words_table_knows_what_was_seen_twice():
    table = WordTable.estimate(SENTENCES)
    start, the, baker, unseen, end = table.encode(["THE", "baker", "zoo"]).tolist()
    assert start == [START] * N_COLUMNS and end == [END] * N_COLUMNS
    assert unseen == [UNKNOWN] * (N_COLUMNS - 1) + [baker[-1]]
    assert the[:-1] == table.encode(["the"])[1].tolist()[:-1]
    assert the[FORM] != baker[FORM] > END
    assert all(
        k < n for row in (the, baker) for k, n in zip(row, table.sizes, strict=True)
    )


def test_words_batch_has_one_more_slot_than_words():
    table = WordTable.estimate(SENTENCES)
    batch = collate([table.encode(words) for words in SENTENCES])
    assert batch.is_slot.sum(-1).tolist() == [6, 4]
    assert batch.is_slot.shape == (2, 6)


def test_words_batch_is_turned_within_sentences():
    table = WordTable.estimate(SENTENCES)
    batch = collate([table.encode(words) for words in SENTENCES])
    assert batch.turned.tolist() == [[6, 5, 4, 3, 2, 1, 0], [4, 3, 2, 1, 0, 5, 6]]
