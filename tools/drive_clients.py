"""Drive the clients of agents through forks, compactions, rewinds and resumed sessions."""

import json
import os
import signal
from pathlib import Path

from tests.clients_real.clients import Client
from tests.clients_real.model import Model
from tests.clients_real.scenes import (
    AFTER,
    DELEGATE,
    FIRST,
    FORK,
    LONG,
    MEND,
    OTHER,
    SECOND,
    SECRET,
    TALK,
    asked,
)
from tests.clients_real.sessions import CLAUDE, codex_id, transcripts
from tests.clients_real.terminal import ENTER, ESCAPE, UP
from tests.waiting import until

_EMPTIED = "\x15"
"""Ctrl-U: clears the line."""


def claude_forked(client: Client, session: Path) -> Path:
    before = set(transcripts(client))
    client.run(*CLAUDE, "--resume", session.stem, "--fork-session", asked(FORK, "fork"))
    (path,) = set(transcripts(client)) - before
    return path


def claude_compacted(client: Client, session: Path) -> None:
    client.run(*CLAUDE, "--resume", session.stem, "/compact")
    client.run(*CLAUDE, "--resume", session.stem, asked(AFTER, "after"))


def claude_delegated(client: Client) -> Path:
    before = set(transcripts(client))
    client.run(*CLAUDE, asked(DELEGATE, "delegate"))
    (path,) = set(transcripts(client)) - before
    return path


def claude_rewound(client: Client) -> Path:
    """On a terminal: rewind the second prompt, ask another one, and name the session."""
    before = set(transcripts(client))
    with client.terminal("--permission-mode", "acceptEdits") as terminal:
        terminal.wait("accept edits on")
        terminal.say(asked(FIRST, "first"), TALK["first"])
        terminal.say(asked(SECOND, "second"), TALK["second"])
        terminal.settle()
        terminal.press(ESCAPE, ESCAPE)
        terminal.wait("(current)")
        terminal.press(UP, ENTER)
        terminal.wait("Restore conversation")
        terminal.press(ENTER)
        terminal.settle()
        terminal.press(_EMPTIED)
        terminal.say(asked(OTHER, "other"), TALK["other"])
        terminal.say("/rename Books and boxes", "Session renamed")
    (path,) = set(transcripts(client)) - before
    return path


def codex_mended(client: Client) -> Path:
    client.run("exec", asked(MEND, "mend"))
    path = transcripts(client)[-1]
    client.run("exec", "resume", codex_id(path), asked(SECRET, "secret"))
    return path


def codex_forked(client: Client, session: Path) -> Path:
    before = set(transcripts(client))
    client.run("exec", "fork", codex_id(session), asked(FORK, "fork"))
    (path,) = set(transcripts(client)) - before
    return path


def codex_on_a_terminal(client: Client, model: Model) -> list[Path]:
    """A prompt, a compaction, an interrupted turn and a rewound prompt: two files."""
    before = set(transcripts(client))
    with client.terminal("--no-daemon", "--no-alt-screen") as terminal:
        terminal.wait("Ask Codex to do anything")
        terminal.say(asked(FIRST, "first"), TALK["first"])
        terminal.say("/compact", "Context compacted")
        terminal.say(asked(SECOND, "second"), TALK["second"])
        terminal.say(asked(LONG, "long"))
        until(model.held.is_set)
        terminal.press(ESCAPE)
        terminal.wait("Conversation interrupted")
        model.go_on.set()
        terminal.settle()
        terminal.press(ESCAPE, ESCAPE)
        terminal.wait("rewind")
        terminal.press(ENTER)
        terminal.wait("Conversation reverted")
        terminal.settle()
        terminal.press(_EMPTIED)
        terminal.say(asked(OTHER, "other"), TALK["other"])
        terminal.say("/quit", "To continue this session")
    return sorted(set(transcripts(client)) - before)


def gemini_mended(client: Client, *, resumed: bool = True) -> Path:
    client.run("-y", "-p", asked(MEND, "mend"))
    path = transcripts(client)[-1]
    if resumed:
        gemini_resumed(client)
    return path


def gemini_resumed(client: Client) -> None:
    client.run("-y", "-r", "latest", "-p", asked(SECRET, "secret"))


def gemini_rewound(client: Client) -> Path:
    before = set(transcripts(client))
    with client.terminal("-y") as terminal:
        terminal.wait("Type your message")
        terminal.say(asked(FIRST, "first"), TALK["first"])
        terminal.say(asked(SECOND, "second"), TALK["second"])
        terminal.say("/rewind", "Stay at current position")
        terminal.press(UP, ENTER)
        terminal.wait("Rewind conversation")
        terminal.press(ENTER)
        terminal.settle()
        terminal.press(_EMPTIED)
        terminal.say(asked(OTHER, "other"), TALK["other"])
        terminal.settle()
    (path,) = set(transcripts(client)) - before
    return path


COPILOT = ("--allow-all-tools", "-p")
PI = ("--model", "scripted/scripted-1", "-p")
QWEN = ("--yolo", "--auth-type", "anthropic", "-p")


def printed(client: Client, words: tuple[str, ...]) -> None:
    """Two sessions of a client that prints its answers."""
    client.run(*words, asked(MEND, "mend"))
    client.run("--continue", *words, asked(SECRET, "secret"))
    client.run(*words, asked(SECOND, "second"))
    client.run("--continue", *words, asked(OTHER, "other"))


def pi_forked(client: Client) -> None:
    """Fork the first session."""
    first = min(client.home.glob(".pi/agent/sessions/*/*.jsonl"))
    client.run("--fork", str(first), *PI, asked(FORK, "fork"))


AIDER = (
    *("--model", "anthropic/claude-sonnet-4-5", "--edit-format", "diff", "--map-tokens", "0"),
    *("--yes-always", "--no-auto-commits", "--no-gitignore", "--no-check-update"),
    *("--no-show-model-warnings", "--no-show-release-notes", "--analytics-disable"),
)


def aider_piped(client: Client) -> None:
    """Two sessions of two prompts."""
    mended = "\n".join((asked(MEND, "mend"), asked(SECRET, "secret"), "/run python3 app.py"))
    client.run(*AIDER, "app.py", stdin=f"{mended}\n/exit\n")
    client.run(*AIDER, stdin=f"{asked(SECOND, 'second')}\n{asked(OTHER, 'other')}\n/exit\n")


def cline_printed(client: Client) -> None:
    """Four sessions: Cline resumes a session only on a terminal."""
    words = ("-y",) if client.program.suffix == ".mjs" else ()
    for prompt, scene in ((MEND, "mend"), (SECRET, "secret"), (SECOND, "second"), (OTHER, "other")):
        client.run(*words, asked(prompt, scene))
    for lock in client.home.glob(".cline/data/locks/hub/production.json"):  # of its daemon
        os.kill(json.loads(lock.read_text(encoding="utf-8"))["pid"], signal.SIGTERM)
