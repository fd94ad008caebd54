"""Carry out review decisions on memory files; each decision is one change to undo."""

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations

from vault_index.errors import ConflictError, UsageError
from vault_index.fields import ACTIONS
from vault_index.markdown.frontmatter import origin_in
from vault_index.memories.create import check_given
from vault_index.memories.edit import archive_one, for_each, remove_one
from vault_index.memories.file.document import BOM, MemoryFile, read_text, with_line_ends
from vault_index.memories.file.files import slug
from vault_index.memories.merge import merge_texts
from vault_index.memories.review import reasons_of
from vault_index.memories.store import MemoryStore, writing
from vault_index.results.memories import FailedItem, MemoryOutcome, MemoryOutcomes, Outcome
from vault_index.runtime import Runtime
from vault_index.store.records import StoredDocument


def decide_memories(
    runtime: Runtime,
    action: str,
    refs: Sequence[str],
    *,
    text: str | None,
    seen: Sequence[str],
    force: bool,
    sources: Sequence[str],
    client: str = "",
) -> MemoryOutcomes:
    """Carry out one decision on one or more memories.

    `action` is one of `ACTIONS`; `text` is for `edit` only. `seen` holds, for each of `refs`, the
    first characters of the file's SHA-256 when it was shown. Raises ConflictError if a file changed
    since.
    """
    _check(action, refs, text, seen)
    if text is not None:
        check_given(text, {}, runtime.config.memory, force=force)
    shown = dict(zip(refs, seen, strict=False))
    failed: list[FailedItem] = []
    with writing(runtime, f"review {action}", sources, who=client) as memories:

        def act(ref: str) -> MemoryOutcome:
            [(document, _)] = _find(memories, [ref], [shown.get(ref, "")], sources)
            return _OF_EACH[action](memories, document)

        if action in _OF_EACH:
            done, failed = for_each(refs, act)
        else:
            found = _find(memories, refs, seen, sources)
            done = (
                _OF_ALL[action](memories, found) if text is None else _edit(memories, found, text)
            )
    return MemoryOutcomes(
        tuple(done), tuple(failed), change=0 if runtime.hides else memories.journal.begun
    )


Found = tuple[StoredDocument, MemoryFile]


def _check(action: str, refs: Sequence[str], text: str | None, seen: Sequence[str]) -> None:
    """Raise UsageError for arguments that are wrong for every memory."""
    if action not in ACTIONS:
        raise UsageError(f"unknown action {action!r}", f"choose one of: {', '.join(ACTIONS)}")
    least, most = _NUMBERS.get(action, (1, len(refs)))
    if not refs:
        raise UsageError("no memory was given", "give its id or path")
    if not least <= len(refs) <= most:
        number = "exactly one memory" if most == 1 else "two or more memories"
        raise UsageError(
            f"{action} needs {number}",
            "give one memory" if most == 1 else "give the memory to keep first",
        )
    if (text is not None) != (action == "edit"):
        wants = "needs the whole text of the file" if action == "edit" else "takes no text"
        raise UsageError(f"{action} {wants}", "give text only with edit")
    if seen and len(seen) != len(refs):
        raise UsageError(
            "seen must have one value for each memory", "give a value for each, or omit seen"
        )


_NUMBERS = {"edit": (1, 1), "merge": (2, 1 << 30), "supersede": (2, 1 << 30)}
"""The minimum and maximum number of memories for an action; other actions take any number."""


def _find(
    memories: MemoryStore, refs: Sequence[str], seen: Sequence[str], sources: Sequence[str]
) -> list[Found]:
    """Return the memories and their files. Raises ConflictError if one changed since `seen`."""
    documents = [memories.find(memories.runtime.inside(ref), sources) for ref in refs]
    if len({document.id for document in documents}) < len(documents):
        raise UsageError("a memory was given twice", "give each memory once")
    found = [(document, memories.read(document)) for document in documents]
    for (document, file), digest in zip(found, seen, strict=False):
        if not file.digest.hex().startswith(digest.lower()):
            raise ConflictError(
                f"{document.path} changed since it was shown; nothing was done",
                "show it again: vault-index review",
            )
    return found


# --- actions --------------------------------------------------------------------------------------


def _outcome(
    document: StoredDocument, outcome: Outcome, path: str = "", **details: object
) -> MemoryOutcome:
    return MemoryOutcome(document.uid, path or document.path, document.title, outcome, details)


def _accept(memories: MemoryStore, document: StoredDocument) -> MemoryOutcome:
    if not document.unreviewed:
        raise UsageError(
            f"{document.path} is not in the inbox", "accept is for memories in the inbox"
        )
    return _outcome(
        document, "accepted", _out_of_inbox(memories, document, memories.read(document))
    )


def _out_of_inbox(memories: MemoryStore, document: StoredDocument, file: MemoryFile) -> str:
    """Move a decided memory from the inbox to the folder of its type; return its path."""
    files = memories.files(document.source)
    target = files.resolve(_accepted_path(document, file)) if document.unreviewed else ""
    if target in ("", document.path):
        return document.path
    target = files.free(target)
    memories.move(document.source, document.path, target)
    return target


