"""The memories of `VaultIndex`: written, changed, put away. The index follows before a call returns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from datetime import datetime
from typing import Any, Unpack

from vault_index import results
from vault_index.api.options import MemoryOptions, Names, names, whole
from vault_index.api.runtime import Core
from vault_index.errors import BusyError, NotFoundError, UsageError, VaultIndexError
from vault_index.store.documents import documents_by_path

TYPE_CHECKING = False  # spares the import of what writes memories; type checkers know the name
if TYPE_CHECKING:
    from vault_index.memories.store import MemoryWriter, NewMemory
    from vault_index.store.records import StoredDocument


class Remembering(Core):
    """Writing methods for memories: they take turns with other processes, and belong to one thread."""

    def add(
        self,
        text: str = "",
        *,
        path: str | None = None,
        force: bool = False,
        source: Names = None,
        **fields: Unpack[MemoryOptions],
    ) -> results.StoredMemory:
        """Store a memory, unless one says the same already: that one takes over new tags and dates.

        Where `text` has a frontmatter, that counts as well; `fields` count before it. `path` names the file inside the
        memory folder, as `handoffs/2026-01-01`. What looks like a credential is refused unless `force`. Raises
        UsageError, and BusyError for an index that others keep busy.
        """
        from vault_index.memories.create import given_memory

        now = datetime.now().astimezone()
        new = given_memory(text, fields, path=path, now=now, max_bytes=self.config.memory.max_bytes, force=force)
        with self._memories("add", source, now) as memories:
            replaced = [memories.find(ref) for ref in names(new.supersedes)]
            stored = memories.store(new, replaced)
        return self._with_near(stored, memories.home, replaced)

    def update(
        self,
        ref: str,
        *,
        content: str | None = None,
        append: bool = False,
        section: str | None = None,
        add_tags: Names = None,
        remove_tags: Names = None,
        force: bool = False,
        source: Names = None,
        **fields: Unpack[MemoryOptions],
    ) -> results.StoredMemory:
        """Change what is named of one memory, and set `updated`; an empty text takes a field away.

        `content` is the new text; with `append` it comes after the old one, with `section` it concerns what stands
        under that heading. Raises as `add`, NotFoundError, and ConflictError when the file changed meanwhile.
        """
        from vault_index.memories.create import change_of

        now = datetime.now().astimezone()
        change = change_of(
            fields, content=content, append=append, section=section, add_tags=add_tags, remove_tags=remove_tags,
            now=now, max_bytes=self.config.memory.max_bytes, force=force,
        )  # fmt: skip
        with self._memories("update", source, now) as memories:
            document = memories.find(self._inside(ref), self._sources_named(source))
            replaced = [memories.find(other) for other in _references(fields)]
            stored = memories.change(document, change, replaced)
        if content is None and not fields.get("title"):
            return stored
        return self._with_near(stored, document.source, replaced)

    def delete(self, ref: Names, *, permanent: bool = False, source: Names = None) -> results.MemoryOutcomes:
        """Move memories to the `.trash/` of their vault, or delete them for good. Of several each is reported; the
        error of a single one is raised."""
        references = whole(ref)
        if not references:
            raise UsageError("which memory?", "name it by its id or its path")
        done, failed = [], []
        with self._memories("delete", source) as memories:
            for reference in references:
                try:
                    document = memories.find(self._inside(reference), self._sources_named(source))
                    done.append(_put_away(memories, document, permanent=permanent))
                except VaultIndexError as error:
                    if len(references) == 1:
                        raise
                    failed.append(results.FailedItem(reference, error.in_one_line))
        return results.MemoryOutcomes(tuple(done), tuple(failed))

    def prune(
        self, *, before: str | None = None, dry_run: bool = False, source: Names = None
    ) -> results.MemoryOutcomes:
        """Move memories that have expired (`before`: before that day) to the `.trash/` of their vault.

        The file decides: one whose date was taken away or put off since it was indexed stays.
        """
        from vault_index.memories.dates import read_date

        now = datetime.now().astimezone()
        until = now.timestamp()
        if before is not None:
            day = datetime.fromisoformat(read_date(before, now.date(), option="before"))
            until = min(until, day.timestamp() - 0.001)
        done, failed = [], []
        with self._memories("prune", source, now) as memories:
            for document in memories.expired(until, self._sources_named(source)):
                try:
                    expires = memories.expired_on(document, until)
                    if expires is None:
                        continue
                    outcome = _put_away(memories, document, dry_run=dry_run)
                    done.append(replace(outcome, details={**outcome.details, "expires": expires}))
                except VaultIndexError as error:
                    failed.append(results.FailedItem(document.path, error.message))
        return results.MemoryOutcomes(tuple(done), tuple(failed))

    def capture(
        self,
        text: str,
        *,
        by: str = "auto-extract",
        project: str | None = None,
        session: str | None = None,
        statements: bool = False,
        inbox: bool = False,
        auto: bool = False,
        dry_run: bool = False,
        force: bool = False,
        source: Names = None,
    ) -> results.MemoryOutcomes:
        """Store every `*Remember*: …` of a text, with the tags and the expiry that its words say.

        With `statements` the plain decisions and preferences of a user as well. `inbox` keeps them in the folder
        `inbox` of the memories; `auto` leaves it to `agents.capture` where they go, and whether. `project` is a name
        or a folder. One that cannot be stored is reported with its line, and keeps none of the others out.
        """
        from vault_index.memories.create import Occasion, captured_memory, to_capture

        mode = self.config.agents.capture if auto else "inbox" if inbox else "direct"
        now = datetime.now().astimezone()
        found = to_capture(text, now.date(), self.config.memory.capture_tags, statements=statements)
        if not found or mode == "off":
            return results.MemoryOutcomes(())
        occasion = Occasion(by, project, session, "inbox" if mode == "inbox" else None)
        done, failed = [], []
        with self._memories("capture", source, now) as memories:
            for one in found:
                try:
                    new = captured_memory(one, occasion, now, max_bytes=self.config.memory.max_bytes, force=force)
                    done.append(_captured(memories, one.text, new, dry_run=dry_run))
                except VaultIndexError as error:
                    failed.append(results.FailedItem(f"line {one.line}", error.message))
        for outcome in done:
            if outcome.outcome == "created":
                self._write.embed_document(memories.home, outcome.path)
        return results.MemoryOutcomes(tuple(done), tuple(failed))

    # --- inside ------------------------------------------------------------------------------------------------

    @contextmanager
    def _memories(self, work: str, source: Names, now: datetime | None = None) -> Iterator[MemoryWriter]:
        """Memories under the write lock, with an index that knows their files as they are; it follows at the end."""
        from vault_index.memories.store import MemoryWriter

        home = self._memory_source(source)
        with ExitStack() as stack:
            try:
                stack.enter_context(self._write.held(work))
                for name, vault in self._vaults.items():
                    self._write.refresh_folder(name, vault.config.path / self.config.memory.dir)
            except BusyError as error:
                raise BusyError(f"{error.message}; no memory was written", error.hint) from error
            reader = stack.enter_context(self._pool.lend()).reader
            memories = MemoryWriter(
                write=self._write,
                reader=reader,
                sources=self._vaults,
                memory_dir=self.config.memory.dir,
                home=home,
                now=now or datetime.now().astimezone(),
            )
            try:
                yield memories
            except BaseException:
                with suppress(VaultIndexError):
                    memories.flush()
                raise
            memories.flush()

    def _memory_source(self, source: Names) -> str:
        """The vault that new memories are written to. Raises where it is not there: a disk that is not mounted."""
        names = self._sources_named(source) or ((self.config.memory.vault,) if self.config.memory.vault else ())
        if len(names) > 1:
            raise UsageError(f"a memory is written to one source, not to {', '.join(names)}", "name one of them")
        if not names and not self._vaults:
            raise UsageError("there is no vault to write to", "add one: vault-index source add PATH")
        name = names[0] if names else next(iter(self._vaults))
        if name not in self._vaults:
            raise UsageError(f"no memory is written to source {name!r}", f"write to {', '.join(self._vaults)}")
        vault = self._vaults[name]
        if not vault.config.path.is_dir():
            raise NotFoundError(f"source {vault.config.name!r}: {vault.missing()}", "is its disk mounted?")
        return vault.config.name

    def _with_near(
        self, stored: results.StoredMemory, source: str, replaced: list[StoredDocument]
    ) -> results.StoredMemory:
        """With the memories that say nearly the same; those it replaces are no news."""
        from vault_index.memories.similar import near_memories

        if stored.duplicate_of:
            return stored
        self._write.embed_document(source, stored.path)
        with self._pool.lend() as connections:
            known = documents_by_path(connections.reader, stored.path, (source,))
            if not known:
                return stored
            ignored = {document.id for document in replaced}
            return replace(stored, near=near_memories(connections.reader, known[0], ignoring=ignored))


def _references(fields: Mapping[str, Any]) -> tuple[str, ...]:
    return names(fields.get("supersedes"))


def _put_away(
    memories: MemoryWriter, document: StoredDocument, *, permanent: bool = False, dry_run: bool = False
) -> results.MemoryOutcome:
    if dry_run:
        return results.MemoryOutcome(document.uid, document.path, document.title, "would be trashed", {})
    where = memories.put_away(document, permanent=permanent)
    outcome, details = ("deleted", {}) if permanent else ("trashed", {"trash": where})
    return results.MemoryOutcome(document.uid, document.path, document.title, outcome, details)


def _captured(memories: MemoryWriter, text: str, new: NewMemory, *, dry_run: bool) -> results.MemoryOutcome:
    details = {
        "type": new.fields.type,
        "tags": list(new.fields.tags or ()),
        "expires": new.fields.expires,
    }
    if dry_run:
        twin = memories.twin(new.text)
        if twin is None:
            return results.MemoryOutcome("", "", new.title, "would be created", {**details, "text": text})
        return results.MemoryOutcome(twin.uid, twin.path, new.title, "duplicate", details)
    stored = memories.store(new)
    outcome = "created" if stored.created else "duplicate"
    return results.MemoryOutcome(
        stored.id, stored.path, new.title, outcome, {**details, "warnings": list(stored.warnings)}
    )
