"""Delete sessions permanently from the index, the archive and the vault (`forget`)."""

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import NamedTuple

from vault_index.disk import path_in
from vault_index.errors import UsageError
from vault_index.fields import Filters
from vault_index.query.language.filters import parse_time
from vault_index.query.resume import client_of
from vault_index.results.memories import MemoryOutcome, MemoryOutcomes, Outcome
from vault_index.runtime import Runtime
from vault_index.sources.sessions.source import SessionSource
from vault_index.store.documents import Order, documents_page, embed_keys
from vault_index.store.forgotten import delete_session_rows, put_forgotten
from vault_index.store.pool import Connections
from vault_index.store.writer import IndexWriter

_ID = re.compile(r"[A-Za-z0-9_-]+")


class _Session(NamedTuple):
    """A session that can be forgotten."""

    id: str
    uid: str
    """The id of its document; empty if it is not indexed."""
    source: str
    path: str
    title: str
    client: str
    project: str
    parent: str
    updated: float


def forget_sessions(
    runtime: Runtime,
    refs: Sequence[str],
    *,
    project: str = "",
    client: str = "",
    before: str = "",
    dry_run: bool,
) -> MemoryOutcomes:
    """Forget the given sessions, or those that match every filter, and their subagents' sessions.

    A `dry_run` only lists them. Raises UsageError unless either references or filters are given.
    """
    if bool(refs) == bool(project or client or before):
        raise UsageError(
            "no session was given" if not refs else "sessions and filters were both given",
            "give either sessions, or --project, --client or --before",
        )
    until = parse_time(before) if before else float("inf")
    with runtime.write.held("forget"):
        with runtime.pool.lend() as connections:
            all_ = {one.id: one for one in _sessions(runtime, connections)}
            chosen = {_find_id(runtime, connections, ref, all_) for ref in refs}
        if not refs:
            chosen = {one.id for one in all_.values() if _matches(one, project, client, until)}
        sessions = _with_subagents(chosen, all_)
        if not dry_run and sessions:
            _forget(runtime, sessions)
    outcome: Outcome = "would be forgotten" if dry_run else "forgotten"
    return MemoryOutcomes(
        tuple(MemoryOutcome(one.uid, one.path, one.title, outcome, {}) for one in sessions)
    )


def _with_subagents(chosen: set[str], all_: dict[str, _Session]) -> list[_Session]:
    """Return the chosen sessions and those of their subagents, by client and path."""
    left = all_.keys() - chosen
    while children := {id_ for id_ in left if all_[id_].parent in chosen}:
        chosen |= children
        left -= children
    return sorted((all_[id_] for id_ in chosen), key=lambda one: (one.client, one.path))


def _matches(one: _Session, project: str, client: str, until: float) -> bool:
    """Return whether a session matches every filter; an empty one matches all."""
    return project in ("", one.project) and client in ("", one.client) and one.updated < until


def _sessions(runtime: Runtime, connections: Connections) -> Iterator[_Session]:
    """Yield the archived sessions, then the indexed ones, which have more details."""
    for name in runtime.config.clients:
        archive = SessionSource(runtime.config, name).archive
        with suppress(OSError):
            for path in archive.all():
                if (listed := archive.listed(path)) is not None:
                    one, updated = listed.session, listed.session.updated / 1000
                    yield _Session(
                        one.id, "", name, path, one.title, name, one.project, one.parent, updated
                    )
    sessions = documents_page(connections.reader, Filters(kinds=("session",)), Order("path"))[0]
    for document in sessions:
        front = {key: str(value or "") for key, value in document.frontmatter.items()}
        if _ID.fullmatch(id_ := front.get("session", "")):
            yield _Session(
                id=id_,
                uid=document.uid,
                source=document.source,
                path=document.path,
                title=document.title,
                client=client_of(document),
                project=front.get("project", ""),
                parent=front.get("parent", "").strip("[]"),
                updated=document.updated,
            )


def _find_id(
    runtime: Runtime, connections: Connections, ref: str, known: dict[str, _Session]
) -> str:
    if ref in known:
        return ref
    document = runtime.resolve(connections, runtime.inside(ref)).document
    id_ = str(document.frontmatter.get("session") or "") if document.kind == "session" else ""
    if not id_:
        raise UsageError(
            f"{document.path} is a {document.kind}, not a session",
            "use delete for a memory; notes are never deleted",
        )
    return id_


def _forget(runtime: Runtime, sessions: Sequence[_Session]) -> None:
    """Delete sessions everywhere.

    They are recorded as forgotten first: if the process is killed, the next sync does not read
    them.
    """
    ids = {one.id for one in sessions}
    with runtime.pool.lend() as connections:
        put_forgotten(connections.state, ids)
    for id_ in ids:
        (runtime.home.recalled_dir / f"{id_}.txt").unlink(missing_ok=True)
    for one in sessions:
        if (vault := runtime.vaults.get(one.source)) is not None:
            with suppress(FileNotFoundError):
                os.unlink(path_in(str(vault.config.path), one.path))
    for name in runtime.config.clients:
        archive = SessionSource(runtime.config, name).archive
        for id_ in ids:
            while path := archive.find(id_):
                archive.remove(path)
    places = [(one.source, one.path) for one in sessions]

    def out_of_index(writer: IndexWriter) -> set[bytes]:
        rows = [row.id for source, path in places for row in writer.known(source, [path]).values()]
        keys = {key for row in rows for key in embed_keys(writer, row)}
        for row in rows:
            writer.remove_document(row)
        runtime.write.refresh({})  # update names and vocabulary
        return keys

    with runtime.pool.lend() as connections:
        delete_session_rows(connections.state, ids, places, {one.uid for one in sessions})
    for each in runtime.sources:
        if isinstance(each, SessionSource) and not each.missing():
            each.client.forget(ids)
        else:  # the record of files that no longer exist
            (runtime.home.sessions_dir / each.config.name / ".heads.json").unlink(missing_ok=True)
    runtime.write.forget(out_of_index, {path for _, path in places})
