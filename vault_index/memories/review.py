"""Find memories that need a decision: inbox, duplicates, contradictions, expired, unused."""

import hashlib
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from functools import cached_property
from typing import NamedTuple

from vault_index.config.schema import AGENT_MEMORIES
from vault_index.errors import NotFoundError, VaultIndexError
from vault_index.fields import REASONS, Filters, Reason, State
from vault_index.markdown.frontmatter import string_list
from vault_index.memories.file.document import body_of
from vault_index.memories.file.files import MemoryFiles
from vault_index.memories.similar import NearPair, near_pairs
from vault_index.query.ranking.comparison import age
from vault_index.results.documents import DocumentRecord
from vault_index.results.memories import Review, ReviewedMemory, ReviewItem
from vault_index.runtime import Runtime
from vault_index.store.documents import Order, content_hashes, documents_page
from vault_index.store.pool import Connections
from vault_index.store.records import StoredDocument
from vault_index.times import local_day

_UNOPENED_DAYS = 365
_SHOWN_CHARACTERS = 1200
_OVER: tuple[State, ...] = ("expired", "superseded", "archived")
"""States in which memories are hidden, so that they do not duplicate or contradict others."""


class Found(NamedTuple):
    """Memories that need a decision, and the reason; the first one would be kept."""

    reason: Reason
    about: str
    documents: tuple[StoredDocument, ...]

    @property
    def uids(self) -> tuple[str, ...]:
        """The sorted ids of the memories."""
        return tuple(sorted(document.uid for document in self.documents))


def review_memories(
    runtime: Runtime, *, reasons: Sequence[str], filters: Filters, limit: int, offset: int
) -> Review:
    """Return a page of the items to review, sorted by reason, then by urgency."""
    filters = filters._replace(kinds=("memory",), now=filters.now or time.time())
    with runtime.pool.lend() as connections:
        with connections.reader.snapshot():
            look, wanted = (
                _Look(connections, filters),
                [one for one in REASONS if one in (reasons or REASONS)],
            )
            by_reason = {reason: _undecided(connections, look.found(reason)) for reason in wanted}
            found = [one for reason in wanted for one in by_reason[reason]]
            page = found[offset : offset + limit]
            documents = [document for one in page for document in one.documents]
            records = iter(runtime.records(connections).of(documents))
        items = tuple(
            ReviewItem(
                hashlib.sha256("\n".join((one.reason, *one.uids)).encode()).hexdigest()[:12],
                one.reason,
                one.about,
                tuple(_read(runtime, next(records)) for _ in one.documents),
            )
            for one in page
        )
    return Review(items, len(found), {reason: len(by_reason[reason]) for reason in wanted})


def reasons_of(connections: Connections, document: StoredDocument, now: float) -> list[Reason]:
    """Return the reasons to review this memory alone, except the inbox."""
    filters = Filters(
        kinds=("memory",), now=now, paths=(document.path,), sources=(document.source,)
    )
    look, alone = _Look(connections, filters), ("expired", "outdated", "unopened")
    return [
        one
        for one in REASONS
        if one in alone and document in [found.documents[0] for found in look.found(one)]
    ]


# --- items by reason ---------------------------------------------------------------------


