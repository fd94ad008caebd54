"""Render answers as TOON, a compact format for agents, with the fields they act on."""

import re
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

import toon_format

from vault_index.output.sessions import done, held, session_rows, spent, summary_head
from vault_index.output.text import (
    cost,
    joined,
    lines,
    moment,
    more_of,
    passage,
    place,
    state,
    with_short_ids,
)
from vault_index.output.view import (
    CERTAINTY,
    WRITTEN,
    Record,
    columns,
    documents,
    explanation_lines,
    import_in_short,
    is_records,
    reading_lines,
    shown_hits,
    stored,
)
from vault_index.unicode import mended

_LINE, _CUT, _SENTENCE = 80, 28, 8
"""Token limits for the matching line of a hit.

A line of up to `_LINE` tokens is shown whole, a longer one is cut to `_CUT`. A line of fewer than
`_SENTENCE` tokens is shown with its neighbours.
"""
_DIGEST, _SHORT_DIGEST = 30, 15
"""Tokens of a digest in `related` and `timeline`, and in a list."""

_GIST = "type path title digest tokens"
"""The columns an agent needs to decide whether to open a document."""

_WORD = re.compile(r"[^\W_]+")
_MARKER = re.compile(r"^(?:[-*+>]|#+) ")
_EMPTY: tuple[object, ...] = (None, "", [], (), {})

Shape = dict[str, Any]


def render_toon(method: str, result: Record) -> str:
    """Return the answer of `method` as TOON; a diff stays plain text, for `patch` and pagers.

    Records contain only scalars, and no column that is empty in all of them, because TOON's table
    form requires both.
    """
    if method == "diff":
        return str(mended(result["text"]))
    return toon_format.encode(mended(_VIEWS.get(method, _plain)(result)))


def _search(result: Record) -> Shape:
    hits, weak = shown_hits(result)
    rows: list[Shape] = []
    several = len({hit["source"] for hit in hits}) > 1
    for hit, whole in zip(documents(hits), hits, strict=True):
        text = _passage(whole)
        known = any(row["id"] == hit["id"] for row in rows)
        path, title = (None, None) if known else _names(hit, text)
        rows.append(
            {
                "id": hit["id"],
                "score": round(hit["score"], 2),
                "source": hit["source"] if several else "",
                "type": hit["type_or_session"],
                "state": hit["state"],
                "project": hit["project"],
                "path": path,
                "lines": lines(hit),
                "title": title,
                "created": moment(hit["created"])[:10] if hit["kind"] == "memory" else "",
                "turn": hit["headings"][0] if hit["kind"] == "session" and hit["headings"] else "",
                "text": text,
                "tokens": hit["tokens"],
                "also": "|".join(hit["also"]),
                "why": "; ".join(explanation_lines(hit.get("explain"))),
            }
        )
    head_fields = {
        "degraded": result["degraded"],
        "corrections": result["corrections"],
        "confidence": CERTAINTY[result["confidence"]],
        "weak": f"{weak} (--all)" if weak else "",
        "hints": result.get("hints"),
        "reading": reading_lines(result.get("reading")),
    }
    head, table = _head(rows, "type state project created")
    return {**_filled(head_fields), **head, "results": table}


def _names(record: Record, text: str = "") -> tuple[str | None, str | None]:
    """Return path and title of a document; None for one that repeats the other or the text.

    The path of a note may contain most words of its title. The path of a memory consists of type,
    day and title, and that of a session is an id; the id of the record opens them as well.
    """
    title, path = (_WORD.findall(record[key].casefold()) for key in ("title", "path"))
    shown = record["title"] and not (text and text.startswith(record["title"].rstrip("…")))
    if record["kind"] == "note":
        return record["path"], record["title"] if shown and 2 * len(set(title) - set(path)) >= len(
            set(title)
        ) else None
    made = [*_WORD.findall(moment(record["created"])[:10]), *title]
    name = _WORD.findall(record["path"].rpartition("/")[2].removesuffix(".md").casefold())
    named = record["kind"] == "session" or (len(name) > 3 and name == made[: len(name)])
    return None if named else record["path"], record["title"] if shown else None


