"""Update, archive, delete and prune memories."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from vault_index.dates import read_start
from vault_index.errors import (
    ConflictError,
    ForbiddenError,
    NotFoundError,
    UsageError,
    VaultIndexError,
)
from vault_index.markdown.frontmatter import first_time, last_moment
from vault_index.markdown.parse import normal_tags, parse, title_of
from vault_index.memories.create import check_given, client_of, resolve_superseded, with_details
from vault_index.memories.file.document import (
    MemoryFile,
    body_of,
    changes_of,
    read_fields,
    read_text,
    with_body,
    with_more_tags,
    with_paragraph,
    with_section,
)
from vault_index.memories.file.frontmatter_edit import with_changes
from vault_index.memories.history import past_of
from vault_index.memories.store import MemoryStore, writing
from vault_index.models import Filters, Origin
from vault_index.query.language.filters import parse_time
from vault_index.results.memories import (
    FailedItem,
    MemoryOutcome,
    MemoryOutcomes,
    Outcome,
    StoredMemory,
)
from vault_index.runtime import Runtime
from vault_index.store.documents import documents_by_id, embed_keys
from vault_index.store.records import StoredDocument
from vault_index.times import local_day

_AT_ONCE = 200
"""The most memories that are archived automatically in one run."""


def update_memory(
    runtime: Runtime,
    ref: str,
    given: Mapping[str, Any],
    *,
    content: str | None,
    append: bool,
    section: str | None,
    add_tags: Any,
    remove_tags: Any,
    allow_empty: bool,
    force: bool,
    sources: Sequence[str],
    client: str = "",
    typed_in: Sequence[Origin] = (),
) -> StoredMemory:
    """Change the text, fields or tags of one memory; what is not given stays.

    Raises UsageError if there is nothing to change or the arguments contradict each other, and
    ConflictError if another memory has the same text.
    """
    now = datetime.now().astimezone()
    fields = {**given, "add_tags": add_tags or None, "remove_tags": remove_tags or None}
    _check_update(content, fields, section, append=append, allow_empty=allow_empty)
    weak = check_given(content or "", fields, runtime.config.memory, force=force)
    keys = changes_of(read_fields(given, now=now))
    keys.pop("supersedes", None)  # resolved below, which needs the index
    more, fewer = (
        read_fields({"tags": tags or None}, now=now).get("tags", ())
        for tags in (add_tags, remove_tags)
    )
    who = client or client_of(given)
    with writing(runtime, "update", sources, now, who=who, typed_in=typed_in) as memories:
        document = memories.find(runtime.inside(ref), sources)
        replaced = resolve_superseded(memories, given.get("supersedes"))
        file = memories.read(document)
        origin = {**given, "tags": [given.get("tags"), add_tags]}
        memories.record(document.path, document.uid, origin, read_text(content or ""))
        text = _with_content(file.text, content, section, append=append)
        stored = _apply(memories, document, file, text, keys, more, fewer, replaced)
    stored = replace(stored, warnings=(*stored.warnings, *weak))
    news = bool((content or "").strip() or given.get("title"))
    return with_details(runtime, stored, document.source, replaced, news=news)


def _check_update(
    content: str | None,
    fields: Mapping[str, Any],
    section: str | None,
    *,
    append: bool,
    allow_empty: bool,
) -> None:
    """Raise UsageError if there is nothing to change or the arguments contradict each other."""
    whole = not append and section is None
    if content is None and not whole:
        raise UsageError("there is no text to write", "give it as content, or on stdin")
    if content is None and all(value is None for value in fields.values()):
        raise UsageError(
            "there is nothing to change", "give a text, or a field such as --add-tags or --expires"
        )
    if content is not None and not (content.strip() or append or allow_empty):
        raise UsageError(
            "the text is empty: nothing was changed", "use --allow-empty to delete the text"
        )
    if content and whole and read_text(content).closing:
        raise UsageError(
            "the text begins with frontmatter, but update takes only a body: nothing was changed",
            "leave the frontmatter out, and change its fields with options",
        )


def _apply(
    memories: MemoryStore,
    document: StoredDocument,
    file: MemoryFile,
    text: str,
    keys: dict[str, Any],
    more: Sequence[str],
    fewer: Sequence[str],
    replaced: Sequence[StoredDocument],
) -> StoredMemory:
    """Write a memory's text, frontmatter keys, and added and removed tags."""
    old = [memories.read(other) for other in replaced]
    if any((other.source, other.path) == (file.source, file.path) for other in old):
        raise UsageError(
            f"{document.path} cannot supersede itself", "give the memory that it replaces"
        )
    text = _with_keys(document, file, text, keys, more, fewer)
    body = body_of(text)
    if not body.strip() and not read_text(text).front.get("title"):
        raise UsageError(
            f"{file.path} would have neither text nor title",
            "delete it instead: vault-index delete, or give it a title",
        )
    in_body = parse(body, "").tags if fewer else ()
    warnings = [f"the tag {tag} is in the text: remove it there" for tag in fewer if tag in in_body]
    new = replace(read_text(text), path=file.path)
    is_new = new.identity != file.identity
    other = memories.duplicate(new, [one.path for one in (file, *old)]) if is_new else None
    if other is not None:
        raise ConflictError(
            f"{other.path} already has this text: nothing was changed",
            f"delete one of them: vault-index delete {file.uid}; or give --supersedes {other.uid}",
        )
    warnings += memories.rewrite(file, text, old)
    if text == file.text and not old:
        warnings.append("nothing was changed")
    return StoredMemory(document.uid, document.path, False, warnings=tuple(warnings))


