"""`status` and `file-status`: the state of index, sources and vectors, and their problems."""

import json
import os
import re
import time
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from typing import Literal

from vault_index.config import Config, EmbeddingConfig
from vault_index.embeddings.spaces import (
    ENGLISH,
    check_model,
    configured_space,
    use_multilingual,
)
from vault_index.errors import NotFoundError, NotSetUpError, VaultIndexError
from vault_index.health.environment import surrounding_problems
from vault_index.health.stats import bytes_of, spent_days
from vault_index.models import Fault, FileStamp, as_indexed
from vault_index.results.base import Problem
from vault_index.results.status import (
    DaemonStatus,
    EmbedderStatus,
    FileStatus,
    IndexStatus,
    SourceStatus,
    SpentDay,
    Status,
    WatchStatus,
)
from vault_index.runtime import Runtime
from vault_index.sources.sessions.projects import session_in
from vault_index.sources.sessions.source import SessionSource
from vault_index.sources.source import EMPTY, YET, Source
from vault_index.sources.vault import VaultSource
from vault_index.store.cache import Cache
from vault_index.store.connection import EMBED_PROBLEM, count_rows, read_meta
from vault_index.store.documents import (
    chunks_of,
    count_unreviewed,
    faults,
    faults_of,
    source_counts,
    spread_texts,
    stamps,
)
from vault_index.store.forgotten import forgotten
from vault_index.store.pool import Connections
from vault_index.store.reader import IndexReader
from vault_index.store.records import StoredDocument
from vault_index.store.spaces import (
    count_pending,
    read_spaces,
    refused_chunks,
    serving_space,
    tokens_ahead,
)
from vault_index.store.state import State
from vault_index.times import iso_time_or_none
from vault_index.version import __version__

_NO_DAEMON, _NO_WATCH = DaemonStatus(), WatchStatus()
_ON_PURPOSE = {"redacted": "credentials", "left_out": "messages that are left out"}
_SHOWN_ON_PURPOSE = 10
_SAMPLE, _SAMPLE_CHARACTERS = 128, 400
_RATE_SECONDS = 30
"""Approximate seconds over which a rate is measured."""
_NOTICEABLE, _FEW = 0.1, 3  # one or two passages may be names and code
_AGAIN = "run `vault-index sync`, or start the daemon: vault-index watch"
_HINTS = {
    "frontmatter": (
        "the note is indexed without the invalid part; put a value in quotes to make it plain text"
    ),
    "date": "the note is indexed with the time of its file; write the date like 2027-02-01",
    "too_large": "raise max_file_bytes of the source, or exclude the file",
    "encoding": "save the file as UTF-8; what could be read is indexed",
    "unreadable": "check the permissions of the file",
    "placeholder": "open it once, or let the cloud program keep it on this machine",
    "session": "the rest is indexed; the client may have crashed while writing, or be too new",
    "client_schema": (
        "upgrade vault-index, or report it with the version of the client; indexed data is kept"
    ),
    "not_embedded": "keyword search finds it; it is sent again when the text or the model changes",
    "busy": "the next sync tries again",
    "failed": "the next sync tries again; indexed data is kept",
    "mirror_edited": (
        "to keep it as a note, remove its line `session:`; the session gets a new file"
    ),
    "not_mirrored": "the next sync tries again",
    "left_out": "they are not in the index; the client still stores them",
    "redacted": (
        "they are not in the index; the client still stores them, so change those that are in use"
    ),
}


