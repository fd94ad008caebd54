"""Answers of `api.dispatch` to render; their usual values are in answers.json."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from vault_index.results.base import Failure, Problem
from vault_index.results.changes import EmbedPlan, EmbedReport, EmbedStatus, SyncReport
from vault_index.results.documents import DocumentList, DocumentRecord, RelatedList, RelatedRecord, Relation, Timeline
from vault_index.results.search import Explanation, Hit, QueryReading, SearchResult, Why, WordReading
from vault_index.results.status import (
    DoctorReport,
    HardToFind,
    Privacy,
    RecallReport,
    SentRecord,
    SourceStatus,
    Stats,
    Status,
    TagCount,
    TagList,
)
from vault_index.results.texts import DocumentText, Recall, Texts

USUAL: dict[str, dict[str, Any]] = json.loads(Path(__file__).with_name("answers.json").read_text("utf-8"))


def jsonable(value: Any) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(json.dumps(asdict(value)))
    return answer


def hit(number: int = 0, **changes: Any) -> Hit:
    own = {
        "id": f"{0x5F0C3F0E + number * 0x1234567:08x}-8a1b-4c2d-9e3f-6b7a8c9d0e1f",
        "path": f"30-code/databases/sqlite-wal-{number}.md",
        "score": 0.9312 - number / 20,
    }
    return Hit(**(USUAL["hit"] | own | changes))


def search(*hits: Hit, **changes: Any) -> dict[str, Any]:
    return jsonable(SearchResult(**(USUAL["search"] | {"results": hits} | changes)))


def explanation(*words: str) -> Explanation:
    """The explanation of a passage with the first word as typed, the second as corrected, without the third."""
    return Explanation(**USUAL["explanation"], matched=words[:1], corrected=words[1:2], missing=words[2:])


def reading(word: str = "wal") -> QueryReading:
    words = (WordReading(word, 3.21, 12, ()), WordReading("dokcer", 6.5, 7, ("docker", word)))
    return QueryReading(words, required=f'"{word} mode"', excluded=word, filters=("kind:memory", f"tag:{word}"))


def why(**changes: Any) -> dict[str, Any]:
    own = {"hit": hit(explain=explanation("wal", "dokcer", "journal")), "reading": reading()}
    return jsonable(Why(**(USUAL["why"] | own | changes)))


def record(number: int = 0, **changes: Any) -> DocumentRecord:
    known: dict[str, Any] = asdict(hit(number)) | {"turns": None}
    fields = DocumentRecord.__dataclass_fields__
    return DocumentRecord(**({key: known[key] for key in fields} | changes))


def documents(*records: DocumentRecord, total: int | None = None) -> dict[str, Any]:
    return jsonable(DocumentList(records, len(records) if total is None else total))


def related(*records: RelatedRecord, **changes: Any) -> dict[str, Any]:
    own = {"anchor": record(title="WAL", path="wal.md"), "results": records, "total": len(records)}
    return jsonable(RelatedList(**(USUAL["related"] | own | changes)))


def relative(number: int = 0, *relations: Relation, **changes: Any) -> RelatedRecord:
    own = {"relations": relations or ("near",), "cosine": 0.7123}
    return RelatedRecord(**(asdict(record(number)) | own | changes))


def timeline(
    before: tuple[DocumentRecord, ...] = (), after: tuple[DocumentRecord, ...] = (), **changes: Any
) -> dict[str, Any]:
    return jsonable(Timeline(record(9, **changes), before, after))


def text(**changes: Any) -> DocumentText:
    return DocumentText(**(USUAL["text"] | changes))


def texts(*several: DocumentText) -> dict[str, Any]:
    return jsonable(Texts(several))


def tags(**counts: int) -> dict[str, Any]:
    return jsonable(TagList(tuple(TagCount(tag, count) for tag, count in counts.items()), len(counts)))


def recall(**changes: Any) -> dict[str, Any]:
    return jsonable(Recall(**(USUAL["recall"] | changes)))


def status(**changes: Any) -> dict[str, Any]:
    return jsonable(Status(**(USUAL["status"] | changes)))


def doctor(*hard: HardToFind, problems: tuple[Problem, ...] = ()) -> dict[str, Any]:
    return jsonable(DoctorReport(not problems, problems, RecallReport(**(USUAL["doctor"] | {"hard": hard}))))


def plan(**changes: Any) -> dict[str, Any]:
    return jsonable(EmbedPlan(**(USUAL["plan"] | changes)))


def every_answer(words: str = "plain") -> list[tuple[str, dict[str, Any]]]:
    """One answer of every shape, with `words` wherever it can contain text of a note."""
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
