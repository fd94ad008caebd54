"""Echoes: session passages that repeat the query or only report that nothing was found.

An agent asks the same question repeatedly and searches before it answers. The turns that asked it
before are the most similar texts, but they do not answer it. Such a turn is therefore replaced by
the reply to it. If there is no reply, it is ranked after all other hits.

Only sessions have turns; the heading of a FAQ names the text below it. A sentence is classified by
the words that it has in addition to the query. So a question is recognized in any language by its
question mark, but a report that nothing was found only in English.
"""

import re
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import dropwhile, groupby, islice

from vault_index.query.ranking.passages import (
    Passage,
    RankedPassage,
    Stems,
    TermMatcher,
    fold,
    split_passages,
)
from vault_index.query.ranking.retrieval import Evidence, Query
from vault_index.query.reader import Reader
from vault_index.store.records import ChunkRecord
from vault_index.terms import STOPWORDS, index_words

_NEW = 0.3
"""Maximum share of new words in a question that still counts as a repetition of the query."""
_SAME = 0.5
"""Minimum share of the query in such a question, unless it has no new words."""
_REST = 0.3
"""Minimum share of the query in the rest of a user's turn for that rest to count."""
_MOST_CHUNKS = 16
"""Maximum number of chunks of a turn in which to search for a reply."""

_SENTENCE_END = re.compile(r"(?<=[.!?:;…])[\"'”’»)*_\],]*\s+|(?<=[。！？])|\n")
_OUTPUT = ("```text", "````text")
"""How indexed output of a tool begins."""
_CALL = re.compile(r"- ([\w.-]+): ")
_SEARCHES = ("search", "grep", "glob", "fetch", "find", "task")
_WORD = re.compile(r"\w+")
_NUMBER = re.compile(r"\d")
"""A number answers even without a word of the question."""
_QUESTION_WORDS = frozenset(
    _WORD.findall("""
who whom whose what whats which when where why how wer wann warum wieso weshalb wie welche welchen
welcher welches quel quelle quels quelles quand pourquoi combien quien cual cuales cuando donde
cuanto
""")
)
_REQUESTS = frozenset(
    _WORD.findall("""
am are can could describe did do does explain find give had has have is list look may please recall
remind repeat search should show tell was were will would
""")
)
_GREETINGS = frozenset(
    _WORD.findall("again also and but hello hey hi now ok okay one quick question so well")
)
_NOTHING = frozenset(
    _WORD.findall("""
afraid answer answers anything apologies apologize ask asked asking asks aware available check
checked checking context conversation detail details earlier find finding found idea information
info know knowing known look looked looking lookup match matched matches matching memories memory
mention mentioned mentions moment nothing note notes previous previously question questions
reasoning recall recalled record recorded records relevant remember result results search searched
searches searching session sessions something sorry store stored sure telling tells trying unclear
unfortunately unknown unsure user users vault wonder wondered wondering
""")
)
"""Words without content: they say that something is asked, searched for or unknown."""
_LITTLE = STOPWORDS | frozenset(
    _WORD.findall("""
again also could couldn d didn doesn don first have haven help hello hey hi isn let ll m need okay
please quick re remind right s say says see t tell thank thanks told use used uses using ve want
wasn whether yet
""")
)
_ASKED = frozenset(("ask", "asks", "asked"))
_ANSWERS = frozenset(
    _WORD.findall("yes yep yeah no nope never always both neither none ja nein oui non")
)
_LEADS = frozenset(
    _WORD.findall(
        "a can d going have i just let ll m me need now ok okay quickly right s should sure take"
        " to will"
    )
)
_LOOKS = frozenset(
    _WORD.findall(
        "check checking consult dig grep inspect investigate look looking review search"
        " searching verify"
    )
)


