"""Hits: which ranked passages are shown, what each shows, why it is where it is, and hints beside them."""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from vault_index.query.language.filters import single_filters
from vault_index.query.language.parse import match_expression
from vault_index.query.language.tree import Term
from vault_index.query.ranking.passages import (
    SNIPPET_CHARACTERS,
    Focus,
    Passage,
    TermMatcher,
    snippet,
)
from vault_index.query.ranking.rank import RankedPassage
from vault_index.query.ranking.retrieval import Evidence, Query, QueryTerm, terms_meant
from vault_index.results.search import ChannelEvidence, Explanation, Hit, QueryReading, WordReading
from vault_index.sources.source import Source
from vault_index.store.reader import IndexReader
from vault_index.store.records import ChunkRecord, StoredDocument
from vault_index.times import iso_time, iso_time_or_none

_GAP = 2  # lines between passages that stand together: with a blank one between
_KEY = re.compile(r"- ([^:\n]+): ")
_ONE_WORD = re.compile(r'"(\w+)"')
_MOST_COUNTED = 100  # hits that an exclusion hides


class DiskState:
    """The state of the files behind the hits of one answer: one `stat` a document."""

    def __init__(self, sources: Mapping[str, Source]) -> None:
        self._sources = sources
        self._missing: dict[str, str] = {}
        self._changed: dict[int, bool | None] = {}

    def changed(self, document: StoredDocument) -> bool | None:
        """Whether the file changed since it was indexed; None where it is gone, and its vault is there."""
        if document.id not in self._changed:
            self._changed[document.id] = self._compare(document)
        return self._changed[document.id]

    def _compare(self, document: StoredDocument) -> bool | None:
        source = self._sources.get(document.source)
        if source is None:
            return False
        stamp = source.stamp(document.path)
        if stamp is None:
            if document.source not in self._missing:
                self._missing[document.source] = source.missing()
            # Of a vault that is not mounted the index is all there is.
            return True if self._missing[document.source] else None
        return (stamp.size, stamp.mtime_ns) != (document.stamp.size, document.stamp.mtime_ns)

    def missing(self) -> tuple[str, ...]:
        """Sources that answered from the index alone, as reasons for `degraded`."""
        return tuple(f"source {name}: {reason}" for name, reason in self._missing.items() if reason)


class SelectedHit(NamedTuple):
    """A ranked passage that is shown."""

    hit: RankedPassage
    changed: bool
    """Whether its file changed since it was indexed."""

    def same_text(self, other: RankedPassage) -> bool:
        return _said(self.hit) == _said(other)

    def shows(self, other: RankedPassage) -> bool:
        """Whether `other` stands beside this passage in a section so short that its snippet shows all of it."""
        chunk, passage = self.hit.chunk, self.hit.passage
        gap = max(other.passage.first - passage.last, passage.first - other.passage.last)
        near, text = _GAP, chunk.text
        if chunk.ordinal < 0:  # of the fields around one only those beside it are shown
            lines = slice(
                min(passage.first, other.passage.first), max(passage.last, other.passage.last) + 1
            )
            near, text = 1, "\n".join(text.split("\n")[lines])
        return (
            other.chunk.chunk_id == chunk.chunk_id
            and gap <= near
            and len(text) <= SNIPPET_CHARACTERS
        )

    def stands_for(self, other: RankedPassage) -> bool:
        """Whether `other` is a field of the same document that says nothing of what was asked: such fields stand beside
        every text."""
        same = self.hit.chunk.document.id == other.chunk.document.id
        return same and other.chunk.ordinal < 0 and not other.matched


def _said(hit: RankedPassage) -> tuple[str, str, int]:
    """What is shown once. The same field of two documents says two things."""
    return *said_by(hit.chunk), hit.passage.first


def said_by(chunk: ChunkRecord) -> tuple[str, str]:
    """What makes the texts of two chunks the same."""
    return chunk.document.title if chunk.ordinal < 0 else "", chunk.text


