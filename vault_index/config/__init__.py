"""Where things lie and how they are set: the home of an index and its TOML configuration."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from vault_index.config.home import Home as Home
    from vault_index.config.home import find_home as find_home
    from vault_index.config.home import private_folder as private_folder
    from vault_index.config.load import load_config as load_config
    from vault_index.config.schema import AgentsConfig as AgentsConfig
    from vault_index.config.schema import ChunkConfig as ChunkConfig
    from vault_index.config.schema import Config as Config
    from vault_index.config.schema import EmbeddingConfig as EmbeddingConfig
    from vault_index.config.schema import MemoryConfig as MemoryConfig
    from vault_index.config.schema import OpencodeConfig as OpencodeConfig
    from vault_index.config.schema import RankingConfig as RankingConfig
    from vault_index.config.schema import SearchConfig as SearchConfig
    from vault_index.config.schema import SourceConfig as SourceConfig
    from vault_index.config.schema import WatchConfig as WatchConfig

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
