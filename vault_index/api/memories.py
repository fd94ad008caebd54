"""The methods of `VaultIndex` that write memories."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from vault_index import memories
from vault_index.api import options
from vault_index.api.options import Names, at_least, names, whole
from vault_index.fields import REASONS, Filters
from vault_index.progress import CancelToken, Progress, no_progress
from vault_index.runtime import Runtime

if TYPE_CHECKING:
    from vault_index.results.memories import (
        Diff,
        ExportReport,
        History,
        MemoryOutcomes,
        Review,
        StoredMemory,
    )


class Memories:
    """Base class of `VaultIndex` with its memory methods; see there for the common rules."""

    def __init__(self, runtime: Runtime) -> None:
        """Used by the daemon; other callers use `open`."""
        self._runtime = runtime

    def add(
        self, text: str = "", *, path: str | None = None, force: bool = False, source: Names = None,
        type: str | None = None, title: str | None = None, subtitle: str | None = None,
        digest: str | None = None, tags: Names = None, project: str | None = None,
        entered_by: str | None = None, by: str | None = None, expires: str | None = None,
        valid_until: str | None = None, confidence: str | None = None, facts: Names = None,
        concepts: Names = None, files_read: Names = None, files_modified: Names = None,
        bead_id: str | None = None, bead: str | None = None, supersedes: Names = None,
        directory: Names = None, session: Names = None,
    ) -> StoredMemory:  # fmt: skip
        """Store a memory, unless an existing one says the same.

        In that case the existing memory takes over new tags and dates. Frontmatter at the start of
        `text` counts too, but arguments win over it. Dates are ISO or plain words (`in 3 months`).
        Lists may be strings with commas; `facts` is a list or has one fact per line. `supersedes`
        names the memories that this one replaces: ids, prefixes of ids, or paths. `path` names the
        file inside the memory folder, such as `handoffs/2026-01-01`. Text and arguments each have
        at most `memory.max_bytes` bytes. Text that looks like a credential is refused unless
        `force`. `directory` and `session` tell where the text was typed; text from a private origin
        stays on this machine. Raises UsageError, NotFoundError, and BusyError if other processes
        keep the index locked.
        """
        fields = options.memory_fields(
            self._runtime, type=type, title=title, subtitle=subtitle, digest=digest, tags=tags,
            project=project,
            entered_by=entered_by, by=by, expires=expires, valid_until=valid_until,
            confidence=confidence, facts=facts, concepts=concepts, files_read=files_read,
            files_modified=files_modified, bead_id=bead_id, bead=bead, supersedes=supersedes,
        )  # fmt: skip
        return memories.add_memory(
            self._runtime, text, fields, path=path, force=force, sources=self._sources(source),
            typed_in=options.typed_in(directory, names(session), options.folder_given(project)),
        )  # fmt: skip

    def update(
        self, ref: str, *, content: str | None = None, append: bool = False,
        section: str | None = None, add_tags: Names = None, remove_tags: Names = None,
        allow_empty: bool = False, force: bool = False, source: Names = None, client: str = "",
        type: str | None = None, title: str | None = None, subtitle: str | None = None,
        digest: str | None = None, tags: Names = None, project: str | None = None,
        entered_by: str | None = None, by: str | None = None, expires: str | None = None,
        valid_until: str | None = None, confidence: str | None = None, facts: Names = None,
        concepts: Names = None, files_read: Names = None, files_modified: Names = None,
        bead_id: str | None = None, bead: str | None = None, supersedes: Names = None,
        directory: Names = None, session: Names = None,
    ) -> StoredMemory:  # fmt: skip
        """Change fields of one memory and set `updated`.

        An empty string removes a field. `content` is the new text. `append` adds it to the end, and
        `section` replaces the text under that heading. An empty `content` is refused unless
        `allow_empty`. `client` is recorded in `history`. Raises as `add`, NotFoundError, and
        ConflictError if the file changed meanwhile.
        """
        fields = options.memory_fields(
            self._runtime, type=type, title=title, subtitle=subtitle, digest=digest, tags=tags,
            project=project,
            entered_by=entered_by, by=by, expires=expires, valid_until=valid_until,
            confidence=confidence, facts=facts, concepts=concepts, files_read=files_read,
            files_modified=files_modified, bead_id=bead_id, bead=bead, supersedes=supersedes,
        )  # fmt: skip
        return memories.update_memory(
            self._runtime, ref, fields, content=content, append=append, section=section,
            add_tags=add_tags, remove_tags=remove_tags, allow_empty=allow_empty, force=force,
            sources=self._sources(source), client=client,
            typed_in=options.typed_in(directory, names(session), options.folder_given(project)),
        )  # fmt: skip

    def delete(
        self, ref: Names, *, permanent: bool = False, source: Names = None, client: str = ""
    ) -> MemoryOutcomes:  # fmt: skip
        """Move memories to the `.trash/` of their vault, or delete them if `permanent`.

        With several references, each result is reported. With a single one, an error is raised:
        NotFoundError, UsageError or BusyError.
        """
        return memories.delete_memories(
            self._runtime,
            whole(ref),
            permanent=permanent,
            sources=self._sources(source),
            client=client,
        )

    def forget(
        self, ref: Names = None, *, project: str | None = None, client: str | None = None,
        before: str | None = None, dry_run: bool = False,
    ) -> MemoryOutcomes:  # fmt: skip
        """Delete sessions and those of their subagents permanently.

        Removes them from the index, the vectors, the session archive and the vault. Selects
        sessions by id or path, or all sessions of a project and a client that ended before a day.
        The next sync skips them even if the client still has them. There is no undo. Raises
        UsageError, NotFoundError, BusyError.
        """
        return memories.forget_sessions(
            self._runtime,
            whole(ref),
            project=project or "",
            client=client or "",
            before=before or "",
            dry_run=dry_run,
        )

    def history(
        self, ref: str, *, limit: int = 20, offset: int = 0, source: Names = None
    ) -> History:
        """List the versions of a memory, newest first.

        These are the last 50 recorded versions including changes by hand, and the commits if the
        vault is a git repository. `ref` may be the id or path of a deleted memory.
        """
        limit, offset = at_least(1, "limit", limit, 20), at_least(0, "offset", offset, 0)
        return memories.memory_history(
            self._runtime, ref, limit=limit, offset=offset, sources=self._sources(source)
        )

    def diff(
        self,
        ref: str,
        *,
        before: int | str | None = None,
        after: int | str | None = None,
        source: Names = None,
    ) -> Diff:
        """Compare two versions of a memory.

        Versions are numbers from `history` or (short) commit hashes. The default is the last
        version and the one before. Raises NotFoundError.
        """
        return memories.memory_diff(
            self._runtime, ref, before=before, after=after, sources=self._sources(source)
        )

    def revert(
        self, ref: str, *, to: int | str | None = None, source: Names = None
    ) -> StoredMemory:
        """Restore the file of a memory to an earlier version, byte for byte.

        The default is the last version that differs from the file. A deleted memory is created
        again. Raises NotFoundError, ConflictError and BusyError.
        """
        return memories.revert_memory(self._runtime, ref, to=to, sources=self._sources(source))

    def undo(self, *, change: int | None = None, source: Names = None) -> MemoryOutcomes:
        """Restore the files that the last command changed.

        A second call undoes the command before it. `change`, a number from the answer of `decide`,
        undoes that decision regardless of later changes to other files. All files are restored or
        none: ConflictError names a file that changed since. Raises NotFoundError if nothing is left
        to undo. A `permanent` delete cannot be undone.
        """
        return memories.undo_change(self._runtime, only=change, sources=self._sources(source))

    def prune(
        self, *, before: str | None = None, dry_run: bool = False, source: Names = None
    ) -> MemoryOutcomes:
        """Move expired memories to the `.trash/` of their vault.

        With `before`, move all memories created before that day instead, expired or not. The date
        in the file decides, even if the index has an older one. Raises UsageError, BusyError.
        """
        return memories.prune_memories(
            self._runtime, before=before, dry_run=dry_run, sources=self._sources(source)
        )

    def review(
        self, *, reason: Names = None, project: Names = None, limit: int | None = None,
        offset: int = 0, source: Names = None,
    ) -> Review:  # fmt: skip
        """List memories that need a decision by a person, with the reason.

        `reason` is one or several of `unreviewed`, `contradiction`, `duplicate`, `expired`,
        `outdated` and `unopened` (not created, changed or opened for a year). A memory is listed
        once per reason. `limit` defaults to 20. Uses no language model. Raises UsageError.
        """
        reasons = tuple(options.one_of("reason", one, "", REASONS) for one in names(reason))
        filters = Filters(sources=self._sources(source), projects=whole(project))
        limit, offset = at_least(1, "limit", limit, 20), at_least(0, "offset", offset, 0)
        return memories.review_memories(
            self._runtime, reasons=reasons, filters=filters, limit=limit, offset=offset
        )

    def decide(
        self, action: str, ref: Names, *, text: str | None = None, seen: Names = None,
        force: bool = False, source: Names = None, client: str = "",
    ) -> MemoryOutcomes:  # fmt: skip
        """Apply a review decision to memories.

        `accept` moves a memory out of the inbox. `edit` replaces the whole file by `text`. `merge`
        adds to the first memory what it lacks of the others and supersedes them. `supersede` lets
        the first memory supersede the others. `archive` hides, `delete` moves to the trash, and
        `keep` hides the item from `review` until one of its memories changes.

        `seen` takes the values of `seen` from `review`; ConflictError is raised if a file changed
        since. Raises as `update`.
        """
        return memories.decide_memories(
            self._runtime, action, whole(ref), text=text, seen=names(seen), force=force,
            sources=self._sources(source), client=client,
        )  # fmt: skip

    def archive(self, ref: Names, *, restore: bool = False, source: Names = None) -> MemoryOutcomes:
        """Hide memories from search and recall, or show them again with `restore`.

        The files stay where they are, and links to them keep working. Results and errors are
        reported as in `delete`.
        """
        return memories.archive_memories(
            self._runtime, whole(ref), restore=restore, sources=self._sources(source)
        )

    def capture(
        self, text: str, *, entered_by: str = "auto-extract", by: str | None = None,
        project: str | None = None, session: str | None = None, statements: bool = False,
        inbox: bool = False, auto: bool = False, dry_run: bool = False, force: bool = False,
        source: Names = None, directory: Names = None,
    ) -> MemoryOutcomes:  # fmt: skip
        """Store every `*Remember*: …` of a text, with the tags and the expiry that its words give.

        `statements` also stores plain decisions and preferences of a user. `inbox` stores in the
        folder `inbox` of the memories. `auto` lets the setting `agents.capture` choose whether and
        where to store. `project` is a name or a folder. A memory that cannot be stored is reported
        with its line; the others are stored.
        """
        place = "inbox" if inbox else "direct"
        return memories.capture_memories(
            self._runtime, text, entered_by=by or entered_by, project=project, session=session,
            mode=self._runtime.config.agents.capture if auto else place,
            statements=statements, dry_run=dry_run, force=force, sources=self._sources(source),
            typed_in=options.typed_in(directory, names(session), project),
        )  # fmt: skip

    def export(
        self, path: str | Path, *, folder: bool = False, force: bool = False, source: Names = None
    ) -> ExportReport:
        """Write the memories of one vault to a JSON file, or to a `folder` of markdown files.

        `source` is the vault (default: the vault of new memories). Unless `force`, raises
        UsageError if the file exists or the folder is not empty.
        """
        return memories.export_memories(
            self._runtime, path, folder=folder, force=force, sources=self._sources(source)
        )

    def export_json(self, *, source: Names = None) -> str:
        """Return what `export` would write to a file.

        It is a JSON array with one record per line, sorted by path.
        """
        return memories.export_text(self._runtime, self._sources(source))

    def import_(
        self, path: str | Path, *, force: bool = False, dry_run: bool = False, embed: bool = True,
        source: Names = None, progress: Progress = no_progress, cancel: CancelToken | None = None,
    ) -> MemoryOutcomes:  # fmt: skip
        """Store the memories of an export or of another program: JSON, or a folder of markdown.

        An export of Claude or ChatGPT (ZIP or JSON) is stored as sessions instead.
        Existing memories do not change, so a second import has no effect. A record that cannot be
        read or that looks like a credential (unless `force`) is reported with its position; the
        others are stored.
        """
        from vault_index.sources.sessions.chats import is_export

        file = Path(path).expanduser()
        if file.is_file() and is_export(file):
            return memories.import_chats(
                self._runtime, file, dry_run=dry_run, embed=embed, progress=progress
            )
        return memories.import_memories(
            self._runtime, path, force=force, dry_run=dry_run, embed=embed,
            sources=self._sources(source), progress=progress, cancel=cancel or CancelToken(),
        )  # fmt: skip

    def _sources(self, source: Names) -> tuple[str, ...]:
        return self._runtime.source_names(names(source))
