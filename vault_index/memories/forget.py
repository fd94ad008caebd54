"""`forget`: sessions leave the index, the vectors, what was kept of them and the vault, for good. What waits in review,
because it is gone from its client, is decided here, too."""

import hashlib
import os
import re
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import NamedTuple

from vault_index.disk import file_in
from vault_index.errors import UsageError
from vault_index.fields import Filters
from vault_index.markdown.frontmatter import plain_text, read_frontmatter
from vault_index.markdown.normalize import project_form, split_lines
from vault_index.query.language.filters import parse_time
from vault_index.results.memories import MemoryOutcome, MemoryOutcomes, Outcome
from vault_index.results.review import ReviewedMemory, ReviewItem
from vault_index.runtime import Runtime
from vault_index.sources.sessions.kept import Kept
from vault_index.sources.sessions.projects import session_in
from vault_index.sources.sessions.source import SessionSource
from vault_index.store.documents import Order, documents_page, embed_keys
from vault_index.store.forgotten import put_forgotten, take_out
from vault_index.store.pool import Connections
from vault_index.store.writer import IndexWriter

_ID = re.compile(r"[A-Za-z0-9_-]+")


class _Session(NamedTuple):
    id: str
    uid: str
    """Of its document; empty where it is in no index."""
    source: str
    path: str
    title: str
    client: str
    project: str
    parent: str
    updated: float


def forget_sessions(
    runtime: Runtime, refs: Sequence[str], *, project: str = "", client: str = "", before: str = "", dry_run: bool
) -> MemoryOutcomes:
    """Those that are named, or all that every filter lets through; with the subagents of each."""
    if bool(refs) == bool(project or client or before):
        raise UsageError(
            "which sessions?" if not refs else "sessions are named, or chosen by filters, but not both",
            "name them, or give --project, --client or --before",
        )
    until = parse_time(before) if before else float("inf")
    with runtime.write.held("forget"):
        with runtime.pool.lend() as connections:
            all_ = {one.id: one for one in _sessions(runtime, connections)}
            chosen = {_named(runtime, connections, ref, all_) for ref in refs} or {
                one.id
                for one in all_.values()
                if project in ("", one.project) and client in ("", one.client) and one.updated < until
            }
        left = all_.keys() - chosen
        while children := {id_ for id_ in left if all_[id_].parent in chosen}:
            chosen |= children
            left -= children
        sessions = sorted((all_[id_] for id_ in chosen), key=lambda one: (one.client, one.path))
        if not dry_run and sessions:
            _forget(runtime, sessions)
    outcome: Outcome = "would be forgotten" if dry_run else "forgotten"
    return MemoryOutcomes(tuple(MemoryOutcome(one.uid, one.path, one.title, outcome, {}) for one in sessions))


def kept_sessions(runtime: Runtime, *, held: bool) -> Iterator[tuple[SessionSource, str]]:
    """What was kept of each client, or what of that waits in review: its source, and the path."""
    for name in runtime.config.clients:
        source = SessionSource(runtime.config, name)
        with suppress(OSError):
            for path in source.kept.all(deleted=held) if source.kept else ():
                yield source, path


def _sessions(runtime: Runtime, connections: Connections) -> Iterator[_Session]:
    """Those that were kept, and those of the index, which say more."""
    for held in (True, False):
        for source, path in kept_sessions(runtime, held=held):
            assert source.kept is not None  # it was asked
            kept = Kept(source.kept.folder / ".deleted") if held else source.kept
            if (listed := kept.listed(path)) is not None:
                one = listed.session
                where = source.config.name
                yield _Session(one.id, "", where, path, one.title, where, one.project, one.parent, one.updated / 1000)
    for document in documents_page(connections.reader, Filters(kinds=("session",)), Order("path"))[0]:
        front = document.frontmatter
        id_ = str(front.get("session") or "")
        if _ID.fullmatch(id_):
            parent, project = str(front.get("parent") or "").strip("[]"), str(front.get("project") or "")
            client = str(front.get("client") or ("opencode" if "opencode" in front else document.source))
            yield _Session(
                id_, document.uid, document.source, document.path, document.title, client, project, parent,
                document.updated,
            )  # fmt: skip


def _named(runtime: Runtime, connections: Connections, ref: str, known: dict[str, _Session]) -> str:
    if ref in known:
        return ref
    document = runtime.resolve(connections, runtime.inside(ref)).document
    id_ = str(document.frontmatter.get("session") or "") if document.kind == "session" else ""
    if not id_:
        raise UsageError(f"{document.path} is no session but a {document.kind}", "delete a memory; notes are yours")
    return id_


