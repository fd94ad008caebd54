"""`agent` through the command line: clients' own files, and the command that their hooks call."""

import json
import shlex
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.waiting import PATIENCE, until
from vault_index.agents.clients import CONNECTED, WIRED
from vault_index.cli import main
from vault_index.config import find_home

SETTINGS = {
    "claude-code": {
        ".claude.json": '{\n  "numStartups": 3,\n  "projects": {}\n}',
        ".claude/settings.json": '{\n\t"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "bell"}]}]}\n}\n',
    },
    "codex": {".codex/config.toml": '# mine\nmodel = "o3"\n'},
    "gemini": {".gemini/settings.json": '{"mcpServers": {"other": {"command": "x"}}} // theirs\n'},
}


@pytest.fixture(autouse=True)
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Whose clients these are."""
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


def answer(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    capsys.readouterr()
    assert main([*words, "--json"]) == 0
    read: dict[str, Any] = json.loads(capsys.readouterr().out)
    return read


def states(capsys: pytest.CaptureFixture[str], client: str) -> list[str]:
    return [one["state"] for one in answer(capsys, "agent", "status", client)["results"]]


@pytest.mark.parametrize("client", CONNECTED)
def test_a_client_is_connected_once_and_left_as_it_was(
    user: Path, client: str, capsys: pytest.CaptureFixture[str]
) -> None:
    before = contents(user)
    assert states(capsys, client) == ["absent", "absent"]
    assert main(["agent", "install", client, "--print"]) == 0
    assert contents(user) == before
    assert main(["agent", "install", client]) == 0
    connected = contents(user)
    assert connected != before
    assert states(capsys, client) == ["installed", "absent"]
    assert main(["agent", "install", client]) == 0
    assert contents(user) == connected
    assert main(["agent", "uninstall", client]) == 0
    assert contents(user) == before


@pytest.mark.parametrize("client", CONNECTED)
def test_a_project_is_connected_by_itself(
    tmp_path: Path, user: Path, client: str, capsys: pytest.CaptureFixture[str]
) -> None:
    before = contents(user)
    assert main(["agent", "install", client, "--project"]) == 0
    assert contents(user) == before
    assert states(capsys, client) == ["absent", "installed"]
    assert main(["agent", "uninstall", client, "--project", str(tmp_path / "project")]) == 0
    assert contents(tmp_path / "project") == {}


def test_the_hooks_and_the_server_know_their_home(home: Path, user: Path) -> None:
    assert main(["agent", "install", "claude-code"]) == 0
    server = json.loads((user / ".claude.json").read_text())["mcpServers"]["vault-index"]
    assert server["args"][-3:] == ["--home", str(home), "mcp"]
    hooks = json.loads((user / ".claude/settings.json").read_text())["hooks"]
    assert list(hooks) == ["Stop", "SessionStart", "UserPromptSubmit"]
    assert hooks["Stop"][0]["hooks"][0]["command"] == "bell"
    words = shlex.split(hooks["Stop"][1]["hooks"][0]["command"])
    assert words[-7:] == ["--home", str(home), "agent", "hook", "claude-code", "||", "true"]


def test_another_folder_of_claude_code_has_all_its_files(user: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(user / "other"))
    assert main(["agent", "install", "claude-code"]) == 0
    assert set(contents(user / "other")) == {".claude.json", "settings.json"}


@pytest.mark.parametrize("client", WIRED)
def test_a_command_that_moved_is_renewed_in_its_place(
    user: Path, client: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["agent", "install", client]) == 0
    now = contents(user)
    program = answer(capsys, "agent", "status")["command"][0]
    for name, text in now.items():
        (user / name).write_text(text.replace(program, "/gone/vault-index").replace('"mcp"', '"mcp", "--read-only"'))
    [state, _] = answer(capsys, "agent", "status", client)["results"]
    assert (state["state"], state["gone"]) == ("outdated", ["/gone/vault-index"])
    assert main(["agent", "install", client]) == 0
    renewed = contents(user)
    assert {name: "".join(text.split()) for name, text in renewed.items()} == {
        name: "".join(text.replace('"mcp"', '"mcp", "--read-only"').split()) for name, text in now.items()
    }
    assert states(capsys, client) == ["installed", "absent"]


def test_the_doctor_says_that_a_program_is_gone(user: Path, shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["agent", "install", "codex"]) == 0
    program = answer(capsys, "agent", "status")["command"][0]
    assert main(["doctor"]) == 0
    file = user / ".codex/hooks.json"
    file.write_text(file.read_text().replace(program, "/gone/vault-index"))
    capsys.readouterr()
    assert main(["doctor", "--json"]) == 1
    assert [one["code"] for one in json.loads(capsys.readouterr().out)["problems"]] == ["agent_outdated"]


def test_what_is_missing_is_put_back_and_what_is_there_twice_goes(
    user: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["agent", "install", "codex"]) == 0
    file = user / ".codex/hooks.json"
    whole = json.loads(file.read_text())
    less = {"hooks": {"Stop": whole["hooks"]["Stop"] * 2, "Notification": whole["hooks"]["Stop"]}}
    file.write_text(json.dumps(less))
    assert main(["agent", "install", "codex"]) == 0
    assert json.loads(file.read_text()) == whole


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        (".gemini/settings.json", '{"a": }', "no JSON: see line 1"),
        (".gemini/settings.json", '{"hooks": []}', "not as it should be"),
        (".gemini/settings.json", '{"hooks": {"AfterAgent": {}}}', "not as it should be"),
        (".gemini/settings.json", '{"mcpServers": {"vault-index": {"command": "theirs"}}}', "another server"),
        (".gemini/settings.json", b'{"a": "\xff"}', "not UTF-8"),
        (".codex/config.toml", "a = [", "no TOML"),
        (".codex/config.toml", "mcp_servers = {}", "not understood"),
    ],
)
def test_what_cannot_be_read_is_named_and_left_alone(
    user: Path, name: str, text: str | bytes, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    client = Path(name).parts[0].removeprefix(".")
    (user / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    kept = {path: path.read_bytes() for path in user.rglob("*") if path.is_file()}
    assert main(["agent", "install", client]) != 0
    err = capsys.readouterr().err
    assert (message in err, str(user / name) in err, "hint: " in err) == (True, True, True)
    assert {path: path.read_bytes() for path in user.rglob("*") if path.is_file()} == kept
    [state, _] = answer(capsys, "agent", "status", client)["results"]
    assert state["state"] == "unreadable"


def test_a_link_stays_a_link_and_permissions_stay(user: Path, tmp_path: Path) -> None:
    file, kept = user / ".gemini/settings.json", tmp_path / "dotfiles.json"
    file.rename(kept)
    kept.chmod(0o640)
    file.symlink_to(kept)
    assert main(["agent", "install", "gemini"]) == 0
    assert file.is_symlink()
    assert "vault-index" in kept.read_text()
    assert kept.stat().st_mode & 0o777 == 0o640


def test_what_is_printed_holds_no_line_that_stays(user: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (user / ".gemini/settings.json").write_text('{\n  "apiKey": "none-of-anybodys",\n  "b": 1\n}\n')
    assert main(["agent", "install", "gemini", "--print"]) == 0
    out = capsys.readouterr().out
    assert "agent hook gemini" in out
    assert "none-of-anybodys" not in out


def test_codex_is_not_connected_before_its_hooks_are_trusted(user: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["agent", "install", "codex"]) == 0
    assert "trust" in capsys.readouterr().err
    assert answer(capsys, "agent", "status", "codex")["results"][0]["trusted"] is False
    with (user / ".codex/config.toml").open("a") as file:
        for event in ("session_start", "user_prompt_submit", "stop"):
            file.write(f'\n[hooks.state."{user}/.codex/hooks.json:{event}:0:0"]\ntrusted_hash = "sha256:0"\n')
    assert answer(capsys, "agent", "status", "codex")["results"][0]["trusted"] is True


# --- the command that hooks call -----------------------------------------------------------------------------------

CODE = "import sys; from vault_index.cli import connect, main; connect._SECONDS = {}; sys.exit(main(sys.argv[1:]))"


@pytest.fixture
def shop(home: Path, vault: Path, tmp_path: Path) -> Path:
    """A project that something is known of."""
    for words in (
        ["init", str(vault), "--provider", "none"],
        ["config", "set", "agents.start_daemon", "false"],
        ["add", "The warehouse counts boxes, not books.", "--type", "decision", "--project", "shop"],
    ):
        assert main([*words, "--quiet"]) == 0
    (tmp_path / "shop").mkdir()
    return tmp_path / "shop"


def hook(told: object, client: str = "claude-code", code: str = CODE.format(PATIENCE)) -> str:
    """What a hook says; it never fails, and says nothing else."""
    ended = subprocess.run(
        [sys.executable, "-c", code, "agent", "hook", client],
        input=told if isinstance(told, str) else json.dumps(told),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert (ended.returncode, ended.stderr) == (0, "")
    return ended.stdout


def prompt(shop: Path, text: str = "How do we count?") -> dict[str, str]:
    return {"hook_event_name": "UserPromptSubmit", "session_id": "s-1", "cwd": str(shop), "prompt": text}


def test_a_prompt_is_answered_with_what_is_known(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = json.loads(hook(prompt(shop)))["hookSpecificOutput"]
    assert said["hookEventName"] == "UserPromptSubmit"
    assert "> The warehouse counts boxes, not books." in said["additionalContext"]
    assert "fault" not in answer(capsys, "agent", "status")


def test_a_daemon_that_hangs_holds_nobody_up(home: Path, shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VAULT_INDEX_GREETING_SECONDS", "1.5")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(find_home(home).socket_path))
        listening.listen()
        assert "counts boxes" in hook(prompt(shop))


def test_a_hook_ends_though_what_it_waits_for_does_not_come(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = [sys.executable, "-c", CODE.format(0.01), "agent", "hook", "codex"]
    with subprocess.Popen(
        words,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.read() == b""
        assert process.wait(PATIENCE) == 0
    assert answer(capsys, "agent", "status")["fault"] == "codex: no answer in time"


@pytest.mark.parametrize("told", ["", "{", "[]", '"x"', {}, {"hook_event_name": ["x"], "session_id": 1, "prompt": {}}])
def test_a_hook_that_is_told_nonsense_says_nothing(shop: Path, told: object) -> None:
    assert hook(told) == ""


def test_without_an_index_a_hook_does_nothing(home: Path, shop: Path) -> None:
    find_home(home).config_file.unlink()
    assert hook(prompt(shop)) == ""
    assert not (home / "agents").exists()


def test_what_is_said_is_kept_for_review_but_for_what_is_private_or_secret(shop: Path, vault: Path) -> None:
    secret = "AKIA" + "IOSFODNN7EXAMPLE"
    text = "*Remember*: the code is 4711.</private>\n\n*Remember*: the key is " + secret
    hook(prompt(shop, f"<private>{text}\n\n*Remember*: the gate closes at five."))
    inbox = vault / "80-memory/inbox"
    until(lambda: any(inbox.glob("*.md")))
    (file,) = inbox.rglob("*.md")
    kept = file.read_text()
    assert all(
        word in kept for word in ("the gate closes at five", "entered_by: user", "session: s-1", "project: shop")
    )
    assert "4711" not in kept
    assert secret not in kept
