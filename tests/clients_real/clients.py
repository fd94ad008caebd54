"""The clients, each in a home of its own, with access to the scripted model only."""

import json
import os
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.clients_real.model import Model
from tests.clients_real.terminal import Terminal
from tests.waiting import PATIENCE

APP = """stored = "correct horse"


def check(password):
    return password != stored


print("login ok" if check("correct horse") else "login failed")
"""
_KEY = "sk-ant-none-of-anybodys-key"


@dataclass
class Client:
    """One client in one home."""

    program: Path
    home: Path
    project: Path
    env: dict[str, str]

    def run(self, *words: str, stdin: str = "") -> str:
        done = subprocess.run(
            [self.program, *words],
            env=self.env,
            cwd=self.project,
            input=stdin,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )
        assert done.returncode == 0, (
            f"{words}: exit code {done.returncode}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"
        )
        return done.stdout

    @contextmanager
    def terminal(self, *words: str) -> Iterator[Terminal]:
        terminal = Terminal([str(self.program), *words], self.env, self.project)
        try:
            yield terminal
        finally:
            terminal.close()

    def reset(self) -> None:
        """Restore the project."""
        (self.project / "app.py").write_text(APP, encoding="utf-8")


def programs() -> Path:
    """The folder where npm installed the clients."""
    return Path(os.environ["CLIENTS_DIR"]) / "node_modules"


def installed(name: str) -> Path:
    return programs() / ".bin" / name


def claude_code(folder: Path, model: Model, program: Path) -> Client:
    client = _client(folder, program, {"ANTHROPIC_BASE_URL": model.url, "ANTHROPIC_API_KEY": _KEY, **_QUIET})
    config = {
        "hasCompletedOnboarding": True,
        "theme": "dark",
        "customApiKeyResponses": {"approved": [_KEY[-20:]], "rejected": []},
        "projects": {str(client.project): {"hasTrustDialogAccepted": True}},
    }
    (client.home / ".claude.json").write_text(json.dumps(config), encoding="utf-8")
    return client


_QUIET = {
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "DISABLE_TELEMETRY": "1",
    "DISABLE_AUTOUPDATER": "1",
    "DISABLE_ERROR_REPORTING": "1",
}


def codex(folder: Path, model: Model, program: Path, name: str = "gpt-5.5") -> Client:
    """`name` is a model that this version knows; the offered tools depend on it."""
    client = _client(folder, program, {"FAKE_KEY": "none"})
    template = Path(__file__).with_name("codex.toml").read_text("utf-8")
    config = template.format(name=name, url=model.url, project=client.project)
    (client.home / ".codex").mkdir()
    (client.home / ".codex/config.toml").write_text(config, encoding="utf-8")
    return client


def gemini(folder: Path, model: Model, program: Path) -> Client:
    client = _client(folder, program, {"GOOGLE_GEMINI_BASE_URL": model.url, "GEMINI_API_KEY": "none"})
    settings = {
        "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": False}},
        "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False},
        "privacy": {"usageStatisticsEnabled": False},
        "telemetry": {"enabled": False},
        "model": {"name": "gemini-2.5-flash"},
    }
    (client.home / ".gemini").mkdir()
    (client.home / ".gemini/settings.json").write_text(json.dumps(settings), encoding="utf-8")
    return client


def copilot(folder: Path, model: Model, program: Path) -> Client:
    env = {
        "COPILOT_OFFLINE": "true",
        "COPILOT_PROVIDER_TYPE": "anthropic",
        "COPILOT_PROVIDER_BASE_URL": model.url,
        "COPILOT_MODEL": "claude-sonnet-4.5",
    }
    return _client(folder, program, env)


def pi(folder: Path, model: Model, program: Path) -> Client:
    client = _client(folder, program, {"PI_OFFLINE": "1"})
    models = [{"id": "scripted-1", "reasoning": True}]
    provider = {"baseUrl": model.url, "apiKey": "none", "api": "anthropic-messages", "models": models}
    (client.home / ".pi/agent").mkdir(parents=True)
    config = json.dumps({"providers": {"scripted": provider}})
    (client.home / ".pi/agent/models.json").write_text(config, encoding="utf-8")
    return client


def qwen(folder: Path, model: Model, program: Path) -> Client:
    env = {"ANTHROPIC_BASE_URL": model.url, "ANTHROPIC_API_KEY": "none", "ANTHROPIC_MODEL": "claude-sonnet-4-5"}
    client = _client(folder, program, env)
    settings = {"privacy": {"usageStatisticsEnabled": False}, "general": {"enableAutoUpdate": False}}
    (client.home / ".qwen").mkdir()
    (client.home / ".qwen/settings.json").write_text(json.dumps(settings), encoding="utf-8")
    return client


def aider(folder: Path, model: Model, program: Path) -> Client:
    return _client(folder, program, {"ANTHROPIC_API_KEY": "none", "ANTHROPIC_API_BASE": model.url})


def cline(folder: Path, model: Model, program: Path) -> Client:
    """Cline 3, and Cline 2 with its older files of settings."""
    client = _client(folder, program, {"CLINE_TELEMETRY_DISABLED": "1"})
    name = "claude-sonnet-4-5"
    provider = {"provider": "anthropic", "apiKey": "none", "model": name, "baseUrl": f"{model.url}/v1"}
    providers = {"anthropic": {"settings": provider, "updatedAt": "2026-11-26T00:00:00Z", "tokenSource": "manual"}}
    older = {f"{mode}ModeApi{key}": value for mode in ("act", "plan") for key, value in _OLDER_CLINE.items()}
    older |= {"anthropicBaseUrl": model.url}
    for place, value in {
        "settings/providers.json": {"version": 1, "lastUsedProvider": "anthropic", "providers": providers},
        "globalState.json": older | {"welcomeViewCompleted": True},
        "secrets.json": {"apiKey": "none"},
    }.items():
        file = client.home / ".cline/data" / place
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(value), encoding="utf-8")
    return client


_OLDER_CLINE = {"Provider": "anthropic", "ModelId": "claude-sonnet-4-5"}


def _client(folder: Path, program: Path, env: Mapping[str, str]) -> Client:
    home, project = folder / "home", folder / "shop"
    home.mkdir(parents=True)
    project.mkdir()
    kept = {key: os.environ[key] for key in ("PATH", "TMPDIR") if key in os.environ}
    client = Client(
        program, home, project, kept | {"HOME": str(home), "LANG": "C.UTF-8", "TERM": "xterm-256color"} | dict(env)
    )
    client.reset()
    _git(client, "init", "--quiet", "--initial-branch=main")
    _git(client, "add", ".")
    _git(client, "-c", "user.name=user", "-c", "user.email=user@example.org", "commit", "--quiet", "-m", "The shop")
    return client


def _git(client: Client, *words: str) -> None:
    subprocess.run(["git", *words], cwd=client.project, env=client.env, check=True)


def lines(path: Path) -> Sequence[dict[str, object]]:
    """Return the records of a JSONL file."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
