"""Extract memories from a text and store them (`capture`)."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from vault_index.errors import VaultIndexError
from vault_index.markdown.frontmatter import INBOX, WAITING
from vault_index.markdown.recalled import drop_recalled
from vault_index.memories.capture.markers import Captured, captures, tag_words, with_tags_and_expiry
from vault_index.memories.create import check_given, new_memory
from vault_index.memories.file.document import MemoryFile, read_text
from vault_index.memories.file.frontmatter_edit import with_changes
from vault_index.memories.store import MemoryStore, as_planned, writing
from vault_index.models import Origin
from vault_index.query.projects import name_for_memory, project_of
from vault_index.results.memories import FailedItem, MemoryOutcome, MemoryOutcomes
from vault_index.runtime import Runtime
from vault_index.secrets.find import drop_private


def capture_memories(
    runtime: Runtime,
    text: str,
    *,
    entered_by: str,
    project: str | None,
    session: str | None,
    mode: str,
    statements: bool,
    dry_run: bool,
    force: bool,
    sources: Sequence[str],
    typed_in: Sequence[Origin] = (),
) -> MemoryOutcomes:
    """Extract the memories from a text and store each.

    If one cannot be stored, it is reported with its line, and the others are stored. `mode` is
    `direct`, `inbox` or `off`, as in the setting. With `inbox`, memories from unmarked statements
    wait: search finds them only after they are accepted.
    """
    if mode == "off":
        return MemoryOutcomes(())
    now = datetime.now().astimezone()
    found = _extract(text, now, runtime.config.memory.capture_tags, statements=statements)
    if not found:
        return MemoryOutcomes(())
    given_project = project_of(project or "")
    name = name_for_memory(project or "", runtime.config)
    origin = {"entered_by": entered_by, "project": name or None}
    done, failed = [], []
    with writing(
        runtime, "capture", sources, now, who=entered_by, dry_run=dry_run, typed_in=typed_in
    ) as memories:
        memories.folders = given_project.folders
        for captured in found:
            try:
                fields = {
                    **origin,
                    "title": captured.title,
                    "type": captured.type,
                    "tags": captured.tags or None,
                    "expires": captured.expires,
                }
                weak = check_given(captured.text, fields, runtime.config.memory, force=force)
                new, _ = new_memory(captured.text, fields, now)
                if session:
                    new = read_text(with_changes(new.text, {"session": session}))
                folder = WAITING if captured.guessed else INBOX
                done.append(
                    _store(memories, captured, new, folder if mode == "inbox" else None, weak)
                )
            except VaultIndexError as error:
                failed.append(FailedItem(f"line {captured.line}", error.message, error.hint))
    if dry_run:
        return MemoryOutcomes(tuple(map(as_planned, done)), tuple(failed))
    return MemoryOutcomes(tuple(done), tuple(failed))


def _extract(
    text: str, now: datetime, more_tags: Sequence[str], *, statements: bool
) -> tuple[Captured, ...]:
    """Return the memories in a text, each once, without private parts and recalled text."""
    words = tag_words(more_tags)
    text = drop_private(drop_recalled(text))
    found = {_words(one): one for one in captures(text, now=now, tag_words=words)}
    if statements:
        # Imported late, because its patterns take long to compile.
        from vault_index.memories.capture import statements as plain

        for one in plain.statements(text):
            if not any(_words(one) in marked for marked in found):  # not part of a marked memory
                found[_words(one)] = replace(
                    with_tags_and_expiry(one, now=now, tag_words=words), guessed=True
                )
    return tuple(found.values())


def _words(captured: Captured) -> str:
    return " ".join(captured.text.lower().split())


def _store(
    memories: MemoryStore,
    captured: Captured,
    new: MemoryFile,
    folder: str | None,
    weak: Sequence[str],
) -> MemoryOutcome:
    title = new.title
    details = {
        "type": new.front["type"],
        "tags": new.front.get("tags", []),
        "expires": new.front.get("expires"),
    }
    if memories.dry_run:
        details["text"] = captured.text
    stored = memories.store(new, folder=folder)
    details["warnings"] = [*stored.warnings, *weak]
    uid = "" if memories.dry_run and stored.created else stored.id  # a real run makes another id
    return MemoryOutcome(
        uid, stored.path, title, "created" if stored.created else "duplicate", details
    )
