"""Lines of a file from an offset on, and from it back: each once, whatever their size."""

import json
from pathlib import Path

import pytest

from vault_index.sources.sessions import lines
from vault_index.sources.sessions.lines import objects_before, objects_in

SIZES = [0, 1, 7, 8, 9, 100, 3, 5_000, 0, 2]


@pytest.mark.parametrize("step", [1, 8, 64, 1 << 16])
def test_backwards_is_forwards_turned_round(tmp_path: Path, step: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "_BACK", step)
    file = tmp_path / "lines.jsonl"
    values = [{"n": number, "text": "ü" * size} for number, size in enumerate(SIZES)]
    file.write_text(
        "".join(json.dumps(value, ensure_ascii=False) + "\n" * (1 + number % 2) for number, value in enumerate(values))
    )
    found = list(objects_in(file, []))
    assert [value for _, _, value in found] == values
    for count, (_, end, _) in enumerate(found, 1):
        assert list(objects_before(file, end)) == values[count - 1 :: -1]
        assert next(objects_before(file, end - 1)) == {}
    assert next(objects_before(file, end + 1000)) == {}
