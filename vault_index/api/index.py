"""`VaultIndex`: everything the commands, the daemon and the MCP server do, as Python calls."""

from vault_index.api.carrying import Carrying
from vault_index.api.upkeep import Upkeep


class VaultIndex(Upkeep, Carrying):
    """One index: its home, its configuration, its sources.

        with VaultIndex.open() as index:
            index.sync()
            for hit in index.search("wal mode", limit=3).results:
                print(hit.path, hit.lines, hit.snippet)

    Reading methods may be called from several threads at once and never wait for a writer. Writing methods (sync,
    rebuild, embed, and those of memories) take turns with other processes, and belong to one thread.
    """
