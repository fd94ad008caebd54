"""Build the sources of the current settings, and count their chunks without a vector."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING

from vault_index.config import Config, Home, SourceConfig
from vault_index.errors import VaultIndexError
from vault_index.sources.sessions.source import SessionSource
from vault_index.sources.source import Source
from vault_index.sources.vault import VaultSource
from vault_index.store.connection import Database
from vault_index.store.records import SpaceRow
from vault_index.store.spaces import count_pending, lacking_documents
from vault_index.store.state import State

if TYPE_CHECKING:  # so that queries skip the import of the embedding modules
    from vault_index.indexer.outbound import Moment, Now, Origins


def vaults_of(config: Config) -> dict[str, VaultSource]:
    """Return the vaults by name."""
    return {source.name: _vault(config, source) for source in config.sources}


def sources_of_agents(config: Config, vaults: Mapping[str, VaultSource]) -> tuple[Source, ...]:
    """Return one source per enabled client, and that of the clients' own memories."""
    sessions = _sessions_of(config, vaults)
    if not config.agents.memories:
        return sessions
    from vault_index.sources.agent_memories import AgentMemories

    return (*sessions, AgentMemories(config))


def _sessions_of(config: Config, vaults: Mapping[str, VaultSource]) -> tuple[Source, ...]:
    """Return one source per enabled client; only clients in `config.configured` are mirrored."""
    enabled = [name for name, client in config.clients.items() if client.enabled]
    vault = config.memory_source() if config.sessions.mirror else None
    if vault is None or config.configured.isdisjoint(enabled):
        return tuple(SessionSource(config, name) for name in enabled)
    from vault_index.mirroring.mirror import MirroredSessions

    into = vaults[vault.name]
    return tuple(
        MirroredSessions(config, name, into)
        if name in config.configured
        else SessionSource(config, name)
        for name in enabled
    )


def _vault(config: Config, source: SourceConfig) -> VaultSource:
    mirrored = any(client.enabled for client in config.clients.values()) and config.sessions.mirror
    if not mirrored or source != config.memory_source():
        return VaultSource(source)
    from vault_index.mirroring.mirror import VaultWithSessions

    return VaultWithSessions(source, mirrored)


class Moments:
    """The current settings for the privacy gate, parsed again when the file changes.

    Safe for several threads.
    """

    def __init__(self, home: Home) -> None:
        self._home = home
        self._lock = threading.Lock()
        self._state = State(home.state_db)
        self._known: tuple[str, Moment] | None = None

    def close(self) -> None:
        """Close the connection to the state."""
        with self._lock:
            self._state.close()

    def __call__(self) -> Moment:
        """Return the current `Moment`. Raises NotSetUpError, ConfigError."""
        from vault_index.config.load import parse_config, read_text
        from vault_index.indexer.outbound import Moment

        text = read_text(self._home)
        with self._lock:
            if self._known is None or self._known[0] != text:
                config = parse_config(text, self._home, os.environ)
                vaults = vaults_of(config)
                self._known = (
                    text,
                    Moment(
                        config,
                        [*vaults.values(), *sources_of_agents(config, vaults)],
                        self._origins,
                    ),
                )
            return self._known[1]

    def _origins(self) -> Origins:
        with self._lock:  # a state belongs to one thread at a time
            return self._state.origins()


def waiting(
    db: Database, row: SpaceRow | None, provider: str, now: Now, document_id: int | None = None
) -> tuple[int, int]:
    """Count the chunks that wait for a vector, and the local-only chunks, which get no vector.

    `row` None means a future space of `provider`. With `document_id`, count only that document.
    """
    space_id, provider = (row.id, row.space.provider) if row else (None, provider)
    lacking = count_pending(db, space_id, document_id) if provider != "none" else 0
    if provider != "openai" or not lacking:
        return lacking, 0
    try:
        moment = now()
    except VaultIndexError:
        return lacking, 0
    staying = moment.staying(lambda: lacking_documents(db, space_id))
    kept = sum(staying.values()) if document_id is None else staying.get(document_id, 0)
    return lacking - kept, kept
