"""The parts of an open home that send files elsewhere, and the ledger of what leaves."""

import time
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from vault_index.config import Config, Home
from vault_index.indexer.current_sources import Moments
from vault_index.models import Filters
from vault_index.results.status import SentRecord
from vault_index.sources.source import Source
from vault_index.store.pool import ReadPool
from vault_index.store.spaces import document_states
from vault_index.times import local_day


class Machine(NamedTuple):
    """An open home that sends files."""

    home: Home
    config: Config
    reads: ReadPool
    moments: Moments
    sources: Mapping[str, Source]

    def may_leave(self, source: str, path: str) -> bool:
        """Return whether a file is indexed as it is now, and not private.

        Raises VaultIndexError if the settings cannot be read.
        """
        with self.reads.lend(snapshot=False) as connections:
            states = document_states(connections.reader, Filters(sources=(source,), paths=(path,)))
        return bool(self.moments().leaving(one for one in states if one.path == path))

    def declare(self, kind: str, receiver: str, texts: Iterable[tuple[str, str, int]]) -> None:
        """Write the ledger, before sending: source, path and number of texts.

        `kind` is `pool` or `remote`: these texts cost no tokens. Raises StateDamagedError.
        """
        today = local_day(time.time())
        records = [
            SentRecord(today, f"{kind} {receiver}", kind, source, path, count, 0)
            for source, path, count in texts
        ]
        with self.reads.lend(snapshot=False) as connections:
            connections.state.record_sent(records)
