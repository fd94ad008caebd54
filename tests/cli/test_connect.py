"""`agent` on the command line: it edits clients' settings; hooks call it."""

import json
import os
import shlex
import socket
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from io import BytesIO, TextIOWrapper
from pathlib import Path

import pytest

from tests.cli.process import Out, answer
from tests.waiting import PATIENCE, until
from vault_index.agents.clients import CONNECTED, WIRED
from vault_index.cli import connect, main
from vault_index.config import find_home
from vault_index.daemon import client

Hook = Callable[[object], str]

SETTINGS = {
    "claude-code": {
        ".claude.json": '{\n  "numStartups": 3,\n  "projects": {}\n}',
        ".claude/settings.json": json.dumps(
            {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "bell"}]}]}}, indent="\t"
        ),
    },
    "codex": {".codex/config.toml": '# mine\nmodel = "o3"\n'},
    "gemini": {".gemini/settings.json": json.dumps({"mcpServers": {"other": {"command": "x"}}}, indent=4)},
}


@pytest.fixture(autouse=True)
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The home folder of the clients' user."""
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "user"))
    (tmp_path / "project").mkdir()
    monkeypatch.chdir(tmp_path / "project")
    for files in SETTINGS.values():
        for name, text in files.items():
            (tmp_path / "user" / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / "user" / name).write_text(text)
    return tmp_path / "user"


def contents(folder: Path) -> dict[str, str]:
    return {str(path.relative_to(folder)): path.read_text() for path in sorted(folder.rglob("*")) if path.is_file()}


def states(capsys: Out, client: str) -> list[str]:
    return [one["state"] for one in answer(capsys, "agent", "status", client)["results"]]


@pytest.mark.parametrize("client", CONNECTED)
def test_agent_install_is_idempotent_and_uninstall_restores_files(
    tmp_path: Path, user: Path, client: str, capsys: Out
) -> None:
    before = contents(user)
    assert states(capsys, client) == ["absent", "absent"]
    assert main(["agent", "install", client, "--print"]) == 0
    assert "numStartups" not in capsys.readouterr().out  # no line remains
    assert contents(user) == before
    for _ in range(2):
        assert main(["agent", "install", client]) == 0
        connected = contents(user)
        assert connected != before
        assert states(capsys, client) == ["installed", "absent"]
    assert main(["agent", "uninstall", client]) == 0
    assert contents(user) == before

    assert main(["agent", "install", client, "--project"]) == 0
    assert contents(user) == before
    assert states(capsys, client) == ["absent", "installed"]
    assert main(["agent", "uninstall", client, "--project", str(tmp_path / "project")]) == 0
    assert contents(tmp_path / "project") == {}


def test_agent_install_prints_no_other_settings(user: Path, capsys: Out) -> None:
    settings = '{"env": {"KEY": "hidden"}, "hooks": {"Stop": [{"hooks": [{"command": "bell"}]}]}}'
    (user / ".claude/settings.json").write_text(settings)
    assert main(["agent", "install", "claude-code", "--print"]) == 0
    printed = capsys.readouterr().out
    assert "agent hook claude-code" in printed
    assert "hidden" not in printed


def test_agent_install_writes_the_home_into_hooks_and_server(home: Path, user: Path) -> None:
    assert main(["agent", "install", "claude-code"]) == 0
    server = json.loads((user / ".claude.json").read_text())["mcpServers"]["vault-index"]
    assert server["args"][-3:] == ["--home", str(home), "mcp"]
    hooks = json.loads((user / ".claude/settings.json").read_text())["hooks"]
    assert list(hooks) == ["Stop", "SessionStart", "UserPromptSubmit", "PreToolUse"]
    [before] = hooks["PreToolUse"]
    assert before["matcher"] == "Edit|MultiEdit|Write|NotebookEdit|Bash"
    assert before["hooks"][0]["command"].endswith(f"/before_tool.py {home}/daemon.sock 2>/dev/null || true")
    assert hooks["Stop"][0]["hooks"][0]["command"] == "bell"
    words = shlex.split(hooks["Stop"][1]["hooks"][0]["command"])
    assert words[-7:] == ["--home", str(home), "agent", "hook", "claude-code", "||", "true"]
    hooks["SessionStart"][0]["matcher"] = "startup"
    (user / ".claude/settings.json").write_text(json.dumps({"hooks": hooks}))
    assert main(["agent", "uninstall", "claude-code"]) == 0
    hooks = json.loads((user / ".claude/settings.json").read_text())["hooks"]
    assert hooks == {"Stop": [{"hooks": [{"type": "command", "command": "bell"}]}]}  # no empty group


