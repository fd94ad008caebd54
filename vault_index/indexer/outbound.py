"""The one gate through which text leaves for a remote embedder: what may is judged there, by the settings and the files
of that moment.

What the index knows of a document is as old as its row. So nothing is sent of one that `local_only` keeps, whose source
is no longer set up, or that is gone, left out or changed since it was read (it waits for the next sync); and nothing at
all where the settings cannot be read. Of the rest the day's limit is checked and the ledger written before it is sent.
"""

import json
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from vault_index import tokens
from vault_index.config import Config
from vault_index.disk import is_under
from vault_index.embeddings import Embedder
from vault_index.embeddings.access import endpoint
from vault_index.errors import EmbedderRefused, VaultIndexError
from vault_index.indexer.reading import as_indexed
from vault_index.models import FileStamp, Vector, VectorSpace
from vault_index.results.status import SentRecord
from vault_index.sources.opencode.source import OpenCodeSource
from vault_index.sources.source import Source
from vault_index.store.records import DocumentState, PendingChunk
from vault_index.store.state import State
from vault_index.times import local_day

_MANY = 1000
"""Documents of a source of which it is cheaper to look at all there are."""


class Sorted(NamedTuple):
    """Ids of documents; the others are gone, left out or changed, or nobody can tell."""

    leaving: frozenset[int]
    kept: frozenset[int]


class Moment:
    """The settings as they are, and the sources they describe. Its files are asked anew each time."""

    def __init__(self, config: Config, sources: Iterable[Source]) -> None:
        self.daily_token_limit = config.embedding.daily_token_limit
        self._config = config
        self._sources = {source.config.name: source for source in sources}
        self._sessions = OpenCodeSource(config.opencode)
        vault, folder = config.memory_source(), config.opencode.mirror.strip("/")
        self._mirror = (vault.name if vault and folder else None, folder)
        self._counted: dict[int, tuple[DocumentState, bool | None]] = {}

    def sort(self, documents: Iterable[DocumentState]) -> Sorted:
        """Which of these documents may leave now, and which the settings keep."""
        kept: set[int] = set()
        free: dict[str, list[DocumentState]] = {}
        for document in documents:
            verdict = self._keeps(document)
            if verdict:
                kept.add(document.id)
            elif verdict is False:
                free.setdefault(document.source, []).append(document)
        leaving: set[int] = set()
        for name, group in free.items():
            now = _stamps(self._sources[name], [document.path for document in group])
            leaving |= {one.id for one in group if one.path in now and as_indexed(one.stamp, now[one.path])}
        return Sorted(frozenset(leaving), frozenset(kept))

    def is_there(self, document: DocumentState) -> bool:
        """Whether the file of a document can be read, however it is by now: not in the cloud, nor in a vault that is
        not mounted."""
        source = self._sources.get(document.source)
        try:
            return source is not None and source.look(document.path) is not None
        except VaultIndexError:
            return False

    def staying(self, lacking: Callable[[], Mapping[DocumentState, int]]) -> dict[int, int]:
        """Of these documents with numbers of chunks the ones that the settings keep, by id. For counting: what was told
        of a document is told again as long as it and the settings stay as they are."""
        if not (self._config.opencode.local_only or any(one.config.local_only for one in self._sources.values())):
            return {}
        found = {}
        for document, chunks in lacking().items():
            known = self._counted.get(document.id)
            if known is None or known[0] != document or known[1] is None:
                known = self._counted[document.id] = document, self._keeps(document)
            if known[1]:
                found[document.id] = chunks
        return found

    def check_receiver(self, space: VectorSpace) -> None:
        """Raises EmbedderRefused where the settings no longer name the server and the model that texts are for."""
        from vault_index.embeddings.openai import DEFAULT_MODEL  # late: whoever sends has it

        now = self._config.embedding
        named = (now.provider, endpoint(now), now.model or DEFAULT_MODEL)
        if named != (space.provider, space.endpoint, space.model):
            raise EmbedderRefused(
                f"nothing was sent to {space.endpoint}: the settings name another embedder by now",
                "run `vault-index embed` again, which takes the new one",
            )

    def _keeps(self, document: DocumentState) -> bool | None:
        """None where nobody can tell."""
        source = self._sources.get(document.source)
        if source is None:
            return None
        try:
            return source.stays_home(document.path) or self._keeps_transcript(document)
        except VaultIndexError:
            return None

    def _keeps_transcript(self, document: DocumentState) -> bool:
        """Whether a file holds a session that stays home. In the folder of the sessions, one that does not say which
        counts as such."""
        if not self._config.opencode.local_only or document.source == self._sessions.config.name:
            return False
        front = json.loads(document.transcript) if document.transcript else {}
        if front.get("directory"):
            return self._sessions.keeps(front)
        vault, folder = self._mirror
        return document.source == vault and is_under(folder, document.path)


