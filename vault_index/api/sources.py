"""The sources that a configuration describes."""

from __future__ import annotations

from vault_index.sources.vault import VaultSource

TYPE_CHECKING = False  # spares the import of what is only named here; type checkers know the name
if TYPE_CHECKING:
    from collections.abc import Mapping

    from vault_index.config import Config, SourceConfig
    from vault_index.sources.source import Source


def vaults_of(config: Config) -> dict[str, VaultSource]:
    """By name."""
    return {source.name: _vault(config, source) for source in config.sources}


def sessions_of(config: Config, vaults: Mapping[str, VaultSource]) -> tuple[Source, ...]:
    if not config.opencode.enabled:
        return ()
    vault = config.memory_source()
    if config.opencode.mirror and vault is not None:
        from vault_index.mirroring.mirror import MirroredSessions

        return (MirroredSessions(config.opencode, vaults[vault.name]),)
    from vault_index.sources.opencode.source import OpenCodeSource

    return (OpenCodeSource(config.opencode),)


def _vault(config: Config, source: SourceConfig) -> VaultSource:
    opencode = config.opencode
    if not (opencode.enabled and opencode.mirror and source == config.memory_source()):
        return VaultSource(source)
    from vault_index.mirroring.vault import VaultWithSessions

    return VaultWithSessions(source, opencode)