def _with_keys(
    document: StoredDocument,
    file: MemoryFile,
    text: str,
    keys: dict[str, Any],
    more: Sequence[str],
    fewer: Sequence[str],
) -> str:
    """Return the new text with changed keys, added and removed tags, and no derived title."""
    before = keys.pop("tags", file.tags) or ()
    kept = [tag for tag in before if not set(fewer) & set(normal_tags([tag]))]
    tags = with_more_tags(kept, more)
    if tags != file.tags:
        keys["tags"] = tags or None
    if text != file.text or "title" in keys:
        # Remove a title that was derived from the old or the new text.
        derived = (title_of(body_of(text)), "" if "title" in keys else title_of(file.body))
        keys |= {"title": None} if keys.get("title", file.front.get("title")) in derived else {}
    if text != file.text and not file.front.get("id"):
        keys["id"] = document.uid  # origins are recorded by id, and stay valid after a move
    return with_changes(text, keys)


def _with_content(text: str, content: str | None, section: str | None, *, append: bool) -> str:
    if content is None:
        return text
    if section is not None:
        return with_section(text, section, content, append=append)
    return with_paragraph(text, content) if append else with_body(text, content)


def delete_memories(
    runtime: Runtime,
    refs: Sequence[str],
    *,
    permanent: bool,
    sources: Sequence[str],
    client: str = "",
) -> MemoryOutcomes:
    """Move memories to the trash, or delete them and their versions with `permanent`."""
    if permanent and runtime.hides:
        raise ForbiddenError(
            "this token may not delete permanently", "omit `permanent` to use the trash"
        )
    keys: set[bytes] = set()
    with writing(runtime, "delete", sources, who=client) as memories:

        def delete(ref: str) -> MemoryOutcome:
            if permanent:
                return _delete_permanently(memories, ref, sources, keys)
            return remove_one(memories, memories.find(runtime.inside(ref), sources))

        done, failed = for_each(refs, delete)
        if permanent and done:
            memories.purge(keys)
    return MemoryOutcomes(tuple(done), tuple(failed))


def for_each(
    refs: Sequence[str], act: Callable[[str], MemoryOutcome]
) -> tuple[list[MemoryOutcome], list[FailedItem]]:
    """Apply an action to each reference; return the outcomes and the failures.

    With a single reference, the error is raised.
    """
    done, failed = [], []
    if not refs:
        raise UsageError("no memory was given", "give its id or path")
    for ref in refs:
        try:
            done.append(act(ref))
        except VaultIndexError as error:
            if len(refs) == 1:
                raise
            failed.append(FailedItem(ref, error.message, error.hint))
    return done, failed


def archive_memories(
    runtime: Runtime, refs: Sequence[str], *, restore: bool, sources: Sequence[str]
) -> MemoryOutcomes:
    """Hide memories from search, or show them again with `restore`."""
    with writing(runtime, "archive", sources) as memories:

        def archive(ref: str) -> MemoryOutcome:
            return archive_one(
                memories, memories.find(runtime.inside(ref), sources), restore=restore
            )

        done, failed = for_each(refs, archive)
    return MemoryOutcomes(
        tuple(done), tuple(failed), change=0 if runtime.hides else memories.journal.begun
    )


def archive_one(
    memories: MemoryStore, document: StoredDocument, *, restore: bool = False
) -> MemoryOutcome:
    """Archive one memory, or undo that with `restore`.

    If that is already done, the outcome says so, and the file does not change.
    """
    file = memories.read(document)
    value = file.front.get("archived")
    since = first_time(value)
    is_archived = since is not None and since <= memories.now.timestamp()
    details: dict[str, Any] = {}
    if value is None if restore else is_archived:
        details["already"] = "not archived" if restore else f"archived on {value}"
    else:
        memories.replace(
            file,
            with_changes(file.text, {"archived": None if restore else f"{memories.now:%Y-%m-%d}"}),
        )
    return MemoryOutcome(
        document.uid, document.path, document.title, "restored" if restore else "archived", details
    )