def _forget(runtime: Runtime, sessions: Sequence[_Session]) -> None:
    """First they are remembered as forgotten: whatever comes between, the next sync does not read them."""
    ids = {one.id for one in sessions}
    with runtime.pool.lend() as connections:
        put_forgotten(connections.state, ids)
    for id_ in ids:
        (runtime.home.recalled_dir / f"{id_}.txt").unlink(missing_ok=True)
    for one in sessions:
        vault = runtime.vaults.get(one.source)
        if vault is not None:
            with suppress(FileNotFoundError), file_in(str(vault.config.path), one.path) as (folder, name):
                os.unlink(name, dir_fd=folder)
    for name in runtime.config.clients:
        source = SessionSource(runtime.config, name)
        for id_ in ids if source.kept else ():
            for held in (False, True):
                while source.kept and (path := source.kept.find(id_, deleted=held)):
                    source.kept.remove(path)
    places = [(one.source, one.path) for one in sessions]

    def out_of_index(writer: IndexWriter) -> set[bytes]:
        rows = [row.id for source, path in places for row in writer.known(source, [path]).values()]
        keys = {key for row in rows for key in embed_keys(writer, row)}
        for row in rows:
            writer.remove_document(row)
        runtime.write.refresh({})  # names and words follow
        return keys

    with runtime.pool.lend() as connections:
        take_out(connections.state, ids, places, {one.uid for one in sessions})
    for each in runtime.sources:
        if isinstance(each, SessionSource) and not each.missing():
            each.client.forget(ids)
        else:  # what is remembered of files that are gone
            (runtime.home.sessions_dir / each.config.name / ".heads.json").unlink(missing_ok=True)
    runtime.write.forget(out_of_index, {path for _, path in places})


def decide_held(runtime: Runtime, action: str, refs: Sequence[str]) -> MemoryOutcomes | None:
    """Keep or forget what waits in review because it is gone from its client; None where these are no such sessions."""
    if runtime.hides:  # a session takes those along that it began, whatever they are of
        return None
    waiting = {session_in(path): (source, path) for source, path in _held(runtime)}
    found = [ref for ref in refs if ref in waiting]
    if not found:
        return None
    if action not in ("keep", "delete") or len(found) < len(refs):
        raise UsageError("a deleted session is kept, or deleted for good", "keep or delete it, alone")
    if action == "delete":
        return forget_sessions(runtime, refs, dry_run=False)
    with runtime.write.held("review keep"):
        now, change = time.time(), runtime.write.versions.begin("review keep", "")
        done = []
        for ref in refs:
            source, path = waiting[ref]
            assert source.kept is not None  # it waits there
            source.kept.release(path)
            with runtime.pool.lend() as connections:
                connections.state.put_decision("deleted", [(ref, "")], now, change)
            done.append(MemoryOutcome(ref, path, ref, "kept", {}))
        runtime.write.refresh({source.config.name: [path] for source, path in (waiting[ref] for ref in refs)})
    return MemoryOutcomes(tuple(done), change=change)


def hold_again(runtime: Runtime, session: str) -> MemoryOutcome | None:
    """Take back that a session was kept; the caller holds the lock."""
    for source, path in kept_sessions(runtime, held=False):
        if path.endswith(f"/{session}.md") and source.kept is not None:
            source.kept.hold(path)
            runtime.write.refresh({source.config.name: [path]})
            return MemoryOutcome(session, path, session, "undone", {})
    return None


def waiting_sessions(runtime: Runtime, filters: Filters, shown: int) -> list[ReviewItem]:
    """What waits in review, with the first characters of each."""
    items = []
    for source, path in _held(runtime):
        text = source.kept.held(path) if source.kept else ""
        front, body = read_frontmatter(split_lines(text)).values, text.partition("\n---\n")[2].strip()
        told = {key: plain_text(front.get(key)) for key in ("title", "project", "created", "updated")}
        if filters.projects and project_form(told["project"] or "") not in map(project_form, filters.projects):
            continue
        id_ = session_in(path)
        session = ReviewedMemory(
            id=id_, kind="session", source=source.config.name, path=path, title=told["title"] or id_, archived=None,
            unreviewed=False, tags=(), type=None, digest="", lines=(1, len(split_lines(text))), tokens=0,
            created=told["created"] or "", updated=told["updated"] or "", entered_by=None, project=told["project"],
            expires=None, valid_until=None, confidence=None, accesses=0, turns=None, link="",
            text=body[:shown], cut=len(body) > shown, seen="",
        )  # fmt: skip
        key = hashlib.sha256(f"deleted\n{id_}".encode()).hexdigest()[:12]
        about = f"gone from {source.title}, and nobody can tell who deleted it"
        items.append(ReviewItem(key, "deleted", about, (session,)))
    return items


def _held(runtime: Runtime) -> Iterator[tuple[SessionSource, str]]:
    return kept_sessions(runtime, held=True)