def index_status(
    runtime: Runtime, daemon: DaemonStatus = _NO_DAEMON, watch: WatchStatus = _NO_WATCH
) -> Status:
    """Return the status; an index that cannot be opened is a problem, not an error.

    A daemon passes its own state.
    """
    home, config = runtime.home, runtime.config
    problems = list(surrounding_problems(home, config, daemon))
    spent: tuple[SpentDay, ...] = ()
    embedder = _embedder(config, None)
    try:
        with runtime.pool.lend() as connections, connections.reader.snapshot():
            reader = connections.reader
            index, embedder = _index(runtime, reader), _embedder(config, reader)
            daemon = _by_tokens(reader, daemon)
            sources = _source_rows(connections, runtime.sources)
            problems += _gone(runtime.by_name, sources)
            problems += [*_embedding_problems(reader, config), *_fault_problems(faults(reader))]
            problems += _fault_problems(_refused(runtime, reader))
            spent = spent_days(connections.state, config)
    except VaultIndexError as error:
        none = 0 if isinstance(error, NotSetUpError) else None
        index = IndexStatus(none, none, none, none, bytes_of(home))
        sources = [
            _source(source, 0, 0, 0, *_coverage({}, source))
            for source in _shown(runtime.sources, ())
        ]
        problems = [
            Problem(error.code, error.message, error.hint),
            *problems,
            *_gone(runtime.by_name, sources),
        ]
    for source in (one for one in config.sources if one.remote):
        # Imported here because most homes have no remote source.
        from vault_index.remotes.mirror import state_of

        state = state_of(config, source)
        synced = iso_time_or_none(state["synced"])
        sources = [
            replace(one, remote=state["remote"], synced=synced, unsent=state["pending"])
            if one.name == source.name
            else one
            for one in sources
        ]
        if state["problem"]:
            problems.append(Problem("remote", state["problem"], state["hint"]))
    problems += _impossible(config.embedding)
    # An embedding problem is both stored and detected: show it once.
    return Status(
        __version__,
        daemon,
        tuple(sources),
        index,
        embedder,
        watch,
        spent,
        tuple(dict.fromkeys(problems)),
    )


def _by_tokens(reader: IndexReader, daemon: DaemonStatus) -> DaemonStatus:
    """Adjust the remaining time of embedding to the length of the remaining texts."""
    space = min(read_spaces(reader), key=lambda row: row.serving, default=None)
    work = daemon.work
    if space is None or work is None or work.stage != "embed" or not work.seconds_left:
        return daemon
    share = tokens_ahead(reader, space.id, round(work.rate * _RATE_SECONDS))
    return replace(daemon, work=replace(work, seconds_left=round(work.seconds_left * share)))


def file_status(runtime: Runtime, ref: str) -> FileStatus:
    """Return the state of one file. NotFoundError if neither a document nor a file exists."""
    with runtime.pool.lend() as connections:
        reader = connections.reader
        try:
            document = runtime.resolve(connections, runtime.inside(ref)).document
        except NotFoundError as error:
            return _not_indexed(runtime, ref, error)
        state, problems = _file_state(runtime, reader, document)
        space = serving_space(reader)
        chunks = len(chunks_of(reader, document.id))
        lacking = count_pending(reader, space.id, document.id) if space else chunks
        place = document.source, document.path
        refused = [
            fault for name, fault in _refused(runtime, reader) if (name, fault.path) == place
        ]
        faults = map(_fault_problem, [*faults_of(reader, *place), *refused])
        return FileStatus(
            state=state,
            source=document.source,
            path=document.path,
            id=document.uid,
            kind=document.kind,
            title=document.title,
            lines=document.line_count,
            chunks=chunks,
            vectors=chunks - lacking,
            pending=runtime.pending(reader, document.id),
            problems=(*problems, *faults),
        )


def _not_indexed(runtime: Runtime, ref: str, error: NotFoundError) -> FileStatus:
    path = re.sub(r":\d+(-\d*)?$", "", ref.strip())
    for source in runtime.vaults.values():
        inside = source.relative(path) if os.path.isabs(path) else path
        if inside and (reason := _why_not_indexed(source, inside)):
            return FileStatus(
                "not_indexed", source.config.name, inside, None, None, None, 0, 0, 0, 0, (reason,)
            )
    if os.path.isabs(ref) and os.path.exists(ref):
        raise NotFoundError(
            f"{ref} is not in a source", "add its vault: vault-index source add DIR"
        ) from error
    raise error


