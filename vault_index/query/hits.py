"""Selects the hits to show from ranked passages, and formats and explains them."""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from vault_index.query.language.filters import single_filters
from vault_index.query.language.parse import match_expression
from vault_index.query.language.tree import Term
from vault_index.query.ranking.passages import (
    HEADING,
    SNIPPET_CHARACTERS,
    Focus,
    RankedPassage,
    TermMatcher,
    focus,
)
from vault_index.query.ranking.retrieval import Evidence, Query, QueryTerm, terms_meant
from vault_index.query.reader import Reader
from vault_index.results.search import ChannelEvidence, Explanation, Hit, QueryReading, WordReading
from vault_index.sources.source import Source
from vault_index.store.documents import tags_of
from vault_index.store.records import ChunkRecord, StoredDocument
from vault_index.store.state import State
from vault_index.times import iso_time, iso_time_or_none

_GAP = 2  # maximum line distance of neighbouring passages: one blank line between
_KEY = re.compile(r"- ([^:\n]+): ")
_ONE_WORD = re.compile(r'"(\w+)"')
_MOST_COUNTED = 100  # limit of the count of excluded hits
_WHOLE_LINE = 400
"""Maximum characters of an answering line that is shown in full; 95 % of the judged lines are
shorter."""
_CONTINUED = re.compile(r"(?<!\n)\n(?!\n|[-*+>|#]|\d+[.)]\s)")
"""A line break in a paragraph. List items, quotes, table rows and headings keep theirs."""
_BREAKS = re.compile(r"\n+")


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
            self._missing[document.source] = source.missing()
            # If the vault is not mounted, answer from the index.
            return True if self._missing[document.source] else None
        return (stamp.size, stamp.mtime_ns) != (document.stamp.size, document.stamp.mtime_ns)

    def missing(self) -> tuple[str, ...]:
        """Return reasons for `degraded`: sources that answered from the index alone."""
        return tuple(f"source {name}: {reason}" for name, reason in self._missing.items() if reason)


@dataclass(frozen=True, slots=True)
class Answer:
    """The selected hits of a query and the ranking behind them."""

    query: Query
    evidence: Mapping[int, Evidence]
    ranked: Sequence[RankedPassage]
    """All hits in order, from which the answer is selected."""
    selected: Sequence[RankedPassage]
    disk: DiskState
    hidden: Collection[int] = ()
    """Ids of hidden chunks."""

    @property
    def degraded(self) -> tuple[str, ...]:
        """Reasons why the answer may be incomplete."""
        return (*self.query.degraded, *self.disk.missing())


# --- selection ----------------------------------------------------------------------------------


def select_hits(
    ranked: Sequence[RankedPassage], per_document: int, disk: DiskState
) -> list[RankedPassage]:
    """Return the hits to show, best first.

    Skips deleted files, more than `per_document` hits of one document, passages that a better hit
    represents, and echoes if another turn answers them.
    """
    selected: list[RankedPassage] = []
    texts: set[tuple[str, str, int]] = set()
    of_document: dict[int, list[RankedPassage]] = {}
    answered = any(hit.answers for hit in ranked)
    for hit in ranked:
        better = of_document.setdefault(hit.chunk.document.id, [])
        if not (
            len(better) >= per_document
            or (hit.echo and answered)
            or _text_key(hit) in texts
            or any(represents(one, hit) for one in better)
            or disk.changed(hit.chunk.document) is None
        ):
            selected.append(hit)
            better.append(hit)
            texts.add(_text_key(hit))
    return selected


def represents(shown: RankedPassage, hit: RankedPassage) -> str:
    """Return why a better hit represents this one, as a code of `why`; empty if it does not.

    A short section fits into one snippet. A field without a query word would otherwise accompany
    every text of its document.
    """
    if _text_key(shown) == _text_key(hit):
        return "same_text"
    if shown.chunk.document.id != hit.chunk.document.id:
        return ""
    chunk, passage = hit.chunk, hit.passage
    gap = max(passage.first - shown.passage.last, shown.passage.first - passage.last)
    short = chunk.ordinal >= 0 and gap <= _GAP and len(chunk.text) <= SNIPPET_CHARACTERS
    # Chunks overlap. The parts of a line that is longer than a chunk are different passages.
    starts = shown.chunk.start_line + shown.passage.first, chunk.start_line + passage.first
    again = chunk.start_line < chunk.end_line and starts[0] == starts[1]
    if again or (short and shown.chunk.chunk_id == chunk.chunk_id):
        return "same_snippet"
    return "field" if chunk.ordinal < 0 and not hit.matched else ""


def first_line(hit: RankedPassage) -> int:
    """Return the first line of a hit in its file."""
    return in_file(hit.chunk, hit.passage.first, hit.passage.last)[0]


