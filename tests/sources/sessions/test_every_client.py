"""Common behaviour of the readers of all clients with session files."""

import json
import os
import random
import re
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from tests.seeds import TIMES
from tests.sources.sessions import test_codex, test_gemini
from tests.sources.sessions.claude import Json, Writer
from tests.sources.sessions.recorded import RECORDED
from vault_index.errors import VaultIndexError
from vault_index.sources.sessions.aider import Aider
from vault_index.sources.sessions.amp import Amp
from vault_index.sources.sessions.claude_code import ClaudeCode
from vault_index.sources.sessions.client import Client
from vault_index.sources.sessions.cline import Cline, Roo
from vault_index.sources.sessions.codex import Codex
from vault_index.sources.sessions.context import words_in_prompt
from vault_index.sources.sessions.copilot import Copilot
from vault_index.sources.sessions.files import FileClient
from vault_index.sources.sessions.gemini import Gemini
from vault_index.sources.sessions.model import LeftOut, Text
from vault_index.sources.sessions.pi import Pi
from vault_index.sources.sessions.qwen import Qwen

ALL_PARTS = ("reasoning", "output", "diffs")
PROMPTS = tomllib.loads(Path(__file__).with_name("prompts.toml").read_text("utf-8"))["prompts"]


def claude_lines(home: Path) -> list[Json]:
    """Lines of every kind that Claude Code writes."""
    writer = Writer(home)
    writer.prompt([{"type": "text", "text": "First"}, {"type": "image", "title": "x", "source": {"media_type": "y"}}])
    writer.answer({"type": "thinking", "thinking": "hm"})
    writer.call("a", "Edit", new=False, file_path="app.py", plan="x")
    patch = [{"oldStart": 1, "oldLines": 1, "newStart": 1, "newLines": 1, "lines": ["-a"]}]
    writer.result("a", [{"type": "text", "text": "x"}], toolUseResult={"structuredPatch": patch, "agentId": "b"})
    writer.attachment("queued_command", prompt="waited", commandMode="prompt")
    writer.call("b", "AskUserQuestion")
    writer.result("b", "x", toolUseResult={"answers": {"a": "b"}})
    writer.compact("This session is being continued\nSummary:\nx")
    writer.raw({"type": "custom-title", "customTitle": "x"})
    writer.raw({"type": "summary", "summary": "x", "leafUuid": writer.last})
    writer.prompt("Last")
    return [json.loads(line) for line in writer.lines]


def write_claude(home: Path, lines: list[Any]) -> Path:
    file = Writer(home).write().file
    text = "".join(json.dumps(line) + "\n" for line in lines)
    file.write_text(text, "utf-8")
    (home / "history.jsonl").write_text(text, "utf-8")
    return file


def write_older_gemini(home: Path, lines: list[Any]) -> Path:
    return test_gemini.write(home, lines, "session-2026-11-23T00-30-fcdca28e.json")


CODEX = [
    *test_codex.CONVERSATION,
    test_codex.tokens(1, 1),
    test_codex.event("thread_rolled_back", num_turns=1),
    test_codex.line("compacted", {"message": "x"}),
]
GEMINI = [*test_gemini.CONVERSATION, {"$rewindTo": "d"}, test_gemini.changed(messages=[test_gemini.ANSWER])]
OLDER = [test_gemini.head(messages=[test_gemini.CONTEXT, *(test_gemini.CONVERSATION[at] for at in (2, 5, 6, 7))])]
Case = tuple[type[FileClient], list[Json], Callable[[Path, list[Any]], Path]]


def recorded(kind: type[FileClient], name: str = "") -> Case:
    """The longest recorded session of a client, and a function that writes such a session."""
    folder = RECORDED / (name or kind.name)
    file = max(folder.rglob("*.json*"), key=lambda file: file.stat().st_size)

    def write(home: Path, lines: list[Any]) -> Path:
        written = home / file.relative_to(folder)
        written.parent.mkdir(parents=True, exist_ok=True)
        written.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
        return written

    text = file.read_text("utf-8")
    whole = file.suffix == ".json"
    return kind, [json.loads(text)] if whole else [json.loads(line) for line in text.splitlines()], write


CASES: dict[str, Case] = {
    "claude-code": (ClaudeCode, claude_lines(Path()), write_claude),
    "codex": (Codex, CODEX, test_codex.write),
    "gemini": (Gemini, GEMINI, test_gemini.write),
    "older gemini": (Gemini, OLDER, write_older_gemini),
    **{kind.name: recorded(kind) for kind in (Amp, Cline, Copilot, Pi, Qwen, Roo)},
    "older cline": recorded(Cline, "cline-2.18"),
}
every_client_with_files = pytest.mark.parametrize(("kind", "lines", "write"), CASES.values(), ids=CASES)


def write_aider(home: Path, lines: list[Any]) -> Path:
    file = home / ".aider.chat.history.md"
    file.write_text("\n".join(map(str, lines)), "utf-8")
    return file


AIDER = (RECORDED / "aider/.aider.chat.history.md").read_text("utf-8").split("\n")
EVERYONE = {"aider": (Aider, AIDER, write_aider), **CASES}
every_client = pytest.mark.parametrize(("kind", "lines", "write"), EVERYONE.values(), ids=EVERYONE)

HALF = "half a character"
"""Stands for an escaped lone surrogate, which JSON can hold and UTF-8 cannot."""
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.just(HALF),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=6,
)