def _why_not_indexed(source: VaultSource, path: str) -> Problem | None:
    found = source.examine(path)
    if isinstance(found, Fault):
        return Problem(found.code, f"It is not indexed: {found.message}", "see vault-index status")
    if found is not None:
        return Problem("not_yet", "It is not indexed yet.", "run `vault-index sync`")
    if source.stamp(path) is None:
        return None
    return Problem(
        "ignored",
        "It is not indexed: it is not markdown, or a rule excludes it (hidden, `.vaultignore`,"
        f" Obsidian's excluded files, or include and exclude of the source {source.config.name}).",
        "change the rule, then run `vault-index sync`",
    )


def _file_state(
    runtime: Runtime, reader: IndexReader, document: StoredDocument
) -> tuple[Literal["indexed", "behind", "gone"], tuple[Problem, ...]]:
    source = runtime.by_name.get(document.source)
    if source is None or source.missing():
        reason, remedy = ("it is no longer configured", "run `vault-index sync`")
        if source is not None:
            reason, remedy = source.missing(), source.remedy
        return "gone", (
            Problem("source_vanished", f"source {document.source!r}: {reason}", remedy),
        )
    if (now := source.stamp(document.path)) is None:
        return "gone", (
            Problem("file_gone", f"{document.path} was deleted, but is still indexed", _AGAIN),
        )
    if as_indexed(stamps(reader, document.source).get(document.path), now):
        return "indexed", ()
    return "behind", (Problem("behind", f"{document.path} changed since it was indexed", _AGAIN),)


# --- index and sources ----------------------------------------------------------------------------


def _index(runtime: Runtime, reader: IndexReader) -> IndexStatus:
    chunks, space = count_rows(reader, "chunk"), serving_space(reader)
    vectors = chunks - count_pending(reader, space.id) if space else 0
    documents, waiting = count_rows(reader, "document"), count_unreviewed(reader, time.time())
    return IndexStatus(
        documents, chunks, vectors, runtime.pending(reader), bytes_of(runtime.home), waiting
    )


def _embedder(config: Config, reader: IndexReader | None) -> EmbedderStatus:
    settings = config.embedding
    if settings.provider == "none":
        return EmbedderStatus("none", "", 0, False)
    serving = serving_space(reader) if reader is not None else None
    if reader is None or serving is None:
        return EmbedderStatus(settings.provider, settings.model, settings.dimensions, False)
    space, possible = serving.space, not any(_impossible(settings))
    ready = possible and reader.vectors_work and not read_meta(reader, EMBED_PROBLEM)
    advice = _advice(reader, settings) if possible else ""
    return EmbedderStatus(space.provider, space.model, space.dimensions, ready, advice)


def _advice(reader: IndexReader, settings: EmbeddingConfig) -> str:
    """Return advice if a tenth of a sample is in a language that the model does not support."""
    if settings.provider != "local" or configured_space(settings) != ENGLISH:
        return ""
    from vault_index.embeddings.wordpiece import ENGLISH_SHARE, english_share

    shares = [english_share(text) for text in spread_texts(reader, _SAMPLE, _SAMPLE_CHARACTERS)]
    foreign = sum(share < ENGLISH_SHARE for share in shares)
    if foreign < max(_NOTICEABLE * len(shares), _FEW):
        return ""
    share = 100 * foreign // len(shares)
    return (
        f"about {share} % of the text is not English, which this model does not support; "
        f"run `{use_multilingual()}`"
    )


def _source(
    source: Source, documents: int, chunks: int, failed: int, found: int | None, current: int
) -> SourceStatus:
    config = source.config
    since, kept = None, (0, 0)
    if isinstance(source, SessionSource):
        since = source.found()[1]
        with suppress(OSError):
            kept = source.archive.size()
    told = documents, chunks, failed, found, current, since, *kept
    return SourceStatus(config.name, config.kind, str(config.path), *told)


def _shown(sources: Sequence[Source], known: Collection[str]) -> list[Source]:
    """Return the sources for `status`, without unannounced clients that are not on this machine."""
    return [
        source
        for source in sources
        if source.config.kind == "vault"
        or (isinstance(source, SessionSource) and source.configured)
        or source.config.name in known
        or not source.missing()
    ]


