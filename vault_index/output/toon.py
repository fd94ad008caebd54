"""Answers as TOON, the compact form for agents: what they act on, and nothing they do not need."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import toon_format

from vault_index.output.explain import explanation_lines, reading_lines
from vault_index.output.short import cost, import_in_short, lines, moment, passage, place, query_words, short_ids, when

_HIT = 100
"""Tokens of a hit, about: the passage has what its place and title leave …"""
_PASSAGE, _LEAST_PASSAGE = 60, 14
"""… within these bounds; `get` has the rest."""
_BESIDE = {"memory": 32, "note": 22, "session": 36}
"""Tokens of the short columns."""
_PLACE_COST = 1.6
"""Digits and dashes cost more than prose."""

_DIGEST = 30
"""Tokens of a digest beside the documents of `related` and `timeline`."""

_HALF = re.compile("[\ud800-\udfff]")

Record = Mapping[str, Any]


def render_toon(method: str, result: Record) -> str:
    """Records lose what is empty in all of them, and have scalars only: TOON's table form needs both."""
    shapes = {
        "search": _search, "why": _why, "list": _list, "related": _related, "timeline": _timeline, "get": _get,
        "add": _stored, "update": _stored, "delete": _outcomes, "prune": _outcomes, "capture": _outcomes,
        "import": _import, "recall": _recall,
    }  # fmt: skip
    shape = shapes.get(method, _plain)
    return toon_format.encode(_printable(shape(result)))


def _search(result: Record) -> dict[str, Any]:
    hits = result["results"]
    ids = short_ids(hit["id"] for hit in hits)
    words = query_words(result["query"], result["corrections"])
    rows = (
        {
            "id": ids[hit["id"]],
            "score": round(hit["score"], 2),
            "type": hit["type"],
            "place": place(hit),
            "title": hit["title"],
            "created": moment(hit["created"])[:10] if hit["kind"] == "memory" else "",
            "turn": hit["headings"][0] if hit["kind"] == "session" and hit["headings"] else "",
            "text": passage(" ".join(_summary(hit).split()), words, _room(hit)),
            "tokens": hit["tokens"],
            "also": "|".join(hit["also"]),
            "why": "; ".join(explanation_lines(hit.get("explain"))),
        }
        for hit in hits
    )
    answer = {key: result[key] for key in ("degraded", "corrections") if result[key]}
    if result["confidence"] != "high":
        answer["confidence"] = result["confidence"]
    if reading := reading_lines(result.get("reading")):
        answer["reading"] = reading
    return {**answer, "results": _table(rows)}


def _why(result: Record) -> dict[str, Any]:
    hit = result["hit"]
    answer = {
        "found": result["found"],
        "rank": result["rank"],
        "place": place(result),
        "title": result["title"],
        "confidence": "" if result["confidence"] == "high" else result["confidence"],
        "degraded": result["degraded"],
        "corrections": result["corrections"],
        "reasons": _table(result["reasons"]),
        "hit": {"score": round(hit["score"], 2), "focus": place({**hit, "lines": hit["focus"]})} if hit else None,
        "why": explanation_lines(hit.get("explain")) if hit else None,
        "reading": reading_lines(result["reading"]),
    }
    return {key: value for key, value in answer.items() if value not in (None, "", [], {})}


def _room(hit: Record) -> float:
    left = _HIT - _BESIDE[hit["kind"]] - _PLACE_COST * cost(place(hit)) - cost(hit["title"])
    return max(min(left, _PASSAGE), _LEAST_PASSAGE)


def _summary(hit: Record) -> str:
    """A memory says itself what it is about; of a note, the passage that matched tells more."""
    first, second = ("digest", "snippet") if hit["kind"] == "memory" else ("snippet", "digest")
    return str(hit[first] or hit[second] or "")


def _list(result: Record) -> dict[str, Any]:
    records = result["results"]
    rows = (
        {
            **known,
            "path": record["path"],
            "title": record["title"],
            "type": record["type"],
            "tags": "|".join(record["tags"]),
            "project": record["project"],
            "created": moment(record["created"])[:10],
            "updated": moment(record["updated"])[:10] if record["kind"] == "session" else "",
            "turns": record["turns"],
            "expires": record["expires"],
            "valid_until": record["valid_until"],
            "tokens": record["tokens"],
        }
        for record, known in zip(records, _identities(records), strict=True)
    )
    return {"total": result["total"], "results": _table(rows)}


def _related(result: Record) -> dict[str, Any]:
    records = result["results"]
    rows = (
        {
            **known,
            "relations": "|".join(record["relations"]),
            "cosine": None if record["cosine"] is None else round(record["cosine"], 2),
            **_gist(record),
        }
        for record, known in zip(records, _identities(records), strict=True)
    )
    degraded = {"degraded": result["degraded"]} if result["degraded"] else {}
    return {**degraded, "anchor": result["anchor"]["path"], "total": result["total"], "results": _table(rows)}


