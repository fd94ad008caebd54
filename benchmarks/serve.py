"""Send searches to `vault-index serve` at a fixed rate from many clients.

    python benchmarks/serve.py FOLDER --size 140k [--seconds 3600] [--rate 25] [--clients 50]
                               [--texts FOLDER ...]

Prints errors, durations, and the resources of both processes over time. FOLDER holds the vault and
the index of benchmarks/scale.py; the daemon and `serve` are started for it. Each client keeps a
connection and sends requests at random times (a Poisson process), even if the last answer is late:
the waiting time counts. Of ten clients, three have tokens for a part of the vault, and one calls
the MCP tool. Prints a line of JSON every --every seconds, and the sums at the end. Linux only.
"""

import argparse
import asyncio
import json
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import cycle
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.corpus import KINDS, ONE_PERCENT, Asker, made_up_topics, topics_of
from benchmarks.machine import describe
from benchmarks.process import Usage, usage
from benchmarks.scale import NOTES, Scaled, compiled
from vault_index.access import Tokens
from vault_index.callers import Caller, Scope
from vault_index.config import find_home
from vault_index.daemon.client import connect

_PARTS = ("area 1", "area 2", "area 3")
"""Folders of 500 notes each: what the tokens for a part may see."""
_WARM_SECONDS = 600.0
"""At the most: what is held is judged from then on."""
_PATIENCE = 120.0
_LIMIT_MS = 150.0


