"""Where things lie and how they are set: the home of an index and its TOML configuration."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from vault_index.config.home import Home as Home, find_home as find_home, private_folder as private_folder
    from vault_index.config.load import load_config as load_config
    from vault_index.config.schema import (
        AgentsConfig as AgentsConfig,
        ChunkConfig as ChunkConfig,
        Config as Config,
        EmbeddingConfig as EmbeddingConfig,
        MemoryConfig as MemoryConfig,
        OpencodeConfig as OpencodeConfig,
        RankingConfig as RankingConfig,
        SearchConfig as SearchConfig,
        SourceConfig as SourceConfig,
        WatchConfig as WatchConfig,
    )

_MODULES = {
    "Home": "home",
    "find_home": "home",
    "private_folder": "home",
    "load_config": "load",
    "AgentsConfig": "schema",
    "ChunkConfig": "schema",
    "Config": "schema",
    "EmbeddingConfig": "schema",
    "MemoryConfig": "schema",
    "OpencodeConfig": "schema",
    "RankingConfig": "schema",
    "SearchConfig": "schema",
    "SourceConfig": "schema",
    "WatchConfig": "schema",
}


def __getattr__(name: str) -> Any:
    # Lazy (PEP 562): every command needs `home`, and a command answered by the daemon needs nothing else.
    if name in _MODULES:
        from importlib import import_module

        return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
