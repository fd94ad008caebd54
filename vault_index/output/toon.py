"""Answers as TOON, the compact form for agents: what they act on, and nothing they do not need."""

import re
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

import toon_format

from vault_index.output.short import cost, lines, moment, passage, place, with_short_ids
from vault_index.output.view import (
    WRITTEN,
    Record,
    columns,
    documents,
    explanation_lines,
    hit_text,
    import_in_short,
    is_records,
    reading_lines,
)

# Tokens, about: of a hit, whose passage has what the place and the title leave; of a passage, the most and the least;
# of the short columns beside it; of a digest beside the documents of `related` and `timeline`.
_HIT = 100
_PASSAGE, _LEAST_PASSAGE = 60, 14
_BESIDE = {"memory": 36, "note": 22, "session": 36}
_DIGEST = 30
_PLACE_COST = 1.6  # times that of prose: digits and dashes cost more

# What an agent needs to know before it opens a document, and what opening costs.
_GIST = "type path title digest tokens"

_EMPTY: tuple[object, ...] = (None, "", [], (), {})
_HALF = re.compile("[\ud800-\udfff]")

Shape = dict[str, Any]


def render_toon(method: str, result: Record) -> str:
    """Records lose what is empty in all of them, and have scalars only: TOON's table form needs both."""
    return toon_format.encode(_printable(_VIEWS.get(method, _plain)(result)))


def _search(result: Record) -> Shape:
    rows = (
        {
            "id": hit["id"],
            "score": round(hit["score"], 2),
            "type": hit["type"],
            "place": place(hit),
            "title": hit["title"],
            "created": moment(hit["created"])[:10] if hit["kind"] == "memory" else "",
            "turn": hit["headings"][0] if hit["kind"] == "session" and hit["headings"] else "",
            "text": _passage(hit),
            "tokens": hit["tokens"],
            "also": "|".join(hit["also"]),
            "why": "; ".join(explanation_lines(hit.get("explain"))),
        }
        for hit in with_short_ids(result["results"])
    )
    beside = {
        "degraded": result["degraded"],
        "corrections": result["corrections"],
        "confidence": _unless_high(result),
        "reading": reading_lines(result.get("reading")),
    }
    return {**_filled(beside), "results": _table(rows)}


def _why(result: Record) -> Shape:
    hit = result["hit"]
    return _filled(
        {
            "found": result["found"],
            "rank": result["rank"],
            "place": place(result),
            "title": result["title"],
            "confidence": _unless_high(result),
            "degraded": result["degraded"],
            "corrections": result["corrections"],
            "reasons": _table(result["reasons"]),
            "hit": {"score": round(hit["score"], 2), "focus": place({**hit, "lines": hit["focus"]})} if hit else None,
            "why": explanation_lines(hit.get("explain")) if hit else None,
            "reading": reading_lines(result["reading"]),
        }
    )


def _unless_high(result: Record) -> str:
    return "" if result["confidence"] == "high" else result["confidence"]


def _passage(hit: Record) -> str:
    """A memory says itself what it is about; of a note, the passage that matched tells more."""
    names = ("digest", "snippet") if hit["kind"] == "memory" else ("snippet", "digest")
    left = _HIT - _BESIDE[hit["kind"]] - _PLACE_COST * cost(place(hit)) - cost(hit["title"])
    return hit_text(hit, names, max(min(left, _PASSAGE), _LEAST_PASSAGE))[0]


def _list(result: Record) -> Shape:
    records = [{**one, "updated": one["updated"] if one["kind"] == "session" else ""} for one in result["results"]]
    names = "id source kind path title type tags project created updated turns expires valid_until tokens"
    return {"total": result["total"], "results": _table(_rows(names, records))}


def _related(result: Record) -> Shape:
    rows = _table(_rows(f"id source kind relations cosine {_GIST}", result["results"]))
    known = {"anchor": result["anchor"]["path"], "total": result["total"]}
    return {**_filled({"degraded": result["degraded"]}), **known, "results": rows}


def _timeline(result: Record) -> Shape:
    here, records = len(result["before"]), [*result["before"], result["anchor"], *result["after"]]
    rows = _table(_rows(f"id source kind created_at {_GIST}", records))
    return {"before": rows[:here], "anchor": rows[here], "after": rows[here + 1 :]}