@pytest.mark.parametrize("client", WIRED)
def test_agent_install_updates_a_moved_command_in_place(user: Path, shop: Path, client: str, capsys: Out) -> None:
    def mine(text: str) -> str:
        return text.replace('"mcp"', '"mcp", "--read-only"')

    assert main(["agent", "install", client]) == 0
    now = contents(user)
    program = answer(capsys, "agent", "status")["command"][0]
    for name, text in now.items():
        (user / name).write_text(mine(text.replace(program, "/gone/vault-index")))
    [state, _] = answer(capsys, "agent", "status", client)["results"]
    assert (state["state"], state["gone"]) == ("outdated", ["/gone/vault-index"])
    [problem] = answer(capsys, "doctor", code=1)["problems"]
    assert problem["code"] == "agent_outdated"
    assert main(["agent", "install", client]) == 0
    renewed = {name: "".join(text.split()) for name, text in contents(user).items()}
    assert renewed == {name: "".join(mine(text).split()) for name, text in now.items()}
    assert states(capsys, client) == ["installed", "absent"]


UNREADABLE = [
    (".gemini/settings.json", b'{"a": }', "not valid JSON"),
    (".gemini/settings.json", b'{"hooks": {"AfterAgent": {}}}', "hooks.AfterAgent has an unexpected value"),
    (".gemini/settings.json", b'{"mcpServers": {"vault-index": {"command": "theirs", "args": 5}}}', "another server"),
    (".gemini/settings.json", b'{"a": "\xff"}', "not UTF-8"),
    (".codex/config.toml", b"a = [", "not valid TOML"),
    (".codex/config.toml", b"mcp_servers = {}", "no safe way"),
]


def test_agent_install_names_unreadable_settings_and_keeps_them(user: Path, capsys: Out) -> None:
    for name, text, message in UNREADABLE:
        client = Path(name).parts[0].removeprefix(".")
        (user / name).write_bytes(text)
        kept = {path: path.read_bytes() for path in user.rglob("*") if path.is_file()}
        assert main(["agent", "install", client]) != 0
        err = capsys.readouterr().err
        assert (message in err, str(user / name) in err, "hint: " in err) == (True, True, True), message
        assert {path: path.read_bytes() for path in user.rglob("*") if path.is_file()} == kept
        assert states(capsys, client)[0] == "unreadable"
    os.mkfifo(".mcp.json")
    assert states(capsys, "claude-code")[1] == "unreadable"


def test_agent_install_keeps_links_and_modes_and_makes_a_backup(
    home: Path, user: Path, tmp_path: Path, capsys: Out
) -> None:
    file, kept = user / ".gemini/settings.json", tmp_path / "dotfiles.json"
    file.unlink()
    kept.write_text("{}")
    kept.chmod(0o640)
    file.symlink_to(kept)
    [copy] = answer(capsys, "agent", "install", "gemini")["backups"]
    assert Path(copy).read_text() == "{}"
    assert [path.stat().st_mode & 0o777 for path in (Path(copy), Path(copy).parent)] == [0o600, 0o700]
    assert "vault-index" in kept.read_text()
    assert main(["agent", "uninstall", "gemini"]) == 0
    assert (file.readlink(), kept.read_text()) == (kept, "{}")
    assert kept.stat().st_mode & 0o777 == 0o640


