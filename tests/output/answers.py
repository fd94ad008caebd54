"""Answers as `api.dispatch` gives them, to be rendered."""

import json
from dataclasses import asdict
from typing import Any

from vault_index.results.base import Failure, Problem
from vault_index.results.changes import EmbedPlan, EmbedReport, EmbedStatus, SyncReport
from vault_index.results.counts import Stats, TagCount, TagList
from vault_index.results.documents import DocumentList, DocumentRecord, RelatedList, RelatedRecord, Relation, Timeline
from vault_index.results.search import ChannelEvidence, Explanation, Hit, QueryReading, SearchResult, Why, WordReading
from vault_index.results.status import (
    DaemonStatus,
    DoctorReport,
    EmbedderStatus,
    HardToFind,
    IndexStatus,
    LanguageShare,
    ModelComparison,
    ModelRecall,
    Privacy,
    RecallOfClass,
    RecallReport,
    SentRecord,
    SourceStatus,
    Status,
    WatchStatus,
)
from vault_index.results.texts import DocumentText, Recall, RecalledSource, Texts

SNIPPET = (
    "WAL lets readers run while the daemon writes, so that search never waits for a sync. The log is bounded by "
    "`journal_size_limit`, and a TRUNCATE checkpoint runs when it is idle; readers fetch all rows and close."
)
NASTY = (
    "- a dash, and a comma",
    'a "quote" and a \\ backslash',
    "two\nlines\r\nthree",
    "数据库: 读者从不等待",
    "[x] {y}: z",
    "42",
    "-1.5e3",
    "true",
    "null",
    "# heading",
    "",
    "tab\there",
    "a | b",
    "\u2028 \x85 \x0b \x1b[31m",
    "emoji 🧪 and ﬁ",
)


def jsonable(value: Any) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(json.dumps(asdict(value)))
    return answer


def hit(number: int = 0, **changes: Any) -> Hit:
    values: dict[str, Any] = {
        "id": f"{0x5F0C3F0E + number * 0x1234567:08x}-8a1b-4c2d-9e3f-6b7a8c9d0e1f",
        "kind": "note",
        "source": "vault",
        "path": f"30-code/databases/sqlite-wal-{number}.md",
        "title": "Use WAL mode for the index",
        "headings": ("Use WAL mode for the index", "Consequences"),
        "lines": (20, 31),
        "score": 0.9312 - number / 20,
        "tags": ("sqlite", "ops/storage"),
        "type": None,
        "digest": "WAL lets readers run while the daemon writes.",
        "snippet": SNIPPET,
        "focus": (27, 27),
        "tokens": 118,
        "created": "2026-11-21T10:00:00+00:00",
        "updated": "2026-11-21T10:00:00+00:00",
        "entered_by": None,
        "project": None,
        "expires": None,
        "valid_until": None,
        "confidence": None,
        "accesses": 0,
        "changed_since_index": False,
        "also": (),
        "link": "obsidian://open?vault=Vault&file=30-code%2Fdatabases%2Fsqlite-wal",
        "spans": {"snippet": ((9, 16),), "digest": ()},
    }
    return Hit(**(values | changes))


def search(*hits: Hit, **changes: Any) -> dict[str, Any]:
    values: dict[str, Any] = {
        "query": "do readers wait",
        "mode": "hybrid",
        "confidence": "high",
        "degraded": (),
        "corrections": {},
        "took_ms": 8.1,
        "results": hits,
    }
    return jsonable(SearchResult(**(values | changes)))


def explanation(*words: str, **changes: Any) -> Explanation:
    """Of a passage that says the first of the words as typed, the second as corrected and the third not at all."""
    values: dict[str, Any] = {
        "channels": {"text": ChannelEvidence(3, 12.1), "vector": ChannelEvidence(1, 0.61)},
        "coverage": 0.72,
        "matched": words[:1],
        "corrected": words[1:2],
        "missing": words[2:],
        "parts": {"text": 0.25, "vector": 0.31, "path": 0.0, "passage": 0.17},
        "factors": {"recency": 0.98},
    }
    return Explanation(**(values | changes))


def reading(word: str = "wal", **changes: Any) -> QueryReading:
    values: dict[str, Any] = {
        "words": (WordReading(word, 3.21, 12, ()), WordReading("dokcer", 6.5, 7, ("docker", word))),
        "required": f'"{word} mode"',
        "excluded": word,
        "filters": ("kind:memory", f"tag:{word}"),
    }
    return QueryReading(**(values | changes))


