"""An index over sessions as OpenCode stores them, and a vault."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.api.vaults import write
from tests.sources.opencode.stores import Client
from vault_index import VaultIndex
from vault_index.config import Home, find_home
from vault_index.config.edit import create_config, set_value

Turns = Sequence[Any]
"""Texts of the user and the assistant, in turn; None is no answer."""


def say(client: Client, session: str, turns: Turns, **columns: Any) -> None:
    client.session(session, **columns)
    for number, turn in enumerate(turns):
        parts = turn if isinstance(turn, list) else [turn]
        if number % 2 == 0:
            client.user(turn, session)
        elif turn is not None:
            client.assistant(*parts, session=session)


def make_home(
    folder: Path, *, notes: Mapping[str, str] | None = None, provider: str = "none", mirror: bool = False
) -> tuple[Home, Client]:
    """A home without an index, and the client whose sessions it reads."""
    home = find_home(folder / "home")
    write(folder / "vault", notes or {"empty.md": "Nothing here.\n"})
    (folder / "opencode").mkdir()
    create_config(home, folder / "vault", provider=provider, memory_dir=None)
    set_value(home, "sessions.opencode.enabled", "true")
    set_value(home, "sessions.opencode.data", str(folder / "opencode"))
    set_value(home, "agents.start_daemon", "false", "")
    if mirror:
        set_value(home, "sessions.mirror", "sessions")
    return home, Client(folder / "opencode/opencode.db")


@contextmanager
def sessions(folder: Path, said: Mapping[str, Turns], *, title: str = "", **options: Any) -> Iterator[VaultIndex]:
    """The index of these sessions, each with `title` or its id as its title."""
    home, client = make_home(folder, **options)
    for session, turns in said.items():
        say(client, session, turns, title=title or f"Work {session[4:]}")
    client.close()
    with VaultIndex.open(home) as index:
        index.sync()
        yield index