def _rows(names: str, records: Iterable[Record]) -> list[Shape]:
    """Documents in these columns, with source and kind where they tell them apart."""
    known = documents(records)
    if len({record["source"] for record in known}) == 1:
        known = [{**record, "source": ""} for record in known]
    if {record["kind"] for record in known} == {"note"}:
        known = [{**record, "kind": ""} for record in known]
    return [
        {
            column.key: _WRITTEN[column.kind](value) if value is not None and column.kind in _WRITTEN else value
            for column in columns(names)
            for value in [record[column.key]]
        }
        for record in known
    ]


def _digest(text: str) -> str:
    return passage(text, (), _DIGEST)[0]


def _get(result: Record) -> Shape:
    rows = (
        {
            "id": text["id"],
            "path": text["path"],
            "lines": lines(text),
            "tokens": text["tokens"],
            "next": text["next"],
            "metadata": text.get("metadata"),
            "content": text["content"],
        }
        for text in with_short_ids(result["results"])
    )
    return {"results": _table(rows), **_filled({"failed": _table(result.get("failed", ()))})}


def _recall(result: Record) -> Shape:
    rows = (
        {
            "id": source["id"],
            "why": source["why"],
            "place": place(source),
            "title": source["title"],
            "cut": "" if source["whole"] else "cut",
        }
        for source in with_short_ids(result["sources"])
    )
    known = {"confidence": result["confidence"], "tokens": result["tokens"]}
    return {**_filled({"degraded": result["degraded"]}), **known, "sources": _table(rows), "text": result["text"]}


def _stored(answer: Record) -> Shape:
    """What became of one memory; those that say nearly the same, by ids that can be asked for."""
    answer, *near = with_short_ids([answer, *answer["near"]])
    return _filled(
        {
            "id": answer["id"],
            "path": answer["path"],
            "created": answer["created"],
            "duplicate_of": answer["id"] if answer["duplicate_of"] else None,
            "near": _table(near),
            "warnings": answer["warnings"],
            "degraded": answer.get("degraded", ()),
        }
    )


def _outcomes(answer: Record) -> Shape:
    rows = (
        {
            "outcome": outcome["outcome"],
            "id": outcome["id"],
            "path": outcome["path"],
            "title": outcome["title"],
            **_flat(outcome["details"]),
        }
        for outcome in with_short_ids(answer["results"])
    )
    return {"results": _table(rows), **_filled({"failed": _table(answer["failed"])})}


def _import(answer: Record) -> Shape:
    short = import_in_short(answer)
    return {"counts": short["counts"], **_outcomes(short)}


def _plain(result: Record) -> Shape:
    """Any other answer as it is, without nulls and empty lists; records with lists joined."""
    return {
        key: _table(map(_flat, value)) if is_records(value) else value
        for key, value in result.items()
        if value not in (None, [], (), {}) or key == "results"
    }


def _flat(record: Record) -> Shape:
    return {
        key: "|".join(map(str, value)) if isinstance(value, list | tuple) else value for key, value in record.items()
    }


def _filled(answer: Shape) -> Shape:
    return {key: value for key, value in answer.items() if value not in _EMPTY}


def _table(rows: Iterable[Record]) -> list[Shape]:
    """Without columns that are empty; every row with every key, as TOON's table form needs it."""
    table = list(rows)
    filled = {key for row in table for key, value in row.items() if value not in _EMPTY}
    keys = [key for key in dict.fromkeys(key for row in table for key in row) if key in filled]
    return [{key: row.get(key) for key in keys} for row in table]


def _printable(value: Any) -> Any:
    """Halves of characters (from file names that are no UTF-8) have no TOON form and become U+FFFD."""
    if isinstance(value, str):
        return _HALF.sub("\ufffd", value)
    if isinstance(value, dict):
        return {_printable(key): _printable(item) for key, item in value.items()}
    return [_printable(item) for item in value] if isinstance(value, list | tuple) else value


_WRITTEN: Mapping[str, Callable[[Any], Any]] = {
    "day": WRITTEN["day"], "when": WRITTEN["when"], "tags": "|".join, "list": "|".join, "digest": _digest,
    "score": partial(round, ndigits=2),
}  # fmt: skip
_VIEWS: Mapping[str, Callable[[Record], Shape]] = {
    "search": _search, "why": _why, "list": _list, "related": _related, "timeline": _timeline, "get": _get,
    "add": _stored, "update": _stored, "delete": _outcomes, "prune": _outcomes, "capture": _outcomes,
    "import": _import, "recall": _recall,
}  # fmt: skip
