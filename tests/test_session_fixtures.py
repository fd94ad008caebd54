"""The sessions of other agents in fixtures/sessions: real ones, with no text but ours."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.clients_real.scenes import DONE, MEND, OTHER, SECOND, SECRET

FIXTURES = Path(__file__).parents[1] / "fixtures/sessions"
_FILES = sorted(path for path in FIXTURES.rglob("*") if path.is_file())


def _values(path: Path) -> list[object]:
    text = path.read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()] if path.suffix == ".jsonl" else [json.loads(text)]


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        for inner in value.values():
            yield from _strings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _strings(inner)
    elif isinstance(value, str):
        yield value


@pytest.mark.parametrize(
    "client",
    sorted(path.name for path in FIXTURES.iterdir() if any(path.rglob("*.json*")) and not any(path.rglob("*.sql"))),
)
def test_session_fixtures_contain_our_text_and_no_system_prompt(client: str) -> None:
    """The longest text that is not ours is a frame of one."""
    files = [path for path in (FIXTURES / client).rglob("*") if path.suffix in {".json", ".jsonl"}]
    said = {text for path in files for text in _strings(_values(path))}
    assert {MEND, SECRET, DONE} <= said
    assert {SECOND, OTHER} <= said or "-0." in client
    assert max(map(len, said)) < 600


def test_session_fixtures_do_not_identify_a_machine() -> None:
    for path in _FILES:
        text = path.read_text(encoding="utf-8")
        places = set(re.findall(r"/(?:home|root|Users|tmp|work|var)\b[^\s\"\\<:]*", text))
        assert all(place.startswith("/home/user") for place in places), path
        assert "[[scene:" not in text, path
