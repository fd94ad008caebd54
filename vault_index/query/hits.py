"""Selects the hits to show from ranked passages, and formats and explains them."""

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
    RankedPassage,
    TermMatcher,
    snippet,
)
from vault_index.query.ranking.retrieval import Evidence, Query, QueryTerm, terms_meant
from vault_index.results.search import ChannelEvidence, Explanation, Hit, QueryReading, WordReading
from vault_index.sources.source import Source
from vault_index.store.reader import IndexReader
from vault_index.store.records import ChunkRecord, StoredDocument
from vault_index.times import iso_time, iso_time_or_none

_GAP = 2  # maximum line distance of neighbouring passages: one blank line between
_KEY = re.compile(r"- ([^:\n]+): ")
_ONE_WORD = re.compile(r'"(\w+)"')
_MOST_COUNTED = 100  # limit of the count of excluded hits


class DiskState:
    """State of the files behind the hits of one answer; reads each file's stat once."""

    def __init__(self, sources: Mapping[str, Source]) -> None:
        self._sources = sources
        self._missing: dict[str, str] = {}
        self._changed: dict[int, bool | None] = {}

    def changed(self, document: StoredDocument) -> bool | None:
        """Return whether the file changed since it was indexed; None if it was deleted.

        If the whole vault is missing, its files count as changed.
        """
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
            # If the vault is not mounted, answer from the index.
            return True if self._missing[document.source] else None
        return (stamp.size, stamp.mtime_ns) != (document.stamp.size, document.stamp.mtime_ns)

    def missing(self) -> tuple[str, ...]:
        """Return reasons for `degraded`: sources that answered from the index alone."""
        return tuple(f"source {name}: {reason}" for name, reason in self._missing.items() if reason)


class SelectedHit(NamedTuple):
    """A ranked passage that is shown."""

    hit: RankedPassage
    changed: bool
    """Whether its file changed since it was indexed."""

    def same_text(self, other: RankedPassage) -> bool:
        """Return whether both passages have the same text."""
        return _passage_key(self.hit) == _passage_key(other)

    def shows(self, other: RankedPassage) -> bool:
        """Return whether the snippet of this passage also shows `other`.

        That is so for a neighbouring passage in a section that fits into one snippet.
        """
        chunk, passage = self.hit.chunk, self.hit.passage
        gap = max(other.passage.first - passage.last, passage.first - other.passage.last)
        near, text = _GAP, chunk.text
        if chunk.ordinal < 0:  # a snippet of a field shows only adjacent fields
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
        """Return whether `other` is a field of the same document without a query word.

        Such fields would otherwise accompany every text.
        """
        same = self.hit.chunk.document.id == other.chunk.document.id
        return same and other.chunk.ordinal < 0 and not other.matched


def _passage_key(hit: RankedPassage) -> tuple[str, str, int]:
    """Return a key that is equal for passages with the same text, of which one is shown."""
    return *text_key(hit.chunk), hit.passage.first


def text_key(chunk: ChunkRecord) -> tuple[str, str]:
    """Return a key that is equal for chunks with the same text.

    The same field of two documents has different keys.
    """
    return chunk.document.title if chunk.ordinal < 0 else "", chunk.text


def select_hits(
    ranked: Sequence[RankedPassage], per_document: int, disk: DiskState
) -> list[SelectedHit]:
    """Return the hits to show, best first.

    Skips deleted files, more than `per_document` hits of one document, repeated texts and lines,
    and passages that the snippet of a better hit shows.
    """
    selected: list[SelectedHit] = []
    texts: set[tuple[str, str, int]] = set()
    lines: set[tuple[int, int]] = set()
    of_document: dict[int, list[SelectedHit]] = {}
    for hit in ranked:
        chunk = hit.chunk
        changed = disk.changed(chunk.document)
        if changed is None or _passage_key(hit) in texts:
            continue
        line = (chunk.document.id, chunk.start_line + hit.passage.first)
        part = chunk.start_line == chunk.end_line  # part of a line that is longer than a chunk
        others = of_document.setdefault(chunk.document.id, [])
        if (line in lines and not part) or len(others) >= per_document:
            continue
        if any(other.shows(hit) or other.stands_for(hit) for other in others):
            continue
        lines.add(line)
        one = SelectedHit(hit, changed)
        selected.append(one)
        others.append(one)
        texts.add(_passage_key(hit))
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
    """Return the public form of a hit.

    `better` are the lines of the file that better hits show; they are not repeated. `also` are the
    other documents with the same text.
    """
    chunk, document = selected.hit.chunk, selected.hit.chunk.document
    others = {line - chunk.start_line for line in better}
    if chunk.ordinal < 0:
        others |= _other_fields(chunk, selected.hit.passage, matcher)
    paths = Counter([document.path, *(one.path for one in also)])
    shown = snippet(chunk.text, place.first, place.column, others)
    if chunk.ordinal < 0:
        shown = _with_key(chunk, place.first, shown)
    # A short table shows the digest in place of the text, which would hide a matching field.
    digest = "" if chunk.ordinal < 0 else document.digest
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
            "focus": (_focus_span(chunk.text, place, shown),),
        },
        supersedes=selected.hit.supersedes or None,
        explain=explain,
        **document.states(now),
    )


