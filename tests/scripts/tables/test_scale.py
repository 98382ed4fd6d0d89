from scripts.tables.scale import report


def test_scale_is_a_multiple_of_what_one_core_does():
    lead, *rows = report([{"pipeline": {"words_per_cpu_second": 1000}}]).splitlines()
    assert lead == "One core restores 1,000 words per second: 3.6 million per hour."
    assert [row.split(" | ") for row in rows[3:]] == [
        ["| 1 million", "0.28", "16.7 min", "1.0 min", "16 s", "4 s", "0.01 |"],
        ["| 10 million", "2.78", "2.8 h", "10.4 min", "2.6 min", "39 s", "0.14 |"],
        ["| 100 million", "27.78", "27.8 h", "1.7 h", "26.0 min", "6.5 min", "1.39 |"],
        ["| 1 billion", "277.78", "277.8 h", "17.4 h", "4.3 h", "1.1 h", "13.89 |"],
    ]
