"""Answers as markdown, to be pasted into a note or read by an agent."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from vault_index.output.explain import explanation_lines, reading_lines
from vault_index.output.short import import_in_short, lines, metadata, moment, place, short_ids, when

Record = Mapping[str, Any]
_SPECIAL = re.compile(r"([\\`*_\[\]<>|#])")


def render_markdown(method: str, result: Record) -> str:
    shapes = {
        "search": _search, "why": _why, "list": _list, "related": _related, "timeline": _timeline, "get": _get,
        "tags": _tags, "delete": _outcomes, "prune": _outcomes, "capture": _outcomes,
        "import": _import, "recall": _recall,
    }  # fmt: skip
    return shapes.get(method, _plain)(result)


def _search(result: Record) -> str:
    hits = result["results"]
    notes = [f"Degraded: {_text('; '.join(result['degraded']))}."] if result["degraded"] else []
    notes += [f"Read as: {_text(old)} → {_text(new)}." for old, new in result["corrections"].items()]
    if result["confidence"] == "none":
        notes.insert(0, f"Nothing in the vault answers “{_text(result['query'])}”.")
    elif not hits:
        notes.append(f"Nothing found for “{_text(result['query'])}”.")
    notes += _bullets(reading_lines(result.get("reading")))
    ids = short_ids(hit["id"] for hit in hits)
    return "\n\n".join([*notes, *(_hit(hit, ids[hit["id"]]) for hit in hits)])


def _hit(hit: Record, short: str) -> str:
    title = " › ".join(dict.fromkeys([hit["title"], *hit["headings"]]))
    tags = "".join(f" #{tag}" for tag in hit["tags"])
    body = _quoted(hit["snippet"] or hit["digest"])
    head = f"**{_text(title)}** ({hit['score']:.2f}) {_code(place(hit))} {_code(short)}{tags}"
    return "\n\n".join(filter(None, [head, body, *_bullets(explanation_lines(hit.get("explain")))]))


def _why(result: Record) -> str:
    verdict = "Found" if result["found"] else "Not found"
    title = f" **{_text(result['title'])}**" if result["title"] else ""
    reasons = [
        f"{reason['message']} ({reason['hint']})" if reason["hint"] else reason["message"]
        for reason in result["reasons"]
    ]
    hit = result["hit"]
    shown = [_hit(hit, short_ids([hit["id"]])[hit["id"]])] if hit else []
    notes = [f"Degraded: {_text('; '.join(result['degraded']))}."] if result["degraded"] else []
    notes += [f"Read as: {_text(old)} → {_text(new)}." for old, new in result["corrections"].items()]
    read = _bullets(reading_lines(result["reading"]))
    return "\n\n".join([*notes, f"{verdict}:{title} {_code(place(result))}", *_bullets(reasons), *shown, *read])


def _get(result: Record) -> str:
    """Each text as it is, under a comment that names its place; a second comment says how to go on."""
    texts = result["results"]
    ids = short_ids(text["id"] for text in texts)
    parts = []
    for text in texts:
        head = f"{ids[text['id']]} {text['path']}:{lines(text)} ({text['tokens']} tokens)"
        parts.append(f"<!-- {_comment(head)} -->")
        parts += [f"<!-- {_comment(f'{key}: {value}')} -->" for key, value in metadata(text.get("metadata") or {})]
        parts.append(text["content"].rstrip("\r\n"))
        if text["next"]:
            parts.append(f"<!-- next: {_comment(text['next'])} -->")
    return "\n".join(parts)


def _recall(result: Record) -> str:
    return str(result["text"])


def _list(result: Record) -> str:
    records = result["results"]
    ids = short_ids(record["id"] for record in records)
    sessions = any(record["kind"] == "session" for record in records)
    rows = [
        (
            _code(ids[record["id"]]),
            _text(record["title"]),
            _code(record["path"]),
            record["type"] or record["kind"],
            " ".join(f"#{tag}" for tag in record["tags"]),
            moment(record["created"])[:10],
            *([moment(record["updated"])[:10], str(record["turns"] or "")] if sessions else []),
        )
        for record in records
    ]
    columns = ("id", "title", "path", "type", "tags", "created", *(("updated", "turns") if sessions else ()))
    table = _table(columns, rows) if rows else "No documents."
    return f"{table}\n\n{len(rows)} of {result['total']}"


def _related(result: Record) -> str:
    records = result["results"]
    ids = short_ids(record["id"] for record in records)
    rows = [
        (
            _code(ids[record["id"]]),
            ", ".join(record["relations"]),
            "" if record["cosine"] is None else f"{record['cosine']:.2f}",
            _text(record["title"]),
            _code(record["path"]),
        )
        for record in records
    ]
    notes = [f"Degraded: {_text('; '.join(result['degraded']))}."] if result["degraded"] else []
    notes.append(f"Related to **{_text(result['anchor']['title'])}** {_code(result['anchor']['path'])}:")
    table = _table(("id", "relation", "cosine", "title", "path"), rows) if rows else "No documents."
    return "\n\n".join([*notes, table, f"{len(rows)} of {result['total']}"])


def _timeline(result: Record) -> str:
    """One table; the title of the document it is around is bold."""
    records = [*result["before"], result["anchor"], *result["after"]]
    ids = short_ids(record["id"] for record in records)
    rows = [
        (
            when(record["created"]),
            _code(ids[record["id"]]),
            f"**{_text(record['title'])}**" if number == len(result["before"]) else _text(record["title"]),
            _code(record["path"]),
            record["type"] or record["kind"],
        )
        for number, record in enumerate(records)
    ]
    return _table(("created", "id", "title", "path", "type"), rows)


def _tags(result: Record) -> str:
    rows = [(f"#{record['tag']}", str(record["count"])) for record in result["results"]]
    return _table(("tag", "documents"), rows) if rows else "No tags."


def _outcomes(result: Record) -> str:
    rows = [
        (outcome["outcome"], _code(outcome["id"][:8]) if outcome["id"] else "", _text(outcome["title"]))
        for outcome in result["results"]
    ]
    table = [_table(("outcome", "id", "title"), rows)] if rows else []
    failed = _bullets(f"{item['position']}: {item['error']}" for item in result["failed"])
    return "\n\n".join([*table, *failed]) or "Nothing was done."


def _import(result: Record) -> str:
    short = import_in_short(result)
    counts = ", ".join(f"{number} {outcome}" for outcome, number in short["counts"].items())
    rows = [_outcomes(short)] if short["results"] or short["failed"] else []
    return "\n\n".join([*rows, counts or "There was nothing to import."])


def _plain(result: Record, depth: int = 0) -> str:
    """Any other answer as nested bullets; records of one shape as a table."""
    out = []
    for key, value in result.items():
        label = f"{'  ' * depth}- {key.replace('_', ' ')}:"
        if isinstance(value, dict) and value:
            out.append(f"{label}\n{_plain(value, depth + 1)}")
        elif isinstance(value, list | tuple) and value and isinstance(value[0], dict):
            out.append(label)
            out += [
                f"{'  ' * (depth + 1)}- {', '.join(f'{k} {_text(str(v))}' for k, v in item.items() if v is not None)}"
                for item in value
            ]
        elif value not in (None, "", [], (), {}):
            shown = ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
            out.append(f"{label} {_text(shown)}")
    return "\n".join(out)


def _table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    names = tuple(head)
    ruled = [names, ["---"] * len(names), *rows]
    return "\n".join(f"| {' | '.join(cell.replace(chr(10), ' ') for cell in row)} |" for row in ruled)


def _text(text: str) -> str:
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))


def _code(text: str) -> str:
    one = " ".join(text.split()).replace("|", "\\|")
    return f"`` {one} ``" if "`" in one else f"`{one}`"


def _quoted(text: str) -> str:
    return "\n".join(f"> {line}".rstrip() for line in text.strip().splitlines())


def _bullets(lines: Iterable[str]) -> list[str]:
    """One list, if there is anything to list."""
    listed = "\n".join(f"- {_text(line)}" for line in lines)
    return [listed] if listed else []


def _comment(text: str) -> str:
    """One line that cannot end the comment it stands in."""
    return re.sub(r"-(?=[->])|>", "‐", " ".join(text.split()))
