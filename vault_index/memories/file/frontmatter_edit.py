"""Change keys of a frontmatter in lines without changing any other byte.

The text is spliced at the marks of the YAML nodes; the result is parsed again and verified.
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

import yaml

from vault_index.errors import UsageError
from vault_index.markdown.frontmatter import known_key, read_frontmatter
from vault_index.markdown.normalize import split_lines
from vault_index.memories.file.document import read_text, with_last_line_end

KEYS = (
    "id", "type", "title", "subtitle", "digest", "tags", "project", "created", "updated",
    "entered_by", "expires", "valid_until", "confidence", "supersedes", "superseded_by", "archived",
    "facts", "concepts", "files_read", "files_modified", "bead_id",
)  # fmt: skip
"""The frontmatter keys of a memory, in the order in which they are written."""

DATES = frozenset({"created", "updated", "expires", "valid_until", "archived"})
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:\d{2})?)?")
_NUMBER_TO_OBSIDIAN = re.compile(
    r"[-+]?(?:\.\d+|\d+(?:\.\d*)?)(?:[eE][-+]?\d+)?|0o[0-7]+|0x[0-9a-fA-F]+"
)
# Text that every YAML parser reads as a string: it needs no quotes. This skips the dumper (0.5 ms).
_PLAIN = re.compile(
    r"[A-Za-z][A-Za-z0-9_]*(?:[ /-][A-Za-z0-9_]+)*|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
)
_WORDS = frozenset({"true", "false", "yes", "no", "on", "off", "null", "y", "n"})
_ENDLESS = 1 << 30


class _Dumper(yaml.SafeDumper):
    """A YAML dumper that never writes anchors, because our parsers do not support aliases."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _text(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
    style = "'" if _NUMBER_TO_OBSIDIAN.fullmatch(value) else None
    style = style if value.isprintable() else '"'
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)


_Dumper.add_representer(str, _text)
_Dumper.add_representer(tuple, yaml.SafeDumper.represent_list)


def entry(key: str, value: Any, newline: str) -> str:
    """Return a line of a block mapping."""
    return f"{flow_value(key)}: {block_value(key, value)}{newline}"


def block_value(key: str, value: Any, style: str | None = None) -> str:
    """Return a value as YAML after `key:`; `style` is the quote for strings."""
    if key in DATES and isinstance(value, str) and _DATE.fullmatch(value):
        return value
    if isinstance(value, list | tuple | Mapping):
        return flow_value(value)
    if isinstance(value, str) and value.isprintable() and style == "'":
        return "'" + value.replace("'", "''") + "'"
    if isinstance(value, str) and value.isprintable() and style == '"':
        return json.dumps(value, ensure_ascii=False)
    return _plain(value) or _dump({"k": value}, flow=False)[3:]


def flow_value(value: Any) -> str:
    """Return a value as YAML inside brackets."""
    if isinstance(value, list | tuple) and value and all(map(_plain, value)):
        return f"[{', '.join(value)}]"
    return _plain(value) or _dump([value], flow=True)[1:-1]


def _plain(value: Any) -> str:
    """Return a string that needs no quotes, or an empty string for any other value."""
    plain = isinstance(value, str) and _PLAIN.fullmatch(value) and value.lower() not in _WORDS
    return value if plain else ""


def _dump(value: Any, *, flow: bool) -> str:
    text: str = yaml.dump(
        value,
        Dumper=_Dumper,
        default_flow_style=flow,
        width=_ENDLESS,
        allow_unicode=True,
        sort_keys=False,
    )
    return text.rstrip("\n")


_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_BLANK = " \t\r\n"
_DASH = re.compile(r"(?:^|(?<=[\r\n])) *(-)(?=\s)")
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)?")

Pair = tuple[yaml.Node, yaml.Node]