@dataclass
class Client:
    """One connection, with the token it shows, and what it asks."""

    kind: str
    port: int
    token: str
    questions: Iterator[tuple[str, dict[str, Any]]]
    """Each with its kind (benchmarks/corpus.py)."""
    session: str = ""
    reader: asyncio.StreamReader | None = None
    writer: asyncio.StreamWriter | None = None
    number: int = 0

    async def search(self, params: dict[str, Any]) -> str:
        """Ask; what went wrong, or nothing."""
        if self.kind != "mcp":
            status, body = await self._post("/api/search", params)
            return "" if status == 200 and b'"results"' in body else f"{status} {body[:100]!r}"
        if not self.session:
            await self._begin()
        asked = {key: value for key, value in params.items() if key in ("query", "tags", "mode")}
        status, body = await self._rpc("tools/call", {"name": "memory_search", "arguments": asked})
        return (
            ""
            if status == 200 and b'"isError":true' not in body and b'"result"' in body
            else f"{status} {body[:100]!r}"
        )

    async def _begin(self) -> None:
        told = {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "load", "version": "1"},
        }
        await self._rpc("initialize", told)
        self.session = self.session or "none"
        await self._post("/mcp", {"jsonrpc": "2.0", "method": "notifications/initialized"})

    async def _rpc(self, method: str, params: dict[str, Any]) -> tuple[int, bytes]:
        self.number += 1
        return await self._post(
            "/mcp", {"jsonrpc": "2.0", "id": self.number, "method": method, "params": params}
        )

    async def _post(self, path: str, body: dict[str, Any]) -> tuple[int, bytes]:
        data = json.dumps(body).encode()
        lines = [
            f"POST {path} HTTP/1.1", f"Host: 127.0.0.1:{self.port}",
            f"Authorization: Bearer {self.token}", "Content-Type: application/json",
            "Accept: application/json, text/event-stream", f"Content-Length: {len(data)}",
        ]  # fmt: skip
        if self.session not in ("", "none"):
            lines += [f"Mcp-Session-Id: {self.session}", "MCP-Protocol-Version: 2025-06-18"]
        whole = "\r\n".join([*lines, "", ""]).encode() + data
        if self.writer is not None:
            # A connection that the server closed meanwhile, as it may: any client opens another
            # one.
            with suppress(ConnectionError, asyncio.IncompleteReadError):
                return await self._exchange(whole)
            self.close()
        self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.port)
        return await self._exchange(whole)

    async def _exchange(self, data: bytes) -> tuple[int, bytes]:
        assert self.reader is not None
        assert self.writer is not None
        self.writer.write(data)
        head = (await self.reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        first, *lines = head.split("\r\n")
        headers = {
            name.lower(): value.strip()
            for name, _, value in (line.partition(":") for line in lines if line)
        }
        self.session = headers.get("mcp-session-id", self.session)
        body = b""
        if headers.get("transfer-encoding") == "chunked":
            while size := int((await self.reader.readuntil(b"\r\n")).split(b";")[0], 16):
                body += (await self.reader.readexactly(size + 2))[:-2]
            await self.reader.readexactly(2)
        else:
            body = await self.reader.readexactly(int(headers.get("content-length", 0)))
        if headers.get("connection") == "close":
            self.close()
        return int(first.split()[1]), body

    def close(self) -> None:
        """Close the connection."""
        if self.writer is not None:
            self.writer.close()
        self.reader = self.writer = None


@dataclass
class Load:
    """The measurements so far."""

    spent: dict[str, list[float]] = field(default_factory=dict)
    """Milliseconds from the time when a request was due until its answer, by kind of client and by
    kind of query.
    """
    errors: Counter[str] = field(default_factory=Counter)
    window: list[float] = field(default_factory=list)

    def note(self, kinds: Sequence[str], milliseconds: float, wrong: str) -> None:
        """Record one answer."""
        for kind in kinds:
            self.spent.setdefault(kind, []).append(milliseconds)
        self.window.append(milliseconds)
        if wrong:
            self.errors[wrong] += 1


async def ask(client: Client, load: Load, rate: float, until: float, chance: random.Random) -> None:
    """Send requests of one client until the end, and record the answers."""
    due = time.perf_counter() + chance.expovariate(rate)
    while due < until:
        await asyncio.sleep(max(0.0, due - time.perf_counter()))
        kind, question = next(client.questions)
        try:
            async with asyncio.timeout(_PATIENCE):
                wrong = await client.search(question)
        except (OSError, TimeoutError, asyncio.IncompleteReadError, ValueError) as error:
            wrong = type(error).__name__
            client.close()
        load.note((client.kind, kind), (time.perf_counter() - due) * 1000, wrong)
        due += chance.expovariate(rate)
    client.close()


async def drive(
    clients: Sequence[Client], load: Load, options: argparse.Namespace, pids: dict[str, int]
) -> list[Any]:
    """Run all clients and sample the processes."""
    until = time.perf_counter() + options.seconds
    each = options.rate / len(clients)
    asking = [
        asyncio.create_task(ask(client, load, each, until, random.Random(number)))
        for number, client in enumerate(clients)
    ]
    started, samples = time.monotonic(), list[Any]()
    own = {**pids, "load": os.getpid()}
    before, stood = (
        {name: usage(pid) for name, pid in own.items()},
        {name: delayed(pid) for name, pid in own.items()},
    )
    while not all(task.done() for task in asking):
        await asyncio.wait(asking, timeout=options.every, return_when=asyncio.ALL_COMPLETED)
        now = {name: usage(pid) for name, pid in own.items()}
        window, load.window = load.window, []
        stands = {name: delayed(pid) for name, pid in own.items()}
        line = {
            "at": round(time.monotonic() - started, 1), "asked": len(window), **percentiles(window),
            "errors": load.errors.total(), "load": round(os.getloadavg()[0], 2),
            **{name: {**held(seen), "cpu": cpu(before[name], seen), "delayed": round(
                100 * (stands[name] - stood[name]) / (seen.seconds - before[name].seconds), 1
            )} for name, seen in now.items()},
        }  # fmt: skip
        before, stood = now, stands
        samples.append(line)
        print(json.dumps(line), flush=True)
    for task in asking:
        task.result()
    return samples


def held(seen: Usage) -> dict[str, float]:
    """Return the resources of a process as JSON values."""
    return {
        "anonymous_mb": round(seen.anonymous_mb, 1), "resident_mb": round(seen.resident_mb, 1),
        "files": seen.files, "threads": seen.threads,
    }  # fmt: skip


def delayed(pid: int) -> float:
    """Seconds that its threads could have run, and waited for a processor that others had."""
    seconds = 0.0
    for task in Path(f"/proc/{pid}/task").iterdir():
        with suppress(OSError):
            seconds += int((task / "schedstat").read_text().split()[1]) / 1e9
    return seconds


def cpu(before: Usage, after: Usage) -> float:
    """Percent of one processor."""
    return round(
        100 * (after.cpu_seconds - before.cpu_seconds) / (after.seconds - before.seconds), 1
    )


def percentiles(spent: Sequence[float]) -> dict[str, float]:
    """Return the percentiles of durations."""
    if not spent:
        return {}
    ordered = sorted(spent)
    return {
        f"p{share}": round(ordered[int(len(ordered) * share / 100)], 1) for share in (50, 95, 99)
    } | {"max": round(ordered[-1], 1)}


def slopes(samples: Sequence[Any], name: str) -> dict[str, float]:
    """How much more is held, in MB an hour, once it is warm."""
    last = samples[-1]["at"]
    kept = [line for line in samples if line["at"] >= min(_WARM_SECONDS, last / 3)]
    if len(kept) < 3:
        return {}
    return {
        what: round(
            statistics.linear_regression(
                [one["at"] / 3600 for one in kept], [one[name][what] for one in kept]
            ).slope,
            2,
        )
        for what in ("anonymous_mb", "resident_mb")
    }


def questions(asker: Asker, count: int, seed: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """Of every kind, most of them as people ask; in an order of its own for each client."""
    kinds = (*KINDS, "four words", "four words", "long question", "long question")
    made: list[tuple[str, dict[str, Any]]] = []
    for kind in KINDS:
        more = {"tags": [ONE_PERCENT]} if kind == "filter of 1 %" else {}
        made += [
            (kind, {"query": query, **more}) for query in asker.queries(kind, count)
        ] * kinds.count(kind)
    random.Random(seed).shuffle(made)
    return cycle(made)


@contextmanager
def processes(
    home: Path, listen: str, settings: dict[str, str]
) -> Iterator[tuple[int, dict[str, int]]]:
    """The port, and the ids of the daemon and of `serve`, ready to answer."""
    environment = (
        compiled() | {"VAULT_INDEX_HOME": str(home), "CLAUDE_CONFIG_DIR": "/nonexistent"} | settings
    )
    command = [sys.executable, "-m", "vault_index"]
    with tempfile.NamedTemporaryFile("w+") as said:
        daemon = subprocess.Popen(
            [*command, "watch", "--quiet"], env=environment, stderr=subprocess.DEVNULL
        )
        serve = None
        try:
            _until(lambda: _reconciled(home), "the daemon does not answer")
            serve = subprocess.Popen(
                [*command, "serve", "--listen", listen], env=environment, stdout=said, stderr=said
            )
            port = re.compile(r"//[^/]*:(\d+)")
            _until(
                lambda: port.search(Path(said.name).read_text()) is not None,
                "serve does not listen",
            )
            found = port.search(Path(said.name).read_text())
            assert found is not None
            yield int(found[1]), {"serve": serve.pid, "daemon": daemon.pid}
        finally:
            for process in (serve, daemon):
                if process is not None:
                    process.terminate()
                    process.wait()


def _reconciled(home: Path) -> bool:
    client = connect(find_home(home).socket_path)
    if client is None:
        return False
    with client:
        answer = client.call("status", {})
    assert isinstance(answer, dict)
    return answer["watch"]["last_reconcile"] is not None and answer["index"]["pending"] == 0


def _until(condition: Any, otherwise: str) -> None:
    started = time.monotonic()
    while not condition():
        if time.monotonic() > started + _PATIENCE:
            raise SystemExit(otherwise)
        time.sleep(0.05)


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--size", choices=NOTES, default="140k")
    parser.add_argument("--seconds", type=float, default=3600.0)
    parser.add_argument(
        "--rate", type=float, default=25.0, help="searches a second, of all clients (default: 25)"
    )
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument(
        "--kinds",
        nargs="+",
        default=["http"] * 6 + ["part"] * 3 + ["mcp"],
        help="of clients, in turn",
    )
    parser.add_argument("--every", type=float, default=10.0)
    parser.add_argument(
        "--queries", type=int, default=500, help="different ones of each kind (default: 500)"
    )
    parser.add_argument(
        "--texts", type=Path, nargs="+", default=[], help="folders of English texts"
    )
    options = parser.parse_args()
    scaled = Scaled(
        options.folder.absolute(), options.size, topics_of(options.texts) or made_up_topics(), 0
    )
    scaled.build()
    tokens, asker = Tokens(find_home(scaled.home).tokens_file), Asker(scaled.corpus)
    for old in tokens.all():
        if old.caller.name.startswith("load-"):
            tokens.revoke(old.caller.name)
    print(
        json.dumps(
            {"machine": describe(), "notes": scaled.corpus.notes, **vars(options)}, default=str
        ),
        flush=True,
    )
    load, clients = Load(), list[Client]()
    with processes(scaled.home, "127.0.0.1:0", {}) as (port, pids):
        for number in range(options.clients):
            kind = options.kinds[number % len(options.kinds)]
            scope = Scope(folders=(_PARTS[number % len(_PARTS)],)) if kind == "part" else Scope()
            token = tokens.add(Caller(f"load-{number}", scope=scope), created=time.time())
            clients.append(Client(kind, port, token, questions(asker, options.queries, number)))
        samples = asyncio.run(drive(clients, load, options, pids))
    everything = [one for kind, spent in load.spent.items() if kind not in KINDS for one in spent]
    over = sum(one > _LIMIT_MS for one in everything)
    print(
        json.dumps({
            "asked": len(everything), "a second": round(len(everything) / options.seconds, 2),
            "errors": dict(load.errors), **percentiles(everything),
            f"over {_LIMIT_MS:.0f} ms": over,
            **{
                kind: {"asked": len(spent), **percentiles(spent)}
                for kind, spent in sorted(load.spent.items())
            },
            **{name: {
                "cpu": round(statistics.mean(one[name]["cpu"] for one in samples), 1),
                "delayed": round(statistics.mean(one[name]["delayed"] for one in samples), 1),
                "an hour": slopes(samples, name),
                "first_mb": samples[0][name]["anonymous_mb"],
                "last_mb": samples[-1][name]["anonymous_mb"],
                "most_mb": max(one[name]["anonymous_mb"] for one in samples),
            } for name in ("serve", "daemon", "load")},
        }),
        flush=True,
    )  # fmt: skip
    sys.exit(1 if load.errors else 0)


if __name__ == "__main__":
    main()
