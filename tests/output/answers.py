"""Answers as `api.dispatch` gives them, to be rendered."""

import json
from dataclasses import asdict
from typing import Any

from vault_index import models

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


def hit(number: int = 0, **changes: Any) -> models.Hit:
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
    }
    return models.Hit(**(values | changes))


def search(*hits: models.Hit, **changes: Any) -> dict[str, Any]:
    values: dict[str, Any] = {
        "query": "do readers wait",
        "mode": "hybrid",
        "confidence": "high",
        "degraded": (),
        "corrections": {},
        "took_ms": 8.1,
        "results": hits,
    }
    return jsonable(models.SearchResult(**(values | changes)))


def record(number: int = 0, **changes: Any) -> models.DocumentRecord:
    known = asdict(hit(number))
    fields = models.DocumentRecord.__dataclass_fields__
    return models.DocumentRecord(**({key: known[key] for key in fields} | changes))


def documents(*records: models.DocumentRecord, total: int | None = None) -> dict[str, Any]:
    return jsonable(models.DocumentList(records, len(records) if total is None else total))


def text(**changes: Any) -> models.DocumentText:
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
    return models.DocumentText(**(values | changes))


def texts(*several: models.DocumentText) -> dict[str, Any]:
    return jsonable(models.Texts(several))


def tags(**counts: int) -> dict[str, Any]:
    return jsonable(models.TagList(tuple(models.TagCount(tag, count) for tag, count in counts.items()), len(counts)))


def status(**changes: Any) -> dict[str, Any]:
    values: dict[str, Any] = {
        "version": "0.1.0",
        "daemon": models.DaemonStatus(True, 4711, "2026-11-21T10:00:00+00:00"),
        "sources": (models.SourceStatus("vault", "vault", "/home/me/Vault", 173, 1204, 2),),
        "index": models.IndexStatus(173, 1204, 1190, 14, 34_567_890),
        "embedder": models.EmbedderStatus("local", "all-MiniLM-L6-v2", 384, True),
        "watch": models.WatchStatus("native", "2026-11-21T10:01:00+00:00", None, 0),
        "problems": (models.Problem("frontmatter", "a.md:3: broken frontmatter", "mend the YAML"),),
    }
    return jsonable(models.Status(**(values | changes)))


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
    return jsonable(models.EmbedPlan(**(values | changes)))


def every_answer(words: str = "plain") -> list[tuple[str, dict[str, Any]]]:
    """One answer of every shape, with `words` wherever text of a note can stand."""
    found = hit(title=words, headings=(words,), snippet=words, digest=words, tags=(words,), path=words, also=(words,))
    listed = record(title=words, path=words, tags=(words,), type=words, link=words)
    problem = models.Problem("x", words, words)
    report = models.SyncReport(3, failed=(models.Failure(words, words),), problems=(problem,), pending=1, chunks=2)
    sent = models.SentRecord("2026-11-21", words, words, words, words, 1, 2)
    numbers = models.Stats(3, 1, 0, 2, 9, 4, 1, None, 2, words, 12)
    return [
        ("search", search(found, query=words, degraded=(words,), corrections={words: words})),
        ("search", search(query=words, confidence="none")),
        ("search", search(query=words)),
        ("get", texts(text(title=words, path=words, content=words, next=words, metadata={words: [words]}))),
        ("list", documents(listed)),
        ("list", documents()),
        ("tags", tags(**{words: 3})),
        ("tags", tags()),
        ("stats", jsonable(numbers)),
        ("status", status(problems=(problem,), sources=(models.SourceStatus(words, "vault", words, 1, 2, 3),))),
        ("status", jsonable(models.Privacy((sent,), 1))),
        ("status", jsonable(models.Privacy((), 0))),
        ("sync", jsonable(report)),
        ("rebuild", jsonable(models.SyncReport(3, unchanged=3))),
        ("embed", plan(model=words, endpoint=words)),
        ("embed", jsonable(models.EmbedReport(3, 2, 1, 0.5, (problem,)))),
        ("embed", jsonable(models.EmbedStatus("local", words, "", 384, 9, 8, 1, 0, 0, 0, words))),
        ("init", {"config": words, "source": words, "vault": words, "created": True, "added": True, "daemon": False,
                  "sync": jsonable(report)}),
        ("config_list", {"results": [{"key": words, "value": [words], "origin": "file"}], "total": 1}),
    ]  # fmt: skip