def _other_fields(chunk: ChunkRecord, passage: Passage, matcher: TermMatcher) -> set[int]:
    """Return the lines of fields that the snippet of a field must not show.

    These are all fields except adjacent ones that also match the query.
    """
    [lines] = matcher.match_lines([chunk.text])
    adjacent = {
        line
        for line in (passage.first - 1, passage.last + 1)
        if 0 <= line < len(lines) and lines[line]
    }
    return {*range(len(lines))} - {*range(passage.first, passage.last + 1)} - adjacent


def _with_key(chunk: ChunkRecord, line: int, shown: str) -> str:
    """Return the snippet of a field with its key, which in a list only the first item has."""
    front, lines = chunk.document.frontmatter, chunk.text.split("\n")[line::-1]
    found = (key for text in (shown, *lines) if (key := _KEY.match(text)) and key[1] in front)
    key = next(found, None)
    return (
        shown if key is None or shown.startswith(key[0]) else f"{key[0]}{shown.removeprefix('- ')}"
    )


def _focus_span(text: str, place: Focus, shown: str) -> tuple[int, int]:
    """Return the range of the lines of `place` in the snippet; the whole snippet if it is cut."""
    lines = [line.strip() for line in text.split("\n")[place.first : place.last + 1]]
    for count in range(len(lines), 0, -1):
        part = " ".join(filter(None, lines[:count]))
        start = shown.find(part) if part else -1
        if start >= 0:
            return start, start + len(part)
    return 0, len(shown)


def in_file(chunk: ChunkRecord, first: int, last: int) -> tuple[int, int]:
    """Convert lines of a chunk to lines of its file."""
    return min(chunk.start_line + first, chunk.end_line), min(
        chunk.start_line + last, chunk.end_line
    )


def explanation(
    hit: RankedPassage, terms: Sequence[QueryTerm], evidence: Mapping[int, Evidence]
) -> Explanation:
    """Explain the score of a hit. `evidence` is that of all chunks found."""
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
    """Return the parsed query with the statistics of its words."""
    return QueryReading(
        words=tuple(
            _word(reader, term, query.spelling.forms.get(term.text, {})) for term in query.terms
        ),
        required=as_words(query.parsed.required),
        excluded=as_words(query.parsed.excluded),
        filters=tuple(written for written, _ in single_filters(query.parsed.filters)),
    )


def as_words(expression: str) -> str:
    """Return an FTS5 expression with quotes only around phrases."""
    return _ONE_WORD.sub(r"\1", expression)


def _word(reader: IndexReader, word: QueryTerm, meant: Mapping[str, float]) -> WordReading:
    term = Term(word.text, "prefix" if word.prefix else "word", 0)
    return WordReading(
        text=word.text,
        rarity=round(word.weight, 2),
        texts=reader.count_matches(match_expression(terms_meant([term], {word.text: meant}))),
        meant=tuple(sorted(meant, key=lambda form: -meant[form])),
    )


# --- hints --------------------------------------------------------------------------------------


def also_searched(query: Query) -> Iterator[str]:
    """Yield the corrections of rare words, which may also be meant as typed."""
    unknown = {word for typed in query.spelling.corrections for word in typed.split()}
    for typed, meant in query.spelling.forms.items():
        if typed not in unknown:
            yield (
                f"few texts contain {typed}: also searched for"
                f" {max(meant, key=lambda form: meant[form])}"
            )


def excluded_hits(reader: IndexReader, query: Query, never: Collection[int]) -> Iterator[str]:
    """Yield how many hits an exclusion hides, because the user may not have meant a dash as one.

    `never` are chunks that no answer contains.
    """
    parsed = query.parsed
    if query.match and parsed.none_of:
        required = " AND ".join((*parsed.all_of, f"({parsed.excluded})"))
        found = reader.text_candidates(
            query.match, _MOST_COUNTED, parsed.filters, required=required
        )
        if hidden := sum(chunk_id not in never for chunk_id, _ in found):
            more = "+" * (hidden == _MOST_COUNTED)
            yield (
                f"without {as_words(parsed.excluded)}:"
                f" {hidden}{more} hit{'s' * (hidden != 1)} hidden"
            )
