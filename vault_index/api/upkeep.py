"""The upkeep of `VaultIndex`: bringing the index up to date, and telling how it is doing."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from vault_index import results
from vault_index.api.options import Names, places_in
from vault_index.api.questions import Questions
from vault_index.errors import VaultIndexError
from vault_index.models import no_progress
from vault_index.store.spaces import lacking_documents, serving_space

TYPE_CHECKING = False  # spares the import of the indexer; type checkers know the name
if TYPE_CHECKING:
    from vault_index.cancel import CancelToken
    from vault_index.config import Config, Home
    from vault_index.models import Progress


class Upkeep(Questions):
    """Sync, vectors and state."""

    def sync(
        self,
        paths: Sequence[str | Path] | None = None,
        *,
        dry_run: bool = False,
        embed: bool = True,
        source: Names = None,
        progress: Progress = no_progress,
        cancel: CancelToken | None = None,
    ) -> results.SyncReport:
        """Compare files and index, and change the index. `paths`: only these files and folders of the sources."""
        if paths is None:
            places = {name: [""] for name in self._sources_named(source)} or None
        else:
            places = places_in(self.sources, paths)
        return self._write.sync(places, dry_run=dry_run, embed=embed, progress=progress, cancel=cancel)

    def rebuild(
        self, *, embed: bool = True, progress: Progress = no_progress, cancel: CancelToken | None = None
    ) -> results.SyncReport:
        """Read every file again, in place: old rows stay searchable until their new ones are there."""
        return self._write.sync(None, dry_run=False, embed=embed, progress=progress, cancel=cancel, everything=True)

    def embed(
        self, *, rebuild: bool = False, progress: Progress = no_progress, cancel: CancelToken | None = None
    ) -> results.EmbedReport:
        """Fill the missing vectors; with `rebuild` compute all of them again, beside the serving ones."""
        return self._write.embed(rebuild=rebuild, progress=progress, cancel=cancel)

    def embed_plan(self) -> results.EmbedPlan:
        """What filling the vectors would send and cost."""
        from vault_index.health.status import embed_plan

        with self._pool.lend() as connections:
            return embed_plan(connections, self.config, self._embedders, self._moments)

    def embed_status(self) -> results.EmbedStatus:
        """How far the vectors are."""
        from vault_index.health.status import embed_status

        with self._pool.lend() as connections:
            return embed_status(connections, self.config.embedding.daily_token_limit, self._moments)

    def embed_step(self) -> results.EmbedReport:
        """Fill the vectors of one small batch."""
        return self._write.embed_step()

    def status(
        self, *, daemon: results.DaemonStatus | None = None, watch: results.WatchStatus | None = None
    ) -> results.Status:
        """How it is doing, and what is wrong. A daemon tells of itself."""
        from vault_index.health.status import status

        return status(
            self._pool,
            self.home,
            self.config,
            self.sources,
            self._moments,
            daemon or results.DaemonStatus(),
            watch or results.WatchStatus(),
        )

    def file_status(self, ref: str) -> results.FileStatus:
        """How one document or file is doing, by a reference as `get` takes it or by its path; why it is not indexed.

        Raises NotFoundError where there is neither a document nor a file in a source.
        """
        from vault_index.health.file_status import file_status
        from vault_index.health.status import fault_problem

        inside = self._inside(ref)
        with self._pool.lend() as connections:
            return file_status(
                connections.reader,
                self.sources,
                self._vaults.values(),
                ref,
                lambda: self._resolve(connections, inside, None),
                fault_problem,
            )

    def doctor(self, *, recall: bool = False, deep: bool = False) -> results.DoctorReport:
        """What is wrong; with `recall` also how well notes are found by what they are called. With `deep` the index is
        compared with one that is built anew, which takes as long as building it."""
        from vault_index.health.checks import deep_problems, inside_problems, outside_problems

        problems = [*self.status().problems, *self._shared_ids()]
        known = {problem.code for problem in problems}
        problems += [one for one in outside_problems(self.home, self.config, self._pool) if one.code not in known]
        if not known & {"index_corrupt", "index_too_new", "not_set_up"}:
            problems += (inside := inside_problems(self.home))
            if deep and not inside:
                problems += deep_problems(self.home, self.config, self.sources, self._build)
        return results.DoctorReport(not problems, tuple(problems), self._self_test() if recall else None)

    def repair(
        self, *, deep: bool = False, progress: Progress = no_progress, cancel: CancelToken | None = None
    ) -> results.DoctorReport:
        """Mend what is derived from the files and the cache, and the permissions of our own files; what is left, and
        what was mended. Rows of a source that is gone are never given up: nothing is made anew while one is."""
        from vault_index.health.checks import TO_BEGIN_ANEW, TO_REFILL, TO_SYNC
        from vault_index.health.files import tighten

        before = self.doctor(deep=deep).problems
        codes = {problem.code for problem in before}
        tighten(self.home)
        if codes & TO_BEGIN_ANEW and not any(source.missing() for source in self.sources):
            self._write.sync(None, dry_run=False, embed=True, progress=progress, cancel=cancel, anew=True)
        elif codes & TO_SYNC:
            self._write.sync(None, dry_run=False, embed=True, progress=progress, cancel=cancel)
        elif codes & TO_REFILL:
            self._write.refill(progress=progress)
        after = self.doctor(deep=deep)
        fixed = tuple(problem for problem in before if problem not in after.problems)
        return replace(after, fixed=fixed)

    def _build(self, home: Home, config: Config) -> None:
        with type(self)(home, config) as fresh:
            fresh.sync(embed=False)

    def _self_test(self) -> results.RecallReport:
        from vault_index.query.selftest import DEPTH, self_test
        from vault_index.store.document_names import document_names

        with self._pool.lend() as connections:
            space = serving_space(connections.reader)
            remote = space is not None and space.space.provider != "local"
            leaving = self._moments().sort(lacking_documents(connections.reader, None)).leaving if remote else None
            documents = document_names(connections.reader, time.time(), leaving)
        return self_test(
            documents,
            lambda query: [(hit.path, *hit.also) for hit in self.search(query, limit=DEPTH, per_document=1).results],
        )

    def _shared_ids(self) -> tuple[results.Problem, ...]:
        from vault_index.health.status import shared_ids

        try:
            with self._pool.lend() as connections:
                return shared_ids(connections.reader)
        except VaultIndexError:
            return ()  # the status says why there is no index to ask

    def privacy(self) -> results.Privacy:
        """What was sent to which server, and when; never the text."""
        from vault_index.health.status import privacy

        return privacy(self.home)