def _accepted_path(document: StoredDocument, file: MemoryFile) -> str:
    return f"{slug(str(file.front.get('type') or '')) or 'note'}/{document.path.rpartition('/')[2]}"


def _edit(memories: MemoryStore, found: Sequence[Found], text: str) -> list[MemoryOutcome]:
    """Replace the whole text of a file; its line endings and its id stay."""
    [(document, file)] = found
    new = read_text(text.removeprefix(BOM))
    if new.faults:
        raise UsageError(
            f"line {new.faults[0].line}: {new.faults[0].message}; nothing was written",
            "correct that line",
        )
    if file.closing and not new.closing:
        raise UsageError(
            "the text has no frontmatter, but edit replaces the whole file; nothing was written",
            f"keep the frontmatter; to change only the body: vault-index update {document.uid}",
        )
    if new.front.get("id") != file.front.get("id"):
        raise UsageError(
            f"the id of {document.path} would change; nothing was written",
            "keep the line with the id",
        )
    if not new.body.strip() and not new.front.get("title"):
        raise UsageError(f"{file.path} would have neither text nor title", "delete it instead")
    written = file.opening[: file.opening.startswith(BOM)] + with_line_ends(new.text, file.newline)
    if written != file.text:
        memories.rewrite(file, written)
    return [_outcome(document, "edited" if written != file.text else "unchanged")]


def _merge(memories: MemoryStore, found: Sequence[Found]) -> list[MemoryOutcome]:
    """Merge the other memories into the first.

    The first file is written before the others are marked, so a killed process loses nothing.
    """
    (_, file), *others = found
    text = merge_texts([one for _, one in found])
    most = memories.runtime.config.memory.max_bytes
    size = len(text.encode())
    if size > most:
        raise UsageError(
            f"the merged text has {size:,} bytes, more than memory.max_bytes ({most:,});"
            " nothing was done",
            "edit one of them, or let one supersede the other",
        )
    _inherit_origins(memories, file, [other for _, other in others])
    return _replace(memories, found, text, "merged")


def _replace(
    memories: MemoryStore, found: Sequence[Found], text: str, outcome: Outcome
) -> list[MemoryOutcome]:
    """Write the first memory, mark the others as superseded by it, and move it out of the inbox."""
    (document, file), *others = found
    if by := file.front.get("superseded_by"):
        raise UsageError(
            f"{document.path} is itself superseded by {by}", "give the current memory first"
        )
    if document.unreviewed:
        files = memories.files(document.source)
        files.allow(files.resolve(_accepted_path(document, file)), text)
    warnings = memories.rewrite(file, text, [other for _, other in others])
    path = _out_of_inbox(memories, document, file)
    return [
        _outcome(document, outcome, path, **({"warnings": warnings} if warnings else {})),
        *(_outcome(other, "superseded", by=document.uid) for other, _ in others),
    ]


def _inherit_origins(memories: MemoryStore, file: MemoryFile, others: Sequence[MemoryFile]) -> None:
    """Record the origins of merged memories, so that their privacy rules apply to the result."""
    known = memories.connections.state.origins()
    origins = [
        (file.path, file.uid, origin)
        for other in others
        for origin in (
            origin_in(other.front),
            *known.get(other.uid, ()),
        )
        if any(origin)
    ]
    if origins:
        memories.runtime.write.put_origins(file.source, origins)


def _keep(memories: MemoryStore, found: Sequence[Found]) -> list[MemoryOutcome]:
    """Record that memories stay as they are.

    For one memory, this dismisses the reasons for its review; for several, it dismisses each pair.
    """
    now, digests = (
        memories.now.timestamp(),
        [(document.uid, file.digest.hex()) for document, file in found],
    )
    pairs = [
        (reason, pair)
        for pair in combinations(digests, 2)
        for reason in ("contradiction", "duplicate")
    ]
    alone = (
        []
        if pairs
        else [(reason, digests) for reason in reasons_of(memories.connections, found[0][0], now)]
    )
    if not pairs and not alone:
        hint = "keep is for memories that review shows; for the inbox, use accept"
        raise UsageError(f"there is no reason to review {found[0][0].path}", hint)
    change = memories.journal.change()
    for reason, what in (*pairs, *alone):
        memories.connections.state.put_decision(reason, what, now, change)
    return [_outcome(document, "kept") for document, _ in found]


_OF_EACH: Mapping[str, Callable[[MemoryStore, StoredDocument], MemoryOutcome]] = {
    "accept": _accept, "archive": archive_one, "delete": remove_one,
}  # fmt: skip
_OF_ALL: Mapping[str, Callable[[MemoryStore, Sequence[Found]], list[MemoryOutcome]]] = {
    "merge": _merge, "keep": _keep,
    "supersede": lambda memories, found: _replace(memories, found, found[0][1].text, "superseding"),
}  # fmt: skip