def select_hits(
    ranked: Sequence[RankedPassage], per_document: int, disk: DiskState
) -> list[SelectedHit]:
    """The hits to show, best first: of files that are there, at most `per_document` of each document, each text and
    each line once, and none that the snippet of a better one shows."""
    selected: list[SelectedHit] = []
    texts: set[tuple[str, str, int]] = set()
    lines: set[tuple[int, int]] = set()
    of_document: dict[int, list[SelectedHit]] = {}
    for hit in ranked:
        chunk = hit.chunk
        changed = disk.changed(chunk.document)
        if changed is None or _said(hit) in texts:
            continue
        line = (chunk.document.id, chunk.start_line + hit.passage.first)
        part = chunk.start_line == chunk.end_line  # of a line that is longer than a chunk
        others = of_document.setdefault(chunk.document.id, [])
        if (line in lines and not part) or len(others) >= per_document:
            continue
        if any(other.shows(hit) or other.stands_for(hit) for other in others):
            continue
        lines.add(line)
        one = SelectedHit(hit, changed)
        selected.append(one)
        others.append(one)
        texts.add(_said(hit))
    return selected


def to_hit(
    selected: SelectedHit,
    place: Focus,
    *,
    better: Collection[int],
    also: Collection[StoredDocument],
    tags: tuple[str, ...],
    link: str,
    accesses: int,
    explain: Explanation | None,
    matcher: TermMatcher,
    now: float,
) -> Hit:
    """`better` are the lines of the file that better hits point at: two hits do not show the same. `also` are the
    documents with the same text."""
    chunk, document = selected.hit.chunk, selected.hit.chunk.document
    others = {line - chunk.start_line for line in better}
    if chunk.ordinal < 0:
        others |= _other_fields(chunk, selected.hit.passage, matcher)
    paths = Counter([document.path, *(one.path for one in also)])
    shown = snippet(chunk.text, place.first, place.column, others)
    if chunk.ordinal < 0:
        shown = _with_key(chunk, place.first, shown)
    digest = (
        "" if chunk.ordinal < 0 else document.digest
    )  # in a short table it stands for the text, a field does not
    return Hit(
        id=document.uid,
        kind=document.kind,
        source=document.source,
        path=document.path,
        title=document.title,
        headings=chunk.headings,
        lines=(chunk.start_line, chunk.end_line),
        score=round(selected.hit.score, 4),
        tags=tags,
        type=document.type,
        digest=digest,
        snippet=shown,
        focus=in_file(chunk, place.first, place.last),
        tokens=chunk.tokens,
        created=iso_time(document.created),
        updated=iso_time(document.updated),
        entered_by=document.entered_by,
        project=document.project,
        expires=iso_time_or_none(document.expires),
        valid_until=iso_time_or_none(document.valid_until),
        confidence=document.confidence,
        accesses=accesses,
        changed_since_index=selected.changed,
        also=tuple(
            sorted(
                f"{one.source}:{one.path}"
                if one.source != document.source or paths[one.path] > 1
                else one.path
                for one in also
            )
        ),
        link=link,
        spans={
            "snippet": matcher.spans(shown),
            "digest": matcher.spans(digest),
            "focus": (_answer(chunk.text, place, shown),),
        },
        supersedes=selected.hit.supersedes or None,
        explain=explain,
        **document.states(now),
    )


def _other_fields(chunk: ChunkRecord, passage: Passage, matcher: TermMatcher) -> set[int]:
    """The lines of fields that are not shown with one of them: all but those beside it that were asked for as well."""
    lines = matcher.match_lines([chunk.text])
    beside = {
        line
        for line in (passage.first - 1, passage.last + 1)
        if 0 <= line < len(lines) and lines[line]
    }
    return {*range(len(lines))} - {*range(passage.first, passage.last + 1)} - beside


def _with_key(chunk: ChunkRecord, line: int, shown: str) -> str:
    """What is shown of fields with the key that it stands under: of a list only the first item has it."""
    front, lines = chunk.document.frontmatter, chunk.text.split("\n")[line::-1]
    found = (key for text in (shown, *lines) if (key := _KEY.match(text)) and key[1] in front)
    key = next(found, None)
    return (
        shown if key is None or shown.startswith(key[0]) else f"{key[0]}{shown.removeprefix('- ')}"
    )