def test_agent_status_reports_untrusted_codex_hooks(user: Path, capsys: Out) -> None:
    assert main(["agent", "install", "codex"]) == 0
    assert "trust" in capsys.readouterr().err
    assert answer(capsys, "agent", "status", "codex")["results"][0]["trusted"] is False
    with (user / ".codex/config.toml").open("a") as file:
        for event in ("session_start", "user_prompt_submit", "stop"):
            file.write(f'\n[hooks.state."{user}/.codex/hooks.json:{event}:0:0"]\ntrusted_hash = "sha256:0"\n')
    assert answer(capsys, "agent", "status", "codex")["results"][0]["trusted"] is True


@pytest.fixture
def shop(home: Path, vault: Path, tmp_path: Path) -> Path:
    """A project with one memory."""
    for words in (
        ["init", str(vault), "--provider", "none"],
        ["config", "set", "agents.start_daemon", "false"],
        ["add", "The warehouse counts boxes, not books.", "--type", "decision", "--project", "shop"],
    ):
        assert main([*words, "--quiet"]) == 0
    (tmp_path / "shop").mkdir()
    return tmp_path / "shop"


@pytest.fixture
def hook(monkeypatch: pytest.MonkeyPatch, capsys: Out) -> Hook:
    """Return the output of a hook, which always exits with 0 and prints nothing else."""
    monkeypatch.setattr(connect, "_SECONDS", PATIENCE)

    def called(told: object) -> str:
        capsys.readouterr()
        stdin = TextIOWrapper(BytesIO((told if isinstance(told, str) else json.dumps(told)).encode()))
        monkeypatch.setattr("sys.stdin", stdin)
        assert main(["agent", "hook", "claude-code"]) == 0
        out, err = capsys.readouterr()
        assert err == ""
        return out

    return called


def prompt(shop: Path, text: str = "How do we count?") -> dict[str, str]:
    return {"hook_event_name": "UserPromptSubmit", "session_id": "s-1", "cwd": str(shop), "prompt": text}


def test_hook_adds_memories_to_a_prompt(shop: Path, hook: Hook, capsys: Out) -> None:
    said = json.loads(hook(prompt(shop)))["hookSpecificOutput"]
    assert said["hookEventName"] == "UserPromptSubmit"
    assert "> The warehouse counts boxes, not books." in said["additionalContext"]
    assert "fault" not in answer(capsys, "agent", "status")


def test_hook_prints_nothing_for_invalid_input_or_without_an_index(home: Path, shop: Path, hook: Hook) -> None:
    for nonsense in ("", "{", "[]", {}, {"hook_event_name": ["x"], "session_id": 1, "prompt": {}}):
        assert hook(nonsense) == ""
    find_home(home).config_file.unlink()
    assert hook(prompt(shop)) == ""


def test_hook_answers_while_the_daemon_hangs(
    home: Path, shop: Path, hook: Hook, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "connect", partial(client.connect, greeting=0.1))
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(find_home(home).socket_path))
        listening.listen()
        assert "counts boxes" in hook(prompt(shop))


def test_hook_exits_at_its_timeout_when_input_does_not_arrive(shop: Path, capsys: Out) -> None:
    code = "from vault_index.cli import connect, main; connect._SECONDS = 0.01; main(['agent', 'hook', 'codex'])"
    words = [sys.executable, "-c", code]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.read() == b""
        assert process.wait(PATIENCE) == 0
    assert answer(capsys, "agent", "status")["fault"] == "codex: no answer in time"


def test_hook_captures_statements_without_private_or_secret_text(shop: Path, vault: Path, hook: Hook) -> None:
    secret = "AKIA" + "IOSFODNN7EXAMPLE"
    text = "*Remember*: the code is 4711.</private>\n\n*Remember*: the key is " + secret
    hook(prompt(shop, f"<private>{text}\n\n*Remember*: the gate closes at five."))
    inbox = vault / "80-memory/inbox"
    until(lambda: any(inbox.glob("*.md")))
    (file,) = inbox.rglob("*.md")
    kept = file.read_text()
    for words in ("the gate closes at five", "entered_by: user", "session: s-1", "project: shop"):
        assert words in kept
    assert "4711" not in kept
    assert secret not in kept