def why(**changes: Any) -> dict[str, Any]:
    values: dict[str, Any] = {
        "query": "wal mode",
        "mode": "hybrid",
        "id": "5f0c3f0e-8a1b-4c2d-9e3f-6b7a8c9d0e1f",
        "source": "vault",
        "path": "30-code/wal.md",
        "title": "WAL",
        "lines": (27, 27),
        "found": False,
        "rank": 12,
        "limit": 10,
        "confidence": "high",
        "degraded": (),
        "corrections": {},
        "reasons": (Problem("beyond_limit", "It would be hit 12; the answer ends after 10.", "raise --limit to 12"),),
        "hit": hit(explain=explanation("wal", "dokcer", "journal")),
        "reading": reading(),
    }
    return jsonable(Why(**(values | changes)))


def record(number: int = 0, **changes: Any) -> DocumentRecord:
    known: dict[str, Any] = asdict(hit(number)) | {"turns": None}
    fields = DocumentRecord.__dataclass_fields__
    return DocumentRecord(**({key: known[key] for key in fields} | changes))


def documents(*records: DocumentRecord, total: int | None = None) -> dict[str, Any]:
    return jsonable(DocumentList(records, len(records) if total is None else total))


def related(*records: RelatedRecord, **changes: Any) -> dict[str, Any]:
    values: dict[str, Any] = {"anchor": record(title="WAL", path="wal.md"), "results": records, "total": len(records)}
    return jsonable(RelatedList(**(values | changes)))


def relative(number: int = 0, *relations: Relation, **changes: Any) -> RelatedRecord:
    values: dict[str, Any] = {"relations": relations or ("near",), "cosine": 0.7123}
    return RelatedRecord(**(asdict(record(number)) | values | changes))


def timeline(
    before: tuple[DocumentRecord, ...] = (), after: tuple[DocumentRecord, ...] = (), **changes: Any
) -> dict[str, Any]:
    return jsonable(Timeline(record(9, **changes), before, after))


def text(**changes: Any) -> DocumentText:
    values: dict[str, Any] = {
        "id": "5f0c3f0e-8a1b-4c2d-9e3f-6b7a8c9d0e1f",
        "kind": "note",
        "source": "vault",
        "path": "30-code/wal.md",
        "title": "WAL",
        "lines": (10, 42),
        "tokens": 300,
        "content": "# WAL\n\nReaders never wait.\n",
        "next": None,
    }
    return DocumentText(**(values | changes))


def texts(*several: DocumentText) -> dict[str, Any]:
    return jsonable(Texts(several))


def tags(**counts: int) -> dict[str, Any]:
    return jsonable(TagList(tuple(TagCount(tag, count) for tag, count in counts.items()), len(counts)))


def recall(**changes: Any) -> dict[str, Any]:
    source = RecalledSource(
        id="5f0c3f0e-8a1b-4c2d-9e3f-6b7a8c9d0e1f",
        kind="memory",
        source="vault",
        path="80-memory/decision/wal.md",
        title="WAL",
        lines=(9, 12),
        type="decision",
        created="2026-11-21T10:00:00+00:00",
        entered_by="ann",
        project=None,
        why="query",
        whole=False,
    )
    values: dict[str, Any] = {"text": "`wal.md:9`\n> WAL", "tokens": 9, "confidence": "high", "sources": (source,)}
    return jsonable(Recall(**(values | changes)))


def status(**changes: Any) -> dict[str, Any]:
    values: dict[str, Any] = {
        "version": "0.1.0",
        "daemon": DaemonStatus(True, 4711, "2026-11-21T10:00:00+00:00"),
        "sources": (SourceStatus("vault", "vault", "/home/me/Vault", 173, 1204, 2),),
        "index": IndexStatus(173, 1204, 1190, 14, 34_567_890),
        "embedder": EmbedderStatus("local", "all-MiniLM-L6-v2", 384, True),
        "watch": WatchStatus("native", "2026-11-21T10:01:00+00:00", None, 0),
        "problems": (Problem("frontmatter", "a.md:3: broken frontmatter", "mend the YAML"),),
    }
    return jsonable(Status(**(values | changes)))


