r"""Record fixtures/sessions with the real clients.

    CLIENTS_DIR=.venv/npm/clients OLD_CLIENTS_DIR=FOLDER AIDER=PROGRAM \
        python -m tools.build_sessions

`make test-clients` installs the clients into CLIENTS_DIR by npm. OLD_CLIENTS_DIR holds
@openai/codex@0.104.0, @google/gemini-cli@0.30.0 and cline@2.18.0, which write older formats, and
@github/copilot@1.0.102, @mariozechner/pi-coding-agent@0.73.1 and @qwen-code/qwen-code@0.15.10,
which no suite needs. cline@3.0.65 is in CLIENTS_DIR too. AIDER is the program of aider-chat (PyPI).
"""

import json
import os
import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from tests.clients_real import clients, sessions
from tests.clients_real.clients import APP, Client
from tests.clients_real.model import Model
from tests.clients_real.scenes import (
    AFTER,
    ARCHIVED,
    DELEGATE,
    DONE,
    FIRST,
    FORK,
    LONG,
    MEND,
    OTHER,
    PRINTED,
    SECOND,
    SECRET,
    SUBAGENT,
    SUMMARY,
    scenes,
)  # fmt: skip
from tools import drive_clients
from tools.clean_sessions import HOME, Cleaner

FIXTURES = Path(__file__).parents[1] / "fixtures/sessions"


def main() -> None:
    """Record the sessions."""
    shutil.rmtree(FIXTURES, ignore_errors=True)
    new, old = (
        Path(os.environ[name]).resolve() / "node_modules/.bin"
        for name in ("CLIENTS_DIR", "OLD_CLIENTS_DIR")
    )
    with tempfile.TemporaryDirectory(prefix="vx-", ignore_cleanup_errors=True) as folder:
        place = Path(folder)
        _keep("claude-code", place / "a", _claude_code(place / "a", new / "claude"))
        _keep("codex", place / "b", _codex(place / "b", new / "codex"))
        _set_offsets(FIXTURES / "codex")
        _keep("gemini", place / "c", _gemini(place / "c", new / "gemini"))
        model = Model(scenes(place / "d/shop")["codex"])
        client = clients.codex(place / "d", model, old / "codex", "gpt-5.2-codex")
        drive_clients.codex_mended(client)
        _keep("codex-0.104", place / "d", client)
        client = clients.gemini(
            place / "e", Model(scenes(place / "e/shop")["gemini"]), old / "gemini"
        )
        drive_clients.gemini_mended(client)
        _keep("gemini-0.30", place / "e", client)
        for name, make, words in (
            ("copilot", clients.copilot, drive_clients.COPILOT),
            ("pi", clients.pi, drive_clients.PI),
            ("qwen", clients.qwen, drive_clients.QWEN),
        ):
            model = Model(scenes(place / name / "shop")[name])
            client = make(place / name, model, old / name)
            drive_clients.printed(client, words)
            if name == "pi":
                drive_clients.pi_forked(client)
            _keep(name, place / name, client)
        client = clients.aider(
            place / "aider", Model(scenes(place)["aider"]), Path(os.environ["AIDER"])
        )
        drive_clients.aider_piped(client)
        _keep_history(place / "aider", client)
        for name, program in (
            ("cline", new.parent / "@cline/cli-linux-x64/bin/cline"),
            ("cline-2.18", old.parent / "cline/dist/cli.mjs"),
        ):
            model = Model(scenes(place / name / "shop")[name])
            client = clients.cline(place / name, model, program)
            drive_clients.cline_printed(client)
            _keep(name, place / name, client)


def _claude_code(folder: Path, program: Path) -> Client:
    client = clients.claude_code(folder, Model(scenes(folder / "shop")["claude-code"]), program)
    session = sessions.claude_mended(client)
    drive_clients.claude_forked(client, session)
    drive_clients.claude_compacted(client, session)
    client.reset()
    drive_clients.claude_delegated(client)
    drive_clients.claude_rewound(client)
    return client


def _codex(folder: Path, program: Path) -> Client:
    model = Model(scenes(folder / "shop")["codex"])
    client = clients.codex(folder, model, program)
    session = drive_clients.codex_mended(client)
    drive_clients.codex_forked(client, session)
    sessions.codex_archived(client)
    drive_clients.codex_on_a_terminal(client, model)
    return client