class RecentQuestions:
    """Detects echoes of a query. A statement by the user is never an echo."""

    def __init__(self, query: Query, stems: Stems) -> None:
        self._query, self._stems = query, stems
        self._titles: dict[str, bool] = {}
        text = query.parsed.text
        self._asks = "?" in text or _is_request(_WORD.findall(fold(text)))

    @cached_property
    def _matcher(self) -> TermMatcher:
        # Built only for sessions, because it compiles a pattern.
        little = _LITTLE | _GREETINGS
        telling = [term for term in self._query.terms if term.text not in little]
        return TermMatcher(telling or self._query.terms, self._stems)

    def echoes(self, chunk: ChunkRecord, passage: Passage) -> bool:
        """Return whether a passage of a session only repeats the query."""
        if chunk.document.kind != "session":
            return False
        text, by_user = passage.of(chunk.text), speaker(chunk) == "User"
        if call := _CALL.match(text):
            target = text[call.end() :].rpartition("(")[0].partition(" → ")[0]
            looks = any(word in call[1] for word in _SEARCHES)
            return looks and self._kind(target.strip(" `"), by_user=True) != "says"
        sentences = self._sentences(text, by_user=by_user)
        rest = [sentence for sentence, kind in sentences if kind == "says"]
        if not by_user:
            return len(rest) < len(sentences) and all(map(_is_question, rest))
        if not any(kind == "asks" for _, kind in sentences):
            return not rest
        beside = " ".join(rest)
        return self._is_near(text) or (
            self._matcher.share_of(beside) < _REST and not _NUMBER.search(beside)
        )

    def awaits(self, chunk: ChunkRecord, passage: Passage) -> bool:
        """Return whether the next turn replies to this echo.

        That is so if the question ends the turn; a user who only mentions it goes on to something
        else.
        """
        kinds = [
            kind
            for _, kind in self._sentences(passage.of(chunk.text), by_user=True)
            if kind != "nothing"
        ]
        return speaker(chunk) == "User" and kinds[-1:] != ["says"]

    def evidence_of(self, chunk: ChunkRecord, evidence: Evidence) -> Evidence:
        """Return the evidence of a chunk, without that of a title that repeats the query."""
        if not self.is_named(chunk):
            return evidence
        bare = evidence._replace(name=None, called=False)
        return (
            bare if self._matcher.matches_of(chunk.text) else bare._replace(bm25=None, cosine=None)
        )

    def is_named(self, chunk: ChunkRecord) -> bool:
        """Return whether the title of a chunk's session repeats the query, so it says nothing."""
        return chunk.document.kind == "session" and self.is_repeated_by(chunk.document.title)

    def is_repeated_by(self, title: str) -> bool:
        """Return whether a title only repeats the query."""
        if title not in self._titles:
            nothing_new = self._asks and not self._beyond(title)[1]
            self._titles[title] = nothing_new or self._kind(title, by_user=True) != "says"
        return self._titles[title]

    def _sentences(self, text: str, *, by_user: bool) -> list[tuple[str, str]]:
        """Return each sentence with its kind."""
        sentences = filter(str.strip, _SENTENCE_END.split(text))
        return [(one, self._kind(one, by_user=by_user)) for one in sentences]

    def _kind(self, sentence: str, *, by_user: bool) -> str:
        """Return `asks` (repeats the query), `nothing` (no content) or `says` (has content)."""
        plain = _WORD.findall(fold(sentence))
        words, new = self._beyond(sentence)
        filler = not _NOTHING.isdisjoint(plain)
        if not words:
            return "nothing" if filler or _ANSWERS.isdisjoint(plain) else "says"
        if self._is_asked(sentence, plain, by_user=by_user, repeats=not new):
            return "asks" if not new or self._is_near(sentence) else "says"
        return "nothing" if (filler and not new) or _is_search(plain) else "says"

    def _is_asked(
        self, sentence: str, plain: Sequence[str], *, by_user: bool, repeats: bool
    ) -> bool:
        """Return whether a sentence is a question; with `repeats`, it has no word of its own."""
        if _is_question(sentence) or _is_request(plain) or not _ASKED.isdisjoint(plain):
            return True
        keywords = by_user and STOPWORDS.isdisjoint(plain)
        return repeats and (keywords or not _QUESTION_WORDS.isdisjoint(plain))

    def _is_near(self, text: str) -> bool:
        words, new = self._beyond(text)
        return (
            len(new) <= _NEW * len(words)
            and not _NUMBER.search(" ".join(new))
            and self._matcher.share_of(text) >= _SAME
        )

    def _beyond(self, text: str) -> tuple[list[str], list[str]]:
        """Return the words of a text that have content, and those of them that the query lacks."""
        words = [
            word
            for word in map(fold, index_words(text))
            if word not in _LITTLE and word not in _NOTHING
        ]
        return words, self._matcher.unmatched(words)


