"""What every pattern of the package keeps to."""

import ast
import re
from pathlib import Path

import vault_index

PACKAGE = Path(vault_index.__file__).parent
# Its pattern is for tiktoken's own engine.
NOT_OURS = PACKAGE / "tokens.py"
ESCAPE_OR_SET = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]", re.DOTALL)
POSSESSIVE_OR_ATOMIC = re.compile(r"[*+?}]\+|\(\?>")


def possessive(text: str) -> bool:
    """Whether a string has such parts, if it is a pattern at all: a plain row of signs has no group, set or escape."""
    return bool(re.search(r"[(\[\\]", text)) and POSSESSIVE_OR_ATOMIC.search(ESCAPE_OR_SET.sub("x", text)) is not None


def strings(file: Path) -> list[tuple[int, str]]:
    nodes = ast.walk(ast.parse(file.read_text()))
    return [
        (node.lineno, node.value) for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]


def test_no_pattern_has_possessive_or_atomic_parts() -> None:
    """Python 3.11.0 to 3.11.4, which Debian 12 has, loses matches of nested ones without an error."""
    assert all(map(possessive, (r"(?:[ab]*+c)", r"\w{2,}+", "(?>a)")))
    assert not possessive(r"[-*+]\++")
    found = [
        f"{file.relative_to(PACKAGE)}:{line}: {text}"
        for file in sorted(PACKAGE.rglob("*.py"))
        for line, text in strings(file)
        if file != NOT_OURS and possessive(text)
    ]
    assert found == []