def _why(result: Record) -> Shape:
    hit = result["hit"]
    return _filled(
        {
            "found": result["found"],
            "rank": result["rank"],
            "place": place(result),
            "title": result["title"],
            "confidence": CERTAINTY[result["confidence"]],
            "degraded": result["degraded"],
            "corrections": result["corrections"],
            "reasons": _table(result["reasons"]),
            "hit": {"score": round(hit["score"], 2), "focus": place({**hit, "lines": hit["focus"]})}
            if hit
            else None,
            "why": explanation_lines(hit.get("explain")) if hit else None,
            "reading": reading_lines(result["reading"]),
        }
    )


def _passage(hit: Record) -> str:
    """Return the matching lines of a hit, without list or heading marks.

    For a memory, return its digest if that contains more words of the query.
    """
    snippet, spans = hit["snippet"], hit.get("spans", {})
    [(start, end)] = spans.get("focus", [(0, len(snippet))])
    matches = [
        (first - start, last - start)
        for first, last in spans.get("snippet", ())
        if start <= first and last <= end
    ]
    better = hit["kind"] == "memory" and (
        not matches or len(spans.get("digest", ())) > len(matches)
    )
    if hit["digest"] and (better or not snippet):
        return passage(hit["digest"], spans.get("digest", ()), _LINE)[0]
    line = snippet[start:end]
    if cost(line) < _SENTENCE:
        return passage(snippet, [(start, end)], 1.5 * _SENTENCE)[0]
    whole = cost(line) <= _LINE and not line.endswith("…")
    return _MARKER.sub("", passage(line, matches, _LINE if whole else _CUT)[0])


def _list(result: Record) -> Shape:
    records = [
        {
            **one,
            "updated": one["updated"] if one["kind"] == "session" else "",
            "digest": passage(one["digest"], (), _SHORT_DIGEST)[0],
        }
        for one in result["results"]
    ]
    accesses = " accesses" if result.get("sort") == "access" else ""
    names = "id source kind path title digest type state tags project created updated turns"
    names += f"{accesses} expires valid_until tokens"
    head, table = _head(
        _rows(names, records), "source kind type state tags project created expires valid_until"
    )
    return {
        **_filled({"hints": result.get("hints")}),
        "total": result["total"],
        **head,
        "results": table,
    }


def _sessions(result: Record) -> Shape:
    if "since" in result:
        return _worked(result)
    shown = "id client project title parent updated turns spent touched files commands tokens"
    rows = ({**one, "updated": moment(one["updated"])} for one in session_rows(result))
    head, table = _head(
        ({key: row[key] for key in shown.split()} for row in rows), "client project"
    )
    return {
        "total": "more" if result["total"] is None else result["total"],
        **head,
        "results": table,
    }


def _worked(result: Record) -> Shape:
    """Return a row per project."""
    rows = (
        {
            "project": work["project"],
            "time": spent(work["duration"]),
            "tokens": work["tokens"],
            "sessions": "; ".join(
                f"{title} ({rest})" if rest else title for _, title, rest in held(work)
            ),
            **dict(done(work)),
        }
        for work in result["results"]
    )
    return {"worked": summary_head(result), "total": result["total"], "results": _table(rows)}


def _related(result: Record) -> Shape:
    head, table = _head(
        _rows(f"id source kind relations cosine state {_GIST}", result["results"]),
        "source kind type state",
    )
    anchor = result["anchor"]
    known = {"anchor": joined(anchor["path"], state(anchor)), "total": result["total"]}
    beside = {"degraded": result["degraded"], "hints": result.get("hints")}
    return {**_filled(beside), **known, **head, "results": table}


def _timeline(result: Record) -> Shape:
    here, records = len(result["before"]), [*result["before"], result["anchor"], *result["after"]]
    rows = _table(_rows(f"id source kind created_at state {_GIST}", records))
    hints = _filled({"hints": result.get("hints")})
    return {
        **hints,
        "before": rows[:here],
        "anchor": _filled(rows[here]),
        "after": rows[here + 1 :],
    }


