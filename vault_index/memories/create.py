"""Validate and store a new memory (`add`)."""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from vault_index.config.schema import MemoryConfig
from vault_index.dates import read_date
from vault_index.errors import UsageError
from vault_index.markdown.frontmatter import INBOX, as_uuid, last_moment
from vault_index.markdown.parse import title_of
from vault_index.memories.file.document import (
    BOM,
    OLD_ID,
    MemoryFile,
    changes_of,
    given_fields,
    read_fields,
    read_text,
    with_last_line_end,
    with_line_ends,
    without_blank_edges,
)
from vault_index.memories.file.frontmatter_edit import KEYS, entry, with_changes
from vault_index.memories.similar import similar_memories
from vault_index.memories.store import MemoryStore, writing
from vault_index.models import Origin
from vault_index.results.memories import StoredMemory
from vault_index.runtime import Runtime
from vault_index.secrets.find import find_secrets
from vault_index.store.documents import documents_by_path
from vault_index.store.records import StoredDocument


def add_memory(
    runtime: Runtime,
    text: str,
    given: Mapping[str, Any],
    *,
    path: str | None,
    force: bool,
    sources: Sequence[str],
    typed_in: Sequence[Origin] = (),
) -> StoredMemory:
    """Store a new memory.

    A text with frontmatter is a whole memory file; the fields in `given` override its frontmatter.
    `path` is a name in the memory folder. Raises UsageError, before anything is written, for
    invalid fields, a text that is too long, and, unless `force` is set, for credentials.
    """
    now = datetime.now().astimezone()
    weak = check_given(text, given, runtime.config.memory, force=force)
    file = read_text(text.removeprefix(BOM))
    if runtime.scope is not None and not (given.get("project") or file.front.get("project")):
        projects = runtime.scope.projects
        if len(projects) > 1:
            raise UsageError("the memory needs a project", f"give one of: {', '.join(projects)}")
        given = {**given, "project": next(iter(projects), None)}
    new, supersedes = memory_of(file, given, now)
    if runtime.hides and file.closing:  # a given id could reveal that a memory has it
        new = read_text(with_changes(new.text, {"id": str(uuid.uuid4())}))
    with writing(runtime, "add", sources, now, who=client_of(given), typed_in=typed_in) as memories:
        replaced = resolve_superseded(memories, supersedes)
        by_agent = (
            runtime.config.memory.review == "agents" and new.front.get("entered_by") and not path
        )
        stored = memories.store(
            replace(new, path=path or ""), replaced, folder=INBOX if by_agent else None
        )
    stored = replace(stored, warnings=(*stored.warnings, *weak))
    return with_details(runtime, stored, memories.home, replaced, news=True)


def memory_of(
    file: MemoryFile, given: Mapping[str, Any], now: datetime
) -> tuple[MemoryFile, tuple[str, ...]]:
    """Return a new memory and the references to superseded ones, for a text or a whole file."""
    return _from_file(file, given, now) if file.closing else new_memory(file.text, given, now)


def client_of(given: Mapping[str, Any]) -> str:
    """Return the author that was given, or an empty string."""
    return str(given.get("entered_by") or given.get("by") or "")


def resolve_superseded(memories: MemoryStore, supersedes: Any) -> list[StoredDocument]:
    """Return the memories that the references in `supersedes` name."""
    given = [supersedes] if isinstance(supersedes, str) else supersedes or ()
    refs = (ref.strip() for one in given for ref in one.split(","))
    return [memories.find(ref) for ref in refs if ref]


def with_details(
    runtime: Runtime,
    stored: StoredMemory,
    source: str,
    replaced: Sequence[StoredDocument],
    *,
    news: bool,
) -> StoredMemory:
    """Return the result of storing a memory with details.

    They are the number of passages that still wait for their vectors and, with `news`, memories on
    the same subject, except those in `replaced`.
    """
    with runtime.pool.lend() as connections:
        reader = connections.reader
        if not (known := documents_by_path(reader, stored.path, (source,))):
            return stored
        if waiting := runtime.pending(reader, known[0].id):
            stored = replace(stored, degraded=(f"vector: pending for {waiting:,} of its passages",))
        ignored = {one.id for one in replaced}
        if stored.duplicate_of or not news:
            return stored
        if not (near := similar_memories(reader, known[0], ignoring=ignored)):
            return stored
        command = f"vault-index update {stored.id} --supersedes {near[0].id}"
        question = f'does it replace "{near[0].title}"? If so: {command}'
        return replace(stored, near=near, question=question)


