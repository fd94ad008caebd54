"""Collects what a session should know: project memories, answers to its query, recent sessions."""

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial

from vault_index import tokens
from vault_index.errors import UsageError
from vault_index.fields import FIELDS
from vault_index.markdown.recalled import waiting_notice
from vault_index.models import Filters, QueryOrigins
from vault_index.query.hits import DiskState
from vault_index.query.language.tree import only_words
from vault_index.query.pack import Candidate, pack
from vault_index.query.ranking.confidence import Confidence
from vault_index.query.ranking.echoes import RecentQuestions
from vault_index.query.ranking.passages import RankedPassage, TermMatcher, focus
from vault_index.query.ranking.retrieval import Query
from vault_index.query.reader import Reader
from vault_index.query.search import Searcher, SearchOptions
from vault_index.results.texts import Cause, Recall, RecalledSource
from vault_index.store.documents import (
    Project,
    count_unreviewed,
    documents_by_key,
    memories_of,
    memories_of_all,
    sessions_of,
    unreviewed_elsewhere,
)
from vault_index.store.records import ChunkRecord, StoredDocument
from vault_index.times import iso_time

_HITS = 8
_WEAK_HITS = 3
"""Maximum number of hits of an answer with low confidence."""
_MIN_SCORE_SHARE = 0.5
"""Hits that score less than this share of the best score are noise."""
_SESSIONS = 5
_SHORT = 40
"""Tokens of a short quotation. The budget divided by this is the number of memories to read."""
_WHOLE_TOKENS = 120
"""A chunk of up to 120 tokens is quoted from its beginning, a longer one from the answering
line."""
_LONGEST_QUERY = 120
"""A text with more characters is a message; query syntax in it is not interpreted."""
_LONGEST_MESSAGE = 1000  # characters that are searched for
_UNTITLED = re.compile(r"(?:New|Child) session - ")


@dataclass(frozen=True, slots=True)
class RecallOptions:
    """Options of `recall`."""

    query: str
    project: Project | None
    budget: int
    token: str
    sources: tuple[str, ...]
    now: float
    origins: QueryOrigins
    asking: tuple[str, ...] = ()
    """Ids of the calling sessions, which are excluded as in a search."""
    folders: tuple[str, ...] = ()


def recall(searcher: Searcher, reader: Reader, disk: DiskState, options: RecallOptions) -> Recall:
    """Return one block of quotations within the budget."""
    wanted = SearchOptions(
        limit=_HITS, per_document=2, filters=of_project(options.project, options.sources),
        origins=options.origins, asking=options.asking, folders=options.folders,
        left_out=tuple(unreviewed_elsewhere(reader, options.project)),
    )  # fmt: skip
    query = _understand(searcher, options.query, wanted) if options.query.strip() else None
    questions = RecentQuestions(query, reader.stems) if query else None
    found, confidence, degraded = (
        _hits(searcher, reader, query, wanted, questions)
        if query and questions
        else ([], "none", ())
    )
    with reader.snapshot():
        callers = searcher.asking(wanted) if options.asking else set()
        sessions = [
            session
            for session in _sessions(reader, options)
            if session.id not in callers
            and not (questions and questions.is_repeated_by(session.title))
        ]
        candidates = _candidates(reader, disk, options, found, sessions[:_SESSIONS])
        waiting = count_unreviewed(reader, options.now, options.sources)
    # Only the start of a session reports memories that wait for review.
    begins = options.project is not None or not query
    notice = waiting_notice(waiting) if begins else ""
    text, sources = pack(*candidates, options.budget, options.token, notice)
    if not query:
        confidence = "high" if sources else "none"
    return Recall(text, tokens.count(text), confidence, sources, degraded, waiting)


# --- hits for the query -------------------------------------------------------------------------