def _rows(names: str, records: Iterable[Record]) -> list[Shape]:
    """Return documents in these columns; source and kind are omitted if all are the same."""
    known = [
        {**record, **dict(zip(("path", "title"), _names(record), strict=True))}
        for record in documents(records)
    ]
    for key, usual in (("source", known[0]["source"]), ("kind", "note")) if known else ():
        if {record[key] for record in known} == {usual}:
            known = [{**record, key: ""} for record in known]
    return [
        {
            column.key: _WRITTEN[column.kind](value)
            if value is not None and column.kind in _WRITTEN
            else value
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
            "metadata": dict(more_of(text)),
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
    head_fields = _filled(
        {"degraded": result["degraded"], "confidence": CERTAINTY[result["confidence"]]}
    )
    return {
        **head_fields,
        "tokens": result["tokens"],
        "sources": _table(rows),
        "text": result["text"],
    }


def _stored(answer: Record) -> Shape:
    """Return the outcome for one memory, and memories on the same subject."""
    answer, near = stored(answer)
    return _filled(
        {
            "id": answer["id"],
            "path": answer["path"],
            "created": answer["created"],
            "duplicate_of": answer["id"] if answer["duplicate_of"] else None,
            "near": _table(near),
            "question": answer.get("question"),
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


def _review(result: Record) -> Shape:
    """Return a row per memory, with the number of its item."""
    rows = (
        {
            "item": number,
            "reason": item["reason"],
            "about": item["about"],
            **{key: one[key] for key in ("id", "path", "type", "project", "entered_by")},
            "created": moment(one["created"])[:10],
            "text": passage(one["text"] or one["title"], (), _LINE)[0],
        }
        for number, item in enumerate(result["results"], start=1)
        for one in with_short_ids(item["memories"])
    )
    return {"total": result["total"], "counts": result["counts"], "results": _table(rows)}


def _import(answer: Record) -> Shape:
    short = import_in_short(answer)
    return {"counts": short["counts"], **_outcomes(short)}


def _plain(result: Record) -> Shape:
    """Return any other answer unchanged, without nulls and empty lists; lists in records joined."""
    return {
        key: _table(map(_flat, value)) if is_records(value) else value
        for key, value in result.items()
        if value not in (None, [], (), {}) or key == "results"
    }


def _flat(record: Record) -> Shape:
    return {
        key: "|".join(map(str, value)) if isinstance(value, list | tuple) else value
        for key, value in record.items()
    }


def _head(rows: Iterable[Record], names: str) -> tuple[Shape, list[Shape]]:
    """Move columns with one value in all rows out of the table; return them and the table."""
    table = _table(rows)
    same = {
        key: table[0].get(key) for key in names.split() if len({row.get(key) for row in table}) == 1
    }
    return _filled(same), [
        {key: value for key, value in row.items() if key not in same} for row in table
    ]


def _filled(answer: Shape) -> Shape:
    return {key: value for key, value in answer.items() if value not in _EMPTY}


def _table(rows: Iterable[Record]) -> list[Shape]:
    """Remove empty columns; give every row every key, which TOON's table form requires."""
    table = list(rows)
    filled = {key for row in table for key, value in row.items() if value not in _EMPTY}
    keys = [key for key in dict.fromkeys(key for row in table for key in row) if key in filled]
    return [{key: row.get(key) for key in keys} for row in table]


_WRITTEN: Mapping[str, Callable[[Any], Any]] = {
    "day": WRITTEN["day"], "when": WRITTEN["when"], "tags": "|".join, "list": "|".join,
    "digest": _digest, "score": partial(round, ndigits=2),
}  # fmt: skip
_VIEWS: Mapping[str, Callable[[Record], Shape]] = {
    "search": _search, "why": _why, "list": _list, "sessions": _sessions, "related": _related,
    "timeline": _timeline, "get": _get, "add": _stored, "update": _stored, "delete": _outcomes,
    "archive": _outcomes, "prune": _outcomes, "capture": _outcomes, "undo": _outcomes,
    "revert": _stored, "import": _import, "recall": _recall, "review": _review, "decide": _outcomes,
    "forget": _outcomes,
}  # fmt: skip
