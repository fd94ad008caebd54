"""Lines of a file from an offset: each once, whatever their size."""

import json
import os
from pathlib import Path

import pytest

from tests.waiting import PATIENCE
from vault_index.sources.sessions import jsonl
from vault_index.sources.sessions.jsonl import objects_in

A, B = b'{"type": "user", "n": "}{"}', b'{"type": "mode", "n": {"a": [1]}}'
CUT = B[:-7]


@pytest.mark.parametrize(
    ("text", "objects", "problems"),
    [
        (A + B + b"\n" + A + b"\n", [A, B, A], 0),
        (A + b" \0\0" + B + A + b"\n", [A, B, A], 0),
        (CUT + A + b"\n" + B + b"\n", [A, B], 1),  # the client was killed in the middle of a line
        (A + CUT + B + b"\n", [A, B], 1),
        (A[:20] + A + b"\n", [A], 1),
        (b"{" + A + b"\n", [A], 1),
        (b'{"a":' * 5000 + b"\n" + A, [A], 1),
        (A + b"\n" + B, [A, B], 0),
        (A + b"\n" + CUT, [A], 1),
        (b"\0" * 100 + A + b"\0\0\n\0\0", [A], 0),
        (b'{"skipped": 1}\n{"skipped": 2}' + A + b'\n{"skipped": "}{"}\n', [A], 0),
    ],
)
def test_objects_in_reads_joined_and_unterminated_lines(
    tmp_path: Path, text: bytes, objects: list[bytes], problems: int
) -> None:
    file, named = tmp_path / "lines.jsonl", list[str]()
    file.write_bytes(text)
    os.utime(file, (1, 1))
    found = list(objects_in(file, named, passed_over=b'{"skipped'))
    assert [value for _, _, value in found] == [json.loads(one) for one in objects]
    assert len(named) == problems
    for number, (begin, end, value) in enumerate(found):
        assert json.loads(text[begin:end].strip(b" \0\n")) == value
        assert list(objects_in(file, [], end, passed_over=b'{"skipped')) == found[number + 1 :]


def test_objects_in_ignores_a_last_line_that_is_being_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jsonl, "_WRITING", PATIENCE)
    file, named = tmp_path / "lines.jsonl", list[str]()
    file.write_bytes(A + b"\n" + CUT)
    assert len(list(objects_in(file, named))) == 1
    assert named == []