def with_changes(text: str, changes: Mapping[str, Any]) -> str:
    """Set frontmatter keys to values; None removes a key.

    Values are strings, numbers and lists of them. A file without frontmatter gets one; one in
    braces (`{title: a}`) becomes lines. A list in block style stays in this style, and items that
    stay keep their comments. Raises UsageError if the frontmatter is invalid or cannot be changed
    safely.
    """
    file = read_text(text)
    if file.closing and file.faults:
        fault = file.faults[0]
        raise UsageError(
            f"line {fault.line}: {fault.message}; nothing was written",
            "correct that line of the file, and try again",
        )
    inside = file.inside
    for key in sorted(changes, key=_rank):
        value = list(changes[key]) if isinstance(changes[key], tuple) else changes[key]
        inside = _with_change(inside, key, value, file.newline)
    if inside == file.inside:
        return text
    if file.closing:
        return file.opening + inside + file.closing + file.body
    return f"{file.opening}---{file.newline}{inside}---{file.newline}{file.body}"


def _rank(key: str) -> int:
    return KEYS.index(key) if key in KEYS else len(KEYS)


def _with_change(inside: str, key: str, value: Any, newline: str) -> str:
    """Return the YAML with one key changed, after verifying that every other value is the same."""
    before = _values(inside)
    if before is not None and (key not in before if value is None else before.get(key) == value):
        return inside
    for candidate in _attempts(inside, before or {}, key, value, newline):
        if _is_only_change(before, _values(candidate), key, value):
            return candidate
    raise UsageError(
        f"cannot change {key} in this frontmatter; nothing was written",
        "write the frontmatter as plain `key: value` lines, or change it in an editor",
    )


def _values(inside: str) -> Mapping[str, Any] | None:
    """Return the parsed values, or None if the YAML is invalid.

    The blank line ends a block scalar that is the last value.
    """
    front = read_frontmatter(["---", *split_lines(inside), "", "---"])
    return None if front.faults else front.values


def _is_only_change(
    before: Mapping[str, Any] | None, after: Mapping[str, Any] | None, key: str, value: Any
) -> bool:
    """Return whether a change set this key to this value and changed nothing else."""
    if before is None or after is None or (key in after) == (value is None):
        return False
    # A date may be parsed into another notation.
    if value is not None and after[key] != value and not (key in DATES and isinstance(value, str)):
        return False
    return {**before, key: value} == {**after, key: value}


def _attempts(
    inside: str, before: Mapping[str, Any], key: str, value: Any, newline: str
) -> Iterator[str]:
    """Yield candidate texts for the change, the least invasive first."""
    root = yaml.compose(inside, Loader=_LOADER)
    if isinstance(root, yaml.MappingNode) and root.flow_style:  # `{a: 1}` becomes lines
        values = {**before, key: value}
        yield "".join(entry(*pair, newline) for pair in values.items() if pair[1] is not None)
        return
    pairs: list[Pair] = root.value if isinstance(root, yaml.MappingNode) else []
    names = [
        known_key(name.value) if isinstance(name, yaml.ScalarNode) else "" for name, _ in pairs
    ]
    found = [number for number, name in enumerate(names) if name == key]
    line = (_margin(inside, pairs[0][0]) if pairs else "") + entry(key, value, newline)
    if value is None:
        for reach in (False, True):
            changed = inside
            for number in reversed(found):
                changed = _without(changed, pairs, number, reach=reach)
            yield changed
    elif found:  # the last of duplicate keys counts
        yield from _replacements(inside, pairs[found[-1]], key, value, newline)
        yield _added(_without(inside, pairs, found[-1], reach=True), None, line, newline)
    else:
        yield from _additions(inside, pairs, key, line, newline)


def _replacements(inside: str, pair: Pair, key: str, value: Any, newline: str) -> Iterator[str]:
    """Yield candidate texts with another value of a key."""
    name, node = pair
    if value and isinstance(value, list) and isinstance(node, yaml.SequenceNode):
        yield _with_items(inside, node, value, newline)
    quote = node.style if isinstance(node, yaml.ScalarNode) else None
    yield _replaced(inside, name, node, block_value(key, value, quote))


def _additions(inside: str, pairs: list[Pair], key: str, line: str, newline: str) -> Iterator[str]:
    """Yield candidate texts with a new key."""
    if key == KEYS[0] and pairs:
        top = _line_start(inside, _start(pairs[0][0]))
        yield inside[:top] + line + inside[top:]
    yield _added(inside, _predecessor(pairs, key), line, newline)
    yield _added(inside, None, line, newline)


# --- positions ------------------------------------------------------------------------------------


def _start(node: yaml.Node) -> int:
    return int(node.start_mark.index)