def run_maintenance(runtime: Runtime) -> dict[str, MemoryOutcomes]:
    """Prune and archive memories as the settings say; return the outcomes by action."""
    settings, done = runtime.config.memory, {}
    if settings.auto_prune:
        done["pruned"] = prune_memories(runtime, before=None, dry_run=False, sources=())
    if settings.archive_after:
        done["archived"] = _archive_unused(runtime)
    return done


def _archive_unused(runtime: Runtime) -> MemoryOutcomes:
    """Archive memories not created, changed or opened for `memory.archive_after`.

    Memories in the inbox, expired or superseded memories, and those with a date in `archived` stay.
    """
    now = datetime.now().astimezone()
    begins = read_start(f"{runtime.config.memory.archive_after} ago", now)
    if begins is None:  # never: the setting was validated when it was loaded
        return MemoryOutcomes(())
    before, over = (
        begins.timestamp(),
        Filters(states=("expired", "superseded", "unreviewed"), now=now.timestamp()),
    )
    done: list[MemoryOutcome] = []
    failed: list[FailedItem] = []
    with writing(runtime, "archive", (), now) as memories:
        usage = memories.connections.state.usage()
        for document in memories.listed(Filters(before=before, without=(over,)), "created"):
            opened = usage.get(document.uid, (0, 0.0))[1]
            if len(done) >= _AT_ONCE:
                break  # other writers wait for the lock; the next run continues
            if (
                document.archived is None
                and max(document.updated, document.mtime_ns / 1e9, opened) < before
            ):
                try:
                    done.append(archive_one(memories, document))
                except VaultIndexError as error:
                    failed.append(FailedItem(document.path, error.message, error.hint))
    return MemoryOutcomes(tuple(done), tuple(failed))


def prune_memories(
    runtime: Runtime, *, before: str | None, dry_run: bool, sources: Sequence[str]
) -> MemoryOutcomes:
    """Move expired memories to the trash.

    With `before`, move all memories created earlier instead. The dates in the files decide, not
    those in the index.
    """
    now = datetime.now().astimezone()
    until, day = now.timestamp(), None if before is None else parse_time(before, now=now)
    over = Filters(states=("expired",), now=until) if day is None else Filters(before=day)
    filters = over._replace(sources=tuple(sources))
    done, failed = [], []
    with writing(runtime, "prune", sources, now) as memories:
        for document in memories.listed(filters, "expires" if day is None else "created"):
            try:
                front = memories.read(document).front
                expired = (last_moment(front.get("expires")) or until + 1) <= until
                created = first_time(front.get("created"), front.get("date")) or document.created
                if expired if day is None else created < day:
                    outcome = remove_one(memories, document, dry_run=dry_run)
                    dates = (
                        {"expires": str(front["expires"])}
                        if expired
                        else {"created": local_day(created)}
                    )
                    done.append(replace(outcome, details={**outcome.details, **dates}))
            except VaultIndexError as error:
                failed.append(FailedItem(document.path, error.message, error.hint))
    return MemoryOutcomes(tuple(done), tuple(failed))


def _delete_permanently(
    memories: MemoryStore, ref: str, sources: Sequence[str], keys: set[bytes]
) -> MemoryOutcome:
    """Delete a memory permanently, or the versions of one that was already deleted.

    Adds the vector keys of its passages to `keys`.
    """
    runtime, reader = memories.runtime, memories.connections.reader
    try:
        document = memories.find(runtime.inside(ref), sources)
    except NotFoundError:
        past = past_of(runtime, memories.connections, ref, sources)
        runtime.write.revisions.forget(past.uid)
        details = _copies_in_trash(memories, past.source, past.uid)
        return MemoryOutcome(past.uid, past.path, past.title, "deleted", details)
    several = len(documents_by_id(reader, document.uid)) > 1
    runtime.write.revisions.forget(
        document.uid, *([document.source, document.path] if several else [])
    )
    keys |= embed_keys(reader, document.id)
    memories.files(document.source).remove(document.path)
    memories.note(document.source, document.path)
    details = _copies_in_trash(memories, document.source, document.uid)
    return MemoryOutcome(document.uid, document.path, document.title, "deleted", details)


def _copies_in_trash(memories: MemoryStore, source: str, uid: str) -> dict[str, Any]:
    """Return the copies in the trash, which a permanent deletion does not touch."""
    copies = memories.files(source).copies_in_trash(uid)
    return {"left_in_trash": copies} if copies else {}


def remove_one(
    memories: MemoryStore, document: StoredDocument, *, dry_run: bool = False
) -> MemoryOutcome:
    """Move one memory to the trash."""
    trashed = "" if dry_run else memories.trash(document.source, document.path)
    details = {"trash": trashed} if trashed and not memories.runtime.hides else {}
    outcome: Outcome = "would be trashed" if dry_run else "trashed"
    return MemoryOutcome(document.uid, document.path, document.title, outcome, details)
