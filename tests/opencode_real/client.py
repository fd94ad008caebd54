"""The real OpenCode in a home of its own, with a vault, its index, and the installed plugin."""

import json
import os
import signal
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.opencode_real.model import Model, Step
from tests.waiting import PATIENCE, until
from vault_index.config import find_home
from vault_index.daemon.client import ping

_GRACE = 20
"""Seconds that OpenCode gets to exit. No test depends on it."""


@dataclass
class Place:
    """Everything lies in one folder; the user's own files are not read."""

    folder: Path
    model: Model
    env: dict[str, str] = field(default_factory=dict)

    @property
    def vault(self) -> Path:
        return self.folder / "vault"

    @property
    def project(self) -> Path:
        return self.folder / "shop"

    @property
    def home(self) -> Path:
        return self.folder / "vx"

    @property
    def memories(self) -> list[Path]:
        return sorted((self.vault / "80-memory").rglob("*.md"))

    def command(self, *words: str) -> str:
        """Run vault-index."""
        return _run([sys.executable, "-m", "vault_index", *words], self.env, self.project)

    def run(self, prompt: str, *words: str) -> str:
        """Run one turn with `opencode run`, a process of its own; return the id of its session."""
        out = _run([os.environ["OPENCODE_BIN"], "run", "--format", "json", *words], self.env, self.project, prompt)
        events = [json.loads(line) for line in out.splitlines() if line.startswith("{")]
        return next(str(event["sessionID"]) for event in events if "sessionID" in event)

    @contextmanager
    def daemon(self) -> Iterator[int]:
        """Start a daemon of the index and yield its pid once it listens."""
        process = subprocess.Popen(
            [sys.executable, "-m", "vault_index", "watch", "--quiet"], env=self.env, stderr=subprocess.DEVNULL
        )
        try:
            until(lambda: _answers(self.home))
            yield process.pid
        finally:
            process.kill()
            process.wait()

    @contextmanager
    def served(self) -> "Iterator[Server]":
        """OpenCode as a server: many turns in one process."""
        process = subprocess.Popen(
            [os.environ["OPENCODE_BIN"], "serve", "--port", "0", "--print-logs", "--log-level", "INFO"],
            env=self.env, cwd=self.project, text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        server = Server(self, process)
        try:
            server.wait_until_ready()
            yield server
        finally:
            server.stop()


class Server:
    """OpenCode's HTTP interface, as its clients use it."""

    def __init__(self, place: Place, process: "subprocess.Popen[str]") -> None:
        self._place = place
        self._process = process
        self._url = ""
        self._lines: list[str] = []
        self._reader = threading.Thread(target=self._read, daemon=True)

    def wait_until_ready(self) -> None:
        self._reader.start()
        until(lambda: self._url)

    @property
    def log_lines(self) -> list[str]:
        """The log lines of the plugin."""
        return [line for line in list(self._lines) if "vault-index: " in line]

    def session(self) -> str:
        return str(self._call("/session", {})["id"])

    def turn(self, session: str, prompt: str) -> str:
        """Return the answer of the model."""
        answer = self._call(f"/session/{session}/message", {"parts": [{"type": "text", "text": prompt}]})
        return "\n".join(part.get("text", "") for part in answer["parts"] if part["type"] == "text")

    def compact(self, session: str) -> None:
        self._call(f"/session/{session}/summarize", {"providerID": "fake", "modelID": "fake-1"})

    def stop(self) -> None:
        """Stop it as Ctrl+C does."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGINT)
            try:
                self._process.wait(_GRACE)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        self._reader.join()

    def _call(self, path: str, body: Mapping[str, Any]) -> Any:
        request = urllib.request.Request(
            self._url + path, json.dumps(body).encode(), {"Content-Type": "application/json"}
        )
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            return json.loads(answer.read() or b"null")

    def _read(self) -> None:
        assert self._process.stdout is not None
        with self._process.stdout as lines:
            for line in lines:
                self._lines.append(line.rstrip())
                if "listening on http://" in line:
                    self._url = "http://" + line.partition("http://")[2].split()[0]


@contextmanager
def placed(folder: Path, scenes: Mapping[str, Sequence[Step]], notes: Mapping[str, str]) -> Iterator[Place]:
    """Make a project, a vault with these notes and its index, and OpenCode with the plugin for every project."""
    model = Model(scenes)
    place = Place(folder, model)
    user = folder / "user"
    config = user / ".config" / "opencode"
    for made in (config, place.project, place.vault):
        made.mkdir(parents=True)
    kept = {key: os.environ[key] for key in ("PATH", "LANG", "TMPDIR", "OPENCODE_BIN") if key in os.environ}
    place.env = kept | {
        "HOME": str(user),
        "PWD": str(place.project),  # OpenCode prefers it to the real working folder
        "PYTHONPATH": str(Path(__file__).parent.parent.parent),
        "VAULT_INDEX_HOME": str(place.home),
        "OPENCODE_DISABLE_AUTOUPDATE": "1",
        "OPENCODE_DISABLE_MODELS_FETCH": "1",
    }
    # With a plugin, OpenCode has npm install one of its packages at every start; here that fails at once.
    (user / ".npmrc").write_text("offline=true\nfetch-retries=0\n", encoding="utf-8")
    (config / "opencode.json").write_text(json.dumps(_settings(model.url)), encoding="utf-8")
    for path, text in notes.items():
        (place.vault / path).parent.mkdir(parents=True, exist_ok=True)
        (place.vault / path).write_text(text, encoding="utf-8")
    try:
        subprocess.run(["git", "init", "--quiet", str(place.project)], env=place.env, check=True)
        place.command("init", str(place.vault), "--no-opencode", "--quiet")
        place.command("config", "set", "agents.start_daemon", "false")
        place.command("agent", "install", "opencode", "--quiet")
        yield place
    finally:
        model.shutdown()
        model.server_close()


def _answers(home: Path) -> bool:
    return ping(find_home(home).socket_path) is not None


def _run(words: Sequence[str], env: Mapping[str, str], folder: Path, stdin: str = "") -> str:
    done = subprocess.run(words, env=env, cwd=folder, input=stdin, capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0, f"{words}: exit code {done.returncode}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"
    return done.stdout


def _settings(url: str) -> dict[str, Any]:
    """Settings of OpenCode with the scripted model only."""
    model = {"name": "Fake 1", "tool_call": True, "limit": {"context": 200000, "output": 4096}}
    provider = {
        "npm": "@ai-sdk/openai-compatible", "name": "Fake", "options": {"baseURL": url, "apiKey": "none"},
        "models": {"fake-1": model},
    }  # fmt: skip
    return {
        "model": "fake/fake-1", "small_model": "fake/fake-1", "autoupdate": False, "share": "disabled",
        "permission": "allow", "enabled_providers": ["fake"], "provider": {"fake": provider},
    }  # fmt: skip
