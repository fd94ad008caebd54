"""A markdown text as what it says about itself: title, tags, links, and blocks with exact lines."""

from collections.abc import Iterable, Mapping
from typing import Any

from vault_index.markdown.blocks import Structure, read_structure
from vault_index.markdown.frontmatter import Frontmatter, read_frontmatter, string_list
from vault_index.markdown.lines import split_lines
from vault_index.markdown.obsidian import inline_links, inline_tags, without_comments
from vault_index.markdown.tags import normalize_tag
from vault_index.models import Block, Fault, ParsedDocument


def parse(text: str, name: str) -> ParsedDocument:
    """Read a note. `name` is the file's name without folder and suffix, the title of last resort. Never raises."""
    lines = split_lines(text.removeprefix("\ufeff"))
    front = read_frontmatter(lines)
    body = [""] * front.lines + lines[front.lines :]
    if any("%%" in line for line in body):
        body = without_comments(body)
    faults = front.faults
    try:
        structure = read_structure(body)
    except RecursionError:
        structure = _flat(body)
        faults = (*faults, Fault("markdown", "nested too deeply: read as plain lines", line=1))
    prose = [(n, line) for n, line in enumerate(body, start=1) if line and n not in structure.code_lines]
    said = _title(front, structure)
    return ParsedDocument(
        title=said or name,
        title_in_text=bool(said),
        aliases=tuple(dict.fromkeys(_either(front.values, "aliases", "alias"))),
        tags=_tags(front.values, (line for _, line in prose)),
        links=tuple(inline_links(prose)),
        frontmatter=front.values,
        line_count=len(lines),
        blocks=structure.blocks or tuple(_from_frontmatter(front, said or name, lines)),
        faults=faults,
    )


def _title(front: Frontmatter, structure: Structure) -> str:
    own = front.values.get("title")
    if isinstance(own, str | int | float) and not isinstance(own, bool) and str(own).strip():
        return str(own).strip()
    return structure.first_h1


def _tags(values: Mapping[str, Any], prose: Iterable[str]) -> tuple[str, ...]:
    own = [tag for key in ("tags", "tag") for tag in string_list(values.get(key), split_spaces=True)]
    normal = (normalize_tag(tag) for tag in (*own, *inline_tags(prose)))
    return tuple(dict.fromkeys(tag for tag in normal if tag))


def _either(values: Mapping[str, Any], *keys: str) -> list[str]:
    return [text for key in keys for text in string_list(values.get(key))]


def _from_frontmatter(front: Frontmatter, title: str, lines: list[str]) -> Iterable[Block]:
    """A document without a body still says something: its title and what stands in its frontmatter."""
    if not any(line.strip() for line in lines):
        return
    said = [title, *(text for key, value in front.values.items() if key != "title" for text in _scalars(value))]
    yield Block(1, max(front.lines, 1), "\n".join(dict.fromkeys(said)), ())


def _scalars(value: Any) -> Iterable[str]:
    if isinstance(value, Mapping):
        for item in value.values():
            yield from _scalars(item)
    elif isinstance(value, list):
        for item in value:
            yield from _scalars(item)
    elif value is not None and not isinstance(value, bool) and str(value).strip():
        yield str(value).strip()


def _flat(lines: list[str]) -> Structure:
    """One block a run of lines."""
    blocks: list[Block] = []
    start: int | None = None
    for number, line in enumerate([*lines, ""], start=1):
        if line.strip() and start is None:
            start = number
        elif not line.strip() and start is not None:
            blocks.append(Block(start, number - 1, "\n".join(lines[start - 1 : number - 1]), ()))
            start = None
    return Structure(tuple(blocks), "", frozenset())
