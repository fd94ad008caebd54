"""What benchmarks/page.py takes for the time from a key to its hits."""

import random

from benchmarks.page import asked, typed, waits


def test_a_key_counts_until_its_hits_or_newer_ones_are_drawn() -> None:
    keys = [("w", 0.0), ("wa", 100.0), ("wa", 200.0), ("wal", 300.0)]
    assert waits(keys, [("w", 40.0), ("wa", 130.0), ("wal", 390.0)]) == [40.0, 30.0, 90.0]
    # Superseded before it was answered; what is older is no answer to what is newer.
    assert waits(keys, [("w", 120.0), ("wal", 350.0)]) == [120.0, 250.0, 50.0]
    assert waits(keys, [("w", 40.0), ("wa", 320.0)]) == [40.0, 220.0, float("inf")]


def test_refined_hits_count_from_the_keys_before_a_pause() -> None:
    keys = [("w", 0.0), ("wa", 100.0), ("wal", 500.0)]
    assert waits(keys, [("wa", 320.0), ("wal", 800.0)], [100.0, 500.0]) == [220.0, 300.0]


def test_every_letter_is_typed_and_the_last_word_asked_for_as_a_beginning() -> None:
    keys = typed("wal mode", random.Random(1))
    assert "".join(key.letter for key in keys) == "wal mode" == keys[-1].text
    assert [asked(text) for text in ("w", "wa", "wal ", "wal m", "wal mo")] == ["w", "wa*", "wal ", "wal m", "wal mo*"]