def _source_rows(connections: Connections, sources: Sequence[Source]) -> list[SourceStatus]:
    reader, state = connections.reader, connections.state
    counts = source_counts(reader)
    failed = Counter(
        source
        for source, fault in faults(reader)
        if fault.code not in ("frontmatter", *_ON_PURPOSE)
    )
    return [
        _source(
            source,
            *counts.get(name, (0, 0)),
            failed[name],
            *_coverage(stamps(reader, name), source, state),
        )
        for source in _shown(sources, counts)
        for name in (source.config.name,)
    ]


def _coverage(
    known: Mapping[str, FileStamp], source: Source, state: State | None = None
) -> tuple[int | None, int]:
    """Return the number of documents at the source, and how many are indexed up to date.

    None if the source is missing.
    """
    scan, out = source.scan_places([""]), set[str]()
    if scan.vanished:
        return None, 0
    if state is not None and isinstance(source, SessionSource):
        with suppress(VaultIndexError):  # damaged state is reported elsewhere
            out = forgotten(state, (session_in(ref.path) for ref in scan.refs))
    refs = [ref for ref in scan.refs if not out or session_in(ref.path) not in out]
    return len(refs), sum(as_indexed(known.get(ref.path), ref.stamp) for ref in refs)


# --- problems -------------------------------------------------------------------------------------


def _gone(sources: Mapping[str, Source], known: Sequence[SourceStatus]) -> Iterator[Problem]:
    """Yield missing sources, except an empty folder that never had documents."""
    for rows in known:
        source = sources[rows.name]
        reason = source.missing()
        if reason and (rows.documents or not reason.endswith((EMPTY, YET))):
            message = f"source {source.config.name!r}: {reason}"
            yield Problem(
                "source_vanished", message, f"its documents stay in the index; {source.remedy}"
            )


def _impossible(settings: EmbeddingConfig) -> Iterator[Problem]:
    """Yield a problem if the configured model is not installed."""
    try:
        if settings.provider == "local":
            check_model(settings)
    except VaultIndexError as error:
        yield Problem(error.code, error.message, error.hint)


def _embedding_problems(reader: IndexReader, config: Config) -> Iterator[Problem]:
    remembered = read_meta(reader, EMBED_PROBLEM)
    if remembered and config.embedding.provider != "none":
        yield Problem(*json.loads(remembered))
    if serving_space(reader) is not None and not reader.vectors_work:
        yield Problem(
            "vec0", "sqlite-vec cannot be loaded: search works by keywords only", "reinstall it"
        )


def _refused(runtime: Runtime, reader: IndexReader) -> list[tuple[str, Fault]]:
    """Return source and fault of every text that the embedding server rejected."""
    row = min(read_spaces(reader), key=lambda row: row.serving, default=None)
    if row is not None and row.space.provider == "openai":
        with suppress(VaultIndexError), closing(Cache(runtime.home.cache_db)) as cache:
            return [
                (source, fault)
                for _, source, fault in refused_chunks(reader, row.id, cache.refused(row.space))
            ]
    return []


def _fault_problems(found: Sequence[tuple[str, Fault]]) -> Iterator[Problem]:
    """Yield a problem per fault; contents omitted on purpose are one problem per kind."""
    yield from (_fault_problem(fault) for _, fault in found if fault.code not in _ON_PURPOSE)
    for code, what in _ON_PURPOSE.items():
        if left := [fault for _, fault in found if fault.code == code]:
            shown = ", ".join(
                f"{fault.path}: {fault.message}" for fault in left[:_SHOWN_ON_PURPOSE]
            )
            more = (
                f", and {len(left) - _SHOWN_ON_PURPOSE} more"
                if len(left) > _SHOWN_ON_PURPOSE
                else ""
            )
            sessions = "1 session holds" if len(left) == 1 else f"{len(left)} sessions hold"
            yield Problem(code, f"{sessions} {what}: {shown}{more}", _HINTS[code])


def _fault_problem(fault: Fault) -> Problem:
    place = f"{fault.path}:{fault.line}" if fault.line else fault.path
    message = ": ".join(filter(None, (place, fault.message)))
    return Problem(fault.code, message, _HINTS.get(fault.code, "correct the file"))
