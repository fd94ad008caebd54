"""Merge several memories into the text of the first, without rephrasing anything."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from vault_index.markdown.blocks import plain_spans
from vault_index.markdown.frontmatter import first_time, last_moment, string_list
from vault_index.markdown.normalize import normal_text
from vault_index.memories.file.document import MemoryFile, body_of, with_more_tags, with_paragraph
from vault_index.memories.file.frontmatter_edit import with_changes

_HEADING = re.compile(r" {0,3}#{1,6}(?:\s|$)")
_LISTS = ("concepts", "files_read", "files_modified")
"""Keys with a list that may be written as one text with commas."""
_SPECIAL_KEYS = frozenset(
    {
        "id", "imported_id", "type", "title", "digest", "created", "date", "updated", "modified",
        "entered_by", "tags", "tag", "aliases", "alias", "project", "expires", "valid_until",
        "supersedes", "superseded_by", "archived",
    }
)  # fmt: skip
"""Keys with a merge rule of their own, and keys that stay only in the superseded files."""


def merge_texts(files: Sequence[MemoryFile]) -> str:
    """Return the first text with the missing paragraphs, tags and list items of the others.

    `created` is the earliest date. `expires` and `valid_until` are the latest date; if one memory
    has none, they are removed.
    """
    first, *others = files
    known = {normal_text(part) for part in _paragraphs(body_of(first.text))}
    more = [part for other in others for part in _missing_paragraphs(other, known)]
    return with_changes(with_paragraph(first.text, "\n\n".join(more)), _changes(first, others))


def _missing_paragraphs(file: MemoryFile, known: set[str]) -> Iterator[str]:
    """Yield the paragraphs that are not in `known`, each with its heading; adds them to `known`."""
    body = body_of(file.text)
    heading = ""
    for part in _paragraphs(body or str(file.front.get("title") or "")):
        is_known = normal_text(part) in known
        known.add(normal_text(part))
        if _HEADING.match(part) and "\n" not in part:
            heading = part if is_known else ""
        elif not is_known and heading:
            yield heading
            heading = ""
        if not is_known:
            yield part


def _paragraphs(body: str) -> list[str]:
    """Split a body at blank lines; a fenced code block is one paragraph."""
    lines = body.split("\n")
    _, code_lines = plain_spans(lines)
    parts: list[list[str]] = [[]]
    for number, line in enumerate(lines, start=1):
        if line.strip() or number in code_lines:
            parts[-1].append(line)
        elif parts[-1]:
            parts.append([])
    return ["\n".join(part) for part in parts if part]


def _changes(first: MemoryFile, others: Sequence[MemoryFile]) -> dict[str, Any]:
    """Return the frontmatter keys to change."""
    fronts = [first.front, *(other.front for other in others)]
    changes = _dates(fronts) | _other_keys(fronts)
    more = [tag for other in others for tag in other.tags]
    own, *projects = [string_list(front.get("project")) for front in fronts]
    if own and all(projects):
        more += [f"project/{name}" for name in _union(projects) if name not in own]
    else:  # a memory of all projects still applies to all
        changes["project"] = None
    changes["tags"] = with_more_tags(first.tags, more) or None
    return changes


def _other_keys(fronts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the keys without a rule of their own: lists are united, else the first value stays."""
    changes: dict[str, Any] = {}
    for key in _union([[*front] for front in fronts[1:]]):
        values = [front[key] for front in fronts if front.get(key) not in (None, "", [])]
        if key in _SPECIAL_KEYS:
            continue
        if any(isinstance(value, list) for value in values) or key in _LISTS:
            changes[key] = _union([_as_list(key, value) for value in values])
        elif values and key not in fronts[0]:
            changes[key] = values[0]
    return changes


def _dates(fronts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    created = [
        (moment, front["created"])
        for front in fronts
        if (moment := first_time(front.get("created"))) is not None
    ]
    dates = {"created": min(created)[1]} if created else {}
    for key in ("expires", "valid_until"):
        ends = [
            (moment, front[key])
            for front in fronts
            if (moment := last_moment(front.get(key))) is not None
        ]
        dates[key] = max(ends)[1] if len(ends) == len(fronts) else None
    return dates


def _union(lists: Sequence[Sequence[Any]]) -> list[Any]:
    found: list[Any] = []
    for item in (item for one in lists for item in one):
        found += [item] if item not in found else []
    return found


def _as_list(key: str, value: Any) -> list[Any]:
    if key in _LISTS:
        return string_list(value)
    return value if isinstance(value, list) else [value]