def doctor(*hard: HardToFind, problems: tuple[Problem, ...] = ()) -> dict[str, Any]:
    classes = (RecallOfClass("title", 150, 0.9933), RecallOfClass("alias", 40, 0.925))
    models = (
        ModelRecall("all-MiniLM-L6-v2", 0.71, (0.93, 0.21), 61.0, 50, 0, ""),
        ModelRecall("multilingual-e5-small", None, (), None, 80, 76, "pip install it"),
    )
    languages = (LanguageShare("English", 0.7), LanguageShare("Cyrillic", 0.3))
    compared = ModelComparison("all-MiniLM-L6-v2", 0.7, 400, 2400, languages, models, 31.5)
    recall = RecallReport(150, 190, 0.9789, classes, hard, 2.4, compared)
    return jsonable(DoctorReport(not problems, problems, recall))


def plan(**changes: Any) -> dict[str, Any]:
    values: dict[str, Any] = {
        "provider": "openai",
        "model": "text-embedding-3-small",
        "endpoint": "https://api.openai.com/v1",
        "chunks": 1204,
        "cached": 20,
        "kept_local": 4,
        "tokens": 340_112,
        "price": 0.0068,
        "spent_today": 0,
        "daily_token_limit": 100_000,
    }
    return jsonable(EmbedPlan(**(values | changes)))


def every_answer(words: str = "plain") -> list[tuple[str, dict[str, Any]]]:
    """One answer of every shape, with `words` wherever text of a note can stand."""
    found = hit(title=words, headings=(words,), snippet=words, digest=words, tags=(words,), path=words, also=(words,))
    listed = record(title=words, path=words, tags=(words,), type=words, link=words)
    problem = Problem("x", words, words)
    report = SyncReport(3, failed=(Failure(words, words),), problems=(problem,), pending=1, chunks=2)
    sent = SentRecord("2026-11-21", words, words, words, words, 1, 2)
    numbers = Stats(3, 1, 0, 2, 9, 4, 1, None, 2, words, 12)
    return [
        ("search", search(found, query=words, degraded=(words,), corrections={words: words})),
        ("search", search(query=words, confidence="none")),
        ("search", search(hit(explain=explanation(words, words, words)), query=words, reading=reading(words))),
        ("why", why(query=words, path=words, title=words, degraded=(words,), corrections={words: words},
                    reasons=(Problem("filtered", words, words),), reading=reading(words),
                    hit=hit(title=words, snippet=words, explain=explanation(words, words, words)))),
        ("why", why(id=None, title=None, lines=None, rank=None, hit=None, reading=None, path=words)),
        ("search", search(query=words)),
        ("get", texts(text(title=words, path=words, content=words, next=words, metadata={words: [words]}))),
        ("list", documents(listed)),
        ("list", documents()),
        ("related", related(relative(title=words, path=words, link=words, digest=words), anchor=listed)),
        ("related", related(degraded=(words,), anchor=listed)),
        ("timeline", timeline((listed,), (listed,), title=words, path=words)),
        ("timeline", timeline(title=words)),
        ("recall", recall(text=words, degraded=(words,))),
        ("tags", tags(**{words: 3})),
        ("tags", tags()),
        ("stats", jsonable(numbers)),
        ("status", status(problems=(problem,), sources=(SourceStatus(words, "vault", words, 1, 2, 3),))),
        ("status", jsonable(Privacy((sent,), 1))),
        ("status", jsonable(Privacy((), 0))),
        ("sync", jsonable(report)),
        ("rebuild", jsonable(SyncReport(3, unchanged=3))),
        ("doctor", doctor(HardToFind(words, "alias", words, None), problems=(problem,))),
        ("doctor", jsonable(DoctorReport(True, (), RecallReport(0, 0, 0.0, (), (), 0.0)))),
        ("doctor", jsonable(DoctorReport(True, ()))),
        ("embed", plan(model=words, endpoint=words)),
        ("embed", jsonable(EmbedReport(3, 2, 1, 0.5, (problem,)))),
        ("embed", jsonable(EmbedStatus("local", words, "", 384, 9, 8, 1, 0, 0, 0, words))),
        ("init", {"config": words, "source": words, "vault": words, "created": True, "added": True, "daemon": False,
                  "sync": jsonable(report)}),
        ("config_list", {"results": [{"key": words, "value": [words], "origin": "file"}], "total": 1}),
    ]  # fmt: skip
