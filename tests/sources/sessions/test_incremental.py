"""A long session is read incrementally, with the same result as reading all of it."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from vault_index.config import Config
from vault_index.config.schema import ClientConfig
from vault_index.sources.sessions import incremental
from vault_index.sources.sessions.source import SessionSource

RECORDED = Path(__file__).resolve().parents[3] / "fixtures/sessions"
LINES = [file for file in sorted(RECORDED.rglob("*.jsonl")) if file.stem != "history"]
FILES = [(file.relative_to(RECORDED).parts[0], file) for file in LINES]


@pytest.fixture(autouse=True)
def short_ones_as_well(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(incremental, "_LONG", 0)
    monkeypatch.setattr(incremental, "_TAIL", 1)


def opened(folder: Path, name: str, *others: Path) -> SessionSource:
    client = name if name == "claude-code" else name.partition("-")[0]
    return SessionSource(Config(clients={client: ClientConfig(data=(str(folder), *map(str, others)))}), client)


def texts(source: SessionSource) -> dict[str, str]:
    return {ref.path: source.read(ref).text for ref in source.scan_places([""]).refs}


@pytest.mark.parametrize(("name", "recorded"), FILES, ids=[file.name for _, file in FILES])
def test_session_read_line_by_line_equals_the_whole(tmp_path: Path, name: str, recorded: Path) -> None:
    file = tmp_path / recorded.relative_to(RECORDED / name)
    file.parent.mkdir(parents=True)
    going = opened(tmp_path, name)
    with file.open("ab", buffering=0) as out:
        for line in recorded.read_bytes().splitlines(keepends=True):
            out.write(line[:20])
            assert texts(going) == texts(opened(tmp_path, name))
            out.write(line[20:])
            assert texts(going) == texts(opened(tmp_path, name))


@pytest.fixture
def codex(tmp_path: Path) -> Callable[[], SessionSource]:
    (recorded,) = (RECORDED / "codex-0.104").rglob("*.jsonl")
    file = tmp_path / "sessions/2026/11/23" / recorded.name
    file.parent.mkdir(parents=True)
    file.write_bytes(recorded.read_bytes())
    return lambda: opened(tmp_path, "codex")


def answer(text: str) -> str:
    content = [{"type": "output_text", "text": text}]
    payload = {"type": "message", "role": "assistant", "content": content}
    return json.dumps({"timestamp": "2026-11-23T02:00:00Z", "type": "response_item", "payload": payload}) + "\n"


@pytest.mark.parametrize("change", ["another", "cut", "moved"])
def test_session_read_starts_again_for_a_replaced_file(
    tmp_path: Path, codex: Callable[[], SessionSource], change: str
) -> None:
    source = codex()
    (ref,) = source.scan_places([""]).refs
    source.read(ref)
    (file,) = tmp_path.rglob("*.jsonl")
    if change == "moved":
        (tmp_path / "archived_sessions").mkdir()
        file = file.rename(tmp_path / "archived_sessions" / file.name)
    elif change == "cut":
        file.write_bytes(b"".join(file.read_bytes().splitlines(keepends=True)[:-4]))
    else:  # of the same length, in place
        file.write_bytes(file.read_bytes().replace(b"-23T01:", b"-23T02:"))
    with file.open("a") as out:
        out.write(answer("The hoopoe."))
    (now,), (whole,) = texts(source).values(), texts(codex()).values()
    assert now.partition("## User")[2] == whole.partition("## User")[2]