def _timeline(result: Record) -> dict[str, Any]:
    before, anchor, after = result["before"], result["anchor"], result["after"]
    records = [*before, anchor, *after]
    rows = _table(
        {**known, "created": when(record["created"]), **_gist(record)}
        for record, known in zip(records, _identities(records), strict=True)
    )
    here = len(before)
    return {"before": rows[:here], "anchor": rows[here], "after": rows[here + 1 :]}


def _identities(records: Sequence[Record]) -> list[dict[str, Any]]:
    """What tells documents apart: a short id, and source and kind where they differ."""
    ids = short_ids(record["id"] for record in records)
    same = {key: len({record[key] for record in records}) == 1 for key in ("kind", "source")}
    return [
        {
            "id": ids[record["id"]],
            "source": "" if same["source"] else record["source"],
            "kind": "" if same["kind"] and record["kind"] == "note" else record["kind"],
        }
        for record in records
    ]


def _gist(record: Record) -> dict[str, Any]:
    """What an agent needs to know before it opens a document, and what opening costs."""
    return {
        "type": record["type"],
        "path": record["path"],
        "title": record["title"],
        "digest": passage(" ".join(record["digest"].split()), (), _DIGEST),
        "tokens": record["tokens"],
    }


def _get(result: Record) -> dict[str, Any]:
    texts = result["results"]
    ids = short_ids(text["id"] for text in texts)
    rows = (
        {
            "id": ids[text["id"]],
            "path": text["path"],
            "lines": lines(text),
            "tokens": text["tokens"],
            "next": text["next"],
            "metadata": text.get("metadata"),
            "content": text["content"],
        }
        for text in texts
    )
    return {"results": _table(rows)}


def _recall(result: Record) -> dict[str, Any]:
    ids = short_ids(source["id"] for source in result["sources"])
    rows = (
        {
            "id": ids[source["id"]],
            "why": source["why"],
            "place": place(source),
            "title": source["title"],
            "cut": "" if source["whole"] else "cut",
        }
        for source in result["sources"]
    )
    degraded = {"degraded": result["degraded"]} if result["degraded"] else {}
    known = {"confidence": result["confidence"], "tokens": result["tokens"]}
    return {**degraded, **known, "sources": _table(rows), "text": result["text"]}


def _stored(answer: Record) -> dict[str, Any]:
    """What became of one memory; those that say nearly the same, by ids that can be asked for."""
    ids = short_ids([answer["id"], *(near["id"] for near in answer["near"])])
    near = _table({**one, "id": ids[one["id"]]} for one in answer["near"])
    shown = {
        "id": ids[answer["id"]],
        "path": answer["path"],
        "created": answer["created"],
        "duplicate_of": ids[answer["id"]] if answer["duplicate_of"] else None,
        "near": near,
        "warnings": answer["warnings"],
    }
    return {key: value for key, value in shown.items() if value not in (None, [], ())}


def _outcomes(answer: Record) -> dict[str, Any]:
    ids = short_ids(outcome["id"] for outcome in answer["results"])
    rows = (
        {
            "outcome": outcome["outcome"],
            "id": ids[outcome["id"]],
            "path": outcome["path"],
            "title": outcome["title"],
            **_flat(outcome["details"]),
        }
        for outcome in answer["results"]
    )
    failed = {"failed": _table(answer["failed"])} if answer["failed"] else {}
    return {"results": _even(_table(rows)), **failed}


def _import(answer: Record) -> dict[str, Any]:
    short = import_in_short(answer)
    return {"counts": short["counts"], **_outcomes(short)}


def _even(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Every row with every key: TOON's table form needs that."""
    keys = list(dict.fromkeys(key for row in rows for key in row))
    return [{key: row.get(key) for key in keys} for row in rows]


def _plain(result: Record) -> dict[str, Any]:
    """Any other answer as it is, without nulls and empty lists; records with lists joined."""
    return {
        key: _table(_flat(item) for item in value) if _is_records(value) else value
        for key, value in result.items()
        if value not in (None, [], (), {}) or key == "results"
    }


def _is_records(value: object) -> bool:
    return isinstance(value, list | tuple) and bool(value) and all(isinstance(item, dict) for item in value)


def _flat(record: Record) -> dict[str, Any]:
    return {
        key: "|".join(map(str, value)) if isinstance(value, list | tuple) else value for key, value in record.items()
    }


def _table(rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    table = list(rows)
    empty = {key for row in table for key in row} - {
        key for row in table for key, value in row.items() if value not in (None, "", [], (), {})
    }
    return [{key: value for key, value in row.items() if key not in empty} for row in table]


def _printable(value: Any) -> Any:
    """Halves of characters (from file names that are no UTF-8) have no TOON form and become U+FFFD."""
    if isinstance(value, str):
        return _HALF.sub("\ufffd", value)
    if isinstance(value, dict):
        return {_printable(key): _printable(item) for key, item in value.items()}
    return [_printable(item) for item in value] if isinstance(value, list | tuple) else value