def mangled(value: Any, odd: Any, chance: random.Random) -> Any:
    """Return the value with some of its parts replaced by `odd`."""
    if chance.random() < 0.08:
        return odd
    if isinstance(value, dict):
        return {key: mangled(one, odd, chance) for key, one in value.items()}
    if isinstance(value, list):
        return [mangled(one, odd, chance) for one in value]
    return value


@every_client
@settings(max_examples=40 * TIMES)
@given(odd=JSON, seed=st.integers(0, 1 << 30), damage=st.binary(max_size=12), where=st.floats(0, 1))
def test_readers_survive_values_of_any_type_and_damaged_bytes(
    tmp_path_factory: pytest.TempPathFactory,
    kind: type[Client], lines: list[Json], write: Callable[[Path, list[Any]], Path],
    odd: Any, seed: int, damage: bytes, where: float,
) -> None:  # fmt: skip
    folder = tmp_path_factory.mktemp("mangled")
    chance = random.Random(seed)
    file = write(folder, [mangled(one, odd, chance) for one in lines])
    whole = file.read_bytes()
    cut = int(where * len(whole))
    file.write_bytes((whole[:cut] + damage + whole[cut + 3 :]).replace(HALF.encode(), rb"\ud83d"))
    (folder / "projects.json").write_text(json.dumps({"projects": odd}), "utf-8")
    client = kind(folder)
    for listed in client.listing().sessions.values():
        read = client.read(listed, ALL_PARTS)
        assert {message.speaker for message in read.messages} <= {"user", "assistant", "summary"}
        session = read.session
        assert re.fullmatch("[A-Za-z0-9_-]*", session.id + session.parent + session.forked_from)
        f"{session} {read.messages}".encode()  # no lone surrogates


def texts(client: FileClient) -> tuple[set[str], list[str]]:
    """Return the text of all sessions, and the problems."""
    listing = client.listing()
    problems, found = [*listing.problems], set[str]()
    for listed in listing.sessions.values():
        read = client.read(listed, ())
        problems += read.problems
        found |= {part.text for one in read.messages for part in one.parts if isinstance(part, Text)}
    return found, problems


@every_client_with_files
@settings(max_examples=60 * TIMES)
@given(seed=st.integers(0, 1 << 30))
def test_readers_show_or_count_every_message(
    tmp_path_factory: pytest.TempPathFactory,
    kind: type[FileClient], lines: list[Json], write: Callable[[Path, list[Any]], Path], seed: int,
) -> None:  # fmt: skip
    """Whatever happens to the lines: cut, doubled, moved, joined, below another parent."""
    folder, chance = tmp_path_factory.mktemp("hurt"), random.Random(seed)
    lines = [line for line in lines if "$rewindTo" not in line and "thread_rolled_back" not in str(line)]
    file = write(folder, lines)
    everything, _ = texts(kind(folder))
    parent, id_ = ("parentId", "id") if kind in (Copilot, Pi) else ("parentUuid", "uuid")
    write(folder, [{**line, parent: chance.choice(lines).get(id_)} if chance.random() < 0.2 and isinstance(line, dict)
                   else line for line in lines])  # fmt: skip
    whole = file.read_bytes().splitlines(keepends=True)
    for _ in range(chance.randrange(1, 4)):
        at = chance.randrange(len(whole))
        line = whole[at]
        cut = line[: chance.randrange(len(line) or 1)]
        if not cut.strip():  # nobody can see that a whole line is missing
            cut = line
        whole[at] = chance.choice((cut.rstrip(b"\n") + b"\n", line * 2, line.rstrip(b"\n")))
        if file.suffix == ".jsonl" and chance.random() < 0.3:
            whole.insert(chance.randrange(len(whole)), whole.pop(at))
    file.write_bytes(b"".join(whole))
    os.utime(file, (1, 1))
    shown, problems = texts(kind(folder))
    named = sum(int(problem.split()[0]) if isinstance(problem, LeftOut) else 1 for problem in problems)
    assert len(everything - shown) <= named or (problems and not shown)  # or the whole file is named


def test_said_in_prompt_removes_text_added_by_the_editor() -> None:
    for client, text, *words in PROMPTS:
        assert [words_in_prompt(client, text)] == (words or [text])


@every_client_with_files
def test_readers_name_a_session_that_disappears_during_reading(
    tmp_path: Path, kind: type[FileClient], lines: list[Json], write: Callable[[Path, list[Any]], Path]
) -> None:
    file = write(tmp_path, lines)
    client = kind(tmp_path)
    (listed, *_) = client.listing().sessions.values()
    file.unlink()
    with pytest.raises(VaultIndexError, match=file.name):
        client.read(listed, ())


OTHERS = {
    "aider": ".aider.input.history",
    "amp": "history.jsonl",
    "claude-code": "projects/-a/b.meta.json",
    "cline": "tasks/a/task_metadata.json",
    "codex": "history.jsonl",
    "copilot": "session-state/a/workspace.yaml",
    "gemini": "tmp/shop/logs.json",
    "pi": "auth.json",
    "qwen": "projects/-a/meta.json",
    "roo": "tasks/a/history_item.json",
}


@every_client
def test_clients_watch_their_sessions(
    tmp_path: Path, kind: type[Client], lines: list[Json], write: Callable[[Path, list[Any]], Path]
) -> None:
    client = kind(tmp_path)
    assert not client.present()
    file = write(tmp_path, lines)
    assert len(client.listing().sessions) > 0
    assert client.present()
    assert client.concerns(str(file))
    assert not client.concerns(str(tmp_path / OTHERS[client.name]))
