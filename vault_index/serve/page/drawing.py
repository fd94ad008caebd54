"""Render markdown as trees; long texts in a separate process with limits."""

import json
import os
import resource
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # imported late because only page readers need a parser
    from vault_index.markdown.tree import Rendered

_SHORT = 16_000
"""Maximum characters rendered here: the worst take 0.5 s, while starting a process takes 0.2 s."""
_SECONDS, _CPU_SECONDS = 60.0, 10
"""Wall-clock and CPU seconds for all texts of a request. A table of one megabyte takes half of the
CPU limit.
"""
_MEMORY = 400 << 20
"""Memory limit of the process in bytes; a usual note of one megabyte takes a quarter."""


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
