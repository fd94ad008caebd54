"""Other servers of vault-index (`serve`), searched while the own index is searched."""

import json
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from functools import cache
from typing import Any

from vault_index.config import SourceConfig
from vault_index.errors import RemoteError, VaultIndexError
from vault_index.indexer.machine import Machine
from vault_index.indexer.outbound import Question
from vault_index.query.search import SearchOptions
from vault_index.remotes.address import label, secret_of
from vault_index.remotes.webdav import WebdavRemote
from vault_index.results.search import Hit, SearchResult
from vault_index.secrets.find import drop_private, redact

_SECONDS = 2.0
"""Seconds to wait for the servers after the own hits are known."""
_FIELDS = {one.name for one in fields(Hit)}
_SURE: tuple[Any, ...] = ("none", "low", "high")
_LOCAL = ("self", "directory", "exclude_session", "source", "offset", "explain", "all")
"""Arguments of a search that concern this machine alone."""

_token = cache(secret_of)  # a command may take seconds


def search(
    machine: Machine,
    question: Question,
    params: Mapping[str, Any],
    wanted: SearchOptions,
    own: Callable[[SearchOptions], SearchResult],
) -> SearchResult:
    """Search all servers and the own index, and return one ranking.

    A private query is not sent. `params` are the arguments of the search.
    """
    most = wanted.offset + wanted.limit
    asked = {key: value for key, value in params.items() if key not in _LOCAL}
    asked |= {"query": redact(drop_private(str(params["query"])))[0], "limit": most}
    answers: dict[str, SearchResult | VaultIndexError] = {}

    servers = machine.config.servers
    try:
        if machine.moments().keeps_query(question):
            raise RemoteError("the query was not sent: it is private", "")
        for server in servers:
            machine.declare("server", label(server.remote), [("", "(queries)", 1)])
    except VaultIndexError as error:
        found = own(wanted)
        return replace(found, degraded=(*found.degraded, f"other servers: {error.message}"))

    def run(server: SourceConfig) -> None:
        try:
            answers[server.name] = _search(server, asked)
        except VaultIndexError as error:
            _token.cache_clear()
            answers[server.name] = error

    threads = [threading.Thread(target=run, args=(one,), daemon=True) for one in servers]
    for thread in threads:
        thread.start()
    found, deadline = own(replace(wanted, offset=0, limit=most)), time.monotonic() + _SECONDS
    for thread in threads:
        thread.join(max(deadline - time.monotonic(), 0.0))
    for server in servers:
        answer = answers.get(server.name, RemoteError(f"no answer in {_SECONDS:g} s", ""))
        if isinstance(answer, VaultIndexError):
            reason = f"{server.name}: {answer.message}"
            found = replace(found, degraded=(*found.degraded, reason))
        else:
            found = replace(
                found,
                confidence=max(found.confidence, answer.confidence, key=_SURE.index),
                results=found.results + answer.results,
            )
    best: dict[str, Hit] = {}
    for hit in sorted(found.results, key=lambda one: -one.score):
        first = best.setdefault(hit.snippet, hit)
        if first is not hit:
            also = *first.also, f"{hit.source}:{hit.path}", *hit.also
            best[hit.snippet] = replace(first, also=also)
    return replace(found, results=tuple(best.values())[wanted.offset : most], offset=wanted.offset)


def _search(server: SourceConfig, params: Mapping[str, Any]) -> SearchResult:
    """Return the answer of a server. Raises RemoteError."""
    token = {"Authorization": f"Bearer {_token(server)[1]}", "Content-Type": "application/json"}
    remote = WebdavRemote(server.remote)
    try:
        answer = json.loads(
            remote.send("POST", "api/search", token, json.dumps(params).encode())[1]
        )
        hits = tuple(_hit(found, server) for found in answer["results"])
        return SearchResult("", "", _SURE[_SURE.index(answer["confidence"])], (), {}, 0.0, hits)
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise RemoteError("the answer is not one of vault-index", "") from error
    finally:
        remote.close()


def _hit(found: Mapping[str, Any], server: SourceConfig) -> Hit:
    values = {key: value for key, value in found.items() if key in _FIELDS}
    values |= {key: str(values[key]) for key in ("id", "path", "title", "snippet", "digest")}
    values |= {key: str(values[key]) for key in ("kind", "created", "updated")}
    values |= {key: tuple(map(str, values[key])) for key in ("headings", "tags", "also")}
    values |= {key: tuple(map(int, values[key])) for key in ("lines", "focus")}
    spans = {"snippet": (), "digest": (), "focus": ((0, len(values["snippet"])),)}
    own = {"score": float(values["score"]), "source": server.name, "link": server.remote}
    return Hit(**{**values, **own, "spans": spans})
