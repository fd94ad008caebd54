"""The part of `VaultIndex` that writes memories."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from vault_index import memories
from vault_index.api import options
from vault_index.api.options import Names, at_least, names, whole
from vault_index.cancel import CancelToken
from vault_index.fields import REASONS, Filters
from vault_index.models import Progress, no_progress
from vault_index.runtime import Runtime

if TYPE_CHECKING:  # each call makes its own answer
    from vault_index.results.history import Diff, History
    from vault_index.results.memories import ExportReport, MemoryOutcomes, StoredMemory
    from vault_index.results.review import Review


class Memories:
    """What `VaultIndex` does with memories; its documentation says what holds for all calls."""

    def __init__(self, runtime: Runtime) -> None:
        """For the daemon; others use `open`."""
        self._runtime = runtime

    def add(
        self, text: str = "", *, path: str | None = None, force: bool = False, source: Names = None,
        type: str | None = None, title: str | None = None, subtitle: str | None = None, digest: str | None = None,
        tags: Names = None, project: str | None = None, entered_by: str | None = None, by: str | None = None,
        expires: str | None = None, valid_until: str | None = None, confidence: str | None = None, facts: Names = None,
        concepts: Names = None, files_read: Names = None, files_modified: Names = None, bead_id: str | None = None,
        bead: str | None = None, supersedes: Names = None, directory: Names = None, session: Names = None,
    ) -> StoredMemory:  # fmt: skip
        """Store a memory, unless one says the same already: that one takes over new tags and dates.

        Where `text` begins with frontmatter, its keys count as well; arguments count before them. Dates are ISO or
        plain words (`in 3 months`). Lists may be strings with commas; `facts` is a list, or has a line for each.
        `supersedes` names memories that this one replaces: ids, their beginnings, or paths. `path` names the file
        inside the memory folder, as `handoffs/2026-01-01`. Text and arguments have at most `memory.max_bytes` bytes
        each; what looks like a credential is refused unless `force`. `directory` and `session`: where it is typed;
        text from a private one stays on this machine. Raises UsageError, NotFoundError, and BusyError for an index
        that others keep busy.
        """
        fields = options.memory_fields(locals())
        return memories.add_memory(
            self._runtime, text, fields, path=path, force=force, sources=self._sources(source),
            typed_in=options.typed_in(directory, names(session), options.folder_given(locals())),
        )  # fmt: skip

    def update(
        self, ref: str, *, content: str | None = None, append: bool = False, section: str | None = None,
        add_tags: Names = None, remove_tags: Names = None, allow_empty: bool = False, force: bool = False,
        source: Names = None, client: str = "",
        type: str | None = None, title: str | None = None, subtitle: str | None = None, digest: str | None = None,
        tags: Names = None, project: str | None = None, entered_by: str | None = None, by: str | None = None,
        expires: str | None = None, valid_until: str | None = None, confidence: str | None = None, facts: Names = None,
        concepts: Names = None, files_read: Names = None, files_modified: Names = None, bead_id: str | None = None,
        bead: str | None = None, supersedes: Names = None, directory: Names = None, session: Names = None,
    ) -> StoredMemory:  # fmt: skip
        """Change what is named of one memory, and set `updated`; an empty text takes a field away.

        `content` is the new text; with `append` it comes after the old one, with `section` it concerns what stands
        under that heading. An empty one is refused, unless `allow_empty`. `client` is who asks, for `history`. Raises
        as `add`, NotFoundError, and ConflictError when the file changed meanwhile.
        """
        fields = options.memory_fields(locals())
        return memories.update_memory(
            self._runtime, ref, fields, content=content, append=append, section=section, add_tags=add_tags,
            remove_tags=remove_tags, allow_empty=allow_empty, force=force, sources=self._sources(source),
            client=client,
            typed_in=options.typed_in(directory, names(session), options.folder_given(locals())),
        )  # fmt: skip

    def delete(
        self, ref: Names, *, permanent: bool = False, source: Names = None, client: str = ""
    ) -> MemoryOutcomes:  # fmt: skip
        """Move memories to the `.trash/` of their vault, or with `permanent` delete them.

        Of several each is reported; the error of a single one is raised: NotFoundError, UsageError, BusyError.
        """
        return memories.delete_memories(
            self._runtime,
            whole(ref),
            permanent=permanent,
            sources=self._sources(source),
            client=client,
        )

    def forget(
        self, ref: Names = None, *, project: str | None = None, client: str | None = None, before: str | None = None,
        dry_run: bool = False,
    ) -> MemoryOutcomes:  # fmt: skip
        """Delete sessions for good, with those of their subagents: from the index, the vectors, what was kept of them
        and the vault. Those named by id or path, or all of a project and a client that ended before a day.

        What their client still has is not read again. There is no undo. Raises UsageError, NotFoundError, BusyError.
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
        """The versions of a memory that were seen, the newest first: the last 50, hand edits included, and the commits
        where its vault is a git repository. `ref` may be the id or the path of one that was deleted."""
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
        """What one version of a memory says otherwise than another: numbers of `history`, or (short) hashes of commits;
        without them the last version and the one before. Raises NotFoundError."""
        return memories.memory_diff(
            self._runtime, ref, before=before, after=after, sources=self._sources(source)
        )

    def revert(
        self, ref: str, *, to: int | str | None = None, source: Names = None
    ) -> StoredMemory:
        """Have the file of a memory say again, byte for byte, what it said in a version, by default in the last that
        differs from it; one that was deleted comes back. Raises NotFoundError, ConflictError and BusyError."""
        return memories.revert_memory(self._runtime, ref, to=to, sources=self._sources(source))

    def undo(self, *, change: int | None = None, source: Names = None) -> MemoryOutcomes:
        """Put the files that the last command touched back as they were; called again, the command before that. Of
        what `decide` answered, `change` undoes that, whatever was done since to other files.

        It undoes all of it or nothing: ConflictError names a file that changed since. Raises NotFoundError where there
        is nothing left to undo; `delete` with `permanent` is not undone.
        """
        return memories.undo_change(self._runtime, only=change, sources=self._sources(source))

    def prune(
        self, *, before: str | None = None, dry_run: bool = False, source: Names = None
    ) -> MemoryOutcomes:
        """Move memories that have expired (`before`: before that day) to the `.trash/` of their vault.

        The file decides: one whose date was put off since it was indexed stays. Raises UsageError, BusyError.
        """
        return memories.prune_memories(
            self._runtime, before=before, dry_run=dry_run, sources=self._sources(source)
        )

    def review(
        self, *, reason: Names = None, project: Names = None, limit: int | None = None, offset: int = 0,
        source: Names = None,
    ) -> Review:  # fmt: skip
        """What a person should look at, and why. `reason` is one of `unreviewed`, `contradiction`, `duplicate`,
        `expired`, `outdated` and `unopened` (not created, changed or opened for a year), or several; each memory comes
        up once for each. `limit` is 20. No model is asked. Raises UsageError."""
        reasons = tuple(options.one_of("reason", one, "", REASONS) for one in names(reason))
        filters = Filters(sources=self._sources(source), projects=whole(project))
        limit, offset = at_least(1, "limit", limit, 20), at_least(0, "offset", offset, 0)
        return memories.review_memories(
            self._runtime, reasons=reasons, filters=filters, limit=limit, offset=offset
        )

    def decide(
        self, action: str, ref: Names, *, text: str | None = None, seen: Names = None, force: bool = False,
        source: Names = None, client: str = "",
    ) -> MemoryOutcomes:  # fmt: skip
        """Do with memories what a person decided: `accept` (out of the inbox), `edit` (`text` is the whole file),
        `merge` (the first takes over what it lacks of the others, and supersedes them), `supersede` (the first one the
        others), `archive`, `delete` (to the trash), `keep` (not to be asked again until one of them changes).

        With `seen`, the `seen` of `review` for each, ConflictError is raised where one says something else by now.
        Raises as `update`.
        """
        return memories.decide_memories(
            self._runtime, action, whole(ref), text=text, seen=names(seen), force=force,
            sources=self._sources(source), client=client,
        )  # fmt: skip

    def archive(self, ref: Names, *, restore: bool = False, source: Names = None) -> MemoryOutcomes:
        """Leave memories out of search and recall from today on, or with `restore` no longer; their files stay where
        they are, and links to them hold. Of several each is reported, as in `delete`."""
        return memories.archive_memories(
            self._runtime, whole(ref), restore=restore, sources=self._sources(source)
        )

    def capture(
        self, text: str, *, entered_by: str = "auto-extract", by: str | None = None, project: str | None = None,
        session: str | None = None, statements: bool = False, inbox: bool = False, auto: bool = False,
        dry_run: bool = False, force: bool = False, source: Names = None, directory: Names = None,
    ) -> MemoryOutcomes:  # fmt: skip
        """Store every `*Remember*: …` of a text, with the tags and the expiry that its words say.

        With `statements` the plain decisions and preferences of a user as well. `inbox` keeps them in the folder
        `inbox` of the memories; `auto` leaves it to `agents.capture` where they go, and whether. `project` is a name
        or a folder. One that cannot be stored is reported with its line, and the others are stored.
        """
        return memories.capture_memories(
            self._runtime, text, entered_by=by or entered_by, project=project, session=session,
            mode=self._runtime.config.agents.capture if auto else "inbox" if inbox else "direct",
            statements=statements, dry_run=dry_run, force=force, sources=self._sources(source),
            typed_in=options.typed_in(directory, names(session), project),
        )  # fmt: skip

    def export(
        self, path: str | Path, *, folder: bool = False, markdown: bool = False, force: bool = False,
        source: Names = None,
    ) -> ExportReport:  # fmt: skip
        """Write every memory of one vault (`source`, or that of new ones) to a JSON or `markdown` file, or a `folder`
        of markdown. Raises UsageError for a file that exists and a folder that is not empty, unless `force`."""
        return memories.export_memories(
            self._runtime,
            path,
            folder=folder,
            markdown=markdown,
            force=force,
            sources=self._sources(source),
        )

    def export_json(self, *, markdown: bool = False, source: Names = None) -> str:
        """What `export` writes to a file: one array, a record a line, by path; or with `markdown` that."""
        return memories.export_text(self._runtime, self._sources(source), markdown=markdown)

    def import_(
        self, path: str | Path, *, force: bool = False, dry_run: bool = False, embed: bool = True, source: Names = None,
        progress: Progress = no_progress, cancel: CancelToken | None = None,
    ) -> MemoryOutcomes:  # fmt: skip
        """Store the memories of an export, or those of another program: JSON, or a folder of markdown.

        What is here already stays as it is, so importing twice changes nothing. One that cannot be read, or holds
        what looks like a credential (unless `force`), is reported with its position, and the others are stored.
        """
        return memories.import_memories(
            self._runtime, path, force=force, dry_run=dry_run, embed=embed, sources=self._sources(source),
            progress=progress, cancel=cancel or CancelToken(),
        )  # fmt: skip

    def _sources(self, source: Names) -> tuple[str, ...]:
        return self._runtime.source_names(names(source))
