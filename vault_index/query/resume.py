"""Finds the command that resumes a session in its client."""

import os
import re
import shlex
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from vault_index.errors import NotFoundError, UsageError
from vault_index.models import Filters
from vault_index.query.references import Place
from vault_index.results.sessions import Resume
from vault_index.store.documents import Order, documents_by_name, documents_page
from vault_index.store.reader import IndexReader
from vault_index.store.records import StoredDocument

_ID = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]*")
"""An id that cannot be read as a command-line option."""
_SHOWN = 5


def client_of(document: StoredDocument, front: Mapping[str, Any]) -> str:
    """Return the name of the client of a session.

    A session file in a vault names its client. Files of the first format name only the version of
    OpenCode.
    """
    return str(front.get("client") or ("opencode" if "opencode" in front else document.source))


def resume_command(document: StoredDocument) -> tuple[str, ...] | None:
    """Return the client's command to resume a session; None if it is unknown."""
    from vault_index.sources.sessions.clients import resume_command as command_of

    front = document.frontmatter
    session = str(front.get("session") or "")
    return (
        tuple(command_of(client_of(document, front), session)) or None
        if _ID.fullmatch(session)
        else None
    )


def resume(reader: IndexReader, ref: str, find: Callable[[str], Place]) -> Resume:
    """Return how to resume the session that `ref` names.

    `ref` is a reference that `find` resolves, the beginning of an id of the index or the client, or
    words of the title. Raises NotFoundError, and UsageError if several sessions match or the
    document is not a session.
    """
    named = _named(reader, ref, find)
    document = _top_session(reader, named)
    command = resume_command(document)
    front = document.frontmatter
    if command is None:
        message = f"resuming sessions of {client_of(document, front)} is not supported"
        raise UsageError(message, f"read it: vault-index get {document.uid[:13]}")
    directory = str(front.get("directory") or "") or None
    there = directory is not None and os.path.isabs(directory) and os.path.isdir(directory)
    run = shlex.join(command)
    return Resume(
        id=document.uid,
        session=command[-1],
        client=client_of(document, front),
        title=document.title,
        directory=directory,
        there=there,
        command=command,
        shell=f"cd {shlex.quote(directory)} && {run}" if directory and there else run,
        instead_of=None if document is named else named.title,
    )


def _named(reader: IndexReader, ref: str, find: Callable[[str], Place]) -> StoredDocument:
    other = None
    with suppress(NotFoundError, UsageError):  # ids of notes may have the same prefix
        other = find(ref).document
    if other is not None and other.kind == "session":
        return other
    try:
        return _by_id_or_title(reader, ref)  # a note may have the name of a session
    except NotFoundError:
        if other is None:
            raise
        raise UsageError(
            f"{other.path} is not a session", "list sessions: vault-index sessions"
        ) from None


def _by_id_or_title(reader: IndexReader, ref: str) -> StoredDocument:
    words = f"*{'*'.join(ref.split())}*"
    for filters in (
        Filters(kinds=("session",), sessions=(ref,)),
        Filters(kinds=("session",), titles=(words,)),
    ):
        found, total = documents_page(reader, filters, Order("updated"), _SHOWN)
        if total == 1:
            return found[0]
        if found:
            ids = ", ".join(f"{one.uid[:13]} ({one.title})" for one in found)
            more = f" and {total - len(found)} more" if total > len(found) else ""
            raise UsageError(f"{total} sessions match {ref!r}", f"use the id of one: {ids}{more}")
    raise NotFoundError(f"session not found: {ref!r}", "list sessions: vault-index sessions")


def _top_session(reader: IndexReader, document: StoredDocument) -> StoredDocument:
    """Return the parent of a subagent's session, which cannot be resumed itself."""
    seen: set[int] = set()
    while document.id not in seen:
        seen.add(document.id)
        parent = str(document.frontmatter.get("parent") or "").strip("[]")
        above = (
            [one for one in documents_by_name(reader, parent) if one.kind == "session"]
            if parent
            else []
        )
        if above:
            document = above[0]
    return document
