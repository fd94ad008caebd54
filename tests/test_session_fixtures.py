"""The sessions of other agents in fixtures/sessions: real ones, with nothing in them but what this project said."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.clients_real.scenes import DONE, MEND, OTHER, SECOND, SECRET
from vault_index.secrets.find import find_secrets

FIXTURES = Path(__file__).parents[1] / "fixtures/sessions"
CLIENTS = ("claude-code", "codex", "codex-0.104", "gemini", "gemini-0.30")
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


@pytest.mark.parametrize("client", CLIENTS)
def test_every_client_says_what_was_said(client: str) -> None:
    said = [
        text
        for path in _FILES
        if path.suffix in {".json", ".jsonl"} and path.is_relative_to(FIXTURES / client)
        for text in _strings(_values(path))
    ]
    assert {MEND, SECRET, DONE} <= set(said)
    if client in {"claude-code", "codex", "gemini"}:
        assert {SECOND, OTHER} <= set(said)


def test_they_are_small() -> None:
    assert sum(path.stat().st_size for path in _FILES) < 300_000


@pytest.mark.parametrize("path", _FILES, ids=[str(path.relative_to(FIXTURES)) for path in _FILES])
def test_nothing_tells_whose_machine_it_was(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    places = set(re.findall(r"/(?:home|root|Users|tmp|work|var)\b[^\s\"\\<:]*", text))
    assert all(place.startswith("/home/user") for place in places), places
    assert "[[scene:" not in text


@pytest.mark.parametrize("client", CLIENTS)
def test_no_prompt_of_a_client_is_in_them(client: str) -> None:
    """The longest text that is not ours is a frame of one."""
    for path in _FILES:
        if path.is_relative_to(FIXTURES / client) and path.suffix in {".json", ".jsonl"}:
            for text in _strings(_values(path)):
                assert len(text) < 400, text


def test_the_key_is_found_for_one() -> None:
    assert find_secrets(SECRET)