def speaker(chunk: ChunkRecord) -> str:
    """Return the speaker of a chunk of a session: `User` or `Assistant`; else empty."""
    return (
        chunk.headings[0].partition(" · ")[0]
        if chunk.document.kind == "session" and chunk.headings
        else ""
    )


def with_replies(
    reader: Reader,
    questions: RecentQuestions,
    matcher: TermMatcher,
    hits: Sequence[RankedPassage],
) -> tuple[list[RankedPassage], list[RankedPassage]]:
    """Replace echoes with the replies to them, which take their positions and scores.

    Returns the hits with the replies, and the echoes without a reply.
    """
    answers: list[RankedPassage] = []
    unanswered: list[RankedPassage] = []
    for hit in hits:
        waits = hit.echo and questions.awaits(hit.chunk, hit.passage)
        reply = _reply(reader, questions, matcher, hit.chunk) if waits else None
        if reply:
            matched = matcher.matches_of(reply[1].of(reply[0].text))
            hit = hit._replace(
                chunk=reply[0], passage=reply[1], matched=matched, echo=False, answers=True
            )
        (unanswered if hit.echo else answers).append(hit)
    return answers, unanswered


def _reply(
    reader: Reader,
    questions: RecentQuestions,
    matcher: TermMatcher,
    chunk: ChunkRecord,
) -> tuple[ChunkRecord, Passage] | None:
    """Return the passage that answers in the next turn, or None.

    It is the passage with the largest share of the query after the last tool call; if none there
    has content, any passage of the turn.
    """
    following = reader.chunks_of(chunk.document.id, first=chunk.ordinal + 1, limit=_MOST_CHUNKS)
    turns = (list(turn) for _, turn in groupby(following, key=lambda one: one.headings[:1]))
    after = next((turn for turn in turns if turn[0].headings[:1] != chunk.headings[:1]), [])
    prose: list[tuple[ChunkRecord, Passage]] = []
    output, last = False, 0
    answer = (
        (one, passage)
        for one in after
        if speaker(one) == "Assistant"
        for passage in split_passages(one.text)
    )
    for place in answer:
        text = place[1].of(place[0].text)
        output |= text.startswith(_OUTPUT)
        if output or _CALL.match(text):
            last = len(prose)
        else:
            prose.append(place)
        output = output and text.rpartition("\n")[2].strip("`") != ""
    for candidates in (prose[last:], prose):
        telling = [place for place in candidates if _tells(questions, *place)]
        if telling:
            return max(telling, key=lambda one: matcher.share_of(one[1].of(one[0].text)))
    return None


def _tells(questions: RecentQuestions, chunk: ChunkRecord, passage: Passage) -> bool:
    return not (
        passage.is_question
        or _CALL.match(passage.of(chunk.text))
        or questions.echoes(chunk, passage)
    )


def _is_question(sentence: str) -> bool:
    return "?" in sentence[-4:] or "\uff1f" in sentence[-4:]


def _is_request(words: Iterable[str]) -> bool:
    """Return whether a sentence begins like a question or a request."""
    first = [*islice(dropwhile(lambda word: word in _GREETINGS, words), 3)]
    return first[:1] != [] and (first[0] in _REQUESTS or not _QUESTION_WORDS.isdisjoint(first))


def _is_search(words: Sequence[str]) -> bool:
    """Return whether a sentence announces a search, such as `Let me check the logs`."""
    rest = [*dropwhile(lambda word: word in _LEADS, words)]
    looks = rest[:1] != [] and rest[0] in _LOOKS
    return (looks and (len(rest) < len(words) or rest[0].endswith("ing"))) or (
        words[:2] in (["one", "moment"], ["hold", "on"])
    )