def _hits(
    searcher: Searcher,
    reader: Reader,
    query: Query,
    wanted: SearchOptions,
    questions: RecentQuestions,
) -> tuple[list[Candidate], Confidence, tuple[str, ...]]:
    """Return the hits for the query, the confidence, and the reasons for `degraded`.

    Echoes of the query are dropped. If the confidence is `none`, only titles are returned, and only
    of hits that contain every known word of the query. A hook puts the result before a prompt,
    where other hits would be noise.
    """
    with reader.snapshot():
        answer = searcher.answer(query, wanted)
        confidence = searcher.confidence(answer)
    least = _MIN_SCORE_SHARE * max((hit.score for hit in answer.selected), default=0.0)
    hits = [hit for hit in answer.selected if hit.score >= least and not hit.echo]
    hits = hits[: _HITS if confidence == "high" else _WEAK_HITS]
    if confidence == "none":
        hits = [hit for hit in hits if not questions.is_named(hit.chunk)]
        documents = {hit.chunk.document.id: hit.chunk.document for hit in _complete(query, hits)}
        found = [_title_of(document, "query", query.now) for document in documents.values()]
    else:
        matcher = TermMatcher(query.terms, reader.stems)
        found = _merge_memories([_from_hit(hit, matcher, questions, query.now) for hit in hits])
    return found, confidence, answer.degraded


def _complete(query: Query, hits: Sequence[RankedPassage]) -> list[RankedPassage]:
    """Return the hits that contain every known word of the query, if it has one."""
    known = {number for number, term in enumerate(query.terms) if term.known}
    return [hit for hit in hits if known and known <= hit.matched.keys()]


def of_project(project: Project | None, sources: tuple[str, ...]) -> Filters:
    """Return filters that exclude the memories of other projects."""
    if project is None:
        return Filters(sources=sources)
    own = (
        Filters(projects=project.names),
        *(Filters(tags=(tag,)) for tag in project.tags),
    )
    other = Filters(kinds=("memory",), properties=(("project", None),), without=own)
    tagged = Filters(kinds=("memory",), tags=("project",), without=own)
    return Filters(sources=sources, without=(other, tagged))


def _understand(searcher: Searcher, text: str, options: SearchOptions) -> Query:
    """Parse the text in the query language, or as plain words if it is invalid or a message."""
    text = text.strip()
    if len(text) <= _LONGEST_QUERY and "\n" not in text:
        with suppress(UsageError):
            return searcher.understand(text, options)
    return searcher.understand(only_words(text[:_LONGEST_MESSAGE]), options)


def _from_hit(
    hit: RankedPassage, matcher: TermMatcher, questions: RecentQuestions, now: float
) -> Candidate:
    chunk, start = hit.chunk, 0
    lines = chunk.text.split("\n")
    if chunk.tokens > _WHOLE_TOKENS:
        place = focus(chunk.text, hit.passage, matcher)
        start = place.first
        lines = [lines[start][place.column :], *lines[start + 1 :]]
    at = (chunk.start_line + start, chunk.end_line)
    found = _candidate(chunk.document, lines, at, "query", now, supersedes=hit.supersedes)
    return replace(found, title="") if questions.is_named(chunk) else found


def _merge_memories(found: Sequence[Candidate]) -> list[Candidate]:
    """Merge the quotations of one memory into one, in the order of the file."""
    joined: dict[object, Candidate] = {}
    for one in found:
        key = one.source.id if one.source.kind == "memory" else (one.source.id, one.source.lines)
        first, last = sorted((joined.get(key, one), one), key=lambda each: each.source.lines)
        if last.text not in first.text:
            lines = (first.source.lines[0], max(first.source.lines[1], last.source.lines[1]))
            source = replace(
                first.source, lines=lines, whole=first.source.whole and last.source.whole
            )
            title = first.title and last.title
            first = replace(first, source=source, title=title, text=f"{first.text}\n{last.text}")
        joined[key] = first
    return list(joined.values())


# --- project memories and sessions --------------------------------------------------------------