def _answer(text: str, place: Focus, shown: str) -> tuple[int, int]:
    """Where the snippet says the lines of `place`, as many of them as it does; all of a snippet that is cut."""
    lines = [line.strip() for line in text.split("\n")[place.first : place.last + 1]]
    for count in range(len(lines), 0, -1):
        said = " ".join(filter(None, lines[:count]))
        start = shown.find(said) if said else -1
        if start >= 0:
            return start, start + len(said)
    return 0, len(shown)


def in_file(chunk: ChunkRecord, first: int, last: int) -> tuple[int, int]:
    """Lines of a chunk as lines of its file."""
    return min(chunk.start_line + first, chunk.end_line), min(
        chunk.start_line + last, chunk.end_line
    )


def explanation(
    hit: RankedPassage, terms: Sequence[QueryTerm], evidence: Mapping[int, Evidence]
) -> Explanation:
    """Why a hit is where it is. `evidence` is that of all chunks that were found."""
    matched = {terms[number].text for number in hit.matched}
    corrected = {
        terms[number].text
        for number, weight in hit.matched.items()
        if weight < 1.0 and len(terms[number].stems) > 1
    }
    scores = zip(
        ("text", "vector", "path"), hit.evidence, zip(*evidence.values(), strict=True), strict=False
    )
    return Explanation(
        channels={
            channel: ChannelEvidence(
                1 + sum(other > own for other in others if other is not None), round(own, 4)
            )
            for channel, own, others in scores
            if own is not None
        },
        coverage=round(hit.coverage, 3),
        matched=tuple(term.text for term in terms if term.text in matched - corrected),
        corrected=tuple(term.text for term in terms if term.text in corrected),
        missing=tuple(term.text for number, term in enumerate(terms) if number not in hit.matched),
        parts={
            "text": round(hit.parts.text, 4),
            "vector": round(hit.parts.vector, 4),
            "path": round(hit.parts.name, 4),
            "passage": round(hit.parts.passage, 4),
        },
        factors={name: round(factor, 4) for name, factor in hit.boosts.items()},
    )


def query_reading(reader: IndexReader, query: Query) -> QueryReading:
    """How a query was read, with what the index says of its words."""
    return QueryReading(
        words=tuple(
            _word(reader, term, query.spelling.forms.get(term.text, {})) for term in query.terms
        ),
        required=as_words(query.parsed.required),
        excluded=as_words(query.parsed.excluded),
        filters=tuple(written for written, _ in single_filters(query.parsed.filters)),
    )


def as_words(expression: str) -> str:
    """An FTS5 expression as people write it: quotes around phrases alone."""
    return _ONE_WORD.sub(r"\1", expression)


def _word(reader: IndexReader, word: QueryTerm, meant: Mapping[str, float]) -> WordReading:
    term = Term(word.text, "prefix" if word.prefix else "word", 0)
    return WordReading(
        text=word.text,
        rarity=round(word.weight, 2),
        texts=reader.count_matches(match_expression(terms_meant([term], {word.text: meant}))),
        meant=tuple(sorted(meant, key=lambda form: -meant[form])),
    )


# --- hints ------------------------------------------------------------------------------------------------------


def also_searched(query: Query) -> Iterator[str]:
    """The corrections of words that some texts do hold, which may be meant as typed."""
    unknown = {word for typed in query.spelling.corrections for word in typed.split()}
    for typed, meant in query.spelling.forms.items():
        if typed not in unknown:
            yield f"few texts say {typed}: also searched for {max(meant, key=lambda form: meant[form])}"


def excluded_hits(reader: IndexReader, query: Query, never: Collection[int]) -> Iterator[str]:
    """How many passages with words of the query an exclusion hides, if any: not everybody means a dash as one. `never`
    are chunks that no answer has."""
    parsed = query.parsed
    if query.match and parsed.none_of:
        required = " AND ".join((*parsed.all_of, f"({parsed.excluded})"))
        found = reader.text_candidates(
            query.match, _MOST_COUNTED, parsed.filters, required=required
        )
        if hidden := sum(chunk_id not in never for chunk_id, _ in found):
            more = "+" * (hidden == _MOST_COUNTED)
            yield f"without {as_words(parsed.excluded)}: {hidden}{more} hit{'s' * (hidden != 1)} hidden"
