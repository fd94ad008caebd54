"""The privacy gate, which every text and query for a remote embedder passes.

An index row may be outdated, so the gate checks the current settings and files. It sends no text of
a document that is `local_only`, removed, excluded or in a removed source. A document that changed
since it was indexed waits for the next sync. The gate sends no query that comes from a private
project or asks for private documents. It sends nothing while the settings cannot be read. It
redacts credentials from the rest. Before sending, it checks the daily limit and writes the ledger.
"""

import json
import os
import re
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cache as cached, partial
from posixpath import normpath
from typing import Literal, NamedTuple, Protocol

from vault_index import tokens
from vault_index.config import Config
from vault_index.config.schema import AGENT_MEMORIES
from vault_index.disk import is_under
from vault_index.embeddings import Embedder
from vault_index.embeddings.access import PROBE, endpoint
from vault_index.errors import EmbedderRefused, VaultIndexError
from vault_index.markdown.frontmatter import as_uuid, origin_in, projects_in
from vault_index.markdown.normalize import project_form
from vault_index.models import (
    FileStamp,
    Filters,
    Origin,
    QueryOrigins,
    Vector,
    VectorSpace,
    as_indexed,
)
from vault_index.secrets.find import drop_private, redact
from vault_index.sources.sessions.privacy import PrivateScope
from vault_index.sources.sessions.projects import session_in
from vault_index.sources.source import Source
from vault_index.store.publishing import Indexed
from vault_index.store.records import DocumentState, PendingChunk
from vault_index.store.state import State
from vault_index.times import local_day

_MANY = 1000
"""Number of documents of a source above which a full scan is faster than single checks."""
_JUDGED = 200
"""Maximum number of matches of a query's filters to check; at least one must be public."""
_MOST_PATHS = 20_000
"""Maximum number of documents that a `path:` filter may match; a broader query is not sent."""
_QUERIES = "(queries)"
_SESSION = re.compile(
    r"ses_\w+|agent-[0-9a-f]+|[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"
)
"""Matches the session ids of all clients."""

Origins = Mapping[str | tuple[str, str], Sequence[Origin]]
"""The origins of memories and mirrored sessions, as recorded by `State.put_origins`."""


class Question(NamedTuple):
    """The origin of a query, and its filters."""

    origins: QueryOrigins
    filters: Filters
    found: Callable[[Filters, int], Sequence[DocumentState]]
    """Return the documents that pass the filters and that the caller may see, up to a number."""
    limited: bool = False
    """Whether the caller may see only a part of the index."""