def in_file(chunk: ChunkRecord, first: int, last: int) -> tuple[int, int]:
    """Convert lines of a chunk to lines of its file."""
    lines = (chunk.start_line + first, chunk.start_line + last)
    return min(lines[0], chunk.end_line), min(lines[1], chunk.end_line)


def _text_key(hit: RankedPassage) -> tuple[str, str, int]:
    """Return a key that is equal for passages with the same text, of which one is shown.

    The same field of two documents has different keys.
    """
    return *_chunk_key(hit.chunk), hit.passage.first


def _chunk_key(chunk: ChunkRecord) -> tuple[str, str]:
    return chunk.document.title if chunk.ordinal < 0 else "", chunk.text


# --- the public form ----------------------------------------------------------------------------


def to_hits(
    reader: Reader,
    state: State,
    sources: Mapping[str, Source],
    answer: Answer,
    selected: Sequence[RankedPassage],
    weak: Sequence[bool],
    *,
    explain: bool,
) -> tuple[Hit, ...]:
    """Convert selected hits of an answer to the public form; `weak` marks some of them."""
    documents = [hit.chunk.document for hit in selected]
    tags = tags_of(reader, [document.id for document in documents])
    accesses = state.accesses([document.uid for document in documents])
    copies = _copies(reader, answer, selected)
    matcher = TermMatcher(answer.query.terms, reader.stems)
    shown: dict[int, set[int]] = {}  # lines of each document in better hits, which are not repeated
    hits: list[Hit] = []
    for hit, document, is_weak in zip(selected, documents, weak, strict=True):
        chunk, source = hit.chunk, sources.get(document.source)
        at = focus(chunk.text, hit.passage, matcher)
        lines = in_file(chunk, at.first, at.last)
        before = shown.setdefault(document.id, set())
        text = _snippet(hit, at, {line - chunk.start_line for line in before})
        before.update(range(lines[0], lines[1] + 1))
        # A short table shows the digest in place of the text, which would hide a matching field.
        digest = "" if chunk.ordinal < 0 else document.digest
        hits.append(
            Hit(
                id=document.uid,
                kind=document.kind,
                source=document.source,
                path=document.path,
                title=document.title,
                headings=chunk.headings,
                lines=(chunk.start_line, chunk.end_line),
                score=round(hit.score, 4),
                tags=tags.get(document.id, ()),
                type=document.type,
                digest=digest,
                snippet=text,
                focus=lines,
                tokens=chunk.tokens,
                created=iso_time(document.created),
                updated=iso_time(document.updated),
                entered_by=document.entered_by,
                project=document.project,
                expires=iso_time_or_none(document.expires),
                valid_until=iso_time_or_none(document.valid_until),
                confidence=document.confidence,
                accesses=accesses.get(document.uid, 0),
                changed_since_index=bool(answer.disk.changed(document)),
                also=_paths(document, copies.get(_chunk_key(chunk), {})),
                link=source.link(document.path) if source else "",
                spans={
                    "snippet": matcher.spans(text),
                    "digest": matcher.spans(digest),
                    "focus": (_focus_span(chunk.text, at, text),),
                },
                weak=is_weak,
                supersedes=hit.supersedes or None,
                explain=_explanation(hit, answer) if explain else None,
                **document.states(answer.query.now),
            )
        )
    return tuple(hits)


def _copies(
    reader: Reader, answer: Answer, selected: Sequence[RankedPassage]
) -> dict[tuple[str, str], dict[int, StoredDocument]]:
    """Return the documents with the same text as a selected hit, by text and id."""
    copies: dict[tuple[str, str], dict[int, StoredDocument]] = {}
    for copy in reader.same_texts(answer.evidence, {hit.chunk.text for hit in selected}):
        if answer.disk.changed(copy.document) is not None:
            copies.setdefault(_chunk_key(copy), {})[copy.document.id] = copy.document
    return copies


def _paths(document: StoredDocument, copies: Mapping[int, StoredDocument]) -> tuple[str, ...]:
    """Return the paths of the other documents, with their source where the path is not unique."""
    others = [copy for id_, copy in copies.items() if id_ != document.id]
    counts = Counter(copy.path for copy in (document, *others))
    paths = (
        f"{copy.source}:{copy.path}"
        if copy.source != document.source or counts[copy.path] > 1
        else copy.path
        for copy in others
    )
    return tuple(sorted(paths))


def _snippet(hit: RankedPassage, at: Focus, others: set[int]) -> str:
    """Return the snippet of a hit without the lines in `others`; a field is shown alone."""
    chunk, passage = hit.chunk, hit.passage
    if chunk.ordinal >= 0:
        return snippet(chunk.text, at, others)
    others |= {*range(chunk.text.count("\n") + 1)} - {*range(passage.first, passage.last + 1)}
    return _with_key(chunk, at.first, snippet(chunk.text, at, others))


