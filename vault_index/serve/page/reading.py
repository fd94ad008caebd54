"""Read documents for the page in parts, as trees; long texts in a separate process with limits."""

import json
import os
import posixpath
import resource
import subprocess
import sys
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from vault_index.errors import NotFoundError, UsageError

if TYPE_CHECKING:  # imported late because only page readers need a parser
    from vault_index.markdown.tree import Rendered

Get = Callable[[str, str | None], dict[str, Any]]
"""Return the result of `get --full` for a reference, in one source or any."""

_MOST = 48_000
"""Characters per part, about 12,000 tokens: a browser renders them at once."""
_ABOVE = _MOST // 4
"""Characters shown above the requested place."""
_MOST_PARSED = 1_000_000
"""Maximum characters parsed as a whole; in longer texts each part is parsed alone, with its own
outline.
"""
_SHORT = 16_000
"""Maximum characters rendered here: the worst take 0.5 s, while starting a process takes 0.2 s."""
_SECONDS, _CPU_SECONDS = 60.0, 10
"""Wall-clock and CPU seconds for all texts of a request. A table of one megabyte takes half of the
CPU limit.
"""
_MEMORY = 400 << 20
"""Memory limit of the process in bytes; a usual note of one megabyte takes a quarter."""


def read_document(get: Get, params: Mapping[str, Any]) -> dict[str, Any]:
    """Return a part of the document `ref` in `source`, or as linked in `from` (`source:path`).

    A long document is returned in parts of whole blocks: the one around the place, the one `after`
    its first line, or the one `before` its last. `next` and `previous` are the parameters for the
    other parts.
    """
    ref, source, origin = (_text(params, key) for key in ("ref", "source", "from"))
    if not ref:
        raise UsageError("the parameter ref is missing", "give a reference to a document")
    found, heading = _find(get, ref, source or None, origin)
    first, last = found["lines"]
    name, whole = (found["path"], found["source"]), found["metadata"]["lines"]
    named = [first, last] if first > 1 or last < whole[1] else None
    if named:
        found = get(*name)
    lines = found.pop("content").removesuffix("\n").split("\n")
    read: Rendered | None = None
    starts: Sequence[int] = range(1, len(lines) + 1)
    if sum(map(len, lines)) <= _MOST_PARSED:
        read = _tree("\n".join(lines))
        starts = sorted({1, *(node[1]["line"] for node in read.nodes)})
    start, end = _part(
        lines, starts, min(first, len(lines)), min(last, len(lines)), _text(params, "part")
    )
    read = read or _tree("\n" * (start - 1) + "\n".join(lines[start - 1 : end]))
    found |= {"lines": [start, end], "next": None}
    more = {"source": name[1]}
    return {
        "document": found,
        "named": named,
        "missing": heading,
        "text": "\n".join(lines[start - 1 : end]),
        "nodes": [one for one in read.nodes if one[1]["line"] <= end and one[1]["end"] >= start],
        "outline": read.outline,
        "next": {**more, "ref": f"{name[0]}:{end + 1}-", "part": "after"}
        if end < len(lines)
        else None,
        "previous": {**more, "ref": f"{name[0]}:1-{start - 1}", "part": "before"}
        if start > 1
        else None,
    }


def _text(params: Mapping[str, Any], key: str) -> str:
    value = params.get(key)
    if not isinstance(value, str | None):
        raise UsageError(f"{key} is not a string", "send a string")
    return value or ""


def _find(get: Get, ref: str, source: str | None, origin: str) -> tuple[dict[str, Any], str | None]:
    """Return the result of `get`, and the heading of the reference if the document lacks it.

    Raises NotFoundError.
    """
    if not origin:
        return get(ref, source), None
    source, _, path = origin.partition(":")
    target, _, heading = ref.removeprefix("[[").removesuffix("]]").partition("|")[0].partition("#")
    here = (
        posixpath.normpath(posixpath.join(posixpath.dirname(path), target))
        if target.strip()
        else path
    )
    names = dict.fromkeys(
        (here, target.strip() or path) if target.startswith(".") else (target.strip() or path, here)
    )
    failed = None
    for part in [heading, ""] if heading else [""]:
        for name in names:
            try:
                return get(
                    f"[[{name}#{part}]]" if part else f"[[{name}]]", source
                ), heading if part != heading else None
            except NotFoundError as error:
                failed = failed or error
    assert failed is not None
    raise failed


@lru_cache(maxsize=1)
def _tree(text: str) -> "Rendered":
    """Parse a text; cached for its next part."""
    return draw([text])[0]


def _part(
    lines: Sequence[str], starts: Sequence[int], first: int, last: int, part: str
) -> tuple[int, int]:
    """Return first and last line of a part that cuts no block."""
    if sum(map(len, lines)) <= _MOST * 3 // 2:
        return 1, len(lines)
    if part == "before":
        return _begun(lines, starts, last, _MOST), last
    start = first if part == "after" else _begun(lines, starts, first, _ABOVE)
    end, room = start, _MOST
    while end < len(lines) and room > 0:
        room -= len(lines[end - 1]) + 1
        end += 1
    after = len(starts) if room > 0 else bisect_right(starts, max(end - 1, first))
    return start, starts[after] - 1 if after < len(starts) else len(lines)


def _begun(lines: Sequence[str], starts: Sequence[int], line: int, room: int) -> int:
    """Return the first line of a part that has about `room` characters above `line`."""
    while line > 1 and room > 0:
        room -= len(lines[line - 2]) + 1
        line -= 1
    return starts[max(bisect_right(starts, line) - 1, 0)]


def draw(texts: Sequence[str], seconds: float = _SECONDS) -> list["Rendered"]:
    """Return the tree of each text; plain paragraphs if rendering takes longer than `seconds`."""
    from vault_index.markdown.tree import Rendered, plain_tree, tree

    if sum(map(len, texts)) <= _SHORT:
        return list(map(tree, texts))
    try:
        drawn = subprocess.run(
            # -P: do not import modules from the working folder.
            [sys.executable, "-P", "-m", __name__],
            input=json.dumps(texts).encode(),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            timeout=seconds,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return list(map(plain_tree, texts))
    return [Rendered(*one) for one in json.loads(drawn.stdout)]


def _main() -> None:
    from vault_index.markdown.tree import tree

    with suppress(OSError, ValueError):  # a system without this limit
        resource.setrlimit(resource.RLIMIT_CPU, (_CPU_SECONDS, _CPU_SECONDS))
        resource.setrlimit(resource.RLIMIT_DATA, (_MEMORY, _MEMORY))
    json.dump(list(map(tree, json.load(sys.stdin))), sys.stdout)


if __name__ == "__main__":
    _main()
