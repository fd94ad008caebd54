"""Remove the clients' own prompts and descriptions from recorded sessions.

Of a text longer than a name, only lines with something of ours remain: our prompts, the words of
the scripted model, the output of commands, and marks that parsers need. The rest becomes `(taken
out)`.
"""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

OUT = "(taken out)"
HOME = "/home/user"
_NAME = 45
"""Characters: a shorter string is a name, a state or a date."""
_EMPTIED = {
    "additional_tools", "base_instructions", "body", "developer_instructions", "input_schema",
    "instructions", "osVersion", "parameters", "params", "rendered", "shape", "state",
    "systemPrompt", "tools_json",
}  # fmt: skip
"""Keys of nothing but the client's own text."""
_MARKS = (
    r"^@@",
    r"</?[a-z][\w-]*>",
    r"<cwd>.*</cwd>",
    r"# AGENTS\.md instructions",
    r"Exit code \d+",
    r"Exit Code: \d+",
    r"(?:Process|Command) exited with code \d+",
    r"(?:Chunk ID|Wall time|Original token count): .{1,20}",
    r"(?:Total o|O)utput(?: lines)?:.*",
    r"\*\*\* (?:Begin|End) Patch",
    r"Success\. Updated the following files:",
    r"^[AMD] \S+\.\w+$",
    r"Summary:",
    r"This session is being continued from a previous conversation",
    r"\s*<command-(?:name|message|args)>.*",
    r"agentId: \w+",
    r"# Current Working Directory \(.*\) Files",
    r"Command failed with exit code \d+",
)
_MARK = re.compile("|".join(_MARKS))
_SCENE = re.compile(r"\s*\[\[scene:[\w.-]+\]\]")


class Cleaner:
    """Cleans the files of one client."""

    def __init__(self, ours: str, folder: Path) -> None:
        """`folder` is where the home and the project of the client lie."""
        self._ours = [line for line in re.split(r"\\n|\n", ours) if len(line.strip()) > 3]
        self._lines = {line.strip() for line in self._ours}
        self._project = folder / "shop"
        self._paths = {
            str(self._project): f"{HOME}/demo/shop",
            _slug(self._project): _slug(Path(f"{HOME}/demo/shop")),
            str(folder / "home"): HOME,
            _hash(self._project): _hash(Path(f"{HOME}/demo/shop")),
        }

    def path(self, path: Path) -> Path:
        """Where it would lie in the home of `user`."""
        return Path(self._moved(str(path)))

    def file(self, text: str) -> str:
        """One value, or one on every line, written as the client writes it."""
        try:
            value = self._value(json.loads(text))
        except ValueError:
            values = [self._value(json.loads(line)) for line in text.splitlines()]
            return "".join(f"{_compact(value)}\n" for value in values)
        pretty = json.dumps(value, ensure_ascii=False, indent=2)
        return (
            pretty
            if text.startswith(("{\n", "[\n"))
            else _compact(value) + "\n" * text.endswith("\n")
        )

    def history(self, text: str) -> str:
        """Markdown in which only paths and marks are not ours."""
        return _SCENE.sub("", self._moved(text))

    def _value(self, value: Any, key: str = "") -> Any:
        if key in _EMPTIED and value:
            return OUT if isinstance(value, str) else type(value)()
        if isinstance(value, Mapping) and value.get("role") == "system":
            value = {**value, "content": OUT}
        if isinstance(value, Mapping):
            return {self._moved(inner): self._value(item, inner) for inner, item in value.items()}
        if isinstance(value, Sequence) and not isinstance(value, str):
            if key == "tools" and any(isinstance(item, Mapping) for item in value):
                return []
            return [self._value(item) for item in value]
        return self._text(value) if isinstance(value, str) else value

    def _text(self, text: str) -> str:
        if text.startswith("{"):
            with suppress(ValueError):
                return _compact(self._value(json.loads(text)))
        if len(text) > _NAME and re.search(r"\s", text):
            text = self._kept(text)
        return _SCENE.sub("", self._moved(text))

    def _kept(self, text: str) -> str:
        kept: list[str] = []
        for line in text.split("\n"):
            if self._is_ours(line) or (not line.strip() and kept[-1:] != [OUT]):
                kept.append(line)
            elif mark := _MARK.search(line):
                kept.append(mark[0] if len(line) > _NAME else line)
            elif line.strip() and kept[-1:] != [OUT]:
                kept.append(OUT)
        return "\n".join(kept)

    def _is_ours(self, line: str) -> bool:
        if re.fullmatch(r"\s*\d+\t", line):
            return True  # an empty line of a file, numbered
        plain = re.sub(r"^(?:\s*\d+\t|[+-])|\s*\[\[scene:[\w.-]+\]\]", "", line).strip()
        return plain in self._lines or any(
            len(said) > 12 and said.strip() in line for said in self._ours
        )

    def _moved(self, text: str) -> str:
        for there, here in self._paths.items():
            text = text.replace(there, here)
        return text


def _compact(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _slug(path: Path) -> str:
    """As Claude Code names a folder."""
    return re.sub(r"[^a-zA-Z0-9]", "-", str(path))


def _hash(path: Path) -> str:
    """As Gemini names a project."""
    return hashlib.sha256(str(path).encode()).hexdigest()
