"""The memories of `VaultIndex`, carried out of a vault and into one."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from vault_index import results
from vault_index.api.options import Names
from vault_index.api.remembering import Remembering
from vault_index.errors import NotSetUpError, VaultIndexError
from vault_index.models import no_progress
from vault_index.store.documents import documents_page

TYPE_CHECKING = False  # spares the import of the indexer; type checkers know the name
if TYPE_CHECKING:
    from vault_index.cancel import CancelToken
    from vault_index.models import Progress


class Carrying(Remembering):
    """Export and import of memories."""

    def export(
        self, path: str | Path, *, folder: bool = False, force: bool = False, source: Names = None
    ) -> results.ExportReport:
        """Write every memory of one vault to a JSON file, or with `folder` to a folder of markdown; both lose nothing.

        The vault is the one memories are written to, or `source`. Only the owner can read what is written. Raises
        UsageError for a file that is there already and a folder that holds something, unless `force`.
        """
        from vault_index.memories.transfer.export_files import USAGE_FILE, write_file, write_folder
        from vault_index.output import render_json

        place = Path(path).expanduser().absolute()
        records = self.memory_records(source=source)
        if folder:
            files = [(record["path"], record["raw"]) for record in self._records_of(source, raw=True)]
            usage = {r["path"]: [r["accesses"], r["accessed"]] for r in records if "accesses" in r}
            kept = [(USAGE_FILE, render_json(usage) + "\n")] if usage else []
            size = write_folder(place, [*files, *kept], force=force)
        else:
            size = write_file(place, as_json(records), force=force)
        return results.ExportReport(str(place), self._memory_source(source), len(records), size)

    def memory_records(self, *, source: Names = None) -> list[dict[str, Any]]:
        """Every memory of one vault as `export` writes it to JSON, by path."""
        return list(self._records_of(source))

    def import_(
        self,
        path: str | Path,
        *,
        force: bool = False,
        dry_run: bool = False,
        embed: bool = True,
        source: Names = None,
        progress: Progress = no_progress,
        cancel: CancelToken | None = None,
    ) -> results.MemoryOutcomes:
        """Store the memories of an export, or those of another program: JSON, or a folder of markdown.

        What is here already stays as it is, so importing twice changes nothing. One that cannot be read, or holds
        what looks like a credential (unless `force`), is reported with its position and keeps no other out.
        """
        from vault_index.cancel import CancelToken
        from vault_index.memories.transfer.importer import Importer
        from vault_index.memories.transfer.reading import read_path

        cancel = cancel or CancelToken()
        batch = read_path(Path(path).expanduser())
        with self._memories("import", source) as memories:
            importer = Importer(memories, force=force, dry_run=dry_run)
            outcomes = importer.run(batch, progress, cancel)
            memories.flush(progress)
        usage = importer.usage()
        if usage and not dry_run:
            with self._pool.lend() as connections:
                connections.cache.raise_usage(usage)
        if embed and not dry_run and any(outcome.outcome == "created" for outcome in outcomes.results):
            self._write.embed(rebuild=False, progress=progress, cancel=cancel)
        return outcomes

    # --- inside ------------------------------------------------------------------------------------------------

    def _records_of(self, source: Names, *, raw: bool = False) -> Iterator[dict[str, Any]]:
        """The files of the memory folder as records, or with `raw` as they are."""
        from vault_index.memories.transfer.json_record import to_record

        vault = self._vaults[self._memory_source(source)]
        folder = self.config.memory.dir
        scan = vault.scan(folder)
        if scan.vanished:
            raise VaultIndexError(f"source {vault.config.name!r}: {scan.reason}", "is its disk mounted?")
        usage, uids = ({}, {}) if raw else self._usage(vault.config.name)
        for ref in scan.refs:
            if not ref.path.endswith(".md"):
                continue
            path = ref.path.removeprefix(f"{folder}/")
            try:
                text = vault.absolute(ref.path).read_bytes().decode("utf-8", "surrogateescape")
            except OSError as error:
                raise VaultIndexError(
                    f"{ref.path} cannot be read ({error.strerror}), and an export leaves nothing out",
                    "check its permissions, and run the same command again",
                ) from error
            if raw:
                yield {"path": path, "raw": text}
                continue
            accesses, accessed = usage.get(uids.get(ref.path, ""), (0, 0.0))
            last = datetime.fromtimestamp(accessed, UTC).isoformat() if accesses else None
            yield to_record(path, text, accesses=accesses, accessed=last)

    def _usage(self, source: str) -> tuple[dict[str, tuple[int, float]], dict[str, str]]:
        """How often documents were opened, by id, and the ids of the memories, by path."""
        from vault_index.models import Filters
        from vault_index.store.documents import Order

        try:
            with self._pool.lend() as connections:
                usage = connections.cache.usage()
                wanted = Filters(kinds=("memory",), sources=(source,))
                documents = documents_page(connections.reader, wanted, Order("path", False), -1, 0)[0] if usage else []
        except NotSetUpError:  # nothing was indexed yet, and so nothing opened
            return {}, {}
        return usage, {document.path: document.uid for document in documents}


def as_json(records: list[dict[str, Any]]) -> str:
    """One array, a record a line, so that two exports can be compared by line."""
    from vault_index.output import render_json

    lines = ",\n".join(render_json(record) for record in records)
    return f"[\n{lines}\n]\n" if lines else "[]\n"