def new_memory(
    text: str, given: Mapping[str, Any], now: datetime
) -> tuple[MemoryFile, tuple[str, ...]]:
    """Return a new memory and the references to the memories that it supersedes.

    The references are resolved later, because that needs the index. Raises UsageError for invalid
    fields, and if there is neither a text nor a title.
    """
    fields = read_fields(given, now=now)
    created = now.isoformat(timespec="seconds")
    keys = {**_keys(fields, text), "id": str(uuid.uuid4()), "created": created, "updated": created}
    return read_text(new_document(keys, text)), fields.get("supersedes") or ()


def new_document(keys: Mapping[str, Any], body: str) -> str:
    """Return the text of a new memory file, with the keys that have a value and LF line endings."""
    head = "".join(entry(key, keys[key], "\n") for key in KEYS if keys.get(key) is not None)
    text = without_blank_edges(with_line_ends(body, "\n"))
    return f"---\n{head}---\n{with_last_line_end(text, chr(10))}"


def _from_file(
    file: MemoryFile, given: Mapping[str, Any], now: datetime
) -> tuple[MemoryFile, tuple[str, ...]]:
    """Return a new memory for a text with frontmatter, like `new_memory`.

    Fields in `given` override the frontmatter. Unknown keys of the frontmatter are kept.
    """
    if file.faults:
        raise UsageError(
            f"line {file.faults[0].line}: {file.faults[0].message}: nothing was stored",
            "correct that line; if `---` is not frontmatter, put a blank line before it",
        )
    named = {name: value for name, value in given.items() if value is not None}
    read_fields(named, now=now)  # errors after this line are in the frontmatter
    try:
        fields = read_fields({**given_fields(file.front), **named}, now=now)
        times = _times(file.front, now)
    except UsageError as error:
        hint = f"{error.hint}; correct it there, or override it with the option"
        raise UsageError(f"in the frontmatter: {error.message}", hint) from error
    keys = {**_keys(fields, file.body), **times}
    own = file.front.get("id")
    keys["id"] = as_uuid(own) or str(uuid.uuid4())
    if own and not as_uuid(own):
        keys[OLD_ID] = own
    text = with_last_line_end(file.text.rstrip(), file.newline)
    return read_text(with_changes(text, keys)), fields.get("supersedes") or ()


def _keys(fields: Mapping[str, Any], body: str) -> dict[str, Any]:
    """Return the frontmatter of a new memory, without `supersedes` and without a derived title."""
    if not body.strip() and not fields.get("title"):
        raise UsageError("the text is empty", "give a text, or at least a title")
    keys = {**changes_of(fields), "type": fields.get("type") or "note", "supersedes": None}
    if fields.get("title") and fields["title"] == title_of(body):
        keys["title"] = None
    return keys


def _times(front: Mapping[str, Any], now: datetime) -> dict[str, str]:
    """Return the creation and update times in a frontmatter; the default is now."""
    times = {}
    for name, other in (("created", "date"), ("updated", "modified")):
        if front.get(name):
            iso = last_moment(front[name]) is not None
            times[name] = front[name] if iso else read_date(str(front[name]), now, option=name)
        elif last_moment(front.get(other)) is not None:
            times[name] = front[other]
    created = times.get("created") or times.get("updated") or now.isoformat(timespec="seconds")
    return {"created": created, "updated": times.get("updated") or created}


def check_given(
    text: str, given: Mapping[str, Any], settings: MemoryConfig, *, force: bool
) -> list[str]:
    """Validate the text and the fields of a memory; return warnings about possible credentials.

    Raises UsageError for values that are too long or not UTF-8, and, unless `force` is set, for
    likely credentials.
    """
    warnings: list[str] = []
    for name, value in {"the text": text, **given}.items():
        values = value if isinstance(value, list | tuple) else [value]
        part = "\n".join(str(one) for one in values if one is not None)
        try:
            size = len(part.encode())
        except UnicodeEncodeError as error:
            raise UsageError(f"{name} is not valid UTF-8", "give it in UTF-8") from error
        if "\0" in part:
            raise UsageError(f"{name} has a NUL byte", "memories are text: remove the byte")
        if size > settings.max_bytes:
            raise UsageError(
                f"{name} has {size:,} bytes, more than memory.max_bytes ({settings.max_bytes:,})",
                "store a summary, or several memories; or raise memory.max_bytes",
            )
        if not force:
            warnings += refuse_secrets(name, part)
    return warnings


def refuse_secrets(name: str, text: str) -> list[str]:
    """Raise UsageError if a text has a likely credential; return warnings for weak matches."""
    found = find_secrets(text)
    if strong := [secret for secret in found if not secret.weak]:
        more = f", and {len(strong) - 1} more" if len(strong) > 1 else ""
        raise UsageError(
            f"line {strong[0].line} of {name} contains what looks like {strong[0].kind}{more}:"
            " nothing was stored",
            "remove it, or use --force if it is not a credential",
        )
    return (
        [f"line {found[0].line} of {name} contains what looks like {found[0].kind}: remove it"]
        if found
        else []
    )
