"""`serve --pool`: answer from a team's pool, with the tokens of its members."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any

from vault_index.access import Tokens, hash_of
from vault_index.api import VaultIndex, call, to_json
from vault_index.api.served import served_params
from vault_index.callers import Caller
from vault_index.config import Home
from vault_index.errors import NotFoundError, VaultIndexError
from vault_index.mcp_server.backend import Backend
from vault_index.runtime import Runtime
from vault_index.store.pool import Connections, ReadPool
from vault_index.team.address import conninfo
from vault_index.team.connections import PoolConnections

ANSWERED = frozenset(
    ("search", "recall", "get", "why", "list", "related", "timeline", "tags", "stats")
)
"""The methods that read only what a pool has."""


class PoolBackend(Backend):
    """Answers the methods of members in this process, without a daemon or an index."""

    def __init__(self, home: Home) -> None:
        super().__init__(home)
        self._runtime = Runtime.open(home)
        self.connections = PoolConnections(conninfo(self._runtime.config.pool), home.state_db)

    def prepare(self) -> None:
        """Load the model before the first query."""
        with suppress(VaultIndexError):  # reported by the first search
            self._runtime.embedders.configured()

    def call(
        self, method: str, params: Mapping[str, Any], caller: Caller | None = None
    ) -> dict[str, Any]:
        """Return the result of a method, as with `--json`.

        Raises NotFoundError for a method that needs files of a machine, and PoolError.
        """
        given = served_params(caller, method, params) if caller else dict(params)
        if method not in ANSWERED:
            raise NotFoundError(
                f"a pool does not answer {method[:40]!r}",
                f"available methods: {', '.join(sorted(ANSWERED))}",
            )
        lent = _Lender(self._home, self.connections, caller)
        answer: dict[str, Any] = to_json(
            call(VaultIndex(self._runtime.of_pool(lent, lent.names)), method, given)
        )
        return answer


class _Lender(ReadPool):
    """Lends connections to the pool for one caller."""

    def __init__(self, home: Home, connections: PoolConnections, caller: Caller | None) -> None:
        super().__init__(home)
        self._lend = partial(connections.lend, caller)

    @contextmanager
    def lend(self, *, snapshot: bool = True) -> Iterator[Connections]:
        """Lend a connection for reading."""
        with self._lend() as connections:
            yield connections

    def names(self) -> tuple[str, ...]:
        """Return the names of the sources that the caller sees."""
        with self._lend() as connections:
            return connections.reader.sources


class PoolTokens(Tokens):
    """The tokens of the members, which are in the pool."""

    elsewhere = True

    def __init__(self, home: Home, connections: PoolConnections) -> None:
        super().__init__(home.tokens_file)
        self._connections = connections

    def find(self, secret: str, now: float, port: str = "", run: str = "") -> Caller | None:
        """Return the member with this token. Raises PoolError."""
        return self._connections.member_with(hash_of(secret))