Now = Callable[[], Moment]
"""Raises VaultIndexError where the settings cannot be read."""


class _NoLonger(Exception):
    """Something of what was to be sent may not leave any more."""


class Outbound:
    """What stands between the texts of the index and an embedder. A local one gets everything."""

    def __init__(self, embedder: Embedder, state: State, now: Now) -> None:
        self._embedder = embedder
        self._state = state
        self._now = now
        self._staying: tuple[Moment, Mapping[int, int]] | None = None

    def staying(self, lacking: Callable[[], Mapping[DocumentState, int]]) -> Mapping[int, int]:
        """The documents of which nothing is sent whatever becomes of their files, with their chunks: they need not be
        offered. What lacks vectors is asked for once, and again where the settings are new."""
        if not self._embedder.remote:
            return {}
        moment = self._moment()
        if self._staying is None or self._staying[0] is not moment:
            self._staying = moment, moment.staying(lacking)
        return self._staying[1]

    def awaits(self, documents: Iterable[DocumentState]) -> bool:
        """Whether any of these documents may soon be sent: not those whose files are out of reach."""
        return any(not self._embedder.remote or self._moment().is_there(document) for document in documents)

    def embed(self, texts: Sequence[Sequence[PendingChunk]]) -> dict[bytes, Vector]:
        """The vectors of those texts that may leave now, by key. A text is given as the chunks that have it: it is sent
        in the name of one whose document may leave. Raises EmbedderError."""
        while chunks := self._leaving(texts) if self._embedder.remote else [twins[0] for twins in texts]:
            try:
                vectors = self._embedder.embed([chunk.embed_text for chunk in chunks], partial(self._check, chunks))
            except _NoLonger:  # a server that is not there at once may be waited for, and much may change until then
                continue
            return {chunk.embed_key: vector for chunk, vector in zip(chunks, vectors, strict=True)}
        return {}

    def _leaving(self, texts: Sequence[Sequence[PendingChunk]]) -> list[PendingChunk]:
        moment = self._moment()
        moment.check_receiver(self._embedder.space)
        leaving = moment.sort({chunk.document for twins in texts for chunk in twins}).leaving
        named = (next((chunk for chunk in twins if chunk.document.id in leaving), None) for twins in texts)
        chunks = [chunk for chunk in named if chunk is not None]
        if chunks:
            self._declare(chunks, moment.daily_token_limit)
        return chunks

    def _check(self, chunks: Sequence[PendingChunk]) -> None:
        """Right before each request: all of them must still be allowed to leave."""
        if not self._embedder.remote:
            return
        documents = {chunk.document for chunk in chunks}
        moment = self._moment()
        moment.check_receiver(self._embedder.space)
        if len(moment.sort(documents).leaving) < len(documents):
            raise _NoLonger

    def _declare(self, chunks: Sequence[PendingChunk], limit: int) -> None:
        """Check the day's limit and write the ledger, before the first byte leaves."""
        today = local_day(time.time())
        costs = [tokens.count(chunk.embed_text) for chunk in chunks]
        check_daily_limit(self._state, today, sum(costs), limit)
        space = self._embedder.space
        self._state.record_sent(
            [
                SentRecord(today, space.endpoint, space.model, chunk.document.source, chunk.document.path, 1, cost)
                for chunk, cost in zip(chunks, costs, strict=True)
            ]
        )

    def _moment(self) -> Moment:
        try:
            return self._now()
        except VaultIndexError as error:
            raise EmbedderRefused(
                f"nothing is sent while the settings cannot be read: {error.message}", error.hint
            ) from error


def check_daily_limit(state: State, day: str, cost: int, limit: int) -> None:
    """Raise EmbedderRefused where sending `cost` more tokens would pass the day's limit (0: none)."""
    spent = state.tokens_sent(day)
    if limit and spent + cost > limit:
        raise EmbedderRefused(
            f"the daily limit of {limit:,} tokens is reached ({spent:,} sent today, {cost:,} more asked for)",
            "go on tomorrow, or raise embedding.daily_token_limit",
        )


def _stamps(source: Source, paths: Sequence[str]) -> dict[str, FileStamp]:
    """What a source holds now of these documents, by its rules of now."""
    try:
        scan = source.scan_places(paths if len(paths) < _MANY else [""])
    except VaultIndexError:
        return {}
    return {ref.path: ref.stamp for ref in scan.refs}