def _gemini(folder: Path, program: Path) -> Client:
    client = clients.gemini(folder, Model(scenes(folder / "shop")["gemini"]), program)
    drive_clients.gemini_rewound(client)
    drive_clients.gemini_mended(client, resumed=False)
    _next_minute()
    drive_clients.gemini_resumed(client)
    return client


def _keep(name: str, folder: Path, client: Client) -> None:
    cleaner = Cleaner(_ours(client.project), folder)
    for path in _written(client.home):
        kept = (
            FIXTURES
            / name
            / cleaner.path(path).relative_to(Path(HOME)).relative_to(_own(path, client.home))
        )
        kept.parent.mkdir(parents=True, exist_ok=True)
        text = path.read_text(encoding="utf-8")
        kept.write_text(
            cleaner.file(text)
            if path.suffix in {".json", ".jsonl"}
            else str(cleaner.path(Path(text)))
        )


def _keep_history(folder: Path, client: Client) -> None:
    """Keep the one file of Aider, without the path of the program."""
    kept = FIXTURES / "aider/.aider.chat.history.md"
    kept.parent.mkdir(parents=True)
    text = (client.project / kept.name).read_text(encoding="utf-8")
    cleaner = Cleaner("", folder)
    kept.write_text(cleaner.history(text.replace(str(client.program), "aider")))


def _set_offsets(folder: Path) -> None:
    """Codex says at which byte of another file a session goes on, and lines have become shorter."""
    paths = {path.stem[-36:]: path for path in folder.rglob("rollout-*.jsonl")}
    for path in paths.values():
        first, *rest = path.read_text(encoding="utf-8").splitlines(keepends=True)
        head = json.loads(first)
        if base := head["payload"].get("history_base"):
            before = (
                paths[base["thread_id"]]
                .read_bytes()
                .splitlines(keepends=True)[: base["end_ordinal_exclusive"]]
            )
            base["end_byte_offset"] = sum(map(len, before))
            first = json.dumps(head, ensure_ascii=False, separators=(",", ":")) + "\n"
            path.write_text("".join([first, *rest]), encoding="utf-8")


def _next_minute() -> None:
    """Gemini names a file by the minute."""
    minute = datetime.now(UTC).minute
    while datetime.now(UTC).minute == minute:
        time.sleep(0.5)


def _ours(project: Path) -> str:
    """Everything that we say, and that the scripted model says."""
    said = [
        MEND,
        SECRET,
        DELEGATE,
        SUBAGENT,
        FORK,
        FIRST,
        SECOND,
        OTHER,
        AFTER,
        LONG,
        ARCHIVED,
        SUMMARY,
        DONE,
    ]
    app = [APP, APP.replace("password != stored", "password == stored")]
    return "\n".join([*said, *app, PRINTED, *_strings(scenes(project))])


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _strings(item)
    elif isinstance(value, Sequence):
        for item in value:
            yield from _strings(item)


def _own(path: Path, home: Path) -> str:
    """`.claude`, `.codex`, `.gemini`, `.pi/agent`, `.cline/data`."""
    deep = {".cline", ".pi"} & {*path.parts}
    return "/".join(path.relative_to(home).parts[: 2 if deep else 1])


def _written(home: Path) -> Iterator[Path]:
    """Transcripts, and what stands beside them of the same sessions."""
    for pattern in (
        ".claude/projects/**/*.json*",
        ".claude/history.jsonl",
        ".codex/**/rollout-*.jsonl",
        ".codex/history.jsonl",
        ".gemini/projects.json",
        ".gemini/tmp/**/*.json*",
        ".gemini/tmp/*/.project_root",
        ".copilot/session-state/*/events.jsonl",
        ".pi/agent/sessions/*/*.jsonl",
        ".qwen/projects/*/chats/*.jsonl",
        ".cline/data/sessions/*/*.json",
        ".cline/data/tasks/*/ui_messages.json",
    ):
        yield from sorted(home.glob(pattern))


if __name__ == "__main__":
    main()