def snippet(text: str, at: Focus, others: Collection[int] = ()) -> str:
    """Return about 240 characters of `text` around a focus.

    A longer line is shown alone; a line of over 400 characters is cut and begins near the column of
    the focus. The snippet stops before the lines in `others`, which better hits show.
    """
    lines = text.split("\n")
    if at.first > 0 and HEADING.match(lines[0]):
        lines[0] = ""  # shown next to the snippet
    first, last, size = at.first, at.last, len("\n".join(lines[at.first : at.last + 1]))
    if size > SNIPPET_CHARACTERS:
        last, size = first, len(lines[first].strip())
    if size >= SNIPPET_CHARACTERS:
        whole = size <= _WHOLE_LINE
        return lines[first].strip() if whole else _cut(lines[first].rstrip(), at.column)
    grown = True
    while grown:
        grown = False
        for candidate in (last + 1, first - 1):
            if candidate not in others and 0 <= candidate < len(lines):
                wider = size + len(lines[candidate].strip()) + 1
                if wider <= SNIPPET_CHARACTERS:
                    size, grown = wider, True
                    first, last = min(first, candidate), max(last, candidate)
    return _joined(lines[first : last + 1], text)


def _joined(lines: Sequence[str], text: str) -> str:
    """Join lines of `text`: a paragraph becomes one line; if there is code, all lines stay."""
    if "```" in text or "~~~" in text:
        return "\n".join(filter(str.strip, map(str.rstrip, lines)))
    return _BREAKS.sub("\n", _CONTINUED.sub(" ", "\n".join(map(str.strip, lines)).strip("\n")))


def _cut(line: str, column: int) -> str:
    start = max(min(column, len(line) - SNIPPET_CHARACTERS), 0)
    if 0 < start < column:
        start = line.find(" ", start, column) + 1 or start  # begin at a word
    rest = line[start:].lstrip()
    if len(rest) > SNIPPET_CHARACTERS:
        rest = f"{rest[:SNIPPET_CHARACTERS].rsplit(' ', 1)[0]}…"
    return f"…{rest}" if start else rest


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
    part = _joined(text.split("\n")[place.first : place.last + 1], text)
    start = shown.find(part)
    return (start, start + len(part)) if part and start >= 0 else (0, len(shown))


def _explanation(hit: RankedPassage, answer: Answer) -> Explanation:
    """Explain the score of a hit."""
    terms = [(term, hit.matched.get(number, 0.0)) for number, term in enumerate(answer.query.terms)]
    corrected = {term.text for term, weight in terms if 0 < weight < 1 and len(term.stems) > 1}
    parts = (round(part, 4) for part in hit.parts)
    return Explanation(
        channels=_channels(hit.evidence, answer.evidence.values()),
        coverage=round(hit.coverage, 3),
        matched=tuple(term.text for term, weight in terms if weight and term.text not in corrected),
        corrected=tuple(term.text for term, _ in terms if term.text in corrected),
        missing=tuple(term.text for term, weight in terms if not weight),
        parts=dict(zip(("text", "vector", "path", "passage"), parts, strict=True)),
        factors={name: round(factor, 4) for name, factor in hit.boosts.items()},
    )


def _channels(found: Evidence, every: Collection[Evidence]) -> dict[str, ChannelEvidence]:
    """Return the score and the rank of a chunk in each channel that found it."""
    scores = zip(("text", "vector", "path"), found, zip(*every, strict=True), strict=False)
    return {
        channel: ChannelEvidence(
            1 + sum(other > own for other in others if other is not None), round(own, 4)
        )
        for channel, own, others in scores
        if own is not None
    }


def query_reading(reader: Reader, query: Query) -> QueryReading:
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


def _word(reader: Reader, word: QueryTerm, meant: Mapping[str, float]) -> WordReading:
    term = Term(word.text, "prefix" if word.prefix else "word")
    return WordReading(
        text=word.text,
        rarity=round(word.weight, 2),
        texts=reader.count_matches(match_expression(terms_meant([term], {word.text: meant}))),
        meant=tuple(sorted(meant, key=lambda form: -meant[form])),
    )


# --- hints --------------------------------------------------------------------------------------


def also_searched(query: Query) -> Iterator[str]:
    """Yield the corrections of rare words, which may also be meant as typed."""
    for typed, meant in query.spelling.forms.items():
        if typed not in query.spelling.corrections:
            yield (
                f"few texts contain {typed}: also searched for"
                f" {max(meant, key=lambda form: meant[form])}"
            )


def excluded_hits(reader: Reader, query: Query, never: Collection[int]) -> Iterator[str]:
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