def _candidates(
    reader: Reader,
    disk: DiskState,
    options: RecallOptions,
    found: Sequence[Candidate],
    sessions: Sequence[StoredDocument],
) -> tuple[Sequence[Candidate], Sequence[Candidate], Sequence[Candidate]]:
    """Return the lasting memories, the other candidates, and the memories that wait for review.

    A memory may be in several groups.
    """
    project, of = options.project, (options.sources, options.now, options.budget // _SHORT)
    reviewed = [one for one in found if not one.source.unreviewed]
    captured = [one for one in found if one.source.unreviewed]
    if project is None and options.query.strip():
        return (), reviewed, captured
    own = memories_of(reader, project, *of) if project else []
    lasting = [*(id_ for id_, lasts in own if lasts), *memories_of_all(reader, *of)]
    hits = {one.source.id: one for one in reversed(reviewed) if one.text}
    quoted = partial(_memories, reader, disk, options.now)
    titles = [_title_of(session, "session", options.now) for session in sessions]
    others = quoted([id_ for id_, lasts in own if not lasts])
    inbox = quoted(_inbox(reader, project, of))
    return quoted(lasting, hits), [*reviewed, *titles, *others], [*captured, *inbox]


def _inbox(
    reader: Reader, project: Project | None, of: tuple[Sequence[str], float, int]
) -> list[int]:
    if project is None:
        return memories_of_all(reader, *of, unreviewed=True)
    return [id_ for id_, _ in memories_of(reader, project, *of, unreviewed=True)]


def _memories(
    reader: Reader,
    disk: DiskState,
    now: float,
    document_ids: Sequence[int],
    hits: Mapping[str, Candidate] | None = None,
) -> list[Candidate]:
    """Return memories whose files exist.

    Those among the `hits` (by uid) come first, with the passage found.
    """
    hits, documents = hits or {}, documents_by_key(reader, document_ids)
    ordered = sorted(
        (documents[id_] for id_ in document_ids), key=lambda document: document.uid not in hits
    )
    with_chunks = [(document, reader.chunks_of(document.id, fields=False)) for document in ordered]
    return [
        hits.get(document.uid) or _from_memory(document, chunks, now)
        for document, chunks in with_chunks
        if chunks and disk.changed(document) is not None
    ]


def _from_memory(document: StoredDocument, chunks: Sequence[ChunkRecord], now: float) -> Candidate:
    first, more = chunks[0], len(chunks) > 1
    digest = document.frontmatter.get("digest")
    short = isinstance(digest, str) and digest.strip() and (more or first.tokens > _WHOLE_TOKENS)
    text = str(digest) if short else first.text
    lines = [*text.split("\n"), *_facts(document, text)]
    place = (first.start_line, chunks[-1].end_line)
    return _candidate(document, lines, place, "project", now, whole=not (short or more))


def _facts(document: StoredDocument, text: str) -> list[str]:
    """Return the facts that the text does not contain."""
    facts = document.frontmatter.get("facts")
    return (
        [f"- {fact}" for fact in facts if str(fact) not in text] if isinstance(facts, list) else []
    )


def _sessions(reader: Reader, options: RecallOptions) -> list[StoredDocument]:
    """Return recent sessions of the project that have a title."""
    if options.project is None:
        return []
    ids = sessions_of(reader, options.project, options.sources, 4 * _SESSIONS)
    documents = documents_by_key(reader, ids)
    return [documents[id_] for id_ in ids if not _UNTITLED.match(documents[id_].title)]


def _title_of(document: StoredDocument, why: Cause, now: float) -> Candidate:
    return _candidate(document, (), (1, document.line_count), why, now)


def _candidate(
    of: StoredDocument,
    lines: Sequence[str],
    place: tuple[int, int],
    why: Cause,
    now: float,
    *,
    whole: bool = True,
    supersedes: str = "",
) -> Candidate:
    if lines and re.fullmatch(r"#+\s+" + re.escape(of.title) + r"\s*", lines[0]):
        lines = lines[1:]  # the title is shown separately
    created = iso_time(of.created)
    kind = of.type or of.kind
    known = of.type is None or kind in FIELDS["type"].choices
    about = (
        kind if known else f"`{kind}",
        f"`{of.entered_by}" if of.entered_by else "",
        created[:10],
        "low confidence" if of.confidence == "low" else "",
        *of.states(now)["states"],
        f"supersedes {supersedes[:8]}" if supersedes else "",
    )
    source = RecalledSource(
        id=of.uid,
        kind=of.kind,
        source=of.source,
        path=of.path,
        title=of.title,
        lines=place,
        type=of.type,
        created=created,
        entered_by=of.entered_by,
        project=of.project,
        why=why,
        whole=whole,
        unreviewed=of.unreviewed > 0,
    )
    # The title is often the first sentence of the text.
    start = of.title.removesuffix("…").rstrip(" .").casefold()
    repeated = bool(lines) and lines[0].lstrip("#* ").casefold().startswith(start)
    return Candidate(source, about, "" if repeated else of.title, "\n".join(lines))
