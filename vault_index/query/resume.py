"""Finds the command that resumes a session in its client."""

import os
import re
import shlex
from collections.abc import Callable
from contextlib import suppress

from vault_index.errors import NotFoundError, UsageError
from vault_index.models import Filters
from vault_index.query.reader import Reader
from vault_index.query.references import Place
from vault_index.results.sessions import Resume
from vault_index.store.documents import Order, documents_by_name, documents_page
from vault_index.store.records import StoredDocument
from vault_index.times import local_day

_ID = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]*")
"""An id that cannot be read as a command-line option."""
_SHOWN = 5


def client_of(document: StoredDocument) -> str:
    """Return the name of the client of a session; a session file in a vault names its client."""
    return str(document.frontmatter.get("client") or document.source)


def resume_command(document: StoredDocument) -> tuple[str, ...]:
    """Return the client's command to resume a session; empty if it is unknown."""
    from vault_index.sources.sessions.clients import resume_command as command_of

    session = str(document.frontmatter.get("session") or "")
    return tuple(command_of(client_of(document), session)) if _ID.fullmatch(session) else ()


def resume(reader: Reader, ref: str, find: Callable[[str], Place]) -> Resume:
    """Return how to resume the session that `ref` names.

    `ref` is a reference that `find` resolves, the beginning of an id of the index or the client, or
    words of the title. Raises NotFoundError, and UsageError if several sessions match or the
    document is not a session.
    """
    named = _named(reader, ref, find)
    document = _top_session(reader, named)
    command, client = resume_command(document), client_of(document)
    if not command:
        message = f"resuming sessions of {client} is not supported"
        raise UsageError(message, f"read it: vault-index get {document.uid[:13]}")
    directory = str(document.frontmatter.get("directory") or "")
    there = os.path.isabs(directory) and os.path.isdir(directory)
    run = shlex.join(command)
    return Resume(
        id=document.uid,
        session=command[-1],
        client=client,
        title=document.title,
        directory=directory or None,
        there=there,
        command=command,
        shell=f"cd {shlex.quote(directory)} && {run}" if there else run,
        instead_of=None if document is named else named.title,
    )


def _named(reader: Reader, ref: str, find: Callable[[str], Place]) -> StoredDocument:
    """Return the session that `ref` names; a note may have the name or the id of a session."""
    other = ""
    with suppress(NotFoundError, UsageError):
        document = find(ref).document
        if document.kind == "session":
            return document
        other = document.path
    words = f"*{'*'.join(ref.split())}*"
    for filters in (Filters(sessions=(ref,)), Filters(titles=(words,))):
        found, total = documents_page(
            reader, filters._replace(kinds=("session",)), Order("updated"), _SHOWN
        )
        if total == 1:
            return found[0]
        if found:
            ids = ", ".join(
                f"{one.uid[:13]} ({one.title}, {client_of(one)}, {local_day(one.updated)})"
                for one in found
            )
            more = f" and {total - len(found)} more" if total > len(found) else ""
            raise UsageError(f"{total} sessions match {ref!r}", f"use the id of one: {ids}{more}")
    hint = "list sessions: vault-index sessions"
    if other:
        raise UsageError(f"{other} is not a session", hint)
    raise NotFoundError(f"session not found: {ref!r}", hint)


def _top_session(reader: Reader, document: StoredDocument) -> StoredDocument:
    """Return the parent of a subagent's session, which cannot be resumed itself."""
    seen: set[int] = set()
    above = [document]
    while above and above[0].id not in seen:
        document = above[0]
        seen.add(document.id)
        parent = str(document.frontmatter.get("parent") or "").strip("[]")
        named = documents_by_name(reader, parent) if parent else []
        above = [one for one in named if one.kind == "session"]
    return document