class Moment:
    """The current settings and sources. The state of files is read again at each check."""

    def __init__(
        self, config: Config, sources: Iterable[Source], origins: Callable[[], Origins]
    ) -> None:
        self.daily_token_limit = config.embedding.daily_token_limit
        self._config = config
        self._origins = origins
        self._scope = PrivateScope(config, sources)
        self._sources = self._scope.sources
        vault, folder = config.memory_source(), config.sessions.mirror.strip("/")
        self._mirror = (vault.name if vault and folder else None, folder)
        self._counted: dict[int, tuple[DocumentState, bool | None]] = {}
        self.versions: dict[str, dict[int, bytes]] = {}
        """Of the documents that may be published: by source, and by the hash of their row."""

    def leaving(self, documents: Iterable[DocumentState]) -> set[int]:
        """Return the ids of the documents that may be sent now.

        The others are private, removed, excluded, changed, or of unknown status.
        """
        free: dict[str, list[DocumentState]] = {}
        keeps = self._judge()
        for document in documents:
            if keeps(document) is False:
                free.setdefault(document.source, []).append(document)
        leaving: set[int] = set()
        for name, group in free.items():
            now = _stamps(self._sources[name], [document.path for document in group])
            leaving |= {
                one.id for one in group if one.path in now and as_indexed(one.stamp, now[one.path])
            }
        return leaving

    def is_there(self, document: DocumentState) -> bool:
        """Return whether the file of a document is readable: not cloud-only or unmounted."""
        source = self._sources.get(document.source)
        try:
            return source is not None and source.look(document.path) is not None
        except VaultIndexError:
            return False

    def staying(self, lacking: Callable[[], Mapping[DocumentState, int]]) -> dict[int, int]:
        """Return the documents that the settings keep local, as id to number of chunks.

        For counting: a result is cached until the document or the settings change.
        """
        if self._scope.empty and AGENT_MEMORIES not in self._sources:
            return {}
        found, keeps = {}, self._judge()
        for document, chunks in lacking().items():
            known = self._counted.get(document.id)
            if known is None or known[0] != document or known[1] is None:
                known = self._counted[document.id] = document, keeps(document)
            if known[1]:
                found[document.id] = chunks
        return found

    def private(
        self, documents: Iterable[DocumentState], seen: Collection[int] = ()
    ) -> dict[DocumentState, Literal["local_only", "excluded"]]:
        """Return the documents that the settings keep local, or exclude although they exist.

        `seen` are the ids of documents whose files are not looked at.
        """
        found: dict[DocumentState, Literal["local_only", "excluded"]] = {}
        keeps = self._judge()
        for document in documents:
            if keeps(document):
                found[document] = "local_only"
            elif document.id not in seen and self._left_out(document):
                found[document] = "excluded"
        return found

    def publishes(self, one: Indexed) -> bool:
        """Return whether the settings let a document into the team's pool, if it is not private.

        Sessions must be chosen, memories that wait for review stay, and so do the files of the
        mirror, which come from the pool.
        """
        pool, vault = self._config.pool, self._config.memory_source()
        mirrored = (
            bool(pool.mirror)
            and vault is not None
            and one.state.source == vault.name
            and is_under(pool.mirror.strip("/"), one.state.path)
        )
        return (
            one.state.source in pool.sources
            and not one.unreviewed
            and not mirrored
            and (pool.sessions or one.kind != "session")
        )

    def keeps_query(self, question: Question) -> bool:
        """Return whether a query is private by origin or filters. VaultIndexError if unknown."""
        if self._scope.empty:
            return False
        typed = question.origins()
        return not typed or any(map(self._scope.keeps, typed)) or self._asks_for_private(question)

    def _asks_for_private(self, question: Question) -> bool:
        """Return whether a query names private data, or could only find private documents."""
        filters, scope, keeps = question.filters, self._scope, self._judge()
        sources = map(
            scope.is_private_source, filters.sources or self._sources.keys() - scope.unconfigured
        )
        if (
            (any if filters.sources else all)(sources)
            or any(map(scope.keeps, _named_by(filters)))
            or (filters.paths and self._names_private_path(question))
        ):
            return True
        if not question.limited and filters == Filters():
            return False
        found = [keeps(one) for one in question.found(filters, _JUDGED)]
        return False not in found or (bool(filters.sessions) and found != [False] * len(found))

    def _names_private_path(self, question: Question) -> bool:
        filters, keeps_path = question.filters, self._scope.keeps_path
        named = (normpath(path).strip("/.") for path in filters.paths)
        found = question.found(Filters(paths=filters.paths), _MOST_PATHS)
        return (
            len(found) == _MOST_PATHS
            or any(keeps_path(path, filters.sources) for path in named)
            or any(keeps_path(one.path, [one.source]) for one in found)
        )

    def check_receiver(self, space: VectorSpace, *, of_query: bool = False) -> None:
        """Raise EmbedderRefused if the settings no longer name this server and model.

        A query may go to the model that is being replaced.
        """
        # Imported here because only senders need it.
        from vault_index.embeddings.openai import DEFAULT_MODEL

        now = self._config.embedding
        named = (
            now.provider,
            endpoint(now),
            space.model if of_query else now.model or DEFAULT_MODEL,
        )
        if named != (space.provider, space.endpoint, space.model):
            raise EmbedderRefused(
                f"nothing was sent to {space.endpoint}: the settings now name another embedder",
                "run `vault-index embed` again to use the new one",
            )

    def _judge(self) -> Callable[[DocumentState], bool | None]:
        """Return a function for whether the settings keep a document local (None: unknown).

        It caches origins, so use it at once.
        """
        recorded, keeps = cached(self._origins), cached(self._scope.keeps)

        def judge(document: DocumentState) -> bool | None:
            source = self._sources.get(document.source)
            try:
                if source is None or source.stays_home(document.path):
                    return None if source is None else True
                origins = () if self._scope.empty else self._origins_of(document, recorded())
                return any(keeps(one) for origin in origins for one in placed(origin))
            except VaultIndexError:
                return None

        def placed(origin: Origin) -> Sequence[Origin]:
            """Add the recorded origin of the session, which its client may have deleted since."""
            known = (
                recorded().get(("", origin.session), ())
                if origin.session and not origin.client
                else ()
            )
            return [origin._replace(client=known[0].client), *known] if known else [origin]

        return judge

    def _origins_of(self, document: DocumentState, known: Origins) -> Sequence[Origin]:
        """Return the origins of a document: from its text, and recorded for its id or path."""
        front = json.loads(document.origin) if document.origin else {}
        own = origin_in(front, document.tags.split())
        if document.source in self._scope.clients:
            return [own]
        ids = as_uuid(front.get("id")) or document.uid, (document.source, document.path)
        recorded = [one for id_ in ids for one in known.get(id_, ())]
        vault, folder = self._mirror
        if document.source == vault and is_under(folder, document.path):
            own = own._replace(session=own.session or "-")  # an unknown session is private
        elif not is_under(self._config.memory.dir, document.path) and not _SESSION.fullmatch(
            own.session
        ):
            own = own._replace(session="")  # a note may use this key for anything
        return recorded if _adds_nothing(own, recorded) else (own, *recorded)

    def _left_out(self, document: DocumentState) -> bool:
        client = self._scope.clients.get(document.source)
        source = client or self._sources.get(document.source)
        if source is None:
            return False
        try:
            if source.look(document.path) is not None:
                return False
            if client is not None:
                return client.session(session_in(document.path)) is not None
            return os.path.lexists(source.config.path / document.path)
        except VaultIndexError:
            return False