class _Look:
    """One look at the memories that match the filters, with a method for each reason."""

    def __init__(self, connections: Connections, filters: Filters) -> None:
        self._reader, self._state, self._filters = connections.reader, connections.state, filters

    def found(self, reason: Reason) -> list[Found]:
        """Return the items for a reason; a memory is only in the first item that contains it."""
        found: dict[int, Found] = {}
        for one in getattr(self, f"_{reason}")():
            keys = {document.id for document in one.documents}
            if not keys & found.keys():
                found |= dict.fromkeys(keys, one)
        return list(dict.fromkeys(found.values()))

    def _unreviewed(self) -> Iterator[Found]:
        reasons = ("", "in the inbox since {}", "waiting since {}, hidden from search")
        for document in self._listed("created", "unreviewed"):
            yield Found(
                "unreviewed",
                reasons[document.unreviewed].format(local_day(document.created)),
                (document,),
            )

    def _contradiction(self) -> Iterator[Found]:
        for pair in self._pairs:
            if pair.comparison.kind == "contradiction":
                about = (
                    f"another value of the same subject, similarity {pair.comparison.likeness:.2f}"
                )
                yield Found("contradiction", about, pair.documents)

    def _duplicate(self) -> Iterator[Found]:
        """Begin with memories that another one supersedes, but that are not marked as superseded.

        A decision that was killed leaves them.
        """
        valid = {one.uid: one for one in self._valid}
        named = (
            (one, valid.get(uid.lower(), one))
            for one in valid.values()
            if '"supersedes"' in one.frontmatter_json
            for uid in string_list(one.frontmatter.get("supersedes"))
        )
        for one, other in named:
            if one is not other:
                yield Found("duplicate", "superseded, but not marked as superseded", (one, other))
        for pair in self._pairs:
            if pair.comparison.kind == "duplicate":
                reviewed_first = tuple(sorted(pair.documents, key=lambda one: one.unreviewed))
                yield Found(
                    "duplicate", f"similarity {pair.comparison.likeness:.2f}", reviewed_first
                )

    def _expired(self) -> Iterator[Found]:
        for document in self._listed("expires", "expired"):
            yield Found(
                "expired", f"expired since {local_day(document.expires or 0.0)}", (document,)
            )

    def _outdated(self) -> Iterator[Found]:
        for document in self._listed("valid_until", "outdated"):
            yield Found(
                "outdated", f"outdated since {local_day(document.valid_until or 0.0)}", (document,)
            )

    def _unopened(self) -> Iterator[Found]:
        opened: dict[str, float] = {}
        with suppress(VaultIndexError):  # a damaged state has no usage counts
            opened = {uid: accessed for uid, (_, accessed) in self._state.usage().items()}
        until = (self._filters.now or 0.0) - _UNOPENED_DAYS * 86_400
        last = (
            (max(one.created, one.updated, opened.get(one.uid, 0.0)), one)
            for one in self._valid
            if one.source != AGENT_MEMORIES
        )
        for moment, document in sorted(
            (one for one in last if one[0] < until), key=lambda one: (one[0], one[1].path)
        ):
            since = "not opened since" if document.uid in opened else "never opened, last changed"
            yield Found("unopened", f"{since} {local_day(moment)}", (document,))

    @cached_property
    def _valid(self) -> list[StoredDocument]:
        return self._listed("path")

    @cached_property
    def _pairs(self) -> list[NearPair]:
        """The pairs of valid, similar memories, the newer one first."""
        return near_pairs(self._reader, sorted(self._valid, key=age, reverse=True))

    def _listed(self, column: str, state: State | None = None) -> list[StoredDocument]:
        """Return the valid memories, or those in this state and no other state that hides them."""
        over = tuple(one for one in _OVER if one != state)
        wanted = self._filters._replace(
            states=(state,) if state else (), without=(Filters(states=over, now=self._filters.now),)
        )
        return documents_page(self._reader, wanted, Order(column, descending=False))[0]


def _undecided(connections: Connections, found: list[Found]) -> list[Found]:
    """Leave out items that were decided to stay, unless a memory changed since."""
    decided: Mapping[tuple[str, tuple[str, ...]], tuple[str, ...]] = {}
    with suppress(VaultIndexError):  # a damaged state has no decisions
        decided = connections.state.decisions()
    if not decided:
        return found
    hashes = content_hashes(
        connections.reader, {document.id for one in found for document in one.documents}
    )

    def digests(one: Found) -> tuple[str, ...]:
        return tuple(
            digest
            for _, digest in sorted(
                (document.uid, hashes[document.id]) for document in one.documents
            )
        )

    return [one for one in found if decided.get((one.reason, one.uids)) != digests(one)]


def _read(runtime: Runtime, record: DocumentRecord) -> ReviewedMemory:
    """Return a memory with the current text of its file; no text if the file does not exist."""
    text = seen = ""
    with suppress(VaultIndexError):
        if record.source in runtime.vaults:
            folder = runtime.vaults[record.source].config.path
            file = MemoryFiles(folder, runtime.config.memory.dir, record.source).read(record.path)
            found, digest = file.text, file.digest
        else:
            source = runtime.by_name[record.source]
            if (ref := source.look(record.path)) is None:
                raise NotFoundError(f"{record.path} is gone", "run: vault-index sync")
            _, found, digest, *_ = source.read(ref)
        if runtime.holds(record.source, record.path, found):
            text, seen = body_of(found), digest.hex()
    return ReviewedMemory(
        **asdict(record),
        text=text[:_SHOWN_CHARACTERS],
        cut=len(text) > _SHOWN_CHARACTERS,
        seen=seen,
    )
