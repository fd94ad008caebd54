"""`serve --pool`: answer from a team's pool, with the tokens of its members."""

from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any

from vault_index.access import Tokens, hash_of
from vault_index.api import VaultIndex, dispatch, to_json
from vault_index.api.served import served_params
from vault_index.callers import Caller
from vault_index.config import Home
from vault_index.daemon.workers import Answer, Workers
from vault_index.errors import ConflictError, NotFoundError, UsageError, VaultIndexError
from vault_index.indexer.outbound import Outbound
from vault_index.mcp_server.backend import Backend
from vault_index.memories.create import check_given, memory_of
from vault_index.memories.file.document import BOM, read_text
from vault_index.memories.file.files import slug
from vault_index.results.memories import StoredMemory
from vault_index.runtime import Runtime
from vault_index.store.pool import Connections, ReadPool
from vault_index.store.records import DocumentState, PendingChunk
from vault_index.store.spaces import embed_text, without_key
from vault_index.store.state import State
from vault_index.store.writer import DocumentRow
from vault_index.team.address import conninfo
from vault_index.team.connections import PoolConnections
from vault_index.team.files import SHARED, put_file, row_of_file
from vault_index.team.rows import put_vectors
from vault_index.team.shared_vectors import as_floats, space_of

if TYPE_CHECKING:
    from psycopg import Connection

ANSWERED = frozenset(
    ("search", "recall", "get", "why", "list", "related", "timeline", "tags", "stats", "add")
)
"""The methods that need only what a pool has."""
_MOST_NAMES = 100
_OF_FILES = ("source", "directory", "session")
"""Parameters of `add` that mean something on a machine only."""


class PoolBackend(Backend):
    """Answers the methods of members in this process, without a daemon or an index."""

    def __init__(self, home: Home) -> None:
        super().__init__(home)
        self._runtime = Runtime.open(home)
        self.connections = PoolConnections(conninfo(self._runtime.config.pool), home.state_db)
        self._workers = Workers(_open_pool, home)

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
        if method == "add" and caller is not None:
            added: dict[str, Any] = to_json(self._add(caller, **given))
            return added
        if method not in ANSWERED:
            hint = f"available methods: {', '.join(sorted(ANSWERED))}"
            if method in ("update", "delete"):
                hint = "change or delete the file of the memory in a mirror (pool.mirror)"
            raise NotFoundError(f"a pool does not answer {method[:40]!r}", hint)
        return self._workers.call(partial(self.read, method, given, caller), method, given, caller)

    def read(self, method: str, params: dict[str, Any], caller: Caller | None) -> dict[str, Any]:
        """Answer a reading method in this process, with checked parameters."""
        with self.connections.lend(caller) as lent:
            runtime = self._runtime.of_pool(_Lent(self._home, lent), lambda: lent.reader.sources)
            return dispatch(VaultIndex(runtime), method, params)

    def _add(
        self, caller: Caller, text: str = "", path: str = "", force: bool = False, **fields: Any
    ) -> StoredMemory:
        """Store a memory as a file of the pool, with its vectors, in one transaction."""
        config, now = self._runtime.config, datetime.now().astimezone()
        known = {name: value for name, value in fields.items() if name not in _OF_FILES}
        if len(caller.scope.projects) == 1:
            known = {"project": caller.scope.projects[0], **known}
        warnings = check_given(text, known, config.memory, force=force)
        new, superseded = memory_of(read_text(text.removeprefix(BOM)), known, now)
        if superseded:
            hint = "edit the file of the old one in a mirror of the pool"
            raise UsageError("a pool cannot replace memories", hint)
        folder = f"{next(iter(caller.scope.folders), '')}/".lstrip("/")
        name = f"{new.front.get('type')}/{now.date()}-{slug(new.title) or 'memory'}"
        stem = path.removesuffix(".md") or f"{folder}{name}"
        with self.connections.write(caller) as pool:
            for number in range(1, _MOST_NAMES):
                place = f"{stem}{f' {number}' if number > 1 else ''}.md"
                with suppress(ConflictError):
                    put_file(pool, place, new.text, None, config.chunk, force=force)
                    self._embed(pool, row_of_file(place, new.text, config.chunk))
                    return StoredMemory(new.uid, place, True, warnings=tuple(warnings))
        raise ConflictError(f"{stem}.md exists in the pool", "choose another path")

    def _embed(self, pool: "Connection[Any]", row: DocumentRow) -> None:
        """Add the vectors of a memory with a local model; a server gets no text of the pool."""
        embedder = self._runtime.embedders.configured()
        if embedder is None:
            return
        document = DocumentState(0, row.uid, row.source, row.path, 0, 0, 0, 0, "")
        chunks = [
            PendingChunk(
                0,
                document,
                one.embed_key,
                embed_text(one.context, without_key(one.text) if one.of_fields else one.text),
                one.tokens,
            )
            for one in row.chunks
        ]
        with closing(State(self._home.state_db)) as state:
            outbound = Outbound(embedder, state, self._runtime.moments)
            vectors = outbound.embed([[one] for one in chunks])
        floats = {key: as_floats(embedder.space, vector) for key, vector in vectors.items()}
        put_vectors(pool, space_of(pool, embedder.space), SHARED, floats)


def _open_pool(home: Home) -> Answer:
    return PoolBackend(home).read


class _Lent(ReadPool):
    """The connections of one request."""

    def __init__(self, home: Home, lent: Connections) -> None:
        super().__init__(home)
        self._lent = lent

    @contextmanager
    def lend(self, *, snapshot: bool = True) -> Iterator[Connections]:
        """Lend a connection for reading."""
        yield self._lent


class PoolTokens(Tokens):
    """The tokens of the members, which are in the pool."""

    is_remote = True

    def __init__(self, home: Home, connections: PoolConnections) -> None:
        super().__init__(home.tokens_file)
        self._connections = connections

    def find(self, secret: str, now: float, port: str = "", run: str = "") -> Caller | None:
        """Return the member with this token. Raises PoolError."""
        return self._connections.member_with(hash_of(secret))