def _adds_nothing(own: Origin, recorded: Sequence[Origin]) -> bool:
    """Return whether an origin only names projects whose folders were recorded."""
    placed = {form for one in recorded if one.folders for form in map(project_form, one.projects)}
    named = set(map(project_form, own.projects))
    return bool(placed) and named <= placed and not own.folders


def _named_by(filters: Filters) -> list[Origin]:
    """Return the projects, folders and sessions that filters name."""
    projects = (*filters.projects, *projects_in((*filters.tags, *filters.any_tags)))
    texts = ((key, value or "") for key, value in filters.properties)
    origins = (origin_in({key: [text.strip("[]"), text]}) for key, text in texts)
    return [*(Origin((name,)) for name in projects), *(one for one in origins if one != Origin())]


Now = Callable[[], Moment]
"""Returns the current `Moment`. Raises VaultIndexError if the settings cannot be read."""


Vectors = dict[bytes, Vector]
"""Vectors by embed key."""


class SharedVectors(Protocol):
    """The vectors of a team's pool."""

    @property
    def available(self) -> bool:
        """Whether the pool is not known to be unreachable."""

    @property
    def receiver(self) -> str:
        """The name of the pool in the ledger."""

    def ask(self, space: VectorSpace, keys: Sequence[bytes]) -> Vectors:
        """Return the vectors of these keys that the pool has; nothing if it does not answer."""


class _NoLonger(Exception):
    """Some of the texts may no longer be sent."""


def _first_leaving(moment: Moment, texts: Sequence[Sequence[PendingChunk]]) -> list[PendingChunk]:
    """Return, for each text that may be sent, the first of its chunks whose document allows it."""
    leaving = moment.leaving({chunk.document for twins in texts for chunk in twins})
    found = (next((one for one in twins if one.document.id in leaving), None) for twins in texts)
    return [chunk for chunk in found if chunk is not None]