def _end(inside: str, node: yaml.Node) -> int:
    """Return the position after the last character of a value.

    The end mark of a block is useless for this: it is at the next key, after any comments.
    """
    if isinstance(node, yaml.CollectionNode) and not node.flow_style and node.value:
        last = node.value[-1]
        return max(_end(inside, part) for part in (last if isinstance(last, tuple) else (last,)))
    start, end = _start(node), int(node.end_mark.index)
    return start + len(inside[start:end].rstrip(_BLANK))


def _line_start(inside: str, position: int) -> int:
    return max(inside.rfind("\n", 0, position), inside.rfind("\r", 0, position)) + 1


def _line_end(inside: str, position: int, *, with_break: bool = True) -> int:
    match = _LINE.match(inside, position)
    end = match.end() if match else position
    return end if with_break else position + len(inside[position:end].rstrip("\r\n"))


def _margin(inside: str, node: yaml.Node) -> str:
    line = inside[_line_start(inside, _start(node)) : _start(node)]
    return line[: len(line) - len(line.lstrip(" "))]


def _predecessor(pairs: list[Pair], key: str) -> Pair | None:
    """Return the entry after which a new key is inserted, or None.

    It is the last existing key that precedes the new one in `KEYS`.
    """
    known = {
        known_key(pair[0].value): pair for pair in pairs if isinstance(pair[0], yaml.ScalarNode)
    }
    before = [name for name in KEYS[: _rank(key)] if name in known] if key in KEYS else []
    return known[before[-1]] if before else None


# --- splices --------------------------------------------------------------------------------------


def _replaced(inside: str, name: yaml.Node, node: yaml.Node, rendered: str) -> str:
    colon = inside.find(":", int(name.end_mark.index)) + 1
    start, end = _start(node), _end(inside, node)
    if not colon:
        return inside  # `? key` without a value
    line_end = _line_end(inside, colon, with_break=False)
    if start <= line_end:
        space = "" if start > colon else " "
        return inside[:start] + space + rendered + inside[end:]
    # The value was below its key, and a comment may follow the key.
    return f"{inside[:colon]} {rendered}{inside[colon:line_end]}{inside[end:]}"


def _with_items(inside: str, node: yaml.SequenceNode, items: list[Any], newline: str) -> str:
    """Replace the items of a list in block style; unchanged items keep their text."""
    starts = list(_dashes(inside, node))
    if len(starts) != len(node.value):
        return inside  # a list in brackets has no dashes
    end = _line_end(inside, _end(inside, node))
    margin = inside[_line_start(inside, starts[0]) : starts[0]]
    lines = {
        item.value: margin + inside[start:stop].rstrip(_BLANK) + newline
        for item, start, stop in zip(node.value, starts, [*starts[1:], end], strict=True)
        if isinstance(item, yaml.ScalarNode) and item.value
    }
    new = "".join(
        lines.get(item) or f"{margin}- {block_value('', item)}{newline}" for item in items
    )
    return inside[: starts[0] - len(margin)] + new + inside[end:]


def _dashes(inside: str, node: yaml.SequenceNode) -> Iterator[int]:
    """Yield the position of the dash of each item in a block list."""
    position = _line_start(inside, _start(node))
    for item in node.value:
        # Take the last dash before the item: a comment may separate them.
        dashes = [match.start(1) for match in _DASH.finditer(inside, position, _start(item) + 1)]
        yield from dashes[-1:]
        position = max(position, _end(inside, item))


def _without(inside: str, pairs: list[Pair], number: int, *, reach: bool) -> str:
    """Remove an entry.

    With `reach`, the comments after it are removed too: they could become part of a block scalar
    above.
    """
    name, node = pairs[number]
    start = _line_start(inside, _start(name))
    end = _line_end(inside, max(_end(inside, node), int(name.end_mark.index)))
    if reach and number + 1 < len(pairs):
        end = _line_start(inside, _start(pairs[number + 1][0]))
    return inside[:start] + inside[end:]


def _added(inside: str, behind: Pair | None, line: str, newline: str) -> str:
    if behind is None:
        return with_last_line_end(inside, newline) + line
    end = _line_end(inside, max(_end(inside, behind[1]), int(behind[0].end_mark.index)))
    return with_last_line_end(inside[:end], newline) + line + inside[end:]
