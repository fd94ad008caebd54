"""The home of an index (its folders) and its TOML configuration."""

from typing import TYPE_CHECKING

from vault_index.lazy import lazy_names

if TYPE_CHECKING:
    from vault_index.config.home import (
        Home as Home,
        find_home as find_home,
        private_folder as private_folder,
    )
    from vault_index.config.load import load_config as load_config
    from vault_index.config.schema import (
        AgentsConfig as AgentsConfig,
        ChunkConfig as ChunkConfig,
        ClientConfig as ClientConfig,
        Config as Config,
        EmbeddingConfig as EmbeddingConfig,
        MemoryConfig as MemoryConfig,
        PoolConfig as PoolConfig,
        RankingConfig as RankingConfig,
        SearchConfig as SearchConfig,
        SessionsConfig as SessionsConfig,
        SourceConfig as SourceConfig,
        WatchConfig as WatchConfig,
    )

# Every command needs `home`; a command answered by the daemon needs nothing else.
__getattr__ = lazy_names(
    __name__,
    {
        "home": (
            "Home",
            "find_home",
            "private_folder",
        ),
        "load": ("load_config",),
        "schema": (
            "AgentsConfig",
            "ChunkConfig",
            "ClientConfig",
            "Config",
            "EmbeddingConfig",
            "MemoryConfig",
            "PoolConfig",
            "RankingConfig",
            "SearchConfig",
            "SessionsConfig",
            "SourceConfig",
            "WatchConfig",
        ),
    },
)