class Outbound:
    """The gate between the texts of the index and an embedder. A local embedder gets every text."""

    def __init__(self, embedder: Embedder, state: State, now: Now) -> None:
        self._embedder = embedder
        self._state = state
        self._now = now
        self._staying: tuple[Moment, Mapping[int, int]] | None = None

    def staying(self, lacking: Callable[[], Mapping[DocumentState, int]]) -> Mapping[int, int]:
        """Return the documents to skip as local-only, with their chunk counts.

        `lacking` is called once, and again when the settings change.
        """
        if not self._embedder.remote:
            return {}
        moment = self._moment()
        if self._staying is None or self._staying[0] is not moment:
            self._staying = moment, moment.staying(lacking)
        return self._staying[1]

    def awaits(self, documents: Iterable[DocumentState]) -> bool:
        """Return whether any of these documents may be sent soon, because its file is readable."""
        return any(
            not self._embedder.remote or self._moment().is_there(document) for document in documents
        )

    def embed(self, texts: Sequence[Sequence[PendingChunk]]) -> dict[bytes, Vector]:
        """Return the vectors, by key, of the texts that may be sent now.

        Each text is given as the chunks that share it. It is sent if the document of at least one
        of them may be sent. Raises EmbedderError.
        """
        while (
            chunks := self._leaving(texts)
            if self._embedder.remote
            else [twins[0] for twins in texts]
        ):
            try:
                vectors = self._embedder.embed(self._texts(chunks), partial(self._check, chunks))
            except _NoLonger:  # settings and files may change while waiting for a server
                continue
            return {chunk.embed_key: vector for chunk, vector in zip(chunks, vectors, strict=True)}
        return {}

    def shared(self, texts: Sequence[Sequence[PendingChunk]], pool: SharedVectors) -> Vectors:
        """Return the vectors of texts that the team's pool knows, asked for by their keys.

        Only the keys of texts that may leave are sent, also with a local embedder.
        """
        if not pool.available or not (chunks := _first_leaving(self._moment(), texts)):
            return {}
        today, to = local_day(time.time()), pool.receiver
        from vault_index.results.status import SentRecord

        places = Counter((chunk.document.source, chunk.document.path) for chunk in chunks)
        self._state.record_sent(
            [SentRecord(today, to, "hashes", *place, count, 0) for place, count in places.items()]
        )
        return pool.ask(self._embedder.space, [chunk.embed_key for chunk in chunks])

    def embed_query(self, text: str, longest: int, question: Question) -> Vector:
        """Return the vector of a query, truncated to `longest` characters.

        Raises EmbedderError, also if the query is private.
        """
        text = redact(drop_private(text))[0].strip()[:longest]
        if not text:
            raise EmbedderRefused(
                "the query is private", "text in <private> is never searched; add other words"
            )

        def check() -> Moment:
            moment = self._moment()
            moment.check_receiver(self._embedder.space, of_query=True)
            try:
                stays = moment.keeps_query(question)
            except VaultIndexError as error:
                raise EmbedderRefused(
                    f"the query was not sent: {error.message}", error.hint
                ) from error
            if stays:
                raise EmbedderRefused(
                    "the query was not sent: local_only keeps it on this machine",
                    "keywords answer it; if it comes from a folder that is not private,"
                    " give it as `directory`",
                )
            return moment

        self._declare([("", _QUERIES, text)], check().daily_token_limit)
        return self._embedder.embed_query(text, check)

    def probe(self) -> None:
        """Raise EmbedderError if the embedder cannot embed even a fixed text."""
        self._moment().check_receiver(self._embedder.space)
        self._embedder.embed_query(PROBE)

    def _leaving(self, texts: Sequence[Sequence[PendingChunk]]) -> list[PendingChunk]:
        moment = self._moment()
        moment.check_receiver(self._embedder.space)
        if chunks := _first_leaving(moment, texts):
            places = [(chunk.document.source, chunk.document.path) for chunk in chunks]
            named = [
                (*place, text) for place, text in zip(places, self._texts(chunks), strict=True)
            ]
            self._declare(named, moment.daily_token_limit)
        return chunks

    def _texts(self, chunks: Sequence[PendingChunk]) -> list[str]:
        """Return the texts to embed, with credentials redacted if they are sent."""
        texts = [chunk.embed_text for chunk in chunks]
        return [redact(text)[0] for text in texts] if self._embedder.remote else texts

    def _check(self, chunks: Sequence[PendingChunk]) -> None:
        """Check before each request that all chunks may still be sent."""
        if not self._embedder.remote:
            return
        documents = {chunk.document for chunk in chunks}
        moment = self._moment()
        moment.check_receiver(self._embedder.space)
        if len(moment.leaving(documents)) < len(documents):
            raise _NoLonger

    def _declare(self, texts: Sequence[tuple[str, str, str]], limit: int) -> None:
        """Check the daily limit and write the ledger, before sending.

        `texts` are source, path and text.
        """
        today = local_day(time.time())
        costs = [tokens.count(text) for _, _, text in texts]
        spent, cost = self._state.tokens_sent(today), sum(costs)
        if limit and spent + cost > limit:
            raise EmbedderRefused(
                f"the daily limit of {limit:,} tokens is reached"
                f" ({spent:,} sent today, {cost:,} more needed)",
                "continue tomorrow, or raise embedding.daily_token_limit",
            )
        space, via = self._embedder.space, self._embedder.via
        receiver = f"{space.endpoint} via {via}" if via else space.endpoint
        # Imported here: 8 ms, and only remote embedders need it.
        from vault_index.results.status import SentRecord

        self._state.record_sent(
            [
                SentRecord(today, receiver, space.model, source, path, 1, cost)
                for (source, path, _), cost in zip(texts, costs, strict=True)
            ]
        )

    def _moment(self) -> Moment:
        try:
            return self._now()
        except VaultIndexError as error:
            raise EmbedderRefused(
                f"nothing is sent while the settings cannot be read: {error.message}", error.hint
            ) from error


def _stamps(source: Source, paths: Sequence[str]) -> dict[str, FileStamp]:
    """Return the current stamps of these documents, by the source's current rules."""
    try:
        scan = source.scan_places(paths if len(paths) < _MANY else [""])
    except VaultIndexError:
        return {}
    return {ref.path: ref.stamp for ref in scan.refs}
