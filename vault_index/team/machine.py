"""The parts of an open home that a publication reads, and the ledger of what leaves it."""

import time
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from vault_index.config import Config, Home
from vault_index.indexer.current_sources import Moments
from vault_index.results.status import SentRecord
from vault_index.sources.source import Source
from vault_index.store.pool import ReadPool
from vault_index.team.address import label
from vault_index.times import local_day

_MODEL = "pool"
"""The model in the ledger of publications, which cost no tokens."""


class Machine(NamedTuple):
    """An open home that publishes."""

    home: Home
    config: Config
    reads: ReadPool
    moments: Moments
    sources: Mapping[str, Source]

    def declare(self, texts: Iterable[tuple[str, str, int]]) -> None:
        """Write the ledger, before sending: source, path and number of texts.

        Raises StateDamagedError.
        """
        receiver, today = f"pool {label(self.config.pool)}", local_day(time.time())
        records = [
            SentRecord(today, receiver, _MODEL, source, path, count, 0)
            for source, path, count in texts
        ]
        with self.reads.lend(snapshot=False) as connections:
            connections.state.record_sent(records)
